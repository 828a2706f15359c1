// Blocks that go on take the turns of every other round from the last to the first, where they do nothing but add up. What `persist` made is
// looked at, and judged by the interpreter after every pass.
#include "made.h"
#include "target/target.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

// `turn`: what a turn does; `behind`: what follows the loop.
std::string product(const std::string& turn = "a = A.tile(j, k); b = B.tile(k, i); acc += a @ b;", const std::string& turns = "ceildiv(K, 64)",
                    const std::string& behind = "", const std::string& before = "") {
  return "kernel product(A: f16[M, K], B: f16[K, N], out C: f32[M, N]) {\n    launch (i in ceildiv(N, 64), j in ceildiv(M, 64)) threads 128 {\n"
         "        var a: shared f16[64, 64];\n        var b: shared f16[64, 64];\n        var acc: fragment f32[64, 64] = 0;\n        " + before +
         "\n        for k in pipelined(" + turns + ") { " + turn + " }\n        " + behind + "\n        C.tile(j, i) = acc;\n    }\n}\nexport product as it;\n";
}

// Every block reads tiles of its own.
constexpr std::string_view kApart = R"(
kernel apart(A: f16[Z, 64, K], B: f16[Z, K, 64], out C: f32[Z, 64, 64]) {
    launch (z in Z) threads 128 {
        var a: shared f16[64, 64];
        var b: shared f16[64, 64];
        var acc: fragment f32[64, 64] = 0;
        for k in pipelined(ceildiv(K, 64)) {
            a = A[z].tile(0, k);
            b = B[z].tile(k, 0);
            acc += a @ b;
        }
        C[z].tile(0, 0) = acc;
    }
}
export apart as it;
)";

// A loop of other turns than the one in front of it, with a sum of its own and another beside it.
constexpr std::string_view kTwo = R"(
kernel two(A: f16[M, K], B: f16[K, N], D: f16[M, L], E: f16[L, N], out C: f32[M, N], out F: f32[M, N]) {
    launch (i in ceildiv(N, 64), j in ceildiv(M, 64)) threads 128 {
        var a: shared f16[64, 64];
        var b: shared f16[64, 64];
        var d: shared f16[64, 64];
        var e: shared f16[64, 64];
        var sum: fragment f32[64, 64] = 0;
        var other: fragment f32[64, 64] = 0;
        for k in pipelined(ceildiv(K, 64), stages = 2) {
            a = A.tile(j, k);
            b = B.tile(k, i);
            sum += a @ b;
        }
        for l in pipelined(ceildiv(L, 64), stages = 2) {
            d = D.tile(j, l);
            e = E.tile(l, i);
            sum += d @ e;
            other += d @ e;
        }
        C.tile(j, i) = sum;
        F.tile(j, i) = other;
    }
}
export two as it;
)";

// Loops that choose which turn an index stands for.
int turned(const std::string& text, const Machine& machine = target::model::asynchronous()) { return Made(text, machine).count(" = select %back", "persist"); }

using testing::replaced;

}  // namespace

TEST_SUITE("forth and back") {
  TEST_CASE("every other round begins with the turn that the one before it ended with") {
    Made made(product());
    CHECK(made.last.schedule.persistent);
    CHECK(turned(product()) == 1);
    const std::string text = made.text("persist");
    CAPTURE(text);
    // A truth that the rounds carry, each handing on its opposite, chooses the index that the copies ask for.
    auto first = [&](const std::string& pattern) {
      auto all = testing::matches(text, pattern);
      REQUIRE_MESSAGE(!all.empty(), pattern);
      return all[0];
    };
    const auto back = first("%number\\w*: int, (%back\\w*): bool"), chosen = first("(%\\w+) = select (%\\w+), %\\w+, %k_\\w+");
    CHECK(back[1] == chosen[2]);
    CHECK(made.has("persist", "unary.not " + back[1] + " "));
    const auto offset = first("(%\\w+) = binary.mul " + chosen[1] + ", ");
    CHECK(made.count("copy [^\n]*[\\[ ]" + offset[1] + "[,\\]]", "persist") == 2);
  }

  TEST_CASE("the sums are those of turns in order, wherever the last one hangs over the edge") {
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{200, 170, 100}, {200, 170, 64}, {300, 64, 330}, {200, 170, 0}})
      check_agreement(Made(product()).typed, {{m, k}, {k, n}, {m, n}}, target::model::asynchronous());
    CHECK(turned(std::string(kTwo)) == 2);
    check_agreement(Made(std::string(kTwo)).typed, {{200, 100}, {100, 170}, {200, 200}, {200, 170}, {200, 170}, {200, 170}}, target::model::asynchronous());
  }

  TEST_CASE("the role that copies turns about, the one that computes does not know") {
    Made made(product());
    CHECK(made.count("unary.not ", "split-roles") == 1);
    CHECK(made.count(" = select ", "split-roles") == 2);  // in front of the turns, and ahead of each
    CHECK(made.count("%back\\w*: bool", "split-roles") == 1);
  }

  TEST_CASE("turns whose order says something stay in order") {
    // What one turn has left is scaled by the next one.
    CHECK(turned(product("a = A.tile(j, k); b = B.tile(k, i); acc = acc * 0.5; acc += a @ b;")) == 0);
    // A tile is read before it is filled, and after the last turn.
    CHECK(turned(product("a = A.tile(j, k); acc += a @ b; b = B.tile(k + 1, i);", "ceildiv(K, 64)", "", "b = B.tile(0, i);")) == 0);
    CHECK(turned(product("a = A.tile(j, k); b = B.tile(k, i); acc += a @ b;", "ceildiv(K, 64)", "acc += a @ b;", "a = A.tile(j, 0); b = B.tile(0, i);")) == 0);
    CHECK(turned(product("a = A.tile(j, k); b = B.tile(k, i); acc += a @ b;", "ceildiv(K, 64)", "acc += c @ b;", "var c: shared f16[64, 64] = A.tile(j, 0); b = B.tile(0, i);")) == 0);
    // The index says more than what is copied.
    CHECK(turned(product("a = A.tile(j, k); b = B.tile(k, i); acc += (((a as f32) + (k as f32)) as f16) @ b;")) == 0);
    CHECK(turned(product("a = A.tile(j, k); b = B.tile(k, i); acc += ((a as f32) as f16) @ b;")) == 1);
  }

  TEST_CASE("blocks that share nothing, rounds that are dealt out and blocks that end with their own work keep the order") {
    CHECK(Made(std::string(kApart)).last.schedule.persistent);
    CHECK(turned(std::string(kApart)) == 0);
    std::string dealt = product("a = A.tile(j, k); b = B.tile(k, i); acc += a @ b;", "min(ceildiv(K, 64), i + 1)");
    CHECK(Made(dealt).count("for .* loop=dealt", "persist") == 1);
    CHECK(turned(dealt) == 0);
    CHECK(turned(product(), target::model::without_roles()) == 0);
    // By lanes, the edge is a turn of its own, which is the last.
    Machine lanes = target::model::with_lanes();
    lanes.caps |= cap_set({Cap::PersistentBlocks});
    const std::string pinned = product() + "schedule product for model { persistent; }\n";
    CHECK(Made(pinned, lanes).last.schedule.persistent);
    CHECK(turned(pinned, lanes) == 0);
    const Machine& h100 = *target::machine_named("sm_90a")->machine;
    const std::string wide = replaced(product(), "threads 128", "threads 256"), narrow = replaced(wide, "f16", "f8e4m3");  // whose operands products of warps take from layouts that the engine does not know
    CHECK(Made(narrow, h100).last.schedule.persistent);
    CHECK(turned(narrow, h100) == 0);
    CHECK(turned(wide, h100) == 1);
  }
}
