// Instances of one export: formulas, what is compiled for whom, and which one a call would take.
#include <doctest/doctest.h>

#include "command.h"
#include "ir/formula.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/target.h"

using namespace tilec;
using ir::Formula;

namespace {

constexpr const char* kProduct = R"(
kernel product[BM: int = 128, BN: int = 256, BK: int = 64, Threads: int = 256](A: f16[M, K], B: f16[K, N], out C: f16[M, N]) {
    launch (i in ceildiv(N, BN), j in ceildiv(M, BM)) threads Threads {
        var a: shared f16[BM, BK];
        var b: shared f16[BK, BN];
        var acc: fragment f32[BM, BN] = 0;
        for k in pipelined(ceildiv(K, BK), stages = 4) {
            a = A.tile(j, k);
            b = B.tile(k, i);
            acc += a @ b;
        }
        C.tile(j, i) = acc as f16;
    }
}
export product | product[BM = 64, BN = 64, BK = 128, Threads = 128] as f;
export product[BM = 64, BN = 64] as g;
export product | product[BM = 64, BN = 128, BK = 128] | product[BM = 16, BN = 64, BK = 128, Threads = 128]
    | product[BM = 64, BN = 128, BK = 128, Threads = 128] as narrow;
)";

struct Built {
  SourceMap sources;
  Diagnostics diagnostics{Policy{}};
  Ast ast;
  Program program;
  std::optional<Compiled> compiled;

  explicit Built(std::vector<std::string_view> machines) {
    ast = parse(sources.add("product.tile", kProduct), sources, diagnostics);
    program = analyse(ast, sources, embedded_library(), diagnostics);
    CompileRequest request{.prefix = {}, .compiler = "tilec", .library = "product"};
    for (std::string_view name : machines) request.machines.push_back(target::machine_named(name)->machine);
    compiled = compile(program, request, sources, diagnostics);
    REQUIRE(compiled);
  }
  double clocks(size_t instance, double m, double n, double k, size_t of_export = 0) const {
    const target::Instance& of = compiled->program.exports[of_export].instances[instance];
    return of.clocks->evaluate([&](const Formula::Node& node) {
      const std::string& name = of.kernel->dims[node.a].name;
      return name == "M" ? m : name == "N" ? n : k;
    });
  }
};

}  // namespace

TEST_SUITE("instances") {
  TEST_CASE("a formula computes what it says") {
    ir::Kernel kernel;
    kernel.dims = {{"M", {}, {}, {}}, {"N", {}, {}, {}}};
    Formula m = Formula::dim(0), n = Formula::dim(1);
    auto at = [&](const Formula& f) { return f.evaluate([](const Formula::Node& node) { return node.a == 0 ? 100.0 : -7.5; }); };
    struct Case {
      Formula formula;
      double value;
      const char* text;
    };
    for (const Case& c : {Case{ceil(m / 64.0) * (n + 1.0), -13, "ceil(M / 64) * (N + 1)"}, Case{m - (n - 2.0), 109.5, "M - (N - 2)"}, Case{m / (n * 2.0), 100 / -15.0, "M / (N * 2)"},
                          Case{max(floor(n), min(m, 3.0)) / 2.0, 1.5, "max(floor(N), min(M, 3)) / 2"}, Case{ceil(ceil(n)), -7, "ceil(N)"}, Case{m * 1.0 + 0.0, 100, "M"},
                          Case{Formula(2.0) * 3.0 + 0.5, 6.5, "6.5"}, Case{m - n - m, 7.5, "M - N - M"}, Case{m / 2.0 / n, 100 / 2.0 / -7.5, "M / 2 / N"}}) {
      CHECK(at(c.formula) == doctest::Approx(c.value));
      CHECK(c.formula.text(kernel) == c.text);
    }
    CHECK((Formula(2.0) * 3.0).is_number());
  }

  TEST_CASE("machines that say how fast they are have all instances, the others the first; the best machine stands first") {
    Built built({"sm_90a", "sm_80", "x86-64-v3"});
    REQUIRE(built.program.exports.size() == 9);
    REQUIRE(built.compiled->program.exports.size() == 3);
    std::string machines;
    for (const target::Instance& i : built.compiled->program.exports[0].instances) machines += std::string(i.machine->name) + (i.clocks ? "* " : " ");
    CHECK(machines == "sm_90a* sm_90a* sm_90a* sm_80 x86-64-v3 ");
    const host::Export& described = built.compiled->library.exports[0];
    REQUIRE(described.variants.size() == 5);
    CHECK(described.variants[1].instance == "product[BM = 64, BN = 64, BK = 128, Threads = 128]");
    CHECK(described.variants[1].clocks.find("ceil(M / 64)") != std::string::npos);
    CHECK(described.variants[2].instance == "product[BM = 128, BN = 256, BK = 64, Threads = 256] wide");
    CHECK(described.variants[3].instance == "");
    // One alone is never weighed.
    CHECK_FALSE(built.compiled->program.exports[1].instances[0].clocks);
    CHECK(built.compiled->program.exports[1].name == "g");
  }

  TEST_CASE("what a machine has too little memory for is left out there, as long as another instance remains") {
    command::Folder folder;
    const std::string kernel = std::string(kProduct).substr(0, std::string(kProduct).find("export"));
    folder.write("k.tile", kernel + "export product[BK = 256] | product[BK = 128] | product[BK = 64, BN = 64] as f;\nexport product[BK = 64, BN = 64] as g;\n");
    auto machines = [&](const std::string& targets) {
      command::Ran ran = folder.tilec("k.tile --target=" + targets + " --emit=manifest -o -");
      CHECK_MESSAGE(ran.code == 0, ran.out);
      return ran.out.substr(0, ran.out.find("\"g\""));
    };
    // All three are for sm_90a; sm_80 has 163 KiB, where the first needs 192.
    std::string of_90 = machines("sm_90a"), of_80 = machines("sm_80");
    auto names = [](const std::string& text, const std::string& name) { return text.find("\"instance\": \"" + name) != std::string::npos; };
    for (const char* name : {"product[BN = 256, BK = 256]", "product[BN = 256, BK = 128]", "product[BN = 64, BK = 64]"}) CHECK_MESSAGE(names(of_90, name), of_90);
    CHECK_MESSAGE(!names(of_80, "product[BN = 256, BK = 256]"), of_80);
    CHECK_MESSAGE(names(of_80, "product[BN = 256, BK = 128]"), of_80);
    CHECK_MESSAGE(!names(of_80, "product[BN = 64, BK = 64]"), of_80);
    CHECK_MESSAGE(of_80.find("ceil(") == std::string::npos, of_80);  // one alone is never weighed

    command::Ran ran = folder.tilec("k.tile --target=sm_80 --emit=ptx -o -");
    CHECK_MESSAGE(ran.code == 0, ran.out);
    CHECK_MESSAGE(ran.times(".visible .entry") == 2, ran.out);

    ran = folder.tilec("explain k.tile --target=sm_80");
    CHECK_MESSAGE(ran.code == 0, ran.out);
    CHECK_MESSAGE(ran.says("kernel product[BN = 256, BK = 256] as f on sm_80\nleft out: `product` needs"), ran.out);
    CHECK_MESSAGE(ran.times("\nlaunch at") == 2, ran.out);
    ran = folder.tilec("run k.tile --target=sm_80 --kernel f --dim M=16,N=16,K=16 --form thread");
    CHECK_MESSAGE(ran.code == 0, ran.out);
    CHECK_MESSAGE(ran.times("left out:") == 1, ran.out);
    CHECK_MESSAGE(folder.tilec("k.tile --target=sm_80 --emit=schedule -o -").code == 0, "schedules");

    // Where none remains, each is an error that says which one it is.
    folder.write("k.tile", kernel + "export product[BK = 256] | product[BK = 512] as f;\n");
    ran = folder.tilec("k.tile --target=sm_80 --emit=ptx -o -");
    CHECK(ran.code != 0);
    CHECK_MESSAGE(ran.says("in the instance `product[BK = 256]` made here"), ran.out);
    CHECK_MESSAGE(ran.says("in the instance `product[BK = 512]` made here"), ran.out);
    CHECK(folder.tilec("explain k.tile --target=sm_80").code != 0);
    // What has nothing to do with memory is never passed over.
    folder.write("k.tile", kernel + "export product[BK = 256] | product as f;\nschedule product[BK = 256] { pipeline p { tiles a, b; depth 99 } }\n");
    CHECK(folder.tilec("k.tile --target=sm_90a --emit=ptx -o -").code != 0);
  }

  TEST_CASE("small products are expected to be faster in small tiles, large ones in large") {
    Built built({"sm_90a"});
    for (double n : {64.0, 512.0}) CHECK(built.clocks(1, n, n, n) < built.clocks(0, n, n, n));
    for (double n : {2048.0, 4096.0, 16384.0}) CHECK(built.clocks(0, n, n, n) < built.clocks(1, n, n, n));
    CHECK(built.clocks(1, 16, 7168, 2048) < built.clocks(0, 16, 7168, 2048));
    // A product of 8192^3 takes at least what its multiplications do on all cores, and not twice that.
    const Machine& machine = *target::machine_named("sm_90a")->machine;
    double least = 8192.0 * 8192 * 8192 * 2 / double(machine.product_rate) / machine.cores;
    CHECK(built.clocks(0, 8192, 8192, 8192) > least);
    CHECK(built.clocks(0, 8192, 8192, 8192) < 1.5 * least);
  }

  // The code that counts slots along is judged by the agreement of all forms; here, that nothing divides where a ring turns.
  TEST_CASE("of instances that wait for device memory alike, the one is expected to be faster that moves less through caches") {
    Built built({"sm_90a"});
    for (double n : {8192.0, 28672.0})
      for (size_t other : {0, 1}) {
        CHECK(built.clocks(2, 16, n, 8192, 2) < built.clocks(other, 16, n, 8192, 2));
        CHECK(built.clocks(2, 128, n, 8192, 2) > built.clocks(other, 128, n, 8192, 2));
      }
    CHECK(built.clocks(1, 64, 8192, 8192, 2) < built.clocks(2, 64, 8192, 8192, 2));
  }

  TEST_CASE("one group of warps begins sooner than roles; where few blocks read the same, those that share it are faster") {
    Built built({"sm_90a"});
    CHECK(built.clocks(3, 1024, 1024, 1024, 2) < built.clocks(1, 1024, 1024, 1024, 2));
    CHECK(built.clocks(3, 128, 7168, 2048, 2) > built.clocks(1, 128, 7168, 2048, 2));
    CHECK(built.clocks(3, 256, 4096, 4096, 2) > built.clocks(1, 256, 4096, 4096, 2));
  }

  TEST_CASE("blocks that copy for each other two by two are taken where rows straddle lines and as many rounds are enough") {
    Built built({"sm_90a"});
    auto gain = [&](double m, double n, double k) { return built.clocks(0, m, n, k) / built.clocks(2, m, n, k); };
    // 480 tiles are four rounds of 132 blocks and of 120. Rows of both tensors begin within lines, of one, of none.
    const double both = gain(3000, 5000, 7000), of_a = gain(3072, 5120, 7000), of_b = gain(3072, 5000, 7040);
    CHECK(both > 1.01);
    CHECK(both < 1.03);
    CHECK(of_a > 1.005);
    CHECK(of_b == 1);  // of which pairs copy as little
    CHECK(gain(3072, 5120, 7040) == 1);  // and the first is taken
    // Five rounds instead of four; a grid that is cut by pairs alone, and by none.
    CHECK(gain(4096, 4096, 4096) < 0.85);
    CHECK(gain(4000, 4000, 4000) < 0.85);
    CHECK(gain(3000, 4804, 7000) < 1);
    CHECK(gain(2900, 4804, 7000) == 1);
    // What begins within a line costs, however many copy for each other.
    CHECK(built.clocks(0, 3000, 5000, 7000) > built.clocks(0, 3072, 5120, 7040));
  }

  TEST_CASE("no loop divides by the depth of its ring") {
    SourceMap sources;
    Diagnostics diagnostics{Policy{}};
    std::string text = kProduct;
    text.replace(text.find("stages = 4"), 10, "stages = 3");
    Ast ast = parse(sources.add("product.tile", text), sources, diagnostics);
    Program program = analyse(ast, sources, embedded_library(), diagnostics);
    const Machine& machine = *target::machine_named("sm_90a")->machine;
    ir::Kernel kernel = kernel_for(program.exports.at(3), machine);
    int before = 0, behind = 0, loops = 0;
    PassOptions passes;
    passes.after = [&](const Pass& pass, const ir::Kernel& now) {
      if (pass.name != "cleanup" && pass.name != "count-slots") return;
      std::vector<ir::ValueId> used;
      ir::each_op(now, now.body, [&](ir::OpId id) {
        const ir::op::For* loop = now.op(id).get<ir::op::For>();
        if (!loop) return;
        for (ir::OpId inner : now.region(loop->body).ops) {
          if (const auto* wait = now.op(inner).get<ir::op::PhaseWait>()) {
            ++loops;
            const auto* slot = now.defined_by<ir::op::Binary>(wait->index);
            (pass.name == "cleanup" ? before : behind) += slot && slot->fn == ir::BinaryFn::Rem;
          }
        }
      });
    };
    REQUIRE(run_passes(kernel, machine, diagnostics, passes));
    CHECK(loops > 0);
    CHECK(before > 0);
    CHECK(behind == 0);
  }

  TEST_CASE("what is expected is printed: a formula for each instance, and numbers where dims are given") {
    command::Folder folder;
    folder.write("k.tile", kProduct);
    command::Ran ran = folder.tilec("explain k.tile --target=sm_90a --cost --kernel f --dim M=4096,N=4096,K=4096");
    CHECK_MESSAGE(ran.code == 0, ran.out);
    CHECK_MESSAGE(ran.times("  clocks: ") == 3, ran.out);
    CHECK_MESSAGE(ran.times("  expected: ") == 3, ran.out);
    CHECK_MESSAGE(ran.says("  limited by: matrix products"), ran.out);
    ran = folder.tilec("explain k.tile --target=sm_90a --cost --kernel g --dim N=64");
    CHECK_MESSAGE(ran.says("`--dim M=VALUE,K=VALUE` makes it a number"), ran.out);
    CHECK_MESSAGE(folder.tilec("explain k.tile --target=x86-64 --cost --kernel g").says("nothing is expected: x86-64 does not say how fast it is"), ran.out);
    CHECK(folder.tilec("explain k.tile --target=sm_90a --cost --dim Q=1").code != 0);
  }

  TEST_CASE("what is read from a tensor is expected to be as much as what bounds it") {
    command::Folder folder;
    folder.write("k.tile", R"(
kernel sums(X: f16[B, L, 64], W: f16[64, 64], lengths: i32[B], out Y: f32[B, 64, 64]) {
    launch (z in B) threads 128 {
        let length = clamp(lengths[z] as int, 0, L);
        var x: shared f16[64, 64];
        var w: shared f16[64, 64] = W.tile(0, 0);
        var y: fragment f32[64, 64] = 0;
        for j in pipelined(ceildiv(length, 64)) {
            x = X[z].tile(j, 0);
            y += x @ w;
        }
        Y[z].tile(0, 0) = y;
    }
}
export sums as f;
)");
    command::Ran ran = folder.tilec("explain k.tile --target=sm_90a --cost");
    CHECK_MESSAGE(ran.says("ceil(L / 64)"), ran.out);
    CHECK_MESSAGE(!ran.says("min(8"), ran.out);
  }

  TEST_CASE("one lane is elected once, and what is rounded is rounded in pairs") {
    command::Folder folder;
    folder.write("k.tile", std::string(kProduct).substr(0, std::string(kProduct).find("export")) + "export product as f;\nexport product[BM = 64, BN = 64] as g;\n");
    command::Ran ran = folder.tilec("k.tile --target=sm_90a --emit=ptx -o -");
    CHECK_MESSAGE(ran.code == 0, ran.out);
    // And one of each warp that the engine stores for.
    CHECK(ran.times("elect.sync") == 2 + ran.times(".bulk_group ["));
    CHECK(ran.times("cvt.rn.f16.f32") == 0);
    CHECK(ran.times("cvt.rn.f16x2.f32") == (128 * 256 + 64 * 64) / 256 / 2);
  }
}
