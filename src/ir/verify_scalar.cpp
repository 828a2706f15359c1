// V020 to V026, and V067 for exchanges: the types of scalar operations. In Thread form most work on vectors as well,
// element by element.
#include "ir/verify_parts.h"

namespace tilec::ir::verifier {

namespace {

bool is_defined_for(UnaryFn fn, Scalar s) {
  switch (fn) {
    case UnaryFn::Neg:
    case UnaryFn::Abs: return is_float(s) || is_integer(s);
    case UnaryFn::Not: return is_integer(s) || s == Scalar::Bool;
    case UnaryFn::PopCount:
    case UnaryFn::LeadingZeros: return is_integer(s);
    default: return is_float(s);
  }
}

bool is_defined_for(BinaryFn fn, Scalar s) {
  switch (fn) {
    case BinaryFn::Pow: return is_float(s);
    case BinaryFn::And:
    case BinaryFn::Or:
    case BinaryFn::Xor: return is_integer(s) || s == Scalar::Bool;
    case BinaryFn::Shl:
    case BinaryFn::Shr: return is_integer(s);
    default: return s != Scalar::Bool;
  }
}

// The least and greatest integer that a constant of the type may hold; u64 holds its bits.
bool holds(Scalar s, const Number& n) {
  if (is_float(s) != n.is_float) return false;
  if (s == Scalar::Bool) return n.i == 0 || n.i == 1;
  return n.is_float || wrap(s, n.i) == n.i;
}

class Scalars {
 public:
  explicit Scalars(Check& check) : check_(check) {}

  void operator()(const op::Constant& o) {
    const Type& t = check_.result_type();
    check_.require(t.is_scalar() && holds(t.element, o.number), Code::V020, check_.result(), " is no number of type ",
                   t);
  }
  void operator()(const op::Unary& o) {
    if (!is_number(o.x)) return;
    defined(is_defined_for(o.fn, type(o.x).element), name(o.fn), o.x);
    result(o.fn == UnaryFn::IsNan ? with_element(type(o.x), Scalar::Bool) : type(o.x), {o.x});
  }
  void operator()(const op::Binary& o) {
    if (!alike({o.a, o.b})) return;
    defined(is_defined_for(o.fn, type(o.a).element), name(o.fn), o.a);
    result(type(o.a), {o.a, o.b});
  }
  void operator()(const op::Overflows& o) {
    if (!alike({o.a, o.b})) return;
    const Type& t = type(o.a);
    check_.require(t.is_scalar() && t.element == Scalar::Index, Code::V021, "only an int leaves 64 bits: ", o.a, " is ", t);
    result(with_element(t, Scalar::Bool), {o.a, o.b});
  }
  void operator()(const op::Inside& o) { result(with_element(type(o.x), Scalar::Bool), {o.x}); }
  void operator()(const op::Fma& o) {
    if (!alike({o.a, o.b, o.c})) return;
    defined(type(o.a).element != Scalar::Bool, "fma", o.a);
    result(type(o.a), {o.a, o.b, o.c});
  }
  void operator()(const op::Compare& o) {
    if (alike({o.a, o.b})) result(with_element(type(o.a), Scalar::Bool), {o.a, o.b});
  }
  // One condition for a whole vector, or one for each element.
  void operator()(const op::Select& o) {
    if (!is_number(o.condition) || !alike({o.a, o.b})) return;
    const Type& c = type(o.condition);
    bool is_of_shape = c.is_scalar() || (c.kind == type(o.a).kind && c.shape == type(o.a).shape);
    check_.require(c.element == Scalar::Bool && is_of_shape, Code::V021, "the condition ", o.condition, " is ", c);
    result(type(o.a), {o.condition, o.a, o.b});
  }
  void operator()(const op::Convert& o) {
    if (!is_number(o.x)) return;
    Scalar from = type(o.x).element, to = check_.result_type().element;
    bool is_good = o.mode != ConvertMode::Bits || bit_width(from) == bit_width(to);
    check_.require(is_good, Code::V023, o.x, ": ", type(o.x), " and ", check_.result_type(), " have not as many bits");
    if (o.exact.valid()) check_.require(o.mode != ConvertMode::TowardZero && is_float(to), Code::V023, o.exact, " is exact for no float");
    result(with_element(type(o.x), to), {o.x});
  }
  void operator()(const op::Extent& o) { device(o.buffer, o.axis, Scalar::Index); }
  void operator()(const op::Stride& o) { device(o.buffer, o.axis, Scalar::Index); }
  void operator()(const op::Present& o) { device(o.buffer, 0, Scalar::Bool); }
  void operator()(const op::GridBlocks&) { number(); }
  void operator()(const op::ClusterBlocks&) { number(); }
  void operator()(const op::BlockNumber&) { number(); }
  void operator()(const op::BlockIndex& o) {
    if (is_number(o.number)) number();
    check_.require(o.axis >= 0 && o.axis < 3, Code::V024, "a launch has no axis ", o.axis);
  }
  void operator()(const op::ElementLoad& o) {
    if (element(o.buffer, o.indices)) element_type(o.buffer, check_.result());
  }
  void operator()(const op::ElementStore& o) {
    if (element(o.buffer, o.indices)) element_type(o.buffer, o.value);
  }
  void operator()(const op::Atomic& o) {
    if (!element(o.buffer, o.indices)) return;
    size_t count = o.fn == AtomicFn::CompareExchange ? 2 : 1;
    check_.require(o.operands.size() == count, Code::V025, "`", name(o.fn), "` takes ", count, " operands, not ",
                   o.operands.size());
    std::vector<ValueId> values = o.operands;
    values.insert(values.end(), check_.op().results.begin(), check_.op().results.end());
    for (ValueId v : values)
      check_.require(equal_but_varying(type(v), scalar_type(type(o.buffer).element)), Code::V025, v, " is ", type(v),
                     ", not the element of ", o.buffer);
  }
  void operator()(const op::ThreadIndex&) { index_result(); }
  void operator()(const op::LaneIndex&) { index_result(); }
  void operator()(const op::WarpIndex&) { index_result(); }
  void operator()(const op::BlockBarrier&) {}
  void operator()(const op::Shuffle& o) {
    if (!is_number(o.x)) return;
    check_.require(check_.is_index(o.lane), Code::V067, "the lane ", o.lane, " is ", type(o.lane));
    check_.require(equal_but_varying(check_.result_type(), type(o.x)), Code::V022, check_.result(), " is not ",
                   type(o.x));
  }
  void operator()(const op::Vote& o) {
    check_.require(type(o.x).is_scalar() && type(o.x).element == Scalar::Bool, Code::V067, "the vote ", o.x, " is ",
                   type(o.x));
    const Type& t = check_.result_type();
    bool is_good = o.how == VoteKind::Ballot ? is_integer(t.element) : t.element == Scalar::Bool;
    check_.require(t.is_scalar() && is_good, Code::V022, check_.result(), " is ", t);
  }
  void operator()(const op::WarpReduce& o) {
    check_.require(type(o.x).is_scalar() && o.fn != ReduceFn::ArgMax && o.fn != ReduceFn::ArgMin, Code::V067, o.x,
                   " is not reduced over a warp by `", name(o.fn), "`");
    check_.require(equal_but_varying(check_.result_type(), type(o.x)), Code::V022, check_.result(), " is not ",
                   type(o.x));
  }

 private:
  const Type& type(ValueId v) const { return check_.type(v); }
  static Type with_element(Type type, Scalar element) {
    type.element = element;
    return type;
  }

  bool is_number(ValueId v) {
    bool is_one = type(v).is_scalar() || type(v).kind == TypeKind::Vector;
    return is_one || check_.require_kind(TypeKind::Scalar, v);
  }
  bool alike(std::initializer_list<ValueId> values) {
    for (ValueId v : values) {
      if (!is_number(v)) return false;
      const Type& first = type(*values.begin());
      if (!check_.require(equal_but_varying(type(v), first), Code::V021, v, " is ", type(v), ", not ", first))
        return false;
    }
    return true;
  }
  void defined(bool is_defined, std::string_view fn, ValueId x) {
    check_.require(is_defined, Code::V023, "`", fn, "` is not defined for ", x, ", which is ", type(x));
  }
  // Types first; then a uniform result from varying operands (V060).
  void result(const Type& expected, std::initializer_list<ValueId> operands) {
    const Type& t = check_.result_type();
    if (!check_.require(equal_but_varying(t, expected), Code::V022, check_.result(), " is ", t, ", not ", expected))
      return;
    for (ValueId v : operands)
      check_.require(t.varying || !type(v).varying, Code::V060, "uniform ", check_.result(), " derives from varying ",
                     v);
  }
  void index_result() {
    check_.require(check_.is_index(check_.result()), Code::V022, check_.result(), " is ", check_.result_type());
  }
  void number() {
    check_.require(check_.result_type() == scalar_type(Scalar::Index), Code::V022, check_.result(), " is ", check_.result_type());
  }
  void device(ValueId buffer, int64_t axis, Scalar element) {
    const Type& b = type(buffer);
    bool is_device = b.is_buffer() && (b.space == Space::Global || b.space == Space::Workspace);
    check_.require(is_device && axis >= 0 && (axis < b.rank() || element == Scalar::Bool), Code::V026, buffer,
                   " has no axis ", axis, " in device memory");
    check_.require(equal_but_varying(check_.result_type(), scalar_type(element)), Code::V022, check_.result(), " is ",
                   check_.result_type());
  }
  bool element(ValueId buffer, const std::vector<ValueId>& indices) {
    if (!check_.require_kind(TypeKind::Buffer, buffer)) return false;
    check_.require(int(indices.size()) == type(buffer).rank(), Code::V024, buffer, " has ", type(buffer).rank(),
                   " dimensions and is reached by ", indices.size(), " indices");
    for (ValueId v : indices) check_.require(check_.is_index(v), Code::V024, "the index ", v, " is ", type(v));
    return true;
  }
  void element_type(ValueId buffer, ValueId v) {
    check_.require(equal_but_varying(type(v), scalar_type(type(buffer).element)), Code::V024, v, " is ", type(v),
                   ", not the element of ", buffer);
  }

  Check& check_;
};

}  // namespace

void check_scalar(Check& check) {
  visit_scalar(check.op().data, Scalars(check), [] {});
}

}  // namespace tilec::ir::verifier
