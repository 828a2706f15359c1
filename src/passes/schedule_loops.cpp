#include "passes/schedule_loops.h"

#include <algorithm>

#include "ir/loop_memory.h"
#include "passes/loop_graph.h"
#include "passes/modulo.h"
#include "prove/loop_solver.h"

namespace tilec::passes {

using namespace ir;

namespace {

// What shared memory has no room for is filled later than its readers would like: that is no matter of order.
std::optional<LoopTimes> times_of(LoopProblem& problem, LoopMemory* exact) {
  std::optional<LoopTimes> times = modulo_schedule(problem);
  for (int64_t* limit : {&problem.shared_bytes, &problem.registers})
    if (!times && *limit) *limit = 0, times = modulo_schedule(problem);
  if (!times || !exact) return times;
  std::optional<LoopTimes> best = exact->answer(problem, *times, [&] { return prove::best_schedule(problem, *times); });
  return best ? best : times;
}

const Placement* placement_of(const Schedule& schedule, const std::string& product) {
  auto found = std::ranges::find_if(schedule.placements, [&](const Placement& p) { return p.role.empty() && p.label == product; });
  return found == schedule.placements.end() ? nullptr : &*found;
}

}  // namespace

int64_t registers_for_tiles(const Schedule& schedule, const Machine& machine) {
  // Addresses and counters need some, too, and more where the same warps copy: what kernels were seen to take beside their tiles.
  constexpr int64_t kOthers = 24, kOthersOfCopying = 32;
  int64_t all = machine.registers_per_lane, warps = 0, budget = 0;
  if (schedule.roles.empty()) return all - kOthersOfCopying;
  for (const Role& role : schedule.roles) warps += role.warps, budget = std::max(budget, role.registers);
  if (budget == 0 && machine.block_registers && warps) budget = machine.block_registers / (warps * machine.lanes);
  return (budget ? std::min(all, budget) : all) - kOthers;
}

void schedule_loops(Kernel& kernel, const op::Launch& launch, const Machine& machine) {
  if (!machine.has(Cap::AsyncMatrix)) return;
  each_op(kernel, launch.body, [&](OpId id) {
    const op::For* loop = kernel.op(id).get<op::For>();
    if (!loop || loop->loop != LoopKind::Pipelined) return;
    std::optional<LoopGraph> graph = loop_graph(kernel, launch, *loop, machine);
    if (!graph) return;
    LoopProblem& problem = graph->problem;
    problem.registers = registers_for_tiles(kernel.schedule, machine);
    problem.shared_bytes = machine.shared_bytes;
    for (LoopWork& work : problem.work)
      if (const Placement* pinned = placement_of(kernel.schedule, work.name); pinned && work.unit == Unit::Products)
        work.most_stage = std::min(work.most_stage, pinned->stage);
    std::optional<LoopTimes> times = times_of(problem, kernel.schedule.facts.exact);
    if (!times) return;
    int64_t order = 0;
    for (size_t i = 0; i < problem.work.size(); ++i) {
      if (problem.work[i].unit != Unit::Products) continue;
      if (problem.work[i].most_stage > 0 && !placement_of(kernel.schedule, problem.work[i].name))
        kernel.schedule.placements.push_back({.label = problem.work[i].name, .role = {}, .stage = times->stage(i), .order = order, .is_inferred = true});
      ++order;
    }
    kernel.scheduled_loops.push_back({kernel.op(id).span, std::move(problem), std::move(*times)});
  });
}

std::optional<int64_t> stage_of_product(const Kernel& kernel, OpId product) {
  const Placement* placement = placement_of(kernel.schedule, name_of_product(kernel, product));
  return placement ? std::optional(placement->stage) : std::nullopt;
}

}  // namespace tilec::passes
