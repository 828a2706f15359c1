// Folds what has become constant since the kernel was written: after `where` and `instantiate` have put numbers in the
// place of names, scalars fold, branches that are decided are spliced in, loops without a trip vanish.
//   in:  Typed    out: Typed
#include "passes/cleanup.h"
#include "passes/passes.h"
#include "passes/rebuild.h"

namespace tilec::passes {

using namespace ir;

namespace {

class Simplifier : public Rebuilder {
 public:
  explicit Simplifier(Kernel& kernel) : Rebuilder(kernel) { builder_.keep_operands(); }

 private:
  bool rewrite(OpId id) override {
    OpData data = kernel_.op(id).data;
    if (const auto* branch = data.get<op::If>()) return decide(*branch, id);
    if (const auto* loop = data.get<op::For>()) return drop_empty(*loop, id);
    if (kernel_.op(id).results.size() != 1) return false;
    ValueId result = kernel_.op(id).result();
    if (is_guarded(kernel_.op(id))) return false;
    ValueId built = fold(data, kernel_.type(result).element);
    if (!built.valid()) return false;
    if (kernel_.value(built).hint.empty()) kernel_.value(built).hint = kernel_.value(result).hint;
    bind(result, built);
    return true;
  }

  // The value built anew from its operands, or none if this is no arithmetic.
  ValueId fold(const OpData& data, Scalar type) {
    if (const auto* o = data.get<op::Unary>()) return builder_.unary(o->fn, o->x);
    if (const auto* o = data.get<op::Binary>()) return builder_.binary(o->fn, o->a, o->b);
    if (const auto* o = data.get<op::Fma>()) return builder_.fma(o->a, o->b, o->c);
    if (const auto* o = data.get<op::Compare>()) return builder_.compare(o->fn, o->a, o->b);
    if (const auto* o = data.get<op::Select>()) return builder_.select(o->condition, o->a, o->b);
    if (const auto* o = data.get<op::Convert>(); o && !o->exact.valid()) return builder_.convert(o->x, type, o->mode);
    if (const auto* o = data.get<op::Extent>()) return extent(*o);
    return {};
  }

  ValueId extent(const op::Extent& o) {
    const Type& buffer = kernel_.type(o.buffer);
    if (buffer.shape[size_t(o.axis)] != kDynamic) return builder_.index(buffer.shape[size_t(o.axis)]);
    const Param* param = kernel_.param_of(o.buffer);
    if (!param || size_t(o.axis) >= param->extents.size()) return {};
    auto fixed = kernel_.constant(current(param->extents[size_t(o.axis)]));
    return fixed ? builder_.index(fixed->i) : ValueId{};
  }

  bool bind_all(OpId id, const std::vector<ValueId>& values) {
    std::vector<ValueId> results = kernel_.op(id).results;
    for (size_t k = 0; k < results.size(); ++k) bind(results[k], values[k]);
    return true;
  }

  bool decide(const op::If& branch, OpId id) {
    auto condition = kernel_.constant(branch.condition);
    return condition && bind_all(id, splice(condition->i ? branch.then_body : branch.else_body));
  }

  bool drop_empty(const op::For& loop, OpId id) {
    auto low = kernel_.constant(loop.low), high = kernel_.constant(loop.high);
    return low && high && low->i >= high->i && bind_all(id, loop.inits);
  }
};

}  // namespace

void simplify(Kernel& kernel, const Machine&, Diagnostics&) {
  Simplifier(kernel).run();
  drop_harmless_code(kernel);
}

}  // namespace tilec::passes
