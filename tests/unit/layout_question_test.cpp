// Questions about layouts, most of them against enumeration of every place.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "layout/access.h"
#include "layout/build.h"
#include "layout/convert.h"
#include "layout/notation.h"
#include "layout/swizzle.h"

using namespace tilec::layout;

namespace {

using Places = std::set<Coordinate>;
Places held_by_lane(const RegLayout& l, int lane, int warp, int cta) {
  Places places;
  for (int64_t r = 0; r < l.registers(); ++r) places.insert(l.coordinate(r, lane, warp, cta));
  return places;
}
Places held_by_warp(const RegLayout& l, int warp, int cta) {
  Places places;
  for (int t = 0; t < l.lanes(); ++t) places.merge(held_by_lane(l, t, warp, cta));
  return places;
}
Places held_by_cta(const RegLayout& l, int cta) {
  Places places;
  for (int w = 0; w < l.warps(); ++w) places.merge(held_by_warp(l, w, cta));
  return places;
}
bool includes(const Places& have, const Places& want) {
  return std::includes(have.begin(), have.end(), want.begin(), want.end());
}

// The least tier by looking at who has what.
Tier counted_tier(const RegLayout& src, const RegLayout& dst) {
  bool lane = true, warp = true, cta = true;
  for (int c = 0; c < dst.ctas(); ++c) {
    cta = cta && includes(held_by_cta(src, c), held_by_cta(dst, c));
    for (int w = 0; w < dst.warps(); ++w) {
      warp = warp && includes(held_by_warp(src, w, c), held_by_warp(dst, w, c));
      for (int t = 0; t < dst.lanes(); ++t) {
        lane = lane && includes(held_by_lane(src, t, w, c), held_by_lane(dst, t, w, c));
      }
    }
  }
  return lane ? Tier::Register : warp ? Tier::Lane : cta ? Tier::Warp : Tier::Cta;
}

RegLayout raw(Basis reg, Basis lane, Basis warp, Basis cta, Shape shape) {
  return {.shape = shape, .reg = std::move(reg), .lane = std::move(lane), .warp = std::move(warp),
          .cta = std::move(cta)};
}

}  // namespace

TEST_SUITE("layout") {
  TEST_CASE("tiers of conversions between real fragments") {
    RegLayout two_accumulators = reg_layout("reg(c0 r3 c3) lane(c1 c2 r0 r1 r2)");
    RegLayout operand = reg_layout("reg(k0 m3 k3) lane(k1 k2 m0 m1 m2)", "mk");
    CHECK(move_tier(two_accumulators, operand) == Tier::None);
    CHECK(move_tier(two_accumulators, reg_layout("reg(r3 c0 c3) lane(c1 c2 r0 r1 r2)")) == Tier::Register);
    CHECK(move_tier(two_accumulators, reg_layout("reg(c0 c1 c2) lane(c3 r0 r1 r2 r3)")) == Tier::Lane);
    RegLayout two = reg_layout("reg(c0 c1) lane(c2 c3 r0 r1 r2) warp(r3)");
    CHECK(move_tier(two, reg_layout("reg(c0 c1) lane(c2 c3 r0 r1 r3) warp(r2)")) == Tier::Warp);
    CHECK(move_tier(reg_layout("reg(c0) lane(c1) cta(r0)"), reg_layout("reg(c0) lane(r0) cta(c1)")) == Tier::Cta);
    CHECK(move_tier(reg_layout("reg(c0) lane(c1) warp(c2) cta(r0)"),
        reg_layout("reg(c0) lane(c2) warp(c1) cta(r0)")) == Tier::Warp);
    CHECK(move_tier(reg_layout("reg(c0) lane(_)"), reg_layout("lane(c0)")) == Tier::Register);
    CHECK(name(Tier::Lane) == "lane");
  }

  TEST_CASE("the tier agrees with enumeration on random pairs") {
    std::mt19937 random(3);
    std::array<int, 5> seen{};
    for (int n = 0; n < 20000; ++n) {
      Shape shape{16};
      auto some = [&](int count) {
        Basis basis;
        while (count--) basis.push_back(random() & 15);
        return basis;
      };
      RegLayout s = raw(some(2), some(2), some(1), some(n % 2), shape), d = s;
      switch (n % 5) {
        case 0: std::swap(d.reg[0], d.reg[1]); break;
        case 1: d.lane[0] ^= s.reg[0], d.warp[0] ^= s.reg[1]; break;
        case 2: std::swap(d.lane[0], d.reg[0]), d.warp[0] ^= s.lane[1]; break;
        case 3: std::swap(d.warp[0], d.lane[0]); break;
        default: d = raw(some(2), some(2), some(1), some(n % 2), shape);
      }
      Tier tier = move_tier(s, d), counted = counted_tier(s, d);
      ++seen[static_cast<int>(tier)];
      if (tier == Tier::None) tier = Tier::Register;
      // Random layouts need not hold everything; the dearest tier then stands for "nowhere".
      if (counted == Tier::Cta && d.cta.empty()) counted = Tier::Warp;
      REQUIRE(tier == counted);
    }
    for (int count : seen) CHECK(count > 100);
  }

  TEST_CASE("grids must agree, or the answer is the dearest tier") {
    RegLayout a = reg_layout("reg(c0) lane(c1 c2 c3 c4) warp(r0) grid(c 3)");  // 2 x 96
    RegLayout shuffled = reg_layout("reg(c1) lane(c0 c2 c3 c4) warp(r0) grid(c 3)");
    CHECK(move_tier(a, shuffled) == Tier::Lane);
    CHECK(counted_tier(a, shuffled) == Tier::Lane);
    auto padded = parse_reg_layout("reg(c0 c5 c6) lane(c1 c2 c3 c4) warp(r0)", Shape{2, 96});
    REQUIRE(padded);
    CHECK(move_tier(a, *padded) == Tier::Warp);
    RegLayout nine = reg_layout("reg(c0) lane(c1 c2 c3 c4 c5) grid(c 9)");  // 576
    RegLayout nine_swapped = reg_layout("reg(c5) lane(c0 c1 c2 c3 c4) grid(c 9)");
    CHECK(move_tier(nine, nine_swapped) == Tier::Lane);
    CHECK(move_tier(nine_swapped, nine_swapped) == Tier::None);
    RegLayout dealt = reg_layout("lane(c0 c1 c2 c3 c4 c5) grid(c 3) warpgrid(c 3)");
    RegLayout dealt_inside = reg_layout("lane(c0 c1 c2 c3 c4 c5) warpgrid(c 3) grid(c 3)");
    CHECK(dealt.shape == nine.shape);
    CHECK(move_tier(dealt, dealt_inside) == Tier::Warp);
    CHECK(counted_tier(dealt, dealt_inside) == Tier::Warp);
    CHECK(move_tier(reg_layout("lane(c0) cta(r0) grid(c 3)"), reg_layout("lane(c0) cta(r0) warpgrid(c 3)")) ==
        Tier::Cta);
    // An order of register grids is a renaming.
    CHECK(move_tier(reg_layout("lane(c0) grid(c 3, r 5)"), reg_layout("lane(c0) grid(r 5, c 3)")) == Tier::Register);
    CHECK(move_tier(reg_layout("lane(c0) warpgrid(c 3, r 5)"), reg_layout("lane(c0) warpgrid(r 5, c 3)")) ==
        Tier::Warp);
  }

  TEST_CASE("a lane holds what it touches: rank agrees with enumeration") {
    std::mt19937 random(4);
    int yes = 0;
    for (int n = 0; n < 20000; ++n) {
      auto v = [&] { return Vec{random() & 15u}; };
      RegLayout tile = raw({v(), v()}, {v(), v()}, {}, {}, Shape{16}), loop = raw({v()}, {v(), v()}, {}, {}, Shape{16});
      AccessMap access = axis_access(1, std::array{0});
      if (n % 2 == 1) {
        loop = raw({tile.reg[0] ^ tile.reg[1]}, {tile.lane[0] ^ tile.reg[0], tile.lane[1]}, {}, {}, Shape{16});
      } else {
        for (int i = 0; i < 4; ++i) access.images[i] = v();
      }
      bool really = true;
      for (int t = 0; t < 4; ++t) {
        Places have = held_by_lane(tile, t, 0, 0);
        for (int r = 0; r < 2; ++r) {
          Vec touched = image(access.images, static_cast<Vec>(loop.coordinate(r, t, 0)[0]));
          really = really && have.count(Coordinate{static_cast<int>(touched)});
        }
      }
      yes += really;
      REQUIRE(really == holds(tile, loop, access));
    }
    CHECK(yes > 5000);
    CHECK(yes < 19000);
  }

  TEST_CASE("containment follows axes and grids") {
    RegLayout loop = reg_layout("reg(c0) lane(c1 c2 r0 r1) warp(r2) grid(c 3)");
    RegLayout row = reg_layout("reg(c0) lane(c1 c2 _ _) warp(_) grid(c 3)", "c");
    CHECK(holds(loop, loop, axis_access(2, std::array{0, 1})));
    CHECK(holds(row, loop, axis_access(2, std::array{1})));
    CHECK_FALSE(holds(reg_layout("reg(c0) lane(c1 c2 _ _) warp(_) grid(c 5)", "c"), loop,
                      axis_access(2, std::array{1})));
    CHECK_FALSE(holds(reg_layout("reg(c0) lane(c2 c1 _ _) warp(_) grid(c 3)", "c"), loop,
                      axis_access(2, std::array{1})));
    CHECK(holds(reg_layout("lane(_ _ c0 c1) warp(c2)", "c"), loop, axis_access(2, std::array{0})));
    CHECK(holds(reg_layout("lane(_ _ r0 r1) warp(r2) grid(c 3)"), loop, axis_access(2, std::array{0, kReplica})));
    RegLayout groups = reg_layout("lane(c0) warp(r0) warpgrid(r 3)");
    CHECK(holds(reg_layout("lane(_) warp(c0) warpgrid(c 3)", "c"), groups, axis_access(2, std::array{0})));
    CHECK(holds(reg_layout("lane(c0) warp(_) warpgrid(_ 3)", "c"), groups, axis_access(2, std::array{1})));
    CHECK_FALSE(holds(reg_layout("lane(c0) warp(_)", "c"), groups, axis_access(2, std::array{1})));
  }

  TEST_CASE("the address of a lane is composition") {
    MemLayout mem = mem_layout("addr(c0 c1 c2 c3^r0 c4^r1 c5^r2 r0 r1 r2 r3)");
    RegLayout reg = reg_layout("reg(c0 r3 c3) lane(c1 c2 r0 r1 r2) warp(c4 c5)");
    auto bits = access_bits(mem, reg);
    REQUIRE(bits);
    for (int w = 0; w < 4; ++w) {
      for (int t = 0; t < 32; ++t) {
        for (int r = 0; r < 8; ++r) {
          CHECK(static_cast<Vec>(mem.address(reg.coordinate(r, t, w))) ==
                (image(bits->reg, r) ^ image(bits->lane, t) ^ image(bits->warp, w)));
        }
      }
    }
    CHECK_FALSE(access_bits(row_major({16, 96}), reg_layout("reg(r0 r1 r2 r3) lane(c0 c1 c2 c3 c4) grid(c 3)")));
    CHECK(access_bits(row_major({1, 96}), reg_layout("lane(c0 c1 c2 c3 c4) grid(c 3)")));
  }

  TEST_CASE("vectors are consecutive, aligned and wholly inside") {
    auto width = [](const MemLayout& mem, const char* reg) {
      auto parsed = parse_reg_layout(reg, mem.shape);
      REQUIRE_MESSAGE(parsed, parsed.error);
      return vector_width(mem, *parsed);
    };
    CHECK(width(row_major({16, 64}), "reg(c0 c1 c2) lane(c3 c4 c5 r0 r1) warp(r2 r3)") == 8);
    CHECK(width(row_major({16, 64}), "reg(c0 r3 c3) lane(c1 c2 r0 r1 r2) warp(c4 c5)") == 2);
    CHECK(width(row_major({16, 64}), "reg(c1 c0 c2) lane(c3 c4 c5 r0 r1) warp(r2 r3)") == 1);
    CHECK(width(row_major({16, 64}), "reg(c0 c1 c2) lane(c3^c0 c4 c5 r0 r1) warp(r2 r3)") == 1);
    CHECK(width(*swizzled({16, 64}, 1, 0, 16, 128), "reg(c0 c1 c2 c3) lane(c4 c5 r0 r1 r2) warp(r3)") == 8);
    CHECK(width(row_major({8, 36}), "reg(c0 c1 c2 r0 r1 r2) lane(c3 c4 c5)") == 4);
    CHECK(width(row_major({3, 33}), "reg(c0 c1 c2 r0 r1) lane(c3 c4 c5)") == 1);
    CHECK(width(mem_layout("addr(c0 c1 c2 c3 c4 r0) pad(32 + 2)"), "reg(c0 c1 c2) lane(c3 c4 r0)") == 2);
    auto storage = parse_mem_layout("addr(c0 c1 c2 c3 c4 c5)", Shape{36});
    CHECK(width(*storage, "reg(c0 c1 c2) lane(c3 c4 c5)") == 4);  // 36 ends within a vector of 8
    CHECK(contiguous_registers(reg_layout("reg(c0 c1 c2) lane(c3)"), 1) == 8);
    CHECK(contiguous_registers(reg_layout("reg(r0 c0) lane(c1 r1)"), 0) == 2);
    CHECK(contiguous_registers(reg_layout("reg(c0 c1) lane(c1^r0 c2)"), 1) == 2);
  }

  TEST_CASE("vector widths are true for blocked layouts of many shapes") {
    for (const Shape& shape : {Shape{64, 96}, Shape{16, 576}, Shape{3, 33}, Shape{24, 36}, Shape{128, 64}}) {
      MemLayout mem = row_major(shape);
      for (int vector : {1, 2, 4, 8}) {
        RegLayout reg = blocked(shape, 32, 4, vector);
        int width = vector_width(mem, reg);
        CHECK(width <= reg.registers());
        if (shape[1] % vector == 0) CHECK(width >= vector);
        for (int w = 0; w < 4; ++w) {
          for (int t = 0; t < 32; ++t) {
            for (int64_t r = 0; r < reg.registers(); r += width) {
              Coordinate first = reg.coordinate(r, t, w);
              if (!reg.is_inside(first)) continue;
              REQUIRE(mem.address(first) % width == 0);
              for (int i = 1; i < width; ++i) {
                Coordinate at = reg.coordinate(r + i, t, w);
                REQUIRE(reg.is_inside(at));
                REQUIRE(mem.address(at) == mem.address(first) + i);
              }
            }
          }
        }
      }
    }
  }

  TEST_CASE("the lanes' stride is 0, 1, k or unknown") {
    auto stride = [](const MemLayout& mem, const char* reg) {
      return lane_stride(mem, *parse_reg_layout(reg, mem.shape));
    };
    CHECK(stride(row_major({8, 64}), "reg(r0 r1 r2 c4 c5) lane(c0 c1 c2 c3)") == 1);
    CHECK(stride(row_major({8, 64}), "reg(c0 c1 r0 r1 r2) lane(c2 c3 c4 c5)") == 4);
    CHECK(stride(row_major({16, 64}), "reg(c0 c1 c2 c3 c4 c5) lane(r0 r1 r2 r3)") == 64);
    CHECK(stride(row_major({16, 96}), "reg(c0 c1 c2 c3 c4) lane(r0 r1 r2 r3) grid(c 3)") == 96);
    CHECK(stride(row_major({8}), "reg(c0 c1 c2) lane(_ _ _ _)") == 0);
    CHECK(stride(row_major({8, 64}), "reg(r0 r1 c4 c5) lane(c0 c1 c2 c3 r2)") == std::nullopt);
    CHECK(stride(*swizzled({16, 64}, 1, 0, 16, 128), "reg(c0 c1 c2 r0 r1 r2) lane(c3 c4 c5 r3)") == std::nullopt);
    CHECK(stride(mem_layout("addr(c0 c1 c2 c3 r0) pad(8 + 1)"), "reg(r0) lane(c0 c1 c2 c3)") == std::nullopt);
    CHECK(stride(mem_layout("addr(c0 c1 c2 c3 r0) pad(16 + 1)"), "reg(r0) lane(c0 c1 c2 c3)") == 1);
    CHECK(stride(row_major({3, 33}), "reg(r0 r1 c4 c5) lane(c0 c1 c2 c3)") == 1);
    // A lane bit that another place flips as well: the difference has either sign.
    CHECK(stride(row_major({4}), "reg(c0^c1) lane(c0)") == std::nullopt);
  }

  TEST_CASE("bank conflicts of real accesses") {
    RegLayout rows = reg_layout("reg(c0 c1 c2) lane(r0 r1 r2 r3 c3) warp(c4 c5)");  // 16-byte rows of ldmatrix
    MemLayout plain = row_major({16, 64}), swizzle = *swizzled({16, 64}, 1, 0, 16, 128);
    CHECK(bank_conflicts(plain, rows, 16, 8) == 8);
    CHECK(bank_conflicts(swizzle, rows, 16, 8) == 1);
    CHECK(counted_bank_conflicts(plain, rows, 16, 8) == 8);
    CHECK(counted_bank_conflicts(swizzle, rows, 16, 8) == 1);
    RegLayout columns = reg_layout("reg(c0 c1 c2 c3 c4) lane(r0 r1 r2 r3 r4)");
    CHECK(bank_conflicts(row_major({32, 32}), columns, 32, 1) == 32);
    auto padded = parse_mem_layout("addr(c0 c1 c2 c3 c4 r0 r1 r2 r3 r4) pad(32 + 1)", Shape{32, 32});
    CHECK(bank_conflicts(*padded, columns, 32, 1) == 1);
    RegLayout of_33 = *parse_reg_layout("reg(c0 c1 c2 c3 c4 c5) lane(r0 r1 r2 r3 r4)", Shape{32, 33});
    CHECK(bank_conflicts(row_major({32, 33}), of_33, 32, 1) == 1);
    RegLayout of_96 = reg_layout("reg(c0 c1 c2 c3 c4) lane(r0 r1 r2 r3 r4) grid(c 3)");
    CHECK(bank_conflicts(row_major({32, 96}), of_96, 32, 1) == 32);
    // Two halves of one word, and one element for all lanes, are shared.
    CHECK(bank_conflicts(row_major({64}), reg_layout("reg(c5) lane(c0 c1 c2 c3 c4)", "c"), 16, 1) == 1);
    CHECK(bank_conflicts(row_major({2}), reg_layout("reg(c0) lane(_ _ _ _ _)", "c"), 32, 1) == 1);
  }

  TEST_CASE("conflicts by rank agree with counting on random layouts") {
    std::mt19937 random(5);
    for (int n = 0; n < 20000; ++n) {
      // A random address map whose low bits are the vector, and random lanes.
      Basis rows;
      while (rank(rows) < 7) {
        rows.clear();
        for (int i = 0; i < 7; ++i) rows.push_back((random() & 127u) << 3);
      }
      MemLayout mem{.shape = Shape{1024}, .addr = concat({Basis{1, 2, 4}, rows})};
      RegLayout reg = raw({1, 2, 4}, {}, {}, {}, Shape{1024});
      for (int i = 0; i < 4; ++i) reg.lane.push_back((random() & 127u) << 3);
      reg.reg.push_back((random() & 127u) << 3);
      int bits = n % 2 == 0 ? 16 : 8;
      for (int vector : {1, 8}) {
        // `covered` of a random layout may be less than the shape; only the addresses matter here.
        reg.shape = reg.cover();
        REQUIRE(bank_conflicts(mem, reg, bits, vector) == counted_bank_conflicts(mem, reg, bits, vector));
      }
    }
  }

  TEST_CASE("a row-moving instruction fits row-major and swizzled memory, and not its transpose") {
    RegLayout a = reg_layout("reg(c0 r3 c3) lane(c1 c2 r0 r1 r2) warp(c4 c5)");
    RegLayout matrix = reg_layout("reg(v0) lane(v1 v2 r0 r1 r2)", "rv");
    MemLayout column_major = mem_layout("addr(r0 r1 r2 r3 c0 c1 c2 c3 c4 c5)");
    CHECK(fits_rows(row_major({16, 64}), a, matrix));
    CHECK(fits_rows(*swizzled({16, 64}, 1, 0, 16, 128), a, matrix));
    CHECK_FALSE(fits_rows(column_major, a, matrix));
    RegLayout transposed_matrix = reg_layout("reg(r0) lane(r1 r2 v0 v1 v2)", "rv");  // a lane holds a part of a column
    CHECK(fits_rows(column_major, a, transposed_matrix));
    CHECK_FALSE(fits_rows(row_major({16, 64}), a, transposed_matrix));
    RegLayout b = reg_layout("reg(r0 r3 c3) lane(r1 r2 c0 c1 c2)");
    CHECK(fits_rows(row_major({16, 16}), b, transposed_matrix));
    CHECK_FALSE(fits_rows(row_major({16, 16}), b, matrix));
    CHECK(fits_rows(row_major({16, 96}), reg_layout("reg(c0 r3 c3 c4) lane(c1 c2 r0 r1 r2) grid(c 3)"), matrix));
    RegLayout of_33 = *parse_reg_layout("reg(c0 r3 c3 c4 c5) lane(c1 c2 r0 r1 r2)", Shape{16, 33});
    CHECK_FALSE(fits_rows(row_major({16, 33}), of_33, matrix));
    CHECK_FALSE(fits_rows(*parse_mem_layout("addr(c0 c1 c2 c3 r0 r1 r2 r3) pad(16 + 4)", Shape{16, 16}),
                          reg_layout("reg(c0 r3 c3) lane(c1 c2 r0 r1 r2)"), matrix));
  }

  TEST_CASE("a buffer divided by the core of a descriptor leaves its strides") {
    MemLayout core = *swizzled({8, 64}, 1, 0, 16, 128);
    auto rest = divide(*swizzled({64, 192}, 1, 0, 16, 128), core);
    REQUIRE(rest);
    CHECK(print(*rest) == "addr(_ _ _ _ _ _ _ _ _ r0 r1 r2) grid(c 3 : 4096)");
    CHECK(rest->shape == Shape{8, 3});
    CHECK_FALSE(divide(row_major({64, 64}), core));
    CHECK(divide(row_major({64, 64}), row_major({1, 64})));
    CHECK_FALSE(divide(row_major({64, 96}), row_major({1, 64})));
  }

  TEST_CASE("the synthesised swizzle serves writer and reader without conflicts") {
    std::mt19937 random(6);
    auto spread = [&] {  // three vector bits, and the other seven coordinate bits in a random basis
      Basis bits;
      while (rank(bits) < 7) {
        bits.clear();
        for (int i = 0; i < 7; ++i) bits.push_back((random() & 127u) << 3);
      }
      return raw({1, 2, 4, bits[0]}, {bits[1], bits[2], bits[3], bits[4], bits[5]}, {bits[6]}, {}, Shape{1024});
    };
    for (int n = 0; n < 20000; ++n) {
      RegLayout writer = spread(), reader = spread();
      auto mem = swizzle_for(writer, reader, 16);
      REQUIRE(mem);
      REQUIRE(flaw(*mem) == "");
      REQUIRE(mem->size() == 1024);
      for (const RegLayout* side : {&writer, &reader}) {
        REQUIRE(vector_width(*mem, *side) >= 8);
        REQUIRE(bank_conflicts(*mem, *side, 16, 8) == 1);
        if (n % 20 == 0) REQUIRE(counted_bank_conflicts(*mem, *side, 16, 8) == 1);
      }
    }
  }

  TEST_CASE("a swizzle is made for fragments, transposes and grids") {
    RegLayout rows = blocked({32, 32}, 32, 1, 1);
    RegLayout columns = reg_layout("reg(c0 c1 c2 c3 c4) lane(r0 r1 r2 r3 r4)");
    auto transposing = swizzle_for(rows, columns, 32);
    REQUIRE(transposing);
    CHECK(bank_conflicts(*transposing, rows, 32, 1) == 1);
    CHECK(bank_conflicts(*transposing, columns, 32, 1) == 1);
    CHECK(transposing->size() == 1024);
    RegLayout writer = reg_layout("reg(c0 c1 c2 r3 r4 r5) lane(c3 c4 r0 r1 r2) grid(c 3)");  // 64 x 96
    RegLayout reader = reg_layout("reg(c0 c1 c2 r5) lane(r0 r1 r2 r3 r4) warp(c3 c4) grid(c 3)");
    auto mem = swizzle_for(writer, reader, 16);
    REQUIRE(mem);
    CHECK(flaw(*mem) == "");
    CHECK(mem->size() == 64 * 96);
    CHECK(counted_bank_conflicts(*mem, writer, 16, 8) == 1);
    CHECK(counted_bank_conflicts(*mem, reader, 16, 8) == 1);
    CHECK_FALSE(swizzle_for(writer, blocked({64, 96}, 1, 1, 1), 16)->addr.empty());
  }
}
