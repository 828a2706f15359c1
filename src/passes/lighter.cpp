#include "passes/lighter.h"

#include <algorithm>

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kStep = 8, kMost = 240;      // what roles trade in, and what a lane can name of it
constexpr int64_t kCopying[] = {72, 32, 24};   // registers of a lane that copies, or starts copies

bool is_rest(const Schedule& schedule, const Role& role) {
  return std::ranges::any_of(schedule.placements, [&](const Placement& p) { return p.role == role.name && p.label == kRest; });
}

// All that was chosen is kept. Where the roles were, they are not to be chosen again.
Schedule kept(const Schedule& chosen, const Schedule& pinned) {
  Schedule again = chosen;
  again.layouts = pinned.layouts;
  again.are_roles_pinned = !chosen.roles.empty();
  again.facts = {.widens = chosen.facts.widens, .is_widened = chosen.facts.is_widened};
  return again;
}

}  // namespace

std::vector<Schedule> with_more_registers(const Schedule& chosen, const Schedule& pinned, const Machine& machine) {
  bool trades = machine.has(Cap::RegisterBudgets) && machine.block_registers > 0 && chosen.roles.size() == 2;
  bool is_said = std::ranges::any_of(pinned.roles, [](const Role& role) { return role.registers > 0; });
  if (!trades || is_said) return {};
  Schedule again = kept(chosen, pinned);
  auto math = std::ranges::find_if(again.roles, [&](const Role& role) { return is_rest(again, role); });
  auto load = std::ranges::find_if(again.roles, [&](const Role& role) { return !is_rest(again, role); });
  if (math == again.roles.end() || load == again.roles.end()) return {};
  int64_t warps = math->warps + load->warps, begins = machine.block_registers / (warps * machine.lanes) / kStep * kStep;
  std::vector<Schedule> all;
  for (int64_t copying : kCopying) {
    int64_t computing = std::min(kMost, (begins * warps - copying * load->warps) / math->warps / kStep * kStep);
    if (computing <= std::max(math->registers, begins)) continue;
    math->registers = computing, load->registers = copying;
    all.push_back(again);
  }
  return all;
}

std::optional<Schedule> without_flights(const Schedule& chosen, const Schedule& pinned) {
  Schedule again = kept(chosen, pinned);
  bool changes = false;
  for (Pipeline& pipeline : again.pipelines) {
    bool is_said = std::ranges::any_of(pinned.pipelines, [&](const Pipeline& p) { return p.name == pipeline.name && p.in_flight >= 0; });
    if (is_said || pipeline.in_flight < 1) continue;
    pipeline.in_flight = 0;
    changes = true;
  }
  return changes ? std::optional(std::move(again)) : std::nullopt;
}

}  // namespace tilec::passes
