#include "passes/check_waits.h"

#include "diag/diag.h"
#include "ir/sources.h"
#include "passes/region.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

struct Waits {
  const Kernel& kernel;
  const op::While& loop;
  std::set<ValueId> seen = {};
  ValueId memory = {};  // that the condition reads
  bool is_wait = true;

  // An atomic that leaves what it finds: `atomic_add(x, 0)`.
  bool leaves_memory(const op::Atomic& atomic) const {
    bool is_neutral_at_zero = atomic.fn == AtomicFn::Add || atomic.fn == AtomicFn::Or || atomic.fn == AtomicFn::Xor;
    auto n = atomic.operands.size() == 1 ? kernel.constant(atomic.operands[0]) : std::nullopt;
    return is_neutral_at_zero && n && n->i == 0;
  }
  // Does a turn change nothing that others see?
  bool is_quiet(const Op& op) const {
    if (auto* atomic = op.get<op::Atomic>()) return leaves_memory(*atomic);
    return !op.is<op::Store>() && !op.is<op::ElementStore>() && !op.is<op::Copy>() && !op.is<op::BlockBarrier>();
  }

  // Follows what decides, from turn to turn. A number that each turn makes of itself ends the loop one day, as far as anybody knows.
  void follow(ValueId v) {
    std::set<ValueId> sources;
    each_source(kernel, v, sources, [&](ValueId x) { look_at(x); });
    for (ValueId x : sources)
      if (auto next = of_turn_before(x); next && is_wait) {
        is_wait &= !is_made_of(*next, x) || is_passed_on(*next, x);
        if (seen.insert(x).second) follow(*next);
      }
  }
  // Through the arguments of the body as well, which are what the condition hands over.
  bool is_made_of(ValueId v, ValueId x) const {
    std::set<ValueId> sources;
    each_source(kernel, v, sources, [](ValueId) {});
    if (v == x || sources.contains(x)) return true;
    return std::ranges::any_of(sources, [&](ValueId s) { return handed_over(s) && is_made_of(*handed_over(s), x); });
  }
  bool is_passed_on(ValueId v, ValueId x) const { return v == x || (handed_over(v) && is_passed_on(*handed_over(v), x)); }
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
    bool is_decided_inside = op->is<op::If>() || op->is<op::For>() || op->is<op::While>();
    is_wait &= !(is_decided_inside && is_of_loop(v));
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

}  // namespace

void check_waits(const Kernel& kernel, Diagnostics& diagnostics) {
  each_op(kernel, kernel.body, [&](OpId id) {
    auto* launch = kernel.op(id).get<op::Launch>();
    if (!launch) return;
    each_op(kernel, launch->body, [&](OpId inner) {
      auto* loop = kernel.op(inner).get<op::While>();
      if (!loop || loop->step.valid()) return;
      Waits waits{kernel, *loop};
      for (RegionId region : {loop->condition, loop->body})
        each_op(kernel, region, [&](OpId x) { waits.is_wait &= waits.is_quiet(kernel.op(x)); });
      if (waits.is_wait) waits.follow(kernel.terminator(loop->condition).as<op::Yield>().values[0]);
      if (!waits.is_wait || !waits.memory.valid()) return;
      diagnostics.at(kernel.op(inner).span).warning(diag::BlocksWait, name_of(kernel, waits.memory))
          .help("let a second launch of the kernel do what comes behind: launches run one after the other");
    });
  });
}

}  // namespace tilec::passes
