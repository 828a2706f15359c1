// The parser: what it reads, what it says about mistakes, and that no text can hurt it.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "diag/diag.h"
#include "syntax/dump.h"
#include "syntax/parse.h"

using namespace tilec;

namespace {

std::string example(std::string_view name) {
  std::ifstream file(std::string(TILEC_TESTS) + "/parse/" + std::string(name) + ".tile");
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Parsed {
  SourceMap sources;
  Diagnostics diagnostics;
  Ast ast;
  explicit Parsed(std::string text) { ast = parse(sources.add("test.tile", std::move(text)), sources, diagnostics); }

  // "line:column message" of each mistake, a line each.
  std::string mistakes() const {
    std::string list;
    for (const Diagnostic& d : diagnostics.all()) {
      LineColumn place = d.span.valid() ? sources.place(d.span) : LineColumn{};
      list += (list.empty() ? "" : "\n") + std::to_string(place.line) + ":" + std::to_string(place.column) + " " +
          d.message;
    }
    return list;
  }
  std::string first() const { return mistakes().substr(0, mistakes().find('\n')); }
};

// The tree of one expression.
std::string tree(std::string_view expression) {
  Parsed parsed("const x = " + std::string(expression) + ";");
  if (!parsed.mistakes().empty()) return parsed.first();
  std::string text = dump(parsed.ast);
  return text.substr(10, text.size() - 11);
}

std::string in_kernel(std::string_view statements) { return "kernel k() {\n" + std::string(statements) + "\n}\n"; }

}  // namespace

TEST_SUITE("parse") {
  TEST_CASE("the example programs have no mistakes") {
    for (std::string_view name : {"attention", "gemm", "constructs"}) {
      CAPTURE(name);
      Parsed parsed(example(name));
      CHECK(parsed.mistakes() == "");
      CHECK_FALSE(parsed.ast.has_errors);
      CHECK(parsed.ast.declarations.size() >= 1);
    }
  }

  TEST_CASE("operators bind as their precedence says") {
    CHECK(tree("a + b * c - d") == "(- (+ a (* b c)) d)");
    CHECK(tree("a || b && c == d | e ^ f & g << h + i @ j") == "(|| a (&& b (== c (| d (^ e (& f (<< g (+ h (@ i j)))))))))");
    CHECK(tree("-a as f16 * b") == "(* (as (- a) f16) b)");
    CHECK(tree("-a.b[i](c)") == "(- (call (. a b) [ i ] c))");
    CHECK(tree("(a + b) * c") == "(* (+ a b) c)");
    CHECK(tree("target is nvptx && target.arch >= 90") == "(&& (is target nvptx) (>= (. target arch) 90))");
  }

  TEST_CASE("literals have their values") {
    CHECK(tree("1_000") == "1000");
    CHECK(tree("0xff") == "255");
    CHECK(tree("0b101") == "5");
    CHECK(tree("1e-6") == "1e-06");
    CHECK(tree("-inf") == "(- inf)");
    CHECK(tree("18446744073709551615") == "18446744073709551615");
    CHECK(tree("\"a\\n\" \"b\\x41\"") == "\"a\\nbA\"");
  }

  TEST_CASE("regions, views and generic arguments") {
    CHECK(tree("A[lo +: n, a : b, :, : b, a :, i, pad = -inf]") ==
          "(index A (+: lo n) (: a b) : (: _ b) (: a _) i pad = (- inf))");
    CHECK(tree("m[:, _]") == "(index m : _)");
    CHECK(tree("acc.convert[f8e4m3, rounding = toward_zero]()") == "(call (. acc convert) [ f8e4m3 rounding = toward_zero ])");
    CHECK(tree("if a { b } else if c { d } else { e }") == "(if a b (if c d e))");
    CHECK(tree("[(1, 2), (3,)]") == "(list (tuple 1 2) (tuple 3))");
  }

  TEST_CASE("words of options are names elsewhere") {
    Parsed parsed(in_kernel("let threads = range(t, N, threads); shared = local + layout.depth; role: a = 1;"));
    CHECK(parsed.mistakes() == "");
  }

  TEST_CASE("loops know their kind") {
    Parsed parsed(in_kernel("for i in 0..n { }\nfor j in pipelined(n, stages = 2) { }\nfor (a, b) in [(1, 2)] { }"));
    CHECK(dump(parsed.ast) ==
          "kernel k\n  for i in interval 0 n\n  for j in pipelined n stages = 2\n  for (a, b) in each (list (tuple 1 2))\n");
  }

  TEST_CASE("doc comments reach their declaration") {
    Parsed parsed("// no\n/// One.\n///   Two.\nconst a = 1;\n/// not adjacent\n\nconst b = 2;");
    REQUIRE(parsed.ast.declarations.size() == 2);
    CHECK(parsed.ast.declarations[0]->doc == "One.\n  Two.");
    CHECK(parsed.ast.declarations[1]->doc == "");
    CHECK(parsed.ast.comments.size() == 4);
  }

  TEST_CASE("a layout in a schedule keeps its text") {
    Parsed parsed("schedule k { layout acc: reg(c0 r3 c3) grid(c 3); }");
    const auto* schedule = parsed.ast.declarations.at(0)->as<ast::Schedule>();
    REQUIRE(schedule);
    CHECK(std::get<ast::LayoutItem>(schedule->items.at(0).node).text == "reg(c0 r3 c3) grid(c 3)");
  }

  TEST_CASE("a tree outlives the move of its Ast") {
    Parsed parsed(example("gemm"));
    std::string before = dump(parsed.ast);
    Ast moved = std::move(parsed.ast);
    CHECK(dump(moved) == before);
  }
}

TEST_SUITE("parse mistakes") {
  TEST_CASE("a missing semicolon is put in") {
    Parsed parsed(in_kernel("let a = 1\nlet b = 2;\nc = a + b"));
    CHECK(parsed.mistakes() == "2:10 expected `;` after this statement\n"
          "4:10 expected `;` after this statement");
    CHECK(parsed.diagnostics.all()[0].helps.at(0).fixes.at(0).replacement == ";");
    CHECK(dump(parsed.ast) == "kernel k\n  let a = 1\n  let b = 2\n  assign = c (+ a b)\n");
  }

  TEST_CASE("each mistake is told once") {
    CHECK(Parsed(in_kernel("let = 1;\nx = ;\nf(a b);\nlet launch = 2;\ny = a + ;\nz = 1;")).mistakes() ==
          "5:5 `launch` is a word of the language and cannot be a name\n"  // before the parser
          "2:5 expected a name but found `=`\n"
          "3:5 expected an expression but found `;`\n"
          "4:5 expected `,` or `)` but found `b`\n"
          "6:9 expected an expression but found `;`");
    CHECK(Parsed("let x = 1;\nkernel k() { }\nconst y = ;").mistakes() ==
          "1:1 expected a declaration but found `let`\n"
          "3:11 expected an expression but found `;`");
    CHECK(Parsed(in_kernel("for i im 0..n { a = 1; }\nif a b { c = 1 }\nelse { d = ; }")).mistakes() ==
          "2:7 expected `in` but found `im`\n"
          "3:6 expected `{` but found `b`\n"
          "3:15 expected `;` after this statement\n"
          "4:12 expected an expression but found `;`");
    CHECK(Parsed(in_kernel("const a = 1;\n;\nb = 1;")).mistakes() ==
          "2:1 expected a statement but found `const`");
    CHECK(Parsed("kernel k(a: , b: f32[N]) { }").mistakes() == "1:13 expected a type but found `,`");
  }

  TEST_CASE("brackets are blamed at their opener") {
    CHECK(Parsed("kernel a() {\n    for i in 0..n {\n        x = f(1;\n    y = 2;\n}\nkernel b() { }").mistakes() ==
          "2:19 this `{` is never closed\n"
          "3:14 this `(` is never closed");
    CHECK(Parsed("kernel a() {\n    x = 1;\n\nkernel b() { }").mistakes() == "1:12 this `{` is never closed");
    CHECK(Parsed("kernel a() {\n    x = (1];\n}").diagnostics.all().size() == 2);
    CHECK(Parsed("kernel a() {\n    x = 1;\n    }\n}\nconst c = 1;").mistakes() == "3:5 this `}` closes nothing");
  }

  TEST_CASE("tokens that are none") {
    CHECK(tree("12ab") == "1:11 `12ab` is not a number");
    CHECK(tree("1_") == "1:11 `1_` is not a number");
    CHECK(tree("18446744073709551616") == "1:11 `18446744073709551616` does not fit in 64 bits");
    CHECK(tree("\"a\\q\"") == "1:13 `\\q` is not an escape of a string");
    CHECK(Parsed("const a = 1 $ 2;\nconst b = \"open;\nconst c = 1;").mistakes() ==
          "1:13 the character `$` has no meaning in the language\n"
          "2:11 this string does not end on its line");
    CHECK(Parsed("const a = 1; /* no\n */ const b = 2;").diagnostics.all().size() == 1);
    CHECK(Parsed("const a = 1; /* no").diagnostics.all().size() == 1);
    CHECK(Parsed("const a = \xC3\xA9;").first() == "1:11 the character `\xC3\xA9` has no meaning in the language");
    CHECK(Parsed("// \xFF\nconst a = 1;").mistakes() == "1:4 the file is not UTF-8: byte 0xFF is no part of a character");
    CHECK(Parsed("\xEF\xBB\xBF// a mark and \xE2\x82\xAC\nconst a = \"\xE2\x82\xAC\";").mistakes() == "");
  }

  TEST_CASE("rules beyond the grammar") {
    CHECK(tree("a < b <= c") == "1:17 comparisons do not chain: `<=` follows `<`");
    CHECK(tree("(a < b) == c") == "(== (< a b) c)");
    CHECK(Parsed("export g where N = 4096 as name;").first() == "1:28 `as` comes before `where`");
    CHECK(Parsed("kernel k(out inout a: f32) { launch (i in 1) threads 1 threads 2 { } }").diagnostics.all().size() == 2);
    CHECK(Parsed(in_kernel("a + b = c;")).first() == "2:1 this cannot stand on the left of `=`");
  }
}

TEST_SUITE("parse robustness") {
  TEST_CASE("nesting has a limit") {
    auto repeat = [](std::string_view part, int times) {
      std::string text;
      for (int i = 0; i < times; ++i) text += part;
      return text;
    };
    CHECK(tree(repeat("(", 200) + "1" + repeat(")", 200)) == "1");
    CHECK(tree(repeat("(", 20000) + "1" + repeat(")", 20000)).find("nested more than 256 levels deep")
        != std::string::npos);
    CHECK(tree(repeat("(", 400)).find("never closed") != std::string::npos);
    CHECK(tree(repeat("(", 100000)).find("nested more than 256 levels deep") != std::string::npos);
    CHECK(tree(repeat("-", 20000) + "1").find("nested more than") != std::string::npos);
    CHECK(tree("1" + repeat(" + 1", 20000)).find("nested more than") != std::string::npos);
    CHECK(tree("a" + repeat(".b", 20000)).find("nested more than") != std::string::npos);
    CHECK(tree("[1" + repeat(", 1", 20000) + "]").size() > 40000);
    CHECK(Parsed(in_kernel("if a { }" + repeat(" else if b { }", 20000))).first().find("nested more than")
        != std::string::npos);
    CHECK(Parsed(repeat("kernel a() { { ", 3000)).diagnostics.has_errors());
  }

  TEST_CASE("tokens that are read quickly are those of the grammar") {
    std::vector<std::string> texts{"", " ", "a", "0..4", "1.", "1.5e3", "1e", "0x1F_f", "0xG", "1_000", "_", "_a", "12ab", "a.b.0", "\"x", "\"x\\\"y\" z",
                                   "// a", "/// a\r\nb", "////", "/* a */ b", "/* a", "/", "/=", "<<=<<<=<", ">>=>>", "-> - >", "a\x80" "b", "\xEF\xBB\xBFkernel",
                                   "#", "$a", "1.0.0", "a+:b", "3.f", "\f\tx", "'", "1..2.5", std::string("a\0b", 3)};
    for (const auto& folder : {"parse", "errors", "proofs", "sema"})
      for (const auto& file : std::filesystem::directory_iterator(std::string(TILEC_TESTS) + "/" + folder)) {
        std::ifstream stream(file.path());
        texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
      }
    texts.push_back("1.5 1.5e3 2e-7 3E+4 1.5.2 1.e5 1..2 0.5e 7e+ 1e5x 12_3 1_000.5 4.5_0 0x1f 0b11 9. 1.5e3.x 00.10e00");
    // And with bytes that are out of place.
    uint32_t state = 1;
    auto random = [&](size_t below) { return (state = state * 1664525 + 1013904223) / 65536 % below; };
    constexpr std::string_view kBytes = "/\"\\.0_e#<>=*\n\r \x80+:x";
    for (size_t i = 0, count = texts.size(); i < count; ++i) {
      std::string text = texts[i].substr(0, 2000);
      for (int k = 0; k < 20 && !text.empty(); ++k) text[random(text.size())] = kBytes[random(kBytes.size())];
      texts.push_back(std::move(text));
    }
    CHECK(texts.size() > 300);
    for (const std::string& text : texts) CHECK_MESSAGE(tokens_text(text, Lexing::Quick) == tokens_text(text, Lexing::Grammar), text);
  }

  // What is left of a program is a program or gets a diagnostic; in either case it can be walked.
  TEST_CASE("no truncation and no lost token hurts") {
    std::string whole = example("attention");
    int runs = 0, silent = 0;
    auto attempt = [&](std::string text) {
      Parsed parsed(std::move(text));
      ++runs;
      bool is_silent_hole = parsed.mistakes().empty() && parsed.ast.has_errors;
      silent += is_silent_hole;
      CHECK_FALSE(is_silent_hole);
      CHECK(dump(parsed.ast).find(parsed.mistakes().empty() ? "?" : "\x01") == std::string::npos);
    };
    for (size_t length = 0; length < whole.size(); ++length) attempt(whole.substr(0, length));
    for (size_t at = 0; at < whole.size();) {
      size_t end = at + 1;
      auto is_word = [&](size_t i) { return i < whole.size() && (std::isalnum(uint8_t(whole[i])) || whole[i] == '_'); };
      while (is_word(at) && is_word(end)) ++end;
      if (whole[at] != ' ' && whole[at] != '\n') attempt(whole.substr(0, at) + whole.substr(end));
      at = end;
    }
    CHECK(runs > 2000);
    CHECK(silent == 0);
  }
}
