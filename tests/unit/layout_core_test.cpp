// The two layout types, their notation, the builders and the table.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "layout/build.h"
#include "layout/intern.h"
#include "layout/notation.h"

using namespace tilec::layout;

namespace {

// A flattened mode list size:stride of the integer kind, evaluated by mixed radix: an independent source of numbers.
struct Mode {
  int size, stride;
};
int mixed_radix(const std::vector<Mode>& modes, int x) {
  int y = 0;
  for (auto [size, stride] : modes) y += x % size * stride, x /= size;
  return y;
}

// Does the layout say the same as threads:values modes over column-major coordinates (the first letter is the row)?
bool same_as(const RegLayout& layout, const std::vector<Mode>& threads, const std::vector<Mode>& values) {
  int rows = layout.shape[0];
  for (int w = 0; w < layout.warps(); ++w) {
    for (int t = 0; t < layout.lanes(); ++t) {
      for (int r = 0; r < layout.registers(); ++r) {
        Coordinate at = layout.coordinate(r, t, w);
        if (at[0] + rows * at[1] != mixed_radix(threads, w * layout.lanes() + t) + mixed_radix(values, r)) return false;
      }
    }
  }
  return true;
}

// How often each element of the tile is held, by looking at every place.
std::map<Coordinate, int> held(const RegLayout& layout) {
  std::map<Coordinate, int> count;
  for (int c = 0; c < layout.ctas(); ++c) {
    for (int w = 0; w < layout.warps(); ++w) {
      for (int t = 0; t < layout.lanes(); ++t) {
        for (int r = 0; r < layout.registers(); ++r) ++count[layout.coordinate(r, t, w, c)];
      }
    }
  }
  return count;
}
bool holds_all(const RegLayout& layout) {
  auto count = held(layout);
  int64_t inside = 0;
  for (auto& [at, n] : count) inside += layout.is_inside(at);
  return inside == layout.shape.elements() && static_cast<int64_t>(count.size()) == layout.cover().elements();
}

std::vector<Coordinate> elements(const Shape& shape) {
  std::vector<Coordinate> result;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    Coordinate at{};
    int64_t rest = i;
    for (int axis = shape.rank - 1; axis >= 0; rest /= shape[axis--]) at[axis] = static_cast<int>(rest % shape[axis]);
    result.push_back(at);
  }
  return result;
}
bool is_injective(const MemLayout& layout) {
  std::set<int64_t> seen;
  for (const Coordinate& at : elements(layout.shape)) {
    int64_t address = layout.address(at);
    if (address < 0 || address >= layout.size() || !seen.insert(address).second) return false;
  }
  return true;
}

}  // namespace

TEST_SUITE("layout") {
  TEST_CASE("bits: solve, intersection and complement agree with enumeration") {
    std::mt19937 random(1);
    for (int n = 0; n < 2000; ++n) {
      auto some = [&](int count) {
        Basis basis;
        while (count--) basis.push_back(random() & 63);
        return basis;
      };
      Basis a = some(3), b = some(3);
      std::set<Vec> in_a, in_both;
      for (int x = 0; x < 8; ++x) in_a.insert(image(a, x));
      for (int x = 0; x < 8; ++x) {
        if (in_a.count(image(b, x))) in_both.insert(image(b, x));
      }
      REQUIRE(in_a.size() == (size_t{1} << rank(a)));
      Basis common = intersection(a, b);
      REQUIRE(in_both.size() == (size_t{1} << common.size()));
      for (Vec v : common) REQUIRE(in_both.count(v));
      Vec y = random() & 63;
      auto x = solve(a, y);
      REQUIRE(x.has_value() == (in_a.count(y) > 0));
      if (x) REQUIRE(image(a, *x) == y);
      Basis all = concat({a, complement(a, b)});
      REQUIRE(rank(all) == rank(concat({a, b})));
      REQUIRE(all.size() - a.size() == static_cast<size_t>(rank(all) - rank(a)));
    }
  }

  TEST_CASE("fragments of matrix instructions are what the vendor's tables say") {
    CHECK(same_as(reg_layout("reg(k0 m3 k3) lane(k1 k2 m0 m1 m2)", "mk"), {{4, 32}, {8, 1}},
                  {{2, 16}, {2, 8}, {2, 128}}));
    CHECK(same_as(reg_layout("reg(k0 k3) lane(k1 k2 n0 n1 n2)", "nk"), {{4, 16}, {8, 1}}, {{2, 8}, {2, 64}}));
    CHECK(same_as(reg_layout("reg(n0 m3) lane(n1 n2 m0 m1 m2)", "mn"), {{4, 32}, {8, 1}}, {{2, 16}, {2, 8}}));
    CHECK(same_as(reg_layout("reg(n0 m3 n3 n4 n5) lane(n1 n2 m0 m1 m2) warp(m4 m5)", "mn"), {{4, 128}, {8, 1}, {4, 16}},
                  {{2, 64}, {2, 8}, {8, 512}}));
    CHECK_FALSE(same_as(reg_layout("reg(n0 m3) lane(n1 n2 m0 m2 m1)", "mn"), {{4, 32}, {8, 1}}, {{2, 16}, {2, 8}}));
  }

  TEST_CASE("a 64x96 accumulator is a grid of three over a bit matrix") {
    RegLayout layout = reg_layout("reg(n0 m3 n3 n4) lane(n1 n2 m0 m1 m2) warp(m4 m5) grid(n 3)", "mn");
    CHECK(layout.shape == Shape{64, 96});
    CHECK(layout.registers() == 48);
    CHECK(same_as(layout, {{4, 128}, {8, 1}, {4, 16}}, {{2, 64}, {2, 8}, {12, 512}}));
    CHECK(holds_all(layout));
  }

  TEST_CASE("three warpgroups of four warps deal the rows out in contiguous blocks") {
    RegLayout layout = reg_layout("reg(c0 r3 c3) lane(c1 c2 r0 r1 r2) warp(r4 r5) warpgrid(r 3)");
    CHECK(layout.warps() == 12);
    CHECK(layout.shape == Shape{192, 16});
    CHECK(layout.coordinate(0, 0, 5)[0] == 64 + 16);
    CHECK(layout.coordinate(2, 0, 8)[0] == 128 + 8);
    CHECK(holds_all(layout));
  }

  TEST_CASE("grids nest from the innermost outwards, in registers and warps") {
    RegLayout layout = reg_layout("reg(c0) lane(c1 c2) grid(c 3) warpgrid(c 5) grid(c 2, r 7)");
    CHECK(layout.shape == Shape{7, 8 * 30});
    CHECK(layout.registers() == 2 * 3 * 2 * 7);
    CHECK(layout.coordinate(2, 0, 0)[1] == 8);
    CHECK(layout.coordinate(0, 0, 1)[1] == 24);
    CHECK(layout.coordinate(6, 0, 0)[1] == 120);
    CHECK(layout.coordinate(12, 0, 0)[0] == 1);
    CHECK(holds_all(layout));
  }

  TEST_CASE("a tile of 33 columns is covered by 64, and both numbers are kept") {
    auto parsed = parse_reg_layout("reg(c5) lane(c0 c1 c2 c3 c4) grid(r 3)", Shape{3, 33});
    REQUIRE(parsed);
    CHECK(parsed->is_padded());
    CHECK(parsed->cover() == Shape{3, 64});
    CHECK(parsed->is_inside(parsed->coordinate(0, 31, 0)));
    CHECK(parsed->is_inside(parsed->coordinate(1, 0, 0)));
    CHECK_FALSE(parsed->is_inside(parsed->coordinate(1, 1, 0)));
    CHECK(holds_all(*parsed));
    CHECK_FALSE(reg_layout("reg(c0) lane(c1)", "c").is_padded());
  }

  TEST_CASE("a layout has one normal form") {
    CHECK(reg_layout("lane(c0) grid(c 2, c 3)") == reg_layout("lane(c0) reg(c1) grid(c 3)"));
    CHECK(print(reg_layout("lane(c0) grid(c 6)")) == "reg(c1) lane(c0) grid(c 3)");
    CHECK(print(reg_layout("lane(c0) warpgrid(r 12) grid(c 3)")) == "lane(c0) warp(r0 r1) grid(c 3) warpgrid(r 3)");
    // Three blocks twice over are six blocks in a row, which are a bit and three.
    CHECK(print(reg_layout("reg(c0) grid(c 3) grid(c 2)")) == "reg(c0 c1) grid(c 3)");
    CHECK(print(reg_layout("reg(c0) grid(r 3, c 2)")) == "reg(c0) grid(r 3, c 2)");
    CHECK(print(mem_layout("grid(c 64 : 1, r 3 : 64)")) == "addr(c0 c1 c2 c3 c4 c5) grid(r 3 : 64)");
    RegLayout raw = reg_layout("lane(c0 c1)");
    raw.grids = {{1, 3, GridPlace::Register}, {0, 4, GridPlace::Warp}, {1, 4, GridPlace::Register},
                 {0, 1, GridPlace::Warp}};
    raw.shape = raw.cover();
    RegLayout tidy = normalized(raw);
    CHECK(print(tidy) == "reg(c2 c3) lane(c0 c1) warp(r0 r1) grid(c 3)");
    for (int w = 0; w < 4; ++w) {
      for (int r = 0; r < 12; ++r) CHECK(raw.coordinate(r, 3, w) == tidy.coordinate(r, 3, w));
    }
  }

  TEST_CASE("the notation reads back as it prints") {
    const char* reg_texts[] = {"reg(c0 r3 c3) lane(c1 c2 r0 r1 r2) grid(c 3)",
                               "reg(c0 c1 c2) lane(_ _ _ _ _)",
                               "reg(c0 c1 c2 r2 r3) lane(c3 c4 c5 c6 c7) warp(r0 r1)",
                               "reg(c0) lane(c1^r0 c2 r0) warp(r1 _) cta(r2) grid(c 3, r 5) warpgrid(_ 3)",
                               "reg()"};
    for (const char* text : reg_texts) CHECK(print(reg_layout(text)) == text);
    const char* mem_texts[] = {"addr(c0 c1 c2 c3^r0 c4^r1 c5^r2 r0 r1 r2 r3)",
        "addr(c0 c1 c2 c3 c4 r0 r1 r2 r3 r4 r5 c5 c6)",
                               "addr(c0 c1 _ * r0)", "addr(c0 c1 c2 c3 c4) grid(c 3 : 32, r 64 : 96)",
                               "grid(c 33 : 1, r 33 : 33)", "addr(c0 c1 c2 c3 c4 r0 r1) pad(32 + 4)", "addr()"};
    for (const char* text : mem_texts) CHECK(print(mem_layout(text)) == text);
    CHECK(print(reg_layout("reg(k0) lane(b1 a0 b0)", "akb"), "akb") == "reg(k0) lane(b1 a0 b0)");
    auto parsed = parse_reg_layout("lane(a0 b0 r0 c0) reg(d1 d0)", Shape{2, 2, 4, 2, 2});
    REQUIRE(parsed);
    CHECK(print(*parsed) == "reg(d1 d0) lane(a0 b0 r0 c0)");
  }

  TEST_CASE("random layouts read back as they print") {
    std::mt19937 random(2);
    for (int n = 0; n < 2000; ++n) {
      RegLayout layout{.shape = Shape{1, 1, 1}};
      std::vector<Vec> bits;
      for (int i = 0; i < 9; ++i) {
        Vec other = i > 0 && random() % 3 == 0 ? bits[random() % i] : 0;
        bits.push_back(coordinate_bit(3, i % 3, i / 3) ^ other);
      }
      std::shuffle(bits.begin(), bits.end(), random);
      Basis* places[] = {&layout.reg, &layout.lane, &layout.warp, &layout.cta};
      for (Vec v : bits) places[random() % 4]->push_back(v);
      if (random() % 2) layout.lane.push_back(0);
      for (int i = random() % 4; i > 0; --i) {
        int axis = static_cast<int>(random() % 4) - 1, count = static_cast<int>(random() % 5) + 1;
        layout.grids.push_back({axis, count, GridPlace(random() % 2)});
      }
      layout.shape = layout.cover();
      REQUIRE(flaw(layout) == "");
      RegLayout tidy = normalized(layout);
      auto parsed = parse_reg_layout(print(tidy), tidy.shape);
      REQUIRE_MESSAGE(parsed, parsed.error);
      REQUIRE(*parsed == tidy);
      for (int probe = 0; probe < 20; ++probe) {
        int r = random() % layout.registers(), t = random() % layout.lanes();
        int w = random() % layout.warps(), c = random() % layout.ctas();
        REQUIRE(layout.coordinate(r, t, w, c) == tidy.coordinate(r, t, w, c));
      }
    }
  }

  TEST_CASE("mistakes in the notation are answered with what and where") {
    struct {
      const char* text;
      size_t offset;
    } wrong[] = {{"reg(c0 x1)", 7}, {"reg(c)", 5}, {"reg(c0", 6}, {"rag(c0)", 4}, {"reg(c0) reg(c1)", 12},
                 {"grid(c 0)", 8}, {"lane(c99)", 8}, {"reg(c0) grid(c)", 14}, {"reg(c0^)", 7}, {"reg", 3},
                 {"reg(c99999999999999999999)", 0}, {"(c0)", 1}};
    for (auto& [text, offset] : wrong) {
      auto parsed = parse_reg_layout(text, "rc");
      CHECK_FALSE(parsed);
      CHECK_MESSAGE(!parsed.error.empty(), text);
      if (offset > 0) CHECK_MESSAGE(parsed.offset == offset, text);
    }
    CHECK(parse_reg_layout("reg(c0 _) lane(r0 c1)", "rc"));
    CHECK_FALSE(parse_reg_layout("reg(c0 _) lane(r0 r0 c2)", "rc"));  // c1 is nowhere
    CHECK_FALSE(parse_reg_layout("reg(c0 c1)", Shape{5}));
    CHECK(parse_mem_layout("addr(c0 c1 _ r0)", "rc"));
    CHECK_FALSE(parse_mem_layout("addr(c0 c0^r0 c0^r0)", Shape{2, 4}));
    CHECK_FALSE(parse_mem_layout("addr(c0^r0)", "rc"));
    CHECK_FALSE(parse_mem_layout("grid(c 3 : 2, r 3 : 2)", "rc"));
    CHECK_FALSE(parse_mem_layout("addr(c0) grid(c 3)", "rc"));
    CHECK_FALSE(parse_mem_layout("addr(c0) pad(32 4)", "rc"));
    CHECK_FALSE(parse_mem_layout("grid(c 1000000000 : 1, c 1000000000 : 5)", "rc"));
    CHECK_FALSE(parse_mem_layout("grid(c 1000000 : 1000000, r 1000000 : 1000000)", "rc"));
    CHECK_FALSE(parse_mem_layout("grid(c 1000000 : 1000) pad(1 + 1000000)", "rc"));
    CHECK_FALSE(parse_reg_layout("warpgrid(_ 1000000000, _ 1000000000)", "rc"));
  }

  TEST_CASE("row-major memory of any shape") {
    for (const Shape& shape : {Shape{3, 33}, Shape{64, 96}, Shape{16, 576}, Shape{33, 33}, Shape{128, 64}, Shape{7},
                               Shape{}, Shape{2, 3, 4, 5}, Shape{1, 1}, Shape{3, 1, 96}}) {
      MemLayout layout = row_major(shape);
      CHECK(flaw(layout) == "");
      CHECK(layout.size() == shape.elements());
      int64_t expected = 0;
      for (const Coordinate& at : elements(shape)) CHECK(layout.address(at) == expected++);
      auto parsed = parse_mem_layout(print(layout), shape);
      REQUIRE(parsed);
      CHECK(*parsed == layout);
    }
    CHECK(print(row_major({64, 96})) == "addr(c0 c1 c2 c3 c4) grid(c 3 : 32, r 64 : 96)");
    CHECK(print(row_major({16, 576})) == "addr(c0 c1 c2 c3 c4 c5) grid(c 9 : 64, r 16 : 576)");
    CHECK(print(row_major({3, 33})) == "grid(c 33 : 1, r 3 : 33)");
    CHECK(print(row_major({8, 4})) == "addr(c0 c1 r0 r1 r2)");
  }

  TEST_CASE("panels are contiguous columns of a few rows") {
    CHECK(print(panels({64, 128}, 1, 32)) == "addr(c0 c1 c2 c3 c4 r0 r1 r2 r3 r4 r5 c5 c6)");
    MemLayout six = panels({32, 10}, 0, 6);
    CHECK(flaw(six) == "");
    CHECK(is_injective(six));
    CHECK(six.size() == 36 * 10);
    for (const Coordinate& at : elements({32, 10})) CHECK(six.address(at) == at[0] % 6 + 6 * at[1] + 60 * (at[0] / 6));
  }

  TEST_CASE("swizzled rows follow the hardware's formula on byte addresses") {
    for (int bytes : {32, 64, 128}) {
      for (int element_bits : {8, 16, 32}) {
        int row = bytes * 8 / element_bits, element_bytes = element_bits / 8;
        for (const Shape& shape : {Shape{16, row}, Shape{24, 3 * row}}) {
          auto layout = swizzled(shape, 1, 0, element_bits, bytes);
          REQUIRE(layout);
          CHECK(flaw(*layout) == "");
          CHECK(layout->size() == shape.elements());
          int mask = bytes / 16 - 1;
          for (const Coordinate& at : elements(shape)) {
            int64_t plain =
                (int64_t{at[1]} / row * shape[0] * row + int64_t{at[0]} * row + at[1] % row) * element_bytes;
            int64_t swizzle = plain ^ (plain >> 7 & mask) << 4;
            CHECK(layout->address(at) * element_bytes == swizzle);
          }
        }
      }
    }
    CHECK(print(*swizzled({16, 64}, 1, 0, 16, 128)) == "addr(c0 c1 c2 c3^r0 c4^r1 c5^r2 r0 r1 r2 r3)");
    CHECK_FALSE(swizzled({16, 48}, 1, 0, 16, 128));
    CHECK_FALSE(swizzled({12, 64}, 1, 0, 16, 128));
    CHECK(swizzled({64, 96}, 0, 1, 16, 128));
  }

  TEST_CASE("holes, copies and padding keep memory injective and are counted in its size") {
    MemLayout hole = mem_layout("addr(c0 _ r0)");
    CHECK(hole.size() == 6);
    CHECK(is_injective(hole));
    CHECK(mem_layout("addr(c0 * r0)").size() == 8);
    MemLayout filled = mem_layout("addr(c0 c1 _ _ r0) grid(c 3 : 4)");
    CHECK(is_injective(filled));
    CHECK(flaw(filled) == "");
    MemLayout padded = mem_layout("addr(c0 c1 c2 c3 c4 r0 r1) pad(32 + 4)");
    CHECK(padded.size() == 3 * 36 + 32);
    CHECK(padded.address({1, 0}) == 36);
    CHECK(is_injective(padded));
  }

  TEST_CASE("stacked memory repeats a layout at equal distances") {
    for (const char* text : {"addr(c0 c1 c2 c3^r0 c4 r0)", "grid(c 33 : 1, r 3 : 33)",
        "addr(c0 c1 c2 c3 c4 r0 r1) pad(32 + 4)"}) {
      MemLayout one = mem_layout(text), three = stacked(one, 3);
      CHECK(flaw(three) == "");
      CHECK(is_injective(three));
      int64_t distance = three.address({1, 0, 0}) - three.address({0, 0, 0});
      CHECK(distance >= one.size());
      for (const Coordinate& at : elements(one.shape)) {
        CHECK(three.address({2, at[0], at[1]}) == 2 * distance + one.address(at));
      }
    }
  }

  TEST_CASE("blocked layouts hold every element of any shape") {
    for (const Shape& shape : {Shape{64, 96}, Shape{16, 576}, Shape{33}, Shape{3, 33}, Shape{128, 128}, Shape{1, 1},
                               Shape{5, 7, 9}, Shape{2048}, Shape{2, 2, 2, 2, 2, 2}, Shape{}}) {
      for (int lanes : {4, 16, 32, 64}) {
        for (int warps : {1, 4, 12}) {
          for (int vector : {1, 4, 8}) {
            RegLayout layout = blocked(shape, lanes, warps, vector);
            CHECK(flaw(layout) == "");
            CHECK(layout.lanes() == lanes);
            CHECK(layout.warps() == warps);
            CHECK(layout == normalized(layout));
            CHECK(holds_all(layout));
          }
        }
      }
    }
  }

  TEST_CASE("blocked layouts put lanes along the last axis and warps along the first") {
    CHECK(print(blocked({16, 256}, 32, 4, 8)) == "reg(c0 c1 c2 r2 r3) lane(c3 c4 c5 c6 c7) warp(r0 r1)");
    CHECK(print(blocked({64, 96}, 32, 4, 8)) == "reg(c0 c1 c2 r5) lane(c3 c4 r0 r1 r2) warp(r3 r4) grid(c 3)");
    CHECK(print(blocked({192, 64}, 32, 12, 8)) == "reg(c0 c1 c2 r4 r5) lane(c3 c4 c5 r0 r1) warp(r2 r3) warpgrid(r 3)");
    CHECK(print(blocked({33}, 32, 1, 1)) == "reg(c5) lane(c0 c1 c2 c3 c4)");
    CHECK(print(blocked({8}, 32, 1, 1)) == "lane(c0 c1 c2 _ _)");
    CHECK_FALSE(blocked({64, 96}, 32, 4, 8).is_padded());
    CHECK_FALSE(blocked({16, 576}, 32, 4, 8).is_padded());
  }

  TEST_CASE("an atom tiles a larger tile with warps and registers") {
    RegLayout c = reg_layout("reg(n0 m3) lane(n1 n2 m0 m1 m2)", "mn");
    WarpStep rows4[] = {{0, 4}}, rows2_columns2[] = {{0, 2}, {1, 2}};
    CHECK(print(tiled(c, {64, 32}, rows4)) == "reg(c0 r3 c3 c4) lane(c1 c2 r0 r1 r2) warp(r4 r5)");
    CHECK(print(tiled(c, {128, 96}, rows2_columns2)) ==
        "reg(c0 r3 c4 r5 r6) lane(c1 c2 r0 r1 r2) warp(r4 c3) grid(c 3)");
    RegLayout a = reg_layout("reg(k0 m3 k3) lane(k1 k2 m0 m1 m2)", "mk");
    WarpStep of_a[] = {{0, 2}, {kReplica, 2}};
    CHECK(print(tiled(a, {32, 32}, of_a)) == "reg(c0 r3 c3 c4) lane(c1 c2 r0 r1 r2) warp(r4 _)");
    RegLayout wide = reg_layout("reg(n0 m3 n3 n4) lane(n1 n2 m0 m1 m2) warp(m4 m5) grid(n 3)", "mn");
    WarpStep groups[] = {{0, 3}};
    RegLayout two = tiled(wide, {192, 192}, groups);
    CHECK(print(two) == "reg(c0 r3 c3 c4 c5) lane(c1 c2 r0 r1 r2) warp(r4 r5) grid(c 3) warpgrid(r 3)");
    CHECK(two.coordinate(16, 0, 0)[1] == 32);
    CHECK(two.coordinate(48, 0, 0)[1] == 96);
    CHECK(tiled(c, {33, 20}, rows2_columns2).cover() == Shape{64, 32});
    CHECK(print(tiled(c, {5, 16, 8}, {})) == "reg(c0 r3) lane(c1 c2 r0 r1 r2) grid(a 5)");
    for (const Shape& shape : {Shape{64, 96}, Shape{48, 40}, Shape{33, 20}}) {
      CHECK(holds_all(tiled(c, shape, rows2_columns2)));
    }
  }

  TEST_CASE("equal layouts have one id") {
    LayoutTable table;
    LayoutId a = table.intern(reg_layout("lane(c0) grid(c 6)"));
    LayoutId b = table.intern(reg_layout("reg(c1) lane(c0) grid(c 3)"));
    LayoutId c = table.intern(reg_layout("reg(c0) lane(c1) grid(c 3)"));
    LayoutId d = table.intern(row_major({8, 4}));
    CHECK(a == b);
    CHECK(a != c);
    CHECK(d == table.intern(mem_layout("addr(c0 c1 r0 r1 r2)")));
    CHECK(table.size() == 3);
    CHECK(table.is_mem(d));
    CHECK(table.reg(c).lane == Basis{coordinate_bit(2, 1, 1)});
    CHECK(table.mem(d).size() == 32);
    auto padded = parse_reg_layout("reg(c0 c1)", Shape{1, 3});
    CHECK(table.intern(*padded) != table.intern(reg_layout("reg(c0 c1)")));
  }
}
