// Reductions: registers along the axis first, then lanes.
#include "layout/transform.h"
#include "lower/lowering.h"
#include "lower/magnitude.h"

namespace tilec::lower {

using ir::BinaryFn;
using ir::ReduceFn;

namespace {

constexpr int64_t kChains = 4;  // partial results of one reduction kept apart, so that their latencies overlap

}  // namespace

BinaryFn step_of(ReduceFn fn) {
  switch (fn) {
    case ReduceFn::Sum: return BinaryFn::Add;
    case ReduceFn::Prod: return BinaryFn::Mul;
    case ReduceFn::Max: case ReduceFn::AbsMax: return BinaryFn::Max;
    case ReduceFn::Min: return BinaryFn::Min;
    case ReduceFn::Any: return BinaryFn::Or;
    case ReduceFn::All: return BinaryFn::And;
    default: UNREACHABLE("argmax and argmin are expanded before lowering");
  }
}

namespace {

bool steps_across_warps(const layout::RegLayout& layout, int axis) {
  for (layout::Vec v : layout.warp)
    if (layout::axis_part(v, layout.shape.rank, axis)) return true;
  for (const layout::Grid& grid : layout.grids)
    if (grid.place == layout::GridPlace::Warp && grid.axis == axis) return true;
  return false;
}

}  // namespace

void Lowering::lower_reduce(const ir::Op& op, const ir::op::Reduce& reduce) {
  const Type& from_type = source_.type(reduce.x);
  const layout::RegLayout& layout = reg_layout(from_type.layout);
  const Home& from = home(reduce.x);
  Scalar element = from_type.element;
  BinaryFn step = step_of(reduce.fn);
  std::vector<Digit> kept, summed;
  for (const Digit& d : digits(layout)) {
    if (d.axis == int(reduce.axis)) summed.push_back(d);
    else if (d.axis != layout::kReplica) kept.push_back(d);
  }
  const unsigned always = unrolled_axes(from);
  bool unrolls = from.in_registers();
  ValueId identity = builder_.constant(element, ir::identity(reduce.fn, element));
  auto element_at = [&](const Point& outer, const Point& inner) {
    Point point = outer;
    point.digits.insert(point.digits.end(), inner.digits.begin(), inner.digits.end());
    point.values.insert(point.values.end(), inner.values.begin(), inner.values.end());
    ValueId value = read(from, point);
    if (reduce.fn == ReduceFn::AbsMax) value = magnitude(builder_, value);
    if (ValueId mask = tile_mask(layout, point); mask.valid()) value = builder_.select(mask, value, identity);
    return value;
  };
  // The innermost digit along the axis feeds several chains.
  auto total_of = [&](const Point& outer) {
    bool is_rare = from.deferred && guarded_;
    int64_t chains = summed.empty() || unrolls || is_rare ? 1 : kChains;
    while (chains > 1 && summed[0].count % chains != 0) chains /= 2;
    ValueId start = is_uniform(layout) ? identity : broadcast(identity);
    Carried partial(chains, start);
    std::vector<Digit> rest = summed;
    if (chains > 1) rest[0] = {summed[0].count / chains, summed[0].axis, summed[0].weight * chains, summed[0].place * chains};
    partial = nest(builder_, rest, unrolls ? INT64_MAX : 1, partial, [&](const Point& inner, const Carried& carried) -> Carried {
      Carried next;
      for (int64_t c = 0; c < chains; ++c) {
        Point at = inner;
        if (chains > 1) {
          at.digits.push_back({chains, summed[0].axis, summed[0].weight, summed[0].place});
          at.values.push_back(builder_.index(c));
        }
        next.push_back(builder_.binary(step, carried[c], element_at(outer, at)));
      }
      return next;
    }, always);
    for (int64_t width = chains / 2; width > 0; width /= 2)
      for (int64_t c = 0; c < width; ++c) partial[c] = builder_.binary(step, partial[c], partial[c + width]);
    return reduce_lanes(layout, int(reduce.axis), reduce.fn, partial[0]);
  };
  bool crosses_warps = steps_across_warps(layout, int(reduce.axis));
  if (!source_.type(op.result()).is_tile()) {
    ValueId total = inside_or_guarded(guards(from), [&] { return Carried{total_of({})}; })[0];
    // Every warp needs the number itself, the same in all lanes: it is left where all read it.
    if (machine_.simd_bytes == 0) reduce_through_memory(reduce, layout, {total}, [&](int64_t, ValueId v) { total = v; });
    bind(op.result(), total);
    return;
  }
  if (crosses_warps) {
    std::vector<ValueId> partial;
    nest(builder_, kept, INT64_MAX, {}, [&](const Point& outer, const Carried&) -> Carried {
      partial.push_back(total_of(outer));
      return {};
    });
    Home result = result_home(op, op.result(), {});
    reduce_through_memory(reduce, layout, partial, [&](int64_t r, ValueId v) {
      if (result.in_memory()) builder_.add(ir::op::MemStore{result.memory, builder_.index(r), v, {}, 0});
      else result.registers[size_t(r)] = v;
    });
    bind_home(op.result(), std::move(result));
    return;
  }
  Home result = result_home(op, op.result(), {});
  int64_t unroll = unrolls || !result.in_memory() ? INT64_MAX : 1;
  result.registers = inside_or_guarded(guards(from), [&] {
    nest(builder_, kept, unroll, {}, [&](const Point& outer, const Carried&) -> Carried {
      Point at = projected(outer, [&](int axis) { return axis != int(reduce.axis); });
      for (Digit& d : at.digits)
        if (d.axis > int(reduce.axis)) --d.axis;
      write(result, at, total_of(outer));
      return {};
    }, always);
    return result.registers;
  });
  bind_home(op.result(), std::move(result));
}

// Each lane looks at its own elements; lanes that hold the same may all have their say.
void Lowering::lower_vote_tile(const ir::Op& op, const ir::op::VoteTile& vote_tile) {
  const layout::RegLayout& layout = reg_layout(source_.type(vote_tile.x).layout);
  const Home& from = home(vote_tile.x);
  const ReduceFn fn = vote_tile.how == ir::VoteKind::Any ? ReduceFn::Any : ReduceFn::All;
  const ValueId identity = builder_.constant(Scalar::Bool, ir::identity(fn, Scalar::Bool));
  std::vector<Digit> all_digits;
  for (const Digit& d : digits(layout))
    if (d.axis != layout::kReplica) all_digits.push_back(d);
  const unsigned always = unrolled_axes(from);
  const int64_t unroll = from.in_registers() ? INT64_MAX : 1;
  // Several chains side by side, in turn.
  Carried own = inside_or_guarded(guards(from), [&] {
    return nest(builder_, all_digits, unroll, Carried(kChains, broadcast(identity)), [&](const Point& point, const Carried& carried) -> Carried {
      ValueId value = read(from, point);
      if (ValueId mask = tile_mask(layout, point); mask.valid()) value = builder_.select(mask, value, identity);
      Carried next(carried.begin() + 1, carried.end());
      next.push_back(builder_.binary(step_of(fn), carried[0], value));
      return next;
    }, always);
  });
  for (size_t c = 1; c < own.size(); ++c) own[0] = builder_.binary(step_of(fn), own[0], own[c]);
  bind(op.result(), vote(vote_tile.how, broadcast(own[0]), "warps vote over a tile"));
}

// Combines the lanes that differ along `axis` alone; each of them gets the result.
ValueId Lowering::reduce_lanes(const layout::RegLayout& layout, int axis, ReduceFn fn, ValueId value) {
  int rank = layout.shape.rank;
  std::vector<int64_t> distances;
  for (size_t bit = 0; bit < layout.lane.size(); ++bit)
    if (layout::axis_part(layout.lane[bit], rank, axis)) distances.push_back(int64_t(1) << bit);
  if (distances.empty()) return value;
  Scalar element = target_.type(value).element;
  value = broadcast(value);
  // Where no lane keeps a part of its own, the result is one number of the warp; of lanes that hold the same, one counts.
  bool is_of_warp = std::ranges::all_of(layout.lane, [&](layout::Vec v) { return (v & ~layout::axis_mask(rank, axis)) == 0; });
  ReduceFn combine = fn == ReduceFn::AbsMax ? ReduceFn::Max : fn;
  if (is_of_warp && machine_.simd_bytes > 0) {
    layout::RegLayout lanes = layout;
    lanes.warp.clear(), lanes.grids.clear();
    if (ValueId owner = owner_mask(lanes); owner.valid())
      value = builder_.select(owner, value, builder_.constant(element, ir::identity(fn, element)));
    return builder_.value(ir::op::WarpReduce{combine, value}, ir::scalar_type(element));
  }
  for (int64_t distance : distances) {
    ValueId other = builder_.value(ir::op::Shuffle{ir::ShuffleKind::Xor, value, builder_.index(distance)}, ir::scalar_type(element, true));
    value = builder_.binary(step_of(fn), value, other);
  }
  return value;
}

// Which of the warps that step along the axis this is, and how many there are.
std::pair<ValueId, int64_t> Lowering::warp_along(const layout::RegLayout& layout, int axis, std::span<const int> warp_bits) {
  int64_t warps = 1;
  ValueId warp = builder_.index(0);
  for (int bit : warp_bits) {
    ValueId one = builder_.binary(BinaryFn::And, builder_.binary(BinaryFn::Shr, warp_index(), builder_.index(bit)), builder_.index(1));
    warp = builder_.add(warp, builder_.mul(one, builder_.index(warps)));
    warps *= 2;
  }
  int64_t divisor = int64_t(1) << layout.warp.size();
  for (const layout::Grid& grid : layout.grids) {
    if (grid.place != layout::GridPlace::Warp) continue;
    ValueId step = builder_.binary(BinaryFn::Rem, builder_.binary(BinaryFn::Div, warp_index(), builder_.index(divisor)), builder_.index(grid.count));
    if (grid.axis == axis) warp = builder_.add(warp, builder_.mul(step, builder_.index(warps))), warps *= grid.count;
    divisor *= grid.count;
  }
  return {warp, warps};
}

// Partial results of warps that step along the axis meet in memory: [warp along the axis][element of the result].
void Lowering::reduce_through_memory(const ir::op::Reduce& reduce, const layout::RegLayout& layout, const std::vector<ValueId>& partial,
                                     const std::function<void(int64_t, ValueId)>& done) {
  int axis = int(reduce.axis), rank = layout.shape.rank;
  auto parts = layout::reduce(layout, axis);
  INVARIANT(parts.has_value(), "layouts of atoms and memory move along one axis with each bit");
  Scalar element = target_.type(partial[0]).element;
  int64_t count = parts->result.shape.rank ? parts->result.shape.elements() : 1;
  auto [warp, warps] = warp_along(layout, axis, parts->warp_bits);
  ValueId memory = scratch(element, warps * count, "reduce");
  // One of the lanes and warps that hold the same writes it.
  layout::RegLayout writers = layout;
  for (layout::Vec& v : writers.lane)
    if (layout::axis_part(v, rank, axis)) v = 0;
  ValueId owners = owner_mask(writers);
  auto element_at = [&](const Point& point) {
    ValueId index = builder_.index(0);
    for (int a = 0; a < parts->result.shape.rank; ++a)
      index = builder_.add(builder_.mul(index, builder_.index(parts->result.shape[a])), map_index(parts->result, point, a));
    return index;
  };
  bool is_scalar = rank == 1;
  barrier("a reduction goes from warp to warp");
  for (size_t r = 0; r < partial.size(); ++r) {
    Point point = is_scalar ? Point{} : point_at(parts->result, int64_t(r));
    ValueId mask = all(is_scalar ? ValueId{} : tile_mask(parts->result, point), owners);
    ValueId index = builder_.add(builder_.mul(warp, builder_.index(count)), is_scalar ? builder_.index(0) : element_at(point));
    builder_.add(ir::op::MemStore{memory, index, broadcast(partial[r]), mask, lane_stride(index)});
  }
  barrier("a reduction goes from warp to warp");
  for (size_t r = 0; r < partial.size(); ++r) {
    Point point = is_scalar ? Point{} : point_at(parts->result, int64_t(r));
    ValueId mask = is_scalar ? ValueId{} : tile_mask(parts->result, point), total;
    for (int64_t w = 0; w < warps; ++w) {
      ValueId index = builder_.add(builder_.index(w * count), is_scalar ? builder_.index(0) : broadcast(element_at(point)));
      const bool varies = is_varying(index) || is_varying(mask);
      ValueId value = builder_.value(ir::op::MemLoad{memory, index, mask, lane_stride(index)}, ir::scalar_type(element, varies));
      total = total.valid() ? builder_.binary(step_of(reduce.fn), total, value) : value;
    }
    done(int64_t(r), total);
  }
}

}  // namespace tilec::lower
