#include "passes/check_waits.h"

#include <functional>
#include <set>

#include "diag/diag.h"
#include "passes/region.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

struct Waits {
  const Kernel& kernel;
  const op::While& loop;
  RegionId block;
  std::set<ValueId> seen = {};
  ValueId memory = {};  // that the condition reads
  bool is_wait = true;

  // An atomic that leaves what it finds: `atomic_add(x, 0)`; `max` with 0 does so with all that counts up from 0. One that takes the turn of its
  // block does so until another one hands it over.
  bool leaves_memory(const op::Atomic& atomic) const {
    if (atomic.fn == AtomicFn::CompareExchange) return same_number(atomic.operands[0], atomic.operands[1]) || is_turn_of_block(atomic.operands[0]);
    bool is_neutral_at_zero = atomic.fn == AtomicFn::Add || atomic.fn == AtomicFn::Or || atomic.fn == AtomicFn::Xor || atomic.fn == AtomicFn::Max;
    auto n = atomic.operands.size() == 1 ? kernel.constant(atomic.operands[0]) : std::nullopt;
    return is_neutral_at_zero && n && n->i == 0;
  }
  // The same in all turns of the loop, and another number for each block.
  bool is_turn_of_block(ValueId v) const {
    const auto& indices = kernel.region(block).args;
    bool is_of_block = false;
    std::set<ValueId> known;
    std::vector<ValueId> open{v};
    while (!open.empty()) {
      ValueId next = open.back();
      open.pop_back();
      if (!known.insert(next).second) continue;
      is_of_block |= std::ranges::find(indices, next) != indices.end();
      const Op* op = kernel.definition(next);
      if (of_turn_before(next) || (op && is_of_loop(next) && table(op->kind()) != OpTable::Scalar)) return false;
      each_reason(next, [&](ValueId reason) { open.push_back(reason); });
    }
    return is_of_block;
  }
  bool same_number(ValueId a, ValueId b) const {
    auto x = kernel.constant(a), y = kernel.constant(b);
    return a == b || (x && y && x->i == y->i);
  }
  // Does a turn change nothing that others see?
  bool is_quiet(const Op& op) const {
    if (auto* atomic = op.get<op::Atomic>()) return leaves_memory(*atomic);
    return !op.is<op::Store>() && !op.is<op::ElementStore>() && !op.is<op::Copy>() && !op.is<op::BlockBarrier>();
  }

  // Follows what decides, from turn to turn. A number that each turn makes of itself ends the loop one day, as far as anybody knows.
  void follow(ValueId v) {
    if (!is_wait || !seen.insert(v).second) return;
    look_at(v);
    each_reason(v, [&](ValueId x) { follow(x); });
    if (auto next = of_turn_before(v)) {
      is_wait &= !grows_from(*next, v);
      follow(*next);
    }
  }
  // What a value is made of, or chosen by and among.
  void each_reason(ValueId v, const std::function<void(ValueId)>& f) const {
    const Op* op = kernel.definition(v);
    if (!op) return;
    each_operand(op->data, f);
    if (auto arms = chosen_among(v)) {
      f(arms->first);
      f(arms->second);
    }
  }
  std::optional<std::pair<ValueId, ValueId>> chosen_among(ValueId v) const {
    const Op* op = kernel.definition(v);
    auto* choice = op ? op->get<op::If>() : nullptr;
    if (!choice) return std::nullopt;
    auto yields = [&](RegionId region) { return kernel.terminator(region).as<op::Yield>().values; };
    size_t i = size_t(std::ranges::find(op->results, v) - op->results.begin());
    return std::pair{yields(choice->then_body)[i], yields(choice->else_body)[i]};
  }
  // `if x { true } else { x }` is x.
  ValueId plain(ValueId v) const {
    auto arms = chosen_among(v);
    if (!arms) return v;
    ValueId condition = kernel.definition(v)->as<op::If>().condition;
    auto yes = kernel.constant(arms->first), no = kernel.constant(arms->second);
    bool is_condition = (arms->first == condition || (yes && yes->i == 1)) && (arms->second == condition || (no && no->i == 0));
    return is_condition && kernel.type(v).element == Scalar::Bool ? condition : v;
  }
  // Is `v` made of `x` otherwise than by being `x`, now or at times?
  bool grows_from(ValueId v, ValueId x) const {
    std::set<ValueId> known;
    std::vector<ValueId> open{v};
    while (!open.empty()) {
      ValueId next = plain(open.back());
      open.pop_back();
      if (next == x || !known.insert(next).second) continue;
      if (auto before = handed_over(next)) {
        open.push_back(*before);
      } else if (auto arms = chosen_among(next)) {
        open.insert(open.end(), {arms->first, arms->second});
        if (is_made_of(kernel.definition(next)->as<op::If>().condition, x)) return true;
      } else if (is_made_of(next, x)) {
        return true;
      }
    }
    return false;
  }
  bool is_made_of(ValueId v, ValueId x) const {
    std::set<ValueId> known;
    std::vector<ValueId> open{v};
    while (!open.empty()) {
      ValueId next = open.back();
      open.pop_back();
      if (next == x) return true;
      if (!known.insert(next).second) continue;
      if (auto before = handed_over(next)) open.push_back(*before);
      each_reason(next, [&](ValueId reason) { open.push_back(reason); });
    }
    return false;
  }
  // What the condition hands to an argument of the body.
  std::optional<ValueId> handed_over(ValueId v) const {
    const auto& args = kernel.region(loop.body).args;
    return std::ranges::find(args, v) != args.end() ? of_turn_before(v) : std::nullopt;
  }
  void look_at(ValueId v) {
    const Op* op = kernel.definition(v);
    if (!op) return;
    ValueId buffer;
    if (auto* load = op->get<op::ElementLoad>()) buffer = load->buffer;
    if (auto* atomic = op->get<op::Atomic>()) buffer = atomic->buffer;
    if (buffer.valid() && is_device_memory(kernel.type(buffer)) && is_of_loop(v)) memory = buffer;
    is_wait &= !((op->is<op::For>() || op->is<op::While>()) && is_of_loop(v));
  }
  bool is_of_loop(ValueId v) const {
    bool found = false;
    for (RegionId region : {loop.condition, loop.body})
      each_op(kernel, region, [&](OpId id) { found |= std::ranges::find(kernel.op(id).results, v) != kernel.op(id).results.end(); });
    return found;
  }
  // What an argument of the loop was made by.
  std::optional<ValueId> of_turn_before(ValueId v) const {
    auto place_in = [&](RegionId region) { return size_t(std::ranges::find(kernel.region(region).args, v) - kernel.region(region).args.begin()); };
    auto yields = [&](RegionId region) { return kernel.terminator(region).as<op::Yield>().values; };
    if (size_t i = place_in(loop.condition); i < kernel.region(loop.condition).args.size()) return yields(loop.body)[i];
    if (size_t i = place_in(loop.body); i < kernel.region(loop.body).args.size()) return yields(loop.condition)[i + 1];
    return std::nullopt;
  }
};

// What says that a loop goes on. Of a counted one without its count: the index against its end.
std::vector<ValueId> reasons_to_go_on(const Kernel& kernel, const op::While& loop) {
  std::vector<ValueId> reasons, open{kernel.terminator(loop.condition).as<op::Yield>().values[0]};
  if (!loop.step.valid()) return open;
  const ValueId count = kernel.region(loop.condition).args[0];
  while (!open.empty()) {
    ValueId v = open.back();
    open.pop_back();
    auto* both = kernel.defined_by<op::Binary>(v);
    auto* compared = kernel.defined_by<op::Compare>(v);
    if (both && both->fn == BinaryFn::And) open.insert(open.end(), {both->a, both->b});
    else if (!compared || compared->a != count) reasons.push_back(v);
  }
  return reasons;
}

// A loop that looks a few times and tells what it found does not wait. One of so many turns has its count only to end at all.
constexpr uint64_t kMostLooks = 1 << 16;
bool may_be_a_try(const Kernel& kernel, const op::While& loop) {
  const ValueId count = kernel.region(loop.condition).args[0];
  auto low = kernel.constant(loop.inits[0]), step = kernel.constant(loop.step);
  std::optional<int64_t> high;
  each_op(kernel, loop.condition, [&](OpId id) {
    auto* compared = kernel.op(id).get<op::Compare>();
    auto end = compared && compared->a == count ? kernel.constant(compared->b) : std::nullopt;
    if (end) high = end->i;
  });
  if (!low || !step || !high || *high <= low->i) return true;
  return (uint64_t(*high) - uint64_t(low->i)) / uint64_t(step->i) <= kMostLooks;
}

// The memory that a loop waits for; nothing where it does not wait.
std::optional<ValueId> awaited(const Kernel& kernel, const Op& op, RegionId block, std::span<const int> uses) {
  auto* loop = op.get<op::While>();
  if (!loop) return std::nullopt;
  Waits waits{kernel, *loop, block};
  for (RegionId region : {loop->condition, loop->body})
    each_op(kernel, region, [&](OpId x) { waits.is_wait &= waits.is_quiet(kernel.op(x)); });
  if (waits.is_wait) std::ranges::for_each(reasons_to_go_on(kernel, *loop), [&](ValueId v) { waits.follow(v); });
  const ValueId memory = waits.memory;
  if (!waits.is_wait || !memory.valid()) return std::nullopt;
  if (!loop->step.valid()) return memory;
  // The count ends it. What each turn finds anew is no other number for that, as long as nobody changes it.
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (!uses[op.results[i].index]) continue;
    if (i == 0 || may_be_a_try(kernel, *loop)) return std::nullopt;
    waits.follow(kernel.terminator(loop->condition).as<op::Yield>().values[i + 1]);
  }
  const Param* param = kernel.param_of(memory);
  return waits.is_wait && (!param || param->access != Access::In) ? std::optional(memory) : std::nullopt;
}

}  // namespace

void check_waits(const Kernel& kernel, Diagnostics& diagnostics) {
  const std::vector<int> uses = use_counts(kernel);
  for (RegionId body : launch_bodies(kernel))
    each_op(kernel, body, [&](OpId id) {
      if (auto memory = awaited(kernel, kernel.op(id), body, uses))
        diagnostics.at(kernel.op(id).span).warning(diag::BlocksWait, name_of(kernel, *memory))
            .help("let a second launch of the kernel do what comes behind: launches run one after the other");
    });
}

}  // namespace tilec::passes
