// What keeps the numbers of a lane in its registers: no array of its own, and few that wait through a loop.
#include "command.h"
#include "threads.h"

using namespace tilec;

namespace {

// A loop around another one stores a tile under conditions on its columns.
constexpr const char* kColumns = R"(
export kernel columns(A: f16[M, K], B: f16[G, K, N], out C: f16[M, N]) {
    launch (i in ceildiv(M, 64)) {
        for g in 0..G {
            var a: shared f16[64, 64];
            var b: shared f16[64, 128];
            var acc: fragment f32[64, 128] = 0;
            for k in pipelined(ceildiv(K, 64), stages = 2) {
                a = A.tile(i, k);
                b = B[g].tile(k, 0);
                acc += a @ b;
            }
            for (r, c) in parallel(64, 128) {
                if i * 64 + r < M - g && c < N { C[i * 64 + r, c] = acc[r, c] as f16; }
            }
        }
    }
}
)";

}  // namespace

TEST_SUITE("registers") {
  TEST_CASE("matrices of a shared tile share the bases of their addresses") {
    Threads threads(std::string(TILEC_TESTS) + "/../examples/attention/attention.tile");
    std::string text = threads.of("attention_f16", "sm_80");
    CHECK(count(text, "load_matrices") == 136);
    CHECK(count(text, "binary.xor") < 64);
  }

  TEST_CASE("a part at an offset of the run is selected where a private array is far") {
    Threads threads(std::string(TILEC_TESTS) + "/kernels/tile_parts.tile");
    CHECK(count(threads.of("halves_f16", "sm_80"), "private") == 0);
    CHECK(count(threads.of("halves_f16", "x86-64-v3"), "private") > 0);
  }

  TEST_CASE("sums of one base with many constants do not wait in front of a loop around others") {
    command::Folder folder;
    folder.write("columns.tile", kColumns);
    command::Ran ran = folder.tilec("columns.tile --emit=llvm-ir -o columns.ll --target=sm_90a");
    REQUIRE_MESSAGE(ran.code == 0, ran.out);
    std::string text = folder.read("columns.ll"), front = text.substr(0, text.find("\nfor"));
    REQUIRE(front.size() < text.size());
    CHECK(count(front, "or disjoint") < 24);
    CHECK(count(text, "or disjoint") > 48);
  }
}
