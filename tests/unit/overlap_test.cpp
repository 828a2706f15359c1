// Products that run under other work: kept in flight from turn to turn, delayed into the next turn, in turns of groups; the rings
// that feed them; and blocks that go on. What the passes made is looked at, and judged by the interpreter after every pass.
#include "made.h"

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

// Four products a turn, two of which add to what the loop carries: the gradient of attention without its softmax. In rounds of a loop
// around, so that turns go on.
constexpr std::string_view kGradient = R"(
kernel gradient[OWN: int = 128, D: int = 64](Q: f16[S, D], G: f16[S, D], K: f16[L, D], V: f16[L, D], out dK: f32[L, D], out dV: f32[L, D]) {
    launch (j in ceildiv(L, OWN)) threads THREADS {
        var k: shared f16[OWN, 64] = K.tile(j, 0);
        var v: shared f16[OWN, 64] = V.tile(j, 0);
        var q: shared f16[64, 64];
        var g: shared f16[64, 64];
        var dk: fragment f32[OWN, 64] = 0;
        var dv: fragment f32[OWN, 64] = 0;
        for round in 0..2 {
            for i in pipelined(ceildiv(S, 64), stages = 2) {
                q = Q.tile(i, 0);
                g = G.tile(i, 0);
                let p = (k @ q.T) * 0.125;
                dv += (p as f16) @ g;
                let ds = (v @ g.T) * p;
                dk += (ds as f16) @ q;
            }
        }
        dK.tile(j, 0) = dk;
        dV.tile(j, 0) = dv;
    }
}
export gradientARGUMENTS as it;
)";

// The second product reads what threads wrote for it in this turn.
constexpr std::string_view kTurned = R"(
kernel turned[D: int = 64](Q: f16[S, D], K: f16[L, D], out O: f32[S, D]) {
    launch (i in ceildiv(S, 64)) threads 128 {
        var k: shared f16[64, 64];
        var q: shared f16[64, 64] = Q.tile(i, 0);
        var p: shared f16[64, 64];
        var o: fragment f32[64, 64] = 0;
        for j in pipelined(ceildiv(L, 64), stages = 2) {
            k = K.tile(j, 0);
            let s = q @ k.T;
            p = (s * 0.125) as f16;
            o += p @ k;
        }
        O.tile(i, 0) = o;
    }
}
export turned as it;
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

// As many turns for each block; a tile of two bytes an element ends it.
constexpr std::string_view kRounds = R"(
kernel rounds[BN: int = 128](A: f16[M, K], B: f16[K, N], out C: f16[M, N]) {
    launch (j in ceildiv(N, BN), i in ceildiv(M, 64)) threads 128 {
        var a: shared f16[64, 64];
        var b: shared f16[64, BN];
        var acc: fragment f32[64, BN] = 0;
        for k in pipelined(ceildiv(K, 64), stages = 3) {
            a = A.tile(i, k);
            b = B.tile(k, j);
            acc += a @ b;
        }
        C.tile(i, j) = acc as f16;
    }
}
export rounds as it;
)";

// What stops a program of one thread, whose copies and products are as late as they may be; "none": nothing does.
std::string fault_of(const std::string& text, const Shapes& shapes) {
  std::string error;
  auto kernel = ir::parse(text, &error);
  REQUIRE_MESSAGE(kernel.has_value(), error);
  interp::RunOptions options;
  options.machine = &target::model::asynchronous();
  options.completion = interp::Completion::Late;
  Data data = data_for(*kernel, shapes);
  interp::RunResult run = interp::run(*kernel, data.arguments, options);
  return run.fault ? std::string(interp::name(run.fault->kind)) : "none";
}

std::string with(std::string_view text, std::string_view arguments = "", std::string_view threads = "128") {
  std::string out(text);
  out = testing::replaced(out, "ARGUMENTS", std::string(arguments));
  return testing::replaced(out, "THREADS", std::string(threads));
}

// Why the schedule cannot be kept.
std::string refusal_of(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics{Policy{}};
  Ast ast = parse(sources.add("it.tile", text), sources, diagnostics);
  Program program = analyse(ast, sources, embedded_library(), diagnostics);
  REQUIRE(!diagnostics.has_errors());
  ir::Kernel kernel = kernel_for(program.exports.at(0), target::model::asynchronous());
  run_passes(kernel, target::model::asynchronous(), diagnostics);
  const std::string prefix = "the schedule cannot be kept: ";
  for (const Diagnostic& d : diagnostics.all())
    if (d.message.starts_with(prefix)) return d.message.substr(prefix.size());
  return "";
}

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
    auto pipeline = std::ranges::find(made.last.schedule.pipelines, "v", &ir::Pipeline::name);
    REQUIRE(pipeline != made.last.schedule.pipelines.end());
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

  TEST_CASE("a schedule places a product in its turn, or a turn behind where that can be") {
    Made kept(with(kChain) + "schedule chain for model { place o: stage 0; }\n");
    CHECK(kept.count("gemm_async ") == 2);
    Made delayed(with(kChain) + "schedule chain for model { place o: stage 1, order 0; }\n");
    CHECK(delayed.count("gemm_async ") == 4);
    agree(with(kChain) + "schedule chain for model { place o: stage 0; }\n", kOneBlock);
    CHECK(refusal_of(with(kChain) + "schedule chain for model { place s: stage 1, order 0; }\n") ==
          "`s` is no product that ends the turns of a loop and can run under the next ones");
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
    CHECK(made.count("ring_alloc name=\"q\" : ring<2>") == 1);
    CHECK(Made(with(kChain), target::model::without_roles()).count("ring_alloc name=\"q\"") == 0);
    Made pinned(with(kChain) + "schedule chain for model { role load: warps 4 { k; v; } role math: warps 4 { rest; } }\n");
    CHECK(pinned.count("ring_alloc name=\"q\"") == 0);
  }

  TEST_CASE("products of a turn run beside each other, and into the next turn") {
    Made made(with(kGradient, "", "256"));
    const std::string text = made.text("overlap-products");
    // Both products that read nothing of the other's start before the turn waits, and then for the first alone.
    const auto waits = testing::matches(text, "await_gemm [^\n]*in_flight=1");
    REQUIRE(!waits.empty());
    const size_t wait = text.find(waits[0][0]);
    const std::string before = text.substr(0, wait), behind = text.substr(wait + waits[0][0].size());
    CHECK(made.count("begin_flight ", "overlap-products") == 2);
    CHECK(testing::is_found(before, "gemm_async %k[^]*gemm_async %v"));
    CHECK(made.count("gemm_async ", "overlap-products") == 4);
    // The slots that the sums of the last turn read go back when that wait is over.
    CHECK(testing::is_found(behind, "^[^]*if %[^]*release [^]*gemm_async"));
    for (const char* name : {"q", "g"}) {
      auto pipeline = std::ranges::find(made.last.schedule.pipelines, name, &ir::Pipeline::name);
      REQUIRE(pipeline != made.last.schedule.pipelines.end());
      CHECK(pipeline->in_flight == 1);
    }
    for (const Machine& machine : {target::model::asynchronous(), target::model::without_roles(), target::model::with_lanes()})
      for (int64_t rows : {0, 1, 64, 200})
        agree(with(kGradient, "", "256"), {{rows, 64}, {rows, 64}, {100, 64}, {100, 64}, {100, 64}, {100, 64}}, machine);
    agree(with(kGradient, "[OWN = 64]"), {{200, 64}, {200, 64}, {300, 64}, {300, 64}, {300, 64}, {300, 64}});
  }

  TEST_CASE("products may be kept in their turn, and tiles that fill the registers keep them there") {
    const Shapes shapes = {{200, 64}, {200, 64}, {100, 64}, {100, 64}, {100, 64}, {100, 64}};
    std::string pinned = with(kGradient, "", "256") + "schedule gradient for model { pipeline q: q; depth 2, in_flight 0; }\n";
    CHECK(Made(pinned).count("begin_flight ") == 0);
    CHECK(Made(pinned).count("await_gemm [^\n]*in_flight=1") == 2);
    agree(pinned, shapes);
    // Four sums of 64 registers of a lane.
    CHECK(Made(with(kGradient)).count("in_flight=") == 0);
    agree(with(kGradient), shapes);
  }

  TEST_CASE("a product ends before threads write what it reads") {
    Made made{with(kTurned)};
    CHECK(made.count("begin_flight ") == 0);
    agree(with(kTurned), {{64, 64}, {200, 64}, {64, 64}});
    agree(with(kTurned), {{64, 64}, {200, 64}, {64, 64}}, target::model::without_roles());
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
    CHECK(made.last.schedule.persistent);
    CHECK(made.count("= grid_blocks") >= 1);
    CHECK_FALSE(Made(std::string(kProduct), target::model::without_roles()).last.schedule.persistent);
    // Four times as many blocks as the interpreter begins at once.
    agree(std::string(kProduct), {{200, 100}, {100, 170}, {200, 170}});
    agree(with(kChain), {{700, 64}, {100, 64}, {100, 64}, {700, 64}});
  }

  TEST_CASE("a block that goes on stores through shared memory of its own, each warp its rows, under the next one") {
    Made made{std::string(kProduct)};
    // Beside the rows that a warp sends no warp waits for another.
    CHECK(made.count("copy [^\n]*copy_class=bulk") == 1);
    CHECK(made.count("store_box ", "lower") == 1);
    CHECK(made.count("await_stores", "lower") == 2);
    CHECK(made.count("named_barrier", "lower") == 0);
    CHECK(Made(std::string(kProduct), target::model::without_roles()).count("store_box ", "lower") == 0);
    // What more than one store writes goes straight to the tensor.
    std::string twice = testing::replaced(std::string(kProduct), "C.tile\\(j, i\\) = acc;", "C.tile(j, i) = acc; C.tile(j, i) = acc * 2.0;");
    CHECK(Made(twice).count("store_box ", "lower") == 0);
    agree(std::string(kProduct), {{200, 100}, {100, 170}, {200, 170}});
    agree(std::string(kProduct), {{700, 64}, {64, 64}, {700, 64}});
  }

  TEST_CASE("a delayed product is awaited behind the first reduction of the turn") {
    std::string rows = testing::replaced(with(kChain), "let p = s \\* 0.125;", "let p = s * 0.125 + s.sum(axis = 1)[:, _];");
    Made made(rows);
    const std::string text = made.text("overlap-products");
    // From the product on that another one is under way behind.
    size_t under = text.find(", in_flight=1, atom"), reduced = text.find("= reduce.sum", under), awaited = text.find("= await_gemm ", under);
    REQUIRE(awaited != text.npos);
    CHECK(reduced < awaited);
    CHECK(awaited < text.find("= map ", reduced));
    agree(rows, kOneBlock);
  }

  TEST_CASE("blocks of unequal turns are dealt out one by one") {
    std::string causal = testing::replaced(with(kChain), "ceildiv\\(L, 64\\)", "min(ceildiv(L, 64), i + 1)");
    Made made(causal);
    CHECK(made.last.schedule.persistent);
    CHECK(made.count("for .* loop=dealt", "persist") == 1);
    CHECK(made.count("= take_block", "lower") == 1);  // of the role that fills
    CHECK(made.count("= read_block", "lower") == 1);
    CHECK(Made(with(kChain)).count("= take_block", "lower") == 0);
    agree(causal, {{700, 64}, {400, 64}, {400, 64}, {700, 64}});
    agree(causal, {{64, 64}, {400, 64}, {400, 64}, {64, 64}});
  }

  TEST_CASE("blocks of unequal turns end with their own work where no role fills") {
    std::string causal = testing::replaced(with(kChain), "ceildiv\\(L, 64\\)", "min(ceildiv(L, 64), i + 1)");
    CHECK_FALSE(Made(causal, target::model::without_roles()).last.schedule.persistent);
  }

  TEST_CASE("a tile that ends a round is stored in pieces under the products of the next one") {
    Made made{std::string(kRounds)};
    // Two pieces under two turns, and both where they may not wait.
    CHECK(made.count("copy [^\n]*label=\"of an earlier round\"") == 2);
    CHECK(made.count("store ") == 4);
    CHECK(made.count("gemm_async ") == 3);
    CHECK(made.count("barrier [^\n]*`C`") == 0);
    // The first product starts before anybody asks where the block is.
    const std::string text = made.text();
    CHECK(text.find("gemm_async") < text.rfind("block_index"));
    auto placed = std::ranges::find(made.last.schedule.placements, "C", &ir::Placement::label);
    REQUIRE(placed != made.last.schedule.placements.end());
    CHECK(placed->stage == 1);
    // Tiles inside; over edges; rows that no vector may begin in; fewer turns than pieces; none.
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{192, 256, 200}, {200, 248, 200}, {192, 250, 130}, {192, 256, 64}, {192, 256, 0}})
      agree(std::string(kRounds), {{m, k}, {k, n}, {m, n}});
    agree(std::string(kRounds), {{192, 200}, {200, 256}, {192, 256}}, target::model::without_roles());
  }

  TEST_CASE("pieces of a tile that waits go through shared memory in turn, each warp its rows, where there is room") {
    const std::string text(kRounds);
    Made made(text);
    CHECK(made.count("copy_class=bulk[^\n]*label=\"of an earlier round\"") == 2);
    CHECK(made.count("has_boxes") == 1);
    CHECK(made.count("store_box ", "lower") == 4);
    // While a warp writes a piece, the engine may still read the one before in that region; all has been read where the role ends.
    CHECK(made.count("await_stores in_flight=1", "lower") == 1);
    CHECK(made.count("await_stores", "lower") == 5);
    CHECK(made.count("named_barrier", "lower") == 0);
    // Rounds that go on and on, more of them than ways.
    agree(text, {{700, 130}, {130, 256}, {700, 256}});
    // A warp that waited for less would write over what the engine has not read.
    const Shapes shapes{{700, 130}, {130, 256}, {700, 256}};
    CHECK(fault_of(made.text("lower"), shapes) == "none");
    CHECK(fault_of(testing::replaced(made.text("lower"), "await_stores\n", "await_stores in_flight=2\n"), shapes) == "race");
    // More pieces than ways: where one is written again, the engine may still read the other.
    const std::string wide = testing::replaced(text, "BN: int = 128", "BN: int = 256");
    Made four(wide);
    CHECK(four.count("store_box ", "lower") == 8);
    CHECK(four.count("await_stores in_flight=1", "lower") == 3);
    const Shapes edge{{700, 130}, {130, 300}, {700, 300}};
    CHECK(fault_of(four.text("lower"), edge) == "none");
    CHECK(fault_of(testing::replaced(four.text("lower"), "await_stores in_flight=1", "await_stores in_flight=2"), edge) == "race");
    agree(wide, {{700, 130}, {130, 304}, {700, 304}});
    // Room for one way, or for none: then lanes store.
    auto with_stages = [&](const char* columns, const char* stages) {
      std::string changed = testing::replaced(text, "BN: int = 128", std::string("BN: int = ") + columns);
      return Made(testing::replaced(changed, "stages = 3", std::string("stages = ") + stages));
    };
    Made one = with_stages("128", "9");
    CHECK(one.count("store_box ", "lower") == 4);
    CHECK(one.count("await_stores in_flight", "lower") == 0);
    Made none = with_stages("64", "14");
    CHECK(none.count("store_box ", "lower") == 0);
    CHECK(none.count("store [^\n]*label=\"of an earlier round\"") == 1);
  }

  TEST_CASE("a schedule may have a tile stored where it stands") {
    std::string kept = std::string(kRounds) + "schedule rounds for model { place C: stage 0; }\n";
    CHECK(Made(kept).count("store ") == 1);
    // A tensor's name means a store that has a label, too.
    CHECK(Made(testing::replaced(kept, "C.tile\\(i, j\\) =", "st: C.tile(i, j) =")).count("store ") == 1);
    CHECK(Made(std::string(kRounds) + "schedule rounds for model { place C: stage 1; }\n").count("store ") == 4);
    CHECK(refusal_of(with(kChain) + "schedule chain for model { place O: stage 1; }\n") ==
          "`O` takes no tile that ends a round of blocks that go on and can wait for the next one's products");
  }

  TEST_CASE("a tile waits for no other round where the launch touches its tensor again, or where it is as wide as its sum") {
    std::string added = testing::replaced(std::string(kRounds), "out C", "inout C");
    added = testing::replaced(added, "= acc as f16", "= (acc + (C.tile[64, 128](i, j) as f32)) as f16");
    CHECK(Made(added).count("store ") == 1);
    agree(added, {{192, 200}, {200, 256}, {192, 256}});
    std::string wide = testing::replaced(std::string(kRounds), "BN: int = 128", "BN: int = 256");
    CHECK(Made(wide).count("store ") > 1);
    wide = testing::replaced(testing::replaced(wide, "C: f16", "C: f32"), " as f16", "");
    CHECK(Made(wide).count("store ") == 1);
  }
}
