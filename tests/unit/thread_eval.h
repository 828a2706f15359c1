// A small evaluator of straight scalar code for tests of passes: the operations of a body, one lane, by ir::evaluate.
#pragma once
#include <cmath>
#include <initializer_list>

#include "ir/builder.h"

namespace tilec::test {

// A kernel in Thread form whose body maps scalars to what it yields.
struct ScalarKernel {
  ir::Kernel kernel;
  std::vector<ir::ValueId> args;
  ScalarKernel(std::initializer_list<Scalar> types, ir::Form form = ir::Form::Thread) {
    kernel.form = form;
    kernel.body = kernel.new_region();
    for (Scalar t : types) args.push_back(kernel.new_arg(kernel.body, ir::scalar_type(t, form == ir::Form::Thread)));
  }
  ir::Builder builder() { return ir::Builder(kernel, kernel.body); }
};

class Evaluator {
 public:
  // `flushes`: subnormal f32 read or made by arithmetic are zero, as some machines have it.
  explicit Evaluator(const ir::Kernel& kernel, bool flushes = false)
      : kernel_(kernel), flushes_(flushes), numbers_(kernel.values.size()) {}

  ir::Number operator()(std::initializer_list<ir::Number> arguments) {
    const ir::Region& body = kernel_.region(kernel_.body);
    size_t k = 0;
    for (ir::Number n : arguments) numbers_[body.args[k++].index] = n;
    for (ir::OpId id : body.ops) {
      const ir::Op& op = kernel_.op(id);
      if (const auto* yield = op.get<ir::op::Yield>()) return at(yield->values[0]);
      numbers_[op.result().index] = evaluate(op);
    }
    return {};
  }

 private:
  ir::Number at(ir::ValueId v) const { return numbers_[v.index]; }
  Scalar element(ir::ValueId v) const { return kernel_.type(v).element; }
  ir::Number flushed(Scalar type, ir::Number n) const {
    if (flushes_ && type == Scalar::F32 && std::fabs(n.f) < 0x1p-126) n.f = std::copysign(0.0, n.f);
    return n;
  }
  ir::Number operand(ir::ValueId v) const { return flushed(element(v), at(v)); }

  ir::Number evaluate(const ir::Op& op) {
    Scalar type = element(op.result());
    if (const auto* o = op.get<ir::op::Constant>()) return o->number;
    if (const auto* o = op.get<ir::op::Unary>())
      return flushed(type, *ir::evaluate(o->fn, element(o->x), operand(o->x)));
    if (const auto* o = op.get<ir::op::Binary>())
      return flushed(type, *ir::evaluate(o->fn, type, operand(o->a), operand(o->b)));
    if (const auto* o = op.get<ir::op::Fma>())
      return flushed(type, ir::evaluate_fma(type, operand(o->a), operand(o->b), operand(o->c)));
    if (const auto* o = op.get<ir::op::Compare>())
      return ir::Number::integer(ir::evaluate(o->fn, element(o->a), operand(o->a), operand(o->b)));
    if (const auto* o = op.get<ir::op::Select>()) return at(o->condition).i ? at(o->a) : at(o->b);
    if (const auto* o = op.get<ir::op::Convert>()) {
      if (type == element(o->x)) return at(o->x);
      return ir::evaluate_convert(element(o->x), type, o->mode, at(o->x));
    }
    UNREACHABLE("only scalar code is evaluated here");
  }

  const ir::Kernel& kernel_;
  bool flushes_;
  std::vector<ir::Number> numbers_;
};

}  // namespace tilec::test
