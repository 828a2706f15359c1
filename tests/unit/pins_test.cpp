// Lines of schedules that cannot come true: each is refused, or told.
#include "made.h"
#include "target/target.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

// Attention without its softmax, whose schedule says LINES.
constexpr std::string_view kPinned = R"(
kernel chain(Q: f16[S, 64], K: f16[L, 64], V: f16[L, 64], out O: f32[S, 64]) {
    launch (i in ceildiv(S, 128)) threads 128 {
        var q: shared f16[128, 64] = Q.tile(i, 0);
        var k: shared f16[64, 64];
        var v: shared f16[64, 64];
        var o: fragment f32[128, 64] = 0;
        for j in pipelined(ceildiv(L, 64), stages = 2) {
            k = K.tile(j, 0);
            v = V.tile(j, 0);
            let s = q @ k.T;
            o += (s as f16) @ v;
        }
        O.tile(i, 0) = o;
    }
}
export chain as it;
schedule chain for model { LINES }
)";

std::string with(const std::string& lines) { return testing::replaced(std::string(kPinned), "LINES", lines); }

// Errors and warnings, a line each.
std::string told(const std::string& lines, const Machine& machine = target::model::asynchronous()) {
  SourceMap sources;
  Diagnostics diagnostics{Policy{}};
  Ast ast = parse(sources.add("it.tile", testing::replaced(with(lines), "model", std::string(machine.name))), sources, diagnostics);
  Program program = analyse(ast, sources, embedded_library(), diagnostics);
  REQUIRE(!diagnostics.has_errors());
  ir::Kernel kernel = kernel_for(program.exports.at(0), machine);
  run_passes(kernel, machine, diagnostics);
  std::string all;
  for (const Diagnostic& d : diagnostics.all())
    if (d.severity <= Severity::Warning) all += (all.empty() ? "" : "\n") + d.message;
  return all;
}

}  // namespace

TEST_SUITE("pins") {
  const std::string kRefused = "the schedule cannot be kept: ";

  TEST_CASE("what came true is taken") {
    for (const char* lines : {"place o: stage 1;", "place o: stage 0;", "pipeline v: v; depth 2, in_flight 1; pipeline q: q; depth 2;", "pipeline q: q; depth 1;"}) CHECK(told(lines) == "");
    CHECK(Made(with("pipeline q: q; depth 1;")).count("ring_alloc name=\"q\" : ring<1>") == 1);
    CHECK(Made(with("pipeline q: q; depth 3;")).count("ring_alloc name=\"q\" : ring<3>") == 1);
  }

  TEST_CASE("a product runs one turn behind, or none") {
    CHECK(told("place o: stage 2;") == kRefused + "place `o`: it runs 1 turn behind, not 2");
    CHECK(told("place o: stage 1, order 1;") == kRefused + "place `o`: the statements of a turn run in the program's order, which `order 1` would change");
  }

  TEST_CASE("a pipeline has the versions and the open products that it says") {
    CHECK(told("pipeline v: v; depth 2, in_flight 3;") == kRefused + "pipeline `v`: no loop leaves 3 products open from turn to turn; 1 is");
    // Nothing fills it ahead of its readers where no role does.
    CHECK(told("role load: warps 4 { k; v; } role math: warps 4 { rest; } pipeline q: q; depth 2;") ==
          kRefused + "pipeline `q`: no loop fills its tiles in 2 versions; there is one");
  }

  TEST_CASE("clusters that share nothing, and registers that no role can have, are refused") {
    const Machine& machine = *target::machine_named("sm_90a")->machine;
    CHECK(told("cluster (3);", machine).starts_with(kRefused + "no launch has clusters of this shape"));
    CHECK(told("role load: warps 4, registers 16 { k; v; q; } role math: warps 4 { rest; }", machine) == kRefused + "role `load` has 16 registers, and roles have 24 to 256");
  }

  TEST_CASE("of two blocks that say as much one is told to be left out") {
    const std::string left_out = "no instance of `chain` has this schedule: a later block says as much of the same instance";
    CHECK(told("persistent; } schedule chain for model { cluster (1, 1);") == left_out);
    CHECK(told("persistent; } schedule chain for model { require overlap;") == "");
    CHECK(told("persistent; } schedule chain { cluster (1, 1);") == "");
  }
}
