#include "sema/types.h"

#include "layout/shape.h"
#include "sema/expr.h"
#include "sema/names.h"

namespace tilec::sema {

std::optional<Extent> extent_of(Instance& in, const Operand& operand) {
  Value value = implicitly(in, operand, Scalar::Index);
  if (value.is_poison()) return std::nullopt;
  std::optional<int64_t> fixed;
  if (auto* c = value.as<Const>()) fixed = c->number.i;
  if (!fixed) return Extent{ir::kDynamic, emit(in, value)};
  if (*fixed > kMostExtent) return not_allowed(in, operand.span, "an extent above 2147483647", "here"), std::nullopt;
  if (*fixed > 0) return Extent{*fixed, {}};
  in.at(operand.span).error(diag::BadExtent, *fixed)
      .help("an extent that is written as a number is at least 1; one that a call gives, as in `f32[N]`, may be 0");
  return std::nullopt;
}

bool has_few_axes(Instance& in, const Shape& shape, Span span) {
  if (shape.size() <= size_t(layout::kMaxRank)) return true;
  return not_allowed(in, span, "a tile of more than " + std::to_string(layout::kMaxRank) + " axes", "here"), false;
}

bool has_few_elements(Instance& in, const Shape& shape, Span span) {
  if (!has_few_axes(in, shape, span)) return false;
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent <= kMostElements / count) {
      count *= extent;
      continue;
    }
    return not_allowed(in, span, "a tile of more than " + std::to_string(kMostElements) + " elements", "here"), false;
  }
  return true;
}

std::optional<ResolvedType> resolve(Instance& in, const ast::Type& type) {
  auto* shaped = type.as<ast::ShapedType>();
  if (!shaped) {
    if (!type.as<ast::Missing>())
      not_supported(in, type.span, type.as<ast::TupleType>() ? "a tuple type here" : "a function type here");
    return std::nullopt;
  }
  if (shaped->distribution != ast::Distribution::None)
    return not_supported(in, type.span, "a sharded type"), std::nullopt;
  auto element = scalar_of_path(in, shaped->path);
  if (!element) return std::nullopt;
  ResolvedType result{.space = shaped->space, .element = *element, .has_extents = shaped->has_extents, .extents = {},
      .span = type.span};
  for (const ast::Expr* expr : shaped->extents) {
    Value value = evaluate(in, *expr);
    if (auto* shape = value.as<ShapeValue>()) {  // T[S] with a shape S
      result.extents.insert(result.extents.end(), shape->extents.begin(), shape->extents.end());
      continue;
    }
    auto extent = extent_of(in, {value, expr->span});
    if (!extent) return std::nullopt;
    result.extents.push_back(*extent);
  }
  auto shape = result.space != ast::Space::None ? result.shape() : std::nullopt;
  if (shape && !has_few_elements(in, *shape, type.span)) return std::nullopt;
  return result;
}

}  // namespace tilec::sema
