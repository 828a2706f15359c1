// Copies between device memory and shared tiles whose axes lie in another order: rectangles, turned in registers, and memory layouts
// that keep the banks apart on both sides. That they move the right numbers the tests of kernel files show.
#include <algorithm>
#include <set>

#include "layout/access.h"
#include "layout/lane_copy.h"
#include "layout/notation.h"
#include "layout/swizzle.h"
#include "layout/transform.h"
#include "threads.h"

using namespace tilec;
using namespace tilec::layout;

namespace {

constexpr int64_t kStraight[] = {0, 1}, kTurned[] = {1, 0};

// Of a layout over the tile as one side sees it, as the other one does.
Coordinate turned(Coordinate c) {
  std::swap(c[0], c[1]);
  return c;
}

void expect_same_places(const LaneCopy& copy) {
  REQUIRE(flaw(copy.far) == "");
  REQUIRE(flaw(copy.near) == "");
  REQUIRE(copy.far.registers() == copy.near.registers());
  std::set<int64_t> seen;
  for (int64_t r = 0; r < copy.near.registers(); ++r) {
    seen.insert(copy.far_register(r));
    REQUIRE((copy.far_register(r) >> copy.bits) == (r >> copy.bits));
    for (int warp = 0; warp < copy.far.warps(); ++warp)
      for (int lane = 0; lane < 32; ++lane) REQUIRE(copy.near.coordinate(r, lane, warp) == turned(copy.far.coordinate(copy.far_register(r), lane, warp)));
  }
  REQUIRE(int64_t(seen.size()) == copy.far.registers());
}

// How many elements a lane moves at once of a row-major tile.
int rows_at_once(const RegLayout& reg) { return vector_width(row_major(reg.shape), reg); }

}  // namespace

TEST_SUITE("turned copies") {
  TEST_CASE("both sides of a turned copy have the same places, whatever the extents") {
    for (Shape shape : {Shape{32, 32}, Shape{64, 64}, Shape{128, 128}, Shape{48, 80}, Shape{33, 64}, Shape{2, 128}, Shape{128, 2}, Shape{5, 7}, Shape{1, 1}})
      for (int vector : {1, 2, 4, 8, 16})
        for (int warps : {1, 4, 8}) {
          CAPTURE(print(lane_copy(shape, kStraight, kTurned, 32, warps, vector).far));
          expect_same_places(lane_copy(shape, kStraight, kTurned, 32, warps, vector));
          expect_same_places(lane_copy(shape, kTurned, kStraight, 32, warps, vector));
        }
  }

  TEST_CASE("a straight copy is the same for both sides") {
    LaneCopy copy = lane_copy({64, 64}, kStraight, kStraight, 32, 4, 8);
    CHECK(copy.far == copy.near);
    CHECK(print(copy.far) == "reg(c0 c1 c2 r4 r5) lane(c3 c4 c5 r0 r1) warp(r2 r3)");
    CHECK(std::ranges::is_sorted(copy.turned));
  }

  TEST_CASE("the layouts of the page") {
    LaneCopy copy = lane_copy({64, 64}, kTurned, kStraight, 32, 4, 8);
    CHECK(print(copy.far) == "reg(c0 c1 c2 r0 r1) lane(c3 c4 c5 r2 r3) warp(r4 r5)");
    CHECK(print(copy.near) == "reg(c0 c1 r0 r1 r2) lane(r3 r4 r5 c2 c3) warp(c4 c5)");
  }

  TEST_CASE("a lane moves rectangles with the fewest accesses of both sides") {
    struct {
      Shape shape;
      int vector, far, near;
    } const rows[] = {
        {{64, 64}, 4, 4, 4},     // f32
        {{32, 32}, 4, 4, 2},     // eight elements a lane
        {{64, 64}, 8, 8, 4},     // f16
        {{128, 128}, 8, 8, 8},
        {{128, 128}, 16, 16, 8}, // bytes
        {{2, 128}, 4, 2, 1},     // two elements a lane
    };
    for (const auto& row : rows) {
      CAPTURE(row.vector);
      LaneCopy copy = lane_copy(row.shape, kTurned, kStraight, 32, 4, row.vector);
      CHECK(rows_at_once(copy.far) == row.far);
      CHECK(rows_at_once(copy.near) == row.near);
    }
  }

  TEST_CASE("a tile that is written along rows and read turned has a layout without conflicts, and vectors on both sides") {
    struct {
      int extent, bits;
    } const rows[] = {{32, 32}, {64, 32}, {128, 32}, {64, 16}, {128, 16}, {64, 8}, {128, 8}};
    for (const auto& row : rows) {
      CAPTURE(row.extent);
      CAPTURE(row.bits);
      Shape shape{row.extent, row.extent};
      RegLayout writer = lane_copy(shape, kStraight, kStraight, 32, 4, 128 / row.bits).near, reader = lane_copy(shape, kTurned, kStraight, 32, 4, 128 / row.bits).near;
      int written = rows_at_once(writer), read = rows_at_once(reader);
      std::vector<MemLayout> found = swizzles_for(writer, reader, row.bits);
      auto suits = [&](const MemLayout& mem) {
        return flaw(mem) == "" && vector_width(mem, writer) >= written && vector_width(mem, reader) >= read &&
               counted_bank_conflicts(mem, writer, row.bits, written) == 1 && counted_bank_conflicts(mem, reader, row.bits, read) == 1;
      };
      CHECK(std::ranges::any_of(found, suits));
      CHECK(counted_bank_conflicts(row_major(shape), reader, row.bits, read) > 1);
    }
  }

  TEST_CASE("lanes read and write vectors on both sides where the tile lies inside, and elements elsewhere") {
    Threads threads(std::string(TILEC_TESTS) + "/kernels/turned_copies.tile");
    for (const char* machine : {"sm_80", "sm_90a"}) {
      std::string f32 = threads.of("turned_f32_64", machine), f16 = threads.of("turned_f16_64", machine);
      CHECK(count(f32, "vector<4 f32>") == 8 + 8 + 8);
      CHECK(count(f16, "vector<8 f16>") == 4 + 4);
      CHECK(count(f16, "vector<4 f16>") == 8);
      CHECK(count(threads.of("turned_in_f32", machine), "vector<4 f32>") >= 8 + 8);
    }
  }
}
