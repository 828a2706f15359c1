#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "ir/attribute_text.h"
#include "ir/builder.h"
#include "ir/parse.h"
#include "ir/print.h"

using namespace tilec;
using namespace tilec::ir;

namespace {

std::vector<std::filesystem::path> samples() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(__FILE__).parent_path() / "../ir"))
    if (entry.path().extension() == ".ir") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string error_of(std::string_view text) {
  std::string error;
  CHECK_FALSE(parse(text, &error));
  return error;
}

Number round_trip(Number number) {
  std::string text = attribute_text(number);
  Scanner scanner(text);
  Number back;
  CHECK_MESSAGE(parse_attribute(scanner, back), scanner.error());
  CHECK(scanner.at_end());
  return back;
}

// One operation of every kind with every field set to something else than its default.
Number other_than(const Number&) { return Number::real(-0.0); }
bool other_than(bool) { return true; }
int64_t other_than(int64_t value) { return value + 7; }
Text other_than(const Text&) { return "a \"b\"\n%x // \\ \x01"; }
template <NamedEnum E>
E other_than(E) {
  return E(names_of(E{}).size() - 1);
}
template <class T>
std::vector<T> other_than(const std::vector<T>&) {
  return {other_than(T{}), other_than(T{})};
}

template <class Struct>
void fill(Struct& op, Kernel& kernel, ValueId v) {
  each_field(op, [&](auto kind, const char*, auto& field) {
    using Kind = decltype(kind);
    if constexpr (std::is_same_v<Kind, field::Value> || std::is_same_v<Kind, field::Maybe>) field = v;
    if constexpr (std::is_same_v<Kind, field::Values>) field = {v, v};
    if constexpr (std::is_same_v<Kind, field::Attribute>) field = other_than(field);
    if constexpr (std::is_same_v<Kind, field::Region>) field = kernel.new_region();
    if constexpr (std::is_same_v<Kind, field::Regions>) field = {kernel.new_region(), kernel.new_region()};
  });
}

}  // namespace

TEST_CASE("every sample prints as a text that parses to the same text") {
  auto paths = samples();
  CHECK(paths.size() >= 5);
  for (const auto& path : paths) {
    CAPTURE(path.filename().string());
    std::string error;
    auto kernel = parse(read(path), &error);
    REQUIRE_MESSAGE(kernel, error);
    std::string once = print(*kernel);
    auto again = parse(once, &error);
    REQUIRE_MESSAGE(again, error);
    CHECK(print(*again) == once);
  }
}

TEST_CASE("every operation with every field parses back") {
  for (size_t k = 0; k < kOpKinds; ++k) {
    for (bool is_filled : {false, true}) {
      Kernel kernel;
      kernel.body = kernel.new_region();
      ValueId v = kernel.new_arg(kernel.body, scalar_type(Scalar::F32), "x");
      OpData data = make_op(OpKind(k));
      Kernel scratch;
      if (is_filled)
        visit(data, [&](auto& op) { fill(op, kernel, v); });
      else
        visit(data, [&](auto& op) {
          each_field(op, [&](auto kind, const char*, auto& field) {
            if constexpr (std::is_same_v<decltype(kind), field::Value>) field = v;
            if constexpr (std::is_same_v<decltype(kind), field::Region>) field = kernel.new_region();
          });
        });
      Builder(kernel, kernel.body)
          .add(data, std::vector<Type>{scalar_type(Scalar::Bool, true), plain_type(TypeKind::Token)});
      std::string text = print(kernel), error;
      CAPTURE(text);
      auto back = parse(text, &error);
      REQUIRE_MESSAGE(back, error);
      CHECK(print(*back) == text);
      CHECK(back->op(back->region(back->body).ops[0]).kind() == OpKind(k));
      visit(data, [&](auto& op) {
        const auto& read = back->op(back->region(back->body).ops[0]).template as<std::decay_t<decltype(op)>>();
        std::vector<std::string> expected, found;
        auto texts = [](std::vector<std::string>& out) {
          return [&out](auto kind, const char*, const auto& field) {
            if constexpr (std::is_same_v<decltype(kind), field::Attribute>) out.push_back(attribute_text(field));
          };
        };
        each_field(std::as_const(op), texts(expected));
        each_field(read, texts(found));
        CHECK(expected == found);
      });
    }
  }
}

TEST_CASE("the header of a kernel is complete") {
  Kernel kernel;
  kernel.name = "k \"quoted\"";
  kernel.doc = "two\nlines";
  kernel.form = Form::Thread;
  kernel.fast_math = true;
  kernel.span = {{2}, 5, 9};
  kernel.body = kernel.new_region();
  ValueId n = kernel.new_arg(kernel.body, scalar_type(Scalar::Index), "N");
  ValueId x = kernel.new_arg(kernel.body, buffer_type(Space::Global, Scalar::F16, {kDynamic, 4}), "x");
  Builder b(kernel, kernel.body);
  ValueId four = b.index(4);
  kernel.dims = {{"N", n, 12, {{0}, 1, 2}}};
  kernel.params = {{"x", Access::InOut, true, true, x, {n, four}, {four, n}, "f16[N, 4; 4, N]", "the x", {{0}, 3, 4}}};
  kernel.requirements = {{n, "N > 0", {{0}, 5, 6}}};
  kernel.schedule = {{{"load", 4, 40}}, {{"a", "load", 1, 2}}, {{"ab", {"a", "b"}, 3, 1}}, {{"c", "reg(c0) lane(c1)", {}}}, {{Need::Overlap, {{0}, 7, 9}}, {Need::NoSpill, {}}}, 8, 1, 4, {2, 1}, true, false, {}};
  b.yield({});
  std::string text = print(kernel, {.spans = true}), error;
  auto back = parse(text, &error);
  REQUIRE_MESSAGE(back, error);
  CHECK(print(*back, {.spans = true}) == text);
  CHECK(back->name == kernel.name);
  CHECK(back->doc == kernel.doc);
  CHECK(back->form == Form::Thread);
  CHECK(back->fast_math);
  CHECK(back->span == kernel.span);
  CHECK(back->schedule == kernel.schedule);
  REQUIRE(back->dims.size() == 1);
  CHECK(back->dims[0].fixed == 12);
  CHECK(back->dims[0].span == kernel.dims[0].span);
  REQUIRE(back->params.size() == 1);
  const Param& p = back->params[0];
  CHECK(p.access == Access::InOut);
  CHECK((p.may_alias && p.may_be_null));
  CHECK(p.extents == kernel.params[0].extents);
  CHECK(p.strides == kernel.params[0].strides);
  CHECK(p.type_text == kernel.params[0].type_text);
  CHECK(p.doc == "the x");
  CHECK(back->requirements[0].text == "N > 0");
  CHECK(back->type(x) == kernel.type(x));
}

TEST_CASE("numbers keep their bits") {
  for (int64_t i : {int64_t(0), int64_t(-1), INT64_MAX, INT64_MIN})
    CHECK(round_trip(Number::integer(i)) == Number::integer(i));
  for (double f : {0.0, -0.0, 1.0, 0.1, -1e30, 5e-324, 1.7976931348623157e308, 3e20, HUGE_VAL, -HUGE_VAL,
                   std::numeric_limits<double>::quiet_NaN(), std::bit_cast<double>(0xfff8000000000123ull)})
    CHECK(round_trip(Number::real(f)) == Number::real(f));
  CHECK(attribute_text(Number::real(1)) == "1.0");
  Scanner hex("0x1.8p+1 0xff 1e3");
  Number n;
  CHECK((parse_attribute(hex, n) && n == Number::real(3)));
  CHECK((parse_attribute(hex, n) && n == Number::integer(255)));
  CHECK((parse_attribute(hex, n) && n == Number::real(1000)));
}

TEST_CASE("names are a hint and a number, and odd hints stay readable") {
  auto kernel = parse(R"(kernel "k" { (%a_7: int, %b_7: int, %c: int, %3: int) yield [%a_7, %b_7, %c, %3] })");
  REQUIRE(kernel);
  CHECK(value_name(*kernel, {7}) == "%a_7");
  CHECK(value_name(*kernel, {3}) == "%3");
  CHECK(value_name(*kernel, kernel->region(kernel->body).args[2]) == "%c_9");
  std::string text = print(*kernel);
  CHECK(text == print(*parse(text)));
  kernel->value({7}).hint = "tile of a[0]";
  CHECK(value_name(*kernel, {7}) == "%tile_of_a_0__7");
  text = print(*kernel);
  CHECK(text == print(*parse(text)));
}

TEST_CASE("layouts are part of the type") {
  std::string text = R"(kernel "k", form=placed
{ (%t_0: tile<24x8 f16 @ reg(c0) lane(c1 c2 r0 r1 r2) grid(r 3)>, %b_1: buffer<shared 8x4 f16 @ addr(c0 c1^r0 r0 r1 r2)>)
  yield
}
)";
  auto kernel = parse(text);
  REQUIRE(kernel);
  CHECK(print(*kernel) == text);
  CHECK(kernel->layouts.is_reg(kernel->type({0}).layout));
  CHECK(kernel->layouts.is_mem(kernel->type({1}).layout));
  CHECK(error_of("kernel \"k\" { (%t: tile<8 f32 @ reg(c0)>) }").find("layout: ") != std::string::npos);
}

TEST_CASE("an error names its line and what is wrong") {
  CHECK(error_of("") == "line 1: expected 'kernel'");
  CHECK(error_of("kernel \"k\" {\n  frobnicate %x\n}") == "line 2: 'frobnicate' is no operation");
  CHECK(error_of("kernel \"k\" {\n  yield [%x]\n}") == "line 3: %x_0 is never defined");
  CHECK(error_of("kernel \"k\" {\n\n %a = constant 3 : floot }") == "line 3: 'floot' is no type");
  CHECK(error_of("kernel \"k\" { %a = constant 3 : int %a = constant 4 : int }") == "line 1: a value is defined twice");
  CHECK(error_of("kernel \"k\" { %a = binary.plus %a, %a : int }") == "line 1: 'plus' is no fn");
  CHECK(error_of("kernel \"k\" { %a = binary %a, %a : int }") == "line 1: expected '.' and a fn");
  CHECK(error_of("kernel \"k\" { barrier.add }") == "line 1: 'add' may not stand here");
  CHECK(error_of("kernel \"k\" { barrier when=\"x\" }") == "line 1: there is no attribute 'when' here");
  CHECK(error_of("kernel \"k\" { yield } more") == "line 1: expected the end of the text");
}

TEST_CASE("no text makes the parser fall") {
  std::string deep = "kernel \"k\" ";
  for (int i = 0; i < 10000; ++i) deep += "{ simt ";
  CHECK(error_of(deep).find("too many regions") != std::string::npos);
  for (const auto& path : samples()) {
    auto sample = parse(read(path));
    REQUIRE(sample);
    std::string text = print(*sample, {.spans = true});
    size_t kept = 0, parsed = 0;
    for (size_t length = 0; length < text.size(); length += 3) parsed += parse(text.substr(0, length)).has_value();
    CHECK(parsed <= 1);
    // Each word or sign left out, doubled, or put in the place of an earlier one.
    std::string earlier;
    for (size_t at = 0; at < text.size();) {
      size_t end = at + 1;
      if (is_word_character(text[at]))
        while (end < text.size() && is_word_character(text[end])) ++end;
      std::string token = text.substr(at, end - at), rest = text.substr(end);
      for (const std::string& change : {std::string(), token + token, token + " " + token, earlier}) {
        auto kernel = parse(text.substr(0, at) + change + rest);
        if (!kernel) continue;
        ++kept;
        if (kept % 16 == 0) CHECK(print(*parse(print(*kernel))) == print(*kernel));
      }
      if (token != " ") earlier = token;
      at = end;
      if (text.size() > 4000) at += 5;
    }
    CHECK(kept > 0);
  }
}
