// Wide accesses of device memory: several neighbouring elements of a lane at once. That they begin at a multiple of their size is
// known at the call alone: the code for regions inside their buffers asks, all other code moves element by element.
#include "ir/workspace.h"
#include "lower/lowering.h"

namespace tilec::lower {

namespace {

// How many of a lane's first registers are neighbours along `axis`.
int64_t neighbours(const layout::RegLayout& layout, int axis) {
  size_t bits = 0;
  while (bits < layout.reg.size() && layout.reg[bits] == layout::coordinate_bit(layout.shape.rank, axis, int(bits))) ++bits;
  return int64_t(1) << bits;
}

}  // namespace

// Elements begin at multiples of `count` where the buffer and each row do. None: they do in every call.
ValueId Lowering::begins_at_multiples(ValueId buffer, int64_t count) {
  auto [found, is_new] = alignments_.try_emplace({buffer.index, count});
  if (!is_new) return found->second;
  RegionId here = builder_.region();
  builder_.set_region(prelude_);
  const Type& type = source_.type(buffer);
  const int64_t bytes = count * byte_width(type.element);
  ValueId holds;
  if (type.space != Space::Workspace || bytes > ir::kWorkspaceAlignment)
    holds = builder_.value(ir::op::IsAligned{scalar_buffer(buffer), bytes}, ir::scalar_type(Scalar::Bool));
  for (int axis = 0; axis + 1 < type.rank(); ++axis) {
    if (is_multiple(stride(buffer, axis), count)) continue;
    ValueId rest = builder_.binary(ir::BinaryFn::And, stride(buffer, axis), builder_.index(count - 1));
    holds = all(holds, builder_.compare(ir::CompareFn::Eq, rest, builder_.index(0)));
  }
  builder_.set_region(here);
  return found->second = holds;
}

// Does no vector of `count` elements lie across the end of the region's rows? Those that begin at multiples then lie inside, or outside.
ValueId Lowering::ends_on_multiples(const Region& region, int64_t count) {
  int last = int(region.axes.back());
  if (region.bounds.size() > size_t(last) && region.bounds[size_t(last)] == ir::Bounds::Inside) return {};
  ValueId rest = builder_.binary(ir::BinaryFn::And, extent(region.buffer, last), builder_.index(count - 1));
  return builder_.compare(ir::CompareFn::Eq, rest, builder_.index(0));
}

// Do rows of the buffer begin at multiples wherever it begins, for every call?
bool Lowering::has_rows_of_multiples(const Region& region, int64_t count) {
  const Type& type = source_.type(region.buffer);
  for (int axis = 0; axis + 1 < type.rank(); ++axis)
    if (!is_multiple(stride(region.buffer, axis), count)) return false;
  return true;
}

// How many elements at once a lane may move of the region, and when; 1 and none where it is one.
Lowering::Wide Lowering::wide(const Region& region, const layout::RegLayout& layout, int most_bytes) {
  Wide narrow;
  if (machine_.simd_bytes > 0 || layout.shape.rank == 0) return narrow;
  ValueId buffer = region.buffer;
  std::vector<int64_t> axes = region.axes;
  std::vector<ValueId> last_offsets{region.offsets.back()};
  while (const ir::op::Subview* view = source_.defined_by<ir::op::Subview>(buffer)) {
    // What the last axis of a view is of its buffer decides; another one than the last is not contiguous.
    const Type& of = source_.type(view->buffer);
    if (view->axes.empty() || view->axes.back() + 1 != of.rank()) return narrow;
    for (int64_t& axis : axes) axis = view->axes[size_t(axis)];
    last_offsets.push_back(scalar(view->offsets.back()));
    buffer = view->buffer;
  }
  const Type& type = source_.type(buffer);
  bool is_device = type.space == Space::Global || type.space == Space::Workspace;
  int last = layout.shape.rank - 1, width = byte_width(type.element);
  if (!is_device || bit_width(type.element) < 8 || type.element == Scalar::Bool || axes.empty() || axes.back() + 1 != type.rank()) return narrow;
  auto step = target_.constant(stride(buffer, type.rank() - 1));
  if (!step || step->i != 1) return narrow;
  int64_t count = std::min<int64_t>(neighbours(layout, last), std::max(1, most_bytes / width));
  auto fits = [&](ValueId offset) { return is_multiple(offset, count); };
  while (count > 1 && (layout.shape[last] % count || !std::ranges::all_of(last_offsets, fits))) count /= 2;
  return count > 1 ? Wide{int(count), begins_at_multiples(buffer, count)} : narrow;
}

std::optional<layout::Widening> Lowering::wider(const Region& region, const layout::RegLayout& layout, Wide& at_once, int most_bytes) {
  if (!machine_.has(Cap::Shuffles) || layout.shape.rank == 0) return std::nullopt;
  int bits = std::countr_zero(unsigned(std::max(1, most_bytes / byte_width(source_.type(region.buffer).element))));
  for (; bits > 0 && int64_t(1) << bits > at_once.count; --bits) {
    auto dealt = layout::widened(layout, layout.shape.rank - 1, bits);
    Wide with = dealt ? wide(region, dealt->layout, most_bytes) : Wide{};
    if (with.count != 1 << bits) continue;
    at_once = with;
    return dealt;
  }
  return std::nullopt;
}

// Rows that lie outside, or vectors of them, are left out where `guarded_` says so.
void Lowering::load_wide(const Region& region, const layout::RegLayout& layout, int count, Scalar element, ir::Number pad, Home& home, bool streams) {
  Scalar stored = source_.type(region.buffer).element;
  for (int64_t r = 0; r < layout.registers(); r += count) {
    Point point = point_at(layout, r);
    std::vector<Coordinate> coordinates = region_coordinates(region, layout, point);
    ValueId mask = region_mask(region, layout, coordinates, point, guarded_);
    ValueId loaded = load_vector(region.buffer, address(region.buffer, coordinates), mask, count, streams);
    for (int i = 0; i < count; ++i) {
      ValueId x = builder_.value(ir::op::VectorElement{loaded, i}, ir::scalar_type(stored, true));
      bool is_zero = pad.is_float ? pad.f == 0 : pad.i == 0;
      if (mask.valid() && !is_zero) x = builder_.select(mask, x, builder_.constant(stored, pad));
      home.registers[size_t(r + i)] = builder_.convert(x, element);
    }
  }
}

void Lowering::store_wide(const Region& region, const layout::RegLayout& layout, int count, const Elements& element, bool adds) {
  Scalar stored = source_.type(region.buffer).element;
  ValueId owners = owner_mask(layout, adds ? Touch::Atomic : Touch::Store);
  for (int64_t r = 0; r < layout.registers(); r += count) {
    Point point = point_at(layout, r);
    std::vector<Coordinate> coordinates = region_coordinates(region, layout, point);
    std::vector<ValueId> elements;
    for (int i = 0; i < count; ++i) elements.push_back(broadcast(builder_.convert(element(r + i), stored)));
    ValueId value = count == 1 ? elements[0] : builder_.value(ir::op::VectorMake{elements}, ir::vector_type(stored, count));
    ValueId index = broadcast(address(region.buffer, coordinates)), mask = all(region_mask(region, layout, coordinates, point, guarded_), owners);
    if (adds) add_element(region.buffer, index, value, mask);
    else builder_.add(ir::op::MemStore{scalar_buffer(region.buffer), index, value, mask, lane_stride(index)});
  }
}

Region Lowering::rising(Region region) {
  std::ranges::sort(region.axes);
  return region;
}

Lowering::WideCopy Lowering::wide_copy(const Region& from, const Region& to, const layout::Shape& shape, bool adds) {
  const Type &source = source_.type(from.buffer), &target = source_.type(to.buffer);
  bool is_loaded = target.space == Space::Shared && source.space != Space::Shared;
  bool is_stored = source.space == Space::Shared && target.space != Space::Shared;
  if ((!is_loaded && !is_stored) || machine_.simd_bytes > 0) return {};
  const Region &far = is_loaded ? from : to, &near = is_loaded ? to : from;
  int bytes = most_bytes(source.element, adds);
  int most = bit_width(source.element) < 8 ? 1 : std::max(1, bytes / std::max(byte_width(source.element), byte_width(target.element)));
  layout::LaneCopy lanes = layout::lane_copy(shape, far.axes, near.axes, machine_.lanes, int(warps_), most);
  auto address = tile_address(rising(near), lanes.near);
  if (!address) return {};
  Wide at_once = wide(rising(far), lanes.far, bytes);
  if (at_once.count == 1) return {};
  int near_count = std::min(address->vector, 1 << lanes.bits);
  return {at_once.count, near_count, at_once.condition, std::move(lanes)};
}

// Rectangle by rectangle: all of it is read, turned in registers where the sides differ, and written.
void Lowering::copy_wide(const Region& from, const Region& to, const WideCopy& at_once, bool adds, bool streams) {
  const layout::LaneCopy& lanes = at_once.lanes;
  bool is_loaded = source_.type(to.buffer).space == Space::Shared;
  Scalar stored = source_.type(from.buffer).element, wanted = source_.type(to.buffer).element;
  const Region far = rising(is_loaded ? from : to), near = rising(is_loaded ? to : from);
  auto shared = tile_address(near, lanes.near);
  auto place = [&](bool is_far, int64_t r) {
    return is_far ? broadcast(address(far.buffer, region_coordinates(far, lanes.far, point_at(lanes.far, r)))) : broadcast(step_address(*shared, r));
  };
  auto mask = [&](bool is_far, int64_t r) {
    const layout::RegLayout& layout = is_far ? lanes.far : lanes.near;
    return all(tile_mask(layout, point_at(layout, r)), owner_mask(layout));
  };
  auto write_vector = [&](ValueId index, ValueId moved, ValueId holds) {
    if (adds) add_element(to.buffer, index, moved, holds);
    else builder_.add(ir::op::MemStore{scalar_buffer(to.buffer), index, moved, holds, lane_stride(index)});
  };
  auto known = [&](bool is_far, int64_t r) { return is_far ? r : lanes.far_register(r); };
  std::vector<ValueId> elements(size_t(1) << lanes.bits);  // as `far` counts
  auto read = [&](bool is_far, int64_t first, int count) {
    for (int64_t r = 0; r < std::ssize(elements); r += count) {
      ValueId vector = load_vector(from.buffer, place(is_far, first + r), mask(is_far, first + r), count, streams);
      for (int i = 0; i < count; ++i) {
        ValueId x = count == 1 ? vector : builder_.value(ir::op::VectorElement{vector, i}, ir::scalar_type(stored, true));
        elements[size_t(known(is_far, r + i))] = broadcast(builder_.convert(x, wanted));
      }
    }
  };
  auto write = [&](bool is_far, int64_t first, int count) {
    for (int64_t r = 0; r < std::ssize(elements); r += count) {
      std::vector<ValueId> of;
      for (int i = 0; i < count; ++i) of.push_back(elements[size_t(known(is_far, r + i))]);
      ValueId moved = count == 1 ? of[0] : builder_.value(ir::op::VectorMake{of}, ir::vector_type(wanted, count));
      write_vector(place(is_far, first + r), moved, mask(is_far, first + r));
    }
  };
  if (stored == wanted && at_once.is_straight()) {
    for (int64_t r = 0; r < lanes.far.registers(); r += at_once.count) {
      ValueId index = place(!is_loaded, r), moved = load_vector(from.buffer, place(is_loaded, r), mask(is_loaded, r), at_once.count, streams);
      write_vector(index, moved, mask(!is_loaded, r));
    }
    return;
  }
  for (int64_t first = 0; first < lanes.far.registers(); first += std::ssize(elements)) {
    read(is_loaded, first, is_loaded ? at_once.count : at_once.near_count);
    write(!is_loaded, first, is_loaded ? at_once.near_count : at_once.count);
  }
}

void Lowering::begin_wide(const Region& from, const Region& to, const WideCopy& at_once) {
  INVARIANT(at_once.is_straight(), "what is in flight passes through no registers");
  const layout::RegLayout& layout = at_once.lanes.far;
  const Region far = rising(from);
  auto shared = tile_address(rising(to), at_once.lanes.near);
  for (int64_t r = 0; r < layout.registers(); r += at_once.count) {
    Point point = point_at(layout, r);
    ValueId index = broadcast(address(far.buffer, region_coordinates(far, layout, point)));
    builder_.add(ir::op::CopyLanes{scalar_buffer(from.buffer), index, scalar_buffer(to.buffer), broadcast(step_address(*shared, r)),
                                   all(tile_mask(layout, point), owner_mask(layout)), at_once.count});
  }
}

}  // namespace tilec::lower
