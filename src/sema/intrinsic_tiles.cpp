// Operations on tiles whose arguments are shapes or places: tile, reshape, gemm, copy.
#include "sema/assign.h"
#include "sema/gemm.h"
#include "sema/intrinsics.h"
#include "sema/shapeless.h"
#include "sema/types.h"
#include "sema/view.h"

namespace tilec::sema {
namespace {

// `x.tile[BM, BK](i, j, pad = 0)`: the extents from the brackets, else from the other side.
std::optional<Shape> tile_extents(Instance& in, const View& view, const CallSite& site) {
  Shape shape;
  if (site.generics.empty()) {
    shape = *site.hint.shape;
  } else {
    for (const ast::Argument& g : site.generics) {
      auto n = known_int(in, operand(in, *g.value), "the extent of a tile");
      if (!n) return std::nullopt;
      if (*n < 1) return in.at(g.span).error(diag::BadExtent, *n), std::nullopt;
      shape.push_back(*n);
    }
  }
  if (shape.size() == view.shape.size()) return shape;
  const std::string& name = in.memory(view.memory).name;
  int64_t rank = int64_t(view.shape.size()), given = std::ranges::count_if(site.arguments, [](const ast::Argument& a) { return !a.is_named(); });
  if (!site.generics.empty() || given != rank) {
    in.at(site.expr.span).error(diag::RankMismatch, name, rank, site.generics.empty() ? given : int64_t(shape.size()));
    return std::nullopt;
  }
  in.at(site.expr.span).error(diag::TypeMismatch, "a tile of shape " + shape_text(shape), "a tile of " + std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions"))
      .help("the other side gives the shape; cut another part, as in `" + name + "[i, 0 +: 64]`, or write the shape: `" + tile_with_shape(size_t(rank)) + "`");
  return std::nullopt;
}

Value run_tile(Instance& in, const FnRef& fn, const CallSite& site, std::string_view) {
  if (!site.receiver) return not_allowed(in, site.expr.span, "`tile` without a tensor", "here; write `A.tile(i, j)`");
  auto* view = site.receiver->value.as<View>();
  if (!view || view->is_element()) {
    in.at(site.receiver->span).error(diag::TypeMismatch, "a tensor", describe(in.kernel, site.receiver->value));
    return Poison{};
  }
  if (site.generics.empty() && !site.hint.shape) return Shapeless{&site.expr};
  auto shape = tile_extents(in, *view, site);
  if (!shape) return Poison{};
  std::vector<Operand> indices;
  View result = *view;
  for (const ast::Argument& argument : site.arguments) {
    if (!argument.is_named()) {
      indices.push_back(operand(in, *argument.value));
      continue;
    }
    if (argument.name.text != "pad") {
      in.at(argument.name.span).error(diag::UnknownParameter, fn.fn().signature.name.text, argument.name.text);
      return Poison{};
    }
    Value pad = implicitly(in, operand(in, *argument.value), element_of(in, Value(*view)));
    if (pad.is_poison()) return pad;
    if (!pad.is<Const>()) return in.at(argument.span).error(diag::NotCompileTime, "the padding"), Value(Poison{});
    result.pad = *pad.as<Const>();
    result.pad_span = argument.value->span;
  }
  if (indices.size() != shape->size()) {
    in.at(site.expr.span).error(diag::RankMismatch, in.memory(view->memory).name, int64_t(shape->size()),
                                int64_t(indices.size()))
        .help("`tile` takes one index for each dimension");
    return Poison{};
  }
  result.is_region = true;
  result.region_span = site.expr.span;
  for (size_t i = 0; i < indices.size(); ++i) {
    ir::ValueId index = index_value(in, indices[i]);
    if (!index.valid()) return Poison{};
    in.builder.set_span(site.expr.span);
    ir::ValueId offset = in.builder.mul(index, in.builder.index((*shape)[i]));
    ir::ValueId& place = result.offsets[view->axes[i]];
    place = place.valid() ? in.builder.add(place, offset) : offset;
    result.shape[i] = {(*shape)[i], {}};
  }
  return result;
}

// `x.reshape[M, N]`
Value run_reshape(Instance& in, const FnRef&, const CallSite& site, std::string_view) {
  if (!site.receiver)
    return not_allowed(in, site.expr.span, "`reshape` without a tile", "here; write `t.reshape[M, N]`");
  ir::ValueId tile = materialise(in, *site.receiver);
  if (!tile.valid()) return Poison{};
  Shape shape;
  for (const ast::Argument& g : site.generics) {
    auto n = known_int(in, operand(in, *g.value), "the extent of a tile");
    if (!n) return Poison{};
    if (*n < 1) return in.at(g.span).error(diag::BadExtent, *n), Value(Poison{});
    shape.push_back(*n);
  }
  if (!has_few_axes(in, shape, site.expr.span)) return Poison{};
  const ir::Type type = in.type(tile);
  ir::Type result = ir::tile_type(type.element, shape);
  if (shape.empty() || result.element_count() != type.element_count()) {
    in.at(site.expr.span).error(diag::ReshapeCount, describe(type), shape_text(shape));
    return Poison{};
  }
  return Tile{in.builder.value(op::Reshape{tile}, result)};
}

// `gemm(a, b.T, acc)`
Value run_gemm(Instance& in, const FnRef& fn, const CallSite& site, std::string_view) {
  for (const ast::Argument& a : site.arguments)
    if (a.name.text == "split") return not_supported(in, a.span, "the option `split` of a product");
  auto arguments = raw_arguments(in, fn, site);
  if (!arguments) return Poison{};
  Operand a = site.receiver ? *site.receiver : operand(in, *(*arguments)[0]);
  Operand b = operand(in, *(*arguments)[1]);
  auto acc = variable_named(in, *(*arguments)[2]);
  if (!acc || !in.variable(*acc).type.is_tile()) {
    Span span = (*arguments)[2]->span;
    in.at(span).error(diag::NotAPlace, in.text(span)).help("the accumulator is a `var` of type `fragment`");
    return Poison{};
  }
  accumulate(in, *acc, a, b, site.expr.span);
  return Nothing{};
}

// `copy(src, dst)`
Value run_copy(Instance& in, const FnRef& fn, const CallSite& site, std::string_view) {
  for (const ast::Argument& a : site.arguments)
    if (a.is_named() && a.name.text != "src" && a.name.text != "dst")
      return not_supported(in, a.span, "the option `" + std::string(a.name.text) + "` of a copy");
  auto arguments = raw_arguments(in, fn, site);
  if (!arguments) return Poison{};
  const ast::Expr &from = *(*arguments)[0], &to = *(*arguments)[1];
  auto id = variable_named(in, to);
  if (id) {
    const ir::Type type = in.variable(*id).type;
    set_variable(in, *id, operand(in, from, {.shape = type.is_tile() ? &type.shape : nullptr}), to.span);
    return Nothing{};
  }
  Operand target = operand(in, to), source = operand(in, from);
  auto settle = [&](Operand& open, const ast::Expr& expr, const Operand& other) {
    if (!open.value.is<Shapeless>() || !other.value.is_tile_like()) return;
    if (auto shape = shape_of(in, other)) open = operand(in, expr, {.shape = &*shape});
  };
  settle(target, to, source);
  settle(source, from, target);
  if (target.value.is_poison() || source.value.is_poison()) return Poison{};
  auto* view = target.value.as<View>();
  if (!view) {
    in.at(target.span).error(diag::NotAPlace, in.text(target.span));
    return Poison{};
  }
  store(in, *view, source, target.span);
  return Nothing{};
}

constexpr RawRow kRows[] = {{"tile", run_tile}, {"reshape", run_reshape}, {"gemm", run_gemm}, {"copy", run_copy}};

}  // namespace

std::span<const RawRow> tile_rows() { return kRows; }

}  // namespace tilec::sema
