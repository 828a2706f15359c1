// Division, reduction and the other things that operations on a tile do to its layout.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "layout/build.h"
#include "layout/convert.h"
#include "layout/notation.h"
#include "layout/transform.h"

using namespace tilec::layout;

namespace {

// Every register of every repeat of the atom is where the division says.
bool division_is_true(const RegLayout& tile, const RegLayout& atom, const Division& division) {
  int warps_of_atom = atom.warps();
  std::set<int64_t> used;
  for (int w = 0; w < tile.warps(); ++w) {
    for (int t = 0; t < tile.lanes(); ++t) {
      for (int64_t repeat = 0; repeat < division.rest.registers(); ++repeat) {
        Coordinate base = division.rest.coordinate(repeat, 0, w / warps_of_atom);
        for (int64_t r = 0; r < atom.registers(); ++r) {
          Coordinate at = atom.coordinate(r, t, w % warps_of_atom);
          for (int axis = 0; axis < tile.shape.rank; ++axis) at[axis] += base[axis] * atom.covered(axis);
          int64_t of_tile = division.tile_register(repeat, r);
          used.insert(of_tile);
          if (tile.coordinate(of_tile, t, w) != at) return false;
        }
      }
    }
  }
  return static_cast<int64_t>(used.size()) == tile.registers();
}

// Does the reduction's plan add every element of each row exactly once, in every place that holds a result?
bool reduction_is_true(const RegLayout& tile, int axis, const Reduction& plan) {
  auto dropped = [&](Coordinate at) {
    for (int i = axis; i + 1 < kMaxRank; ++i) at[i] = at[i + 1];
    return at;
  };
  auto mask = [](const std::vector<int>& bits) {
    int result = 0;
    for (int bit : bits) result |= 1 << bit;
    return result;
  };
  for (int w = 0; w < plan.result.warps(); ++w) {
    for (int t = 0; t < plan.result.lanes(); ++t) {
      for (int64_t result = 0; result < plan.result.registers(); ++result) {
        std::multiset<int> along;
        Coordinate wanted = plan.result.coordinate(result, t, w);
        for (int partner_warp = 0; partner_warp < tile.warps(); ++partner_warp) {
          // Warp grids that are combined are told apart by what they hold; the plan lists them.
          int warp_bits = (1 << tile.warp.size()) - 1;
          if (((partner_warp ^ w) & warp_bits & ~mask(plan.warp_bits)) != 0) continue;
          if (plan.warp_grids.empty() && (partner_warp & ~warp_bits) != (w & ~warp_bits)) continue;
          for (int partner = 0; partner < tile.lanes(); ++partner) {
            if (((partner ^ t) & ~mask(plan.lane_bits)) != 0) continue;
            for (int64_t r = 0; r < tile.registers(); ++r) {
              if (plan.result_register[r] != result) continue;
              Coordinate at = tile.coordinate(r, partner, partner_warp);
              if (dropped(at) != wanted) return false;
              along.insert(at[axis]);
            }
          }
        }
        if (static_cast<int>(along.size()) != tile.covered(axis)) return false;
        if (static_cast<int>(std::set<int>(along.begin(), along.end()).size()) != tile.covered(axis)) return false;
      }
    }
  }
  return true;
}

// The row-major number of an element.
int64_t number_of(const Coordinate& at, const Shape& shape) {
  int64_t number = 0;
  for (int axis = 0; axis < shape.rank; ++axis) number = number * shape[axis] + at[axis];
  return number;
}
bool reshape_is_true(const RegLayout& before, const RegLayout& after) {
  for (int w = 0; w < before.warps(); ++w) {
    for (int t = 0; t < before.lanes(); ++t) {
      for (int64_t r = 0; r < before.registers(); ++r) {
        int64_t number = number_of(before.coordinate(r, t, w), before.shape);
        if (number != number_of(after.coordinate(r, t, w), after.shape)) return false;
      }
    }
  }
  return before.registers() == after.registers() && before.lanes() == after.lanes() && before.warps() == after.warps();
}

// Does every place hold of the region at `offset` what it holds of the tile?
bool cut_is_true(const RegLayout& tile, const RegLayout& part, const Coordinate& offset) {
  for (int w = 0; w < tile.warps(); ++w)
    for (int t = 0; t < tile.lanes(); ++t) {
      std::set<Coordinate> held;
      for (int64_t r = 0; r < tile.registers(); ++r) held.insert(tile.coordinate(r, t, w));
      for (int64_t r = 0; r < part.registers(); ++r) {
        Coordinate at = part.coordinate(r, t, w);
        if (!part.is_inside(at)) continue;
        for (int axis = 0; axis < tile.shape.rank; ++axis) at[axis] += offset[axis];
        if (!held.contains(at)) return false;
      }
    }
  return true;
}

}  // namespace

TEST_SUITE("layout") {
  TEST_CASE("the addresses of all elements are those of each, in row-major order") {
    MemLayout padded = mem_layout("addr(c0 c1 c2 c3 c4 r0 r1) pad(32 + 4)");
    for (const MemLayout& layout : {stacked(padded, 3), *swizzled({24, 192}, 1, 0, 16, 128), panels({32, 10}, 0, 6), row_major({3, 33}),
                                    mem_layout("addr(c0 c1 _ _ r0) grid(c 3 : 4)")}) {
      std::vector<int64_t> each;
      Coordinate at{};
      for (int64_t n = 0; n < layout.shape.elements(); ++n) {
        each.push_back(layout.address(at));
        for (int axis = layout.shape.rank - 1; axis >= 0 && ++at[axis] == layout.shape[axis]; --axis) at[axis] = 0;
      }
      CHECK(layout.addresses() == each);
    }
  }

  TEST_CASE("an atom divides the tiles that are made of it") {
    struct {
      const char *text, *letters;
    } atoms[] = {{"reg(n0 m3) lane(n1 n2 m0 m1 m2)", "mn"},
                 {"reg(k0 m3 k3) lane(k1 k2 m0 m1 m2)", "mk"},
                 {"reg(n0 m3 n3 n4) lane(n1 n2 m0 m1 m2) warp(m4 m5) grid(n 3)", "mn"},
                 {"reg(m0 m1) lane(n0 n1 n2 n3 m2 m3)", "mn"}};
    WarpStep none[] = {{kReplica, 1}}, rows[] = {{0, 2}}, groups[] = {{0, 3}}, both[] = {{0, 2}, {1, 2}};
    for (auto& [text, letters] : atoms) {
      RegLayout atom = reg_layout(text, letters);
      for (const Shape& shape : {Shape{128, 192}, Shape{192, 96}, Shape{64, 576}, Shape{33, 96}}) {
        for (std::span<const WarpStep> steps : {std::span<const WarpStep>(none), std::span<const WarpStep>(rows),
                                                std::span<const WarpStep>(groups), std::span<const WarpStep>(both)}) {
          RegLayout tile = tiled(atom, shape, steps);
          auto division = divide(tile, atom);
          // Warps that step along a gridded axis land above the grid, in units of the atom.
          REQUIRE_MESSAGE(division, print(tile));
          REQUIRE(division_is_true(tile, atom, *division));
        }
      }
    }
  }

  TEST_CASE("division finds an atom's registers among the tile's in any order, and says no when they are not there") {
    RegLayout atom = reg_layout("reg(k0 m3 k3) lane(k1 k2 m0 m1 m2)", "mk");
    RegLayout tile = reg_layout("reg(c0 r3 r4 c3 c4) lane(c1 c2 r0 r1 r2) warp(r5)");
    auto division = divide(tile, atom);
    REQUIRE(division);
    CHECK(print(division->rest) == "reg(r0 c0) warp(r1)");
    CHECK(division->tile_register(0, 4) == 8);
    CHECK(division->tile_register(1, 0) == 4);
    CHECK(division_is_true(tile, atom, *division));
    CHECK_FALSE(divide(reg_layout("reg(c0 c3 c4) lane(c1 c2 r0 r1 r2) warp(r3)"), atom));
    CHECK_FALSE(divide(reg_layout("reg(c0 r3 c3) lane(c2 c1 r0 r1 r2)"), atom));
    CHECK_FALSE(divide(reg_layout("reg(c0 r3 c3 r4^c0) lane(c1 c2 r0 r1 r2)"), atom));
    CHECK_FALSE(divide(reg_layout("reg(c0 r3) lane(c1 c2 r0 r1 r2)"), atom));
  }

  TEST_CASE("an attention accumulator is the next product's operand") {
    WarpStep rows[] = {{0, 4}};
    RegLayout scores = tiled(reg_layout("reg(n0 m3) lane(n1 n2 m0 m1 m2)", "mn"), {64, 96}, rows);
    RegLayout operand = reg_layout("reg(k0 m3 k3) lane(k1 k2 m0 m1 m2)", "mk");
    auto division = divide(scores, operand);
    REQUIRE(division);
    CHECK(division->rest.registers() == 6);
    CHECK(division_is_true(scores, operand, *division));
    CHECK(move_tier(scores, tiled(operand, {64, 96}, rows)) == Tier::None);
  }

  TEST_CASE("a row reduction of an accumulator: two shuffles, two registers, four copies") {
    RegLayout tile = reg_layout("reg(c0 r3 c3) lane(c1 c2 r0 r1 r2) warp(r4)");
    auto plan = reduce(tile, 1);
    REQUIRE(plan);
    CHECK(print(plan->result) == "reg(c3) lane(_ _ c0 c1 c2) warp(c4)");
    CHECK(plan->lane_bits == std::vector<int>{0, 1});
    CHECK(plan->warp_bits.empty());
    CHECK(plan->result_register == std::vector<int64_t>{0, 0, 1, 1, 0, 0, 1, 1});
    CHECK(reduction_is_true(tile, 1, *plan));
    auto columns = reduce(tile, 0);
    CHECK(columns->lane_bits == std::vector<int>{2, 3, 4});
    CHECK(columns->warp_bits == std::vector<int>{0});
    CHECK(reduction_is_true(tile, 0, *columns));
  }

  TEST_CASE("reductions add every element once, whatever the layout") {
    for (const char* text : {"reg(c0 c1 c2 r2 r3) lane(c3 c4 c5 c6 c7) warp(r0 r1)",
                             "reg(c0) lane(c1 c2 r0) grid(c 3, r 5)", "reg(r0) lane(c0) warp(c1) warpgrid(c 3)",
                             "reg(c0 _) lane(c0 c1 _) warp(r0)",
                             "reg(c0 c0 r0) lane(r1 r1) warp(c1 c1)", "reg(r0) lane(r1) grid(c 9)",
                             "lane(c0 r0) grid(_ 2, c 3)"}) {
      RegLayout tile = reg_layout(text);
      for (int axis : {0, 1}) {
        auto plan = reduce(tile, axis);
        REQUIRE(plan);
        CHECK_MESSAGE(reduction_is_true(tile, axis, *plan), text);
        CHECK(flaw(plan->result) == "");
        CHECK(plan->result == project(tile, axis));
      }
    }
    CHECK_FALSE(reduce(reg_layout("reg(c0) lane(c0^r0)"), 1));
    auto grouped = reduce(reg_layout("lane(c0) warp(r0) warpgrid(c 3)"), 1);
    CHECK(grouped->warp_grids == std::vector<int>{0});
    CHECK(print(grouped->result) == "lane(_) warp(c0) warpgrid(_ 3)");
  }

  TEST_CASE("a projection repeated along its axis is held already") {
    RegLayout tile = reg_layout("reg(c0 r3 c3) lane(c1 c2 r0 r1 r2) warp(r4 r5) grid(c 3) warpgrid(r 3)");
    for (int axis : {0, 1}) {
      RegLayout row = project(tile, axis);
      CHECK(flaw(row) == "");
      CHECK(holds(row, tile, axis_access(2, std::array{1 - axis})));
      RegLayout other = blocked(row.shape, row.lanes(), row.warps(), 2);
      CHECK_FALSE(holds(other, tile, axis_access(2, std::array{1 - axis})));
    }
  }

  TEST_CASE("a broadcast holds the new axis in registers, and projects back") {
    RegLayout row = reg_layout("reg(c0) lane(c1 c2) warp(_) grid(c 3)", "c");
    RegLayout tile = broadcast(row, 0, 6);
    CHECK(tile.shape == Shape{6, 24});
    CHECK(flaw(tile) == "");
    CHECK(tile.registers() == 6 * row.registers());
    CHECK(project(tile, 0) == row);
    CHECK(holds(row, tile, axis_access(2, std::array{1})));
  }

  TEST_CASE("transposing permutes coordinates and nothing else") {
    RegLayout tile = *parse_reg_layout("reg(c0 r1) lane(c1 r0 a0) warp(a1) grid(c 3, r 5)", Shape{4, 20, 12});
    std::array order{2, 0, 1};
    RegLayout turned = transpose(tile, order);
    MemLayout mem = row_major(tile.shape), turned_mem = transpose(mem, order);
    CHECK(turned.shape == Shape{12, 4, 20});
    for (int t = 0; t < 8; ++t) {
      for (int64_t r = 0; r < tile.registers(); ++r) {
        Coordinate a = tile.coordinate(r, t, 1), b = turned.coordinate(r, t, 1);
        for (int i = 0; i < 3; ++i) CHECK(b[i] == a[order[i]]);
        CHECK(mem.address(a) == turned_mem.address(b));
      }
    }
    CHECK(transpose(turned, std::array{1, 2, 0}) == tile);
  }

  TEST_CASE("reshapes keep every element in its place") {
    struct {
      Shape from, to;
      bool possible;
    } cases[] = {{{16, 64}, {1024}, true},        {{16, 64}, {4, 4, 8, 8}, true}, {{3, 32}, {96}, true},
                 {{96}, {3, 32}, true},           {{96}, {6, 16}, true},          {{96}, {32, 3}, false},
                 {{64, 96}, {64, 3, 32}, true},   {{64, 96}, {96, 64}, false},    {{1, 64, 1}, {64}, true},
                 {{64}, {1, 64, 1}, true},        {{16, 576}, {16, 9, 64}, true}, {{5, 8, 16}, {5, 128}, true},
                 {{5, 8, 16}, {40, 16}, true},    {{2, 96}, {192}, false},        {{}, {1}, true},
                 {{4, 8, 96}, {32, 3, 32}, true}};
    for (auto& [from, to, possible] : cases) {
      RegLayout before = blocked(from, 4, 2, 2);
      REQUIRE_FALSE(before.is_padded());
      auto after = reshape(before, to);
      CHECK(after.has_value() == possible);
      if (!after) continue;
      CHECK(flaw(*after) == "");
      CHECK(reshape_is_true(before, *after));
      auto back = reshape(*after, from);
      REQUIRE(back);
      CHECK(*back == before);
    }
    CHECK_FALSE(reshape(*parse_reg_layout("reg(c0 c1 c2 c3 c4 c5)", Shape{33}), Shape{3, 11}));
  }

  TEST_CASE("a region is cut where its elements stay in their lanes") {
    struct Case {
      const char* tile;
      Cut rows, columns;
      std::vector<Coordinate> offsets;  // at which the region may lie; none: it cannot be cut
    };
    const char* blocks = "reg(c0 r2 r3 c5) lane(c1 c2 c3 c4) warp(r0 r1)";
    for (const Case& c : std::vector<Case>{
             {blocks, {4, 4}, {64, 0}, {{0, 0}, {4, 0}, {12, 0}}},
             {blocks, {12, 4}, {32, 32}, {{0, 0}, {4, 32}}},
             {blocks, {16, 0}, {32, 0}, {{0, 0}}},
             {blocks, {4, 2}, {64, 0}, {}},
             {blocks, {2, 4}, {64, 0}, {}},
             {blocks, {4, 4}, {16, 16}, {}},
             {"reg(r0 r1 r2) lane(c0 c1)", {3, 1}, {4, 0}, {{0, 0}, {1, 0}, {5, 0}}},
             {"reg(r0 r1 r2) lane(c0 c1)", {1, 1}, {4, 4}, {{0, 0}, {6, 0}}},
             {"lane(c0) warp(r0) grid(r 3, c 5)", {4, 2}, {6, 2}, {{0, 0}, {2, 4}}},
             {"lane(c0) warpgrid(r 3) grid(r 4)", {6, 3}, {2, 0}, {{0, 0}, {3, 0}, {6, 0}}},
             {"lane(c0) warpgrid(r 3) grid(r 4)", {6, 1}, {2, 0}, {}},
             {"reg(_ r0) lane(c0 _)", {1, 1}, {2, 0}, {{1, 0}}},
             {"reg(c0 c0 r0) lane(r1)", {2, 2}, {2, 0}, {}}}) {
      CAPTURE(c.tile);
      RegLayout tile = reg_layout(c.tile);
      auto part = cut(tile, std::array{c.rows, c.columns});
      REQUIRE(part.has_value() == !c.offsets.empty());
      if (!part) continue;
      CHECK(flaw(*part) == "");
      CHECK(part->shape == Shape{c.rows.extent, c.columns.extent});
      for (const Coordinate& offset : c.offsets) CHECK(cut_is_true(tile, *part, offset));
    }
  }
}
