// Whole tiles: element by element, products, other shapes; reductions and scans stand in lines.cpp.
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
Number operand_at(const Tile& tile, const Shape& shape, int64_t k) {
  Number x = tile.elements[size_t(place_in(tile, shape, k))];
  x.is_element = true, x.spread = spread_of(tile, shape);
  return x;
}

bool is_zero(const Number& x) { return x.is_real() ? x.f == 0 : x.i == 0; }

Scalar sum_type(Scalar type) {
  if (is_float(type)) return type == Scalar::F64 ? type : Scalar::F32;
  return bit_width(type) <= 16 ? Scalar::I32 : Scalar::I64;
}

// What a product leaves in what it is added to.
Number added(const Number& start, const Number& sum) {
  Number out = sum;
  out.stamps = start.stamps;
  if (start.is_padding()) {
    out.padding |= start.padding & ~kAsRead;
  } else if (sum.is_padding()) {
    out = start;
    // Along each axis by itself, as where tiles are assigned: what comes counts along those where it is none.
    if (!(sum.padding & kLost)) out.data |= sum.data & ~sum.padding & kAllAxes & ~kLost;
    out.waiting = (start.waiting | sum.padding) & ~out.counted() & kAllAxes;
    out.unsaid = (out.unsaid | (sum.padding & start.placed)) & ~out.data & kAllAxes;
    return out;
  }
  out.data |= start.data, out.placed |= start.placed, out.waiting = (out.waiting | start.waiting) & ~out.data, out.unsaid = (out.unsaid | start.unsaid) & ~out.data;
  out.padding |= start.padding & (kAnything | kSet);
  return out;
}

}  // namespace

Number Evaluator::number_of(const Value& value, Span span) {
  Value read = tile_or_number(value, span);
  if (auto* n = std::get_if<Number>(&read)) return *n;
  unknown(span, "a value that is no number here");
}

Number Evaluator::whole(const ast::Expr& expr) {
  Number n = number(expr);
  if (n.is_real()) unknown(expr.span, "an index that is no whole number");
  return n;
}

Wide Evaluator::whole_number(const ast::Expr& expr) { return whole(expr).i; }

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
    Places indices = view->indices;
    indices.resize(kMostAxes);
    Number number = element_at(element, indices, view->memory->shape.size(), view->kind);
    const Padding told = view->by.left_out();
    number.padding |= told, number.data &= ~told, number.placed &= ~told, number.owners.set(told, 0);
    return number;
  }
  return read(all_of(*view), span);
}

Number Evaluator::written_pad(const Number& x, Scalar element, Span span) {
  Number pad = convert(x, element, span);
  pad.padding = kAsRead;
  return pad;
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
  steps_ += uint64_t(count_of(shape));
  const bool was_muted = is_muted_;
  for (int64_t k = 0; k < count_of(shape); ++k) {
    for (size_t i = 0; i < tiles.size(); ++i) {
      if (tiles[i]) numbers[i] = operand_at(*tiles[i], shape, k);
      else numbers[i].is_element = false, numbers[i].spread = kAllAxes;
    }
    for (auto& [mask, wanted] : masks_)
      if (mask->shape == shape && mask->elements[size_t(k)].truth() != wanted) is_muted_ = true;
    out->elements.push_back(each(numbers));
    is_muted_ = was_muted;
  }
  if (!out->elements.empty()) out->type = out->elements[0].type;
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
      bool is_lost_row = inner > 0, is_lost_column = inner > 0, is_unsaid = false;
      Padding set = 0, data = 0, placed = 0, waiting = 0, read = 0;
      bool has_others = false;
      for (int64_t k = 0; k < inner; ++k) {
        const Number &p = a.elements[size_t(r * inner + k)], &q = b.elements[size_t(k * columns + c)];
        data |= Padding((p.data & 1) | (q.data & 2)), placed |= Padding((p.placed & 1) | (q.placed & 2)), read |= Padding((p.read & 1) | (q.read & 2)), waiting |= Padding((p.waiting & 1) | (q.waiting & 2));
        is_lost_row &= (p.beyond() & kLost) != 0, is_lost_column &= (q.beyond() & kLost) != 0;
        is_unsaid |= ((p.padding | q.padding) & kReshaped) && !is_left_out_along(p, 1) && !is_left_out_along(q, 0) && !(is_zero(p) || is_zero(q));
        if ((may_stand(p, 1) || may_stand(q, 0)) && !is_zero(p) && !is_zero(q)) set |= kAnything;
        if (is_left_out(p, 1) || is_left_out(q, 0)) continue;
        if (p.is_set() || q.is_set()) set |= kSet | (is_zero(p) || is_zero(q) ? Padding(0) : kAnything);
        else has_others |= !p.is_padding() && !q.is_padding();
        if (is_real) sum += p.f * q.f;
        else whole += uint64_t(int64_t(p.i)) * uint64_t(int64_t(q.i));
      }
      Number n;
      n.type = out->type;
      if (inner > 0) n.padding = Padding((a.elements[size_t(r * inner)].beyond() & 1) | (b.elements[size_t(c)].beyond() & 2));
      n.padding |= Padding(int(is_lost_row) | int(is_lost_column) << 1);
      // By `reshape` it may be the product of padding, or one of nothing.
      if ((is_lost_row || is_lost_column) && is_unsaid) n.padding |= kAnything;
      n.padding |= has_others ? set & ~kSet : set;
      const Number* start = acc ? &acc->elements[out->elements.size()] : nullptr;
      if (start) is_real ? void(sum += start->f) : void(whole += uint64_t(int64_t(start->i)));
      if (is_real) n.f = options_.numeric == ir::Numeric::Wide ? sum : round_to(n.type, sum);
      else n.i = out->type == Scalar::U64 ? Wide(whole) : Wide(wrap(n.type, int64_t(whole)));
      n.is_element = true;
      n.data = data, n.placed = placed, n.read = read & data, n.waiting = n.kept = waiting & ~data;
      n.owners.set(data, kSeveral), n.keepers.set(n.kept, kSeveral);
      if (start) n = added(*start, n);
      out->elements.push_back(n);
    }
  return TilePtr(out);
}

namespace {

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

}  // namespace

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
  Padding image = 0;  // axes that are as they were
  for (const auto& place : places)
    if (place) image |= Padding(1 << *place);
  for (Number& x : out->elements) {
    const bool is_data = x.data, is_placed = x.placed;
    for (size_t d = 0; d < places.size(); ++d)
      if (!places[d]) x.scanned &= ~(1 << d);
    for (size_t d = 0; d < places.size(); ++d) {
      if (!places[d] && ((x.padding | x.waiting) >> d & 1)) x.padding |= kReshaped;
      // What has only come to nothing, a tensor that is longer is given some number of.
      if (!places[d] && (x.waiting & ~x.data) >> d & 1) x.padding |= kAnything;
    }
    x = moved(x, places);
    if (is_data) x.data |= Padding(~image & kAllAxes & ~x.waiting);
    if (is_placed) x.placed |= Padding(~image & kAllAxes);
  }
  return TilePtr(out);
}

}  // namespace tilec::judge
