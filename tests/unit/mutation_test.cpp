// Seeded faults: the text of a staged matrix product, as the passes made it, is changed in one place; the verifier, the
// layouts' laws or the interpreter has to notice. What is not noticed would be miscompiled in silence.
#include <span>

#include "agreement.h"
#include "patterns.h"
#include "check/schedule.h"
#include "ir/verify.h"
#include "lower/lower.h"
#include "target/model/machine.h"
#include "target/target.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

// A kernel after the passes that stage it and after those that lower it.
struct Texts {
  const Machine* machine;
  Shapes shapes;
  Data reference;
  std::string staged, thread;
};

Texts texts_of(const std::string& name, const Shapes& shapes, const Machine& machine = target::model::without_roles()) {
  ir::Kernel kernel = kernel_of(name);
  Texts made{&machine, shapes, data_for(kernel, shapes), {}, {}};
  interp::RunOptions options;
  options.numeric = interp::Numeric::Wide;
  REQUIRE(interp::run(kernel, made.reference.arguments, options).ok());
  // Each turn stands in the program once: tiles are stored where they stand.
  for (const ir::Param& param : kernel.params)
    if (param.access != ir::Access::In) kernel.schedule.placements.push_back({.label = param.name, .role = {}});
  Diagnostics diagnostics{Policy{}};
  PassOptions passes;
  passes.after = [&](const Pass& pass, const ir::Kernel& now) {
    if (pass.name == "insert-barriers") made.staged = ir::print(now);
    if (pass.name == "lower") made.thread = ir::print(now);
  };
  REQUIRE(run_passes(kernel, machine, diagnostics, passes));
  return made;
}

const Texts& product() {
  static const Texts texts = texts_of("matrix_product", {{64, 256}, {256, 64}, {64, 64}});
  return texts;
}

const Texts& product_of_roles() {
  static const Texts texts = texts_of("matrix_product", {{64, 256}, {256, 64}, {64, 64}}, target::model::asynchronous());
  return texts;
}

bool has_right_numbers(const Data& data, const Data& reference) {
  for (size_t i = 0; i < data.tensors.size(); ++i)
    for (int64_t k = 0; k < data.tensors[i].size(); ++k) {
      double want = reference.tensors[i].real(k), got = data.tensors[i].real(k);
      if (!(std::fabs(got - want) <= 1e-3 * std::max(1.0, std::fabs(want)))) return false;
    }
  return true;
}

// Who notices: a law's code, the interpreter's kind of fault, or "numbers".
std::string verdict_of(const ir::Kernel& kernel, const Texts& of, interp::Completion completion) {
  auto violations = ir::verify(kernel, kernel.form);
  if (!violations.empty()) return std::string(violations.front().code);
  interp::RunOptions options;
  options.numeric = interp::Numeric::Wide;
  options.machine = of.machine;
  options.completion = completion;
  for (uint64_t seed : {1, 2, 3}) {  // of the order in which warps run
    options.seed = seed;
    Data data = data_for(kernel, of.shapes);
    interp::RunResult result = interp::run(kernel, data.arguments, options);
    if (result.fault) return std::string(interp::name(result.fault->kind));
    if (!has_right_numbers(data, of.reference)) return "numbers";
  }
  return "nobody";
}

// The same, or "parser". In Staged form a block is one agent; what its warps do to each other shows in the program of one
// thread.
std::string verdict(const std::string& text, const Texts& of, interp::Completion completion) {
  std::string error;
  auto kernel = ir::parse(text, &error);
  if (!kernel) return "parser";
  std::string said = verdict_of(*kernel, of, completion);
  if (said != "nobody" || kernel->form != ir::Form::Staged) return said;
  if (!check::flaws_of(*kernel, *of.machine).empty()) return "checker";
  said = verdict_of(lower::lower(*kernel, *of.machine), of, completion);
  return said == "nobody" ? said : "lowered: " + said;
}

// The text with `pattern` replaced in the line that matches it as number `which`; a line that becomes empty goes.
std::string mutated(const std::string& text, const std::string& pattern, const std::string& with, int which) {
  std::istringstream lines(text);
  std::string out, line;
  int seen = 0;
  bool found = false;
  while (std::getline(lines, line)) {
    if (testing::is_found(line, pattern) && ++seen == which) {
      found = true;
      line = testing::replaced(line, pattern, with);
      if (line.find_first_not_of(' ') == line.npos) continue;
    }
    out += line + "\n";
  }
  REQUIRE_MESSAGE(found, pattern);
  return out;
}

// `which`: the line, of those that match. A second edit may follow on the first.
struct Mutation {
  const char *fault, *pattern, *with;
  int which;
  const char* noticed_by;  // with asynchronous operations late, and
  const char* early;       // early
  const char *then_pattern = nullptr, *then_with = nullptr;
  int then_which = 1;
};

void check_noticed(const std::string& text, const Texts& of, std::span<const Mutation> mutations) {
  for (interp::Completion completion : {interp::Completion::Late, interp::Completion::Early}) {
    CHECK(verdict(text, of, completion) == "nobody");
    for (const Mutation& m : mutations) {
      INFO(std::string(m.fault));
      std::string changed = mutated(text, m.pattern, m.with, m.which);
      if (m.then_pattern) changed = mutated(changed, m.then_pattern, m.then_with, m.then_which);
      CHECK(verdict(changed, of, completion) == std::string(completion == interp::Completion::Late ? m.noticed_by : m.early));
    }
  }
}

}  // namespace

TEST_SUITE("mutation") {
  TEST_CASE("faults seeded into a staged product are noticed") {
    constexpr Mutation kMutations[] = {
        {"a missing wait", R"(^ *wait .*$)", "", 1, "V053", "V053"},
        {"a missing release", R"(^ *release .*$)", "", 1, "deadlock", "deadlock"},
        {"a missing acquire", R"(^ *acquire .*$)", "", 2, "ring", "ring"},
        {"a missing commit", R"(^ *commit .*$)", "", 2, "V051", "V051"},
        {"a token that is committed twice", R"((commit .*)\[(%\d+), %\d+\])", "$1[$2, $2]", 2, "V051", "V051"},
        {"a release before the reads", R"(^( *)wait (.*)$)", "$1wait $2\n$1release $2", 1, "ring", "ring", R"(^ *release .*$)", "", 2},
        {"the version of another turn is read", R"(binary\.rem (%k_\d+))", "binary.div $1", 1, "race", "race"},
        {"the version of another turn is filled", R"(binary\.rem (%turn_\d+))", "binary.div $1", 1, "race", "race"},
        {"a region off by some elements", R"(binary\.mul (%turn_\d+))", "binary.add $1", 1, "numbers", "numbers"},
        {"a region of the rows where columns are meant", R"((copy_async %a_\d+, )\[(%\w+), (%\w+)\])", "$1[$3, $2]", 1, "numbers", "numbers"},
        {"a layout that is not injective", R"((%a_tile_\d+ = alloc .*)r4 r5\))", "$1r4 r4)", 1, "parser", "parser"},
        {"a turn that nobody fills", R"(^( *for )%\d+, (%\d+), (%\d+) \{)", "$1$3, $2, $3 {", 1, "deadlock", "deadlock"},
        {"a turn behind the last", R"(compare\.lt)", "compare.le", 1, "out of bounds", "out of bounds"},
        {"a ring of fewer slots than turns ahead", R"(ring<3>)", "ring<2>", 1, "deadlock", "deadlock"},
        {"a consumer that does not exist", R"(ring_alloc )", "ring_alloc consumers=2, ", 1, "V054", "V054"},
    };
    check_noticed(product().staged, product(), kMutations);
  }

  TEST_CASE("faults seeded into the program of one thread are noticed") {
    constexpr Mutation kMutations[] = {
        {"nobody gives a slot back", R"(^ *phase_arrive .*$)", "", 1, "deadlock", "deadlock"},
        {"nobody waits for a full slot", R"(^ *phase_wait .*$)", "", 2, "race", "race"},
        {"nobody waits for an empty slot", R"(^ *phase_wait .*$)", "", 3, "deadlock", "deadlock"},
        {"the wrong phase of a full slot", R"((phase_wait %\d+, )(%\d+), %\d+)", "$1$2, $2", 2, "race", "deadlock"},
        {"a barrier dropped behind the first phases", R"(^ *block_barrier.*$)", "", 1, "barrier", "barrier"},
        {"fewer bytes than come", R"(constant 8192 : int)", "constant 8190 : int", 1, "barrier", "barrier"},
        {"more bytes than come", R"(constant 8192 : int)", "constant 8194 : int", 1, "deadlock", "deadlock"},
        {"fewer arrivals than come", R"(arrivals=4)", "arrivals=3", 1, "race", "race"},
        {"more arrivals than come", R"(arrivals=4)", "arrivals=5", 1, "deadlock", "deadlock"},
        {"every lane gives a slot back", R"((phase_arrive .*), mask=%\d+)", "$1", 1, "barrier", "barrier"},
        {"every lane arrives with the bytes", R"((phase_expect .*), mask=%\d+)", "$1", 1, "barrier", "barrier"},
        {"a copy that is missing", R"(^ *copy_box .*$)", "", 1, "deadlock", "deadlock"},
        {"a box in another layout than its readers'", R"((copy_box .*)r4 r5\))", "$1r5 r4)", 1, "numbers", "numbers"},
        {"every warp issues a copy", R"(compare\.eq)", "compare.ge", 6, "race", "race"},
        {"a box beyond the stack of versions", R"(dst_shape=\[3,)", "dst_shape=[2,", 3, "out of bounds", "out of bounds"},
    };
    check_noticed(product().thread, product(), kMutations);
  }

  TEST_CASE("faults seeded into copies by lanes are noticed, in the program of one thread") {
    const Texts texts = texts_of("matrix_product", {{64, 256}, {256, 64}, {64, 64}}, *target::machine_named("sm_80")->machine);
    constexpr Mutation kMutations[] = {
        {"nobody tells of a copy", R"(^ *phase_follow .*$)", "", 1, "deadlock", "deadlock"},
        {"lanes arrive before their copies", R"(phase_follow )", "phase_arrive ", 1, "race", "race", R"(phase_follow )", "phase_arrive "},
        {"a copy that is missing", R"(^ *copy_lanes .*$)", "", 1, "uninitialised", "uninitialised"},
        {"half of a copy", R"(count=8)", "count=4", 1, "uninitialised", "uninitialised"},
        {"twice as much as lanes have", R"((copy_lanes .*)count=8)", "$1count=16", 1, "out of bounds", "out of bounds"},
        {"nobody waits for a full slot", R"(^ *phase_wait .*$)", "", 2, "race", "race"},
        {"nobody waits for an empty slot", R"(^ *phase_wait .*$)", "", 3, "race", "race"},
        {"fewer arrivals than come", R"(arrivals=256)", "arrivals=128", 1, "uninitialised", "uninitialised"},
        {"matrices that are not turned", R"((load_matrices .*), transposed=true)", "$1", 1, "numbers", "numbers"},
        {"fewer matrices", R"((load_matrices .*), count=4)", "$1, count=2", 1, "V065", "V065"},
    };
    check_noticed(texts.thread, texts, kMutations);
  }

  TEST_CASE("faults seeded into stores of boxes are noticed") {
    const Texts texts = texts_of("box_sums", {{64, 64}, {64, 64}, {64, 64}}, *target::machine_named("sm_90a")->machine);
    constexpr Mutation kMutations[] = {
        {"nobody fences what threads wrote", R"(^ *engine_fence$)", "", 1, "race", "race"},
        {"nobody waits until a box is read", R"(^ *await_stores$)", "", 2, "token", "token"},
        {"the tile is written again before it is read", R"(^ *await_stores$)", "", 1, "race", "race"},
        {"a box of another array", R"((store_box .*)shape=\[32, 32\])", "$1shape=[32, 64]", 1, "V034", "V034"},
        {"a box in another layout than its writers'", R"((store_box .*)r3 r4\))", "$1r4 r3)", 1, "numbers", "numbers"},
        {"a store that adds", R"((store_box .*$))", "$1, adds=true", 2, "uninitialised", "uninitialised"},
        {"an addition that stores", R"(, adds=true)", "", 1, "numbers", "numbers"},
        {"no barrier behind what threads write", R"(^ *block_barrier.*$)", "", 1, "uninitialised", "uninitialised"},
    };
    check_noticed(texts.thread, texts, kMutations);
  }

  TEST_CASE("faults seeded into matrices that registers give away are noticed") {
    const Texts texts = texts_of("turned_sums", {{32, 32}, {32, 32}, {32, 32}, {32, 32}}, *target::machine_named("sm_90a")->machine);
    constexpr Mutation kMutations[] = {
        {"matrices that are turned", R"((store_matrices .*)$)", "$1, transposed=true", 1, "numbers", "numbers"},
        {"fewer matrices", R"((store_matrices .*), count=4)", "$1, count=2", 1, "V065", "V065"},
        {"a matrix that is missing", R"(^ *store_matrices .*$)", "", 1, "uninitialised", "uninitialised"},
        {"a sum of half of a vector", R"(^( *)(mem_atomic.*)$)", "", 1, "numbers", "numbers"},
    };
    check_noticed(texts.thread, texts, kMutations);
  }

  TEST_CASE("lanes of one warp that may part are judged one by one") {
    for (const char* machine : {"sm_80", "sm_90a"}) {
      CAPTURE(machine);
      const Texts texts = texts_of("one_warp", {{32, 32}, {32, 32}, {32, 32}, {32, 32}}, *target::machine_named(machine)->machine);
      constexpr Mutation kMutations[] = {
          {"no barrier behind what lanes copied", R"(^ *block_barrier.*$)", "", 1, "race", "race"},
          {"no barrier behind what lanes computed", R"(^ *block_barrier.*$)", "", 2, "race", "race"},
      };
      check_noticed(texts.thread, texts, kMutations);
    }
  }

  TEST_CASE("products in flight of what lanes have copied are fenced") {
    const Texts texts = texts_of("matrix_product", {{64, 256}, {256, 64}, {64, 64}}, target::model::with_lanes());
    constexpr Mutation kMutations[] = {
        {"nobody fences what lanes have copied", R"(^ *engine_fence$)", "", 1, "race", "race"},
        {"the fence stands before the wait", R"(^( *)(phase_wait .*)$)", "$1engine_fence\n$1$2", 2, "race", "race", R"(^ *engine_fence$)", "", 2},
        {"a slot given back before its product is awaited", R"(^ *group_wait in_flight=1$)", "", 1, "race", "race"},
    };
    check_noticed(texts.thread, texts, kMutations);
  }

  TEST_CASE("faults seeded into products in flight are noticed, staged") {
    constexpr Mutation kMutations[] = {
        {"one product too many in flight", "(await_gemm .*)in_flight=1", "$1in_flight=2", 1, "race", "race"},
        {"nobody waits in the loop", "(await_gemm .*)in_flight=1", "$1in_flight=99", 1, "race", "race"},
        {"a slot given back before its product is awaited", R"(= binary\.sub (%k_\d+), %\d+)", "= binary.max $1, $1", 1, "ring", "ring",
         R"(= compare\.ge (%k_\d+), %\d+)", "= compare.ge $1, $1"},
        {"a slot given back too late", R"(= compare\.ge (%k_\d+), %\d+)", "= compare.gt $1, $1", 1, "deadlock", "deadlock"},
        {"a flight used twice", R"(^( *)(%\d+ = )(await_gemm %new_\d+, in_flight=1, atom="[^"]*" : flight.*)$)", "$1$2$3\n$1%again = $3", 1,
         "V050", "V050"},
    };
    check_noticed(product().staged, product(), kMutations);
  }

  TEST_CASE("faults seeded into products in flight are noticed, in the program of one thread") {
    constexpr Mutation kMutations[] = {
        {"a missing wait", R"(^ *group_wait in_flight=1$)", "", 1, "race", "race"},
        {"one product too many in flight", R"(group_wait in_flight=1)", "group_wait in_flight=2", 1, "race", "race"},
        {"a last wait that leaves one open", R"(= group_wait (\[%\d+\]))", "= group_wait $1, in_flight=1", 1, "flight", "flight"},
        {"products that nobody commits", R"(^ *group_commit$)", "", 1, "race", "race"},
        {"registers given to two products", R"(^( *)(%\d+)( = group_product .*)$)", "$1$2$3\n$1%again$3", 1, "V050", "V050"},
        {"the place of the other operand", R"(group_product (.*), (%\d+), (b_shape.*)a_place=%\d+)", "group_product $1, $2, $3a_place=$2", 2,
         "out of bounds", "out of bounds"},
        {"an operand read along the other axis", R"((group_product .*), atom=)", "$1, transpose_b=true, atom=", 1, "out of bounds", "out of bounds"},
        {"an instruction of other elements", R"((group_product .*)k16\.f16)", "$1k16.bf16", 1, "atom", "atom"},
        {"a layout with other rows", R"((group_product .*b_layout="[^"]*)r3 r4\))", "$1r4 r3)", 1, "numbers", "numbers"},
    };
    check_noticed(product().thread, product(), kMutations);
  }

  TEST_CASE("faults seeded into roles are noticed, staged") {
    constexpr Mutation kMutations[] = {
        {"a role that reads without waiting", R"(^ *wait .*$)", "", 1, "V053", "V053"},
        {"a role that waits for no turn", R"(^( *wait )(%\w+), %\d+$)", "$1$2, $2", 1, "V018", "V018"},
        {"a role that gives nothing back", R"(^ *release .*$)", "", 1, "deadlock", "deadlock"},
        {"a role that does not give back its last turns", R"(^ *release .*$)", "", 2, "checker", "checker"},
        {"a role that fills without asking", R"(^ *acquire .*$)", "", 2, "ring", "ring"},
        {"a missing commit", R"(^ *commit .*$)", "", 2, "V051", "V051"},
        {"a copy that no turn commits", R"((commit .*)\[(%\d+), %\d+\])", "$1[$2, $2]", 2, "V051", "V051"},
        {"the version of another turn is read", R"(binary\.rem (%\d+), )", "binary.div $1, ", 1, "race", "race"},
        {"a ring of fewer slots than turns ahead", R"(ring<3>)", "ring<1>", 1, "deadlock", "deadlock"},
        {"a consumer that does not exist", R"(ring_alloc )", "ring_alloc consumers=2, ", 1, "V054", "V054"},
        {"a turn behind the last", R"(compare\.lt)", "compare.le", 1, "out of bounds", "out of bounds"},
        {"a role without warps", R"(warps=\[4, 4\])", "warps=[4, 0]", 1, "V055", "V055"},
        {"roles of more warps than a block has", R"(warps=\[4, 4\])", "warps=[4, 16]", 1, "checker", "checker"},
    };
    check_noticed(product_of_roles().staged, product_of_roles(), kMutations);
  }

  TEST_CASE("faults seeded into roles are noticed, in the program of one thread") {
    constexpr Mutation kMutations[] = {
        {"nobody gives a slot back", R"(^ *phase_arrive .*$)", "", 1, "deadlock", "deadlock"},
        {"nobody waits for a full slot", R"(^ *phase_wait .*$)", "", 1, "uninitialised", "uninitialised"},
        {"nobody waits for an empty slot", R"(^ *phase_wait .*$)", "", 3, "race", "race"},
        {"the wrong phase of a full slot", R"((phase_wait %\d+, )(%\d+), %\d+)", "$1$2, $2", 1, "race", "deadlock"},
        {"a barrier dropped behind the first phases", R"(^ *block_barrier.*$)", "", 1, "barrier", "barrier"},
        {"a barrier that the other role does not reach", R"(^( *)(phase_wait .*)$)", "$1block_barrier\n$1$2", 1, "V062", "V062"},
        {"fewer arrivals than warps read", R"(arrivals=4)", "arrivals=2", 1, "deadlock", "deadlock"},
        {"arrivals of the warps that fill as well", R"(arrivals=4)", "arrivals=8", 1, "deadlock", "deadlock"},
        {"warps of the other role read too", R"(compare\.lt (%\d+), (%\d+) : bool)", "compare.ge $1, $1 : bool", 1, "deadlock", "deadlock"},
        {"no warp fills", R"(compare\.ge (%\d+), (%\d+) : bool)", "compare.lt $1, $1 : bool", 1, "deadlock", "deadlock"},
        {"a missing wait for products", R"(^ *group_wait in_flight=1$)", "", 1, "race", "race"},
        {"a copy that is missing", R"(^ *copy_box .*$)", "", 1, "deadlock", "deadlock"},
    };
    check_noticed(product_of_roles().thread, product_of_roles(), kMutations);
  }

  TEST_CASE("faults seeded into the turns of loops in loops are noticed") {
    const Texts texts = texts_of("nested_product", {{3, 32, 96}, {3, 96, 32}, {3, 32, 32}}, target::model::asynchronous());
    constexpr Mutation kMutations[] = {
        {"a round that does not count its turns", R"(yield \[%55\])", "yield [%turns_28]", 1, "ring", "ring"},
        {"a round that counts fewer", R"(binary\.add %turns_28, %31)", "binary.add %turns_28, %32", 1, "ring", "ring"},
        {"the turns of this round alone are waited for", R"(binary\.add %turns_28, %k_18)", "binary.add %zero_8, %k_18", 1, "ring", "ring"},
        {"the turns of this round alone are taken", R"(binary\.add %turns_28, %41)", "binary.add %zero_8, %41", 1, "ring", "ring"},
        {"the first turns of every round are the block's first", R"(binary\.add %turns_28, %turn_33)", "binary.add %zero_8, %turn_33", 1, "ring", "ring"},
        {"the version of the round's turn is read", R"(binary\.rem %49)", "binary.rem %k_18", 1, "race", "race"},
        {"the version of the round's turn is filled", R"(binary\.rem %43)", "binary.rem %41", 1, "race", "race"},
    };
    check_noticed(texts.staged, texts, kMutations);
  }

  TEST_CASE("faults seeded into blocks of a cluster are noticed, in the program of one thread") {
    const Texts texts = texts_of("shared_product", {{32, 128}, {128, 64}, {32, 64}}, *target::machine_named("sm_90a")->machine);
    constexpr Mutation kMutations[] = {
        {"no barrier before blocks reach for each other", R"(^ *cluster_barrier .*$)", "", 1, "barrier", "barrier"},
        {"a block leaves while others reach for it", R"(^ *cluster_barrier .*$)", "", 2, "out of bounds", "out of bounds"},
        {"a barrier that one block does not reach", R"(^( *)cluster_barrier .*$)", "$1if %first {\n$1  cluster_barrier\n$1  yield\n$1} else_body {\n$1  yield\n$1}", 2, "out of bounds", "out of bounds",
         R"(^(.*\((%bx_\d+): int.*)$)", "$1\n%nought = constant 0 : int\n%first = compare.eq $2, %nought : bool", 1},
        {"fewer arrivals than come", "arrivals=4", "arrivals=3", 1, "race", "race", "arrivals=4", "arrivals=3"},
        {"more arrivals than come", "arrivals=4", "arrivals=5", 1, "deadlock", "deadlock"},
        {"arrivals of the own warps alone", "arrivals=4", "arrivals=2", 1, "race", "race"},
        {"a copy for a block outside of the cluster", R"(^( *)(copy_box .*peers=).*$)", "$1%peers = constant 4 : int\n$1$2%peers", 1, "out of bounds", "out of bounds"},
        {"a copy for one block more than there are", R"(^( *)(copy_box .*peers=).*$)", "$1%peers = constant 7 : int\n$1$2%peers", 1, "out of bounds", "out of bounds"},
        {"a copy for the first block alone", R"(^( *)(copy_box .*peers=).*$)", "$1%peers = constant 1 : int\n$1$2%peers", 1, "deadlock", "deadlock"},
        {"a copy for the own block alone", R"((copy_box .*), peers=.*$)", "$1", 1, "deadlock", "deadlock"},
        {"both blocks copy the same part", R"((copy_box %a_3, )\[%\d+, (.*\[%\d+, )(%\d+), (%\d+)(.*peers=))", "$1[%19, $2$4, $4$5", 1, "race", "race"},
        {"a slot given back for lanes that still read", R"(^ *warp_barrier .*$)", "", 1, "race", "race"},
        {"a slot given back whose reads nobody fenced", R"(^ *engine_fence$)", "", 1, "race", "race"},
        {"reads fenced behind the arrival", R"(^ *engine_fence$)", "", 1, "race", "race", R"(^( *)(phase_arrive .*block=.*)$)", "$1$2\n$1engine_fence"},
        {"a slot given back to the own block alone", R"((phase_arrive .*), block=.*$)", "$1", 1, "race", "race"},
        {"a slot given back to blocks outside of the cluster", R"((phase_arrive .*), mask=%\d+, block)", "$1, block", 1, "out of bounds", "out of bounds"},
        {"nobody gives a slot back", R"(^ *phase_arrive .*block=.*$)", "", 1, "deadlock", "deadlock"},
        {"nobody waits for an empty slot", R"(^ *phase_wait .*$)", "", 2, "race", "race"},
    };
    check_noticed(texts.thread, texts, kMutations);
  }

  TEST_CASE("faults seeded into sums that blocks of a cluster make together are noticed") {
    const Texts texts = texts_of("cluster_sums", {{2, 32, 32}, {32, 32}}, *target::machine_named("sm_90a")->machine);
    constexpr Mutation kMutations[] = {
        {"no barrier before blocks read each other's tiles", R"(^ *cluster_barrier .*$)", "", 1, "uninitialised", "uninitialised"},
        {"a block leaves while others read its tile", R"(^ *cluster_barrier .*$)", "", 2, "out of bounds", "out of bounds"},
        {"a barrier of the block alone", R"(cluster_barrier why=)", "block_barrier why=", 1, "race", "race"},
        {"each reads its own tile alone", R"((mem_load .*), peer=.*( : .*)$)", "$1$2", 1, "numbers", "numbers"},
        {"a block outside of the cluster", R"(^( *)(.*mem_load .*, peer=)[^ ]*( : .*)$)", "$1%beyond = constant 2 : int\n$1$2%beyond$3", 1, "out of bounds", "out of bounds"},
        {"a tile that is not written", R"(^ *mem_store .*$)", "", 1, "uninitialised", "uninitialised"},
    };
    check_noticed(texts.thread, texts, kMutations);
  }

  TEST_CASE("operands that threads write for an engine are fenced and awaited") {
    const Texts texts = texts_of("scaled_product", {{64, 64}, {64, 64}, {64, 64}});
    constexpr Mutation kMutations[] = {
        {"a missing fence", R"(^ *engine_fence$)", "", 1, "race", "race"},
        {"a fence before the writes", R"(^ *engine_fence$)", "", 1, "race", "race", R"(^( *)block_barrier.*$)", "$1block_barrier\n$1engine_fence", 1},
        {"no barrier between the writes and the product", R"(^ *block_barrier.*$)", "", 2, "uninitialised", "uninitialised"},
        {"no barrier between the product and the next writes", R"(^ *block_barrier.*$)", "", 1, "race", "race"},
        {"a wait that leaves the product open", R"(= group_wait (\[%\d+\]))", "= group_wait $1, in_flight=1", 1, "flight", "flight"},
    };
    check_noticed(texts.thread, texts, kMutations);
  }
}
