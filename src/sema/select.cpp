// Subscripts: `[i, lo +: length, lo : hi, :, _]`.
#include <map>

#include "sema/expr.h"
#include "sema/view.h"

namespace tilec::sema {
namespace {

// A number as a sum of products with known factors, so that `(i + 1) * n - i * n` is seen to be n.
struct Linear {
  std::map<ir::ValueId, int64_t> terms;
  int64_t constant = 0;
  bool is_far = false;  // a number left 64 bits: nothing is known
  void add(const Linear& other, int64_t factor) {
    is_far |= other.is_far;
    for (auto [value, n] : other.terms) {
      add(terms[value], n, factor);
      if (terms[value] == 0) terms.erase(value);
    }
    add(constant, other.constant, factor);
  }
  void add(int64_t& sum, int64_t n, int64_t factor) {
    is_far |= __builtin_mul_overflow(n, factor, &n) || __builtin_add_overflow(sum, n, &sum);
  }
};

struct LinearReader {
  const ir::Kernel& kernel;
  std::map<ir::ValueId, Linear> known = {};

  const Linear& of(ir::ValueId v) {
    if (auto found = known.find(v); found != known.end()) return found->second;
    Linear sum = derive(v);
    if (sum.is_far) sum = {.terms = {{v, 1}}};
    return known[v] = std::move(sum);
  }

  Linear derive(ir::ValueId v) {
    Linear result;
    if (auto c = kernel.constant(v)) return result.constant = c->i, result;
    if (kernel.type(v).element != Scalar::Index) return result.terms[v] = 1, result;  // whose sums may wrap
    // An integer is the number that it is, as often as it is converted.
    auto* same = kernel.defined_by<op::Convert>(v);
    Scalar from = same ? kernel.type(same->x).element : Scalar::F32;
    if (is_integer(from) && from != Scalar::U64) return of(same->x);
    auto* b = kernel.defined_by<op::Binary>(v);
    auto factor = b && b->fn == ir::BinaryFn::Mul ? kernel.constant(b->b) : std::nullopt;
    if (b && (b->fn == ir::BinaryFn::Add || b->fn == ir::BinaryFn::Sub)) {
      result.add(of(b->a), 1);
      result.add(of(b->b), b->fn == ir::BinaryFn::Add ? 1 : -1);
    } else if (factor) {
      result.add(of(b->a), factor->i);
    } else {
      result.terms[v] = 1;
    }
    return result;
  }
};

std::optional<Extent> difference(Instance& in, const Operand& high, ir::ValueId low) {
  ir::ValueId end = index_value(in, high);
  if (!end.valid()) return std::nullopt;
  if (!low.valid()) low = in.builder.index(0);
  LinearReader reader{in.kernel};
  Linear length = reader.of(end);
  length.add(reader.of(low), -1);
  if (length.terms.empty() && !length.is_far) return Extent{length.constant, {}};
  return Extent{ir::kDynamic, in.builder.sub(end, low)};
}

struct Selecting {
  Instance& in;
  const std::vector<Extent>& extents;
  Selection result;
  size_t axis = 0;  // of the base

  void keep(ir::ValueId offset, Extent length) {
    result.ends_early.push_back(!ends_with_base(offset, length));
    result.offsets.push_back(offset);
    result.axes.push_back(int64_t(axis++));
    result.shape.push_back(length);
  }
  Operand operand(const ast::Expr& expr) { return {evaluate(in, expr), expr.span}; }

  bool ends_with_base(ir::ValueId offset, const Extent& length) {
    LinearReader reader{in.kernel};
    Linear behind;
    auto add = [&](const Extent& e, int64_t factor) {
      Linear fixed;
      fixed.constant = e.fixed;
      behind.add(e.is_fixed() ? fixed : reader.of(e.value), factor);
    };
    add(extents[axis], -1);
    add(length, 1);
    if (offset.valid()) behind.add(reader.of(offset), 1);
    return behind.terms.empty() && behind.constant == 0 && !behind.is_far;
  }

  bool index(const ast::Subscript& s) {
    Operand at = operand(*s.lo);
    if (at.value.is_tile_like()) return report_tile(at), false;
    ir::ValueId offset = index_value(in, at);
    result.offsets.push_back(offset);
    result.ends_early.push_back(false);
    result.is_part = true;
    ++axis;
    return offset.valid();
  }

  void report_tile(const Operand& at) {
    in.at(at.span).error(diag::TypeMismatch, "an index", describe(in.kernel, at.value))
        .help("read elements one by one in a `parallel` loop, each at its own index: `x[t[i]]`");
  }

  bool bounds(const ast::Subscript& s) {
    ir::ValueId low = s.lo ? index_value(in, operand(*s.lo)) : ir::ValueId{};
    if (s.lo && !low.valid()) return false;
    Operand high = s.hi ? operand(*s.hi) : Operand{};
    if (!s.hi) {
      const Extent& all = extents[axis];
      high = {all.is_fixed() ? Value(int_const(all.fixed)) : Value(Dynamic{all.value}), s.span};
    }
    auto length = difference(in, high, low);
    if (!length) return false;
    if (length->is_fixed() && length->fixed <= 0) return in.at(s.span).error(diag::BadExtent, length->fixed), false;
    result.is_part = result.is_region = true;
    keep(low, *length);
    return true;
  }

  bool length(const ast::Subscript& s) {
    ir::ValueId low = index_value(in, operand(*s.lo));
    if (!low.valid()) return false;
    Operand count = operand(*s.hi);
    result.is_part = result.is_region = true;
    if (auto* c = count.value.as<Const>(); c && is_integer(c->type)) {
      if (c->number.i <= 0) return in.at(s.span).error(diag::BadExtent, c->number.i), false;
      keep(low, {c->number.i, {}});
      return true;
    }
    ir::ValueId value = index_value(in, count);
    if (value.valid()) keep(low, {ir::kDynamic, value});
    return value.valid();
  }

  bool subscript(const ast::Subscript& s) {
    switch (s.kind) {
      case ast::SubscriptKind::Index: return index(s);
      case ast::SubscriptKind::All:
        result.is_region = true;
        keep({}, extents[axis]);
        return true;
      case ast::SubscriptKind::NewAxis:
        result.axes.push_back(kNewAxis);
        result.shape.push_back({1, {}});
        return true;
      case ast::SubscriptKind::Bounds: return bounds(s);
      case ast::SubscriptKind::Length: return length(s);
    }
    return false;
  }
};

// What a view covers along a dimension of its buffer.
struct Stretch {
  ir::ValueId begin;  // none: 0
  Extent length;
};

Stretch stretch(const View& view, int64_t dimension) {
  auto axis = std::ranges::find(view.axes, dimension);
  return {view.offsets[dimension], axis == view.axes.end() ? Extent{1, {}} : view.shape[axis - view.axes.begin()]};
}

// How far behind `a` does `b` begin, where that is known?
std::optional<int64_t> distance(LinearReader& reader, ir::ValueId a, ir::ValueId b) {
  Linear length;
  if (b.valid()) length.add(reader.of(b), 1);
  if (a.valid()) length.add(reader.of(a), -1);
  bool is_known = length.terms.empty() && !length.is_far;
  return is_known ? std::optional(length.constant) : std::nullopt;
}

// Of a tensor parts may hang over its end.
bool is_of_tensor(Instance& in, const View& view) { return in.memory(view.memory).param >= 0 || in.memory(view.memory).space == ir::Space::Workspace; }

}  // namespace

// A tile ends where it ends, wherever it was cut out: what is known to leave it is no part of it.
bool stays_inside(Instance& in, const std::string& name, std::span<const Extent> shape, const Selection& selection, Span span) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    auto kept = std::find(selection.axes.begin(), selection.axes.end(), int64_t(axis));
    Extent extent = kept != selection.axes.end() ? selection.shape[kept - selection.axes.begin()] : Extent{1, {}};
    if (!extent.is_fixed() || !shape[axis].is_fixed()) continue;
    ir::ValueId offset = selection.offsets[axis];
    auto low = offset.valid() ? in.kernel.constant(offset) : ir::Number::integer(0);
    const int64_t count = shape[axis].fixed;
    if (low ? low->i >= 0 && low->i <= count - extent.fixed : extent.fixed <= count) continue;
    std::string text = low ? "the elements " + std::to_string(low->i) + " to " + std::to_string(low->i + extent.fixed - 1) + " are not within " + std::to_string(count)
                           : "a part of " + std::to_string(extent.fixed) + " is not within " + std::to_string(count);
    in.at(span).error(diag::OutOfBounds, name, text).help("what it is a part of has the indices from 0 to " + std::to_string(count - 1));
    return false;
  }
  return true;
}

bool stays_inside(Instance& in, const View& view, const Selection& selection, Span span) {
  const bool may_hang_over = !view.is_region && (!selection.is_region || is_of_tensor(in, view));
  std::vector<Extent> shape = view.shape;
  // Of a part whose end is not the tensor's `stays_in_part` has more to say.
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const size_t dimension = size_t(view.axes[axis]);
    const bool is_known = !selection.offsets[axis].valid() || in.kernel.constant(selection.offsets[axis]);
    if (dimension < view.ends_early.size() && view.ends_early[dimension] && !is_known) shape[axis] = {ir::kDynamic, {}};
  }
  return may_hang_over || stays_inside(in, in.memory(view.memory).name, shape, selection, span);
}

bool stays_in_part(Instance& in, const View& view, size_t axis, ir::ValueId offset, const Extent& length, int64_t step, Span span) {
  const size_t dimension = size_t(view.axes[axis]);
  if (dimension >= view.ends_early.size() || !view.ends_early[dimension]) return true;
  const Extent& whole = view.shape[axis];
  LinearReader reader{in.kernel};
  auto first = offset.valid() ? in.kernel.constant(offset) : ir::Number::integer(0);
  bool are_known = first && length.is_fixed() && whole.is_fixed();
  if (are_known && first->i >= 0 && first->i <= whole.fixed && length.fixed <= whole.fixed - first->i) return true;
  // Tiles of a grid that fills the part: their index is taken to be one of those.
  if (!are_known && length.is_fixed() && whole.is_fixed() && (step == 0 ? length.fixed <= whole.fixed : whole.fixed % step == 0)) return true;
  bool is_all = !length.is_fixed() && !whole.is_fixed() && !offset.valid() && length.value == whole.value;
  if (is_all) return true;
  in.at(span).error(diag::PartUnproved, in.memory(view.memory).name, int64_t(axis))
      .help("nothing cuts off what lies behind the end of a part: cut it out of the tensor itself, `x[first + k +: n]`, and leave out what lies beyond in a "
            "`parallel` loop; or in lengths that divide the part's");
  return false;
}

bool lie_apart(Instance& in, const View& a, const View& b) {
  if (a.memory != b.memory) return true;
  LinearReader reader{in.kernel};
  for (int64_t dimension = 0; dimension < int64_t(a.offsets.size()); ++dimension) {
    Stretch x = stretch(a, dimension), y = stretch(b, dimension);
    auto ahead = distance(reader, x.begin, y.begin);
    if (!ahead) continue;
    if (x.length.is_fixed() && *ahead >= x.length.fixed) return true;
    if (y.length.is_fixed() && *ahead <= -y.length.fixed) return true;
  }
  return false;
}

std::optional<Selection> select(Instance& in, const ast::Index& index, const std::vector<Extent>& extents, Span span) {
  int64_t given = 0;
  for (const ast::Subscript& s : index.subscripts) given += s.kind != ast::SubscriptKind::NewAxis;
  if (given > int64_t(extents.size())) {
    auto report = in.at(index.brackets_span.valid() ? index.brackets_span : span)
        .error(diag::RankMismatch, in.text(index.base->span), int64_t(extents.size()), given);
    for (const ast::Subscript& s : index.subscripts) {
      auto* name = s.lo ? s.lo->as<ast::NameRef>() : nullptr;
      bool is_new_axis = name && (name->name.text == "None" || name->name.text == "newaxis");
      if (is_new_axis) report.fix(name->name.span, "_", "a new axis is written `_`: `t[:, _]`");
    }
    return std::nullopt;
  }
  Selecting selecting{in, extents, {}};
  for (const ast::Subscript& s : index.subscripts)
    if (!selecting.subscript(s)) return std::nullopt;
  while (selecting.axis < extents.size()) selecting.keep({}, extents[selecting.axis]);
  return std::move(selecting.result);
}

std::optional<View> part(Instance& in, const View& view, const Selection& selection, Span span) {
  if (!stays_inside(in, view, selection, span)) return std::nullopt;
  View result = view;
  result.axes.clear();
  result.shape.clear();
  result.is_region |= selection.is_region;
  result.ends_early.resize(view.offsets.size());
  for (size_t axis = 0; axis < view.shape.size(); ++axis) {
    auto kept = std::find(selection.axes.begin(), selection.axes.end(), int64_t(axis));
    Extent length = kept != selection.axes.end() ? selection.shape[kept - selection.axes.begin()] : Extent{1, {}};
    bool is_element = kept == selection.axes.end();
    if (!is_element && selection.ends_early[axis] && !stays_in_part(in, view, axis, selection.offsets[axis], length, 0, span)) return std::nullopt;
    if (selection.ends_early[axis]) result.ends_early[size_t(view.axes[axis])] = true;
  }
  in.builder.set_span(span);
  for (size_t i = 0; i < selection.offsets.size(); ++i) {
    ir::ValueId& offset = result.offsets[view.axes[i]];
    if (!selection.offsets[i].valid()) continue;
    offset = offset.valid() ? in.builder.add(offset, selection.offsets[i]) : selection.offsets[i];
  }
  for (size_t i = 0; i < selection.axes.size(); ++i) {
    if (selection.axes[i] == kNewAxis) continue;
    result.axes.push_back(view.axes[selection.axes[i]]);
    result.shape.push_back(selection.shape[i]);
  }
  return result;
}

}  // namespace tilec::sema
