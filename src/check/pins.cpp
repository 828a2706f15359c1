#include "check/pins.h"

#include <algorithm>

#include "diag/diag.h"

namespace tilec::check {

using namespace ir;

namespace {

class Pins {
 public:
  Pins(const Schedule& pinned, const Kernel& staged, const Machine& machine, Diagnostics& diagnostics)
      : pinned_(pinned), staged_(staged), came_(staged.schedule), machine_(machine), diagnostics_(diagnostics) {}

  void run() {
    if (machine_.has(Cap::PhaseBarriers) && (machine_.has(Cap::BulkCopy) || machine_.has(Cap::AsyncCopy)))
      for (const Pipeline& pipeline : pinned_.pipelines) compare(pipeline);
    for (const Placement& placement : pinned_.placements)
      if (placement.role.empty()) compare(placement);
    for (const Role& role : pinned_.roles) compare(role);
    if (machine_.cluster_blocks > 1) compare_cluster();
  }

 private:
  void refuse(const std::string& why) { diagnostics_.at(pinned_.span).error(diag::ScheduleRefused, why); }

  void compare_cluster() {
    if (std::ranges::all_of(pinned_.cluster, [](int64_t blocks) { return blocks == 1; })) return;
    bool has_clusters = false;
    each_op(staged_, staged_.body, [&](OpId id) {
      const op::Launch* launch = staged_.op(id).get<op::Launch>();
      has_clusters |= launch && std::ranges::any_of(launch->cluster, [](int64_t blocks) { return blocks > 1; });
    });
    if (!has_clusters) refuse("no launch has clusters of this shape, whose blocks copy for each other what they have in common: `-R schedule` tells why, as T0816");
  }

  void compare(const Pipeline& pin) {
    const std::string line = "pipeline `" + pin.name + "`: ";
    auto came = std::ranges::find_if(came_.pipelines, [&](const Pipeline& p) { return p.name == pin.name && p.tiles == pin.tiles; });
    if (came == came_.pipelines.end()) return;
    if (pin.depth > 0 && came->depth != pin.depth)
      refuse(line + "no loop fills its tiles in " + std::to_string(pin.depth) + " versions; there is " + (came->depth == 1 ? "one" : std::to_string(came->depth)));
    else if (machine_.has(Cap::AsyncMatrix) && pin.in_flight >= 0 && came->carried != pin.in_flight)
      refuse(line + "no loop leaves " + std::to_string(pin.in_flight) + " products open from turn to turn; " +
             (came->carried == 0 ? "none is" : std::to_string(came->carried) + (came->carried == 1 ? " is" : " are")));
  }

  void compare(const Placement& pin) {
    auto came = std::ranges::find_if(came_.placements, [&](const Placement& p) { return p.role.empty() && p.label == pin.label; });
    if (pin.order != 0) refuse("place `" + pin.label + "`: the statements of a turn run in the program's order, which `order " + std::to_string(pin.order) + "` would change");
    if (machine_.has(Cap::AsyncMatrix) && came != came_.placements.end() && came->stage != pin.stage)
      refuse("place `" + pin.label + "`: it runs " + std::to_string(came->stage) + " turn behind, not " + std::to_string(pin.stage));
  }

  void compare(const Role& pin) {
    auto came = std::ranges::find(came_.roles, pin.name, &Role::name);
    if (came == came_.roles.end()) return;
    if (pin.warps > 0 && came->warps != pin.warps) refuse("role `" + pin.name + "` has " + std::to_string(came->warps) + " warps, not " + std::to_string(pin.warps));
    if (pin.registers > 0 && came->registers != pin.registers)
      refuse("role `" + pin.name + "` has " + std::to_string(came->registers) + " registers, not " + std::to_string(pin.registers));
  }

  const Schedule& pinned_;
  const Kernel& staged_;
  const Schedule& came_;
  const Machine& machine_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_pins(const Kernel& staged, const Machine& machine, Diagnostics& diagnostics) {
  if (staged.schedule.facts.tied.valid())
    diagnostics.at(staged.schedule.facts.tied)
        .warning(diag::UnusedSchedule, staged.name, "a later block says as much of the same instance")
        .help("put the lines of both into one block");
  if (staged.schedule.facts.pinned) Pins(*staged.schedule.facts.pinned, staged, machine, diagnostics).run();
}

}  // namespace tilec::check
