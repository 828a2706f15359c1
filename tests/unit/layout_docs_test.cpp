// The notations that docs/layouts.md shows are read, printed back, and have the shapes that it says.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "base/text.h"
#include "layout/build.h"
#include "layout/notation.h"
#include "layout/transform.h"

using namespace tilec;
using namespace tilec::layout;

namespace {

struct Example {
  std::string letters, text, shape;
};

// Lines `letters: notation = 16x64` in the blocks marked `layout`.
std::vector<Example> examples() {
  std::string path = __FILE__;
  std::ifstream file(path.substr(0, path.rfind("tests/unit")) + "docs/layouts.md");
  std::vector<Example> result;
  bool is_inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      is_inside = line == "```layout";
    } else if (is_inside && !line.empty()) {
      size_t colon = line.find(':'), equals = line.rfind('=');
      REQUIRE_MESSAGE((colon != std::string::npos && equals != std::string::npos), line);
      result.push_back({line.substr(0, colon), std::string(trim(line.substr(colon + 1, equals - colon - 1))),
                        std::string(trim(line.substr(equals + 1)))});
    }
  }
  return result;
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (int axis = 0; axis < shape.rank; ++axis) text += (axis > 0 ? "x" : "") + std::to_string(shape[axis]);
  return text;
}

}  // namespace

TEST_SUITE("layout") {
  TEST_CASE("the examples of the page on layouts are what it says") {
    int of_registers = 0, of_memory = 0;
    for (const auto& [letters, text, shape] : examples()) {
      bool is_memory = text.starts_with("addr") || text.find(" : ") != std::string::npos;
      if (is_memory) {
        auto parsed = parse_mem_layout(text, letters);
        REQUIRE_MESSAGE(parsed, text << ": " << parsed.error);
        CHECK(print(*parsed, letters) == text);
        CHECK(shape_text(parsed->shape) == shape);
        ++of_memory;
      } else {
        auto parsed = parse_reg_layout(text, letters);
        REQUIRE_MESSAGE(parsed, text << ": " << parsed.error);
        CHECK(print(*parsed, letters) == text);
        CHECK(shape_text(parsed->shape) == shape);
        ++of_registers;
      }
    }
    CHECK(of_registers >= 15);
    CHECK(of_memory >= 7);
  }

  TEST_CASE("the claims of the page on layouts hold") {
    CHECK(reg_layout("reg(k0 m3 k3) lane(k1 k2 m0 m1 m2)", "mk").coordinate(0, 5, 0) == Coordinate{1, 2});
    CHECK(print(reg_layout("lane(c0) grid(c 6)")) == "reg(c1) lane(c0) grid(c 3)");
    CHECK(print(project(reg_layout("reg(c0 r3) lane(c1 c2 r0 r1 r2)"), 1)) == "reg(c3) lane(_ _ c0 c1 c2)");
    CHECK(print(blocked({16, 256}, 32, 4, 8)) == "reg(c0 c1 c2 r2 r3) lane(c3 c4 c5 c6 c7) warp(r0 r1)");
    CHECK(print(blocked({64, 96}, 32, 4, 8)) == "reg(c0 c1 c2 r5) lane(c3 c4 r0 r1 r2) warp(r3 r4) grid(c 3)");
  }
}
