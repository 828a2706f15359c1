// Tiles of a loop that have one version, which a role hands over: filled again as soon as their last reader of a turn has them.
#include "made.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

// Keys that are values, too, in halves of their columns, one version of each.
constexpr std::string_view kHalves = R"(
kernel halves(Q: f16[S, 128], K: f16[L, 128], out O: f32[S, 128]) {
    launch (i in ceildiv(S, 64)) threads 128 {
        var q0: shared f16[64, 64] = Q.tile(i, 0);
        var q1: shared f16[64, 64] = Q.tile(i, 1);
        var k0: shared f16[64, 64];
        var k1: shared f16[64, 64];
        var p: shared f16[64, 64];
        var o0: fragment f32[64, 64] = 0;
        var o1: fragment f32[64, 64] = 0;
        for j in pipelined(ceildiv(L, 64), stages = 1) {
            k0 = K.tile(j, 0);
            k1 = K.tile(j, 1);
            var s = q0 @ k0.T;
            s += q1 @ k1.T;
            p = (s * 0.125) as f16;
            o0 += p @ k0;
            o1 += p @ k1;
        }
        O.tile(i, 0) = o0;
        O.tile(i, 1) = o1;
    }
}
export halves as it;
)";

}  // namespace

TEST_SUITE("one version") {
  TEST_CASE("one version of a tile is handed over where a role copies, and goes back as soon as its last product has ended") {
    Made made{std::string(kHalves)};
    CHECK(made.count("ring_alloc name=\"k[01]\" : ring<1>") == 2);
    const std::string text = made.text("overlap-products");
    const size_t first = text.find(", in_flight=1");
    REQUIRE(first != std::string::npos);
    const std::string behind = text.substr(first);
    CHECK(behind.find("release ") < behind.find("await_gemm "));
    const Shapes some = {{200, 128}, {200, 128}, {200, 128}}, none = {{64, 128}, {0, 128}, {64, 128}};
    for (const Shapes& shapes : {some, none, Shapes{{700, 128}, {100, 128}, {700, 128}}}) check_agreement(made.typed, shapes, target::model::asynchronous());
    // Where the warps that compute copy as well, they would wait for a tile that they have just asked for.
    CHECK(Made(std::string(kHalves), target::model::without_roles()).count("ring<1>") == 0);
    for (const Machine& machine : {target::model::without_roles(), target::model::with_lanes(), target::model::synchronous()}) check_agreement(Made(std::string(kHalves), machine).typed, some, machine);
  }
}
