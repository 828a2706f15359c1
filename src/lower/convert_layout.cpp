// Tiles from one register layout or shape to another: by renaming, by shuffles, or through shared memory.
#include "layout/convert.h"
#include "layout/transform.h"
#include "lower/lowering.h"

namespace tilec::lower {

void Lowering::lower_convert_layout(const ir::Op& op, const ir::op::ConvertLayout& convert) {
  const layout::RegLayout& source = reg_layout(source_.type(convert.x).layout);
  const layout::RegLayout& target = reg_layout(source_.type(op.result()).layout);
  const Home from = home(convert.x);
  Home to = result_home(op, op.result(), {});
  Scalar element = source_.type(op.result()).element;
  bool is_within = !from.in_memory() && !to.in_memory() && layout::move_tier(source, target) <= layout::Tier::Lane &&
                   (turn_matrices(source, target, from, to, element) || convert_within_warps(source, target, from, to));
  if (!is_within) convert_through_memory(source, target, from, to, element);
  bind_home(op.result(), std::move(to));
}

// The same places under other coordinates where there is such a layout, otherwise through memory.
void Lowering::lower_reshape(const ir::Op& op, const ir::op::Reshape& reshape) {
  const layout::RegLayout& source = reg_layout(source_.type(reshape.x).layout);
  const layout::RegLayout& target = reg_layout(source_.type(op.result()).layout);
  auto same = layout::reshape(source, target.shape);
  if (same && layout::normalized(*same) == target) return rename(op, reshape.x);
  Home to = result_home(op, op.result(), {});
  convert_through_memory(source, target, home(reshape.x), to, source_.type(op.result()).element);
  bind_home(op.result(), std::move(to));
}

namespace {

// Where a register of the target comes from: in every lane the same register of the lane `lane ^ ...`, a linear function.
struct Origin {
  int64_t reg = 0;
  std::vector<int> lanes;   // columns of the source lane by bits of the own lane
  int offset = 0;           // the source of lane 0
  bool is_own_lane = true;
};

struct Holder {
  int64_t reg;
  int lane;
};

// All places of one warp that hold an element, by coordinate.
std::map<layout::Coordinate, std::vector<Holder>> holders(const layout::RegLayout& layout, int warp) {
  std::map<layout::Coordinate, std::vector<Holder>> found;
  for (int lane = 0; lane < layout.lanes(); ++lane)
    for (int64_t r = 0; r < layout.registers(); ++r)
      if (auto c = layout.coordinate(r, lane, warp); layout.is_inside(c)) found[c].push_back({r, lane});
  return found;
}

int source_lane(const Origin& o, int lane) {
  int from = o.offset;
  for (size_t bit = 0; bit < o.lanes.size(); ++bit)
    if (lane >> bit & 1) from ^= o.lanes[bit];
  return from;
}

class Finder {
 public:
  Finder(const layout::RegLayout& source, const layout::RegLayout& target) : source_(source), target_(target) {
    for (int warp = 0; warp < source.warps(); ++warp) held_.push_back(holders(source, warp));
  }

  std::optional<Origin> find(int64_t r) const {
    for (int64_t candidate = 0; candidate < source_.registers(); ++candidate)
      if (auto origin = from_register(r, candidate)) return origin;
    return std::nullopt;
  }

 private:
  bool holds(int64_t reg, int lane, int warp, const layout::Coordinate& c) const { return source_.coordinate(reg, lane, warp) == c; }

  std::optional<Origin> from_register(int64_t r, int64_t candidate) const {
    Origin own{candidate, {}, 0, true};
    if (fits(r, own)) return own;
    // The lanes that hold what lanes 0, 1, 2, 4 ... want fix the linear function.
    auto wanted_from = [&](int lane) -> std::optional<int> {
      layout::Coordinate c = target_.coordinate(r, lane, 0);
      auto found = held_[0].find(c);
      if (found == held_[0].end()) return std::nullopt;
      for (const Holder& h : found->second)
        if (h.reg == candidate) return h.lane;
      return std::nullopt;
    };
    Origin origin{candidate, {}, 0, false};
    auto zero = wanted_from(0);
    if (!zero) return std::nullopt;
    origin.offset = *zero;
    for (int bit = 1; bit < target_.lanes(); bit *= 2) {
      auto from = wanted_from(bit);
      if (!from) return std::nullopt;
      origin.lanes.push_back(*from ^ *zero);
    }
    return fits(r, origin) ? std::optional(origin) : std::nullopt;
  }

  bool fits(int64_t r, const Origin& origin) const {
    for (int warp = 0; warp < target_.warps(); ++warp)
      for (int lane = 0; lane < target_.lanes(); ++lane) {
        layout::Coordinate c = target_.coordinate(r, lane, warp);
        int from = origin.is_own_lane ? lane : source_lane(origin, lane);
        if (target_.is_inside(c) && !holds(origin.reg, from, warp, c)) return false;
      }
    return true;
  }

  const layout::RegLayout &source_, &target_;
  std::vector<std::map<layout::Coordinate, std::vector<Holder>>> held_;
};

}  // namespace

namespace {

// The pair of the source's registers that is this pair of the target's once the machine has turned it: a matrix of 8 x 8 elements, of
// which a lane holds two neighbours of a row before and of a column after.
std::optional<int64_t> turned_from(const layout::RegLayout& source, const layout::RegLayout& target, int64_t pair) {
  constexpr int kLanes = 32;
  if (source.lanes() != kLanes || source.registers() % 2 || target.registers() % 2) return std::nullopt;
  auto fits = [&](int64_t candidate) {
    for (int warp = 0; warp < target.warps(); ++warp)
      for (int lane = 0; lane < kLanes; ++lane)
        for (int e = 0; e < 2; ++e) {
          layout::Coordinate c = target.coordinate(2 * pair + e, lane, warp);
          int row = 2 * (lane % 4) + e, column = lane / 4;
          if (target.is_inside(c) && source.coordinate(2 * candidate + column % 2, 4 * row + column / 2, warp) != c) return false;
        }
    return true;
  };
  for (int64_t candidate = 0; candidate < source.registers() / 2; ++candidate)
    if (fits(candidate)) return candidate;
  return std::nullopt;
}

}  // namespace

bool Lowering::turn_matrices(const layout::RegLayout& source, const layout::RegLayout& target, const Home& from, Home& to, Scalar element) {
  if (!machine_.has(Cap::MatrixTurns) || bit_width(element) != 16 || layout::move_tier(source, target) < layout::Tier::Lane) return false;
  if (source.registers() % 2 || target.registers() % 2) return false;
  std::vector<int64_t> origins;
  for (int64_t pair = 0; pair < target.registers() / 2; ++pair) {
    auto origin = turned_from(source, target, pair);
    if (!origin) return false;
    origins.push_back(*origin);
  }
  for (int64_t pair = 0; pair < target.registers() / 2; ++pair) {
    std::vector<ValueId> elements;
    for (int64_t e = 0; e < 2; ++e) elements.push_back(broadcast(from.registers[size_t(2 * origins[size_t(pair)] + e)]));
    Type type = ir::vector_type(target_.type(elements[0]).element, 2);
    ValueId turned = builder_.value(ir::op::TurnMatrix{builder_.value(ir::op::VectorMake{elements}, type)}, type);
    for (int64_t e = 0; e < 2; ++e)
      to.registers[size_t(2 * pair + e)] = builder_.value(ir::op::VectorElement{turned, e}, ir::scalar_type(type.element, true));
  }
  return true;
}

bool Lowering::convert_within_warps(const layout::RegLayout& source, const layout::RegLayout& target, const Home& from, Home& to) {
  if (source.warps() != target.warps() || source.lanes() != target.lanes()) return false;
  // What a lane gets from others is its own number; one number of all lanes is read from memory.
  if (is_uniform(target) && !is_uniform(source)) return false;
  Finder finder(source, target);
  std::vector<Origin> origins;
  for (int64_t r = 0; r < target.registers(); ++r) {
    auto origin = finder.find(r);
    if (!origin || (!origin->is_own_lane && !machine_.has(Cap::Shuffles))) return false;
    origins.push_back(*origin);
  }
  ValueId lane = builder_.value(ir::op::LaneIndex{}, ir::scalar_type(Scalar::Index, true));
  for (int64_t r = 0; r < target.registers(); ++r) {
    const Origin& o = origins[size_t(r)];
    ValueId value = from.registers[size_t(o.reg)];
    if (!o.is_own_lane) {
      ValueId other = linear(o.lanes, lane);
      if (o.offset) other = builder_.binary(ir::BinaryFn::Xor, other, builder_.index(o.offset));
      value = broadcast(value);
      value = builder_.value(ir::op::Shuffle{ir::ShuffleKind::Index, value, broadcast(other)}, ir::scalar_type(target_.type(value).element, true));
    }
    to.registers[size_t(r)] = value;
  }
  return true;
}

// Through memory that every lane reaches; one layout writes it, the other reads it.
void Lowering::convert_through_memory(const layout::RegLayout& source, const layout::RegLayout& target, const Home& from, Home& to, Scalar element) {
  // Row-major in both shapes: where they differ, this is what reshaping means.
  ValueId memory = scratch(element, layout::row_major(source.shape).size(), "convert");
  auto place = [&](const layout::RegLayout& layout, const Point& point) {
    std::vector<Coordinate> c;
    for (int axis = 0; axis < layout.shape.rank; ++axis) c.push_back({coordinate(builder_, point, axis), lane_part(layout, axis)});
    return shared_address(layout::row_major(layout.shape), c);
  };
  barrier("a tile moves between warps to another layout");
  nest(builder_, digits(source), unroll_limit(from), {}, [&](const Point& point, const Carried&) -> Carried {
    ValueId index = place(source, point), mask = all(tile_mask(source, point), owner_mask(source));
    builder_.add(ir::op::MemStore{memory, index, read(from, point), mask, lane_stride(index)});
    return {};
  });
  barrier("a tile moves between warps to another layout");
  nest(builder_, digits(target), unroll_limit(to), {}, [&](const Point& point, const Carried&) -> Carried {
    ValueId index = place(target, point), mask = tile_mask(target, point);
    bool varies = is_varying(index) || is_varying(mask);
    write(to, point, builder_.value(ir::op::MemLoad{memory, index, mask, lane_stride(index)}, ir::scalar_type(element, varies)));
    return {};
  });
}

}  // namespace tilec::lower
