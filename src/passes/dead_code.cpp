// Drops what nobody reads: operations without effect, and the results, carried values and inputs of ifs, loops and
// maps.
//
// Marks from the effects backwards. A loop's k-th carried value is one thing with its initial value, its region
// argument and its result, so that a value that only feeds itself around the loop is dead.
#include "passes/cleanup.h"
#include "passes/effects.h"
#include "passes/passes.h"

namespace tilec::passes {

using namespace ir;

namespace {

// May it have no value? An `int` may leave 64 bits, an integer may be divided by zero.
bool may_fail(const Kernel& kernel, const Op& op) {
  if (auto* unary = op.get<op::Unary>())
    return kernel.type(unary->x).element == Scalar::Index && (unary->fn == UnaryFn::Neg || unary->fn == UnaryFn::Abs);
  auto* binary = op.get<op::Binary>();
  if (!binary || !is_integer(kernel.type(binary->a).element)) return false;
  auto known = kernel.constant(binary->b);
  switch (binary->fn) {
    case BinaryFn::Div: case BinaryFn::Rem: return !known || known->i == 0 || known->i == -1;
    case BinaryFn::Add: case BinaryFn::Sub: case BinaryFn::Mul: case BinaryFn::Shl: return kernel.type(binary->a).element == Scalar::Index;
    default: return false;
  }
}

// A call is refused where a workspace would have a negative size, also one that nobody uses.
bool is_refused_at_times(const Kernel& kernel, const Op& op) {
  if (!op.is<op::Alloc>() || kernel.type(op.result()).space != Space::Workspace) return false;
  return std::ranges::find(kernel.type(op.result()).shape, kDynamic) != kernel.type(op.result()).shape.end();
}

class DeadCode {
 public:
  enum class Faults : uint8_t { Reported, Unknown };
  explicit DeadCode(Kernel& kernel, Faults faults = Faults::Reported)
      : kernel_(kernel),
        faults_(faults),
        live_ops_(kernel.ops.size()),
        live_values_(kernel.values.size()),
        owner_(kernel.regions.size()),
        region_of_(kernel.ops.size()) {}

  void run() {
    remap_interface(kernel_, [this](ValueId v) { return mark(v), v; });
    find_roots(kernel_.body, {});
    for (ValueId v : yielded(kernel_.body)) mark(v);
    while (!work_.empty()) {
      ValueId v = work_.back();
      work_.pop_back();
      trace(v);
    }
    sweep(kernel_.body);
  }

 private:
  Kernel& kernel_;
  const Faults faults_;  // Unknown: what may have no value is not guarded yet, and is said even where nobody reads it
  std::vector<bool> live_ops_, live_values_;
  std::vector<OpId> owner_;          // by region: the operation that holds it
  std::vector<RegionId> region_of_;  // by operation
  std::vector<ValueId> work_;

  void mark(ValueId v) {
    if (!v.valid() || live_values_[v.index]) return;
    live_values_[v.index] = true;
    work_.push_back(v);
  }

  // A body may lack its yield while a pass is at work on the host's part.
  std::vector<ValueId> yielded(RegionId r) const {
    const Region& region = kernel_.region(r);
    if (region.ops.empty() || !kernel_.op(region.ops.back()).is<op::Yield>()) return {};
    return kernel_.op(region.ops.back()).as<op::Yield>().values;
  }

  void find_roots(RegionId region, OpId owner) {
    owner_[region.index] = owner;
    for (OpId id : kernel_.region(region).ops) {
      region_of_[id.index] = region;
      const Op& op = kernel_.op(id);
      bool is_structure = op.is<op::For>() || op.is<op::If>() || op.is<op::Map>();  // live by what they hold
      each_region(op.data, [&](RegionId r) { find_roots(r, id); });
      if (!is_structure && (has_effect(kernel_, op) || (faults_ == Faults::Unknown && may_fail(kernel_, op)) || is_refused_at_times(kernel_, op))) keep(id);
    }
  }

  // The operation stays, and with it what decides whether and how it runs. A pass at work may have taken it out already.
  void keep(OpId id) {
    if (live_ops_[id.index] || !region_of_[id.index].valid()) return;
    live_ops_[id.index] = true;
    if (OpId owner = owner_[region_of_[id.index].index]; owner.valid()) keep(owner);
    const Op& op = kernel_.op(id);
    if (const auto* loop = op.get<op::For>()) {
      for (ValueId v : {loop->low, loop->high, loop->step}) mark(v);
    } else if (const auto* branch = op.get<op::If>()) {
      mark(branch->condition);
    } else if (!op.is<op::Map>()) {
      each_operand(op.data, [&](ValueId v) { mark(v); });
      each_region(op.data, [&](RegionId r) {
        for (ValueId v : yielded(r)) mark(v);
      });
    }
  }

  void trace(ValueId v) {
    const Value& value = kernel_.value(v);
    if (!value.op.valid()) return trace_argument(v, value.region);
    keep(value.op);
    const Op& op = kernel_.op(value.op);
    size_t k = size_t(std::find(op.results.begin(), op.results.end(), v) - op.results.begin());
    if (const auto* loop = op.get<op::For>()) {
      mark_carried(*loop, k);
    } else if (const auto* branch = op.get<op::If>()) {
      mark(yielded(branch->then_body)[k]);
      mark(yielded(branch->else_body)[k]);
    } else if (const auto* map = op.get<op::Map>()) {
      mark(yielded(map->body)[k]);
    }
  }

  void trace_argument(ValueId v, RegionId region) {
    OpId owner = owner_[region.index];
    if (!owner.valid()) return;
    const Op& op = kernel_.op(owner);
    const std::vector<ValueId>& args = kernel_.region(region).args;
    size_t k = size_t(std::find(args.begin(), args.end(), v) - args.begin());
    if (const auto* loop = op.get<op::For>(); loop && k > 0) {
      mark_carried(*loop, k - 1);
      mark(op.results[k - 1]);
    }
    if (const auto* map = op.get<op::Map>(); map && k >= map->shape.size()) mark(map->inputs[k - map->shape.size()]);
  }

  void mark_carried(const op::For& loop, size_t k) {
    mark(loop.inits[k]);
    mark(yielded(loop.body)[k]);
    mark(kernel_.region(loop.body).args[k + 1]);
  }

  void sweep(RegionId region) {
    std::vector<OpId> kept;
    for (OpId id : kernel_.region(region).ops) {
      if (!live_ops_[id.index] && !kernel_.op(id).is<op::Yield>()) continue;
      kept.push_back(id);
      narrow_structure(kernel_.op(id));
      each_region(kernel_.op(id).data, [&](RegionId r) { sweep(r); });
    }
    kernel_.region(region).ops = std::move(kept);
  }

  template <class T>
  static void keep_where(std::vector<T>& list, const std::vector<bool>& alive, size_t offset = 0) {
    size_t out = offset;
    for (size_t k = 0; k < alive.size(); ++k)
      if (alive[k]) list[out++] = list[offset + k];
    list.resize(out);
  }

  std::vector<bool> alive(std::span<const ValueId> values) const {
    std::vector<bool> out;
    for (ValueId v : values) out.push_back(live_values_[v.index]);
    return out;
  }

  void narrow_yield(RegionId region, const std::vector<bool>& results) {
    keep_where(kernel_.op(kernel_.region(region).ops.back()).as<op::Yield>().values, results);
  }

  // Takes the dead results away, with all that stands for them.
  void narrow_structure(Op& op) {
    std::vector<bool> results = alive(op.results);
    if (auto* loop = op.get<op::For>()) {
      keep_where(loop->inits, results);
      keep_where(kernel_.region(loop->body).args, results, 1);
      narrow_yield(loop->body, results);
    } else if (auto* branch = op.get<op::If>()) {
      narrow_yield(branch->then_body, results);
      narrow_yield(branch->else_body, results);
    } else if (auto* map = op.get<op::Map>()) {
      narrow_yield(map->body, results);
      std::vector<ValueId>& args = kernel_.region(map->body).args;
      std::vector<bool> inputs = alive(std::span(args).subspan(map->shape.size()));
      keep_where(args, inputs, map->shape.size());
      keep_where(map->inputs, inputs);
      keep_where(map->input_axes, inputs);
    } else {
      return;
    }
    keep_where(op.results, results);
  }
};

}  // namespace

void remap_interface(Kernel& kernel, const std::function<ValueId(ValueId)>& f) {
  auto remap = [&](ValueId& v) {
    if (v.valid()) v = f(v);
  };
  for (Dim& d : kernel.dims) remap(d.value);
  for (Param& p : kernel.params) {
    remap(p.value);
    for (ValueId& v : p.extents) remap(v);
    for (ValueId& v : p.strides) remap(v);
  }
  for (Requirement& r : kernel.requirements) remap(r.condition);
}

void drop_dead_code(Kernel& kernel) { DeadCode(kernel).run(); }

void drop_harmless_code(Kernel& kernel) { DeadCode(kernel, DeadCode::Faults::Unknown).run(); }

void cleanup(Kernel& kernel, const Machine&, Diagnostics&) {
  merge_equal_scalars(kernel);
  drop_dead_code(kernel);
}

}  // namespace tilec::passes
