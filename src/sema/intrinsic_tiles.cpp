// Operations on tiles whose arguments are shapes or places: tile, reshape, gemm, copy.
#include "sema/assign.h"
#include "sema/gemm.h"
#include "sema/intrinsics.h"
#include "sema/names.h"
#include "sema/order.h"
#include "sema/shapeless.h"
#include "sema/types.h"
#include "sema/view.h"

namespace tilec::sema {
namespace {

// The extents in the brackets of `x.tile[BM, BK](...)`; none after a mistake.
std::optional<Shape> extents_in_brackets(Instance& in, std::span<const ast::Argument> generics) {
  Shape shape;
  for (const ast::Argument& g : generics) {
    auto n = known_int(in, operand(in, *g.value), "the extent of a tile");
    if (!n) return std::nullopt;
    if (*n < 1) return in.at(g.span).error(diag::BadExtent, *n), std::nullopt;
    shape.push_back(*n);
  }
  return shape;
}

// A tile of the grid of tiles: what is known of it before its shape is.
struct Cut {
  View view;  // with its padding
  std::vector<ir::ValueId> indices;
  Span span;
  bool has_own_shape;  // written in brackets
};

bool have_one_rank(Instance& in, const Cut& cut, const Shape& shape) {
  int64_t rank = int64_t(cut.view.shape.size()), given = int64_t(cut.indices.size());
  const std::string& name = in.memory(cut.view.memory).name;
  if (int64_t(shape.size()) == rank) {
    if (given == rank) return true;
    in.at(cut.span).error(diag::RankMismatch, name, rank, given).help("`tile` takes one index for each dimension");
  } else if (cut.has_own_shape || given != rank) {
    auto report = in.at(cut.span).error(diag::RankMismatch, name, rank, cut.has_own_shape ? int64_t(shape.size()) : given);
    if (cut.has_own_shape && int64_t(shape.size()) < rank && given == rank)
      report.help("a tile has an extent for each dimension, as in `tile[1, 32](i, j)`; one of a row or a matrix of `" + name + "` takes the indices in front: `" + name +
                  "[b].tile[32](j)`");
  } else {
    in.at(cut.span).error(diag::TypeMismatch, "a tile of shape " + shape_text(shape), "a tile of " + std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions"))
        .help("the other side gives the shape; cut another part, as in `" + name + "[i, 0 +: 64]`, or write the shape: `" + tile_with_shape(size_t(rank)) + "`");
  }
  return false;
}

Value cut_out(Instance& in, const Cut& cut, const Shape& shape) {
  if (!have_one_rank(in, cut, shape) || !has_few_elements(in, shape, cut.span)) return Poison{};
  View result = cut.view;
  result.is_region = true;
  result.region_span = cut.span;
  in.builder.set_span(cut.span);
  Selection selection;
  selection.is_region = true;
  for (size_t i = 0; i < cut.indices.size(); ++i) {
    selection.offsets.push_back(in.builder.mul(cut.indices[i], in.builder.index(shape[i])));
    selection.axes.push_back(int64_t(i));
    selection.shape.push_back({shape[i], {}});
  }
  if (!stays_inside(in, cut.view, selection, cut.span)) return Poison{};
  for (size_t i = 0; i < cut.indices.size(); ++i) {
    ir::ValueId offset = selection.offsets[i];
    if (!stays_in_part(in, cut.view, i, offset, {shape[i], {}}, shape[i], cut.span)) return Poison{};
    ir::ValueId& place = result.offsets[cut.view.axes[i]];
    place = place.valid() ? in.builder.add(place, offset) : offset;
    result.shape[i] = {shape[i], {}};
  }
  return result;
}

// The indices and `pad` of a tile, in the order in which they are written; false after a mistake.
bool read_arguments(Instance& in, const FnRef& fn, const CallSite& site, Cut& cut) {
  for (const ast::Argument& argument : site.arguments) {
    if (!argument.is_named()) {
      cut.indices.push_back(index_value(in, operand(in, *argument.value)));
      if (!cut.indices.back().valid()) return false;
      continue;
    }
    if (argument.name.text != "pad") {
      constexpr std::string_view kNames[] = {"pad"};
      auto report = in.at(argument.name.span).error(diag::UnknownParameter, fn.fn().signature.name.text, argument.name.text);
      return suggest_parameter(report, argument.name, kNames), false;
    }
    Value pad = implicitly(in, operand(in, *argument.value), element_of(in, Value(cut.view)));
    if (pad.is_poison()) return false;
    if (!pad.is<Const>()) return in.at(argument.span).error(diag::NotCompileTime, "the padding"), false;
    cut.view.pad = *pad.as<Const>();
    cut.view.pad_span = argument.value->span;
  }
  return true;
}

// `x.tile[BM, BK](i, j, pad = 0)`: the extents from the brackets, else from the other side.
Value run_tile(Instance& in, const FnRef& fn, const CallSite& site, std::string_view) {
  if (!site.receiver) return not_allowed(in, site.expr.span, "`tile` without a tensor", "here; write `A.tile(i, j)`");
  auto* view = site.receiver->value.as<View>();
  if (!view || view->is_element()) {
    in.at(site.receiver->span).error(diag::TypeMismatch, "a tensor", describe(in.kernel, site.receiver->value));
    return Poison{};
  }
  auto shape = extents_in_brackets(in, site.generics);
  Cut cut{*view, {}, site.expr.span, !site.generics.empty()};
  if (!shape || !read_arguments(in, fn, site, cut)) return Poison{};
  if (cut.has_own_shape) return cut_out(in, cut, *shape);
  if (site.hint.shape) return cut_out(in, cut, *site.hint.shape);
  return Shapeless{&site.expr, [cut](Instance& in, const Shape& shape) { return cut_out(in, cut, shape); }};
}

// `x.reshape[M, N]`
Value run_reshape(Instance& in, const FnRef&, const CallSite& site, std::string_view) {
  if (!site.receiver)
    return not_allowed(in, site.expr.span, "`reshape` without a tile", "here; write `t.reshape[M, N]`");
  if (!require_block(in, site.expr.span, "a `reshape`")) return Poison{};
  ir::ValueId tile = materialise(in, *site.receiver);
  if (!tile.valid()) return Poison{};
  auto shape = extents_in_brackets(in, site.generics);
  if (!shape || !has_few_axes(in, *shape, site.expr.span)) return Poison{};
  const ir::Type type = in.type(tile);
  ir::Type result = ir::tile_type(type.element, *shape);
  if (shape->empty() || result.element_count() != type.element_count()) {
    in.at(site.expr.span).error(diag::ReshapeCount, describe(type), shape_text(*shape));
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
  Moment between = now(in);
  Operand b = operand(in, *(*arguments)[1]);
  hold(in, a, between);
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
  if (site.receiver) {
    in.at(site.expr.span).error(diag::UnknownMember, describe(in.kernel, site.receiver->value), "copy").help("a copy is written `dst = src;` or `copy(src, dst)`");
    return Poison{};
  }
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
  Operand source = operand(in, from);
  Moment between = now(in);
  Operand target = operand(in, to);
  hold(in, source, between);
  auto settle = [&](Operand& open, const Operand& other) {
    if (!other.value.is_tile_like()) return;
    if (auto shape = shape_of(in, other)) give_shape(in, open, *shape);
  };
  settle(target, source);
  settle(source, target);
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
