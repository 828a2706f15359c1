#include "ir/builder.h"

#include <bit>

namespace tilec::ir {

namespace {

bool changes_memory(const OpData& data) {
  return data.is<op::Store>() || data.is<op::Copy>() || data.is<op::ElementStore>() || data.is<op::Atomic>() || data.is<op::BlockBarrier>();
}

}  // namespace

OpId Builder::add(OpData data, std::span<const Type> result_types) {
  OpId id{uint32_t(kernel_.ops.size())};
  writes_ += changes_memory(data);
  Op op{std::move(data), {}, span_};
  for (const Type& type : result_types) {
    op.results.push_back({uint32_t(kernel_.values.size())});
    kernel_.values.push_back({kernel_.types.intern(type), id, {}, {}});
  }
  kernel_.ops.push_back(std::move(op));
  kernel_.region(region_).ops.push_back(id);
  return id;
}

ValueId Builder::value(OpData data, const Type& type, std::string hint) {
  Type copy = type;  // `type` may lie in the table that interning grows
  ValueId v = kernel_.op(add(std::move(data), std::span(&copy, 1))).result();
  kernel_.value(v).hint = std::move(hint);
  return v;
}

ValueId Builder::constant(Scalar type, Number number) {
  auto [found, is_new] = constants_.try_emplace({region_, type, number.i, std::bit_cast<uint64_t>(number.f)});
  if (is_new) found->second = value(op::Constant{number}, scalar_type(type));
  return found->second;
}

ValueId Builder::unary(UnaryFn fn, ValueId x) {
  Type t = type(x);
  if (auto c = kernel_.constant(x))
    if (auto folded = evaluate(fn, t.element, *c)) return constant(fn == UnaryFn::IsNan ? Scalar::Bool : t.element, *folded);
  if (const op::Unary* inner = kernel_.defined_by<op::Unary>(x); inner && fn == UnaryFn::Not && inner->fn == fn) return inner->x;
  if (fn == UnaryFn::IsNan) t.element = Scalar::Bool;
  return value(op::Unary{fn, x}, t);
}

namespace {

bool is_number(std::optional<Number> n, int64_t value) { return n && !n->is_float && n->i == value; }

bool is_min(BinaryFn fn) { return fn == BinaryFn::Min || fn == BinaryFn::Minimum; }

// Is it the least or the greatest integer of its type?
bool ends_range(std::optional<Number> n, Scalar type, bool is_least) {
  return is_integer(type) && is_number(n, is_least ? integer_min(type) : int64_t(integer_max(type)));
}

// Of a comparison with a number that ends the range of its type.
std::optional<bool> decided(CompareFn fn, Scalar type, std::optional<Number> a, std::optional<Number> b) {
  bool is_low = ends_range(b, type, true), is_high = ends_range(b, type, false);
  bool low_is = ends_range(a, type, true), high_is = ends_range(a, type, false);
  if (fn == CompareFn::Lt && (is_low || high_is)) return false;
  if (fn == CompareFn::Ge && (is_low || high_is)) return true;
  if (fn == CompareFn::Gt && (is_high || low_is)) return false;
  if (fn == CompareFn::Le && (is_high || low_is)) return true;
  return std::nullopt;
}

}  // namespace

ValueId Builder::simplify_binary(BinaryFn fn, ValueId a, ValueId b) const {
  if (is_float(type(a).element)) return {};  // x + 0 is not x for -0
  auto ca = kernel_.constant(a), cb = kernel_.constant(b);
  bool is_bool = type(a).element == Scalar::Bool;
  switch (fn) {
    case BinaryFn::Add: return is_number(cb, 0) ? a : is_number(ca, 0) ? b : ValueId{};
    case BinaryFn::Sub: case BinaryFn::Shl: case BinaryFn::Shr: return is_number(cb, 0) ? a : ValueId{};
    case BinaryFn::Mul:
      if (is_number(ca, 0) || is_number(cb, 1)) return a;
      return is_number(cb, 0) || is_number(ca, 1) ? b : ValueId{};
    case BinaryFn::Div: return is_number(cb, 1) ? a : ValueId{};
    case BinaryFn::Min: case BinaryFn::Minimum: case BinaryFn::Max: case BinaryFn::Maximum:
      if (a == b) return a;
      if (ends_range(ca, type(a).element, is_min(fn)) || ends_range(cb, type(a).element, !is_min(fn))) return a;
      return ends_range(cb, type(a).element, is_min(fn)) || ends_range(ca, type(a).element, !is_min(fn)) ? b : ValueId{};
    case BinaryFn::And:
      if (is_number(ca, 0) || (is_bool && is_number(cb, 1))) return a;
      return is_number(cb, 0) || (is_bool && is_number(ca, 1)) ? b : ValueId{};
    case BinaryFn::Or:
      if (is_number(cb, 0) || (is_bool && is_number(ca, 1))) return a;
      return is_number(ca, 0) || (is_bool && is_number(cb, 1)) ? b : ValueId{};
    default: return {};
  }
}

std::optional<std::pair<ValueId, Number>> Builder::with_constant(BinaryFn fn, ValueId v) const {
  const op::Binary* sum = kernel_.defined_by<op::Binary>(v);
  if (!sum || sum->fn != fn) return std::nullopt;
  auto c = kernel_.constant(sum->b);
  return c ? std::optional(std::pair(sum->a, *c)) : std::nullopt;
}

ValueId Builder::constants_outward(BinaryFn fn, ValueId a, ValueId b) {
  if (fn != BinaryFn::Add && fn != BinaryFn::Mul) return {};
  auto c = kernel_.constant(b), sum = std::optional<Number>();
  if (auto inner = with_constant(fn, a); inner && c && (sum = evaluate(fn, Scalar::Index, inner->second, *c)))
    return binary(fn, inner->first, constant(Scalar::Index, *sum));
  if (!moves_constants_) return {};
  auto low = with_constant(BinaryFn::Add, a);
  if (fn == BinaryFn::Mul) {
    if (!low || !c || !(sum = evaluate(fn, Scalar::Index, low->second, *c))) return {};
    return add(binary(fn, low->first, b), constant(Scalar::Index, *sum));
  }
  if (c) return {};
  if (low) return add(binary(fn, low->first, b), constant(Scalar::Index, low->second));
  if (auto high = with_constant(BinaryFn::Add, b)) return add(binary(fn, a, high->first), constant(Scalar::Index, high->second));
  return {};
}

ValueId Builder::binary(BinaryFn fn, ValueId a, ValueId b) {
  INVARIANT(type(a).element == type(b).element, "both operands of a binary function have one type");
  Type t = type(a);
  t.varying |= type(b).varying;
  auto ca = kernel_.constant(a), cb = kernel_.constant(b);
  if (ca && cb)
    if (auto folded = evaluate(fn, t.element, *ca, *cb)) return constant(t.element, *folded);
  if (ValueId same = simplify_binary(fn, a, b); same.valid() && (!kernel_.constant(same) || (t.element == Scalar::Bool ? !keeps_operands_ : drops(t.element)))) return same;
  if (moves_constants_ && ca && (fn == BinaryFn::Add || fn == BinaryFn::Mul)) std::swap(a, b);
  if (t.element == Scalar::Index)
    if (ValueId sum = constants_outward(fn, a, b); sum.valid()) return sum;
  return value(op::Binary{.fn = fn, .a = a, .b = b}, t);
}

ValueId Builder::overflows(BinaryFn fn, ValueId a, ValueId b) {
  auto ca = kernel_.constant(a), cb = kernel_.constant(b);
  if (ca && cb) return boolean(ir::overflows(fn, ca->i, cb->i));
  return value(op::Overflows{fn, a, b}, scalar_type(Scalar::Bool, type(a).varying || type(b).varying));
}

ValueId Builder::inside(ValueId x, bool of_number, std::vector<ValueId> held, bool is_partial) {
  return value(op::Inside{x, of_number, std::move(held), is_partial}, scalar_type(Scalar::Bool, type(x).varying));
}

ValueId Builder::fma(ValueId a, ValueId b, ValueId c) {
  Type t = type(a);
  t.varying |= type(b).varying || type(c).varying;
  auto ca = kernel_.constant(a), cb = kernel_.constant(b), cc = kernel_.constant(c);
  if (ca && cb && cc) return constant(t.element, evaluate_fma(t.element, *ca, *cb, *cc));
  return value(op::Fma{a, b, c}, t);
}

ValueId Builder::compare(CompareFn fn, ValueId a, ValueId b) {
  INVARIANT(type(a).element == type(b).element, "both sides of a comparison have one type");
  Type t = scalar_type(Scalar::Bool, type(a).varying || type(b).varying);
  auto ca = kernel_.constant(a), cb = kernel_.constant(b);
  if (ca && cb) return boolean(evaluate(fn, type(a).element, *ca, *cb));
  if (a == b && !is_float(type(a).element) && drops(type(a).element)) return boolean(fn == CompareFn::Eq || fn == CompareFn::Le || fn == CompareFn::Ge);
  if (!drops(type(a).element)) return value(op::Compare{fn, a, b}, t);
  if (auto known = decided(fn, type(a).element, ca, cb)) return boolean(*known);
  return value(op::Compare{fn, a, b}, t);
}

ValueId Builder::select(ValueId condition, ValueId a, ValueId b) {
  if (auto c = kernel_.constant(condition); c && !keeps_operands_) return c->i ? a : b;
  if (a == b && !keeps_operands_) return a;
  Type t = type(a);
  t.varying |= type(b).varying || type(condition).varying;
  return value(op::Select{condition, a, b}, t);
}

ValueId Builder::convert(ValueId x, Scalar to, ConvertMode mode) {
  Type t = type(x);
  if (t.element == to) return x;
  if (auto c = kernel_.constant(x)) return constant(to, evaluate_convert(t.element, to, mode, *c));
  t.element = to;
  return value(op::Convert{x, mode}, t);
}

}  // namespace tilec::ir
