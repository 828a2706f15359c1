// Appends operations to a region and simplifies as it goes: constants fold, x + 0 and x * 1 vanish. This is the one
// simplifier of the compiler; passes that rewrite build through it.
#pragma once
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "ir/kernel.h"
#include "ir/scalar_eval.h"

namespace tilec::ir {

class Builder {
 public:
  Builder(Kernel& kernel, RegionId region) : kernel_(kernel), region_(region) {}

  Kernel& kernel() { return kernel_; }
  RegionId region() const { return region_; }
  void set_region(RegionId region) { region_ = region; }
  void set_span(Span span) { span_ = held_.valid() ? held_ : span; }
  Span span() const { return span_; }
  // Until it holds another one, or none, all spans are this one. The answer is what it held.
  Span hold_span(Span span) {
    set_span(span);
    return std::exchange(held_, span);
  }
  Span held_span() const { return held_; }
  // How many operations so far may have left something else in memory: writes, atomics, barriers behind which other threads' writes show.
  size_t writes() const { return writes_; }
  // From here on sums of indices are written with their constants last, (x + c) + y as (x + y) + c: in addresses, whose
  // sums cannot overflow, the constants end in the offset of the instruction and what is left is shared.
  void move_constants_outward() { moves_constants_ = true; }
  // From here on nothing but indices is dropped from what it decides nothing of, x * 0 of whole numbers, x || true: elements of tiles tell
  // where their padding lies. A comparison of truth values, or a choice between them, may still be.
  void keep_operands() { keeps_operands_ = true; }

  // The operation as it is, with one result of each type.
  OpId add(OpData data, std::span<const Type> result_types = {});
  ValueId value(OpData data, const Type& type, std::string hint = {});
  void yield(std::vector<ValueId> values) { add(op::Yield{std::move(values)}); }

  // Scalars. A result's type is that of the operands; in Thread IR it varies when an operand does.
  ValueId constant(Scalar type, Number number);
  ValueId index(int64_t value) { return constant(Scalar::Index, Number::integer(value)); }
  ValueId boolean(bool value) { return constant(Scalar::Bool, Number::integer(value)); }
  ValueId real(Scalar type, double value) { return constant(type, Number::real(value)); }
  ValueId unary(UnaryFn fn, ValueId x);
  ValueId binary(BinaryFn fn, ValueId a, ValueId b);
  ValueId add(ValueId a, ValueId b) { return binary(BinaryFn::Add, a, b); }
  ValueId sub(ValueId a, ValueId b) { return binary(BinaryFn::Sub, a, b); }
  ValueId mul(ValueId a, ValueId b) { return binary(BinaryFn::Mul, a, b); }
  ValueId inside(ValueId x, bool of_number = false, std::vector<ValueId> held = {}, bool is_partial = false);  // of an element: nothing is known of it before check-padding
  ValueId fma(ValueId a, ValueId b, ValueId c);
  ValueId overflows(BinaryFn fn, ValueId a, ValueId b);
  ValueId compare(CompareFn fn, ValueId a, ValueId b);
  ValueId select(ValueId condition, ValueId a, ValueId b);
  ValueId convert(ValueId x, Scalar to, ConvertMode mode = ConvertMode::Nearest);
  ValueId logical_and(ValueId a, ValueId b) { return binary(BinaryFn::And, a, b); }
  ValueId logical_or(ValueId a, ValueId b) { return binary(BinaryFn::Or, a, b); }
  ValueId logical_not(ValueId a) { return unary(UnaryFn::Not, a); }

 private:
  const Type& type(ValueId v) const { return kernel_.type(v); }
  ValueId simplify_binary(BinaryFn fn, ValueId a, ValueId b) const;  // an operand that is the result, or none
  ValueId constants_outward(BinaryFn fn, ValueId a, ValueId b);      // the same sum or product, or none
  std::optional<std::pair<ValueId, Number>> with_constant(BinaryFn fn, ValueId v) const;  // the x and c of `x fn c`

  Kernel& kernel_;
  RegionId region_;
  Span span_, held_;
  bool drops(Scalar type) const { return !keeps_operands_ || type == Scalar::Index || type == Scalar::Bool; }
  bool moves_constants_ = false, keeps_operands_ = false;
  size_t writes_ = 0;
  std::map<std::tuple<RegionId, Scalar, int64_t, uint64_t>, ValueId> constants_;  // one of each a region
};

}  // namespace tilec::ir
