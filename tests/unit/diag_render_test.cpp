// Diagnostics as text, JSON and SARIF, and their fixes as edited text.
#include "diag/diag.h"
#include "diag/json.h"
#include "diag/render.h"

#include <doctest/doctest.h>

namespace tilec {

namespace {

// A file and a sink; spans are found by the text that they cover.
struct Bench {
  SourceMap sources;
  Diagnostics diags;
  std::string text;
  FileId file;
  explicit Bench(std::string source) : text(source), file(sources.add("k.tile", std::move(source))) {}
  Span at(std::string_view part) const {
    size_t begin = text.find(part);
    REQUIRE(begin != std::string::npos);
    return {file, uint32_t(begin), uint32_t(begin + part.size())};
  }
  Span range(uint32_t begin, uint32_t end) const { return {file, begin, end}; }
  std::string shown() const { return render_text(diags.all(), sources); }
};

}  // namespace

TEST_CASE("the first line names the place and the code, the snippet marks the span") {
  Bench b("kernel f() {\n  let y = x + 1;\n}\n");
  b.diags.at(b.at("x")).error(diag::UnknownName, "x").label("not found");
  CHECK(b.shown() ==
        "k.tile:2:11: error: `x` is not declared [T0100]\n"
        " 2 |   let y = x + 1;\n"
        "   |           ^ not found\n");
}

TEST_CASE("several spans on one line hang their labels below each other") {
  Bench b("  c = a @ b;\n");
  b.diags.at(b.at("@")).error(diag::ContractionMismatch, 64, 48).label("needs 64 rows")
      .mark(b.at("a"), "64 columns").mark(b.at("b"), "48 rows");
  CHECK(b.shown() ==
        "k.tile:1:9: error: the left side has 64 columns but the right side has 48 rows [T0308]\n"
        " 1 |   c = a @ b;\n"
        "   |       - ^ - 48 rows\n"
        "   |       | needs 64 rows\n"
        "   |       64 columns\n");
}

TEST_CASE("a part shows within a whole") {
  Bench b("x = a + b;\n");
  b.diags.at(b.at("a + b")).error(diag::ShapeMismatch, "[4]", "[8]").mark(b.at("a"), "[4]").mark(b.at("b"), "[8]");
  CHECK(b.shown() ==
        "k.tile:1:5: error: the shape `[4]` on the left does not agree with `[8]` on the right [T0300]\n"
        " 1 | x = a + b;\n"
        "   |     -^^^- [8]\n"
        "   |     [4]\n");
}

TEST_CASE("a span over several lines is drawn at its ends") {
  Bench b("a = (\n  1 +\n  2 +\n  3);\nb;\n");
  b.diags.at(b.at("(\n  1 +\n  2 +\n  3)")).error(diag::TypeMismatch, "f32", "int").label("an `int`");
  CHECK(b.shown() ==
        "k.tile:1:5: error: `f32` is wanted here but this is `int` [T0102]\n"
        " 1 | a = (\n"
        "   |     ^\n"
        "  ...\n"
        " 4 |   3);\n"
        "   |   ^^ an `int`\n");
}

TEST_CASE("columns are those of the screen: tabs and wide characters") {
  Bench b("\ta\t= \"\xE6\xBC\xA2\xE5\xAD\x97\" + x\xCC\x81;\r\n");
  b.diags.at(b.at("+")).error(diag::UnexpectedToken, "`+`");
  CHECK(b.shown() ==
        "k.tile:1:15: error: unexpected `+` [T0001]\n"
        " 1 |     a   = \"\xE6\xBC\xA2\xE5\xAD\x97\" + x\xCC\x81;\n"
        "   |                  ^\n");
}

TEST_CASE("nothing in a source reaches the terminal as a command") {
  Bench b("a \x1b[31m \xE2\x80\xAE \xff \x01 b\n");
  b.diags.at(b.at("b")).error(diag::UnknownName, "\x1b[0m\n");
  std::string out = b.shown();
  for (char c : out) CHECK((c == '\n' || static_cast<unsigned char>(c) >= 32));
  CHECK(out.find("\xE2\x80\xAE") == std::string::npos);
  CHECK(std::count(out.begin(), out.end(), '\n') == 3);
}

TEST_CASE("notes and marks may lie in other files, helps show the line as it will be") {
  Bench b("let y = x;\n");
  FileId other = b.sources.add("o.tile", "let z = 1;");
  b.diags.at(b.at("x")).error(diag::ImplicitConversion, "f32", "f16").mark({other, 4, 5}, "from here")
      .note({other, 4, 5}, diag::DeclaredHere, "z").note({}, diag::BecauseOf, "so it is")
      .help("think").fix(b.range(9, 9), " as f16", "convert it")
      .fix({{b.range(4, 5), "w"}, {b.range(8, 9), "zz"}}, "rename").fix(b.range(0, 11), "", "remove it");
  CHECK(b.shown() ==
        "k.tile:1:9: error: `f32` does not turn into `f16` by itself [T0103]\n"
        " 1 | let y = x;\n   |         ^\n"
        "o.tile:1:5: note: from here\n 1 | let z = 1;\n   |     ^\n"
        "o.tile:1:5: note: `z` is declared here\n 1 | let z = 1;\n   |     ^\n"
        "note: so it is\n"
        "help: think\n"
        "help: convert it\n 1 | let y = x as f16;\n   |          +++++++\n"
        "help: rename\n 1 | let w = zz;\n   |     ~   ~~\n"
        "help: remove it\n  - let y = x;\n");
}

TEST_CASE("a fix over several lines shows what goes and what comes") {
  Bench b("a;\nb;\nc;\nd;\n");
  b.diags.at(b.at("b")).warning(diag::UnusedName, "b").fix(b.range(3, 8), "x;\ny;\nz;", "rewrite");
  CHECK(b.shown() ==
        "k.tile:2:1: warning: `b` is never used [T0701, -Wunused-name]\n"
        " 2 | b;\n   | ^\n"
        "help: rewrite\n  - b;\n  - c;\n  + x;\n  + y;\n  + z;\n");
}

TEST_CASE("a very long line is cut around its span") {
  std::string text(50000, 'x');
  text.append(" needle ").append(50000, 'y');
  Bench b(text);
  b.diags.at(b.at("needle")).error(diag::UnknownName, "needle")
      .mark(b.range(0, 3), "far").fix(b.at("needle"), "pin", "pin");
  std::string out = b.shown();
  CHECK(out.find("k.tile:1:50002: ") == 0);
  CHECK(out.find("...xxx") != std::string::npos);
  for (const char* part : {"x needle y", "^^^^^^", "far", "x pin y", "~~~"})
    CHECK_MESSAGE(out.find(part) != out.npos, part);
  CHECK(out.size() < 1200);
}

TEST_CASE("a span outside its file, or in no file, breaks nothing") {
  for (std::string text : {"", "\n", "ab", "ab\n", "\xE6\xBC"}) {
    Bench b(text);
    for (uint32_t begin : {0u, 1u, 2u, 3u, 100u, ~0u})
      for (uint32_t end : {0u, 1u, 2u, 100u, ~0u})
        b.diags.at(b.range(begin, end)).error(diag::UnknownName, "x").mark(b.range(end, begin), "m")
            .note(b.range(begin, end), diag::OpenedHere, "x").fix(b.range(begin, end), "new\ntext", "h")
            .fix(b.range(end, end), "n", "h");
    b.diags.at(Span{FileId{9}, 0, 1}).error(diag::UnknownName, "nowhere").fix(Span{FileId{9}, 0, 1}, "x", "h");
    std::string out = b.shown();
    CHECK(out.find("tilec: error: `nowhere` is not declared [T0100]\n") != out.npos);
    CHECK(!render_json(b.diags.all(), b.sources).empty());
    CHECK(Json::parse(render_sarif(b.diags.all(), b.sources, "1")));
  }
}

TEST_CASE("colours only add escapes") {
  Bench b("  c = a @ b;\n");
  b.diags.at(b.at("@")).error(diag::UnexpectedToken, "`@`").label("here")
      .mark(b.at("a"), "a").fix(b.at("a"), "b", "c");
  std::string colored = render_text(b.diags.all(), b.sources, {.has_color = true}), plain;
  CHECK(colored != b.shown());
  for (size_t i = 0; i < colored.size(); ++i) {
    if (colored[i] == '\x1b') i = colored.find('m', i);
    else plain += colored[i];
  }
  CHECK(plain == b.shown());
}

TEST_CASE("the counts make a line") {
  Bench b("abc\n");
  CHECK(count_line(b.diags) == "");
  b.diags.at(b.at("a")).warning(diag::UnusedName, "a");
  CHECK(count_line(b.diags) == "1 warning");
  b.diags.at(b.at("b")).error(diag::UnknownName, "b");
  b.diags.at(b.at("c")).error(diag::UnknownName, "c");
  CHECK(count_line(b.diags) == "2 errors, 1 warning");
}

TEST_CASE("JSON is one object a line, with all places") {
  Bench b("let y = x;\n");
  b.diags.at(b.at("x")).error(diag::UnknownName, "x").mark(b.at("y"), "m")
      .note({}, diag::BecauseOf, "n").fix(b.at("x"), "y", "h");
  b.diags.at(b.at("y")).warning(diag::UnusedName, "y");
  std::string out = render_json(b.diags.all(), b.sources);
  CHECK(std::count(out.begin(), out.end(), '\n') == 2);
  std::optional<Json> json = Json::parse(out.substr(0, out.find('\n')));
  REQUIRE(json);
  CHECK(*(*json)["code"].as_string() == "T0100");
  CHECK(*(*json)["severity"].as_string() == "error");
  CHECK((*json)["span"]["begin"].as_integer() == 8);
  CHECK((*json)["span"]["column"].as_integer() == 9);
  CHECK((*json)["span"]["end_column"].as_integer() == 10);
  CHECK((*json)["notes"][0]["span"].is_null());
  CHECK(*(*json)["helps"][0]["fixes"][0]["replacement"].as_string() == "y");
  CHECK(out.find("\"flag\":\"unused-name\"") != out.npos);
}

TEST_CASE("SARIF holds rules, results, places and fixes") {
  Bench b("// \xC3\xA4\xC3\xB6 x\n");
  b.diags.at(b.at("x")).error(diag::UnknownName, "x").help("look")
      .fix(b.at("x"), "y", "write y").mark(b.range(0, 2), "m");
  b.diags.at(b.at("x")).error(diag::UnexpectedToken, "x");
  b.diags.nowhere().error(diag::CannotRead, "q", "gone");
  std::optional<Json> json = Json::parse(render_sarif(b.diags.all(), b.sources, "1.2"));
  REQUIRE(json);
  const Json& run = (*json)["runs"][0];
  CHECK(run["tool"]["driver"]["rules"].size() == 3);
  CHECK(*run["tool"]["driver"]["rules"][0]["id"].as_string() == "T0001");
  const Json& result = run["results"][0];
  CHECK(result["ruleIndex"].as_integer() == 1);
  CHECK(*result["message"]["text"].as_string() == "`x` is not declared\nhelp: look");
  const Json& place = result["locations"][0]["physicalLocation"];
  CHECK(*place["artifactLocation"]["uri"].as_string() == "k.tile");
  CHECK(place["region"]["startColumn"].as_integer() == 7);
  CHECK(result["relatedLocations"].size() == 1);
  CHECK(*result["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"].as_string() == "y");
  CHECK(run["results"][2]["locations"].is_null());
}

TEST_CASE("fixes are applied in order, and none twice or across another") {
  FileId file{0};
  auto fix = [&](uint32_t begin, uint32_t end, std::string text) { return Fix{{file, begin, end}, std::move(text)}; };
  auto apply = [](std::vector<Fix> fixes) { return apply_fixes("abcdef", fixes); };
  CHECK(apply({}) == "abcdef");
  CHECK(apply({fix(4, 5, "E"), fix(0, 1, "")}) == "bcdEf");
  CHECK(apply({fix(2, 2, "1"), fix(2, 2, "2"), fix(2, 2, "1")}) == "ab12cdef");
  CHECK(apply({fix(1, 4, "x"), fix(2, 3, "lost"), fix(2, 2, "lost"), fix(4, 4, "y"), fix(1, 1, "z")}) == "azxyef");
  CHECK(apply({fix(6, 6, "!"), fix(90, 99, "?")}) == "abcdef!?");
}

TEST_CASE("the edits of a help are made together or not at all") {
  Bench b("abcdef\n");
  b.diags.at(b.at("a")).error(diag::UnknownName, "a").help("words")
      .fix(b.at("a"), "A", "h").fix(b.at("a"), "Z", "another way");
  b.diags.at(b.at("c")).error(diag::UnknownName, "c").fix({{b.at("a"), "X"}, {b.at("c"), "C"}}, "conflicts at a");
  b.diags.at(b.at("d")).error(diag::UnknownName, "d").fix(b.at("d"), "D", "h");
  b.diags.at(b.at("e")).error(diag::UnknownName, "e");
  FixedText out = apply_helps(b.text, b.file, b.diags.all());
  CHECK(out.text == "AbcDef\n");
  CHECK(out.applied == 2);
  CHECK(out.skipped == 1);
}

}  // namespace tilec
