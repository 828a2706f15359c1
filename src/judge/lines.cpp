// Lines of a tile along an axis: reductions and scans.
#include <cmath>

#include "judge/evaluator.h"

namespace tilec::judge {

namespace {

ir::Number to_ir(const Number& x) { return x.is_real() ? ir::Number::real(x.f) : ir::Number::integer(int64_t(x.i)); }

// A line along an axis: its first element, the step, and how many there are.
struct Lines {
  Shape rest;
  int64_t outer = 1, length, inner = 1;
  Lines(const Shape& shape, size_t axis) : length(shape[axis]) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d != axis) rest.push_back(shape[d]);
      if (d < axis) outer *= shape[d];
      if (d > axis) inner *= shape[d];
    }
  }
  int64_t first(int64_t line) const { return line / inner * length * inner + line % inner; }
  int64_t count() const { return outer * inner; }
};

std::optional<ir::ReduceFn> function_named(std::string_view fn) {
  constexpr std::pair<std::string_view, ir::ReduceFn> kRows[] = {
      {"sum", ir::ReduceFn::Sum}, {"prod", ir::ReduceFn::Prod}, {"max", ir::ReduceFn::Max}, {"min", ir::ReduceFn::Min},
      {"absmax", ir::ReduceFn::AbsMax}, {"any", ir::ReduceFn::Any}, {"all", ir::ReduceFn::All}};
  for (auto& [name, value] : kRows)
    if (name == fn) return value;
  return std::nullopt;
}

// Is nothing known of what was kept out of it? In other lines, or where others would be, what lies at the same place along the axis counts: passes
// look along one axis at a time.
bool is_corner(const Tile& tile, const Lines& lines, int64_t k, const Number& x, size_t axis) {
  if (!(x.waiting & 1 << axis) || (x.padding & (kLost | 1 << axis))) return false;
  if (x.waiting & kAllAxes & ~(1 << axis)) return true;
  for (int64_t line = 0; line < lines.count(); ++line)
    if (!is_left_out(tile.elements[size_t(lines.first(line) + k * lines.inner)], axis)) return true;
  return false;
}

// The padding of a result along an axis: where its whole line, but for what was set beside padding, lies beyond an edge along another one.
template <class F> Padding of_line(const Tile& tile, const Lines& lines, int64_t line, size_t axis, const F& changes_nothing) {
  Padding all = kAllAxes, set = 0, anything = 0;
  bool is_set = true, has_others = false, is_unsaid = false, is_lost = true;
  for (int64_t k = 0; k < lines.length; ++k) {
    const Number& x = tile.elements[size_t(lines.first(line) + k * lines.inner)];
    if (x.is_set()) set = kSet, anything |= changes_nothing(x) ? Padding(0) : kAnything;
    else all &= x.beyond(), is_set = false, has_others |= !x.is_padding();
    if (!is_left_out(x, axis)) anything |= x.padding & kAnything;
    else if (!changes_nothing(x) && is_corner(tile, lines, k, x, axis)) anything |= kAnything;
    is_lost &= (x.padding & kReshaped) && is_left_out(x, axis) && !is_left_out_along(x, axis);
    is_unsaid |= !changes_nothing(x);
    if (may_stand(x, axis) && !changes_nothing(x)) anything |= kAnything;
    // Kept as a whole, which a reduction is not said to tell.
    if ((x.waiting & kLost) && !x.is_padding() && !changes_nothing(x)) anything |= kAnything;
  }
  // It may lie along another axis, of which this is a line of padding, or along this one, and is a line of nothing.
  if (is_lost && is_unsaid) anything |= kAnything;
  all = Padding((is_set ? Padding(0) : all) | anything | (has_others ? Padding(0) : set));
  Places places;
  for (size_t d = 0; d < tile.shape.size(); ++d) places.push_back(d < axis ? d : d - 1);
  // A number has no axis along which it would be padding: it is what a reduction of nothing gives.
  return moved(Padding(all & ~(1 << axis)), places) & ~(lines.rest.empty() ? kLost : Padding(0));
}

// What a result is made of along the other axes.
void mark_line(Number& out, const Tile& tile, const Lines& lines, int64_t line, size_t axis) {
  Padding data = 0, placed = 0, waiting = 0, read = 0;
  std::vector<Number> all;
  for (int64_t k = 0; k < lines.length; ++k) {
    const Number& x = all.emplace_back(tile.elements[size_t(lines.first(line) + k * lines.inner)]);
    data |= x.data, placed |= x.placed, waiting |= x.waiting, read |= x.read;
    all.back().spread = 1 << axis;
  }
  if (is_unsure_whether_it_waits(all)) out.padding |= kAnything;
  Places places;
  for (size_t d = 0; d < tile.shape.size(); ++d) places.push_back(d < axis ? d : d - 1);
  out.data = moved(Padding(data & ~(1 << axis)), places), out.placed = moved(Padding(placed & ~(1 << axis)), places);
  out.waiting = moved(Padding(waiting & ~(1 << axis)), places) & ~out.data;
  out.read = moved(Padding(read & ~(1 << axis)), places), out.kept = out.waiting & kAllAxes & ~kLost;
  out.owners.set(out.data, kSeveral), out.keepers.set(out.kept, kSeveral);
}

// The lowest index of the greatest or least number that is no NaN and no padding.
Number best_index(const Tile& tile, const Lines& lines, int64_t line, size_t axis, bool takes_greatest) {
  Number out;
  out.type = Scalar::I32;
  out.padding = of_line(tile, lines, line, axis, [](const Number& x) { return x.is_real() && std::isnan(x.f); });
  const Number* best = nullptr;
  for (int64_t k = 0; k < lines.length; ++k) {
    const Number& x = tile.elements[size_t(lines.first(line) + k * lines.inner)];
    if (is_left_out(x, axis) || (x.is_real() && std::isnan(x.f))) continue;
    bool is_better = !best || (x.is_real() ? (takes_greatest ? x.f > best->f : x.f < best->f) : takes_greatest ? x.i > best->i : x.i < best->i);
    if (is_better) best = &x, out.i = k;
  }
  mark_line(out, tile, lines, line, axis);
  return out;
}

bool changes_nothing(ir::ReduceFn fn, const Number& x, Scalar type) {
  const ir::Number nothing = ir::identity(fn, type), with = ir::combine(fn, type, nothing, to_ir(x), ir::Numeric::Wide);
  return with.is_float ? with.f == nothing.f : with.i == nothing.i;
}

bool sums_wide(ir::ReduceFn fn, Scalar type) { return is_narrow_float(type) && (fn == ir::ReduceFn::Sum || fn == ir::ReduceFn::Prod); }

}  // namespace

Number Evaluator::int_sum(Wide exact, Padding padding, Span span) {
  Muted muted(is_muted_, padding);
  Number sum = fits_int(exact) ? integer_of(exact) : faulty(interp::FaultKind::Overflow, span, "an `int` leaves 64 bits", Scalar::Index);
  sum.is_literal = false, sum.padding = padding;
  return sum;
}

Value Evaluator::reduce(const std::string& fn, const TilePtr& tile, int64_t axis, Span span) {
  Lines lines(tile->shape, size_t(axis));
  auto out = std::make_shared<Tile>();
  out->shape = lines.rest;
  bool is_index = fn == "argmax" || fn == "argmin";
  auto function = function_named(fn);
  if (!function && !is_index) unknown(span, "the reduction `" + fn + "`");
  out->type = is_index ? Scalar::I32 : tile->type;
  Scalar type = function && sums_wide(*function, tile->type) ? Scalar::F32 : tile->type;
  for (int64_t line = 0; line < lines.count(); ++line) {
    if (is_index) {
      out->elements.push_back(best_index(*tile, lines, line, size_t(axis), fn == "argmax"));
      continue;
    }
    ir::Number total = ir::identity(*function, type);
    Wide exact = 0;
    const Padding padding = of_line(*tile, lines, line, size_t(axis), [&](const Number& x) { return changes_nothing(*function, x, type); });
    for (int64_t k = 0; k < lines.length; ++k) {
      const Number& x = tile->elements[size_t(lines.first(line) + k * lines.inner)];
      if (!is_left_out(x, size_t(axis))) total = ir::combine(*function, type, total, to_ir(x), options_.numeric), exact += x.i;
    }
    Number sum = from(type, total, padding);
    if (type == Scalar::Index && *function == ir::ReduceFn::Sum) sum = int_sum(exact, padding, span);
    mark_line(sum, *tile, lines, line, size_t(axis));
    out->elements.push_back(type == tile->type ? sum : cast(sum, tile->type, ir::ConvertMode::Nearest));
    if (type != tile->type && options_.numeric == ir::Numeric::Wide) out->elements.back().f = sum.f;
    Number& last = out->elements.back();
    last.padding = sum.padding, last.data = sum.data, last.placed = sum.placed, last.read = sum.read;
    last.waiting = last.kept = sum.waiting, last.owners = sum.owners, last.keepers = sum.keepers;
  }
  return out->shape.empty() ? Value(out->elements[0]) : Value(TilePtr(out));
}

Value Evaluator::scan(const std::string& fn, const TilePtr& tile, int64_t axis, Span span) {
  Lines lines(tile->shape, size_t(axis));
  auto function = function_named(fn);
  if (!function) unknown(span, "the scan `" + fn + "`");
  auto out = std::make_shared<Tile>(*tile);
  Scalar type = sums_wide(*function, tile->type) ? Scalar::F32 : tile->type;
  for (int64_t line = 0; line < lines.count(); ++line) {
    ir::Number total = ir::identity(*function, type);
    Padding anything = 0;
    Wide exact = 0;
    bool has_begun = false;
    for (int64_t k = 0; k < lines.length; ++k) {
      Number& x = out->elements[size_t(lines.first(line) + k * lines.inner)];
      has_begun |= !is_left_out(x, size_t(axis));
      // Padding before the first element, which a mask may have put its identity in the place of.
      const Padding unsaid = has_begun || changes_nothing(*function, x, type) ? Padding(0) : kAnything;
      if (!is_left_out(x, size_t(axis))) total = ir::combine(*function, type, total, to_ir(x), options_.numeric), exact += x.i;
      if ((x.is_set() || may_stand(x, size_t(axis))) && !changes_nothing(*function, x, type)) anything |= kAnything;
      Number sum = from(type, total, x.beyond());
      if (type == Scalar::Index && *function == ir::ReduceFn::Sum) sum = int_sum(exact, x.beyond(), span);
      if (type != tile->type && options_.numeric == ir::Numeric::Typed) sum = cast(sum, tile->type, ir::ConvertMode::Nearest);
      sum.type = tile->type;
      sum.padding = Padding(x.beyond() | (x.waiting & 1 << axis) | anything | unsaid);
      sum.scanned = sum.padding & (x.scanned | 1 << axis);
      sum.read = x.read, sum.data = x.data | Padding(1 << axis), sum.placed = x.placed, sum.waiting = sum.kept = x.waiting & ~(1 << axis);
      sum.owners.set(sum.data, kSeveral), sum.keepers.set(sum.kept, kSeveral);
      x = sum;
    }
  }
  return TilePtr(out);
}

}  // namespace tilec::judge
