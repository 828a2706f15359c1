// Blocks of a cluster that share the turns of a loop: tests/kernels/split_turns.tile. That they are right the tests of kernel files show.
#include "agreement.h"
#include "interp_fixture.h"
#include "target/cuda/machine.h"
#include "threads.h"

using namespace tilec;

namespace {

const std::string kFile = std::string(TILEC_TESTS) + "/kernels/split_turns.tile";

// A product of 64 rows a block, `options` of its launch.
struct Parts {
  std::string options = "split 4", begin = "0", before = "", turn = "a = A.tile(j, k); b = B.tile(k, i); c += a @ b;", after = "C.tile(j, i) = c;", schedule = "";
  std::string text() const {
    return "kernel product(A: f16[M, K], B: f16[K, N], Rows: f32[M], out C: f32[M, N], inout S: f32[M]) {\n launch (i in ceildiv(N, 32), j in ceildiv(M, 64)) threads 128 " + options +
           " {\n var a: shared f16[64, 64]; var b: shared f16[64, 32]; var c: fragment f32[64, 32] = " + begin + ";\n " + before +
           "\n for k in pipelined(ceildiv(K, 64), stages = 3) { " + turn + " }\n " + after + "\n }\n}\nexport product;\n" + schedule;
  }
};

// What a machine makes of the first export, behind a pass.
struct Made {
  Diagnostics diagnostics{Policy{}};
  ir::Kernel kernel;

  Made(const std::string& text, std::string_view machine, std::string_view stop_after) {
    SourceMap sources;
    Ast ast = parse(sources.add("product.tile", text), sources, diagnostics);
    Program program = analyse(ast, sources, embedded_library(), diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.all().front().message);
    const Machine& made_for = *target::machine_named(machine)->machine;
    kernel = kernel_for(program.exports.at(0), made_for);
    run_passes(kernel, made_for, diagnostics, {.stop_after = stop_after});
  }
  std::string error() const {
    for (const Diagnostic& d : diagnostics.all())
      if (d.severity == Severity::Error) return d.message;
    return "";
  }
  std::string text() const { return ir::print(kernel); }
};

std::string refused(const Parts& parts) {
  std::string said = Made(parts.text(), "sm_90a", "split-turns").error(), begin = "of a cluster: ";
  size_t at = said.find(begin);
  return at == said.npos ? said : said.substr(at + begin.size());
}

struct Judged {
  using Shapes = agreement::Shapes;
  Made typed, thread;
  explicit Judged(const std::string& options)
      : typed(Parts{.options = options, .begin = "2"}.text(), "sm_90a", "simplify"), thread(Parts{.options = options, .begin = "2"}.text(), "sm_90a", "") {
    REQUIRE(thread.error() == "");
  }
  static Shapes shapes(int64_t k) { return {{70, k}, {k, 40}, {70}, {70, 40}, {70}}; }
  static interp::RunOptions options(bool forms_clusters, uint64_t seed) {
    interp::RunOptions options{.numeric = interp::Numeric::Wide, .machine = &target::cuda::machines().back()};
    options.forms_clusters = forms_clusters, options.seed = seed;
    return options;
  }
};

}  // namespace

TEST_SUITE("split turns") {
  TEST_CASE("blocks leave their sums, read rows of all, and meet as they begin alone") {
    Threads threads(kFile);
    for (auto [name, blocks] : {std::pair("shares_2", 2), {"shares_4", 4}, {"shares_8", 8}, {"shares_pinned", 4}}) {
      CAPTURE(name);
      std::string text = threads.of(name, "sm_90a");
      CHECK(count(text, "cluster=[1, 1, " + std::to_string(blocks) + "]") == 1);
      CHECK(count(text, "cluster_barrier") == 1);
      CHECK(count(text, "phase_wait") >= 4);
      CHECK(count(text, "of_cluster=true") == 6);  // twice told, to all or to oneself, and awaited
      CHECK(count(text, "peer=") % size_t(blocks) == 0);
      CHECK(count(text, "peer=") > 0);
    }
    // Two sums of a loop have places and phases of their own.
    CHECK(count(threads.of("shares_gated", "sm_90a"), "of_cluster=true") == 12);
  }

  TEST_CASE("machines without clusters run all turns") {
    Threads threads(kFile);
    for (const char* machine : {"sm_80", "model", "x86-64-v3"}) {
      CAPTURE(machine);
      CHECK(count(threads.of("shares_4", machine), "cluster") == 0);
      CHECK(count(threads.of("shares_4", machine), "split") == 0);
    }
  }

  TEST_CASE("what follows is done for the rows of a block") {
    Made made(Parts{.before = "let rows = Rows.tile[64](j);", .after = "let d = c * rows[:, _]; C.tile(j, i) = d;"}.text(), "sm_90a", "split-turns");
    CHECK(made.error() == "");
    std::string text = made.text();
    CHECK(count(text, "cluster_sum") == 1);
    CHECK(count(text, ": tile<16x32 f32>") >= 2);
    CHECK(count(text, ": tile<16 f32>") == 1);  // read anew, and not as a whole
    CHECK(count(text, ": tile<64 f32>") == 0);
  }

  TEST_CASE("what the sums begin with is added once") {
    std::string text = Made(Parts{.begin = "2"}.text(), "sm_90a", "split-turns").text();
    CHECK(count(text, "cluster_sum") == 1);
    CHECK(count(text, "constant 2.0 : f32") + count(text, "constant 2 : f32") == 1);
    CHECK(count(text, "constant 0.0 : f32") + count(text, "constant 0 : f32") == 1);
  }

  TEST_CASE("a schedule goes before a launch, and says what came of it") {
    const std::string pinned = "schedule product for sm_90a { split 2; }\n";
    for (const char* options : {"", "split 8", "split 2"}) {
      CAPTURE(options);
      Made made(Parts{.options = options, .schedule = pinned}.text(), "sm_90a", "share-copies");
      CHECK(made.error() == "");
      CHECK(made.kernel.schedule.split == 2);
      CHECK(made.kernel.schedule.cluster.empty());
      CHECK(count(made.text(), "cluster=[1, 1, 2]") == 1);
    }
    Made none(Parts{.schedule = "schedule product for sm_90a { split 1; }\n"}.text(), "sm_90a", "share-copies");
    CHECK(count(none.text(), "cluster_sum") == 0);
    CHECK(none.kernel.schedule.split == 1);
  }

  TEST_CASE("blocks that have the same turns copy for each other") {
    Made made(Parts{.options = "split 2 cluster (2, 2)"}.text(), "sm_90a", "");
    REQUIRE(made.error() == "");
    CHECK(made.kernel.schedule.split == 2);
    CHECK(made.kernel.schedule.cluster == ir::Ints{2, 2});
    std::string text = made.text();
    CHECK(count(text, "cluster=[2, 2, 2]") == 1);
    CHECK(count(text, "arrivals=16") == 3);  // of four warps of four blocks, at each slot
    CHECK(count(text, "arrivals=8") == 2);   // of two blocks, at sums
    CHECK(count(text, "peers=") > 0);
    // The tile of one column of blocks cannot be shared along it, so the launch has no cluster but its split.
    Made alone(Parts{.options = "split 2 cluster (1, 3)", .turn = "a = A.tile(j, k); b = B.tile(k + j, i); c += a @ b;"}.text(), "sm_90a", "share-copies");
    CHECK(alone.error() == "");
    CHECK(count(alone.text(), "cluster=[1, 1, 2]") == 1);
  }

  TEST_CASE("what cannot be shared is refused, with the reason") {
    CHECK(refused({}) == "");
    CHECK(refused({.options = "split 16"}) == "a cluster of sm_90a has at most 8 blocks");
    CHECK(refused({.options = "split 4 cluster (2, 2)"}) == "a cluster of sm_90a has at most 8 blocks");
    CHECK(refused({.schedule = "schedule product for sm_90a { cluster (1, 1, 2); }\n"}) == "a cluster has more axes than the launch");
    CHECK(refused({.options = "split 2 persistent"}) == "its blocks go on from one to the next");
    CHECK(refused({.schedule = "schedule product for sm_90a { persistent; }\n"}) == "the schedule has blocks go on from one to the next");
    CHECK(refused({.options = "split 3"}) == "`c` does not fall into 3 parts of rows of four bytes an element or more");
    CHECK(refused({.turn = "a = A.tile(j, k); b = B.tile(k, i); c = max(c, a @ b);"}) == "the loop carries `c`, which is no sum of products");
    CHECK(refused({.turn = "a = A.tile(j, k); b = B.tile(k, i); c += a @ b; c = c * 0.5;"}) == "the loop carries `c`, which is no sum of products");
    CHECK(refused({.before = "a = 0;", .turn = "if k == 0 { a = A.tile(j, k); } b = B.tile(k, i); c += a @ b;"}).starts_with("a turn may find in `a`"));
    CHECK(refused({.after = "C.tile(j, i) = c - c.sum(axis = 0)[_, :];"}) == "'reduce' goes along the rows that the blocks share");
    CHECK(refused({.before = "atomic_add(S[j], 1.0);"}).ends_with("stands in front of the loop"));
    CHECK(refused({.after = "C.tile(j, i) = c; for r in parallel(64) { if j * 64 + r < M { atomic_add(S[j * 64 + r], 1.0); } }"}).ends_with("behind the loop does not depend on its sum"));
    CHECK(refused({.turn = "a = A.tile(j, k); b = B.tile(k, i);", .after = ""}) == "the launch has no loop of matrix products");
  }

  TEST_CASE("a split launch is expected to take a part of the turns, to meet and to move its sums") {
    auto clocks = [](std::string_view options, double k) {
      Made made(Parts{.options = std::string(options)}.text(), "sm_90a", "estimate");
      REQUIRE(made.error() == "");
      return made.kernel.estimates.at(0).clocks.evaluate([&](const auto& node) { return made.kernel.dims.at(node.a).name == "K" ? k : 64.0; });
    };
    // By how much a turn more of every block comes dearer: all of them, or a quarter; the least that is rounded up to.
    double turn = clocks("", 64 * 41) - clocks("", 64 * 40);
    CHECK(turn > 0);
    CHECK(clocks("split 4", 64 * 44) - clocks("split 4", 64 * 40) == doctest::Approx(turn));
    CHECK(clocks("split 4", 64 * 41) == doctest::Approx(clocks("split 4", 64 * 44)));
    // Few turns are no reason to meet, many are.
    CHECK(clocks("split 4", 64) > clocks("", 64));
    CHECK(clocks("split 4", 64 * 64) < clocks("", 64 * 64));
  }

  TEST_CASE("a requirement of it is met, or missed") {
    auto missed = [](const Parts& parts, std::string_view machine) { return Made(parts.text(), machine, "check-requirements").error(); };
    CHECK(missed({.schedule = "schedule product { require split; }\n"}, "sm_90a") == "");
    CHECK(missed({.options = "", .schedule = "schedule product { require split; }\n"}, "sm_90a") ==
          "the schedule requires `split`, and on `sm_90a` each block of this launch runs all turns of its loops");
    CHECK(missed({.schedule = "schedule product { require split; }\n"}, "sm_80") == "the schedule requires `split`, and on `sm_80` no block reaches another one's shared memory");
  }

  TEST_CASE("blocks compute the same as a cluster, by themselves, and in any order") {
    for (const char* launch : {"split 4", "split 2 cluster (2, 2)"}) {
      CAPTURE(launch);
      const Judged judged(launch);
      // No turn, fewer than there are blocks, and shares that are not even.
      for (int64_t k : {0, 40, 130, 392}) {
        Judged::Shapes shapes = Judged::shapes(k);
        agreement::Data want = agreement::data_for(judged.typed.kernel, shapes);
        REQUIRE(interp::run(judged.typed.kernel, want.arguments, {.numeric = interp::Numeric::Wide}).ok());
        for (bool forms_clusters : {true, false})
          for (uint64_t seed : {1, 2, 3, 4}) {
            agreement::Data got = agreement::data_for(judged.typed.kernel, shapes);
            interp::RunResult result = interp::run(judged.thread.kernel, got.arguments, Judged::options(forms_clusters, seed));
            REQUIRE_MESSAGE(result.ok(), result.fault->text);
            for (int64_t i = 0; i < want.tensors[3].size(); ++i) REQUIRE(std::fabs(got.tensors[3].real(i) - want.tensors[3].real(i)) <= 1e-3);
          }
      }
    }
  }

  // Without a wait blocks read what is not there yet, or leave while others read.
  TEST_CASE("what blocks wait for is judged") {
    const Judged judged("split 4");
    const std::string whole = judged.thread.text();
    for (size_t at : {whole.find("phase_wait", whole.find("of_cluster=true")), whole.rfind("phase_wait")}) {
      std::string text = whole;
      text.erase(at, text.find('\n', at) - at);
      ir::Kernel kernel = interp::kernel_of(text);
      bool is_found = false;
      for (uint64_t seed = 1; seed <= 8 && !is_found; ++seed) {
        agreement::Data data = agreement::data_for(judged.typed.kernel, Judged::shapes(392));
        is_found = !interp::run(kernel, data.arguments, Judged::options(true, seed)).ok();
      }
      CHECK(is_found);
    }
  }
}
