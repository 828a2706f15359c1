// V030 to V043: operations on tiles and regions of buffers. Products and what follows from two shapes stand in
// verify_shapes.cpp.
#include "ir/verify_shapes.h"

namespace tilec::ir::verifier {

namespace {

bool is_distinct(Axes axes, int64_t rank) {
  std::sort(axes.begin(), axes.end());
  bool is_repeated = std::adjacent_find(axes.begin(), axes.end()) != axes.end();
  return !is_repeated && (axes.empty() || (axes.front() >= 0 && axes.back() < rank));
}

bool is_positive(const Ints& shape) {
  return !shape.empty() && std::all_of(shape.begin(), shape.end(), [](int64_t extent) { return extent > 0; });
}

// A region of a buffer or of a tile.
struct Part {
  ValueId whole;
  const std::vector<ValueId>& offsets;
  const Axes& axes;
  const BoundsList& bounds;
  const Ints& shape;
};

class Tiles {
 public:
  explicit Tiles(Check& check) : check_(check) {}

  void operator()(const op::Alloc& o) {
    ValueId v = check_.result();
    if (!check_.require_kind(TypeKind::Buffer, v)) return;
    const Type& t = type(v);
    check_.require(is_space(t.space), Code::V042, v, " is allocated in ", name(t.space), " memory");
    size_t dynamic = std::count(t.shape.begin(), t.shape.end(), kDynamic);
    check_.require(o.extents.size() == dynamic || o.extents.size() == t.shape.size(), Code::V042, v, " has ",
                   o.extents.size(), " extents, not ", dynamic);
    for (ValueId extent : o.extents)
      check_.require(check_.is_index(extent), Code::V042, "the extent ", extent, " is ", type(extent));
    if (o.offset == kUnplaced) return;
    check_.require(t.space == Space::Shared && check_.form == Form::Thread, Code::V071, v, " has an offset in ", name(t.space), " memory");
    check_.require(o.offset >= 0 && o.offset % byte_width(t.element) == 0, Code::V071, v, " is at ", o.offset);
  }
  void operator()(const op::Subview& o) {
    ValueId v = check_.result();
    if (!check_.require_kind(TypeKind::Buffer, o.buffer) || !check_.require_kind(TypeKind::Buffer, v)) return;
    region({o.buffer, o.offsets, o.axes, o.bounds, type(v).shape});
    moves(o.buffer, v);
    check_.require(type(v).space == type(o.buffer).space, Code::V034, v, " is not in the memory of ", o.buffer);
  }
  void operator()(const op::Load& o) {
    ValueId v = check_.result();
    if (!check_.require_kind(TypeKind::Buffer, o.buffer) || !check_.require_kind(TypeKind::Tile, v)) return;
    region({o.buffer, o.offsets, o.axes, o.bounds, type(v).shape});
    moves(o.buffer, v);
  }
  void operator()(const op::Store& o) {
    if (!check_.require_kind(TypeKind::Buffer, o.buffer) || !check_.require_kind(TypeKind::Tile, o.tile)) return;
    region({o.buffer, o.offsets, o.axes, o.bounds, type(o.tile).shape});
    moves(o.tile, o.buffer);
    adds(o.adds, o.buffer);
  }
  void operator()(const op::Copy& o) {
    copy(o);
    adds(o.adds, o.dst);
  }
  void operator()(const op::CopyAsync& o) {
    copy(o);
    check_.require_kind(TypeKind::Token, check_.result());
  }
  void operator()(const op::Insert& o) {
    if (!check_.require_kind(TypeKind::Tile, o.tile) || !check_.require_kind(TypeKind::Tile, o.part)) return;
    region({o.tile, o.offsets, o.axes, {}, type(o.part).shape});
    moves(o.part, o.tile);
    check_.require(is_tile_like(check_.result_type(), type(o.tile).element, type(o.tile).shape), Code::V034,
                   check_.result(), " is ", check_.result_type(), ", not like ", o.tile);
  }
  void operator()(const op::Extract& o) {
    ValueId v = check_.result();
    if (!check_.require_kind(TypeKind::Tile, o.tile) || !check_.require_kind(TypeKind::Tile, v)) return;
    region({o.tile, o.offsets, o.axes, {}, type(v).shape});
    moves(o.tile, v);
  }
  void operator()(const op::ClusterSum& o) {
    ValueId v = check_.result();
    if (!check_.require_kind(TypeKind::Tile, o.tile) || !check_.require_kind(TypeKind::Tile, v)) return;
    auto rows = type(o.tile).shape;
    bool is_part = !rows.empty() && type(v).rank() == type(o.tile).rank() && type(v).shape[0] > 0 && rows[0] % type(v).shape[0] == 0;
    if (is_part) rows[0] = type(v).shape[0];
    check_.require(is_part && is_tile_like(type(v), type(o.tile).element, rows) && o.axis >= 0, Code::V034, v, " is ", type(v), ", no rows of ", o.tile);
  }
  void operator()(const op::Splat& o) {
    const Type& x = type(o.x);
    const Type& t = check_.result_type();
    check_.require(x.is_scalar() && is_tile_like(t, x.element, t.shape), Code::V039, check_.result(), " is ", t,
                   ", a splat of ", x);
  }
  void operator()(const op::Map& o) {
    check_.require(is_positive(o.shape), Code::V041, "a map has an axis without extent");
    if (!check_.require(o.inputs.size() == o.input_axes.size(), Code::V040, "a map has ", o.inputs.size(),
                        " inputs and axes for ", o.input_axes.size()))
      return;
    for (size_t k = 0; k < o.inputs.size(); ++k) input(o.inputs[k], o.input_axes[k], o.shape);
    for (ValueId v : check_.op().results)
      check_.require(is_tile_like(type(v), type(v).element, o.shape), Code::V041, v, " is ", type(v),
                     ", not of the map's shape");
  }
  void operator()(const op::Simt& o) {
    check_.require(o.threads >= 0, Code::V017, "simt has a negative number of threads");
  }
  void operator()(const op::Barrier&) {}
  void operator()(const op::Fence&) {}
  void operator()(const op::RingAlloc& o) {
    check_.require_kind(TypeKind::Ring, check_.result());
    check_.require(o.consumers >= 1, Code::V054, check_.result(), " has ", o.consumers, " consumers");
  }
  void operator()(const op::Acquire& o) { turn(o.ring, o.turn); }
  void operator()(const op::Commit& o) {
    turn(o.ring, o.turn);
    for (ValueId v : o.tokens) check_.require_kind(TypeKind::Token, v);
  }
  void operator()(const op::OrderAlloc& o) {
    check_.require_kind(TypeKind::Ring, check_.result());
    check_.require(o.warps >= 1, Code::V054, check_.result(), " orders groups of ", o.warps, " warps");
  }
  void operator()(const op::TakeTurn& o) { turn(o.order, o.turn); }
  void operator()(const op::PassTurn& o) { turn(o.order, o.turn); }
  void operator()(const op::Wait& o) { turn(o.ring, o.turn); }
  void operator()(const op::Release& o) { turn(o.ring, o.turn); }
  void operator()(const op::AwaitCopy& o) {
    for (ValueId v : o.tokens) check_.require_kind(TypeKind::Token, v);
  }
  void operator()(const op::Roles& o) {
    size_t n = o.bodies.size();
    bool is_even = o.names.size() == n && o.warps.size() == n && (o.registers.empty() || o.registers.size() == n);
    check_.require(is_even && n > 0, Code::V055, "roles have ", o.names.size(), " names, ", o.warps.size(),
                   " counts of warps and ", n, " bodies");
    for (int64_t warps : o.warps) check_.require(warps > 0, Code::V055, "a role has ", warps, " warps");
    for (size_t i = 0; i < o.names.size(); ++i)
      check_.require(std::count(o.names.begin(), o.names.end(), o.names[i]) == 1, Code::V055, "two roles are named ",
                     o.names[i]);
  }
  void operator()(const auto& o) { check_shapes(check_, o); }

 private:
  const Type& type(ValueId v) const { return check_.type(v); }

  bool is_space(Space space) const {
    switch (check_.level) {
      case Level::Host: return space == Space::Workspace;
      case Level::Simt: return space == Space::Private;
      default: return space == Space::Shared || space == Space::Private || space == Space::TensorMemory;
    }
  }

  void adds(bool adds, ValueId buffer) {
    const Type& t = type(buffer);
    bool is_device = t.space == Space::Global || t.space == Space::Workspace;
    check_.require(!adds || (is_device && t.element != Scalar::Bool), Code::V034, "a tile is added to ", t);
  }

  template <class AnyCopy>
  void copy(const AnyCopy& o) {
    if (!check_.require_kind(TypeKind::Buffer, o.src) || !check_.require_kind(TypeKind::Buffer, o.dst)) return;
    check_.require(is_positive(o.shape), Code::V034, "a copy has an axis without extent");
    region({o.src, o.src_offsets, o.src_axes, o.src_bounds, o.shape});
    region({o.dst, o.dst_offsets, o.dst_axes, o.dst_bounds, o.shape});
  }

  void region(const Part& part) {
    const Type& whole = type(part.whole);
    size_t rank = whole.shape.size();
    check_.require(part.offsets.size() == rank, Code::V030, part.whole, " has ", rank, " dimensions and ",
                   part.offsets.size(), " offsets");
    for (ValueId v : part.offsets) check_.require(check_.is_index(v), Code::V030, "the offset ", v, " is ", type(v));
    check_.require(part.bounds.empty() || part.bounds.size() == rank, Code::V032, part.whole, " has ", rank,
                   " dimensions and bounds for ", part.bounds.size());
    bool has_axes = part.axes.size() == part.shape.size() && is_distinct(part.axes, int64_t(rank));
    if (!check_.require(has_axes, Code::V031, "the axes of a region of ", part.whole, " are not ", part.shape.size(),
                        " of its ", rank, " dimensions"))
      return;
    bool is_device = whole.is_buffer() && (whole.space == Space::Global || whole.space == Space::Workspace);
    for (size_t i = 0; i < part.axes.size() && !is_device; ++i)
      check_.require(part.shape[i] <= whole.shape[part.axes[i]], Code::V034, "a region with extent ", part.shape[i],
                     " along axis ", part.axes[i], " is larger than ", part.whole);
  }

  void moves(ValueId from, ValueId to) {
    check_.require(type(from).element == type(to).element, Code::V033, from, " is ", type(from), " and ", to, " is ",
                   type(to));
  }

  void input(ValueId v, const Axes& axes, const Ints& shape) {
    if (!check_.require_kind(TypeKind::Tile, v)) return;
    bool is_good = axes.size() == type(v).shape.size();
    for (size_t i = 0; is_good && i < axes.size(); ++i)
      is_good = axes[i] >= 0 && axes[i] < int64_t(shape.size()) && type(v).shape[i] == shape[axes[i]];
    check_.require(is_good, Code::V040, "the input ", v, ", ", type(v),
                   ", does not lie along the axes that it is read by");
  }

  void turn(ValueId ring, ValueId turn) {
    check_.require_kind(TypeKind::Ring, ring);
    check_.require_scalar(turn, Scalar::Index);
  }

  Check& check_;
};

}  // namespace

void check_tile(Check& check) {
  visit_tile(check.op().data, Tiles(check), [] {});
}

}  // namespace tilec::ir::verifier
