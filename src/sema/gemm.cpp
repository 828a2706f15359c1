#include "sema/gemm.h"

#include "sema/assign.h"
#include "sema/order.h"
#include "sema/view.h"

namespace tilec::sema {
namespace {

// What a product reads: a tile or a shared buffer, possibly turned.
struct Factor {
  ir::ValueId value;
  bool is_transposed = false;
  Shape shape;  // as the program sees it
  Scalar element = Scalar::F32;
};

// The extents of the buffer in the order of the view's axes.
Shape buffer_shape(Instance& in, const View& view) {
  Shape shape;
  for (int64_t axis : view.axes) shape.push_back(in.type(view.buffer).shape[axis]);
  return shape;
}

std::optional<Factor> shared_factor(Instance& in, const View& view, const Shape& shape, Span span) {
  if (!is_readable(in, view, span)) return std::nullopt;
  Factor f{.value = view.buffer, .is_transposed = view.axes[0] > view.axes[1], .shape = shape,
      .element = in.type(view.buffer).element};
  bool is_whole = std::none_of(view.offsets.begin(), view.offsets.end(), [](ir::ValueId o) { return o.valid(); });
  if (is_whole && view.offsets.size() == 2 && buffer_shape(in, view) == shape) return f;
  op::Subview part{.buffer = view.buffer, .offsets = offsets_of(in, view), .axes = view.axes,
      .bounds = unknown_bounds(view)};
  Shape extents = shape;
  if (f.is_transposed) {
    std::swap(part.axes[0], part.axes[1]);
    std::swap(extents[0], extents[1]);
  }
  f.value = in.builder.value(std::move(part), ir::buffer_type(ir::Space::Shared, f.element, extents));
  return f;
}

// An operand in device memory goes through a shared tile that the program does not name.
std::optional<Factor> staged_factor(Instance& in, const View& view, const Shape& shape, Span span) {
  if (!is_readable(in, view, span)) return std::nullopt;
  View from = view;
  Shape extents = shape;
  bool is_transposed = view.axes[0] > view.axes[1];
  if (is_transposed) {
    std::swap(from.axes[0], from.axes[1]);
    std::swap(from.shape[0], from.shape[1]);
    std::swap(extents[0], extents[1]);
  }
  const Memory& memory = in.memory(view.memory);
  in.at(span).remark(diag::OperandStaged, memory.name);
  ast::Name name{memory.name, span};
  in.builder.set_span(span);
  View tile = allocate(in, name, ir::Space::Shared, in.type(view.buffer).element, extents_of(extents));
  store(in, tile, {Value(from), span}, span);
  return Factor{.value = tile.buffer, .is_transposed = is_transposed, .shape = shape,
      .element = in.type(view.buffer).element};
}

std::optional<Factor> tile_factor(Instance& in, const Operand& x) {
  ir::ValueId tile = materialise(in, x);
  if (!tile.valid()) return std::nullopt;
  Factor f{.value = tile, .shape = in.type(tile).shape, .element = in.type(tile).element};
  if (auto* turned = in.kernel.defined_by<op::Permute>(tile); turned && turned->axes == ir::Axes{1, 0}) {
    f.value = turned->x;
    f.is_transposed = true;
  }
  return f;
}

std::optional<Factor> factor(Instance& in, const Operand& x) {
  if (x.value.is_poison()) return std::nullopt;
  if (!x.value.is_tile_like()) return materialise(in, x), std::nullopt;
  auto shape = shape_of(in, x);
  if (!shape) return std::nullopt;
  if (shape->size() != 2) {
    in.at(x.span).error(diag::RankMismatch, in.text(x.span), int64_t(shape->size()), 2)
        .help("`@` multiplies matrices; the product of two vectors is `(a * b).sum(axis = 0)`");
    return std::nullopt;
  }
  auto* view = x.value.as<View>();
  if (!view) return tile_factor(in, x);
  return in.memory(view->memory).space == ir::Space::Shared ? shared_factor(in, *view, *shape, x.span)
                                                            : staged_factor(in, *view, *shape, x.span);
}

struct Product {
  Factor a, b;
};

// A sum of `int` is exact or reported, which no product is yet.
bool is_int(Instance& in, Scalar element, Span span) {
  if (element != Scalar::Index) return false;
  in.at(span).error(diag::NotSupportedYet, "a product of `int` with `@`").help("products of stored integers wrap: `x as i64`");
  return true;
}

std::optional<Product> product(Instance& in, const Operand& x, const Operand& y, Span span) {
  if (!require_block(in, span, "a matrix product")) return std::nullopt;
  auto a = factor(in, x);
  auto b = a ? factor(in, y) : std::nullopt;
  if (!b) return std::nullopt;
  if (a->shape[1] != b->shape[0]) {
    auto report = in.at(span).error(diag::ContractionMismatch, a->shape[1], b->shape[0]);
    report.mark(x.span, shape_text(a->shape)).mark(y.span, shape_text(b->shape));
    if (a->shape[1] == b->shape[1])
      report.fix(Span{y.span.file, y.span.end, y.span.end}, ".T", "transpose the right side");
    return std::nullopt;
  }
  if (a->element != b->element) {
    report_factors(in, y.span, b->element, a->element);
    return std::nullopt;
  }
  if (a->element == Scalar::Bool) {
    in.at(x.span).error(diag::TypeMismatch, "a number", "bool");
    return std::nullopt;
  }
  if (is_int(in, a->element, x.span)) return std::nullopt;
  return Product{*a, *b};
}

Scalar accumulator(Scalar element) {
  if (is_float(element)) return element == Scalar::F64 ? Scalar::F64 : Scalar::F32;
  return bit_width(element) <= 16 ? Scalar::I32 : Scalar::I64;
}

ir::ValueId emit_gemm(Instance& in, const Product& p, ir::ValueId acc, bool keeps, Span span) {
  in.builder.set_span(span);
  ir::Type type = in.type(acc);
  return in.builder.value(op::Gemm{.a = p.a.value, .b = p.b.value, .acc = acc, .transpose_a = p.a.is_transposed,
                                   .transpose_b = p.b.is_transposed, .keeps = keeps, .label = in.label},
                          type);
}

}  // namespace

namespace {

std::pair<Operand, Operand> factors(Instance& in, const ast::Binary& node) {
  Operand x = operand(in, *node.lhs);
  Moment between = now(in);
  Operand y = operand(in, *node.rhs);
  hold(in, x, between);
  return {std::move(x), std::move(y)};
}

}  // namespace

Value matrix_product(Instance& in, const ast::Binary& node, Span span) {
  auto [x, y] = factors(in, node);
  auto p = product(in, x, y, span);
  if (!p) return Poison{};
  Scalar element = accumulator(p->a.element);
  Shape shape{p->a.shape[0], p->b.shape[1]};
  return Tile{emit_gemm(in, *p, in.builder.value(op::Splat{zero(in, element)}, ir::tile_type(element, shape)), false, span)};
}

void accumulate(Instance& in, VariableId acc, const ast::Binary& node, Span span) {
  ir::ValueId before = in.variable(acc).current;
  auto [x, y] = factors(in, node);
  accumulate(in, acc, before, x, y, {span.file, node.lhs->span.begin, node.rhs->span.end}, span);
}

void accumulate(Instance& in, VariableId acc, const Operand& x, const Operand& y, Span span) {
  accumulate(in, acc, in.variable(acc).current, x, y, {}, span);
}

namespace {

// What stands behind `+=` can be converted; of a call, the accumulator is another.
void report_product(Instance& in, Span factors, Span span, Scalar element, const Variable& acc) {
  if (factors.valid()) return report_implicit(in, factors, element, acc.type.element);
  in.at(span).error(diag::ImplicitConversion, name(element), name(acc.type.element)).help("its accumulator has elements of `" + std::string(name(element)) + "`");
}

}  // namespace

void accumulate(Instance& in, VariableId acc, ir::ValueId before, const Operand& x, const Operand& y, Span factors, Span span) {
  auto p = product(in, x, y, span);
  if (!p || !is_in_reach(in, acc, span)) return;
  const Variable& v = in.variable(acc);
  if (v.is_poison) return;
  Shape shape{p->a.shape[0], p->b.shape[1]};
  if (v.type.shape != shape) {
    in.at(span).error(diag::ShapeMismatch, shape_text(v.type.shape), shape_text(shape))
        .note(v.span, diag::DeclaredHere, v.name);
    return;
  }
  if (is_int(in, v.type.element, span)) return;
  if (is_float(v.type.element) != is_float(p->a.element))
    return report_product(in, factors, span, accumulator(p->a.element), v);
  if (!before.valid()) {
    in.at(span).error(diag::Uninitialised, v.name).note(v.span, diag::DeclaredHere, v.name)
        .help("give it a first value: `= 0`");
    in.variable(acc).is_poison = true;
    return;
  }
  in.set(acc, emit_gemm(in, *p, before, true, span));
}

}  // namespace tilec::sema
