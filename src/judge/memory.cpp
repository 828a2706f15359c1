// Parts of memory: what is read, what is written, and places that assignments name.
#include "judge/evaluator.h"

namespace tilec::judge {

namespace {

// Row-major places of a shape: calls f(index) for each.
template <class F>
void each_index(const Shape& shape, F&& f) {
  Shape index(shape.size(), 0);
  for (int64_t k = 0, n = count_of(shape); k < n; ++k) {
    f(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

// Where an element of the region lies; nothing beyond an edge.
std::optional<int64_t> offset_of(const Region& region, const Shape& index) {
  int64_t at = region.view.offset;
  for (size_t d = 0; d < index.size(); ++d) {
    Wide i = region.start[d] + index[d];
    if (i < 0 || i >= region.view.axes[d].extent) return std::nullopt;
    at += int64_t(i) * region.view.axes[d].stride;
  }
  return at;
}

}  // namespace

View Evaluator::new_memory(const std::string& name, Scalar element, const Shape& shape, Kind kind) {
  View view;
  view.kind = kind;
  view.memory = std::make_shared<Memory>(name, element, shape, kind != Kind::Fragment);
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    view.axes.insert(view.axes.begin(), {shape[d], stride, d});
    stride *= shape[d];
  }
  return view;
}

Number Evaluator::load(const View& view, int64_t offset, Span span, const Memory::Old* old) {
  if (old)
    if (auto found = old->find(offset); found != old->end()) return found->second;
  if (!view.memory->is_written(offset))
    stop(interp::FaultKind::Uninitialised, span, "`" + view.memory->name + "` is read where it was never written");
  Number x = view.memory->get(offset);
  if (view.memory->is_callers()) return x;
  own_sources(x);
  return x;
}

Region Evaluator::all_of(const View& view) {
  Region out{view, std::vector<Wide>(view.axes.size(), 0), view.extents(), std::vector<bool>(view.axes.size(), true), {}};
  out.pad.type = view.memory->element;
  return out;
}

TilePtr Evaluator::read(const Region& region, Span span, const Memory::Old* old) {
  auto out = std::make_shared<Tile>();
  out->type = region.view.memory->element;
  out->shape = region.shape();
  // Where the axes of the memory are in the tile, and those of the region.
  Places places, kept;
  for (size_t d = 0, axis = 0; d < region.length.size(); ++d) {
    kept.push_back(region.is_kept[d] ? std::optional(axis++) : std::nullopt);
    places.resize(std::max(places.size(), region.view.axes[d].of + 1));
    places[region.view.axes[d].of] = kept.back();
  }
  const bool is_in_order = std::ranges::is_sorted(region.view.axes, {}, &Axis::of), is_data = region.view.memory->is_callers() || region.view.kind == Kind::Workspace;
  auto placed = [&](const Number& x) {
    Number out = moved(x, places);
    if (is_in_order) out.stamps = x.stamps;
    if (is_data) out.data = out.read = kAllAxes, out.owners.set(kAllAxes, kSeveral);
    return out;
  };
  auto beyond = [&](const Shape& index) {
    Number pad = region.pad;
    for (size_t d = 0; d < index.size(); ++d) {
      const Wide i = region.start[d] + index[d];
      if (kept[d] && (i < 0 || i >= region.view.axes[d].extent)) pad.padding |= Padding(1 << *kept[d]);
    }
    pad.data = pad.read = kAllAxes & ~pad.padding, pad.owners.set(pad.data, kSeveral);
    return pad;
  };
  each_index(region.length, [&](const Shape& index) {
    for (size_t d = 0; d < index.size(); ++d)
      if (!region.is_kept[d] && (region.start[d] < 0 || region.start[d] >= region.view.axes[d].extent))
        stop(interp::FaultKind::OutOfBounds, span, "an index lies outside `" + region.view.memory->name + "`");
    auto at = offset_of(region, index);
    out->elements.push_back(at ? placed(load(region.view, *at, span, old)) : beyond(index));
  });
  return out;
}

void Evaluator::write(const Region& region, const Value& value, Span span, bool takes_up) {
  Memory& memory = *region.view.memory;
  TilePtr tile = tile_of(value, region.shape(), span);
  for (size_t d = 0; d < region.start.size(); ++d)
    if (!region.is_kept[d] && (region.start[d] < 0 || region.start[d] >= region.view.axes[d].extent))
      stop(interp::FaultKind::OutOfBounds, span, "an index lies outside `" + memory.name + "`");
  size_t k = 0;
  Places places;
  for (size_t d = 0; d < region.length.size(); ++d)
    if (region.is_kept[d]) places.push_back(region.view.axes[d].of);
  bool is_whole = region.view.axes.size() == region.length.size();
  Padding cut = 0;
  for (size_t d = 0; d < region.length.size(); ++d) {
    const bool is_covered = region.start[d] == 0 && region.length[d] == region.view.axes[d].extent;
    is_whole &= is_covered;
    if (!is_covered) cut |= Padding(1 << region.view.axes[d].of);
  }
  each_index(region.length, [&](const Shape& index) {
    const Number& x = tile->elements[k++];
    auto at = offset_of(region, index);
    if (!at) return;
    Number number = moved(convert(x, memory.element, span), places);
    number.stamps = x.stamps;
    const bool is_held = memory.is_written(*at) && (region.view.kind == Kind::Fragment || (takes_up && region.view.kind == Kind::Shared));
    if (is_held) {
      const Number& old = *memory.own(*at);
      number = assigned(old, number, takes_up, span);
      if (!is_whole && (number.waiting & ~old.waiting)) number.padding |= kPartly;
    }
    number.padding &= ~(kAsked | kMet);
    keep_known(memory, number, span);
    if (!is_whole) number.stamp = 0;
    memory.set(*at, number);
    if (!is_whole && number.is_set()) memory.set_in_part(*at, cut);
  });
  if (!is_whole && !memory.is_callers()) memory.level(cut);
  ++changes_, ++changes_of_memory_;
}

// The caller sees it.
void Evaluator::keep_known(const Memory& memory, const Number& x, Span span) {
  if (memory.is_callers() && (x.is_anything() || x.waiting || x.unsaid)) unknown(span, "a number that stands beyond an edge, where the language says nothing of it");
}

Region Evaluator::region_of(const View& view, const ast::Index& index) {
  Region out = all_of(view);
  size_t axis = 0;
  for (const ast::Subscript& s : index.subscripts) {
    if (s.kind == ast::SubscriptKind::NewAxis || axis >= view.axes.size()) unknown(s.span, "this subscript of memory");
    if (s.kind == ast::SubscriptKind::Index) {
      if (is_parallel_) out.indices.resize(view.axes.size()), out.indices[axis] = parallel_index(*s.lo);
      const Number at = whole(*s.lo);
      out.start[axis] = at.i;
      if (is_parallel_) out.by.add(at);
      out.length[axis] = 1;
      out.is_kept[axis] = false;
    } else if (s.kind == ast::SubscriptKind::Length) {
      out.start[axis] = whole_number(*s.lo);
      out.length[axis] = int64_t(whole_number(*s.hi));
    } else if (s.kind == ast::SubscriptKind::Bounds) {
      out.start[axis] = s.lo ? whole_number(*s.lo) : 0;
      Wide end = s.hi ? whole_number(*s.hi) : Wide(view.axes[axis].extent);
      out.length[axis] = int64_t(end - out.start[axis]);
    }
    ++axis;
  }
  for (const ast::Argument& option : index.options)
    if (option.name.text == "pad") out.pad = written_pad(number(*option.value), view.memory->element, option.span);
  return out;
}

View Evaluator::element_of(const Region& region, Span span) {
  View out = region.view;
  out.axes.clear();
  out.by.add(region.by);
  for (size_t d = 0; d < region.start.size(); ++d) {
    const Axis& axis = region.view.axes[d];
    Wide last = region.start[d] + region.length[d];
    if (region.start[d] < 0 || last > axis.extent)
      stop(interp::FaultKind::OutOfBounds, span, "an index lies outside `" + out.memory->name + "`");
    if (out.indices.size() <= axis.of) out.indices.resize(axis.of + 1);
    if (d < region.indices.size()) out.indices[axis.of] = region.indices[d];
    out.offset += int64_t(region.start[d]) * axis.stride;
    if (region.is_kept[d]) out.axes.push_back({region.length[d], axis.stride, axis.of});
  }
  return out;
}

// `base[...]` as a value: an element, a row that stands for memory, or a tile that is read here.
Value Evaluator::part_of(const Value& base, const ast::Index& index, Span span) {
  if (auto* view = std::get_if<View>(&base); view && !has_new_axis(index)) {
    Region region = region_of(*view, index);
    if (!is_row(index)) return read(region, span);
    if (is_nowhere(region)) return nowhere(view->memory->element, region.by.left_out());
    View element = element_of(region, span);
    return element.axes.empty() ? tile_or_number(element, span) : Value(element);
  }
  Value held = tile_or_number(base, span);
  auto* tile = std::get_if<TilePtr>(&held);
  if (!tile) unknown(span, "subscripts of this");
  const ast::Index plain = without_new_axes(index);
  View copy = new_memory("the tile", (*tile)->type, (*tile)->shape, Kind::Fragment);
  bool is_whole = true;
  for (const ast::Subscript& s : plain.subscripts) is_whole &= s.kind == ast::SubscriptKind::All;
  TilePtr cut = *tile;
  if (!is_whole) {
    Region region = region_of(copy, plain);
    if (is_row(plain) && plain.subscripts.size() == copy.axes.size()) {
      const View element = element_of(region, span);
      return element_at((*tile)->elements[size_t(element.offset)], element.indices, (*tile)->shape.size(), Kind::Fragment);
    }
    size_t k = 0;
    for (const Number& x : (*tile)->elements) copy.memory->hold(int64_t(k++), x);
    cut = read(region, span);
  }
  return with_new_axes(cut, index);
}

Region Evaluator::open_region(const View& view, const std::vector<Wide>& index, const Shape& shape) {
  Region out = all_of(view);
  for (size_t d = 0; d < index.size(); ++d) {
    out.length[d] = shape[d];
    out.start[d] = index[d] * shape[d];
  }
  return out;
}

Evaluator::Place Evaluator::place_of(const ast::Expr& expr) {
  Place out;
  if (auto* name = expr.as<ast::NameRef>()) {
    Binding* binding = find(name->name.text);
    if (!binding) unknown(expr.span, "this place");
    auto* view = std::get_if<View>(&binding->value);
    if (view) out.region = all_of(*view);
    else out.variable = binding;
    return out;
  }
  if (auto* index = expr.as<ast::Index>()) {
    if (index->base->as<ast::Call>()) {
      Place whole = place_of(*index->base);
      if (!whole.region) unknown(expr.span, "a part of a tile without a shape");
      out.region = within(*whole.region, *index);
      return out;
    }
    Value base = eval(*index->base);
    auto* view = std::get_if<View>(&base);
    if (!view) unknown(expr.span, "this place");
    out.region = region_of(*view, *index);
    return out;
  }
  if (auto* member = expr.as<ast::Member>(); member && member->name.text == "T") {
    Value base = eval(expr);
    if (auto* view = std::get_if<View>(&base)) {
      out.region = all_of(*view);
      return out;
    }
  }
  auto* call = expr.as<ast::Call>();
  auto* member = call ? call->callee->as<ast::Member>() : nullptr;
  if (!member || member->name.text != "tile") unknown(expr.span, "this place");
  // A part of a place is one; nothing of it is read.
  Place whole = member->base->as<ast::Index>() ? place_of(*member->base) : Place{};
  Value base = whole.region ? Value(element_of(*whole.region, member->base->span)) : eval(*member->base);
  auto* view = std::get_if<View>(&base);
  if (!view) unknown(expr.span, "this place");
  std::vector<Wide> indices;
  for (const ast::Argument& a : call->arguments)
    if (!a.is_named()) indices.push_back(whole_number(*a.value));
  if (call->generics.empty()) out.open = {*view, indices};
  else out.region = open_region(*view, indices, shape_of(call->generics));
  return out;
}

Value Evaluator::place_value(const Place& place, Span span, const Shape& shape) {
  if (place.variable) {
    if (!place.variable->is_set) stop(interp::FaultKind::Uninitialised, span, "a variable is read before it is written");
    ask_cell(*place.variable, span);
    return place.variable->value;
  }
  if (place.open) return read(open_region(place.open->first, place.open->second, shape), span);
  if (is_nowhere(*place.region)) return nowhere(element_type(place), place.region->by.left_out());
  if (place.region->shape().empty()) return tile_or_number(element_of(*place.region, span), span);
  return read(*place.region, span);
}

void Evaluator::assign(Place& place, const Value& given, Span span, bool takes_up) {
  Value value = tile_or_number(given, span);
  if (place.variable) {
    auto type = scalar_of_value(place.variable->value);
    if (std::holds_alternative<Number>(value) && type) value = convert(std::get<Number>(value), *type, span);
    auto *old = std::get_if<Number>(&place.variable->value), *now = std::get_if<Number>(&value);
    changes_ += !old || !now || !place.variable->is_set || !are_same(*old, *now);
    if (now) hold_number(*now, place.variable->is_set ? old : nullptr, takes_up, span), now->is_known = false;
    place.variable->value = value;
    place.variable->is_set = true;
    return;
  }
  if (place.open) {
    auto* tile = std::get_if<TilePtr>(&value);
    if (!tile) unknown(span, "a tile whose shape neither side gives");
    return write(open_region(place.open->first, place.open->second, (*tile)->shape), value, span, takes_up);
  }
  if (!place.region->shape().empty()) return write(*place.region, value, span, takes_up);
  if (is_left_alone(*place.region, span)) return;
  View element = element_of(*place.region, span);
  Number number = convert(number_of(value, span), element.memory->element, span);
  bool changes = !element.memory->is_written(element.offset) || !are_same(element.memory->get(element.offset), number);
  changes_ += changes, changes_of_memory_ += changes;
  if (is_parallel_) number = put_at(number, element);
  const Number* old = element.memory->is_written(element.offset) ? element.memory->own(element.offset) : nullptr;
  if (element.kind != Kind::Fragment) number.data = kAllAxes & ~number.padding & ~number.waiting, number.read = number.read ? number.data : Padding(0);
  set_beside(number, old);
  if (is_parallel_ && old && element.kind == Kind::Fragment) {
    const Padding out = moved(kept_out_, turned_round(element.indices));
    number.padding |= out;
    if (out) number.padding &= ~kAsked;
    // What is padding both ways, and in a condition, may be assigned or left: whether it counts along others' axes is not said either.
    const bool is_either = out && old->is_padding() && (number.padding & ~old->padding & kAllAxes);
    number = assigned(*old, number, takes_up || out, span);
    if (is_either) number.padding |= kAnything;
  } else if (is_parallel_ && old && element.kind == Kind::Shared && takes_up) {
    number = assigned(*old, number, true, span);
  }
  number.padding &= ~(kAsked | kMet);
  keep_known(*element.memory, number, span);
  element.memory->set(element.offset, number);
}

}  // namespace tilec::judge
