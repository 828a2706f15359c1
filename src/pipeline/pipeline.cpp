#include "pipeline/pipeline.h"

#include <set>

#include "base/check.h"
#include "check/heavy_tiles.h"
#include "check/loop_times.h"
#include "check/pins.h"
#include "check/pressure.h"
#include "check/requirements.h"
#include "check/schedule.h"
#include "diag/diag.h"
#include "ir/verify.h"
#include "lower/lower.h"
#include "passes/count_slots.h"
#include "passes/deal_vectors.h"
#include "passes/delay_stores.h"
#include "passes/distances.h"
#include "passes/estimate.h"
#include "passes/contract.h"
#include "passes/insert_barriers.h"
#include "passes/late_sums.h"
#include "passes/overlap_products.h"
#include "passes/pack_shared.h"
#include "passes/passes.h"
#include "passes/persist.h"
#include "passes/place.h"
#include "passes/schedule.h"
#include "passes/select_atoms.h"
#include "passes/share_copies.h"
#include "passes/skip_masks.h"
#include "passes/split_loops.h"
#include "passes/split_roles.h"
#include "passes/split_turns.h"
#include "passes/stage_loops.h"
#include "passes/tile_votes.h"

namespace tilec {

namespace {

using enum ir::Form;

void lower_to_threads(ir::Kernel& kernel, const Machine& machine, Diagnostics&) {
  std::vector<ir::HeavyTiles> heavy = check::heavy_tiles(kernel);
  kernel = lower::lower(kernel, machine);
  kernel.heavy_tiles = std::move(heavy);
}

constexpr Pass kPipeline[] = {
    {"simplify", Typed, Typed, passes::simplify, "what is constant once dims are fixed"},
    {"check-numbers", Typed, Typed, passes::check_numbers, "integer arithmetic has a value, or is guarded"},
    {"clip", Typed, Typed, passes::clip, "every access is proved inside or guarded"},
    {"check-padding", Typed, Typed, passes::check_padding, "what lies over an edge enters no reduction"},
    {"check-initialised", Typed, Typed, passes::check_initialised, "shared tiles are written before they are read"},
    {"check-races", Typed, Typed, passes::check_races, "blocks and iterations touch elements of their own"},
    {"check-shuffles", Typed, Typed, passes::check_shuffles, "lanes ask for numbers of lanes that their warp has"},
    {"check-outputs", Typed, Typed, passes::check_outputs, "launches reach the end of what they write"},
    {"expand", Typed, Typed, passes::expand, "reductions to an index, and of narrow floats, in what lowering knows"},
    {"fuse-elementwise", Typed, Typed, passes::fuse_elementwise, "chains of maps into one"},
    {"gather-sums", Typed, Typed, passes::gather_sums, "loops that add to a region element by element: a tile that is added at once"},
    {"contract", Typed, Typed, passes::contract, "a product and a sum of one expression, rounded once"},
    {"split-turns", Typed, Typed, passes::split_turns, "turns of a loop of products shared by the blocks of a cluster, which add up their sums"},
    {"check-tiles", Typed, Typed, passes::check_tiles, "no tile alone is more than the machine has"},
    {"select-atoms", Typed, Typed, passes::select_atoms, "the instruction of every matrix product, operands where it reads them"},
    {"schedule", Typed, Typed, passes::schedule, "which warps do what, where the source does not say"},
    {"check-times", Typed, Typed, check::check_times, "work of loops begins when its unit is free and what it needs is there"},
    {"estimate", Typed, Typed, passes::estimate, "how long launches are expected to take"},
    {"place", Typed, Placed, passes::place, "a layout for every tile and shared buffer; conversions appear"},
    {"late-sums", Placed, Placed, passes::late_sums, "sums over rows that only a loop's total asks for, over lanes and warps behind it"},
    {"tile-votes", Placed, Placed, passes::tile_votes, "whether any element of a tile is true: one barrier at which warps vote"},
    {"skip-masks", Placed, Placed, passes::skip_masks, "tiles that lie on one side of their masks, without them"},
    {"deal-vectors", Placed, Placed, passes::deal_vectors, "vectors of which each lane holds many elements, read once by each warp and dealt out"},
    {"persist", Placed, Placed, passes::persist, "blocks that go on to the next, where the launch has more than run at once"},
    {"stage-loops", Placed, Staged, passes::stage_loops, "versions of buffers, copies in flight"},
    {"split-roles", Staged, Staged, passes::split_roles, "the program of each role of the block's warps"},
    {"overlap-products", Staged, Staged, passes::overlap_products, "products of groups of warps in flight, and awaited"},
    {"share-copies", Staged, Staged, passes::share_copies, "what the blocks of a cluster copy together"},
    {"delay-stores", Staged, Staged, passes::delay_stores, "tiles that end the rounds of blocks that go on, stored under the next round's products"},
    {"insert-barriers", Staged, Staged, passes::insert_barriers, "barriers between conflicting touches of memory"},
    {"check-schedule", Staged, Staged, check::check_schedule, "rings turn without a deadlock, and the machine has what it takes"},
    {"check-requirements", Staged, Staged, check::check_requirements, "what the schedule requires is so"},
    {"check-pins", Staged, Staged, check::check_pins, "what the schedule pins came of it"},
    {"lower", Staged, Thread, lower_to_threads, "the program of one thread"},
    {"pack-shared", Thread, Thread, passes::pack_shared, "the place of every shared buffer, in bytes of others that are done"},
    {"check-memory", Thread, Thread, passes::check_memory, "a block's shared memory fits the machine"},
    {"split-loops", Thread, Thread, passes::split_loops, "loops whose conditions turn once: the longest part without them"},
    {"legalise", Thread, Thread, passes::legalise, "narrow floats and math functions in what the machine has"},
    {"cleanup", Thread, Thread, passes::cleanup, "common code once, invariant code outside loops, dead code nowhere"},
    {"distances", Thread, Thread, passes::compare_distances, "indices that differ by constants, compared as 32-bit distances"},
    {"count-slots", Thread, Thread, passes::count_slots, "slots of rings counted along, where each turn would divide"},
    {"check-registers", Thread, Thread, check::check_registers, "what is alive at once fits the registers, or is told"},
};

consteval bool chains(std::span<const Pass> passes) {
  for (size_t i = 1; i < passes.size(); ++i)
    if (passes[i - 1].gives != passes[i].needs) return false;
  return passes.front().needs == Typed && passes.back().gives == Thread;
}
static_assert(chains(kPipeline));

// The checks are the passes up to this one.
constexpr std::string_view kLastCheck = "check-outputs";

consteval size_t count_checks() {
  for (size_t i = 0; i < std::size(kPipeline); ++i)
    if (kPipeline[i].name == kLastCheck) return i + 1;
  return 0;
}
constexpr size_t kChecks = count_checks();
static_assert(kChecks > 0 && kPipeline[kChecks - 1].gives == Typed);

// The prover is at hand for the checks only, and none that does not ask stands between those that do.
consteval bool ask_in_time(std::span<const Pass> passes) {
  for (size_t i = 0, first = passes.size(); i < passes.size(); ++i) {
    if (passes[i].run.asks()) first = std::min(first, i);
    if (i >= kChecks ? passes[i].run.asks() : i > first && !passes[i].run.asks()) return false;
  }
  return true;
}
static_assert(ask_in_time(kPipeline));

void verify(const ir::Kernel& kernel, std::string_view pass) {
  std::vector<ir::Violation> violations = ir::verify(kernel, kernel.form);
  if (!violations.empty()) UNREACHABLE(ir::internal_error(violations.front(), pass) + " in kernel '" + kernel.name + "'");
}

// `part`: the checks, or all passes behind them.
void finish(const Pass& pass, std::span<const Pass> part, const ir::Kernel& kernel, const PassOptions& options) {
  INVARIANT(kernel.form == pass.gives, "a pass gives the form that it promises");
  const bool is_end = &pass == &part.back() || pass.name == options.stop_after;
  if (options.verify == Verify::Always ? pass.run.changes() : options.verify == Verify::Ends && is_end) verify(kernel, pass.name);
  if (options.after) options.after(pass, kernel);
}

void run(const PassFunction& f, ir::Kernel& kernel, std::optional<prove::Prover>& prover, const Machine& machine, Diagnostics& diagnostics) {
  if (f.change) f.change(kernel, machine, diagnostics);
  else if (f.look) f.look(kernel, machine, diagnostics);
  else if (f.ask) f.ask(kernel, *prover, diagnostics);
  else f.question(kernel, *prover, diagnostics);
}

// What a machine has too little of is a fact for another round, in which the schedule leaves more room.
constexpr int64_t kRounds = 4;

struct Outcome {
  bool is_fine = true;
  int64_t missing = 0;      // bytes of shared memory
  bool lanes_copy = false;  // which the schedule has not known
};

// Has the schedule anything to give back? Versions of the tiles of a pipelined loop.
bool has_choices(const ir::Kernel& kernel) {
  bool found = false;
  each_op(kernel, kernel.body, [&](ir::OpId id) {
    const ir::op::For* loop = kernel.op(id).get<ir::op::For>();
    found |= loop && loop->loop == ir::LoopKind::Pipelined;
  });
  return found;
}

Outcome run_round(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics, const PassOptions& options, bool may_begin_again) {
  const std::span<const Pass> part = std::span(kPipeline).subspan(kChecks);
  for (const Pass& pass : part) {
    INVARIANT(kernel.form == pass.needs, "a pass gets the form that it needs");
    std::optional<prove::Prover> none;
    run(pass.run, kernel, none, machine, diagnostics);
    if (diagnostics.has_errors()) return {false, pass.name == "check-memory" ? passes::missing_bytes(kernel, machine) : 0};
    if (pass.run.change == passes::schedule && kernel.schedule.facts.widens && !kernel.schedule.facts.is_widened) {
      if (kernel.schedule.facts.is_for_wide)
        diagnostics.at(kernel.schedule.span).error(diag::ScheduleRefused, "there is no instance in wider clusters: this one's blocks share no more in them, or its lines leave no cluster to widen");
      return {false};
    }
    finish(pass, part, kernel, options);
    if (pass.name == options.stop_after) break;
    bool is_split = may_begin_again && pass.run.change == passes::split_roles;
    if (is_split && !kernel.schedule.facts.lanes_copy && passes::lanes_copy(kernel)) return {true, 0, true};
  }
  return {};
}

// The passes see a call of the library as one place in the program; what it stands for is said beside.
bool tell(Diagnostics& found, const std::vector<ir::LibraryCall>& calls, Diagnostics& diagnostics) {
  std::set<Span> named;
  for (const ir::LibraryCall& call : calls)
    if (named.insert(call.call).second) found.note_at(call.call, call.function, diag::InsideLibrary, call.name);
  diagnostics.append(found);
  return !found.has_errors();
}

}  // namespace

std::span<const Pass> pass_list() { return kPipeline; }

bool run_checks(ir::Kernel& kernel, Diagnostics& diagnostics, const PassOptions& options) {
  Diagnostics found(diagnostics.policy());
  // Barriers that a program puts where threads differ are its mistake; all other laws are ours from the start.
  lower::check_threads(kernel, {}, found);
  if (found.has_errors()) return tell(found, kernel.library_calls, diagnostics);
  if (options.verify != Verify::Never) verify(kernel, "analysis");
  std::optional<prove::Prover> prover;
  const std::span<const Pass> part = std::span(kPipeline).first(kChecks);
  for (const Pass& pass : part) {
    INVARIANT(kernel.form == pass.needs, "a pass gets the form that it needs");
    if (pass.run.asks() && !prover) prover.emplace(kernel, options.memory, prove::Reading{.lanes = options.lanes});
    size_t known_ops = kernel.ops.size();
    run(pass.run, kernel, prover, Machine{}, found);
    if (kernel.ops.size() != known_ops) prover.reset();
    finish(pass, part, kernel, options);
    if (pass.name == options.stop_after) break;
  }
  return tell(found, kernel.library_calls, diagnostics);
}

ir::Kernel with_masks(const ir::Kernel& kernel, bool& is_refused) {
  ir::Kernel masked = kernel;
  Diagnostics unheard;
  size_t before = 0, behind = 0;
  PassOptions options{.stop_after = "check-padding", .verify = Verify::Never};
  options.after = [&](const Pass& pass, const ir::Kernel& now) {
    (pass.name == options.stop_after ? behind : before) = now.ops.size();
  };
  bool is_fine = run_checks(masked, unheard, options);
  is_refused = !is_fine && (behind > before || std::ranges::any_of(unheard.all(), [](const Diagnostic& d) { return d.code == diag::PadInReduction.row.code; }));
  return is_fine && behind > before ? std::move(masked) : kernel;
}

bool run_machine_passes(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics, const PassOptions& options) {
  for (const Pass& pass : std::span(kPipeline).first(kChecks))
    if (pass.name == options.stop_after) return true;
  const std::vector<ir::LibraryCall> calls = kernel.library_calls;
  kernel.schedule.facts.exact = options.exact;
  std::optional<ir::Kernel> start;
  if (has_choices(kernel)) start = kernel;
  for (int64_t round = 1, missing = INT64_MAX;; ++round) {
    Diagnostics found(diagnostics.policy());
    Outcome outcome = run_round(kernel, machine, found, options, start.has_value());
    bool is_better = outcome.lanes_copy || (outcome.missing > 0 && outcome.missing < missing);
    if (!start || !is_better || (round >= kRounds && !outcome.lanes_copy)) {
      tell(found, calls, diagnostics);
      return outcome.is_fine;
    }
    start->schedule.facts.lanes_copy |= outcome.lanes_copy;
    if (outcome.missing) start->schedule.facts.scratch_bytes += missing = outcome.missing;
    kernel = *start;
  }
}

bool run_passes(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics, const PassOptions& options) {
  PassOptions checks = options;
  checks.lanes = {machine.lanes};
  return run_checks(kernel, diagnostics, checks) && run_machine_passes(kernel, machine, diagnostics, options);
}

}  // namespace tilec
