// The formatter: the style, the comments, and that neither tree nor second run differ.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

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

// The tokens of a text, and each comment with the number of tokens before it.
struct Read {
  std::vector<std::string> tokens;
  std::vector<std::pair<size_t, std::string>> comments;
  friend bool operator==(const Read&, const Read&) = default;
};
Read read(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  Ast ast = parse(sources.add("test.tile", text), sources, diagnostics);
  Read all;
  std::vector<TextRange> ranges = token_ranges(text);
  for (TextRange range : ranges) all.tokens.push_back(text.substr(range.begin, range.end - range.begin));
  for (const ast::Comment& comment : ast.comments) {
    auto before = std::ranges::lower_bound(ranges, comment.span.begin, {}, &TextRange::begin) - ranges.begin();
    all.comments.emplace_back(before, text.substr(comment.span.begin, comment.span.end - comment.span.begin));
  }
  return all;
}

// A comment in front of some tokens, behind the one before or on a line of its own.
std::string commented(const std::string& text, std::mt19937& random, double share) {
  std::string out;
  uint32_t copied = 0;
  for (TextRange range : token_ranges(text)) {
    out += text.substr(copied, range.begin - copied);
    copied = range.begin;
    if (std::generate_canonical<double, 20>(random) >= share) continue;
    static const char* const kComments[] = {"// c\n", "\n// own line\n", "\n\n    // far, \"x\" {\n\n", "// one\n// two\n"};
    out += kComments[random() % 4];
  }
  return out + text.substr(copied);
}

void check_comments(const std::string& text, const std::string& label, bool is_untidy = false) {
  Formatted once = format_text(text);
  if (once.has_errors) return;
  Formatted twice = format_text(once.text);
  CHECK_MESSAGE(once.text == twice.text, label << text << "\n----\n" << once.text << "\n----\n" << twice.text);
  CHECK_MESSAGE(read(text) == read(once.text), label << text << "\n----\n" << once.text);
  if (is_untidy) CHECK_MESSAGE(once.text != text, label);  // a file that the printer is lost in comes back as it is
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

  TEST_CASE("a long chain of value `if`s takes no longer than its text") {
    std::string chain;
    for (int i = 0; i < 100; ++i) chain += "if a { 1 } else ";
    const std::string text = format_text("const c = " + chain + "{ 2 };").text;
    CHECK(std::ranges::count(text, '2') == 1);
  }

  TEST_CASE("a comment between any two tokens stays there, and no token is lost") {
    std::mt19937 random(1);
    const std::filesystem::path root = std::filesystem::path(TILEC_TESTS) / "..";
    for (const char* folder : {"tests/parse", "examples", "tests/sema", "stdlib"})
      for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
        if (entry.path().extension() != ".tile") continue;
        std::ifstream file(entry.path());
        std::string text{std::istreambuf_iterator<char>(file), {}};
        check_comments(text, entry.path());
        for (double share : {0.01, 0.1, 1.0}) check_comments(commented(text, random, share), entry.path(), share == 1.0);
      }
    // Each gap by itself, and what the tree does not know of.
    const std::string odd = "import std . math ;\nenum E { a, b }\nkernel f[ T : type = f32 , ] ( x : T [ N ; s ] , y : T [ 4, ] ? , )\nrequires N >= 1 , N < 9 {\n"
                            "@a(b = 1,) launch ( i in N , j in [1, 2,] , ) threads 32 { if a { b = c ( d , ) ; } else if e { } else { f ( ) ; }\n"
                            "for ( r , c , ) in parallel ( 2 , 3 , ) { t [ r , c , ] = - x . y as f32 * ( 2 , ) ; } }\n}\n"
                            "schedule f[T = f16,] where N = 1 for model { layout a, b: swizzle ( 128 ) ; role m: warps 4 { rest ; } }\nexport f[] | f[T = f16] as g where N = 3;\n";
    REQUIRE_FALSE(format_text(odd).has_errors);
    check_comments(odd, "odd", true);
    size_t count = token_ranges(odd).size();
    for (size_t k = 0; k < count; ++k)
      for (const char* comment : {"// c\n", "\n// own\n"}) {
        std::string text = odd;
        text.insert(token_ranges(odd)[k].begin, comment);
        check_comments(text, "gap " + std::to_string(k), true);
      }
  }

  TEST_CASE("comments in the head of a kernel stay where they are") {
    const std::string text = "enum A {\n    none,\n}\nkernel f[T: float = f32,  // element type\n    BM: int = 64](x: T[N], out y: T[N])\n"
                             "    requires N >= 1,  // at least one\n        N % 2 == 0\n{ }\n";
    CHECK(format_text(text).text == text);
  }

  TEST_CASE("comments stay beside their code") {
    CHECK(format_text("// one\n\nconst a = 1;   // two\n// three\nconst b =  // four\n2;\n// five").text ==
          "// one\n\nconst a = 1;  // two\n// three\nconst b =  // four\n    2;\n// five\n");
    CHECK(format_text("kernel k() { // one\n a = 1; // two\n // three\n}").text ==
          "kernel k() {  // one\n    a = 1;  // two\n    // three\n}\n");
    CHECK(format_text("kernel k(a: f32, // one\n  /// Two.\n b: f32) { }").text ==
          "kernel k(\n    a: f32,  // one\n    /// Two.\n    b: f32\n)\n{ }\n");
  }

  TEST_CASE("a file with mistakes is left alone") {
    CHECK(format_text("const  a = ;").text == "const  a = ;");
  }
}
