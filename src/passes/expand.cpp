// Writes reductions and scans out as what lowering knows.
//   in:  Typed
//   out: Typed; no `argmax` or `argmin`; sums and products run in the type that their partial results are kept in
//
// argmax: the greatest element of a line, then the least of the indices at which it stands. A NaN equals nothing, so it
// never wins; where nothing wins, in a line of NaNs, the answer is 0.
#include "passes/passes.h"
#include "passes/rebuild.h"

namespace tilec::passes {

using namespace ir;

namespace {

class Expander : public Rebuilder {
 public:
  using Rebuilder::Rebuilder;

 private:
  Builder& b_ = builder_;

  const Type& type(ValueId v) const { return kernel_.type(v); }

  bool rewrite(OpId id) override {
    OpData data = kernel_.op(id).data;
    std::vector<ValueId> results = kernel_.op(id).results;
    if (const auto* o = data.get<op::Reduce>()) {
      bool is_arg = o->fn == ReduceFn::ArgMax || o->fn == ReduceFn::ArgMin;
      return is_arg ? index_of_best(*o, results[0]) : widened_reduce(*o, results[0]);
    }
    if (const auto* o = data.get<op::Scan>()) return widened_scan(*o, results[0]);
    return false;
  }

  static Axes whole(size_t rank) {
    Axes axes(rank);
    for (size_t a = 0; a < rank; ++a) axes[a] = int64_t(a);
    return axes;
  }

  // A tile, or where `result` is one a scalar, worked out element by element. `body` gets the indices, then the elements of
  // those inputs that are tiles read along their axes.
  using Body = std::function<ValueId(std::span<const ValueId>)>;
  ValueId tile_of(const Type& result, std::vector<ValueId> inputs, AxesList axes, const Body& body) {
    op::Map map{.inputs = std::move(inputs), .input_axes = std::move(axes), .shape = result.shape, .body = kernel_.new_region()};
    std::vector<ValueId> args;
    for (size_t a = 0; a < result.shape.size(); ++a) args.push_back(kernel_.new_arg(map.body, scalar_type(Scalar::Index)));
    for (ValueId input : map.inputs) args.push_back(kernel_.new_arg(map.body, scalar_type(type(input).element)));
    RegionId outer = b_.region();
    b_.set_region(map.body);
    b_.yield({body(args)});
    b_.set_region(outer);
    return b_.value(std::move(map), result);
  }

  // `f` of every element of a tile, or of a scalar.
  ValueId each(ValueId x, Scalar element, const std::function<ValueId(ValueId)>& f) {
    if (!type(x).is_tile()) return f(x);
    Type result = type(x);
    result.element = element;
    return tile_of(result, {x}, {whole(result.shape.size())}, [&](std::span<const ValueId> args) { return f(args.back()); });
  }
  ValueId converted(ValueId x, Scalar to) {
    if (type(x).element == to) return x;
    return each(x, to, [&](ValueId v) { return b_.convert(v, to); });
  }

  ValueId reduced(ReduceFn fn, ValueId x, int64_t axis, const Type& like) {
    Type result = like;
    result.element = type(x).element;
    return b_.value(op::Reduce{fn, x, axis}, result);
  }

  // The element with no more digits than memory keeps of it: the greatest one must still equal itself after it has been
  // there, also when the interpreter computes with more digits than were declared.
  ValueId as_in_memory(ValueId x) {
    Scalar element = type(x).element;
    if (is_narrow_float(element)) return converted(x, Scalar::F32);
    if (element != Scalar::F32) return x;
    return each(x, element, [&](ValueId v) { return b_.convert(b_.convert(v, Scalar::U32, ConvertMode::Bits), element, ConvertMode::Bits); });
  }

  bool index_of_best(const op::Reduce& o, ValueId result) {
    const ValueId elements = as_in_memory(o.x);
    const Type x = type(elements), shape = type(result);
    ValueId best = reduced(o.fn == ReduceFn::ArgMax ? ReduceFn::Max : ReduceFn::Min, elements, o.axis, shape);
    std::vector<ValueId> inputs{elements};
    AxesList axes{whole(x.shape.size())};
    if (type(best).is_tile()) {
      inputs.push_back(best);
      axes.push_back(axes[0]);
      axes.back().erase(axes.back().begin() + o.axis);
    }
    const int64_t length = x.shape[size_t(o.axis)];
    Type candidates = x;
    candidates.element = Scalar::I32;
    auto none = [&] { return b_.constant(Scalar::I32, Number::integer(length)); };
    ValueId indices = tile_of(candidates, inputs, axes, [&](std::span<const ValueId> args) {
      ValueId element = args[x.shape.size()], wanted = inputs.size() > 1 ? args.back() : best;
      return b_.select(b_.compare(CompareFn::Eq, element, wanted), b_.convert(args[size_t(o.axis)], Scalar::I32), none());
    });
    ValueId first = reduced(ReduceFn::Min, indices, o.axis, shape);
    bind(result, each(first, shape.element, [&](ValueId v) {
      ValueId is_found = b_.compare(CompareFn::Lt, v, none());
      return b_.convert(b_.select(is_found, v, b_.constant(Scalar::I32, Number::integer(0))), shape.element);
    }));
    return true;
  }

  // What partial results are kept in: sums and products of narrow floats in f32, rounded once at the end.
  static Scalar partial_type(ReduceFn fn, Scalar result) {
    bool adds = fn == ReduceFn::Sum || fn == ReduceFn::Prod;
    return adds && is_narrow_float(result) ? Scalar::F32 : result;
  }

  bool widened_reduce(const op::Reduce& o, ValueId result) {
    const Type shape = type(result);
    Scalar partial = partial_type(o.fn, shape.element);
    if (partial == type(o.x).element) return false;
    bind(result, converted(reduced(o.fn, converted(o.x, partial), o.axis, shape), shape.element));
    return true;
  }

  bool widened_scan(const op::Scan& o, ValueId result) {
    const Type shape = type(result);
    Scalar partial = partial_type(o.fn, shape.element);
    if (partial == shape.element) return false;
    op::Scan wide = o;
    wide.x = converted(o.x, partial);
    Type scanned = shape;
    scanned.element = partial;
    bind(result, converted(b_.value(wide, scanned), shape.element));
    return true;
  }
};

}  // namespace

void expand(Kernel& kernel, const Machine&, Diagnostics&) {
  INVARIANT(kernel.form == Form::Typed, "reductions are written out while tiles are values");
  Expander(kernel).run();
}

}  // namespace tilec::passes
