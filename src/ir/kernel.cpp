#include "ir/kernel.h"

namespace tilec::ir {

EnumNames names_of(Form) {
  static constexpr std::string_view kNames[] = {"typed", "placed", "staged", "thread"};
  return kNames;
}

EnumNames names_of(Access) {
  static constexpr std::string_view kNames[] = {"in", "out", "inout"};
  return kNames;
}

EnumNames names_of(Need) {
  static constexpr std::string_view kNames[] = {"bulk_copy", "group_products", "matrix_unit", "overlap", "roles", "persistent", "split", "no_spill"};
  return kNames;
}

std::optional<Number> Kernel::constant(ValueId v) const {
  const op::Constant* c = defined_by<op::Constant>(v);
  return c ? std::optional(c->number) : std::nullopt;
}

ValueId Kernel::new_arg(RegionId r, const Type& type, std::string hint) {
  ValueId v{uint32_t(values.size())};
  values.push_back({types.intern(type), {}, r, std::move(hint)});
  region(r).args.push_back(v);
  return v;
}

const Op& Kernel::terminator(RegionId r) const {
  INVARIANT(!region(r).ops.empty() && op(region(r).ops.back()).is<op::Yield>(), "a region ends with a yield");
  return op(region(r).ops.back());
}

const Param* Kernel::param_of(ValueId buffer) const {
  for (const Param& p : params)
    if (p.value == buffer) return &p;
  return nullptr;
}

ReadNote Kernel::read_note(Span span) const {
  auto found = std::find_if(read_notes.begin(), read_notes.end(), [&](const ReadNote& note) { return note.operation == span; });
  return found != read_notes.end() ? *found : ReadNote{span, span, {}};
}

void each_op(const Kernel& kernel, RegionId region, const std::function<void(OpId)>& f) {
  for (OpId id : kernel.region(region).ops) {
    f(id);
    each_region(kernel.op(id).data, [&](RegionId inner) { each_op(kernel, inner, f); });
  }
}

std::vector<int> use_counts(const Kernel& kernel) {
  std::vector<int> counts(kernel.values.size(), 0);
  each_op(kernel, kernel.body, [&](OpId id) {
    each_operand(kernel.op(id).data, [&](ValueId v) { ++counts[v.index]; });
  });
  return counts;
}

void replace_uses(Kernel& kernel, RegionId region, ValueId from, ValueId to) {
  each_op(kernel, region, [&](OpId id) {
    each_operand(kernel.op(id).data, [&](ValueId& v) {
      if (v == from) v = to;
    });
  });
}

}  // namespace tilec::ir
