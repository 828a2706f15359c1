// The gradient of attention in one pass: five products a turn, of which one reads what threads have put into shared memory and is added to a
// tensor while the sums of the loop run on. What the passes made is looked at, and judged by the interpreter after every pass.
#include "ir/workspace.h"
#include "made.h"
#include "target/cuda/machine.h"
#include "target/launch_support/launch_support.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

constexpr std::string_view kOnePass = R"(
kernel gradient[D: int = 64](Q: f16[S, D], G: f16[S, D], K: f16[L, D], V: f16[L, D], lse: f32[S], out dQ: f32[S, D], out dK: f32[L, D], out dV: f32[L, D]) {
    var sums: workspace f32[S, D];
    var rows: workspace f32[ceildiv(S, 64) * 64];
    launch (i in ceildiv(S, 64)) {
        let zero: fragment f32[64, D] = 0;
        sums.tile(i, 0) = zero;
        rows.tile(i) = lse.tile[64](i);
    }
    launch (j in ceildiv(L, 128)) threads 256 {
        var k: shared f16[128, D] = K.tile(j, 0);
        var v: shared f16[128, D] = V.tile(j, 0);
        var q: shared f16[64, D];
        var g: shared f16[64, D];
        var dk: fragment f32[128, D] = 0;
        var dv: fragment f32[128, D] = 0;
        for i in pipelined(ceildiv(S, 64), stages = 2) {
            q = Q.tile(i, 0);
            g = G.tile(i, 0);
            var p = (k @ q.T) * 0.125 - rows.tile[64](i)[_, :];
            for (c, r) in parallel(128, 64) { if j * 128 + c >= L || i * 64 + r >= S { p[c, r] = 0; } }
            let turned = ((v @ g.T) * p) as f16;
            let weights = p as f16;
            var t: shared f16[128, 64] = turned;
            PRODUCTS
            for (r, d) in parallel(64, D) { if i * 64 + r < S { atomic_add(sums[i * 64 + r, d], part[r, d], order = relaxed); } }
        }
        dK.tile(j, 0) = dk;
        dV.tile(j, 0) = dv;
    }
    launch (i in ceildiv(S, 64)) { dQ.tile(i, 0) = sums.tile[64, D](i, 0); }
}
export gradientARGUMENTS as it;
)";

// A product in flight goes on while threads write anew what an older one has read.
constexpr std::string_view kTwice = R"(
export kernel twice(Q: f16[S, 64], K: f16[L, 64], out O: f32[S, 64], out P: f32[S, 64]) {
    launch (i in ceildiv(S, 64)) threads 128 {
        var q: shared f16[64, 64] = Q.tile(i, 0);
        var k: shared f16[64, 64];
        var t: shared f16[64, 64];
        var o: fragment f32[64, 64] = 0;
        var sum: fragment f32[64, 64] = 0;
        for j in pipelined(ceildiv(L, 64), stages = 3) {
            k = K.tile(j, 0);
            let s = (q @ k.T) as f16;
            t = s;
            let a = t @ k;
            o += s @ k;
            t = (a * 0.125) as f16;
            sum += t @ k;
        }
        O.tile(i, 0) = o;
        P.tile(i, 0) = sum;
    }
}
)";

std::string with(std::string_view products, std::string_view arguments = "") {
  std::string text = testing::replaced(std::string(kOnePass), "PRODUCTS", std::string(products));
  return testing::replaced(text, "ARGUMENTS", std::string(arguments));
}

constexpr std::string_view kSumsLast = "let part = t.T @ k; dv += weights @ g; dk += turned @ q;";
constexpr std::string_view kOneSumFirst = "dv += weights @ g; let part = t.T @ k; dk += turned @ q;";

const Machine& hopper() {
  for (const Machine& machine : target::cuda::machines())
    if (machine.name == "sm_90a") return machine;
  UNREACHABLE("the machine is in the table");
}

// The products of the pipelined loop as they start, by the elements of their results, and the waits, by what stays in flight.
std::string order_of(const Made& made) {
  const std::string& all = made.text("overlap-products");
  std::string found;
  for (const auto& match : testing::matches(all, "gemm_async (%\\w+), |await_gemm [^\n]*in_flight=(\\d)"))
    found += match[1].empty() ? match[2] + " " : match[1].substr(1, 1) + " ";
  return found;
}

void agree(const std::string& text, int64_t rows, int64_t keys, int64_t depth = 64, const Machine& machine = target::model::asynchronous()) {
  check_agreement(Made(text, machine).typed, {{rows, depth}, {rows, depth}, {keys, depth}, {keys, depth}, {rows}, {rows, depth}, {keys, depth}, {keys, depth}}, machine);
}

}  // namespace

TEST_SUITE("one pass") {
  TEST_CASE("what is added to a tensor is awaited while the sums run on") {
    // Scores and their gradient; then what reads shared memory, and the sums, of which two are open while it is added.
    CHECK(order_of(Made(with(kSumsLast))) == "k v 1 t w t 2 ");
    for (const Machine& machine : {target::model::asynchronous(), target::model::without_roles(), target::model::with_lanes()})
      agree(with(kSumsLast), 100, 70, 64, machine);
  }

  TEST_CASE("a product whose registers are written starts though others read registers, too") {
    CHECK(order_of(Made(with(kOneSumFirst))) == "k v 1 w t t 1 1 ");
    agree(with(kOneSumFirst), 130, 70);
  }

  TEST_CASE("what a product has read may be written when it has ended, whatever runs on") {
    check_agreement(Made(std::string(kTwice)).typed, {{100, 64}, {200, 64}, {100, 64}, {100, 64}}, target::model::asynchronous());
  }

  TEST_CASE("a vector of which lanes hold much is read once by each warp and dealt out") {
    Made made(with(kSumsLast));
    // Two elements a lane of 64, where each lane wants sixteen.
    CHECK(made.count("load %rows[^\n]*tile<64 f32 @ reg\\(c5\\) lane\\(c0 c1 c2 c3 c4\\)", "deal-vectors") == 1);
    CHECK(made.count("convert_layout ", "deal-vectors") == made.count("convert_layout ", "skip-masks") + 1);
    CHECK(Made(with(kSumsLast), target::model::synchronous()).count("tile<64 f32 @ reg\\(c5\\) lane\\(c0 c1 c2 c3 c4\\)", "deal-vectors") == 0);
  }

  TEST_CASE("registers go to the role that computes where its products would be awaited one by one") {
    Made wide(with(kSumsLast, "[D = 128]"), hopper()), narrow(with(kSumsLast), hopper());
    CHECK(wide.count("registers=\\[216, 72\\]", "split-roles") == 1);
    CHECK(wide.count("registers=\\[232, 32\\]", "overlap-products") == 1);
    CHECK(order_of(wide) == "k v 1 t w t 2 1 ");
    CHECK(narrow.count("registers=\\[216, 72\\]", "overlap-products") == 1);
    agree(with(kSumsLast, "[D = 128]"), 70, 70, 128, hopper());
  }

  TEST_CASE("workspaces are added to by tiles, and their rows begin where vectors may") {
    Made made(with(kSumsLast), hopper());
    CHECK(made.count("store [^\n]*%sums[^\n]*bounds=\\[guarded, inside\\][^\n]*adds=true", "gather-sums") == 1);
    CHECK(made.count("is_aligned %sums", "lower") == 0);
    // As the code that hands them out has it.
    const std::string promise = "#define TILE_WORKSPACE_ALIGNMENT " + std::to_string(ir::kWorkspaceAlignment) + "\n";
    CHECK(target::support_text().find(promise) != std::string_view::npos);
    CHECK(made.count("is_aligned %dK", "lower") > 0);
  }
}
