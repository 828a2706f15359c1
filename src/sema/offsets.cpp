#include "sema/offsets.h"

#include <numeric>

#include "ir/scalar_eval.h"
#include "sema/host_range.h"

namespace tilec::sema {

namespace op = ir::op;

constexpr int kDeepest = 100;  // what lies deeper is a number of its own

std::optional<bool> Offsets::are_equal(ir::ValueId a, ir::ValueId b) {
  const prove::Linear apart = sum(a) - sum(b);
  if (apart.is_lost) return std::nullopt;
  if (apart.is_constant()) return apart.constant == 0;
  prove::Interval range{apart.constant, apart.constant};
  int64_t divisor = 0;
  for (const prove::Linear::Part& part : apart.parts) {
    range = range + ranges_[part.atom.index] * prove::Interval{part.factor, part.factor};
    divisor = std::gcd(divisor, part.factor);
  }
  const bool may_be = range.holds(0) && apart.constant % divisor == 0;
  return may_be ? std::nullopt : std::optional(false);
}

prove::Linear Offsets::sum(ir::ValueId v) {
  if (auto known = sums_.find(v); known != sums_.end()) return known->second;
  ++depth_;
  const prove::Linear found = read(v);
  --depth_;
  return sums_[v] = found;
}

prove::Linear Offsets::read(ir::ValueId v) {
  if (auto number = kernel_.constant(v)) return number->i;
  auto* b = kernel_.defined_by<op::Binary>(v);
  const bool is_int = kernel_.type(v).element == Scalar::Index && depth_ <= kDeepest;  // others wrap
  if (b && is_int && b->fn == ir::BinaryFn::Add) return sum(b->a) + sum(b->b);
  if (b && is_int && b->fn == ir::BinaryFn::Sub) return sum(b->a) - sum(b->b);
  if (b && is_int && b->fn == ir::BinaryFn::Mul) {
    const prove::Linear x = sum(b->a), y = sum(b->b);
    if (y.is_constant()) return x * y.constant;
    if (x.is_constant()) return y * x.constant;
  }
  return atom(v);
}

prove::AtomId Offsets::atom(ir::ValueId v) {
  std::string key;
  auto is_of = [&](char kind, int what, std::initializer_list<ir::ValueId> operands, bool may_commute = false) {
    std::vector<std::string> keys;
    for (ir::ValueId operand : operands) append_key(keys.emplace_back(), sum(operand));
    if (may_commute) std::ranges::sort(keys);
    key = std::string{kind, char(kernel_.type(v).element), char(what)};
    for (const std::string& of_operand : keys) key += of_operand;
  };
  if (depth_ > kDeepest) key = "v" + std::to_string(v.index);
  else if (auto* b = kernel_.defined_by<op::Binary>(v)) is_of('b', int(b->fn), {b->a, b->b}, ir::is_commutative(b->fn));
  else if (auto* u = kernel_.defined_by<op::Unary>(v)) is_of('u', int(u->fn), {u->x});
  else if (auto* c = kernel_.defined_by<op::Convert>(v)) is_of('c', int(c->mode), {c->x});
  else key = "v" + std::to_string(v.index);
  const auto [at, is_new] = atoms_.try_emplace(std::move(key), prove::AtomId{uint32_t(atoms_.size())});
  if (is_new) ranges_.push_back(range_of(kernel_, v));
  return at->second;
}

}  // namespace tilec::sema
