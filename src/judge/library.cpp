// What the prelude only declares.
#include <algorithm>
#include <array>

#include "judge/evaluator.h"

namespace tilec::judge {

namespace {

template <class E>
std::optional<E> word_of(std::string_view text) {
  auto names = ir::names_of(E{});
  auto found = std::ranges::find(names, text);
  return found == names.end() ? std::nullopt : std::optional(E(found - names.begin()));
}

ir::Number to_ir(const Number& x) { return x.is_real() ? ir::Number::real(x.f) : ir::Number::integer(int64_t(x.i)); }

}  // namespace

Shape Evaluator::shape_of(const std::vector<ast::Argument>& generics) {
  Shape out;
  for (const ast::Argument& a : generics) {
    Value value = eval(*a.value);
    if (auto* shape = std::get_if<ShapeValue>(&value)) out.insert(out.end(), shape->extents.begin(), shape->extents.end());
    else out.push_back(int64_t(number_of(value, a.span).i));
  }
  return out;
}

Value Evaluator::tile_at(Call& call, Span span) {
  auto* view = call.arguments[0].value ? std::get_if<View>(&*call.arguments[0].value) : nullptr;
  if (!view) unknown(span, "a tile of this");
  std::vector<Wide> indices;
  Number pad;
  pad.type = view->memory->element;
  for (size_t i = 1; i < call.arguments.size(); ++i) {
    Number n = number_of(*call.arguments[i].value, span);
    bool is_pad = call.arguments[i].written->is_named();
    if (is_pad) pad = written_pad(n, pad.type, span);
    else indices.push_back(n.i);
  }
  if (indices.size() != view->axes.size()) unknown(span, "a tile with fewer indices than axes");
  auto begins = [this, indices, span](const Shape& shape) {
    for (size_t d = 0; d < indices.size(); ++d) whole(ast::BinaryOp::Multiply, integer_of(indices[d]), integer_of(shape[d]), span);
  };
  auto region = [this, view = *view, indices, pad, begins](const Shape& shape) {
    begins(shape);
    Region out = open_region(view, indices, shape);
    out.pad = pad;
    return out;
  };
  if (!call.generics.empty()) return read(region(std::get<ShapeValue>(call.generics[0].second).extents), span);
  auto old = view->memory->look();
  auto make = [this, region, old, span, rank = indices.size()](const Shape& shape) {
    if (shape.size() != rank) unknown(span, "a tile whose shape has other axes");
    return read(region(shape), span, old.get());
  };
  return Pending{pad.type, indices.size(), make};
}

Value Evaluator::run_operation(const std::string& op, Call& call, Span span) {
  if (op == "tile") return tile_at(call, span);
  if (op.starts_with("atomic_")) return run_atomic(op.substr(7), call, span);
  if (auto value = run_on_tiles(op, call, span)) return *value;
  if (auto value = run_on_numbers(op, call, span)) return *value;
  if (op == "lane_index" && thread_ >= 0) return integer_of(thread_ % options_.lanes);
  if (op == "warp_index" && thread_ >= 0) return integer_of(thread_ / options_.lanes);
  unknown(span, "`" + op + "`");
}

std::optional<Value> Evaluator::run_on_tiles(const std::string& op, Call& call, Span span) {
  auto value = [&](size_t i) -> Value { return call.position[i] < 0 ? None{} : *call.arguments[size_t(call.position[i])].value; };
  if (op == "reshape") return reshaped(value(0), std::get<ShapeValue>(call.generics.at(0).second).extents, span);
  bool is_scan = op.starts_with("scan_");
  if (is_scan || op.starts_with("reduce_")) {
    // Elements that choose between literals have the type that literals have by themselves.
    Value held = map({value(0)}, Scalar::F32, [this, span](std::span<const Number> x) { return settle(x[0], span); }, span);
    auto* tile = std::get_if<TilePtr>(&held);
    if (!tile) unknown(span, "a reduction of this");
    int64_t axis = int64_t(number_of(value(1), span).i);
    if (axis < 0) axis += int64_t((*tile)->shape.size());
    if (axis < 0 || axis >= int64_t((*tile)->shape.size())) unknown(span, "this axis");
    return is_scan ? scan(op.substr(5), *tile, axis, span) : reduce(op.substr(7), *tile, axis, span);
  }
  if (op == "copy") {
    assign(*call.arguments[size_t(call.position[1])].place, tile_or_number(value(0), span), span);
    return None{};
  }
  if (op == "gemm") {
    Place& place = *call.arguments[size_t(call.position[2])].place;
    TilePtr acc = std::get<TilePtr>(place_value(place, span));
    assign(place, product(value(0), value(1), acc, span), span, true);
    return None{};
  }
  return std::nullopt;
}

std::optional<Value> Evaluator::run_on_numbers(const std::string& op, Call& call, Span span) {
  std::vector<Value> values;
  for (int at : call.position)
    if (at >= 0 && call.arguments[size_t(at)].value) values.push_back(*call.arguments[size_t(at)].value);
  if (values.empty()) return std::nullopt;
  Scalar hint = scalar_of_value(values[0]).value_or(Scalar::F32);
  if (op == "convert" || op == "wrap" || op == "bits") {
    if (call.generics.empty() || !std::holds_alternative<TypeValue>(call.generics[0].second)) return std::nullopt;
    bool cuts = std::ranges::any_of(call.generics, [](auto& g) { return g.first == "rounding"; });
    ir::ConvertMode mode = op == "wrap" ? ir::ConvertMode::Wrap : op == "bits" ? ir::ConvertMode::Bits : cuts ? ir::ConvertMode::TowardZero : ir::ConvertMode::Nearest;
    return converted(values[0], std::get<TypeValue>(call.generics[0].second).scalar, span, true, mode);
  }
  if (op == "select" && values.size() == 3) return choose(values[0], values[1], values[2], span);
  if (op == "ceildiv" || op == "round_up") {
    auto each = [this, span, is_up = op == "round_up"](std::span<const Number> x) {
      // Multiples of a number are those of its negative.
      const Padding padding = x[0].beyond() | x[1].beyond();
      Muted muted(is_muted_, padding || waits(x));
      const Wide divisor = x[1].i == 0 && x[1].is_padding() ? Wide(1) : x[1].i, a = x[0].i, b = is_up && divisor < 0 ? -divisor : divisor;
      if (b == 0) return whole(ast::BinaryOp::Divide, x[0], x[1], span);
      Number none = integer_of(0), by = integer_of(b), up = integer_of(a / b + (a % b != 0 && (a < 0) == (b < 0)));
      none.is_literal = by.is_literal = up.is_literal = x[0].is_literal && x[1].is_literal;
      // What leaves 64 bits is told by what is made of it.
      Number out = is_up ? whole(ast::BinaryOp::Multiply, up, by, span) : whole(ast::BinaryOp::Add, up, none, span);
      out.padding = padding;
      mark(out, x);
      return out;
    };
    return map({converted(values[0], Scalar::Index, span, false), converted(values[1], Scalar::Index, span, false)}, Scalar::Index, each, span);
  }
  if (op == "fma" && values.size() == 3) {
    auto each = [this, span](std::span<const Number> x) {
      Number a = x[0], b = x[1], c = x[2];
      unite(a, b, span), unite(b, c, span), unite(a, b, span);
      const Padding padding = a.beyond() | b.beyond() | c.beyond();
      Number out = from(a.type, ir::evaluate_fma(a.type, to_ir(a), to_ir(b), to_ir(c), options_.numeric), padding);
      mark(out, std::array{a, b, c});
      return out;
    };
    return map(values, hint, each, span);
  }
  if (auto fn = word_of<ir::UnaryFn>(op); fn && values.size() == 1) {
    Scalar type = *fn == ir::UnaryFn::IsNan ? Scalar::Bool : hint;
    return map(values, type, [this, fn, span](std::span<const Number> x) { return unary_function(*fn, x[0], span); }, span);
  }
  if (auto fn = word_of<ir::BinaryFn>(op); fn && values.size() == 2)
    return map(values, hint, [this, fn, span](std::span<const Number> x) { return binary_function(*fn, x[0], x[1], span); }, span);
  return std::nullopt;
}

Value Evaluator::run_atomic(const std::string& op, Call& call, Span span) {
  Place& place = *call.arguments[size_t(call.position[0])].place;
  auto argument = [&](size_t i) { return number_of(*call.arguments[size_t(call.position[i])].value, span); };
  std::vector<Value> operands;
  for (size_t i = 1; i < call.position.size(); ++i)
    if (const int at = call.position[i]; at >= 0 && call.arguments[size_t(at)].value) operands.push_back(tile_or_number(*call.arguments[size_t(at)].value, span));
  if (Padding out = keeps_numbers() ? left_out(place, operands, span) : Padding(0)) return nowhere(element_type(place), out);
  Number old = number_of(place_value(place, span), span);
  Number value = convert(argument(op == "compare_exchange" ? 2 : 1), old.type, span), next = value;
  auto by = [&](ast::BinaryOp fn) { return arithmetic(fn, old, value, span); };
  if (op == "add" && old.type == Scalar::Index) {
    // Memory adds what 64 bits hold.
    Number a = old, b = value;
    a.type = b.type = Scalar::I64, a.is_literal = b.is_literal = false;
    next = arithmetic(ast::BinaryOp::Add, a, b, span), next.type = Scalar::Index;
  } else if (op == "add") next = by(ast::BinaryOp::Add);
  else if (op == "and") next = by(ast::BinaryOp::BitAnd);
  else if (op == "or") next = by(ast::BinaryOp::BitOr);
  else if (op == "xor") next = by(ast::BinaryOp::BitXor);
  else if (op == "max") next = binary_function(ir::BinaryFn::Max, old, value, span);
  else if (op == "min") next = binary_function(ir::BinaryFn::Min, old, value, span);
  else if (op == "compare_exchange") {
    Number expected = convert(argument(1), old.type, span);
    bool is_same = ir::to_bits(old.type, to_ir(old)) == ir::to_bits(old.type, to_ir(expected));
    next = is_same ? value : old;
  } else if (op != "exchange") unknown(span, "the atomic `" + op + "`");
  assign(place, next, span);
  return old;
}

}  // namespace tilec::judge
