// `base[...]` and `base.name`.
#include "base/text.h"
#include "sema/call.h"
#include "sema/expr.h"
#include "sema/foreign_names.h"
#include "sema/names.h"
#include "sema/parallel.h"
#include "sema/shapeless.h"
#include "sema/view.h"

namespace tilec::sema {
namespace {

bool set_pad(Instance& in, View& view, const std::vector<ast::Argument>& options) {
  for (const ast::Argument& option : options) {
    if (option.name.text != "pad") {
      in.at(option.span).error(diag::UnknownParameter, "a region", option.name.text);
      return false;
    }
    Value value = implicitly(in, operand(in, *option.value), element_of(in, Value(view)));
    if (value.is_poison()) return false;
    if (!value.is<Const>()) {
      in.at(option.span).error(diag::NotCompileTime, "the padding");
      return false;
    }
    view.pad = *value.as<Const>();
    view.pad_span = option.value->span;
  }
  return true;
}

Value with_new_axes(Instance& in, Value tile, const Selection& selection, Span span) {
  for (size_t i = 0; i < selection.axes.size() && !tile.is_poison(); ++i)
    if (selection.axes[i] == kNewAxis) tile = with_new_axis(in, std::move(tile), int(i), span);
  return tile;
}

Value index_view(Instance& in, const View& view, const ast::Index& index, Span span) {
  auto selection = select(in, index, view.shape, span);
  if (!selection) return Poison{};
  std::optional<View> result = part(in, view, *selection, span);
  if (!result || !set_pad(in, *result, index.options)) return Poison{};
  if (result->is_region && !result->region_span.valid()) result->region_span = span;
  return with_new_axes(in, std::move(*result), *selection, span);
}

}  // namespace

Value extract(Instance& in, const Operand& base, const Selection& selection, Span span) {
  ir::ValueId tile = materialise(in, base);
  if (!tile.valid() || !stays_inside(in, std::string(in.text(base.span)), extents_of(in.type(tile).shape), selection, span)) return Poison{};
  op::Extract extract{.tile = tile, .offsets = {}, .axes = {}};
  Shape result;
  for (ir::ValueId offset : selection.offsets)
    extract.offsets.push_back(offset.valid() ? offset : in.builder.index(0));
  for (size_t i = 0; i < selection.axes.size(); ++i) {
    if (selection.axes[i] == kNewAxis) continue;
    if (!selection.shape[i].is_fixed())
      return in.at(span).error(diag::ExtentNotConstant, in.text(span)), Value(Poison{});
    extract.axes.push_back(selection.axes[i]);
    result.push_back(selection.shape[i].fixed);
  }
  Value part = Tile{in.builder.value(std::move(extract), ir::tile_type(in.type(tile).element, result))};
  return with_new_axes(in, std::move(part), selection, span);
}

namespace {

Value index_tile(Instance& in, const Operand& base, const ast::Index& index, Span span) {
  auto shape = shape_of(in, base);
  if (!shape) return Poison{};
  std::replace(shape->begin(), shape->end(), kNewAxis, int64_t(1));
  auto selection = select(in, index, extents_of(*shape), span);
  if (!selection) return Poison{};
  if (selection->is_element()) {
    in.at(span).error(diag::FragmentElement)
        .help("fragments are spread over the threads of a block: use `parallel`, a reduction, as for what a scan comes to at its end, or a shared tile");
    return Poison{};
  }
  if (!selection->is_part) return with_new_axes(in, base.value, *selection, span);
  // What is selected is cut out of the tile as it was before the indices were evaluated.
  return extract(in, base, *selection, span);
}

Value index_tuple(Instance& in, const Tuple& tuple, const ast::Index& index, Span span) {
  if (index.subscripts.size() == 1 && index.subscripts[0].kind == ast::SubscriptKind::Index) {
    auto i = known_int(in, operand(in, *index.subscripts[0].lo), "the index of a tuple");
    if (!i) return Poison{};
    if (*i >= 0 && *i < int64_t(tuple.elements.size())) return tuple.elements[*i];
  }
  in.at(span).error(diag::AxisOutOfRange, int64_t(0), int64_t(tuple.elements.size()));
  return Poison{};
}

// `t.reshape[M, N]`: a method whose compile-time arguments stand in the brackets.
std::optional<Value> index_of_method(Instance& in, const ast::Expr& expr, const ast::Index& index) {
  auto* member = index.base->as<ast::Member>();
  if (!member || member->name.text == "T") return std::nullopt;
  Operand base = operand(in, *member->base);
  if (base.value.is_poison()) return Value(Poison{});
  if (!base.value.is_tile_like() && !base.value.is_scalar()) return std::nullopt;
  std::vector<ast::Argument> generics;
  for (const ast::Subscript& s : index.subscripts)
    if (s.kind == ast::SubscriptKind::Index) generics.push_back({{}, s.lo, s.span});
  static const std::vector<ast::Argument> kNone;
  return call_method(in, {.expr = expr, .generics = generics, .arguments = kNone, .hint = {}}, member->name, base);
}

}  // namespace

Value evaluate_index(Instance& in, const ast::Expr& expr, const ast::Index& index, Hint) {
  if (in.level == Level::Element && in.parallel)
    if (auto element = fragment_element(in, index, expr.span)) return *element;
  if (auto result = index_of_method(in, expr, index)) return *result;
  Operand base = operand(in, *index.base);
  if (base.value.is_poison()) return Poison{};
  if (auto* view = base.value.as<View>(); view && !view->is_element()) return index_view(in, *view, index, expr.span);
  if (base.value.is_tile_like()) return index_tile(in, base, index, expr.span);
  if (auto* tuple = base.value.as<Tuple>()) return index_tuple(in, *tuple, index, expr.span);
  if (base.value.is<Shapeless>()) {
    report_shapeless(in, base);
    return Poison{};
  }
  in.at(base.span).error(diag::TypeMismatch, "a tensor or a tile", describe(in.kernel, base.value));
  return Poison{};
}

Value transposed(Instance& in, const Operand& x) {
  if (auto* view = x.value.as<View>(); view && view->axes.size() >= 2) {
    View result = *view;
    std::swap(result.axes.end()[-1], result.axes.end()[-2]);
    std::swap(result.shape.end()[-1], result.shape.end()[-2]);
    return result;
  }
  ir::ValueId tile = materialise(in, x);
  if (!tile.valid()) return Poison{};
  ir::Type type = in.type(tile);
  if (type.rank() < 2) {
    in.at(x.span).error(diag::RankMismatch, in.text(x.span), int64_t(type.rank()), 2);
    return Poison{};
  }
  op::Permute permute{.x = tile, .axes = {}};
  for (int i = 0; i < type.rank(); ++i) permute.axes.push_back(i);
  std::swap(permute.axes.end()[-1], permute.axes.end()[-2]);
  std::swap(type.shape.end()[-1], type.shape.end()[-2]);
  return Tile{in.builder.value(std::move(permute), type)};
}

Value evaluate_member(Instance& in, const ast::Expr&, const ast::Member& member) {
  Operand base = operand(in, *member.base);
  if (base.value.is_poison() || !member.name.exists()) return Poison{};
  if (auto* m = base.value.as<ModuleRef>()) return value_of_member(in, *m->module, member.name);
  if (auto* e = base.value.as<EnumType>()) {
    std::vector<std::string_view> names;
    for (size_t i = 0; i < e->type->members.size(); ++i) {
      if (e->type->members[i].name.text == member.name.text) return EnumValue{e->type, int64_t(i)};
      names.push_back(e->type->members[i].name.text);
    }
    auto report = in.at(member.name.span).error(diag::UnknownMember, e->type->name.text, member.name.text);
    if (std::string_view near = nearest(member.name.text, names); !near.empty())
      report.fix(member.name.span, near, "did you mean `" + std::string(near) + "`?");
    return Poison{};
  }
  bool is_tile = base.value.is_tile_like();
  if (is_tile && member.name.text == "T") return transposed(in, base);
  auto report = in.at(member.name.span).error(diag::UnknownMember, describe(in.kernel, base.value), member.name.text);
  if (!functions_named(in, member.name.text).candidates.empty())
    report.help("call it: `." + std::string(member.name.text) + "(...)`");
  else if (std::string_view help = help_for_member(member.name.text); !help.empty()) report.help(std::string(help));
  return Poison{};
}

}  // namespace tilec::sema
