#include "passes/xor_facts.h"

#include <bit>
#include <set>

namespace tilec::passes {

using namespace ir;
using prove::Formula;
using prove::Linear;

namespace {

constexpr int64_t kMostBelow = int64_t(1) << 40;
constexpr size_t kMostWalked = 200;  // values that an index is made of

std::set<ValueId> xors_in(const Kernel& kernel, std::span<const ValueId> roots) {
  std::set<ValueId> seen, found;
  std::vector<ValueId> open(roots.begin(), roots.end());
  while (!open.empty() && seen.size() < kMostWalked) {
    ValueId v = open.back();
    open.pop_back();
    const Op* op = seen.insert(v).second ? kernel.definition(v) : nullptr;
    if (!op) continue;
    auto* binary = op->get<op::Binary>();
    if (binary && binary->fn == BinaryFn::Xor && kernel.type(v).element != Scalar::Bool) found.insert(v);
    if (binary || op->is<op::Unary>() || op->is<op::Convert>() || op->is<op::Select>())
      each_operand(op->data, [&](ValueId operand) { open.push_back(operand); });
  }
  return found;
}

// With both operands below a power of two, the result is so as well. Which one, the range of either tells.
void bound(prove::Facts& facts, prove::Prover& prover, ValueId v, const op::Binary& binary, prove::Twin twin) {
  const Linear result = prover.value(v, twin), a = prover.value(binary.a, twin), b = prover.value(binary.b, twin);
  for (const auto& [known, other] : {std::pair(a, b), std::pair(b, a)}) {
    const prove::Interval range = prover.terms().range(known);
    if (range.low < 0 || range.high > kMostBelow) continue;
    const int64_t power = int64_t(std::bit_ceil(uint64_t(range.high) + 1));
    const Formula is_beyond = prove::any_of({less(other, 0), at_least(other, power)});
    facts.formulas.push_back(prove::any_of({is_beyond, prove::all_of({at_least(result, 0), less(result, power)})}));
  }
}

}  // namespace

prove::Facts xor_facts(const Kernel& kernel, prove::Prover& prover, std::span<const ValueId> a, prove::Twin one, std::span<const ValueId> b,
                       prove::Twin other) {
  prove::Facts facts;
  const std::set<ValueId> of_a = xors_in(kernel, a);
  if (of_a.empty()) return facts;
  for (ValueId v : xors_in(kernel, b)) {
    if (!of_a.contains(v)) continue;
    auto* binary = kernel.defined_by<op::Binary>(v);
    bound(facts, prover, v, *binary, one);
    bound(facts, prover, v, *binary, other);
    auto same = [&](ValueId x) { return equal(prover.value(x, one), prover.value(x, other)); };
    const Formula is_result = same(v), is_left = same(binary->a), is_right = same(binary->b);
    facts.formulas.push_back(prove::any_of({negation(is_result), negation(is_left), is_right}));
    facts.formulas.push_back(prove::any_of({negation(is_result), negation(is_right), is_left}));
  }
  return facts;
}

}  // namespace tilec::passes
