// The passes that ask the prover, on programs: every file of tests/proofs gets exactly the diagnostics that its lines announce
// (`//! error Name: part`), the programs of tests/sema, tests/apart and examples get none, and all of it is quick.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "pipeline/pipeline.h"
#include "sema/sema.h"
#include "syntax/parse.h"

using namespace tilec;

namespace {

struct Checked {
  SourceMap sources;
  Diagnostics diagnostics;
  Ast ast;
  Program program;
  double milliseconds = 0;

  explicit Checked(const std::filesystem::path& path, Policy policy = {}, const PassOptions& options = {})
      : diagnostics(std::move(policy)) {
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    ast = parse(sources.add(path.filename().string(), std::move(text)), sources, diagnostics);
    program = analyse(ast, sources, embedded_library(), diagnostics);
    auto start = std::chrono::steady_clock::now();
    for (ExportInstance& instance : program.exports) run_checks(instance.kernel, diagnostics, options);
    milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  // "line severity Name: message" for each.
  std::vector<std::string> lines() const {
    std::vector<std::string> result;
    for (const Diagnostic& d : diagnostics.all())
      result.push_back(std::to_string(d.span.valid() ? sources.place(d.span).line : 0) + " " + std::string(name(d.severity)) + " " +
                       std::string(d.name) + ": " + d.message);
    return result;
  }
};

std::vector<std::filesystem::path> tile_files(std::string_view folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(TILEC_TESTS) + "/" + std::string(folder)))
    if (entry.path().extension() == ".tile") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("proofs: every announced diagnostic and no other") {
  for (const auto& path : tile_files("proofs")) {
    Policy policy;
    policy.remarks = {"proof", "memory"};
    Checked checked(path, policy);
    std::vector<std::string> found = checked.lines();
    CAPTURE(path.filename().string());
    CAPTURE(join(found, "\n"));
    std::ifstream file(path);
    size_t announced = 0;
    int number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      size_t at = line.find("//! ");
      if (at == std::string::npos) continue;
      ++announced;
      // "error Name: part": the message holds the part.
      std::string wanted = line.substr(at + 4), head = wanted.substr(0, wanted.find(": ") + 2), part = wanted.substr(head.size());
      bool is_found = std::any_of(found.begin(), found.end(), [&](const std::string& d) {
        return d.starts_with(std::to_string(number) + " " + head) && d.find(part) != std::string::npos;
      });
      CHECK_MESSAGE(is_found, number << " " << wanted);
    }
    CHECK(found.size() == announced);
    for (const Diagnostic& d : checked.diagnostics.all()) CHECK_MESSAGE((d.name != "OutOfBounds" || !d.helps.empty()), d.message);
  }
}

TEST_CASE("proofs: programs without mistakes get no diagnostics") {
  for (std::string_view folder : {"sema", "apart", "../examples"})
    for (const auto& path : tile_files(folder)) {
      Checked checked(path);
      CHECK_MESSAGE(checked.lines().empty(), path.filename().string() << "\n" << join(checked.lines(), "\n"));
      MESSAGE(path.filename().string() << ": " << checked.milliseconds << " ms for " << checked.program.exports.size());
    }
}

TEST_CASE("proofs: what goes wrong in short warps only is told where a machine has them") {
  auto found = [](std::vector<int> lanes) {
    std::string all;
    Checked checked(std::string(TILEC_TESTS) + "/proofs/lanes.tile", {}, {.lanes = std::move(lanes)});
    for (const std::string& line : checked.lines()) all += line + "\n";
    return all;
  };
  std::string on_short = found({4}), on_long = found({32}), on_both = found({4, 32});
  auto tells = [](const std::string& all, std::string_view part) { return all.find(part) != std::string::npos; };
  CHECK(tells(on_short, "is not below 4"));
  CHECK(!tells(on_short, "the index 16 is not below 16"));
  CHECK(!tells(on_long, "is not below 4"));
  CHECK(tells(on_long, "the index 16 is not below 16"));
  CHECK(tells(on_both, "lanes = 4 the index"));
  CHECK(tells(on_both, "lanes = 32 the index 16 is not below 16"));
}
