// Products that run under other work: kept in flight from turn to turn, delayed into the next turn, in turns of groups; the rings
// that feed them; and blocks that go on. What the passes made is looked at, and judged by the interpreter after every pass.
#include <map>
#include <regex>

#include "agreement.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/model/machine.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

// Two products a turn, the second of what the first gave: attention without its softmax.
constexpr std::string_view kChain = R"(
kernel chain[BM: int = 128, D: int = 64, T: float = f16](Q: T[S, D], K: T[L, D], V: T[L, D], out O: f32[S, D]) {
    launch (i in ceildiv(S, BM)) threads THREADS {
        var q: shared T[BM, D] = Q.tile(i, 0);
        var k: shared T[64, D];
        var v: shared T[64, D];
        var o: fragment f32[BM, D] = 0;
        for j in pipelined(ceildiv(L, 64), stages = 2) {
            k = K.tile(j, 0);
            v = V.tile(j, 0);
            let s = q @ k.T;
            let p = s * 0.125;
            o = o * 0.5;
            o += (p as T) @ v;
        }
        O.tile(i, 0) = o;
    }
}
export chainARGUMENTS as it;
)";

constexpr std::string_view kProduct = R"(
kernel product(A: f16[M, K], B: f16[K, N], out C: f32[M, N]) {
    launch (i in ceildiv(N, 64), j in ceildiv(M, 64)) threads 128 {
        var a: shared f16[64, 64];
        var b: shared f16[64, 64];
        var acc: fragment f32[64, 64] = 0;
        for k in pipelined(ceildiv(K, 64)) {
            a = A.tile(j, k);
            b = B.tile(k, i);
            acc += a @ b;
        }
        C.tile(j, i) = acc;
    }
}
export product as it;
)";

std::string with(std::string_view text, std::string_view arguments = "", std::string_view threads = "128") {
  std::string out(text);
  out = std::regex_replace(out, std::regex("ARGUMENTS"), std::string(arguments));
  return std::regex_replace(out, std::regex("THREADS"), std::string(threads));
}

struct Made {
  ir::Kernel typed, thread;
  std::map<std::string, ir::Kernel> after;

  explicit Made(const std::string& text, const Machine& machine = target::model::asynchronous()) {
    SourceMap sources;
    Diagnostics diagnostics{Policy{}};
    Ast ast = parse(sources.add("it.tile", text), sources, diagnostics);
    Program program = analyse(ast, sources, embedded_library(), diagnostics);
    REQUIRE(!diagnostics.has_errors());
    typed = thread = kernel_for(program.exports.at(0), machine);
    PassOptions passes;
    passes.after = [&](const Pass& pass, const ir::Kernel& now) { after.insert_or_assign(std::string(pass.name), now); };
    REQUIRE(run_passes(thread, machine, diagnostics, passes));
  }
  std::string text(const std::string& pass = "insert-barriers") const { return ir::print(after.at(pass)); }
  int count(const std::string& pattern, const std::string& pass = "insert-barriers") const {
    const std::string all = text(pass);
    const std::regex regex(pattern);
    return int(std::distance(std::sregex_iterator(all.begin(), all.end(), regex), {}));
  }
};

void agree(const std::string& text, const Shapes& shapes, const Machine& machine = target::model::asynchronous()) {
  check_agreement(Made(text, machine).typed, shapes, machine);
}

const Shapes kOneBlock = {{100, 64}, {200, 64}, {200, 64}, {100, 64}};

}  // namespace

TEST_SUITE("overlap") {
  TEST_CASE("the product that ends a turn runs under the next one") {
    Made made(with(kChain));
    CHECK(made.count("await_gemm [^\n]*in_flight=1") == 1);
    // The first turn, a turn of the loop with two products, and the last product.
    CHECK(made.count("gemm_async ") == 4);
    auto pipeline = std::ranges::find(made.thread.schedule.pipelines, "v", &ir::Pipeline::name);
    REQUIRE(pipeline != made.thread.schedule.pipelines.end());
    CHECK(pipeline->in_flight == 1);
    agree(with(kChain), kOneBlock);
    agree(with(kChain), {{64, 64}, {64, 64}, {64, 64}, {64, 64}});
    agree(with(kChain), kOneBlock, target::model::without_roles());
    agree(with(kChain), kOneBlock, target::model::with_lanes());
  }

  TEST_CASE("no turns, no products") { agree(with(kChain), {{64, 64}, {0, 64}, {0, 64}, {64, 64}}); }

  TEST_CASE("a schedule may keep each product in its turn") {
    std::string pinned = with(kChain) + "schedule chain for model { pipeline v: v; depth 2, in_flight 0; }\n";
    Made made(pinned);
    CHECK(made.count("gemm_async ") == 2);
    CHECK(made.count("await_gemm [^\n]*in_flight=1") == 0);
    agree(pinned, kOneBlock);
  }

  TEST_CASE("tiles that different products read have rings of their own, of one depth") {
    Made made(with(kChain)), one{std::string(kProduct)};
    CHECK(made.count("ring_alloc name=\"[kv]\" : ring<2>") == 2);
    CHECK(one.count("ring_alloc ") == 1);
    CHECK(one.count("await_gemm [^\n]*in_flight=1") == 1);
    CHECK(Made(with(kChain), target::model::synchronous()).count("ring_alloc ") == 0);
  }

  TEST_CASE("the role that copies fills what is filled once, too") {
    Made made(with(kChain));
    CHECK(made.count("ring_alloc name=\"q\" : ring<1>") == 1);
    CHECK(Made(with(kChain), target::model::without_roles()).count("ring_alloc name=\"q\"") == 0);
    Made pinned(with(kChain) + "schedule chain for model { role load: warps 4 { k; v; } role math: warps 4 { rest; } }\n");
    CHECK(pinned.count("ring_alloc name=\"q\"") == 0);
  }

  TEST_CASE("groups take turns where their products are long") {
    std::string large = with(kChain, "[BM = 128, D = 256]", "256"), small = with(kChain, "", "256");
    Made made(large);
    CHECK(made.count("order_alloc warps=4") == 1);
    CHECK(made.count("take_turn ") == 2);
    CHECK(made.count("pass_turn ") == 2);
    CHECK(Made(small).count("order_alloc") == 0);
    CHECK(Made(large, target::model::without_roles()).count("order_alloc") == 0);
    agree(large, {{100, 256}, {200, 256}, {200, 256}, {100, 256}});
  }

  TEST_CASE("a block goes on to the next where a role copies ahead") {
    Made made{std::string(kProduct)};
    CHECK(made.thread.schedule.persistent);
    CHECK(made.count("= grid_blocks") >= 1);
    CHECK_FALSE(Made(std::string(kProduct), target::model::without_roles()).thread.schedule.persistent);
    // Four times as many blocks as the interpreter begins at once.
    agree(std::string(kProduct), {{200, 100}, {100, 170}, {200, 170}});
    agree(with(kChain), {{700, 64}, {100, 64}, {100, 64}, {700, 64}});
  }

  TEST_CASE("blocks of unequal turns do not go on by themselves") {
    std::string causal = std::regex_replace(with(kChain), std::regex("ceildiv\\(L, 64\\)"), "min(ceildiv(L, 64), i + 1)");
    CHECK_FALSE(Made(causal).thread.schedule.persistent);
    std::string asked = std::regex_replace(causal, std::regex("threads 128"), "threads 128 persistent");
    CHECK(Made(asked).count("= grid_blocks") >= 1);
    agree(asked, {{700, 64}, {400, 64}, {400, 64}, {700, 64}});
  }
}
