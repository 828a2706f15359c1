// Damaged programs: every example cut off at every byte, and with every token taken out. Each is a program or gets an
// error at a place in it, in a moment; nothing falls. Run by `ctest -R robustness`; skipped otherwise, for it takes a while.
#include <doctest/doctest.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "pipeline/pipeline.h"
#include "sema/sema.h"
#include "syntax/parse.h"

using namespace tilec;

namespace {

// For one program. The aim is 20 ms on the machine of docs/performance.md, which records it; a test that runs on any machine
// asks for ten times that, and so finds what hangs.
constexpr double kMilliseconds = 200;

struct Tally {
  int programs = 0, right = 0, slow = 0;
  double slowest = 0;
  std::string slowest_text;

  // Milliseconds of the processor: other work on the computer does not count.
  double run(const std::string& name, const std::string& text, bool& is_right) {
    std::clock_t start = std::clock();
    SourceMap sources;
    Diagnostics diagnostics{Policy{}};
    FileId file = sources.add(name, text);
    Ast ast = parse(file, sources, diagnostics);
    Program program = analyse(ast, sources, embedded_library(), diagnostics);
    if (!diagnostics.has_errors())
      for (ExportInstance& instance : program.exports) run_checks(instance.kernel, diagnostics, {.verify = Verify::Always});
    double taken = 1e3 * double(std::clock() - start) / CLOCKS_PER_SEC;
    for (const Diagnostic& d : diagnostics.all()) {
      bool is_placed = !d.span.valid() || d.span.file != file || d.span.end <= text.size();
      CHECK_MESSAGE(is_placed, d.message);
    }
    is_right = !diagnostics.has_errors();
    return taken;
  }

  void attempt(const std::string& name, std::string text) {
    bool is_right = false;
    double taken = run(name, text, is_right);
    // Other work takes caches and clock rate away as well: the least of some runs is the program's.
    for (int again = 0; again < 3 && taken > kMilliseconds; ++again) taken = std::min(taken, run(name, text, is_right));
    ++programs;
    right += is_right;
    slow += taken > kMilliseconds;
    if (taken > slowest) slowest = taken, slowest_text = std::move(text);
  }
};

bool is_word(char c) { return std::isalnum(uint8_t(c)) || c == '_'; }

}  // namespace

TEST_CASE("robustness: damaged examples are programs or get errors, in a moment" * doctest::skip()) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(TILEC_TESTS) + "/../examples"))
    if (entry.path().extension() == ".tile") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 9);
  Tally().attempt("first", "");  // the tables of the grammar are made once a process
  for (const auto& path : files) {
    std::ifstream in(path);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    Tally tally;
    for (size_t length = 0; length < whole.size(); ++length) tally.attempt(path.filename().string(), whole.substr(0, length));
    for (size_t at = 0; at < whole.size();) {
      size_t end = at + 1;
      while (is_word(whole[at]) && end < whole.size() && is_word(whole[end])) ++end;
      if (!std::isspace(uint8_t(whole[at]))) tally.attempt(path.filename().string(), whole.substr(0, at) + whole.substr(end));
      at = end;
    }
    MESSAGE(path.filename().string(), ": ", tally.programs, " programs, ", tally.right, " right, slowest ", tally.slowest, " ms");
    CHECK(tally.right < tally.programs / 2);
    CHECK_MESSAGE(tally.slow == 0, tally.slowest_text);
  }
}
