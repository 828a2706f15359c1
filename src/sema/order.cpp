#include "sema/order.h"

#include "sema/view.h"

namespace tilec::sema {
namespace {

// What `read` emits, at the moment. It goes through a region of its own, whose constants are its own as well.
Value at(Instance& in, const Moment& moment, const std::function<Value()>& read) {
  ir::RegionId apart = in.kernel.new_region();
  Value value;
  {
    RegionGuard region(in, apart);
    value = read();
  }
  std::vector<ir::OpId> made = std::move(in.kernel.region(apart).ops);
  in.kernel.region(apart).ops.clear();
  auto& ops = in.kernel.region(moment.region).ops;
  auto place = ops.begin();
  if (moment.last.valid()) {
    auto last = std::find(ops.rbegin(), ops.rend(), moment.last);
    INVARIANT(last != ops.rend(), "what stood in front of a moment stays in its region");
    place = last.base();
  }
  ops.insert(place, made.begin(), made.end());
  return value;
}

Value read(Instance& in, Value value, Span span) {
  if (value.is_element()) return number(in, {std::move(value), span});
  bool is_tile = value.is<View>() && fixed_shape(value.as<View>()->shape);
  return is_tile ? fragment(in, {std::move(value), span}) : value;
}

}  // namespace

Moment now(const Instance& in) {
  const auto& ops = in.kernel.region(in.builder.region()).ops;
  return {in.builder.region(), ops.empty() ? ir::OpId{} : ops.back(), in.builder.writes()};
}

bool has_written_since(const Instance& in, const Moment& moment) { return in.builder.writes() != moment.writes; }

void hold(Instance& in, Operand& operand, const Moment& moment) {
  if (!has_written_since(in, moment)) return;
  if (auto* open = operand.value.as<Shapeless>()) {
    auto resume = [inner = open->resume, moment, span = operand.span](Instance& in, const Shape& shape) {
      return at(in, moment, [&] { return read(in, inner(in, shape), span); });
    };
    operand.value = Shapeless{open->expr, std::move(resume)};
  } else if (operand.value.is<View>()) {
    Value view = operand.value;
    operand.value = at(in, moment, [&] { return read(in, std::move(view), operand.span); });
  }
}

}  // namespace tilec::sema
