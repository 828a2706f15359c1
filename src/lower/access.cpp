// From registers and lanes to coordinates, and from coordinates to addresses and masks.
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;
using ir::CompareFn;

// What lane and warp add to the coordinate along `axis`: the XOR of the columns of their set bits, and the warps' grids.
// Emitted once a launch.
ValueId Lowering::lane_part(const layout::RegLayout& layout, int axis) {
  auto column = [&](layout::Vec v) { return int(layout::axis_part(v, layout.shape.rank, axis)); };
  std::vector<int> lanes, warps;
  for (layout::Vec v : layout.lane) lanes.push_back(column(v));
  for (layout::Vec v : layout.warp) warps.push_back(column(v));
  struct Dealt {
    int64_t divisor, count, weight;  // (warp / divisor) % count steps of `weight`
  };
  std::vector<Dealt> grids;
  int64_t divisor = int64_t(1) << layout.warp.size(), weight = int64_t(1) << layout.bits(axis);
  for (const layout::Grid& grid : layout.grids) {
    bool is_dealt = grid.place == layout::GridPlace::Warp;
    if (is_dealt && grid.axis == axis) grids.push_back({divisor, grid.count, weight});
    if (is_dealt) divisor *= grid.count;
    if (grid.axis == axis) weight *= grid.count;
  }
  std::string key;
  for (int c : lanes) key += std::to_string(c) + ",";
  for (int c : warps) key += ";" + std::to_string(c);
  for (const Dealt& g : grids) key += "+" + std::to_string(g.divisor) + "/" + std::to_string(g.count) + "*" + std::to_string(g.weight);
  auto [found, is_new] = lane_parts_.try_emplace({key, first_warp_});
  if (!is_new) return found->second;
  RegionId here = builder_.region();
  builder_.set_region(prelude_);
  auto is_zero = [](int c) { return c == 0; };
  ValueId part;
  if (!std::all_of(lanes.begin(), lanes.end(), is_zero))
    part = linear(lanes, builder_.value(ir::op::LaneIndex{}, ir::scalar_type(Scalar::Index, true)));
  if (!std::all_of(warps.begin(), warps.end(), is_zero)) {
    ValueId warp = linear(warps, divisor > int64_t(1) << layout.warp.size()
                                     ? builder_.binary(BinaryFn::And, warp_index(), builder_.index((int64_t(1) << layout.warp.size()) - 1))
                                     : warp_index());
    part = part.valid() ? builder_.binary(BinaryFn::Xor, part, warp) : warp;
  }
  for (const Dealt& g : grids) {
    ValueId step = builder_.binary(BinaryFn::Div, warp_index(), builder_.index(g.divisor));
    if (g.divisor * g.count < divisor) step = builder_.binary(BinaryFn::Rem, step, builder_.index(g.count));
    step = builder_.mul(step, builder_.index(g.weight));
    part = part.valid() ? builder_.add(part, step) : step;
  }
  builder_.set_region(here);
  return lane_parts_[{key, first_warp_}] = part;
}

ValueId Lowering::linear(std::span<const int> columns, ValueId index) {
  // Runs of bits whose columns double travel together: ((index >> low) & mask) * first column. Only columns that share no bit:
  // their product would carry where the layout flips.
  ValueId sum = builder_.index(0);
  int last = int(columns.size());
  while (last > 0 && columns[last - 1] == 0) --last;
  for (int low = 0; low < int(columns.size());) {
    if (columns[low] == 0) {
      ++low;
      continue;
    }
    int high = low + 1;
    int reached = columns[low];
    while (high < int(columns.size()) && columns[high] == columns[high - 1] * 2 && (columns[high] & reached) == 0) reached |= columns[high++];
    if (is_below(index, int64_t(1) << low)) break;
    if (is_multiple(index, int64_t(1) << high)) {
      low = high;
      continue;
    }
    ValueId run = low ? builder_.binary(BinaryFn::Shr, index, builder_.index(low)) : index;
    if ((high < int(columns.size()) || high < last) && !is_below(index, int64_t(1) << high)) run = builder_.binary(BinaryFn::And, run, builder_.index((int64_t(1) << (high - low)) - 1));
    run = builder_.mul(run, builder_.index(columns[low]));
    int covered = 0;
    for (int i = 0; i < low; ++i) covered |= columns[i];
    bool is_disjoint = (covered & reached) == 0;
    sum = is_disjoint ? builder_.add(sum, run) : builder_.binary(BinaryFn::Xor, sum, run);
    low = high;
  }
  return sum;
}

ValueId Lowering::map_index(const layout::RegLayout& layout, const Point& point, int axis) {
  ValueId uniform = coordinate(builder_, point, axis), lane = lane_part(layout, axis);
  return lane.valid() ? builder_.add(uniform, lane) : uniform;
}

ValueId Lowering::extent(ValueId buffer, int axis) {
  const Type& type = source_.type(buffer);
  if (type.shape[axis] != ir::kDynamic) return builder_.index(type.shape[axis]);
  if (const ir::Param* param = source_.param_of(buffer)) return scalar(param->extents[axis]);
  const ir::op::Alloc* alloc = source_.defined_by<ir::op::Alloc>(buffer);
  INVARIANT(alloc != nullptr, "a buffer of device memory is a parameter or a workspace");
  // An alloc states its dynamic extents alone, or every extent.
  if (alloc->extents.size() == type.shape.size()) return scalar(alloc->extents[axis]);
  return scalar(alloc->extents[std::count(type.shape.begin(), type.shape.begin() + axis, ir::kDynamic)]);
}

ValueId Lowering::stride(ValueId buffer, int axis) {
  if (const ir::Param* param = source_.param_of(buffer); param && !param->strides.empty()) return scalar(param->strides[axis]);
  if (axis + 1 == source_.type(buffer).rank()) return builder_.index(1);
  return builder_.mul(stride(buffer, axis + 1), extent(buffer, axis + 1));
}

ValueId Lowering::address(ValueId buffer, std::span<const Coordinate> coordinates) {
  if (const ir::op::Subview* view = source_.defined_by<ir::op::Subview>(buffer)) {
    std::vector<Coordinate> inner;
    for (ValueId offset : view->offsets) inner.push_back({scalar(offset), {}});
    for (size_t i = 0; i < coordinates.size(); ++i) {
      Coordinate& c = inner[view->axes[i]];
      c = {builder_.add(c.uniform, coordinates[i].uniform), coordinates[i].lane};
    }
    return address(view->buffer, inner);
  }
  const Type& type = source_.type(buffer);
  ValueId own;  // where the array of this warp of threads begins
  if (threads_ && threads_->locals.contains(buffer)) own = builder_.mul(threads_->warp, builder_.index(threads_->locals.at(buffer)));
  bool is_strided = type.space == Space::Global || type.space == Space::Workspace;
  if (!is_strided && type.layout.valid()) return shared_address(source_.layouts.mem(type.layout), coordinates);
  ValueId uniform = own.valid() ? own : builder_.index(0), lanes;
  for (size_t axis = 0; axis < coordinates.size(); ++axis) {
    ValueId step = stride(buffer, int(axis));
    uniform = builder_.add(uniform, builder_.mul(coordinates[axis].uniform, step));
    if (!coordinates[axis].lane.valid()) continue;
    ValueId part = builder_.mul(coordinates[axis].lane, step);
    lanes = lanes.valid() ? builder_.add(lanes, part) : part;
  }
  return lanes.valid() ? builder_.add(uniform, lanes) : uniform;
}

namespace {

// Address bits move with their coordinate bit alone, without XOR: then addresses of disjoint coordinates add up before padding.
bool adds_up(const layout::MemLayout& layout) {
  layout::Vec seen = 0;
  for (layout::Vec v : layout.addr) {
    if (!std::has_single_bit(v) && v != 0) return false;
    if (v & seen) return false;
    seen |= v;
  }
  return true;
}

int address_column(const layout::MemLayout& layout, int axis, int bit) {
  return int(layout.address_bits(layout::coordinate_bit(layout.shape.rank, axis, bit)));
}

// Each step along the axis is as long as the first: then a carry from bit to bit moves the address as it should.
bool steps_evenly(const layout::MemLayout& layout, int axis) {
  int64_t next = 0;
  for (int bit = 0; bit < layout.bits(axis); ++bit) {
    if (int64_t column = address_column(layout, axis, bit); next && column != next) return false;
    else next = column * 2;
  }
  for (const layout::MemGrid& grid : layout.grids) {
    if (grid.axis != axis) continue;
    if (next && grid.stride != next) return false;
    next = grid.stride * grid.count;
  }
  return true;
}

// The bits that a number, which is not negative, may have. Of what is computed in many steps it is any.
uint64_t possible_bits(const ir::Kernel& kernel, ValueId v, const Machine& machine, int most_steps = 10) {
  constexpr uint64_t kAny = ~uint64_t{0};
  if (auto constant = kernel.constant(v)) return uint64_t(constant->i);
  const ir::Op* op = kernel.definition(v);
  if (op && op->is<ir::op::LaneIndex>()) return uint64_t(machine.lanes) - 1;
  if (op && op->is<ir::op::WarpIndex>()) return std::bit_ceil(uint64_t(machine.max_warps)) - 1;
  const ir::op::Binary* binary = op ? op->get<ir::op::Binary>() : nullptr;
  if (!binary || most_steps == 0) return kAny;
  uint64_t a = possible_bits(kernel, binary->a, machine, most_steps - 1), b = possible_bits(kernel, binary->b, machine, most_steps - 1);
  auto factor = kernel.constant(binary->b);
  switch (binary->fn) {
    case BinaryFn::And: return a & b;
    case BinaryFn::Xor: return a | b;
    case BinaryFn::Add: return (a & b) == 0 ? a | b : kAny << std::countr_zero(a | b);
    case BinaryFn::Shr: return factor ? a >> factor->i : kAny;
    case BinaryFn::Mul: return factor && std::has_single_bit(uint64_t(factor->i)) ? a << std::countr_zero(uint64_t(factor->i)) : kAny;
    default: return kAny;
  }
}

}  // namespace

ValueId Lowering::shared_address(const layout::MemLayout& layout, std::span<const Coordinate> coordinates) {
  std::vector<ValueId> uniform, lane, whole;
  bool has_lanes = false, is_separable = adds_up(layout) && !layout.pad.every;
  for (size_t axis = 0; axis < coordinates.size(); ++axis) {
    const Coordinate& c = coordinates[axis];
    uniform.push_back(c.uniform);
    lane.push_back(c.lane.valid() ? c.lane : builder_.index(0));
    whole.push_back(c.lane.valid() ? builder_.add(c.uniform, c.lane) : c.uniform);
    has_lanes |= c.lane.valid();
    // The lanes' part and the rest must not carry into each other where a carry would move the address by another step.
    if (!c.lane.valid() || !is_separable) continue;
    uint64_t above = layout.bits(int(axis)) > 0 ? ~uint64_t(machine_.lanes - 1) : ~uint64_t{0};
    is_separable = layout.bits(int(axis)) == 0 || is_multiple(c.uniform, machine_.lanes);
    if (!is_separable || steps_evenly(layout, int(axis))) continue;
    bool has_one_grid = std::ranges::count(layout.grids, int(axis), &layout::MemGrid::axis) <= 1;  // whose index is the bits above
    is_separable = has_one_grid && (possible_bits(target_, c.uniform, machine_) & above & possible_bits(target_, c.lane, machine_)) == 0;
  }
  if (!has_lanes) return separable_address(layout, uniform);
  if (!is_separable) return separable_address(layout, whole);
  return builder_.add(separable_address(layout, uniform), separable_address(layout, lane));
}

// The address of a coordinate: bits, grids, padding, in the integers of the run time.
ValueId Lowering::separable_address(const layout::MemLayout& layout, std::span<const ValueId> coordinates) {
  int rank = layout.shape.rank;
  ValueId sum = builder_.index(0);
  bool is_xor = !adds_up(layout);
  for (int axis = 0; axis < rank; ++axis) {
    int bits = layout.bits(axis);
    ValueId index = coordinates[axis];
    std::vector<int> columns;
    for (int bit = 0; bit < bits; ++bit) columns.push_back(address_column(layout, axis, bit));
    bool has_grid = layout.grid_count(axis) > 1;
    if (bits > 0) {
      ValueId low = has_grid ? builder_.binary(BinaryFn::And, index, builder_.index((int64_t(1) << bits) - 1)) : index;
      ValueId part = linear(columns, low);
      sum = is_xor ? builder_.binary(BinaryFn::Xor, sum, part) : builder_.add(sum, part);
    }
  }
  for (int axis = 0; axis < rank; ++axis) {
    int bits = layout.bits(axis);
    if (layout.grid_count(axis) == 1 || is_below(coordinates[axis], int64_t(1) << bits)) continue;
    ValueId rest = bits ? builder_.binary(BinaryFn::Shr, coordinates[axis], builder_.index(bits)) : coordinates[axis];
    std::vector<layout::MemGrid> grids;
    for (const layout::MemGrid& g : layout.grids)
      if (g.axis == axis) grids.push_back(g);
    for (size_t i = 0; i < grids.size(); ++i) {
      bool is_last = i + 1 == grids.size();
      ValueId digit = is_last ? rest : builder_.binary(BinaryFn::Rem, rest, builder_.index(grids[i].count));
      sum = builder_.add(sum, builder_.mul(digit, builder_.index(grids[i].stride)));
      if (!is_last) rest = builder_.binary(BinaryFn::Div, rest, builder_.index(grids[i].count));
    }
  }
  if (layout.pad.every)
    sum = builder_.add(sum, builder_.mul(builder_.binary(BinaryFn::Div, sum, builder_.index(layout.pad.every)), builder_.index(layout.pad.add)));
  return sum;
}

std::vector<Coordinate> Lowering::region_coordinates(const Region& region, const layout::RegLayout& layout, const Point& point) {
  std::vector<Coordinate> out;
  for (size_t axis = 0; axis < region.offsets.size(); ++axis) {
    ValueId offset = region.offsets[axis];
    // Behind the end is behind the end; indices counted from there stay within 64 bits.
    bool may_be_far = guarded_ && region.bounds.size() > axis && region.bounds[axis] != ir::Bounds::Inside && !is_nonnegative(offset);
    if (may_be_far) offset = builder_.binary(BinaryFn::Min, offset, extent(region.buffer, int(axis)));
    out.push_back({offset, {}});
  }
  for (size_t axis = 0; axis < region.axes.size(); ++axis) {
    Coordinate& c = out[region.axes[axis]];
    c.uniform = builder_.add(c.uniform, coordinate(builder_, point, int(axis)));
    c.lane = lane_part(layout, int(axis));
  }
  return out;
}

void Lowering::report_indices(const Region& region, Span span) {
  for (size_t axis = 0; axis < region.offsets.size(); ++axis) {
    bool is_proved = region.bounds.size() <= axis || region.bounds[axis] == ir::Bounds::Inside;
    if (is_proved || std::ranges::find(region.axes, int64_t(axis)) != region.axes.end()) continue;
    ValueId index = region.offsets[axis], reach = extent(region.buffer, int(axis)), inside;
    if (!is_nonnegative(index)) inside = builder_.compare(CompareFn::Ge, index, builder_.index(0));
    inside = all(inside, builder_.compare(CompareFn::Lt, index, reach));
    ir::OpId fault = builder_.add(ir::op::Fault{builder_.logical_not(inside), index, int64_t(span.begin), ir::FaultCause::Outside, reach});
    target_.op(fault).span = span;
  }
}

ValueId Lowering::tile_mask(const layout::RegLayout& layout, const Point& point) {
  ValueId mask;
  for (int axis = 0; axis < layout.shape.rank; ++axis) {
    if (layout.covered(axis) == layout.shape[axis]) continue;
    ValueId inside = builder_.compare(CompareFn::Lt, map_index(layout, point, axis), builder_.index(layout.shape[axis]));
    auto constant = target_.constant(inside);
    if (!constant || !constant->i) mask = all(mask, inside);
  }
  return mask;
}

ValueId Lowering::region_mask(const Region& region, const layout::RegLayout& layout, std::span<const Coordinate> coordinates,
                              const Point& point, bool check_bounds) {
  ValueId mask = tile_mask(layout, point);
  for (size_t axis = 0; check_bounds && axis < coordinates.size(); ++axis) {
    if (region.bounds.size() > axis && region.bounds[axis] == ir::Bounds::Inside) continue;
    const Coordinate& c = coordinates[axis];
    ValueId index = c.lane.valid() ? builder_.add(c.uniform, c.lane) : c.uniform;
    if (!is_nonnegative(c.uniform)) mask = all(mask, builder_.compare(CompareFn::Ge, index, builder_.index(0)));
    mask = all(mask, builder_.compare(CompareFn::Lt, index, extent(region.buffer, int(axis))));
  }
  return mask;
}

ValueId Lowering::is_inside(const Guard& guard) {
  const Region& region = guard.region;
  ValueId inside;
  for (size_t axis = 0; axis < region.offsets.size(); ++axis) {
    if (region.bounds.size() > axis && region.bounds[axis] == ir::Bounds::Inside) continue;
    int64_t length = 1;
    for (size_t t = 0; t < region.axes.size(); ++t)
      if (region.axes[t] == int64_t(axis)) length = guard.shape[t];
    // Not offset + length <= extent: that sum may leave 64 bits, where the difference cannot.
    ValueId last = builder_.sub(extent(region.buffer, int(axis)), builder_.index(length));
    if (!is_nonnegative(region.offsets[axis])) inside = all(inside, builder_.compare(CompareFn::Ge, region.offsets[axis], builder_.index(0)));
    inside = all(inside, builder_.compare(CompareFn::Le, region.offsets[axis], last));
  }
  return inside;
}

Carried Lowering::inside_or_guarded(std::span<const Guard> guards, const std::function<Carried()>& emit, ValueId also) {
  ValueId inside = also;
  for (const Guard& guard : guards) inside = all(inside, is_inside(guard));
  auto constant = inside.valid() ? target_.constant(inside) : ir::Number::integer(1);
  bool outer_guarded = guarded_;
  auto side = [&](bool is_guarded) {
    return [&, is_guarded] {
      guarded_ = is_guarded;
      Carried values = emit();
      guarded_ = outer_guarded;
      return values;
    };
  };
  if (constant) return side(!constant->i)();
  return either(inside, side(false), side(true));
}

Carried Lowering::either(ValueId condition, const std::function<Carried()>& holds, const std::function<Carried()>& other) {
  if (!condition.valid()) return holds();
  RegionId outer = builder_.region();
  std::array<RegionId, 2> sides;
  std::vector<Type> types;
  for (const std::function<Carried()>* emit : {&holds, &other}) {
    RegionId& region = sides[emit == &other];
    builder_.set_region(region = target_.new_region());
    Carried values = (*emit)();
    types.clear();
    for (ValueId v : values) types.push_back(target_.type(v));
    builder_.yield(std::move(values));
  }
  builder_.set_region(outer);
  return target_.op(builder_.add(ir::op::If{condition, sides[0], sides[1]}, types)).results;
}

ValueId Lowering::load_element(ValueId buffer, ValueId index, ValueId mask, ir::Number pad) {
  Scalar element = source_.type(buffer).element;
  bool varies = is_varying(index) || is_varying(mask);
  if (varies) index = broadcast(index);
  ValueId value = builder_.value(ir::op::MemLoad{scalar_buffer(buffer), index, mask, lane_stride(index)}, ir::scalar_type(element, varies));
  bool is_zero = pad.is_float ? pad.f == 0 && !std::signbit(pad.f) : pad.i == 0;
  return mask.valid() && !is_zero ? builder_.select(mask, value, builder_.constant(element, pad)) : value;
}

void Lowering::store_element(ValueId buffer, ValueId index, ValueId value, ValueId mask) {
  value = builder_.convert(value, source_.type(buffer).element);
  builder_.add(ir::op::MemStore{scalar_buffer(buffer), index, value, mask, lane_stride(index)});
}

}  // namespace tilec::lower
