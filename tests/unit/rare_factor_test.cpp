// Tiles scaled by what is one mostly: which warps may go on without, and that it makes no difference.
#include "made.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

// A running sum of products, scaled by a factor of its rows in front of each.
std::string scaled(const std::string& factor, int64_t columns = 256) {
  std::string width = std::to_string(columns);
  return "kernel scaled(A: f16[M, K], B: f16[K, " + width + "], out C: f32[M, " + width + "]) {\n    launch (i in ceildiv(M, 64)) threads 128 {\n"
         "        var a: shared f16[64, 64];\n        var b: shared f16[64, " + width + "];\n        var o: fragment f32[64, " + width + "] = 0;\n"
         "        var m: fragment f32[64] = -1;\n        for k in pipelined(K / 64, stages = 2) {\n            a = A.tile(i, k);\n            b = B.tile(k, 0);\n"
         "            let t = A.tile[64, 64](i, k) as f32;\n            let top = t.max(axis = 1);\n            " + factor +
         "\n            o = o * alpha[:, _];\n            o += a @ b;\n            m = m_new;\n        }\n        C.tile(i, 0) = o;\n    }\n}\n"
         "export scaled as it;\n";
}

const std::string kChosen = "let m_new = if top - m > 0.5 { top } else { m }; let alpha = exp2((m - m_new) * 0.5);";

int votes(const std::string& text) { return Made(text).count("vote\\.any", "lower"); }

}  // namespace

TEST_SUITE("rare factors") {
  TEST_CASE("a warp whose rows keep what their factor comes from goes on without multiplying") {
    Made made(scaled(kChosen));
    CHECK(made.count("vote\\.any", "lower") == 1);
    check_agreement(made.typed, {{64, 320}, {320, 256}, {64, 256}}, target::model::asynchronous());
  }

  TEST_CASE("what moves whenever it can, or has another factor, is multiplied in any case, as are small tiles") {
    CHECK(votes(scaled("let m_new = if top - m > 0.5 { top } else { m }; let alpha = exp(m - m_new);")) == 1);
    CHECK(votes(scaled("let m_new = if top - m > 0.5 { m } else { top }; let alpha = exp(m_new - m);")) == 1);
    CHECK(votes(scaled("let m_new = max(m, top); let alpha = exp2((m - m_new) * 0.5);")) == 0);
    CHECK(votes(scaled("let m_new = if top - m > 0.5 { top } else { m }; let alpha = exp2((m + m_new) * 0.5);")) == 0);
    CHECK(votes(scaled("let m_new = if top - m > 0.5 { top } else { m }; let alpha = (m - m_new) * 0.5;")) == 0);
    CHECK(votes(scaled("let m_new = if top - m > 0.5 { top } else { top + 1 }; let alpha = exp2((m - m_new) * 0.5);")) == 0);
    CHECK(votes(scaled(kChosen, 64)) == 0);
  }
}
