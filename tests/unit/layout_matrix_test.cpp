// Products of a warp: what of their operands instructions deal to lanes, and how warps share them.
#include <doctest/doctest.h>

#include "layout/matrix_rows.h"
#include "layout/notation.h"
#include "layout/product.h"

using namespace tilec::layout;

TEST_SUITE("layout: matrices") {
  TEST_CASE("rows of matrices are dealt to lanes where memory keeps 16 bytes of them together") {
    constexpr int64_t kCorner[2] = {}, kBelow[2] = {8, 0}, kBeside[2] = {0, 4};
    // The operands of a product of 16 x 8 x 16, m along r and k along c; k along r and n along c.
    RegLayout left = reg_layout("reg(c0 r3 c3 c4) lane(c1 c2 r0 r1 r2)"), right = reg_layout("reg(r0 r3 c3) lane(r1 r2 c0 c1 c2)");
    auto plain = matrix_rows(row_major({16, 32}), left, 2, kCorner);
    REQUIRE(plain);
    CHECK((!plain->transposed && plain->count == 4 && plain->each == 2));
    CHECK(plain->rows.reg == Basis{left.reg[3]});
    CHECK(plain->rows.lane == Basis{left.lane[2], left.lane[3], left.lane[4], left.reg[1], left.reg[2]});
    // Rows of 64 bytes: every second one begins at the same bank; swizzled, none do.
    CHECK(matrix_turns(row_major({16, 32}), *plain, 2, kCorner) == 8 * 4);
    auto mem = swizzled({16, 32}, 1, 0, 16, 64);
    REQUIRE((mem && matrix_rows(*mem, left, 2, kCorner)));
    CHECK(matrix_turns(*mem, *plain, 2, kCorner) == 8);
    auto turned = matrix_rows(row_major({16, 16}), right, 2, kCorner);
    REQUIRE(turned);
    CHECK((turned->transposed && turned->count == 4));
    // Columns together instead of rows, elements of other widths, corners off a row of a matrix.
    MemLayout columns = mem_layout("addr(r0 r1 r2 r3 c0 c1 c2 c3)");
    CHECK_FALSE(matrix_rows(columns, reg_layout("reg(r0 r3 c3) lane(r1 r2 c0 c1 c2)"), 1, kCorner));
    REQUIRE(matrix_rows(columns, right, 2, kCorner));
    CHECK_FALSE(matrix_rows(columns, right, 2, kCorner)->transposed);
    CHECK_FALSE(matrix_rows(row_major({16, 16}), right, 4, kCorner));
    CHECK_FALSE(matrix_rows(row_major({16, 32}), reg_layout("reg(c3 r3 c0 c4) lane(c1 c2 r0 r1 r2)"), 2, kCorner));
    CHECK(matrix_rows(row_major({32, 32}), left, 2, kBelow));
    CHECK_FALSE(matrix_rows(row_major({16, 64}), left, 2, kBeside));
  }

  TEST_CASE("warps share a product along its rows, or so that each reads least") {
    auto is = [](const Deal& d, int rows, int columns, int replicas) { return d.rows == rows && d.columns == columns && d.replicas == replicas; };
    CHECK(is(deal(8, 8, 16), 8, 1, 1));
    CHECK(is(deal_least_read(8, 8, 16, 16, 8), 4, 2, 1));
    CHECK(is(deal_least_read(4, 2, 64, 16, 8), 1, 4, 1));
    CHECK(is(deal_least_read(8, 8, 1, 16, 8), 8, 1, 1));
    CHECK(is(deal_least_read(8, 1, 1, 16, 8), 1, 1, 8));
    CHECK(is(deal_least_read(1, 8, 8, 16, 8), 1, 1, 1));
  }
}
