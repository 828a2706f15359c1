// Tiles of shared memory held in registers: the address of a lane's register is the lane's part, once, and a constant for each
// register, since both layouts are linear over bits.
#include "layout/access.h"
#include "layout/notation.h"
#include "lower/lowering.h"

namespace tilec::lower {

namespace {

// The tile as its root allocation sees it: one offset a dimension of the root, and where the tile's axes run.
struct RootRegion {
  ValueId buffer;
  std::vector<ValueId> offsets;
  std::vector<int64_t> axes;
};

}  // namespace

Point Lowering::point_at(const layout::RegLayout& layout, int64_t register_index) {
  Point point{digits(layout), {}};
  for (const Digit& d : point.digits) point.values.push_back(builder_.index(register_index / d.place % d.count));
  return point;
}

// Addresses by enumeration: of what each lane holds, or kOutside the tile.
struct Lowering::Places {
  static constexpr int64_t kOutside = INT64_MIN;
  int64_t registers;
  int64_t copy = 0;             // elements from one version of the tile to the next
  std::vector<int64_t> places;  // of the registers of lane 0 of warp 0, then of the next lane

  Places(const layout::MemLayout& mem, const layout::RegLayout& layout, std::span<const int64_t> offsets) : registers(layout.registers()) {
    int leading = mem.shape.rank - layout.shape.rank;
    layout::Coordinate next{};
    next[0] = 1;
    if (leading > 0 && mem.shape[0] > 1) copy = mem.address(next);
    places.reserve(size_t(registers * layout.lanes() * layout.warps()));
    for (int warp = 0; warp < layout.warps(); ++warp)
      for (int lane = 0; lane < layout.lanes(); ++lane)
        for (int64_t r = 0; r < registers; ++r) {
          layout::Coordinate c = layout.coordinate(r, lane, warp), at{};
          for (int axis = 0; axis < layout.shape.rank; ++axis) at[axis + leading] = c[axis] + int(offsets[axis]);
          places.push_back(layout.is_inside(c) ? mem.address(at) : kOutside);
        }
  }
  // What each lane of each warp holds, until `f` says no.
  bool each(const std::function<bool(std::span<const int64_t>)>& f) const {
    for (size_t at = 0; at < places.size(); at += size_t(registers))
      if (!f(std::span(places).subspan(at, size_t(registers)))) return false;
    return true;
  }
};

namespace {

// Are these registers one aligned access, wholly inside the tile or outside?
bool is_one_access(std::span<const int64_t> of, int64_t outside) {
  if (of[0] == outside) return std::ranges::all_of(of, [&](int64_t a) { return a == outside; });
  for (size_t i = 0; i < of.size(); ++i)
    if (of[i] != of[0] + int64_t(i)) return false;
  return of[0] % int64_t(of.size()) == 0;
}

}  // namespace

// How many consecutive registers are consecutive, aligned addresses in every lane.
int Lowering::register_vector(const Places& places, Scalar element) const {
  int vector = 1, most = bit_width(element) < 8 ? 1 : machine_.vector_bytes / byte_width(element);
  for (int wider = 2; wider <= most && places.registers % wider == 0 && places.copy % wider == 0; wider *= 2) {
    bool fits = places.each([&](std::span<const int64_t> lane) {
      for (size_t r = 0; r < lane.size(); r += size_t(wider))
        if (!is_one_access(lane.subspan(r, size_t(wider)), Places::kOutside)) return false;
      return true;
    });
    if (!fits) break;
    vector = wider;
  }
  return vector;
}

// How each register's address follows from register 0's in the same lane: the same for every lane, or none. Looked up for
// every lane and warp, so that it holds for whatever layouts meet. Bits that no lane has in register 0's address are added,
// not flipped: what is added behind the flips is a constant of the access, and registers with the same flips share a base.
std::optional<std::vector<Lowering::TileAddress::Step>> Lowering::register_steps(const Places& places) {
  std::vector<TileAddress::Step> steps(size_t(places.registers));
  int64_t occupied = 0;
  places.each([&](std::span<const int64_t> lane) {
    if (lane[0] != Places::kOutside) occupied |= lane[0];
    return true;
  });
  for (size_t r = 1; r < steps.size(); ++r) {
    bool adds = true, flips = true, is_known = false;
    int64_t sum = 0, difference = 0;
    places.each([&](std::span<const int64_t> lane) {
      int64_t first = lane[0], here = lane[r];
      if (first == Places::kOutside || here == Places::kOutside) return true;
      if (!std::exchange(is_known, true)) sum = here - first, difference = here ^ first;
      adds &= here - first == sum;
      flips &= (here ^ first) == difference;
      return adds || flips;
    });
    if (!adds && !flips) return std::nullopt;
    steps[r] = adds ? TileAddress::Step{0, sum} : TileAddress::Step{difference & occupied, difference & ~occupied};
  }
  return steps;
}

std::optional<Lowering::TileAddress> Lowering::meeting(layout::LayoutId memory, const layout::RegLayout& layout, std::span<const int64_t> offsets,
                                                       Scalar element) const {
  std::string key = std::to_string(memory.index) + " " + std::to_string(int(element)) + " " + layout::print(layout);
  for (int axis = 0; axis < layout.shape.rank; ++axis) key += " x" + std::to_string(layout.shape[axis]);
  for (int64_t offset : offsets) key += " " + std::to_string(offset);
  auto [found, is_new] = meetings_.try_emplace(std::move(key));
  if (!is_new) return found->second;
  Places places(source_.layouts.mem(memory), layout, offsets);
  if (auto steps = register_steps(places))
    found->second = TileAddress{.steps = std::move(*steps), .offsets = {offsets.begin(), offsets.end()}, .vector = register_vector(places, element)};
  return found->second;
}

// Does the axis share no address bit with the others? In a stack of tiles the index of the copy does not; a row of a swizzled tile does.
static bool is_apart(const layout::MemLayout& mem, int of) {
  layout::Vec own = 0, others = 0;
  for (int axis = 0; axis < mem.shape.rank; ++axis)
    for (int bit = 0; bit < mem.bits(axis); ++bit) (axis == of ? own : others) |= mem.address_bits(layout::coordinate_bit(mem.shape.rank, axis, bit));
  return (own & others) == 0;
}

std::optional<Lowering::TileAddress> Lowering::tile_address(const Region& region, const layout::RegLayout& layout) {
  RootRegion at{region.buffer, region.offsets, region.axes};
  while (const ir::op::Subview* view = source_.defined_by<ir::op::Subview>(at.buffer)) {
    std::vector<ValueId> offsets = scalars(view->offsets);
    for (size_t d = 0; d < at.offsets.size(); ++d) offsets[view->axes[d]] = builder_.add(offsets[view->axes[d]], at.offsets[d]);
    for (int64_t& axis : at.axes) axis = view->axes[axis];
    at = {view->buffer, std::move(offsets), std::move(at.axes)};
  }
  const Type& type = source_.type(at.buffer);
  if (type.space != Space::Shared || !type.layout.valid() || !digits_of(layout)) return std::nullopt;
  const layout::MemLayout& mem = source_.layouts.mem(type.layout);
  int rank = type.rank(), leading = rank - layout.shape.rank;
  if (leading < 0 || leading > 1 || mem.pad.every || (leading && !is_apart(mem, 0))) return std::nullopt;
  std::vector<int64_t> constants;
  for (int axis = 0; axis < layout.shape.rank; ++axis) {
    auto constant = target_.constant(at.offsets[axis + leading]);
    if (at.axes[axis] != axis + leading || !constant || constant->i < 0) return std::nullopt;
    constants.push_back(constant->i);
  }
  std::optional<TileAddress> known = meeting(type.layout, layout, constants, type.element);
  if (!known) return std::nullopt;
  TileAddress result = *known;
  // Which copy of a stack: its index shares no address bit with the tile.
  std::vector<ValueId> outside(rank, builder_.index(0));
  std::vector<Coordinate> first(rank, {builder_.index(0), {}});
  if (leading) outside[0] = at.offsets[0];
  std::string key = std::to_string(type.layout.index) + "@";
  for (layout::Basis const* bits : {&layout.lane, &layout.warp})
    for (layout::Vec v : *bits) key += std::to_string(v) + ",";
  for (const layout::Grid& g : layout.grids) key += std::to_string(g.axis) + "x" + std::to_string(g.count) + (g.place == layout::GridPlace::Warp ? "w" : "r");
  for (int64_t c : constants) key += ":" + std::to_string(c);
  for (int axis = 0; axis < layout.shape.rank; ++axis) key += "/" + std::to_string(layout.bits(axis));
  auto [found, is_new] = lane_parts_.try_emplace({key, first_warp_});
  if (is_new) {
    RegionId here = builder_.region();
    std::vector<ValueId> parts;
    for (int axis = 0; axis < layout.shape.rank; ++axis) parts.push_back(lane_part(layout, axis));
    builder_.set_region(prelude_);
    for (int axis = 0; axis < layout.shape.rank; ++axis) first[axis + leading] = {builder_.index(constants[axis]), parts[axis]};
    ValueId lane = shared_address(mem, first);
    builder_.set_region(here);
    lane_parts_[{key, first_warp_}] = lane;
  }
  result.lane = lane_parts_[{key, first_warp_}];
  if (leading) result.rest = separable_address(mem, outside);
  return result;
}

ValueId Lowering::step_address(const TileAddress& address, int64_t register_index) {
  const TileAddress::Step& step = address.steps[register_index];
  ValueId base = step.flips ? builder_.binary(ir::BinaryFn::Xor, address.lane, builder_.index(step.flips)) : address.lane;
  if (address.rest.valid()) base = builder_.add(base, address.rest);
  return builder_.add(base, builder_.index(step.adds));
}

ValueId Lowering::load_vector(ValueId buffer, ValueId index, ValueId mask, int count, bool streams) {
  Scalar element = source_.type(buffer).element;
  index = broadcast(index);
  Type type = count == 1 ? ir::scalar_type(element, true) : ir::vector_type(element, count);
  return builder_.value(ir::op::MemLoad{scalar_buffer(buffer), index, mask, lane_stride(index), streams}, type);
}

std::optional<layout::MatrixRows> Lowering::matrix_access(const Region& region, const layout::RegLayout& layout, Cap cap) {
  const Type& type = source_.type(region.buffer);
  bool may_deal = machine_.has(cap) && type.space == Space::Shared && type.element != Scalar::Bool && bit_width(type.element) >= 8;
  if (!may_deal) return std::nullopt;
  ValueId root = region.buffer;
  while (const ir::op::Subview* view = source_.defined_by<ir::op::Subview>(root)) root = view->buffer;
  auto address = tile_address(region, layout);
  if (!address) return std::nullopt;
  const layout::MemLayout& mem = source_.layouts.mem(source_.type(root).layout);
  auto found = layout::matrix_rows(mem, layout, byte_width(type.element), address->offsets);
  return found && tile_address(region, found->rows) ? found : std::nullopt;
}

void Lowering::load_matrices(const Region& region, const layout::MatrixRows& load, Home& home, Scalar element) {
  auto address = tile_address(region, load.rows);
  Scalar stored = source_.type(region.buffer).element;
  int64_t at_once = int64_t(load.count) * load.each;
  for (int64_t r = 0; r < load.rows.registers(); ++r) {
    ValueId loaded = builder_.value(ir::op::LoadMatrices{scalar_buffer(region.buffer), broadcast(step_address(*address, r)), load.count, load.transposed},
                                    ir::vector_type(stored, at_once));
    for (int64_t i = 0; i < at_once; ++i)
      home.registers[size_t(r * at_once + i)] = builder_.convert(builder_.value(ir::op::VectorElement{loaded, i}, ir::scalar_type(stored, true)), element);
  }
}

bool Lowering::load_registers(const Region& region, const layout::RegLayout& layout, Home& home, Scalar element, ir::Number pad) {
  if (!home.in_registers()) return false;
  if (auto rows = matrix_access(region, layout, Cap::MatrixLoads)) return load_matrices(region, *rows, home, element), true;
  auto address = tile_address(region, layout);
  if (!address) return false;
  // One number for all lanes is read as one.
  if (is_uniform(layout)) return false;
  Scalar stored = source_.type(region.buffer).element;
  for (int64_t r = 0; r < layout.registers(); r += address->vector) {
    ValueId mask = tile_mask(layout, point_at(layout, r));
    ValueId loaded = load_vector(region.buffer, step_address(*address, r), mask, address->vector);
    for (int i = 0; i < address->vector; ++i) {
      ValueId x = address->vector == 1 ? loaded : builder_.value(ir::op::VectorElement{loaded, i}, ir::scalar_type(stored, true));
      bool is_zero = pad.is_float ? pad.f == 0 : pad.i == 0;
      if (mask.valid() && !is_zero) x = builder_.select(mask, x, builder_.constant(stored, pad));
      home.registers[size_t(r + i)] = builder_.convert(x, element);
    }
  }
  return true;
}

void Lowering::store_matrices(const Region& region, const layout::MatrixRows& store, const Home& home) {
  auto address = tile_address(region, store.rows);
  Scalar stored = source_.type(region.buffer).element;
  int64_t at_once = int64_t(store.count) * store.each;
  for (int64_t r = 0; r < store.rows.registers(); ++r) {
    std::vector<ValueId> elements;
    for (int64_t i = 0; i < at_once; ++i) elements.push_back(broadcast(builder_.convert(home.registers[size_t(r * at_once + i)], stored)));
    ValueId value = builder_.value(ir::op::VectorMake{elements}, ir::vector_type(stored, at_once));
    builder_.add(ir::op::StoreMatrices{scalar_buffer(region.buffer), broadcast(step_address(*address, r)), value, store.count, store.transposed});
  }
}

bool Lowering::store_registers(const Region& region, const layout::RegLayout& layout, const Home& home) {
  if (!home.in_registers()) return false;
  auto address = tile_address(region, layout);
  if (!address) return false;
  Scalar stored = source_.type(region.buffer).element;
  ValueId owners = owner_mask(layout);
  // Instructions that gather rows from all lanes leave none out.
  bool is_widest = address->vector * byte_width(stored) == machine_.vector_bytes;
  auto rows = owners.valid() || is_widest ? std::nullopt : matrix_access(region, layout, Cap::MatrixStores);
  if (rows) return store_matrices(region, *rows, home), true;
  for (int64_t r = 0; r < layout.registers(); r += address->vector) {
    std::vector<ValueId> elements;
    for (int i = 0; i < address->vector; ++i) elements.push_back(broadcast(builder_.convert(home.registers[size_t(r + i)], stored)));
    ValueId value = address->vector == 1 ? elements[0] : builder_.value(ir::op::VectorMake{elements}, ir::vector_type(stored, address->vector));
    ValueId index = broadcast(step_address(*address, r)), mask = all(tile_mask(layout, point_at(layout, r)), owners);
    builder_.add(ir::op::MemStore{scalar_buffer(region.buffer), index, value, mask, lane_stride(index)});
  }
  return true;
}

}  // namespace tilec::lower
