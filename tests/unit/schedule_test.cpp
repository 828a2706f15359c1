// Schedules: what is pinned is kept or refused, what is inferred says what came of it, and the checker of rings notices what
// would stand still or read too early.
#include <doctest/doctest.h>

#include <ranges>

#include "check/pressure.h"
#include "check/schedule.h"
#include "explain/explain.h"
#include "explain/schedule_text.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/model/machine.h"
#include "target/target.h"
#include "patterns.h"

using namespace tilec;

namespace {

constexpr std::string_view kProduct = R"(
kernel product(A: f16[M, K], B: f16[K, N], out C: f32[M, N]) {
    launch (i in ceildiv(N, 64), j in ceildiv(M, 64)) threads 128 {
        var a: shared f16[64, 64];
        var b: shared f16[64, 64];
        var acc: fragment f32[64, 64] = 0;
        for k in pipelined(ceildiv(K, 64)) {
            load_a: a = A.tile(j, k);
            b = B.tile(k, i);
            acc += a @ b;
        }
        C.tile(j, i) = acc;
    }
}
export product;
)";

struct Scheduled {
  SourceMap sources;
  Diagnostics diagnostics{Policy{}};
  Ast ast;
  Program program;
  ir::Kernel staged, thread;

  explicit Scheduled(std::string_view schedule, const Machine& machine = target::model::asynchronous()) {
    ast = parse(sources.add("product.tile", std::string(kProduct) + std::string(schedule)), sources, diagnostics);
    program = analyse(ast, sources, embedded_library(), diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), errors());
    thread = kernel_for(program.exports.at(0), machine);
    PassOptions passes;
    passes.after = [&](const Pass& pass, const ir::Kernel& now) {
      if (pass.name == "insert-barriers") staged = now;
    };
    run_passes(thread, machine, diagnostics, passes);
  }
  std::string errors() const {
    std::string all;
    for (const Diagnostic& d : diagnostics.all()) all += std::string(d.name) + ": " + d.message + "\n";
    return all;
  }
  template <class T> int count() const {
    int n = 0;
    ir::each_op(staged, staged.body, [&](ir::OpId id) { n += staged.op(id).is<T>(); });
    return n;
  }
};

std::string in_schedule(std::string_view items) { return "schedule product for model { " + std::string(items) + " }"; }

}  // namespace

TEST_SUITE("schedule") {
  TEST_CASE("a product takes roles where the machine has them") {
    Scheduled with(""), without("", target::model::without_roles());
    CHECK(with.count<ir::op::Roles>() == 1);
    CHECK(with.thread.schedule.roles.size() == 2);
    CHECK(without.count<ir::op::Roles>() == 0);
    CHECK(without.count<ir::op::RingAlloc>() == 1);
    CHECK(without.thread.schedule.roles.empty());
  }

  TEST_CASE("what is pinned is what comes out") {
    Scheduled pinned(in_schedule("pipeline first: a; depth 2; pipeline second: b; depth 4; role feed: warps 4 { load_a; b; } role work { rest; }"));
    CHECK(pinned.errors() == "");
    REQUIRE(pinned.count<ir::op::RingAlloc>() == 2);
    std::vector<int64_t> depths;
    ir::each_op(pinned.staged, pinned.staged.body, [&](ir::OpId id) {
      const ir::Op& op = pinned.staged.op(id);
      if (op.is<ir::op::RingAlloc>()) depths.push_back(pinned.staged.type(op.result()).shape[0]);
      if (auto* roles = op.get<ir::op::Roles>()) CHECK(roles->names == std::vector<std::string>{"feed", "work"});
    });
    std::sort(depths.begin(), depths.end());
    CHECK(depths == std::vector<int64_t>{2, 4});
    CHECK(Scheduled(in_schedule("pipeline ab: a, b; depth 1;")).count<ir::op::RingAlloc>() == 1);
    CHECK(Scheduled(in_schedule("pipeline ab: a, b; depth 1;"), target::model::without_roles()).count<ir::op::RingAlloc>() == 0);
    Scheduled narrower(in_schedule("layout a: swizzle(64);"));
    CHECK(narrower.errors() == "BankConflict: with this layout `a` takes 8 passes where 4 would do: lanes meet in the banks of shared memory\n");
    CHECK(ir::print(narrower.staged).find("c3^r1 c4^r2") != std::string::npos);
  }

  TEST_CASE("a pinned layout whose lanes meet in banks is warned of, one that is as good as our own is not") {
    auto with = [](std::string_view layout) {
      return Scheduled("schedule product for \"model-sync\" { layout a: " + std::string(layout) + "; }", target::model::synchronous()).errors();
    };
    std::string said = with("addr(c0 c1 c2 c3 c4 c5 r0 r1 r2 r3 r4 r5)");
    CHECK_MESSAGE(said.starts_with("BankConflict: with this layout `a` takes "), said);
    CHECK(with("swizzle(128)") == "");
  }

  TEST_CASE("tiles run as far ahead as memory takes to answer, where the program leaves it open") {
    const Machine& machine = *target::machine_named("sm_90a")->machine;
    auto depth_of = [&](std::string_view rows, std::string_view threads, std::string_view option) {
      std::string text = "kernel k(A: f16[M, K], B: f16[K, N], out C: f32[M, N]) {\n launch (i in ceildiv(N, 128), j in ceildiv(M, " + std::string(rows) + ")) threads " +
                         std::string(threads) + " {\n var a: shared f16[" + std::string(rows) + ", 64]; var b: shared f16[64, 128]; var acc: fragment f32[" + std::string(rows) +
                         ", 128] = 0;\n for k in pipelined(ceildiv(K, 64)" + std::string(option) + ") { a = A.tile(j, k); b = B.tile(k, i); acc += a @ b; }\n C.tile(j, i) = acc;\n }\n}\nexport k;\n";
      SourceMap sources;
      Diagnostics diagnostics{Policy{}};
      Ast ast = parse(sources.add("k.tile", text), sources, diagnostics);
      Program program = analyse(ast, sources, embedded_library(), diagnostics);
      REQUIRE_MESSAGE(!diagnostics.has_errors(), text);
      ir::Kernel kernel = kernel_for(program.exports.at(0), machine);
      run_passes(kernel, machine, diagnostics, {.stop_after = "schedule"});
      int64_t found = -1;
      ir::each_op(kernel, kernel.body, [&](ir::OpId id) {
        if (auto* loop = kernel.op(id).get<ir::op::For>()) found = loop->stages;
      });
      return found;
    };
    // What a program says is what it gets; short turns of a block that has its core for itself want more tiles ahead than long ones, or than
    // those that other blocks run beside.
    CHECK(depth_of("128", "256", ", stages = 2") == 2);
    CHECK(depth_of("64", "128", ", stages = auto") == 3);
    CHECK(depth_of("256", "256", "") == 5);
    CHECK(depth_of("128", "256", "") == 7);
  }

  // What the launch of a product has behind the passes, on a machine whose blocks are dealt out in an order.
  const auto backwards_of = [](std::string_view high, std::string_view items = "", std::string_view option = "") {
    std::string text = "kernel k(A: f16[M, K], B: f16[K, N], out C: f32[M, N]) {\n launch (i in ceildiv(N, 64), j in ceildiv(M, 64)) threads 128 " + std::string(option) +
                       " {\n var a: shared f16[64, 64]; var b: shared f16[64, 64]; var acc: fragment f32[64, 64] = 0;\n for k in pipelined(" + std::string(high) +
                       ") { a = A.tile(j, k); b = B.tile(k, i); acc += a @ b; }\n C.tile(j, i) = acc;\n }\n}\nexport k;\nschedule k for sm_90a { " + std::string(items) + " }\n";
    SourceMap sources;
    Diagnostics diagnostics{Policy{}};
    Ast ast = parse(sources.add("k.tile", text), sources, diagnostics);
    Program program = analyse(ast, sources, embedded_library(), diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), text);
    const Machine& machine = *target::machine_named("sm_90a")->machine;
    ir::Kernel kernel = kernel_for(program.exports.at(0), machine);
    run_passes(kernel, machine, diagnostics, {.stop_after = "schedule"});
    if (diagnostics.has_errors()) return int64_t(-100);
    int64_t found = -100;
    ir::each_op(kernel, kernel.body, [&](ir::OpId id) {
      if (auto* launch = kernel.op(id).get<ir::op::Launch>()) found = launch->backwards;
    });
    CHECK(kernel.schedule.backwards == found);
    return found;
  };

  TEST_CASE("where turns rise along an axis, its last blocks begin first") {
    CHECK(backwards_of("ceildiv(K, 64)") == 0);
    CHECK(backwards_of("ceildiv(min(K, (i + 1) * 64), 64)") == 1);
    CHECK(backwards_of("min(ceildiv(K, 64), 3 + 2 * j)") == 2);
    // These fall, or do what nobody knows.
    CHECK(backwards_of("ceildiv(K, 64) - min(j, ceildiv(K, 64))") == 0);
    CHECK(backwards_of("(i * 7) % 5") == 0);
    CHECK(backwards_of("i * j") == 0);
    CHECK(backwards_of("max(i - j, 0)") == 1);
  }

  TEST_CASE("the order of blocks is pinned, or refused") {
    CHECK(backwards_of("ceildiv(K, 64)", "raster reversed(1);") == 2);
    CHECK(backwards_of("ceildiv(min(K, (i + 1) * 64), 64)", "raster forward;") == ir::kForward);
    CHECK(backwards_of("ceildiv(min(K, (i + 1) * 64), 64)", "raster column(4);") == 1);
    CHECK(backwards_of("ceildiv(K, 64)", "raster column(4); raster reversed(0);") == 1);
    CHECK(backwards_of("ceildiv(K, 64)", "", "raster reversed(1)") == 2);
    CHECK(backwards_of("ceildiv(min(K, (i + 1) * 64), 64)", "", "raster forward") == ir::kForward);
    CHECK(backwards_of("ceildiv(K, 64)", "raster reversed(2);") == -100);
  }

  TEST_CASE("a schedule for another machine says nothing") {
    Scheduled other("schedule product for \"x86-64\" { pipeline ab: a, b; depth 1; }");
    CHECK(other.count<ir::op::RingAlloc>() == 1);
  }

  TEST_CASE("what cannot be kept is refused, with the reason") {
    constexpr std::pair<std::string_view, std::string_view> kRefused[] = {
        {"pipeline ab: a, b; depth 100;", "ScheduleRefused: the schedule cannot be kept: pipeline `ab` of depth 100 needs"},
        {"role load: warps 4 { load_a; b; } role math: warps 8 { rest; }", "role `math` has 8 warps where the launch computes with 4"},
        {"role load: warps 3 { load_a; b; } role math: warps 4 { rest; }", "multiples of 4"},
        {"role load: warps 16 { load_a; b; } role math: warps 4 { rest; }", "20 warps"},
        {"role load: warps 4 { load_a; b; }", "not 1"},
        {"role load: warps 4 { load_a; } role math: warps 4 { rest; }", "`b` is filled ahead of time, but not by role `load`"},
        {"role load: warps 4 { load_a; acc; b; } role math: warps 4 { rest; }", "`acc` is not filled ahead of time"},
        {"layout acc: reg(c0 c1 c2 c3 c4 c5) lane(r0 r1 r2 r3 r4) warp(r5);", "LayoutRefused: `acc` cannot have this layout: it spreads over 2 warps"},
        {"layout acc: reg(r0 r1 r2 r3 r4) lane(c0 c1 c2 c3 c4) warp(c5 r5);", "no arrangement of accumulators"},
        {"layout acc: reg(c0 r3 c3 c4 c5 c6) lane(c1 c2 r0 r1 r2) warp(r4 r5);", "`acc` cannot have this layout: it covers 128 elements of axis 1, which has 64"},
        {"layout acc: reg(c0^c3 r3 c3 c4 c5) lane(c1 c2 r0 r1 r2) warp(r4 r5);", "one of its register bits moves along two bits at once"},
        {"layout acc: reg(c0 r3 c3 c4 c5) lane(c1^c0 c2 r0 r1 r2) warp(r4 r5);", "registers and lanes or warps move along the same bit"},
        {"layout acc: reg(c0 r3 c3 c4 c5) lane(c1 c2 r0 r1 r2) warp(r4^r3 r5);", "registers and lanes or warps move along the same bit"},
        {"layout acc: reg(c0 r3 c3 c4 c5 c1) lane(c2 c2 r0 r1 r2) warp(r4 r5);", "one of its bits moves along what others move along already"},
        {"layout acc: reg(c0 r3 c3 c4 c5 _) lane(c1 c2 r0 r1 r2) warp(r4 r5);", "its registers repeat each other"},
        {"layout acc: reg(c0 r3 c3 c4 c5) lane(c1 c2 r0 r1 r2) warp(r4 r5) grid(_ 3);", "its registers repeat each other"},
        {"layout acc: reg(c0 r3 c3 c4) lane(c1 c2 r0 r1 r2) warp(r4 r5) cta(c5);", "a fragment is in one block"},
        {"layout acc: reg(c0 r3 c3 c4 c5) lane(c1^r0 c2 r0 r1 r2) warp(r4 r5);", "one of its bits moves along two axes at once"},
        {"layout acc: reg(c0);", "LayoutRefused"},
        {"layout a: addr(c0);", "LayoutRefused"},
        {"layout a: nonsense;", "LayoutRefused"},
        {"layout A: swizzle(64);", "LayoutRefused: `A` cannot have this layout: the caller has laid it out"},
    };
    for (auto [items, part] : kRefused) {
      Scheduled refused(in_schedule(items));
      CAPTURE(items);
      CAPTURE(refused.errors());
      CHECK(refused.errors().find(part) != std::string::npos);
    }
  }

  TEST_CASE("the checker finds nothing in what the passes make, and every fault seeded into it") {
    const Scheduled made("");
    const Machine& machine = target::model::asynchronous();
    CHECK(check::flaws_of(made.staged, machine).empty());
    const std::string text = ir::print(made.staged);
    constexpr std::array<std::string_view, 3> kFaults[] = {
        {"\n *release [^\n]*", "", "never given back"},                                      // a missing release
        {"\n *commit [^\n]*", "", "waits for ever"},                                        // a missing commit
        {"(\n *)wait (%\\w+), (%\\w+)", "$1wait $2, $3$1wait $2, $3", "waits twice"},        // a turn taken twice
        {"(\n *)release (%\\w+), (%\\w+)", "$1release $2, $3$1release $2, $3", "releases"},  // and given back twice
        {"(\n *)wait (%\\w+), (%\\w+)", "", "without waiting for it"},                       // read before it is filled
        {"= ring_alloc ", "= ring_alloc consumers=2, ", "never given back"},                                   // who else should read it?
        {"\"math\", \"load\"\\], warps=\\[4, 4\\]", "\"math\", \"load\"], warps=[4, 16]", "20 warps"},
    };
    for (auto [pattern, change, part] : kFaults) {
      std::string changed = testing::replaced(text, std::string(pattern), std::string(change));
      CAPTURE(pattern);
      REQUIRE(changed != text);
      auto kernel = ir::parse(changed);
      REQUIRE_MESSAGE(kernel, changed);
      auto flaws = check::flaws_of(*kernel, machine);
      REQUIRE(!flaws.empty());
      CHECK_MESSAGE(flaws.front().find(part) != std::string::npos, flaws.front());
    }
  }

  // A schedule for one instance is refused by another whose tiles are smaller: its name says for which it is.
  TEST_CASE("what `explain` prints names the instance that it is for, and no other") {
    Scheduled one("");
    CHECK(one.program.exports.at(0).instance == "product");
    Scheduled several("enum Way { up, down }\n"
                      "kernel scale[T: float = f32, N: int = 64, by: int = N, way: Way = Way.up](x: T[M], out y: T[M]) {\n"
                      "    launch (i in ceildiv(M, N)) { let t = x.tile[N](i); y.tile(i) = t + t; }\n}\n"
                      "export scale;\nexport scale[f16] as half;\nexport scale[N = 32] as narrow where M = 320;\nexport scale[T = f16, way = Way.down] as other;\n"
                      "schedule scale[by = 32] for model { layout t: swizzle(32); }\n");
    std::vector<std::string> names;
    for (const ExportInstance& e : several.program.exports) names.push_back(e.instance);
    CHECK(names == std::vector<std::string>{"product", "scale[T = f32, N = 64, by = 64, way = Way.up]", "scale[T = f16, N = 64, by = 64, way = Way.up]",
                                            "scale[T = f32, N = 32, by = 32, way = Way.up] where M = 320", "scale[T = f16, N = 64, by = 64, way = Way.down]"});
    std::vector<size_t> pinned;
    for (const ExportInstance& e : several.program.exports) pinned.push_back(e.schedules.size());
    CHECK(pinned == std::vector<size_t>{0, 0, 0, 1, 0});
  }

  TEST_CASE("a schedule speaks of the dims that it states, and the one that states more goes first") {
    Scheduled with("kernel twice(x: f32[M, N], out y: f32[M, N]) { launch (i in M) { y[i, 0 +: 64] = x[i, 0 +: 64] * 2; } }\n"
                   "export twice; export twice as rows where M = 8; export twice as both where N = 64, M = 8; export twice as columns where N = 64;\n"
                   "schedule twice where M = 2 * 4, N = 64 { raster column(1); }\nschedule twice where M = 8 { raster column(2); }\n"
                   "schedule twice for model { raster column(3); }\nschedule twice where N = 64 for model { raster column(4); }\n");
    std::vector<std::string> found;
    for (const ExportInstance& e : with.program.exports | std::views::drop(1))
      found.push_back(e.instance + ": " + std::to_string(schedule_for(e, target::model::asynchronous()).raster));
    CHECK(found == std::vector<std::string>{"twice: 3", "twice where M = 8: 3", "twice where M = 8, N = 64: 4", "twice where N = 64: 4"});
  }

  // The accumulator is in flight where the loop ends, and is read under a condition.
  TEST_CASE("an open product is explained") {
    for (const Machine* machine : {&target::model::asynchronous(), &target::model::without_roles()}) {
      Scheduled with("kernel biased(A: f32[M, K], B: f32[N, K], bias: f32[N]?, out C: f32[M, N]) {\n"
                     "    launch (i in ceildiv(N, 64), j in ceildiv(M, 64)) {\n"
                     "        var a: shared f32[64, 32];\n        var b: shared f32[64, 32];\n        var acc: fragment f32[64, 64] = 0;\n"
                     "        for k in pipelined(ceildiv(K, 32)) { a = A.tile(j, k); b = B.tile(i, k); acc += a @ b.T; }\n"
                     "        if bias { acc += bias.tile[64](i)[_, :]; }\n        C.tile(j, i) = acc;\n    }\n}\nexport biased;\n");
      const ExportInstance& biased = with.program.exports.at(1);
      ir::Kernel kernel = kernel_for(biased, *machine), tiles;
      PassOptions passes;
      passes.after = [&](const Pass&, const ir::Kernel& now) {
        if (now.form != ir::Form::Thread) tiles = now;
      };
      REQUIRE(run_passes(kernel, *machine, with.diagnostics, passes));
      std::string text = schedule_text(biased, tiles, machine->name);
      CHECK_MESSAGE(text.find("layout b: addr(") != text.npos, text);
      CHECK(explain(std::array{&biased}, tiles, kernel, *machine, with.sources).find("acc: fragment f32[64, 64]") != text.npos);
    }
  }

  TEST_CASE("registers: the most that live at once") {
    auto registers = [](std::string_view body, std::string_view machine = "sm_90a") {
      auto kernel = ir::parse("kernel \"k\", form=thread\n{\n  %n = constant 1 : int\n  launch [%n] { (%i: int)\n" + std::string(body) + "    yield\n  }\n  yield\n}\n");
      REQUIRE(kernel);
      return check::registers_at_once(*kernel, kernel->body, *target::machine_named(machine)->machine);
    };
    constexpr std::string_view kSum = "    %l = lane_index : varying int\n    %m = binary.add %l, %l : varying int\n    %o = binary.add %m, %l : varying int\n    %p = binary.add %o, %o : varying int\n";
    CHECK(registers(kSum) == 4);
    CHECK(registers(kSum, "x86-64-v3") == 2);
    CHECK(registers("    %c = constant 2 : int\n    %d = binary.add %c, %c : int\n") == 0);
    // Elements are the registers of their vector: 8 of one, and then one after the other becomes another number.
    std::string elements = "    %l = lane_index : varying int\n    %f = convert %l : varying f32\n    %v = vector_make [%f, %f, %f, %f, %f, %f, %f, %f] : varying vector<8 f32>\n    %w = binary.add %v, %v : varying vector<8 f32>\n";
    for (std::string i = "0"; i[0] < '8'; ++i[0]) elements += "    %e" + i + " = vector_element %w, index=" + i + " : varying f32\n";
    for (std::string i = "0"; i[0] < '8'; ++i[0]) elements += "    %g" + i + " = unary.neg %e" + i + " : varying f32\n";
    elements += "    %x = vector_make [%g0, %g1, %g2, %g3, %g4, %g5, %g6, %g7] : varying vector<8 f32>\n    %y = binary.add %x, %x : varying vector<8 f32>\n";
    CHECK(registers(elements) == 8);
    // What a loop carries is one number from its beginning to its result; what an iteration takes from outside lives in all of it.
    constexpr std::string_view kLoop =
        "    %l = lane_index : varying int\n    %f = convert %l : varying f32\n    %c = constant 8 : int\n    %z = constant 0 : int\n    %one = constant 1 : int\n"
        "    %s = for %z, %c, %one, [%f] : varying f32 { (%k: int, %a: varying f32)\n      %b = binary.add %a, %f : varying f32\n      %d = binary.add %b, %b : varying f32\n      yield [%d]\n    }\n"
        "    %r = binary.add %s, %s : varying f32\n";
    CHECK(registers(kLoop) == 2);
  }
}
