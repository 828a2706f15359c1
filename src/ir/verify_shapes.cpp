#include "ir/verify_shapes.h"

namespace tilec::ir::verifier {

namespace {

using Shape = std::vector<int64_t>;

bool is_matrix(const Type& type) {
  bool is_near = type.is_tile() || (type.is_buffer() && type.space != Space::Global && type.space != Space::Workspace);
  return is_near && type.rank() == 2;
}

bool is_one_class(Scalar a, Scalar b, Scalar acc) {
  if (is_float(a)) return is_float(b) && is_float(acc);
  return is_integer(a) && is_integer(b) && is_integer(acc);
}

template <class AnyGemm>
void check_product(Check& check, const AnyGemm& o) {
  const Type& a = check.type(o.a);
  const Type& b = check.type(o.b);
  const Type& acc = check.type(o.acc);
  check.require(is_matrix(a), Code::V018, o.a, " is ", a, ", no matrix near the block");
  check.require(is_matrix(b), Code::V018, o.b, " is ", b, ", no matrix near the block");
  if (!is_matrix(a) || !is_matrix(b)) return;
  Shape m_k = a.shape, k_n = b.shape;
  if (o.transpose_a) std::swap(m_k[0], m_k[1]);
  if (o.transpose_b) std::swap(k_n[0], k_n[1]);
  check.require(m_k[1] == k_n[0] && acc.shape == Shape{m_k[0], k_n[1]}, Code::V035, a, " times ", b, " is not ", acc);
  check.require(is_one_class(a.element, b.element, acc.element), Code::V036, a, " times ", b, " into ", acc);
}

bool is_valid_axis(Check& check, ValueId x, int64_t axis) {
  return check.require_kind(TypeKind::Tile, x) &&
         check.require(axis >= 0 && axis < check.type(x).rank(), Code::V037, x, " has no axis ", axis);
}

bool is_reduced_element(ReduceFn fn, Scalar from, Scalar to) {
  switch (fn) {
    case ReduceFn::Any:
    case ReduceFn::All: return from == Scalar::Bool && to == Scalar::Bool;
    case ReduceFn::ArgMax:
    case ReduceFn::ArgMin: return from != Scalar::Bool && is_integer(to);
    // A sum may be wider than what it adds up.
    case ReduceFn::Sum:
    case ReduceFn::Prod: return scalar_class(from) == scalar_class(to) && from != Scalar::Bool;
    default: return from == to && from != Scalar::Bool;
  }
}

}  // namespace

bool is_tile_like(const Type& type, Scalar element, const Shape& shape) {
  return type.is_tile() && type.element == element && type.shape == shape;
}

void check_shapes(Check& check, const op::Gemm& o) {
  if (!check.require_kind(TypeKind::Tile, o.acc)) return;
  check_product(check, o);
  check.require(check.result_type() == check.type(o.acc), Code::V036, check.result(), " has not the type of ", o.acc);
}

void check_shapes(Check& check, const op::GemmAsync& o) {
  bool is_accumulator = check.has(TypeKind::Tile, o.acc) || check.require_kind(TypeKind::Flight, o.acc);
  if (!is_accumulator || !check.require_kind(TypeKind::Flight, check.result())) return;
  check_product(check, o);
  Type expected = check.type(o.acc);
  expected.kind = TypeKind::Flight;
  check.require(check.result_type() == expected, Code::V036, check.result(), " has not the type of ", o.acc);
}

void check_shapes(Check& check, const op::BeginFlight& o) {
  if (!check.require_kind(TypeKind::Tile, o.tile)) return;
  Type expected = check.type(o.tile);
  expected.kind = TypeKind::Flight;
  check.require(check.result_type() == expected, Code::V036, check.result(), " has not the type of ", o.tile);
}

void check_shapes(Check& check, const op::AwaitGemm& o) {
  if (!check.require_kind(TypeKind::Flight, o.flight)) return;
  Type expected = check.type(o.flight);
  if (!check.has(TypeKind::Flight, check.result())) expected.kind = TypeKind::Tile;
  check.require(check.result_type() == expected, Code::V036, check.result(), " has not the type of ", o.flight);
  check.require(o.in_flight >= 0, Code::V035, "a negative number of products in flight");
}

void check_shapes(Check& check, const op::Reduce& o) {
  if (!is_valid_axis(check, o.x, o.axis)) return;
  const Type& t = check.result_type();
  Shape shape = check.type(o.x).shape;
  shape.erase(shape.begin() + o.axis);
  bool is_shape = shape.empty() ? t.is_scalar() : t.is_tile() && t.shape == shape;
  check.require(is_shape && is_reduced_element(o.fn, check.type(o.x).element, t.element), Code::V037, "`", name(o.fn),
                "` of ", check.type(o.x), " along axis ", o.axis, " is not ", t);
}

void check_shapes(Check& check, const op::VoteTile& o) {
  if (!check.require_kind(TypeKind::Tile, o.x)) return;
  bool is_good = check.type(o.x).element == Scalar::Bool && o.how != VoteKind::Ballot && check.result_type() == scalar_type(Scalar::Bool);
  check.require(is_good, Code::V037, "a vote over ", check.type(o.x), " is not ", check.result_type());
}

void check_shapes(Check& check, const op::Scan& o) {
  if (!is_valid_axis(check, o.x, o.axis)) return;
  const Type& x = check.type(o.x);
  bool is_good = is_tile_like(check.result_type(), x.element, x.shape) &&
                 is_reduced_element(o.fn, x.element, x.element) && o.fn != ReduceFn::ArgMax && o.fn != ReduceFn::ArgMin;
  check.require(is_good, Code::V037, "a scan by `", name(o.fn), "` of ", x, " is not ", check.result_type());
}

void check_shapes(Check& check, const op::Permute& o) {
  if (!check.require_kind(TypeKind::Tile, o.x)) return;
  const Type& x = check.type(o.x);
  Shape shape;
  for (int64_t axis : o.axes)
    if (axis >= 0 && axis < x.rank() && std::count(o.axes.begin(), o.axes.end(), axis) == 1)
      shape.push_back(x.shape[axis]);
  bool is_good = o.axes.size() == x.shape.size() && is_tile_like(check.result_type(), x.element, shape);
  check.require(is_good, Code::V038, check.result(), " is ", check.result_type(), ", not ", x,
                " with its axes permuted");
}

void check_shapes(Check& check, const op::Reshape& o) {
  if (!check.require_kind(TypeKind::Tile, o.x)) return;
  const Type& x = check.type(o.x);
  const Type& t = check.result_type();
  bool is_good = t.is_tile() && t.element == x.element && t.element_count() == x.element_count();
  check.require(is_good, Code::V038, check.result(), " is ", t, ", not the elements of ", x);
}

void check_shapes(Check& check, const op::ConvertLayout& o) {
  if (!check.require_kind(TypeKind::Tile, o.x)) return;
  const Type& x = check.type(o.x);
  check.require(is_tile_like(check.result_type(), x.element, x.shape), Code::V043, check.result(), " is ",
                check.result_type(), ", not ", x, " in another layout");
}

}  // namespace tilec::ir::verifier
