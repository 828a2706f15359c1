// Whole tiles: element by element, products, reductions, scans.
#include <array>
#include <cmath>

#include "judge/evaluator.h"

namespace tilec::judge {

namespace {

// The shape that operands have together: an axis of one element is repeated.
Shape common_shape(const std::vector<TilePtr>& tiles) {
  Shape out;
  for (const TilePtr& tile : tiles) {
    if (!tile) continue;
    if (out.size() < tile->shape.size()) out.resize(tile->shape.size(), 1);
    for (size_t d = 0; d < tile->shape.size(); ++d) out[d] = std::max(out[d], tile->shape[d]);
  }
  return out;
}

// The element of `tile` that stands at place `k` of `shape`.
int64_t place_in(const Tile& tile, const Shape& shape, int64_t k) {
  if (tile.shape == shape) return k;
  int64_t at = 0, step = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    int64_t index = k % shape[d];
    k /= shape[d];
    if (d < tile.shape.size() && tile.shape[d] != 1) at += index * step;
    if (d < tile.shape.size()) step *= tile.shape[d];
  }
  return at;
}

// The axes that the tile does not have, or is spread along.
Padding spread_of(const Tile& tile, const Shape& shape) {
  Padding axes = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    if (d >= tile.shape.size() || (tile.shape[d] == 1 && shape[d] != 1)) axes |= Padding(1 << d);
  return axes;
}

// What an operation on such a shape is given at its element `k`.
Number operand_at(const Tile& tile, const Shape& shape, int64_t k, bool ends) {
  Number x = tile.elements[size_t(place_in(tile, shape, k))];
  x.is_element = true, x.may_end = ends, x.spread = spread_of(tile, shape);
  return x;
}

bool is_zero(const Number& x) { return x.is_real() ? x.f == 0 : x.i == 0; }

ir::Number to_ir(const Number& x) { return x.is_real() ? ir::Number::real(x.f) : ir::Number::integer(int64_t(x.i)); }

Scalar sum_type(Scalar type) {
  if (is_float(type)) return type == Scalar::F64 ? type : Scalar::F32;
  return bit_width(type) <= 16 ? Scalar::I32 : Scalar::I64;
}

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

}  // namespace

Number Evaluator::number_of(const Value& value, Span span) {
  Value read = tile_or_number(value, span);
  if (auto* n = std::get_if<Number>(&read)) return *n;
  unknown(span, "a value that is no number here");
}

Wide Evaluator::whole_number(const ast::Expr& expr) {
  Number n = number(expr);
  if (n.is_real()) unknown(expr.span, "an index that is no whole number");
  return n.i;
}

Number Evaluator::condition(const ast::Expr& expr) {
  Value value = eval(expr);
  if (std::holds_alternative<Absent>(value)) return truth_of(false);
  if (auto* view = std::get_if<View>(&value); view && view->memory->element != Scalar::Bool) return truth_of(true);
  return number_of(value, expr.span);
}

Value Evaluator::tile_or_number(const Value& value, Span span) {
  auto* view = std::get_if<View>(&value);
  if (!view) return value;
  if (view->axes.empty()) {
    Number element = load(*view, view->offset, span);
    element.carried = view->memory->carried;
    Places indices = view->indices;
    indices.resize(kMostAxes);
    return element_at(element, indices, view->memory->rank);
  }
  return read(all_of(*view), span);
}

TilePtr Evaluator::tile_of(const Value& given, const Shape& shape, Span span) {
  Value value = tile_or_number(given, span);
  if (auto* pending = std::get_if<Pending>(&value)) return pending->make(shape);
  auto out = std::make_shared<Tile>();
  out->shape = shape;
  if (auto* n = std::get_if<Number>(&value)) {
    out->type = n->type;
    out->elements.assign(size_t(count_of(shape)), *n);
    return out;
  }
  auto* tile = std::get_if<TilePtr>(&value);
  if (!tile) unknown(span, "a value that is no tile here");
  if ((*tile)->shape == shape) return *tile;
  if ((*tile)->shape.size() > shape.size()) unknown(span, "tiles of different shapes");
  out->type = (*tile)->type;
  for (int64_t k = 0; k < count_of(shape); ++k) out->elements.push_back((*tile)->elements[size_t(place_in(**tile, shape, k))]);
  return out;
}

Value Evaluator::map(const std::vector<Value>& operands, Scalar hint, const Each& each, Span span) {
  std::vector<Value> values;
  std::vector<TilePtr> tiles;
  bool is_open = false, has_tile = false;
  for (const Value& operand : operands) {
    values.push_back(tile_or_number(operand, span));
    auto* tile = std::get_if<TilePtr>(&values.back());
    tiles.push_back(tile ? *tile : nullptr);
    has_tile |= tile != nullptr;
    is_open |= std::holds_alternative<Pending>(values.back());
  }
  if (is_open && !has_tile) {
    auto make = [this, values, hint, each, span](const Shape& shape) -> TilePtr {
      std::vector<Value> closed;
      for (const Value& v : values) closed.push_back(std::holds_alternative<Pending>(v) ? Value(tile_of(v, shape, span)) : v);
      return std::get<TilePtr>(map(closed, hint, each, span));
    };
    return Pending{hint, 0, make};
  }
  std::vector<Number> numbers(values.size());
  if (!has_tile) {
    for (size_t i = 0; i < values.size(); ++i) numbers[i] = number_of(values[i], span);
    return each(numbers);
  }
  Shape shape = common_shape(tiles);
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::holds_alternative<Pending>(values[i])) tiles[i] = tile_of(values[i], shape, span);
    else if (!tiles[i]) numbers[i] = number_of(values[i], span);
  }
  auto out = std::make_shared<Tile>(Tile{hint, shape, {}});
  std::vector<bool> ends;
  for (const TilePtr& tile : tiles) ends.push_back(tile && tile->may_end()), out->ends = std::max(out->ends, tile ? tile->ends : Ends::No);
  steps_ += uint64_t(count_of(shape));
  const bool was_muted = is_muted_;
  for (int64_t k = 0; k < count_of(shape); ++k) {
    for (size_t i = 0; i < tiles.size(); ++i) {
      if (tiles[i]) numbers[i] = operand_at(*tiles[i], shape, k, ends[i]);
      else numbers[i].is_element = false, numbers[i].spread = kAllAxes;
    }
    for (auto& [mask, wanted] : masks_)
      if (mask->shape == shape && mask->elements[size_t(k)].truth() != wanted) is_muted_ = true;
    out->elements.push_back(each(numbers));
    is_muted_ = was_muted;
  }
  if (!out->elements.empty()) out->type = out->elements[0].type;
  if (std::ranges::find(ends, true) != ends.end() && !out->is_uniform()) out->ends = Ends::Unseen;
  return TilePtr(out);
}

Value Evaluator::converted(const Value& value, Scalar to, Span span, bool is_cast, ir::ConvertMode mode) {
  return map({value}, to, [this, to, span, is_cast, mode](std::span<const Number> x) { return is_cast ? cast(x[0], to, mode) : convert(x[0], to, span); }, span);
}

Value Evaluator::product(const Value& x, const Value& y, const TilePtr& acc, Span span) {
  Value left = tile_or_number(x, span), right = tile_or_number(y, span);
  auto *a_ptr = std::get_if<TilePtr>(&left), *b_ptr = std::get_if<TilePtr>(&right);
  if (!a_ptr || !b_ptr || (*a_ptr)->shape.size() != 2 || (*b_ptr)->shape.size() != 2) unknown(span, "a product of other than two tiles of two axes");
  const Tile &a = **a_ptr, &b = **b_ptr;
  ask_ends(a, integer_of(0), span), ask_ends(b, integer_of(0), span);
  int64_t rows = a.shape[0], inner = a.shape[1], columns = b.shape[1];
  auto out = std::make_shared<Tile>();
  out->type = acc ? acc->type : sum_type(a.type);
  out->shape = {rows, columns};
  bool is_real = is_float(out->type);
  steps_ += uint64_t(rows * columns * inner / 8);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      double sum = 0;
      uint64_t whole = 0;
      // Where all of a line lies along an axis that is not known, it is a line of padding.
      bool is_lost_row = inner > 0, is_lost_column = inner > 0;
      Padding set = 0;
      bool has_others = false;
      for (int64_t k = 0; k < inner; ++k) {
        const Number &p = a.elements[size_t(r * inner + k)], &q = b.elements[size_t(k * columns + c)];
        is_lost_row &= (p.beyond() & kLost) != 0, is_lost_column &= (q.beyond() & kLost) != 0;
        if (p.beyond() & (kLost | 2) || q.beyond() & (kLost | 1)) continue;
        if (p.is_set() || q.is_set()) set |= kSet | (is_zero(p) || is_zero(q) ? Padding(0) : kAnything);
        else has_others |= !p.is_padding() && !q.is_padding();
        if (is_real) sum += p.f * q.f;
        else whole += uint64_t(int64_t(p.i)) * uint64_t(int64_t(q.i));
      }
      Number n;
      n.type = out->type;
      if (inner > 0) n.padding = Padding((a.elements[size_t(r * inner)].beyond() & 1) | (b.elements[size_t(c)].beyond() & 2));
      if (is_lost_row) n.padding |= 1;
      if (is_lost_column) n.padding |= 2;
      n.padding |= has_others ? set & ~kSet : set;
      const Number* start = acc ? &acc->elements[out->elements.size()] : nullptr;
      if (start) is_real ? void(sum += start->f) : void(whole += uint64_t(int64_t(start->i)));
      if (is_real) n.f = options_.numeric == ir::Numeric::Wide ? sum : round_to(n.type, sum);
      else n.i = out->type == Scalar::U64 ? Wide(whole) : Wide(wrap(n.type, int64_t(whole)));
      n.is_element = true;
      if (start && start->is_carried()) {
        if (auto same = kept(*start, n, nullptr, span)) n = *same;
        else carry(n, std::array{*start, n});
      }
      out->elements.push_back(n);
    }
  return TilePtr(out);
}

namespace {

std::optional<ir::ReduceFn> function_named(std::string_view fn) {
  constexpr std::pair<std::string_view, ir::ReduceFn> kRows[] = {
      {"sum", ir::ReduceFn::Sum}, {"prod", ir::ReduceFn::Prod}, {"max", ir::ReduceFn::Max}, {"min", ir::ReduceFn::Min},
      {"absmax", ir::ReduceFn::AbsMax}, {"any", ir::ReduceFn::Any}, {"all", ir::ReduceFn::All}};
  for (auto& [name, value] : kRows)
    if (name == fn) return value;
  return std::nullopt;
}

// Is it no part of its line along the axis?
bool is_left_out(const Number& x, size_t axis) { return (x.padding & (kLost | 1 << axis)) || (x.waiting & 1 << axis); }

// The padding of a result along an axis: where its whole line, but for what was set beside padding, lies beyond an edge along another one.
template <class F> Padding of_line(const Tile& tile, const Lines& lines, int64_t line, size_t axis, const F& changes_nothing) {
  Padding all = kAllAxes, set = 0, anything = 0;
  bool is_set = true, has_others = false, all_wait = lines.length > 0;
  for (int64_t k = 0; k < lines.length; ++k) {
    const Number& x = tile.elements[size_t(lines.first(line) + k * lines.inner)];
    if (x.is_set()) set = kSet, anything |= changes_nothing(x) ? Padding(0) : kAnything;
    else all &= x.beyond(), is_set = false, has_others |= !x.is_padding();
    const bool is_padding = x.padding & (kLost | 1 << axis);
    if (!is_padding) anything |= (is_left_out(x, axis) ? x.padding : x.beyond()) & kAnything;
    all_wait &= (x.waiting >> axis & 1) != 0;
  }
  // Nothing was brought to any of them: it may be known that nothing ever is.
  if (all_wait) anything = kAnything;
  all = Padding((is_set ? Padding(0) : all) | anything | (has_others ? Padding(0) : set));
  Places places;
  for (size_t d = 0; d < tile.shape.size(); ++d) places.push_back(d < axis ? d : d - 1);
  return moved(Padding(all & ~(1 << axis)), places);
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
  return out;
}

// Axes of one shape that another one has as well: as long, and over as many elements.
Places kept_axes(const Shape& from, const Shape& to) {
  Places places(from.size());
  auto inner = [](const Shape& shape, size_t d) {
    int64_t count = 1;
    while (++d < shape.size()) count *= shape[d];
    return count;
  };
  for (size_t d = 0; d < from.size(); ++d)
    for (size_t e = 0; e < to.size(); ++e)
      if (from[d] == to[e] && inner(from, d) == inner(to, e)) places[d] = e;
  return places;
}

bool changes_nothing(ir::ReduceFn fn, const Number& x, Scalar type) {
  const ir::Number nothing = ir::identity(fn, type), with = ir::combine(fn, type, nothing, to_ir(x), ir::Numeric::Wide);
  return with.is_float ? with.f == nothing.f : with.i == nothing.i;
}

bool sums_wide(ir::ReduceFn fn, Scalar type) { return is_narrow_float(type) && (fn == ir::ReduceFn::Sum || fn == ir::ReduceFn::Prod); }

}  // namespace

// Whether a tile that is the same number everywhere ends somewhere is not seen from what was run.
void Evaluator::ask_ends(const Tile& tile, const Number& neutral, Span span) {
  if (tile.ends != Ends::Unseen && !tile.may_end()) return;
  const Number& first = tile.elements[0];
  if (tile.ends == Ends::Unseen || !(first.is_real() ? first.f == (neutral.is_real() ? neutral.f : double(neutral.i)) : first.i == neutral.i))
    unknown(span, "what may end where a branch or a loop that was not run would have brought padding");
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
  if (function) ask_ends(*tile, from(tile->type, ir::identity(*function, tile->type), 0), span);
  for (int64_t line = 0; line < lines.count(); ++line) {
    if (is_index) {
      out->elements.push_back(best_index(*tile, lines, line, size_t(axis), fn == "argmax"));
      continue;
    }
    ir::Number total = ir::identity(*function, type);
    const Padding padding = of_line(*tile, lines, line, size_t(axis), [&](const Number& x) { return changes_nothing(*function, x, type); });
    for (int64_t k = 0; k < lines.length; ++k) {
      const Number& x = tile->elements[size_t(lines.first(line) + k * lines.inner)];
      if (!is_left_out(x, size_t(axis))) total = ir::combine(*function, type, total, to_ir(x), options_.numeric);
    }
    Number sum = from(type, total, padding);
    out->elements.push_back(type == tile->type ? sum : cast(sum, tile->type, ir::ConvertMode::Nearest));
    if (type != tile->type && options_.numeric == ir::Numeric::Wide) out->elements.back().f = sum.f;
    out->elements.back().padding = padding;
  }
  return out->shape.empty() ? Value(out->elements[0]) : Value(TilePtr(out));
}

Value Evaluator::scan(const std::string& fn, const TilePtr& tile, int64_t axis, Span span) {
  Lines lines(tile->shape, size_t(axis));
  auto function = function_named(fn);
  if (!function) unknown(span, "the scan `" + fn + "`");
  auto out = std::make_shared<Tile>(*tile);
  ask_ends(*tile, from(tile->type, ir::identity(*function, tile->type), 0), span);
  Scalar type = sums_wide(*function, tile->type) ? Scalar::F32 : tile->type;
  for (int64_t line = 0; line < lines.count(); ++line) {
    ir::Number total = ir::identity(*function, type);
    Padding anything = 0;
    for (int64_t k = 0; k < lines.length; ++k) {
      Number& x = out->elements[size_t(lines.first(line) + k * lines.inner)];
      if (!(x.beyond() >> axis & 1)) total = ir::combine(*function, type, total, to_ir(x), options_.numeric);
      if (x.is_set() && !changes_nothing(*function, x, type)) anything |= kAnything;
      Number sum = from(type, total, x.beyond());
      if (type != tile->type && options_.numeric == ir::Numeric::Typed) sum = cast(sum, tile->type, ir::ConvertMode::Nearest);
      sum.type = tile->type;
      sum.padding = x.beyond() | anything;
      x = sum;
    }
  }
  return TilePtr(out);
}

Value Evaluator::turned(const Value& value, Span span) {
  if (auto* view = std::get_if<View>(&value)) {
    View out = *view;
    std::reverse(out.axes.begin(), out.axes.end());
    return out;
  }
  auto* tile = std::get_if<TilePtr>(&value);
  if (!tile || (*tile)->shape.size() != 2) unknown(span, "`.T` of this");
  auto out = std::make_shared<Tile>();
  out->type = (*tile)->type;
  out->shape = {(*tile)->shape[1], (*tile)->shape[0]};
  out->ends = (*tile)->ends;
  for (int64_t r = 0; r < out->shape[0]; ++r)
    for (int64_t c = 0; c < out->shape[1]; ++c) out->elements.push_back(moved((*tile)->elements[size_t(c * out->shape[0] + r)], {1, 0}));
  return TilePtr(out);
}

Value Evaluator::reshaped(const Value& value, const Shape& shape, Span span) {
  Value read = tile_or_number(value, span);
  auto* tile = std::get_if<TilePtr>(&read);
  if (!tile) unknown(span, "a reshape of this");
  auto out = std::make_shared<Tile>(**tile);
  out->shape = shape;
  const auto places = kept_axes((*tile)->shape, shape);
  for (Number& x : out->elements) x = moved(x, places);
  return TilePtr(out);
}

}  // namespace tilec::judge
