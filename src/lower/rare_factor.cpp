#include "lower/rare_factor.h"

#include <array>
#include <unordered_map>

namespace tilec::lower {

using namespace ir;

namespace {

// Numbers inside of maps over vectors, followed through the vectors that they are elements of.
class Elements {
 public:
  explicit Elements(const Kernel& kernel) : kernel_(kernel) {}

  // What makes the vector's elements, inside of the map that makes it.
  const Op* definition(ValueId vector) { return kernel_.definition(origin(vector)); }

  // The vector that the number is an element of, or the number, if no vector is known for it.
  ValueId origin(ValueId v) {
    for (;;) {
      ValueId next = kernel_.type(v).is_tile() ? element_of(v) : vector_of(v);
      if (!next.valid()) return v;
      v = next;
    }
  }

 private:
  // Through conversions, which change no number.
  ValueId element_of(ValueId tile) {
    const Op* op = kernel_.definition(tile);
    if (op && op->is<op::ConvertLayout>()) return op->as<op::ConvertLayout>().x;
    if (!op || !op->is<op::Map>() || op->as<op::Map>().shape.size() != 1) return {};
    const op::Map& map = op->as<op::Map>();
    for (size_t i = 0; i < map.inputs.size(); ++i) vectors_[kernel_.region(map.body).args[i + 1]] = map.inputs[i];
    size_t result = size_t(std::ranges::find(op->results, tile) - op->results.begin());
    return kernel_.terminator(map.body).as<op::Yield>().values[result];
  }

  ValueId vector_of(ValueId v) const {
    auto found = vectors_.find(v);
    return found == vectors_.end() ? ValueId{} : found->second;
  }

  const Kernel& kernel_;
  std::unordered_map<ValueId, ValueId> vectors_;  // of the arguments of maps that were entered
};

class Factor {
 public:
  explicit Factor(const Kernel& kernel) : elements_(kernel) {}

  // exp((m - (... ? x : m)) * ...)
  bool is_one_mostly(ValueId v) {
    const Op* op = elements_.definition(v);
    const op::Unary* power = op ? op->get<op::Unary>() : nullptr;
    return power && (power->fn == UnaryFn::Exp || power->fn == UnaryFn::Exp2) && is_zero_mostly(power->x);
  }

 private:
  bool is_zero_mostly(ValueId v) {
    const Op* op = elements_.definition(v);
    const op::Binary* binary = op ? op->get<op::Binary>() : nullptr;
    if (!binary) return false;
    if (binary->fn == BinaryFn::Mul) return is_zero_mostly(binary->a) || is_zero_mostly(binary->b);
    return binary->fn == BinaryFn::Sub && (may_be(binary->b, binary->a) || may_be(binary->a, binary->b));
  }

  // Is `v` a choice between `other` and something else?
  bool may_be(ValueId v, ValueId other) {
    const Op* op = elements_.definition(v);
    const op::Select* choice = op ? op->get<op::Select>() : nullptr;
    return choice && (elements_.origin(choice->a) == elements_.origin(other) || elements_.origin(choice->b) == elements_.origin(other));
  }

  Elements elements_;
};

bool is_whole(const op::Map& map, size_t input) {
  return map.input_axes[input].size() == map.shape.size() && std::ranges::is_sorted(map.input_axes[input]);
}

}  // namespace

int64_t rare_factor(const Kernel& kernel, const op::Map& map) {
  const std::vector<OpId>& ops = kernel.region(map.body).ops;
  const op::Binary* product = kernel.op(ops.front()).get<op::Binary>();
  if (map.inputs.size() != 2 || map.shape.size() != 2 || ops.size() != 2 || !product || product->fn != BinaryFn::Mul) return -1;
  const ValueId first = kernel.region(map.body).args[2], second = kernel.region(map.body).args[3];
  if (std::minmax(product->a, product->b) != std::minmax(first, second)) return -1;
  for (size_t i = 0; i < 2; ++i)
    if (is_whole(map, 1 - i) && map.input_axes[i].size() == 1 && Factor(kernel).is_one_mostly(map.inputs[i])) return int64_t(i);
  return -1;
}

}  // namespace tilec::lower
