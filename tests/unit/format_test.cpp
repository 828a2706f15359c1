// The formatter: the style, the comments, and that neither tree nor second run differ.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "diag/diag.h"
#include "syntax/dump.h"
#include "syntax/format.h"
#include "syntax/parse.h"

using namespace tilec;

namespace {

struct Formatted {
  std::string text, tree;
  bool has_errors;
};

Formatted format_text(std::string text) {
  SourceMap sources;
  Diagnostics diagnostics;
  Ast ast = parse(sources.add("test.tile", std::move(text)), sources, diagnostics);
  return {format(ast, sources), dump(ast), ast.has_errors};
}

std::string example(std::string_view name) {
  std::ifstream file(std::string(TILEC_TESTS) + "/parse/" + std::string(name) + ".tile");
  return {std::istreambuf_iterator<char>(file), {}};
}

size_t comment_count(std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find("//"); at != text.npos; at = text.find("//", text.find('\n', at))) ++count;
  return count;
}

// Every line break that may be one is one, or none is.
std::string stretched(std::string_view text, char between) {
  std::string result;
  bool is_comment = false, is_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("//")) is_comment = true;
    if (text[i] == '\n') is_comment = false;
    if (text[i] == '"' && !is_comment) is_string = !is_string;
    result += text[i] == ' ' && !is_comment && !is_string ? between : text[i];
  }
  return result;
}

}  // namespace

TEST_SUITE("format") {
  TEST_CASE("formatting keeps the tree and the comments, and is done after one run") {
    for (std::string_view name : {"attention", "gemm", "constructs"})
      for (std::string text : {example(name), stretched(example(name), '\n')}) {
        CAPTURE(name);
        Formatted once = format_text(text), twice = format_text(once.text);
        REQUIRE_FALSE(once.has_errors);
        CHECK(twice.text == once.text);
        CHECK(twice.tree == once.tree);
        CHECK(comment_count(once.text) == comment_count(text));
        for (size_t begin = 0; begin < once.text.size();) {
          size_t end = once.text.find('\n', begin);
          std::string_view line = std::string_view(once.text).substr(begin, end - begin);
          bool is_code = line.find("//") == line.npos;
          if (is_code) CHECK_MESSAGE(line.size() <= 100, line);
          CHECK_MESSAGE(!line.ends_with(' '), line);
          begin = end + 1;
        }
      }
  }

  TEST_CASE("the example programs are formatted as they should be") {
    for (std::string_view name : {"attention", "gemm", "constructs"}) {
      CAPTURE(name);
      CHECK(format_text(example(name)).text == example(name));
    }
  }

  TEST_CASE("spacing and lines") {
    CHECK(format_text("const a=1+2*( b ) ;const c = - 1;").text == "const a = 1 + 2 * (b);\nconst c = -1;\n");
    CHECK(format_text("fn f(x:f32)->f32{return x;}").text == "fn f(x: f32) -> f32 { return x; }\n");
    CHECK(format_text("kernel k(){a=1;b=2;}").text == "kernel k() {\n    a = 1;\n    b = 2;\n}\n");
    CHECK(format_text("kernel k(){\n\n\na=1;\n\n\n\nb=2;\n\n}\n").text == "kernel k() {\n    a = 1;\n\n    b = 2;\n}\n");
    CHECK(format_text("kernel k() { if a { b = 1; } else if c { d = 1; } else { } }").text ==
          "kernel k() {\n    if a {\n        b = 1;\n    } else if c {\n        d = 1;\n    } else {\n    }\n}\n");
  }

  TEST_CASE("comments stay beside their code") {
    CHECK(format_text("// one\n\nconst a = 1;   // two\n// three\nconst b =  // four\n2;\n// five").text ==
          "// one\n\nconst a = 1;  // two\n// three\n// four\nconst b = 2;\n// five\n");
    CHECK(format_text("kernel k() { // one\n a = 1; // two\n // three\n}").text ==
          "kernel k() {  // one\n    a = 1;  // two\n    // three\n}\n");
    CHECK(format_text("kernel k(a: f32, // one\n  /// Two.\n b: f32) { }").text ==
          "kernel k(\n    a: f32,  // one\n    /// Two.\n    b: f32\n)\n{ }\n");
  }

  TEST_CASE("a file with mistakes is left alone") {
    CHECK(format_text("const  a = ;").text == "const  a = ;");
  }
}
