#include "passes/overlap_products.h"

#include <algorithm>
#include <set>

#include "diag/diag.h"
#include "passes/delay_products.h"
#include "passes/delay_stores.h"
#include "passes/flights.h"
#include "passes/late_release.h"
#include "passes/lighter.h"
#include "passes/overlap_turn.h"
#include "passes/rewrite.h"
#include "passes/schedule_loops.h"
#include "passes/tile_pressure.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kUsualInFlight = 1;  // where the schedule does not say

struct Accumulation {
  OpId product;
  size_t carried;  // place of its accumulator among what the loop carries
};

// A loop whose products may stay in flight from turn to turn.
class Carrier {
 public:
  Carrier(Kernel& kernel, const Launched& launched, RegionId region, OpId loop)
      : kernel_(kernel), launched_(launched), region_(region), id_(loop), loop_(kernel.op(loop).as<op::For>()), late_(kernel, region, loop) {}

  bool run() {
    if (!find_products() || !find_rings()) return false;
    turns_in_flight_ = kUsualInFlight;
    for (const Handed& handed : late_.rings()) {
      Pipeline* pipeline = pipeline_of(kernel_, handed.ring);
      if (pipeline && pipeline->in_flight >= 0) turns_in_flight_ = pipeline->in_flight;
    }
    for (const Handed& handed : late_.rings()) turns_in_flight_ = std::min(turns_in_flight_, kernel_.type(handed.ring).shape[0] - 1);
    if (turns_in_flight_ < 1) return false;
    for (const Handed& handed : late_.rings())
      if (Pipeline* pipeline = pipeline_of(kernel_, handed.ring)) pipeline->carry(turns_in_flight_);
    carry();
    await_behind();
    late_.give_back(turns_in_flight_, awaited_, all_awaited_);
    return true;
  }

 private:
  const std::vector<OpId>& body() const { return kernel_.region(loop_.body).ops; }
  bool is_in_body(OpId id) const { return std::ranges::find(body(), id) != body().end(); }
  std::vector<ValueId>& yielded() { return kernel_.op(body().back()).as<op::Yield>().values; }

  // All products of the loop accumulate into what it carries, and nothing else touches that.
  bool find_products() {
    std::vector<int> uses = use_counts(kernel_);
    bool ok = true;
    each_op(kernel_, loop_.body, [&](OpId id) {
      if (!launched_.group_atom(id)) return;
      const op::Gemm& gemm = kernel_.op(id).as<op::Gemm>();
      ValueId result = kernel_.op(id).result();
      const std::vector<ValueId>& args = kernel_.region(loop_.body).args;
      size_t carried = size_t(std::ranges::find(args, gemm.acc) - args.begin());
      ok &= is_in_body(id) && carried > 0 && carried < args.size() && uses[gemm.acc.index] == 1 && uses[result.index] == 1 &&
            yielded()[carried - 1] == result;
      if (ok) products_.push_back({id, carried - 1});
    });
    return ok && !products_.empty();
  }

  // What the products read comes through rings that this loop turns, or does not change in it.
  bool find_rings() {
    for (const Accumulation& product : products_) {
      const op::Gemm& gemm = kernel_.op(product.product).as<op::Gemm>();
      for (ValueId operand : {gemm.a, gemm.b}) {
        if (!kernel_.type(operand).is_buffer()) return false;
        if (!launched_.is_written_in(loop_.body, operand) && !is_turned_here(launched_.ring_of(operand))) continue;
        if (!late_.add(launched_.ring_of(operand))) return false;
      }
    }
    return late_.find_fills();
  }

  bool is_turned_here(ValueId ring) const {
    return ring.valid() && std::ranges::any_of(body(), [&](OpId id) {
      const op::Wait* wait = kernel_.op(id).get<op::Wait>();
      return wait && wait->ring == ring;
    });
  }

  void carry() {
    for (const Accumulation& product : products_) {
      ValueId init = loop_.inits[product.carried], arg = kernel_.region(loop_.body).args[product.carried + 1];
      const Type flight = in_flight(kernel_.type(init));
      const op::Gemm gemm = kernel_.op(product.product).as<op::Gemm>();
      insert_before(kernel_, region_, id_, [&](Builder& b) { loop_.inits[product.carried] = b.value(op::BeginFlight{init, gemm.atom}, flight); });
      kernel_.op(product.product).data = started(gemm);
      for (ValueId v : {arg, kernel_.op(product.product).result(), kernel_.op(id_).results[product.carried]}) retype(kernel_, v, flight);
    }
    kernel_.op(id_).as<op::For>().inits = loop_.inits;
  }

  const std::string& atom_of(const Accumulation& product) const { return kernel_.op(product.product).as<op::GemmAsync>().atom; }

  // Within a turn the oldest, behind the loop all.
  void await_behind() {
    const Accumulation& last = products_.back();
    ValueId flight = kernel_.op(last.product).result();
    insert_after(kernel_, loop_.body, last.product, [&](Builder& b) {
      int64_t open = turns_in_flight_ * int64_t(products_.size());
      ValueId awaited = b.value(op::AwaitGemm{flight, open, atom_of(last)}, Type(kernel_.type(flight)));
      awaited_ = kernel_.value(awaited).op;
      yielded()[last.carried] = awaited;
    });
    OpId at = id_;
    for (const Accumulation& product : products_) {
      ValueId result = kernel_.op(id_).results[product.carried], tile;
      insert_after(kernel_, region_, at, [&](Builder& b) {
        Type type = kernel_.type(result);
        type.kind = TypeKind::Tile;
        tile = b.value(op::AwaitGemm{result, 0, atom_of(product)}, type);
      });
      at = kernel_.value(tile).op;
      replace_uses(kernel_, kernel_.body, result, tile);
      kernel_.op(at).as<op::AwaitGemm>().flight = result;
    }
    all_awaited_ = at;
  }

  Kernel& kernel_;
  const Launched& launched_;
  RegionId region_;
  OpId id_;
  op::For loop_;
  std::vector<Accumulation> products_;
  LateRelease late_;
  int64_t turns_in_flight_ = 0;
  OpId awaited_, all_awaited_;
};

// The best first.
constexpr Reach kReaches[] = {{true, true, true}, {true, true, false}, {true, false, true}, {true, false, false}};

constexpr int64_t kLeastToCopy = 32;  // registers of a lane that starts copies, with which it never needs the stack

// As it was chosen, and, for loops of a role that could have more registers, so.
std::vector<Schedule> budgets(const Kernel& kernel, const Machine& machine, const TurnAt& at) {
  const Schedule& chosen = kernel.schedule;
  std::vector<Schedule> all{chosen};
  bool is_long = at.loop.valid() && kernel.op(at.loop).as<op::For>().loop == LoopKind::Pipelined;
  if (!is_long || chosen.facts.lanes_copy) return all;
  for (Schedule& more : with_more_registers(chosen, chosen.are_roles_pinned ? chosen : Schedule{}, machine))
    if (std::ranges::all_of(more.roles, [](const Role& role) { return role.registers >= kLeastToCopy; })) all.push_back(std::move(more));
  return all;
}

void give_registers(Kernel& kernel, const std::vector<Role>& roles) {
  kernel.schedule.roles = roles;
  each_op(kernel, kernel.body, [&](OpId id) {
    op::Roles* split = kernel.op(id).get<op::Roles>();
    for (size_t i = 0; split && i < split->names.size(); ++i)
      for (const Role& role : roles)
        if (role.name == split->names[i]) split->registers[i] = role.registers;
  });
}

// As far as registers reach. Rather than one by one products run with registers of the role that copies.
void overlap_turn(Kernel& kernel, const Machine& machine, const Launched& launched, const TurnAt& at) {
  for (const Schedule& budget : budgets(kernel, machine, at))
    for (Reach reach : kReaches) {
      Kernel trial = kernel;
      overlap_turn(trial, Launched(trial, machine, launched.body()), at, reach);
      if (tile_pressure(trial, launched.body()) > registers_for_tiles(budget, machine)) continue;
      kernel = std::move(trial);
      return give_registers(kernel, budget.roles);
    }
  overlap_turn(kernel, launched, at, {});
}

// The regions with products under one, those inside before those around.
void find_turns(const Kernel& kernel, const Launched& launched, const TurnAt& at, std::vector<TurnAt>& found) {
  bool has_products = false;
  for (OpId id : kernel.region(at.region).ops) {
    has_products |= launched.group_atom(id) != nullptr;
    OpId loop = kernel.op(id).is<op::For>() ? id : OpId{};
    each_region(kernel.op(id).data, [&](RegionId inner) { find_turns(kernel, launched, {inner, loop, at.region}, found); });
  }
  if (has_products) found.push_back(at);
}

// What the schedule says of stages is what came of them.
void write_down(Kernel& kernel, const std::set<std::string>& delayed, Diagnostics& diagnostics) {
  for (Placement& placement : kernel.schedule.placements) {
    if (!placement.role.empty() || placement.stage == 0 || is_store(kernel, placement.label)) continue;
    if (delayed.contains(placement.label)) placement.stage = 1;
    if (delayed.contains(placement.label)) continue;
    if (!placement.is_inferred)
      diagnostics.at(kernel.schedule.span)
          .error(diag::ScheduleRefused, "`" + placement.label + "` is no product that ends the turns of a loop and can run under the next ones");
    placement.stage = 0;
  }
}

}  // namespace

void overlap_products(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  if (!machine.has(Cap::AsyncMatrix)) return;
  std::set<std::string> delayed;
  for (RegionId body : launch_bodies(kernel)) {
    Launched launched(kernel, machine, body);
    each_op_in_region(kernel, body, [&](RegionId region, OpId id) {
      if (!kernel.op(id).is<op::For>()) return;
      if (!Carrier(kernel, launched, region, id).run()) delayed.insert(delay_product(kernel, launched, region, id));
    });
    std::vector<TurnAt> turns;
    find_turns(kernel, launched, {body, {}, {}}, turns);
    for (const TurnAt& at : turns) overlap_turn(kernel, machine, launched, at);
  }
  write_down(kernel, delayed, diagnostics);
}

}  // namespace tilec::passes
