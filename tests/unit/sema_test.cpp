// Sema: every file of tests/sema lowers as its `//!` lines say, every file of tests/errors gets exactly the diagnostics
// that
// its lines announce, and no text can hurt it.
//
//   //! exports: a b         the exports, in order (a file without the line: any)
//   //! has: TEXT            the printed IR of the first export holds TEXT
//   //! count: OP N          it holds N operations named OP
//   //! error Name: part     this line gets the error Name, whose message holds `part`; the same with `warning`
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/text.h"
#include "diag/diag.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "sema/sema.h"
#include "syntax/parse.h"

using namespace tilec;

namespace {

struct Analysed {
  SourceMap sources;
  Diagnostics diagnostics;
  Ast ast;
  Program program;

  explicit Analysed(std::string text, const SourceProvider& provider = embedded_library()) {
    ast = parse(sources.add("test.tile", std::move(text)), sources, diagnostics);
    program = analyse(ast, sources, provider, diagnostics);
  }
  // "line severity Name: message", a line each.
  std::string all() const {
    std::string list;
    for (const Diagnostic& d : diagnostics.all()) {
      int line = d.span.valid() ? sources.place(d.span).line : 0;
      list += std::string(sources.name(d.span.file)) + ":" + std::to_string(line) + " " +
          std::string(name(d.severity)) + " " +
              std::string(d.name) + ": " + d.message + "\n";
    }
    return list;
  }
  const ir::Kernel& kernel(size_t i = 0) const { return program.exports.at(i).kernel; }
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> files_in(std::string_view folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TILEC_TESTS) + "/" + std::string(folder)))
    if (entry.path().extension() == ".tile") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

int operations_named(const ir::Kernel& kernel, std::string_view wanted) {
  int count = 0;
  ir::each_op(kernel, kernel.body, [&](ir::OpId id) {
    const ir::Op& o = kernel.op(id);
    auto* unary = o.get<ir::op::Unary>();
    count += name(o.kind()) == wanted || (unary && name(unary->fn) == wanted);
  });
  return count;
}

// The text after `//! word` on a line.
std::optional<std::string> announced(std::string_view line, std::string_view word) {
  size_t at = line.find("//! " + std::string(word));
  if (at == std::string_view::npos) return std::nullopt;
  return std::string(trim(line.substr(at + 4 + word.size())));
}

void check_line(const Analysed& a, const std::string& line) {
  if (auto exports = announced(line, "exports:")) {
    std::vector<std::string> names;
    for (const ExportInstance& e : a.program.exports) names.push_back(e.name);
    CHECK(join(names, " ") == *exports);
  }
  if (a.program.exports.empty()) return;
  if (auto text = announced(line, "has:")) CHECK_MESSAGE(ir::print(a.kernel()).find(*text) != std::string::npos, *text);
  if (auto text = announced(line, "count:")) {
    auto parts = split(*text, ' ');
    CHECK_MESSAGE(operations_named(a.kernel(), parts[0]) == std::stoi(parts[1]), *text);
  }
}

struct Expected {
  int line;
  std::string severity, name, part;
};

std::vector<Expected> expectations(const std::string& text) {
  std::vector<Expected> list;
  auto lines = split(text, '\n');
  for (size_t i = 0; i < lines.size(); ++i)
    for (std::string severity : {"error", "warning"})
      if (auto rest = announced(lines[i], severity)) {
        size_t colon = rest->find(':');
        list.push_back({int(i) + 1, severity, rest->substr(0, colon), std::string(trim(rest->substr(colon + 1)))});
      }
  return list;
}

void check_expectations(const Analysed& a, const std::vector<Expected>& expected) {
  CHECK(a.diagnostics.all().size() == expected.size());
  for (const Expected& e : expected) {
    bool found = false;
    for (const Diagnostic& d : a.diagnostics.all()) {
      bool is_here = d.span.valid() && a.sources.name(d.span.file) == "test.tile" &&
          a.sources.place(d.span).line == e.line;
      found |= is_here && d.name == e.name && name(d.severity) == e.severity &&
          d.message.find(e.part) != std::string::npos;
    }
    CHECK_MESSAGE(found, e.line, " ", e.name, ": ", e.part);
  }
}

}  // namespace

TEST_SUITE("sema") {
  TEST_CASE("the library has no mistakes") {
    Analysed a("import std.math;");
    CHECK(a.all() == "");
  }

  TEST_CASE("kernels lower as they say") {
    for (const auto& path : files_in("sema")) {
      CAPTURE(path.filename().string());
      std::string text = read_file(path);
      Analysed a(text);
      CHECK(a.all() == "");
      CHECK(!a.program.exports.empty());
      if (a.program.exports.empty()) continue;
      std::string printed = ir::print(a.kernel());
      CAPTURE(printed);
      for (const std::string& line : split(text, '\n')) check_line(a, line);
      for (const ExportInstance& e : a.program.exports)
        for (const ir::Violation& v : ir::verify(e.kernel, ir::Form::Typed))
          FAIL_CHECK(e.name << ": " << v.code << " " << v.text);
    }
  }

  TEST_CASE("mistakes get the diagnostics that they announce") {
    for (const auto& path : files_in("errors")) {
      CAPTURE(path.filename().string());
      std::string text = read_file(path);
      Analysed a(text);
      std::string got = a.all();
      CAPTURE(got);
      auto expected = expectations(text);
      CHECK(!expected.empty());
      check_expectations(a, expected);
    }
  }

  TEST_CASE("an imported file is seen under its alias, and a cycle of imports is reported") {
    SourceProvider provider = embedded_library();
    provider.file = [](std::string_view, std::string_view file) -> std::optional<SourceProvider::Source> {
      if (file == "ep.tile") 
        return SourceProvider::Source{"ep.tile", "fn twice[T: float](x: T) -> T { return x * 2; }"};
      if (file == "round.tile") return SourceProvider::Source{"round.tile", "import \"round.tile\" as r;"};
      return std::nullopt;
    };
    Analysed good("import \"ep.tile\" as ep;\n"
                  "export kernel f(out B: f32[M]) { launch (i in M) { B[i] = ep.twice(3); } }", provider);
    CHECK(good.all() == "");
    CHECK(good.program.exports.size() == 1);
    Analysed nameless("import \"ep.tile\";", provider);
    CHECK(nameless.all() == "test.tile:1 error NotAllowedHere: a file without a name is not allowed in an import; write `import \"FILE\" as name;`\n");
    Analysed bad("import \"round.tile\" as r;", provider);
    CHECK(bad.all().find("ImportCycle") != std::string::npos);
  }

  TEST_CASE("a mistake in a function says which call led to it") {
    Analysed a("fn odd[T: type](x: T) -> T { return x & 1; }\n"
               "export kernel f(A: f32[M], out B: f32[M]) { launch (i in M) { B[i] = odd(A[i]); } }");
    REQUIRE(a.diagnostics.all().size() == 1);
    const Diagnostic& d = a.diagnostics.all()[0];
    REQUIRE(d.notes.size() == 1);
    CHECK(d.notes[0].message.find("`odd`") != std::string::npos);
    CHECK(a.sources.place(d.notes[0].span).line == 2);
  }

  TEST_CASE("a mistake in an argument is the caller's own") {
    auto notes_of = [](const std::string& text) {
      Analysed a(text);
      REQUIRE(a.diagnostics.all().size() == 1);
      std::string notes;
      for (const auto& note : a.diagnostics.all()[0].notes) notes += note.message + "; ";
      return notes;
    };
    const std::string pick = "fn pick(c: bool, x: f64) -> f64 { return if c { 0.1 } else { x }; }\n";
    CHECK(notes_of(pick + "kernel k(out y: f64[N], c: i32) { launch (i in N) { y[i] = pick(c > 0, y[i]); } }") == "`y` is declared here; ");
    CHECK(notes_of(pick + "kernel k(out y: f64[N], c: i32) { launch (i in N) { y[i] = pick(c > 0, c); } }") == "");
    // Of the calls around it those remain that led to it.
    CHECK(notes_of(pick + "fn twice(c: i32) -> f64 { return pick(true, c) * 2; }\n"
                          "kernel k(out y: f64[N], c: i32) { launch (i in N) { y[i] = twice(c); } }") == "in the instance `twice` made here; ");
    // A default stands in the function.
    CHECK(notes_of("fn less(x: f64, by: f64 = true) -> f64 { return x - by; }\n"
                   "kernel k(out y: f64[N], x: f64) { launch (i in N) { y[i] = less(x); } }") == "in the instance `less` made here; ");
  }

  TEST_CASE("a schedule is pinned to the instances that it speaks of") {
    Analysed a(
        "kernel f[BM: int = 4](out B: f32[M]) { launch (i in M) { B[i] = BM as f32; } }\n"
        "export f as small; export f[BM = 8] as large;\n"
        "schedule f[BM = 8] { persistent; cluster (2, 1); }\n"
        "schedule f for sm_90a { raster column(8); }");
    CHECK(a.all() == "");
    REQUIRE(a.program.exports.size() == 2);
    REQUIRE(a.program.exports[1].schedules.size() == 2);
    CHECK(a.program.exports[1].schedules[0].arguments == 1);
    CHECK(a.program.exports[1].schedules[0].schedule.persistent);
    CHECK(a.program.exports[1].schedules[0].schedule.cluster == std::vector<int64_t>{2, 1});
    REQUIRE(a.program.exports[0].schedules.size() == 1);
    CHECK(a.program.exports[0].schedules[0].targets == std::vector<std::string>{"sm_90a"});
    CHECK(a.program.exports[0].schedules[0].schedule.raster == 8);
  }

  TEST_CASE("no half-written text hurts") {
    std::string text = read_file(std::string(TILEC_TESTS) + "/sema/attention.tile");
    for (size_t length = 0; length < text.size(); length += 7) Analysed cut(text.substr(0, length));
    for (size_t begin = 0; begin < text.size(); ++begin) {
      bool is_word = isalnum(text[begin]) || text[begin] == '_';
      if (begin > 0 && is_word && (isalnum(text[begin - 1]) || text[begin - 1] == '_')) continue;
      if (isspace(text[begin])) continue;
      size_t end = begin + 1;
      while (is_word && end < text.size() && (isalnum(text[end]) || text[end] == '_')) ++end;
      Analysed without(text.substr(0, begin) + text.substr(end));
    }
  }
}
