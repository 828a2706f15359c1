// Parts of memory as they stand, `A.tile[4, 8](i, j)[r, :]`: what an index takes out of one is of the memory, and lies inside it.
#include "judge/evaluator.h"
#include "judge/walk.h"

namespace tilec::judge {

bool has_new_axis(const ast::Index& index) {
  return std::ranges::any_of(index.subscripts, [](const ast::Subscript& s) { return s.kind == ast::SubscriptKind::NewAxis; });
}

ast::Index without_new_axes(const ast::Index& index) {
  ast::Index plain = index;
  std::erase_if(plain.subscripts, [](const ast::Subscript& s) { return s.kind == ast::SubscriptKind::NewAxis; });
  return plain;
}

bool is_row(const ast::Index& index) {
  return std::ranges::all_of(index.subscripts, [](const ast::Subscript& s) { return s.kind == ast::SubscriptKind::Index; });
}

// Axes of one element go where they are written; those that an index drops do not count.
TilePtr with_new_axes(const TilePtr& cut, const ast::Index& index) {
  if (!has_new_axis(index)) return cut;
  auto out = std::make_shared<Tile>(*cut);
  size_t axis = 0;
  Places places;
  for (const ast::Subscript& s : index.subscripts) {
    if (s.kind == ast::SubscriptKind::NewAxis) out->shape.insert(out->shape.begin() + int64_t(axis), 1);
    else if (s.kind != ast::SubscriptKind::Index) places.push_back(axis);
    axis += s.kind != ast::SubscriptKind::Index;
  }
  while (places.size() < cut->shape.size()) places.push_back(axis++);
  for (Number& x : out->elements) x = moved(x, places);
  return TilePtr(out);
}

Region Evaluator::within(const Region& region, const ast::Index& index) {
  View shape = region.view;
  shape.axes.clear();
  for (int64_t extent : region.shape()) shape.axes.push_back({extent, 1, shape.axes.size()});
  Region part = region_of(shape, index), out = region;
  size_t axis = 0;
  for (size_t d = 0; d < region.length.size(); ++d) {
    if (!region.is_kept[d]) continue;
    out.start[d] += part.start[axis];
    out.length[d] = part.length[axis];
    out.is_kept[d] = part.is_kept[axis++];
  }
  out.by.add(part.by);
  return out;
}

// Memory by a name, a row of it, or either turned; of how many axes. Nothing is evaluated.
std::optional<size_t> Evaluator::axes_of_memory(const ast::Expr& expr) {
  if (auto* name = expr.as<ast::NameRef>()) {
    Binding* binding = find(name->name.text);
    auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
    return view && !view->axes.empty() ? std::optional(view->axes.size()) : std::nullopt;
  }
  if (auto* member = expr.as<ast::Member>()) return member->name.text == "T" ? axes_of_memory(*member->base) : std::nullopt;
  auto* index = expr.as<ast::Index>();
  const auto axes = index && is_row(*index) ? axes_of_memory(*index->base) : std::nullopt;
  return axes && *axes > index->subscripts.size() ? std::optional(*axes - index->subscripts.size()) : std::nullopt;
}

// A tile of memory, what is cut out of it, or of memory, or turned, as it is written.
bool Evaluator::is_part_as_it_stands(const ast::Expr& expr) {
  if (auto* call = expr.as<ast::Call>()) {
    auto* member = call->callee->as<ast::Member>();
    return member && member->name.text == "tile" && !call->generics.empty() && axes_of_memory(*member->base);
  }
  if (auto* member = expr.as<ast::Member>()) return member->name.text == "T" && is_part_as_it_stands(*member->base);
  auto* index = expr.as<ast::Index>();
  if (!index || has_new_axis(*index)) return false;
  if (!axes_of_memory(*index->base)) return is_part_as_it_stands(*index->base);
  auto* view = std::get_if<View>(&find(root_of(index->base))->value);
  return view && view->kind != Kind::Fragment && !is_row(*index);
}

Region Evaluator::tile_as_it_stands(const ast::Call& call) {
  const ast::Expr& base = *call.callee->as<ast::Member>()->base;
  const View view = std::get<View>(eval(base));
  const Shape shape = shape_of(call.generics);
  std::vector<Wide> indices;
  std::optional<Number> pad;
  for (const ast::Argument& a : call.arguments) {
    const Number n = number(*a.value);
    if (a.is_named()) pad = written_pad(n, view.memory->element, a.value->span);
    else indices.push_back(n.i);
  }
  if (indices.size() != view.axes.size() || shape.size() != indices.size()) unknown(call.callee->span, "a tile with fewer indices than axes");
  for (size_t d = 0; d < indices.size(); ++d) whole(ast::BinaryOp::Multiply, integer_of(indices[d]), integer_of(shape[d]), call.callee->span);
  Region out = open_region(view, indices, shape);
  if (pad) out.pad = *pad;
  return out;
}

Region Evaluator::part_as_it_stands(const ast::Expr& expr) {
  if (auto* call = expr.as<ast::Call>()) return tile_as_it_stands(*call);
  if (auto* member = expr.as<ast::Member>()) {
    Region out = part_as_it_stands(*member->base);
    if (out.shape().size() != out.length.size()) unknown(expr.span, "a row that is turned");
    std::ranges::reverse(out.view.axes), std::ranges::reverse(out.start), std::ranges::reverse(out.length);
    return out;
  }
  const ast::Index& index = *expr.as<ast::Index>();
  return axes_of_memory(*index.base) ? region_of(std::get<View>(eval(*index.base)), index) : within(part_as_it_stands(*index.base), index);
}

// What an index takes out of a part as it stands: an element, a row, a column.
Value Evaluator::taken_out(const ast::Index& index, Span span) {
  Place place;
  place.region = within(part_as_it_stands(*index.base), without_new_axes(index));
  Value taken = place_value(place, span, {});
  auto* tile = std::get_if<TilePtr>(&taken);
  if (!tile && has_new_axis(index)) unknown(span, "a new axis of an element");
  return tile ? Value(with_new_axes(*tile, index)) : taken;
}

}  // namespace tilec::judge
