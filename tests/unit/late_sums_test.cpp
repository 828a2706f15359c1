// late-sums: totals of loops whose sums warps share are added up lane by lane. What the pass made is looked at, and judged by the interpreter.
#include "made.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

constexpr uint64_t kBarriersOfSum = 2 * 4;  // of four warps: in front of what they leave for each other, and behind it

// `turn`: what a turn does with the tile `t`; two warps share each row of the usual tile.
std::string totals(const std::string& turn = "l = l * f + t.sum(axis = 1);", const std::string& begin = "0", const std::string& tile = "2, 1024",
                   const std::string& behind = "") {
  std::string rows = tile.substr(0, tile.find(','));
  return "export kernel totals(x: f32[M, N], s: f32[M], out y: f32[M]) {\n    launch (i in ceildiv(M, " + rows + ")) threads 128 {\n"
         "        let f = s.tile[" + rows + "](i);\n        var l: fragment f32[" + rows + "] = " + begin + ";\n"
         "        for j in 0..ceildiv(N, 1024) {\n            let t = x.tile[" + tile + "](i, j);\n            " + turn + "\n        }\n        " + behind +
         "\n        y.tile(i) = l;\n    }\n}\n";
}

// The loop carries parts of the rows.
bool is_late(const std::string& text) {
  Made made(text);
  return made.text("late-sums") != made.text("place");
}

}  // namespace

TEST_SUITE("late-sums") {
  TEST_CASE("a total that warps share takes no barrier a turn, and is the same") {
    for (const char* turn : {"l = l * f + t.sum(axis = 1);", "l += t.sum(axis = 1);", "l = t.sum(axis = 1) + f * l;", "let r = t.sum(axis = 1); l = l * (f + f) + r;"}) {
      CAPTURE(turn);
      Made made(totals(turn));
      CHECK(made.text("late-sums") != made.text("place"));
      Counted counted = check_agreement(made.typed, {{10, 2000}, {10}, {10}}, target::model::asynchronous());
      // Five blocks of two turns, each of which would take it from warp to warp.
      CHECK(counted.after.at("lower").barriers == 5 * kBarriersOfSum);
    }
  }

  TEST_CASE("a total that anybody else asks for, or that is no sum of such sums, stays") {
    CHECK(is_late(totals()));
    CHECK_FALSE(is_late(totals("l = l * f + t.sum(axis = 1); y.tile(i) = l;")));
    CHECK_FALSE(is_late(totals("let r = t.sum(axis = 1); l = l * f + r; y.tile(i) = r;")));
    CHECK_FALSE(is_late(totals("l = l * l + t.sum(axis = 1);")));
    CHECK_FALSE(is_late(totals("l = l * f - t.sum(axis = 1);")));
    CHECK_FALSE(is_late(totals("let r = t.sum(axis = 1); l = l * r + r;")));
    CHECK_FALSE(is_late(totals("l = l * f + t.sum(axis = 1) * 2;")));
    CHECK_FALSE(is_late(totals("l = max(l, t.sum(axis = 1));")));
  }

  TEST_CASE("a total that a branch ends with another sum is one as well") {
    const std::string turn = "var next = l + t.sum(axis = 1); if (t > 3).any(axis = 1).any(axis = 0) { let u = t * 0.5; next = l * f + u.sum(axis = 1); } l = next;";
    CHECK(is_late(totals(turn)));
    CHECK(check_agreement(Made(totals(turn)).typed, {{10, 2000}, {10}, {10}}, target::model::asynchronous()).after.contains("lower"));
    CHECK_FALSE(is_late(totals(testing::replaced(turn, "next = l \\* f \\+ ", "next = l * l + "))));
    CHECK_FALSE(is_late(totals(testing::replaced(turn, "l = next;", "l = next; y.tile(i) = next;"))));
    // The other side's rows fall into other parts.
    CHECK_FALSE(is_late(totals(testing::replaced(turn, "let u = t \\* 0.5", "let u = x.tile[2, 64](i, 0)"))));
  }

  TEST_CASE("a total whose layout is pinned stays") {
    const std::string schedule = "schedule totals { layout l: lane(_ _ _ _ _) warp(c0 _); }\n";
    CHECK_FALSE(is_late(totals() + schedule));
    CHECK(is_late(totals() + testing::replaced(schedule, "layout l", "layout f")));
  }

  TEST_CASE("a total that begins with more than nothing stays, as does one that no warps share") {
    CHECK_FALSE(is_late(totals("l = l * f + t.sum(axis = 1);", "1")));
    CHECK_FALSE(is_late(totals("l = l * f + t.sum(axis = 1);", "0", "64, 64")));
  }
}
