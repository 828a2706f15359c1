#include "lower/digits.h"

namespace tilec::lower {

using ir::Builder;
using ir::ValueId;

std::optional<std::vector<Digit>> digits_of(const layout::RegLayout& layout) {
  std::vector<Digit> digits;
  int64_t place = 1;
  auto append = [&](int64_t count, int axis, int64_t weight) {
    if (count == 1) return;
    if (!digits.empty() && digits.back().axis == axis && digits.back().weight * digits.back().count == weight &&
        axis != layout::kReplica)
      digits.back().count *= count;
    else
      digits.push_back({count, axis, weight, place});
    place *= count;
  };
  int rank = layout.shape.rank;
  for (layout::Vec v : layout.reg) {
    if (v == 0) {
      append(2, layout::kReplica, 0);
      continue;
    }
    int axis = 0;
    while (layout::axis_part(v, rank, axis) == 0) ++axis;
    layout::Vec part = layout::axis_part(v, rank, axis);
    if (!std::has_single_bit(v)) return std::nullopt;
    append(2, axis, int64_t(part));
  }
  std::array<int64_t, layout::kMaxRank> next{};
  for (int axis = 0; axis < rank; ++axis) next[axis] = int64_t(1) << layout.bits(axis);
  for (const layout::Grid& grid : layout.grids) {
    int64_t weight = grid.axis == layout::kReplica ? 0 : next[grid.axis];
    if (grid.axis != layout::kReplica) next[grid.axis] *= grid.count;
    if (grid.place == layout::GridPlace::Register) append(grid.count, grid.axis, weight);
  }
  return digits;
}

Carried count_loop(Builder& builder, int64_t count, bool unroll, Carried inits,
                   const std::function<Carried(ValueId, const Carried&)>& body) {
  if (unroll || count == 1) {
    for (int64_t i = 0; i < count; ++i) inits = body(builder.index(i), inits);
    return inits;
  }
  ir::Kernel& kernel = builder.kernel();
  ir::RegionId region = kernel.new_region(), outer = builder.region();
  ValueId low = builder.index(0), high = builder.index(count), step = builder.index(1);
  ValueId i = kernel.new_arg(region, ir::scalar_type(Scalar::Index));
  Carried args;
  std::vector<ir::Type> types;
  for (ValueId v : inits) {
    types.push_back(kernel.type(v));
    args.push_back(kernel.new_arg(region, types.back()));
  }
  builder.set_region(region);
  builder.yield(body(i, args));
  builder.set_region(outer);
  return kernel.op(builder.add(ir::op::For{low, high, step, std::move(inits), ir::LoopKind::Sequential, 0, {}, region}, types)).results;
}

namespace {

// Splits the innermost digit when it alone is longer than the unrolling allows, so that some of it is still unrolled.
std::vector<Digit> split_for(std::span<const Digit> digits, int64_t unroll) {
  std::vector<Digit> out(digits.begin(), digits.end());
  if (out.empty() || out[0].count <= unroll || unroll <= 1) return out;
  for (int64_t inner = unroll; inner > 1; --inner) {
    if (out[0].count % inner != 0) continue;
    Digit outer{out[0].count / inner, out[0].axis, out[0].weight * inner, out[0].place * inner};
    out[0].count = inner;
    out.insert(out.begin() + 1, outer);
    break;
  }
  return out;
}

struct Nest {
  Builder& builder;
  size_t unrolled;  // so many of the innermost digits
  const std::function<Carried(const Point&, const Carried&)>& body;
  unsigned always;
  Point point;

  Carried run(size_t level, const Carried& carried) {
    if (level == 0) return body(point, carried);
    size_t digit = level - 1;
    int axis = point.digits[digit].axis;
    bool unrolls = digit < unrolled || (axis >= 0 && (always >> axis & 1));
    return count_loop(builder, point.digits[digit].count, unrolls, carried, [&](ValueId value, const Carried& inner) {
      point.values[digit] = value;
      return run(digit, inner);
    });
  }
};

}  // namespace

Carried nest(Builder& builder, std::span<const Digit> digits, int64_t unroll, Carried inits,
             const std::function<Carried(const Point&, const Carried&)>& body, unsigned always) {
  std::vector<Digit> split = split_for(digits, unroll);
  size_t unrolled = 0;
  for (int64_t product = 1; unrolled < split.size() && product * split[unrolled].count <= unroll; ++unrolled)
    product *= split[unrolled].count;
  Nest state{builder, unrolled, body, always, {split, std::vector<ValueId>(split.size())}};
  return state.run(split.size(), inits);
}

ValueId register_index(Builder& builder, const Point& point) {
  ValueId sum = builder.index(0);
  for (size_t i = 0; i < point.digits.size(); ++i)
    sum = builder.add(sum, builder.mul(point.values[i], builder.index(point.digits[i].place)));
  return sum;
}

ValueId coordinate(Builder& builder, const Point& point, int axis) {
  ValueId sum = builder.index(0);
  for (size_t i = 0; i < point.digits.size(); ++i)
    if (point.digits[i].axis == axis) sum = builder.add(sum, builder.mul(point.values[i], builder.index(point.digits[i].weight)));
  return sum;
}

Point projected(const Point& point, const std::function<bool(int)>& keep) {
  Point out;
  // Places close up over the digits that fall away; a digit split for unrolling keeps its parts in order of place.
  std::vector<size_t> order(point.digits.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return point.digits[a].place < point.digits[b].place; });
  int64_t place = 1;
  for (size_t i : order) {
    Digit digit = point.digits[i];
    if (digit.axis == layout::kReplica || !keep(digit.axis)) continue;
    digit.place = place;
    place *= digit.count;
    out.digits.push_back(digit);
    out.values.push_back(point.values[i]);
  }
  return out;
}

}  // namespace tilec::lower
