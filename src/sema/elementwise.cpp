#include "sema/elementwise.h"

#include "sema/shapeless.h"
#include "sema/types.h"
#include "sema/view.h"

namespace tilec::sema {
namespace {

Elementwise lift(Instance& in, ir::ValueId tile) {
  const ir::Type type = in.type(tile);
  Elementwise e{.shape = type.shape, .region = in.kernel.new_region(), .inputs = {}, .result = {}};
  ir::Axes axes(type.shape.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = int64_t(i);
  e.result = in.kernel.new_arg(e.region, ir::scalar_type(type.element), in.kernel.value(tile).hint);
  e.inputs.push_back({tile, e.result, std::move(axes)});
  return e;
}

std::optional<Elementwise> elementwise(Instance& in, const Operand& operand) {
  if (auto* e = operand.value.as<Elementwise>()) return *e;
  ir::ValueId tile = materialise(in, operand);
  return tile.valid() ? std::optional(lift(in, tile)) : std::nullopt;
}

// The shape of two tiles that meet; axes written `_` take the other's extent.
std::optional<Shape> joined(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return std::nullopt;
  Shape shape = a;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == kNewAxis) shape[i] = b[i];
    else if (b[i] != kNewAxis && a[i] != b[i]) return std::nullopt;
  }
  return shape;
}

// Moves the code and inputs of `from` into `into`; an input that both have is kept once. `into.result` stays; the value
// that was `from.result` comes back.
ir::ValueId absorb(Instance& in, Elementwise& into, const Elementwise& from) {
  ir::ValueId result = from.result;
  auto& ops = in.kernel.region(from.region).ops;
  auto& target = in.kernel.region(into.region).ops;
  target.insert(target.end(), ops.begin(), ops.end());
  ops.clear();
  for (const auto& input : from.inputs) {
    auto same = std::find_if(into.inputs.begin(), into.inputs.end(),
                             [&](const auto& other) { return other.tile == input.tile && other.axes == input.axes; });
    if (same != into.inputs.end()) {
      ir::replace_uses(in.kernel, into.region, input.element, same->element);
      if (result == input.element) result = same->element;
      continue;
    }
    in.kernel.value(input.element).region = into.region;
    in.kernel.region(into.region).args.push_back(input.element);
    into.inputs.push_back(input);
  }
  in.kernel.region(from.region).args.clear();
  return result;
}

void report_shapes(Instance& in, const Operand& a, const Shape& x, const Operand& b, const Shape& y, Span span) {
  auto report = in.at(span).error(diag::ShapeMismatch, shape_text(x), shape_text(y));
  report.mark(a.span, shape_text(x)).mark(b.span, shape_text(y));
  if (x.size() == y.size() + 1 || y.size() == x.size() + 1)
    report.help("write where the missing axis goes: `[:, _]` repeats along columns, `[_, :]` along rows");
  bool is_single = false;
  for (size_t i = 0; x.size() == y.size() && i < x.size(); ++i) is_single |= x[i] != y[i] && (x[i] == 1 || y[i] == 1);
  if (is_single) report.help("an axis is repeated where it is written `_` beside the other tile, `v[:, _]`; under a name, or as it was read, it has one element");
}

}  // namespace

void splice(Instance& in, ir::RegionId from) {
  if (!from.valid()) return;
  auto ops = std::move(in.kernel.region(from).ops);
  in.kernel.region(from).ops.clear();
  auto& target = in.kernel.region(in.builder.region()).ops;
  target.insert(target.end(), ops.begin(), ops.end());
}

namespace {

// Tiles that meet, and their elements.
struct Met {
  Elementwise all;                   // without code
  std::vector<Operand> elements;
  std::vector<ir::RegionId> code;    // of each operand
  bool has_tiles = false;
};

// None after a mistake.
std::optional<Met> meet(Instance& in, std::span<const Operand> operands, Span span) {
  Met met{.all = {}, .elements = {operands.begin(), operands.end()}, .code = {}};
  const Operand* first = nullptr;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].value.is_poison()) return std::nullopt;
    met.code.emplace_back();
    if (!operands[i].value.is_tile_like()) continue;
    if (!require_block(in, operands[i].span, "a whole tile")) return std::nullopt;
    auto next = elementwise(in, operands[i]);
    if (!next) return std::nullopt;
    ir::ValueId element = next->result;
    if (!first) {
      first = &operands[i];
      met.all = *next;
      met.code[i] = in.kernel.new_region();
    } else {
      auto shape = joined(met.all.shape, next->shape);
      if (!shape) return report_shapes(in, *first, met.all.shape, operands[i], next->shape, span), std::nullopt;
      element = absorb(in, met.all, *next);
      met.all.shape = *shape;
      met.code[i] = next->region;
    }
    met.elements[i].value = Dynamic{element, next->is_literal};
    std::swap(in.kernel.region(met.code[i]).ops, in.kernel.region(met.all.region).ops);
  }
  met.has_tiles = first != nullptr;
  return met;
}

}  // namespace

Value map_apart(Instance& in, std::span<const Operand> operands, Span span,
                const std::function<Value(std::span<const Operand>, std::span<const ir::RegionId>)>& body) {
  auto met = meet(in, operands, span);
  if (!met) return Poison{};
  if (!met->has_tiles) return body(met->elements, met->code);
  // Elements of memory are read before the map, once.
  for (Operand& element : met->elements)
    if (element.value.is_element()) element.value = number(in, element);
  Restore<Level> level(in.level, Level::Element);
  RegionGuard region(in, met->all.region);
  Value result = body(met->elements, met->code);
  if (result.is_poison()) return result;
  if (!result.is_scalar()) {
    in.at(span).error(diag::TypeMismatch, "a number for each element", describe(in.kernel, result));
    return Poison{};
  }
  Elementwise& all = met->all;
  all.is_literal = result.is<Dynamic>() && is_literal(result);
  all.result = all.is_literal ? result.as<Dynamic>()->id : emit(in, number(in, {result, span}));
  return all;
}

Value map_elements(Instance& in, std::span<const Operand> operands, Span span,
                   const std::function<Value(std::span<const Operand>)>& body) {
  return map_apart(in, operands, span, [&](std::span<const Operand> elements, std::span<const ir::RegionId> code) {
    for (ir::RegionId region : code) splice(in, region);
    return body(elements);
  });
}

namespace {

ir::ValueId emit_map(Instance& in, Elementwise e) {
  if (e.is_literal) {
    RegionGuard region(in, e.region);
    e.result = emit(in, Dynamic{e.result, true});
  }
  Shape shape = e.shape;
  std::replace(shape.begin(), shape.end(), kNewAxis, int64_t(1));
  const ir::Type type = ir::tile_type(in.type(e.result).element, shape);
  bool is_identity = in.kernel.region(e.region).ops.empty() && e.inputs.size() == 1 && e.inputs[0].element == e.result;
  if (is_identity && in.type(e.inputs[0].tile).shape == shape) return e.inputs[0].tile;
  std::vector<ir::ValueId> indices;
  std::vector<ir::ValueId> elements = in.kernel.region(e.region).args;
  in.kernel.region(e.region).args.clear();
  for (size_t i = 0; i < shape.size(); ++i) in.near_indices[in.kernel.new_arg(e.region, ir::scalar_type(Scalar::Index))] = kNearBits;
  auto& args = in.kernel.region(e.region).args;
  args.insert(args.end(), elements.begin(), elements.end());
  op::Map map{.inputs = {}, .input_axes = {}, .shape = shape, .body = e.region};
  for (const auto& input : e.inputs) {
    map.inputs.push_back(input.tile);
    map.input_axes.push_back(input.axes);
  }
  {
    RegionGuard region(in, e.region);
    in.builder.yield({e.result});
  }
  return in.builder.value(std::move(map), type);
}

}  // namespace

void help_on_single(Report& report, const Shape& left, const Shape& right) {
  bool is_single = false;
  for (size_t i = 0; left.size() == right.size() && i < left.size(); ++i) is_single |= left[i] != right[i] && right[i] == 1;
  if (is_single) report.help("an assignment repeats no axis: begin with 0 and add it, `t = 0; t += v[_, :];`");
}

ir::ValueId materialise(Instance& in, const Operand& operand, const Shape* shape) {
  const Value& value = operand.value;
  if (value.is_poison()) return {};
  if (auto* t = value.as<Tile>()) return t->id;
  if (auto* e = value.as<Elementwise>()) return emit_map(in, *e);
  if (auto* v = value.as<View>(); v && !v->is_element()) return load_tile(in, *v, operand.span);
  if (value.is_scalar() && shape) {
    Value x = number(in, operand);
    if (x.is_poison()) return {};
    ir::ValueId id = emit(in, x);
    return in.builder.value(op::Splat{id}, ir::tile_type(in.type(id).element, *shape));
  }
  if (value.is<Shapeless>())
    report_shapeless(in, operand);
  else
    in.at(operand.span).error(diag::TypeMismatch, "a tile", describe(in.kernel, value));
  return {};
}

Value adapted(Instance& in, const Operand& operand, Scalar element) {
  if (operand.value.is_scalar()) return implicitly(in, operand, element);
  auto* e = operand.value.as<Elementwise>();
  if (!e || !e->is_literal) return operand.value;
  return map_elements(in, std::span(&operand, 1), operand.span,
                      [&](std::span<const Operand> x) { return implicitly(in, x[0], element); });
}

Value fragment(Instance& in, const Operand& operand, const Shape* shape) {
  ir::ValueId id = materialise(in, operand, shape);
  return id.valid() ? Value(Tile{id}) : Value(Poison{});
}

Value with_new_axis(Instance& in, Value tile, int axis, Span span) {
  // What is computed before it is repeated is computed once a row, not once an element.
  if (auto* open = tile.as<Elementwise>(); open && !in.kernel.region(open->region).ops.empty())
    tile = fragment(in, {std::move(tile), span});
  auto e = elementwise(in, {std::move(tile), span});
  if (!e) return Poison{};
  e->shape.insert(e->shape.begin() + axis, kNewAxis);
  if (!has_few_axes(in, e->shape, span)) return Poison{};
  for (auto& input : e->inputs)
    for (int64_t& a : input.axes) a += a >= axis;
  return *e;
}

std::optional<Shape> shape_of(Instance& in, const Operand& operand) {
  if (auto* t = operand.value.as<Tile>()) return in.type(t->id).shape;
  if (auto* e = operand.value.as<Elementwise>()) return e->shape;
  if (auto* v = operand.value.as<View>()) {
    if (auto shape = fixed_shape(v->shape)) return shape;
    in.at(operand.span).error(diag::ExtentNotConstant, in.text(operand.span));
  }
  return std::nullopt;
}

}  // namespace tilec::sema
