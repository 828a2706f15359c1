// Blocks of a cluster: which copies they share, where they form none, and that they compute what blocks by themselves do.

#include "agreement.h"
#include "patterns.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/cuda/machine.h"
#include "target/target.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

const Machine& with_clusters() { return target::cuda::machines().back(); }

// The first export, what each of its copies shares, and what was said of it.
struct Made {
  SourceMap sources;
  Diagnostics diagnostics;
  Ast ast;
  Program program;
  ir::Kernel typed, thread;
  std::map<std::string, ir::Ints> shared;  // axes, by the tile that is filled
  bool is_done = false;

  static Policy all_remarks() {
    Policy policy;
    policy.all_remarks = true;
    return policy;
  }
  explicit Made(const std::string& text, const Machine& machine = with_clusters()) : diagnostics(all_remarks()) {
    ast = parse(sources.add("clusters.tile", text), sources, diagnostics);
    program = analyse(ast, sources, embedded_library(), diagnostics);
    if (diagnostics.has_errors()) return;
    typed = thread = kernel_for(program.exports.at(0), machine);
    PassOptions passes;
    passes.after = [&](const Pass& pass, const ir::Kernel& now) {
      if (pass.name == "share-copies") note_copies(now);
    };
    is_done = run_passes(thread, machine, diagnostics, passes);
  }
  // "": nothing by that name was said.
  std::string said(std::string_view name) const {
    for (const Diagnostic& d : diagnostics.all())
      if (d.name == name) return d.message;
    return "";
  }
  // Of the launch, in Thread form.
  ir::Ints cluster() const {
    ir::Ints found;
    each_op(thread, thread.body, [&](ir::OpId id) {
      if (const auto* launch = thread.op(id).get<ir::op::Launch>()) found = launch->cluster;
    });
    return found;
  }

 private:
  void note_copies(const ir::Kernel& now) {
    each_op(now, now.body, [&](ir::OpId id) {
      const auto* copy = now.op(id).get<ir::op::CopyAsync>();
      if (!copy) return;
      auto [at, is_new] = shared.try_emplace(now.value(copy->dst).hint, copy->shared_axes);
      CHECK_MESSAGE(at->second == copy->shared_axes, "all turns of `" << at->first << "` are alike");
    });
  }
};

// `turns` of the loop over k in tiles of `depth`; `options`: of the launch.
std::string product(const std::string& options, const std::string& turns = "ceildiv(K, 64)", int n = 32, int depth = 64) {
  const std::string columns = std::to_string(n), deep = std::to_string(depth);
  return "kernel product(A: f16[M, K], B: f16[K, N], out C: f32[M, N], count: i32[1]) {\n    launch (i in ceildiv(N, " + columns +
         "), j in ceildiv(M, 64)) threads 128 " + options + " {\n        var a: shared f16[64, " + deep + "];\n        var b: shared f16[" + deep + ", " +
         columns + "];\n        var c: fragment f32[64, " + columns + "] = 0;\n        for k in pipelined(" + turns +
         ", stages = 3) {\n            a = A.tile(j, k);\n            b = B.tile(k, i);\n            c += a @ b;\n        }\n        C.tile(j, i) = c;\n    }\n}\n" +
         "export product;\n";
}

// A batch; `weight`: of B, whose tiles are `tile`.
std::string batch(const std::string& options, const std::string& weight, const std::string& tile, const std::string& turns = "ceildiv(K, 64)") {
  return "kernel batch(A: f16[Z, M, K], B: " + weight + ", out C: f32[Z, M, N]) {\n    launch (i in ceildiv(N, 32), j in ceildiv(M, 64), z in Z) threads 128 " +
         options + R"( {
        var a: shared f16[64, 64];
        var b: shared f16[64, 32];
        var c: fragment f32[64, 32] = 0;
        for k in pipelined()" + turns + R"(, stages = 2) {
            a = A[z].tile(j, k);
            b = )" + tile + R"(;
            c += a @ b;
        }
        C[z].tile(j, i) = c;
    }
}
export batch;
)";
}

// Of 7 products of 64 rows, 896 clocks, a turn reads 8 KB that all blocks of a row read and adds 16 KB to what they all add to. `turns`: of the outer loop.
std::string adding(const std::string& turns, const std::string& sum = "atomic_add(sums[h, i * 64 + r, d], part[r, d], order = relaxed);") {
  return R"(
kernel adding(Q: f16[H, S, 64], K: f16[L, 64], W: f16[64, 64], inout sums: f32[H, S, 64], out dK: f32[G, L, 64], out dV: f32[G, L, 64]) requires H == 2 * G {
    launch (j in ceildiv(L, 128), g in G) threads 256 {
        var k: shared f16[128, 64] = K.tile(j, 0);
        var w: shared f16[64, 64] = W.tile(0, 0);
        var q: shared f16[64, 64];
        var dk: fragment f32[128, 64] = 0;
        var dv: fragment f32[128, 64] = 0;
        for h in )" + turns + R"( {
            for i in pipelined(ceildiv(S, 64), stages = 2) {
                q = Q[h].tile(i, 0);
                let s = (k @ q.T) as f16;
                let part = q @ w;
                dk += s @ q;
                dv += s @ q;
                for (r, d) in parallel(64, 64) { if i * 64 + r < S { )" + sum + R"( } }
            }
        }
        dK[g].tile(j, 0) = dk;
        dV[g].tile(j, 0) = dv;
    }
}
export adding;
)";
}

using Axes = ir::Ints;

}  // namespace

TEST_SUITE("clusters") {
  TEST_CASE("a copy is shared along the axes of the launch that it does not depend on") {
    const std::string own = "f16[Z, K, N]", one = "f16[K, N]", own_tile = "B[z].tile(k, i)", one_tile = "B.tile(k, i)";
    struct Case { std::string text; Axes cluster, a, b; };
    const Case cases[] = {
        {product("cluster (2, 1)"), {2, 1}, {0}, {}},
        {product("cluster (1, 2)"), {1, 2}, {}, {1}},
        {product("cluster (2, 2)"), {2, 2}, {0}, {1}},
        {product("cluster (2)"), {2, 1}, {0}, {}},
        {product("") + "schedule product for sm_90a { cluster (4, 2); }\n", {4, 2}, {0}, {1}},
        {product("cluster (2, 1)") + "schedule product for sm_90a { cluster (1, 2); }\n", {1, 2}, {}, {1}},
        {batch("cluster (1, 2, 2)", one, one_tile), {1, 2, 2}, {}, {1, 2}},
        {batch("cluster (1, 2, 2)", own, own_tile), {1, 2, 2}, {}, {1}},
        {batch("cluster (2, 2, 2)", one, one_tile), {2, 2, 2}, {0}, {1, 2}},
        // The number of turns may depend on what is the same for all blocks of a cluster.
        {batch("cluster (2, 2)", own, own_tile, "z + 1"), {2, 2, 1}, {0}, {1}},
    };
    for (const Case& c : cases) {
      CAPTURE(c.text);
      Made made(c.text);
      CHECK(made.is_done);
      CHECK(made.shared.at("a") == c.a);
      CHECK(made.shared.at("b") == c.b);
      CHECK(made.cluster() == c.cluster);
      CHECK(made.said("NothingShared") == "");
      CHECK(made.said("CopyShared") != "");
    }
    CHECK(Made(product("cluster (4, 2)")).said("CopyShared") == "the engine copies `a` once for 4 blocks of a cluster");
  }

  TEST_CASE("blocks form clusters where turns move more bytes than the caches give, additions in both directions") {
    CHECK(Made(adding("0..2")).cluster() == Axes{2, 1});
    CHECK(Made(adding("0..2", "")).cluster().empty());
    // 24 KB, were they read or written once.
    CHECK(Made(adding("0..2")).shared.at("q") == Axes{0});
    // As many turns for neighbours along the axis is enough; along the other one they have others.
    CHECK(Made(adding("g * 2..(g + 1) * 2")).cluster() == Axes{2, 1});
    CHECK(Made(adding("0..min(j + 1, 2)")).cluster() != Axes{2, 1});
  }

  TEST_CASE("what falls into parts along rows, panels or whole arrays is shared, and nothing else") {
    // Of 64 rows of 128 bytes a swizzle repeats after 8; three blocks divide no rows, but three panels.
    CHECK(Made(product("cluster (8, 1)")).shared.at("a") == Axes{0});
    CHECK(Made(product("cluster (1, 3)", "ceildiv(K, 16)", 192, 16)).shared.at("b") == Axes{1});
    CHECK(Made(product("cluster (1, 3)", "ceildiv(K, 64)", 128)).said("NothingShared") ==
          "the blocks of this launch form no clusters: `b` does not fall into 3 parts that the engine copies");
    // What one tile does not give another may.
    Made some(product("cluster (3, 2)"));
    CHECK(some.shared.at("a").empty());
    CHECK(some.shared.at("b") == Axes{1});
    CHECK(some.cluster() == Axes{3, 2});
  }

  TEST_CASE("blocks that share nothing form no clusters, and the remark says why") {
    const std::string lanes = testing::replaced(product("cluster (1, 2)"), "K, N\\]", "K, N; 1, ldb]");
    // The same tile at every turn.
    auto turned = [](const std::string& turns) { return testing::replaced(product("cluster (1, 2)", turns), "tile\\(k, i", "tile(0, i"); };
    const std::string whole = "kernel whole(A: f16[M, 64], out C: f32[M, 64]) { launch (i in ceildiv(M, 64), j in 2) threads 128 cluster (1, 2) {\n"
                              "  var a: shared f16[64, 64] = A.tile(i, 0);\n  if j == 0 { C.tile(i, 0) = a @ a.T; } } } export whole;";
    struct Case { std::string text, why; };
    const Case cases[] = {
        {lanes, "the engine does not copy `b`"},
        {batch("cluster (1, 1, 2)", "f16[Z, K, N]", "B[z].tile(k, i)"), "each of them copies a `b` of its own"},
        {turned("j + 1"), "how often `b` is copied depends on the block"},
        {turned("if j % 2 == 0 { 1 } else { 2 }"), "how often `b` is copied depends on the block"},
        {turned("count[0] as int"), "how often `b` is copied depends on the block"},
        {product("cluster (1, 3)"), "`b` does not fall into 3 parts that the engine copies"},
        {whole, "no copy of it runs ahead of what reads it"},
    };
    for (const Case& c : cases) {
      CAPTURE(c.text);
      Made made(c.text);
      CHECK(made.is_done);
      CHECK(made.said("NothingShared") == "the blocks of this launch form no clusters: " + c.why);
      CHECK(made.said("CopyShared") == "");
      CHECK(made.cluster().empty());
      CHECK(ir::print(made.thread).find("cluster") == std::string::npos);
    }
  }

  // Blocks that wait for each other at every turn must have as many.
  TEST_CASE("loops whose turns depend on the block run by themselves") {
    for (const char* turns : {"min(j + 1, ceildiv(K, 64))", "min(count[0] as int, ceildiv(K, 64))"}) {
      CAPTURE(turns);
      Made made(product("cluster (1, 2)", turns));
      CHECK(made.is_done);
      CHECK(made.said("NothingShared") != "");
      CHECK(made.cluster().empty());
      CHECK(Made(product("cluster (2, 1)", turns)).shared.at("a") == (turns[4] == 'j' ? Axes{0} : Axes{}));
    }
  }

  TEST_CASE("clusters that no machine forms are refused") {
    CHECK(Made(product("cluster (4, 4)")).said("ScheduleRefused") ==
          "the schedule cannot be kept: a cluster has 16 blocks, and one of sm_90a at most 8");
    CHECK(Made(product("cluster (4294967296, 4294967296)")).said("ScheduleRefused").find("at most 8") != std::string::npos);
    CHECK(Made(product("") + "schedule product for sm_90a { cluster (1, 1, 2); }\n").said("ScheduleRefused") ==
          "the schedule cannot be kept: a cluster has 3 axes, and the launch 2");
    CHECK(Made(product("cluster (1, 1, 2)")).said("NotAllowedHere") == "a cluster with more axes than its launch is not allowed here");
  }

  TEST_CASE("machines whose blocks are all on their own say nothing of clusters") {
    for (const char* name : {"sm_80", "x86-64-v3", "model"})
      for (const char* options : {"cluster (2, 1)", "cluster (4, 4)"}) {
        CAPTURE(name);
        Made made(product(options), *target::machine_named(name)->machine);
        CHECK(made.is_done);
        for (const char* remark : {"ScheduleRefused", "CopyShared", "NothingShared"}) CHECK(made.said(remark) == "");
        CHECK(made.cluster().empty());
      }
  }

  TEST_CASE("blocks compute the same as a cluster, by themselves, and in any order") {
    struct Case { std::string text; Shapes shapes; };
    const Case cases[] = {
        // Grids of 2 x 2 blocks, and of 3 x 2; fewer turns than slots, none at all, and many.
        {product("cluster (2, 2)"), {{128, 72}, {72, 64}, {128, 64}, {1}}},
        {product("cluster (2, 2)"), {{70, 328}, {328, 40}, {70, 40}, {1}}},
        {product("cluster (2, 2)"), {{70, 0}, {0, 40}, {70, 40}, {1}}},
        {product("cluster (2, 2)"), {{70, 136}, {136, 72}, {70, 72}, {1}}},
        {product("cluster (4, 2)"), {{70, 136}, {136, 104}, {70, 104}, {1}}},
        // Two panels each of which a block copies; tensors that the engine does not take.
        {product("cluster (1, 2)", "ceildiv(K, 16)", 128, 16), {{70, 72}, {72, 120}, {70, 120}, {1}}},
        {product("cluster (2, 2)"), {{70, 137}, {137, 40}, {70, 40}, {1}}},
        {batch("cluster (1, 2, 2)", "f16[K, N]", "B.tile(k, i)"), {{2, 70, 136}, {136, 24}, {2, 70, 24}}},
        {batch("cluster (2, 2)", "f16[Z, K, N]", "B[z].tile(k, i)", "min(z + 1, ceildiv(K, 64))"), {{3, 70, 136}, {3, 136, 40}, {3, 70, 40}}},
    };
    for (const Case& c : cases) {
      CAPTURE(c.text);
      CAPTURE(c.shapes);
      Made made(c.text);
      REQUIRE(made.is_done);
      Data want = data_for(made.typed, c.shapes);
      interp::RunOptions options{.numeric = interp::Numeric::Wide};
      REQUIRE(interp::run(made.typed, want.arguments, options).ok());
      options.machine = &with_clusters();
      for (bool forms_clusters : {true, false})
        for (interp::Completion completion : {interp::Completion::Late, interp::Completion::Early})
          for (uint64_t seed : {1, 2, 3, 4}) {
            options.forms_clusters = forms_clusters, options.completion = completion, options.seed = seed;
            Data got = data_for(made.typed, c.shapes);
            interp::RunResult result = interp::run(made.thread, got.arguments, options);
            REQUIRE_MESSAGE(result.ok(), result.fault->text);
            for (int64_t k = 0; k < want.tensors[2].size(); ++k)
              REQUIRE(std::fabs(got.tensors[2].real(k) - want.tensors[2].real(k)) <= 1e-3 * std::max(1.0, std::fabs(want.tensors[2].real(k))));
          }
    }
  }
}
