// tile-votes: one barrier at which warps vote, where the program asks whether any element of a tile is true, or all are; and barriers that
// this one, and rings of one slot, make needless.
#include "made.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

// Four warps; `asked` of each tile decides whether it is doubled.
std::string asked(const std::string& what, const std::string& contract = "M % 64 == 0, N % 64 == 0") {
  return "export kernel votes(x: f32[M, N], out y: f32[M, N])\n    requires " + contract + "\n{\n    launch (i in ceildiv(M, 64)) threads 128 {\n        for j in 0..ceildiv(N, 64) {\n"
         "            var t: fragment f32[64, 64] = x.tile(i, j);\n            let large = t > 0.75;\n            if " + what + " { t = t * 2; }\n"
         "            y.tile(i, j) = t;\n        }\n    }\n}\n";
}
const std::string kAny = "large.any(axis = 1).any(axis = 0)", kAll = "(!large).all(axis = 1).all(axis = 0)";
const Shapes kShapes = {{128, 192}, {128, 192}};
constexpr uint64_t kTiles = 2 * 3, kWarps = 4;

// What the engine reads is stored, and seldom once more.
std::string seldom(const std::string& stages) {
  return R"(
export kernel seldom(Q: f16[S, 64], K: f16[L, 64], out O: f32[S, 64]) {
    launch (i in ceildiv(S, 64)) threads 128 {
        var q: shared f16[64, 64] = Q.tile(i, 0);
        var k: shared f16[64, 64];
        var p: shared f16[64, 64];
        var o: fragment f32[64, 64] = 0;
        for j in pipelined(ceildiv(L, 64), stages = )" + stages + R"() {
            k = K.tile(j, 0);
            var s = q @ k.T;
            let large = s > 6;
            p = s as f16;
            if large.any(axis = 1).any(axis = 0) { p = (s * 0.5) as f16; }
            o += p @ k;
        }
        O.tile(i, 0) = o;
    }
}
)";
}

}  // namespace

TEST_SUITE("tile votes") {
  TEST_CASE("a whole tile is asked for at one barrier") {
    for (const std::string& what : {kAny, kAll}) {
      CAPTURE(what);
      Made made(asked(what));
      CHECK(made.count("vote_tile", "tile-votes") == 1);
      CHECK(made.count("reduce", "tile-votes") == 0);
      CHECK(made.count("barrier_vote", "lower") == 1);
      for (const Machine* machine : {&target::model::asynchronous(), &target::model::without_roles(), &target::model::synchronous()})
        CHECK(check_agreement(made.typed, kShapes, *machine).after.at("lower").barriers == kTiles * kWarps);
    }
  }

  TEST_CASE("rows over an edge are masked once a row, not once an element") {
    for (const char* what : {"(t < 0.75).any(axis = 1).any(axis = 0)", "large.all(axis = 1).all(axis = 0)", "(t < 0.75).any(axis = 0).any(axis = 0)"}) {
      CAPTURE(what);
      Made made(asked(what, "M >= 1, N >= 1"));
      const std::string text = made.text("tile-votes");
      CHECK(made.count("vote_tile", "tile-votes") == 1);
      // What enters the vote holds one element for each place that lanes and warps have along the rows, or the columns.
      const size_t vote = text.find("vote_tile"), mask = text.rfind("= map", vote);
      const std::string masked = text.substr(mask, text.find("{", mask) - mask);
      CHECK_MESSAGE(masked.find("shape=[64, 64]") == std::string::npos, masked);
      for (const Machine* machine : {&target::model::asynchronous(), &target::model::without_roles(), &target::model::synchronous()})
        CHECK(check_agreement(made.typed, {{130, 70}, {130, 70}}, *machine).after.at("lower").barriers > 0);
    }
  }

  TEST_CASE("what asks along one axis alone stays a reduction") {
    Made made(asked("large.any(axis = 1).all(axis = 0)"));
    CHECK(made.count("reduce.any", "tile-votes") == 1);
    CHECK(made.count("vote_tile.all", "tile-votes") == 1);
    CHECK(check_agreement(made.typed, kShapes, target::model::asynchronous()).after.contains("lower"));
  }

  TEST_CASE("a vote is a barrier for what was stored, and what is seldom stored again has its own") {
    Made made(seldom("1"));
    const std::string text = made.text();
    const size_t vote = text.find("vote_tile"), barrier = text.find("barrier why=\"`p`"), product = text.find("gemm_async", vote);
    REQUIRE(vote != std::string::npos);
    CHECK(made.count("barrier why=\"`p`") == 1);
    CHECK(vote < barrier);
    CHECK(barrier < text.find("else_body", vote));
    CHECK(barrier < product);
    // In front of the vote what the engine reads was fenced.
    CHECK(text.rfind("fence", vote) > text.rfind("store", vote));
    // A slot that comes again was given back by all warps, and with it what they read of `p`: with two slots a barrier says so.
    CHECK(Made(seldom("2")).count("barrier why=\"`p`") == 2);
    for (const char* stages : {"1", "2"})
      for (const Machine* machine : {&target::model::asynchronous(), &target::model::without_roles(), &target::model::synchronous()})
        check_agreement(Made(seldom(stages)).typed, {{130, 64}, {300, 64}, {130, 64}}, *machine);
  }
}
