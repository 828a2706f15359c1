#include "sema/intrinsics.h"

#include "base/text.h"
#include "sema/int_sums.h"
#include "sema/names.h"
#include "sema/rounded_up.h"

namespace tilec::sema {
namespace {

const RawRow* find_raw(std::string_view operation) {
  for (auto rows : {tile_rows(), number_rows()})
    for (const RawRow& row : rows) {
      bool is_prefix = row.name.ends_with('_');
      if (is_prefix ? operation.starts_with(row.name) : operation == row.name) return &row;
    }
  return nullptr;
}

template <class Fn>
std::optional<Fn> function_named(std::string_view text, int count) {
  for (int i = 0; i < count; ++i)
    if (name(Fn(i)) == text) return Fn(i);
  return std::nullopt;
}

// The value bound to a parameter of the open frame.
Value bound(Instance& in, const Invocation& call, size_t i) {
  const Binding* binding = in.find(call.fn.fn().signature.parameters[i].name.text);
  auto* value = binding ? std::get_if<Value>(&binding->what) : nullptr;
  return value ? *value : Value(Poison{});
}

ir::ValueId number_id(Instance& in, const Invocation& call, size_t i) {
  Value value = bound(in, call, i);
  return value.is_scalar() ? emit(in, number(in, {value, call.site.expr.span})) : ir::ValueId{};
}

std::optional<int> axis_of(Instance& in, const Invocation& call, int rank) {
  Value value = bound(in, call, 1);
  auto* c = value.as<Const>();
  int64_t axis = c ? c->number.i : 0;
  int64_t counted = axis < 0 ? axis + rank : axis;
  if (counted >= 0 && counted < rank) return int(counted);
  in.at(call.arguments[1].operand.span).error(diag::AxisOutOfRange, axis, int64_t(rank));
  return std::nullopt;
}

// Sums are exact; of products there are no parts that stay small.
Value refuse_product_of_ints(Instance& in, Span span) {
  in.at(span).error(diag::NotSupportedYet, "a product of a tile of `int`s").help("it may leave 64 bits on its way; one of `i64` wraps: `(t as i64).prod(axis = 0)`");
  return Poison{};
}

// "reduce_max", "scan_sum"
Value reduce(Instance& in, const Invocation& call, std::string_view fn_name, bool is_scan) {
  auto fn = function_named<ir::ReduceFn>(fn_name, int(ir::ReduceFn::ArgMin) + 1);
  INVARIANT(fn, "the library names reductions of the IR");
  Operand x{bound(in, call, 0), call.arguments[0].operand.span};
  if (!require_block(in, x.span, "a reduction")) return Poison{};
  ir::ValueId tile = materialise(in, x);
  if (!tile.valid()) return Poison{};
  ir::Type type = in.type(tile);
  auto axis = axis_of(in, call, type.rank());
  if (!axis) return Poison{};
  in.builder.set_span(call.site.expr.span);
  const bool is_int = type.element == Scalar::Index;
  const int64_t count = type.shape[size_t(*axis)];
  if (is_int && *fn == ir::ReduceFn::Prod) return refuse_product_of_ints(in, call.site.expr.span);
  if (!is_scan) type.shape.erase(type.shape.begin() + *axis);
  if (*fn == ir::ReduceFn::ArgMax || *fn == ir::ReduceFn::ArgMin) type.element = Scalar::I32;
  if (type.shape.empty()) type = ir::scalar_type(type.element);
  auto total = [&](ir::ValueId tile) -> Value {
    in.builder.set_span(call.site.expr.span);
    if (is_scan) return Tile{in.builder.value(op::Scan{.fn = *fn, .x = tile, .axis = *axis}, type)};
    const ir::ValueId result = in.builder.value(op::Reduce{.fn = *fn, .x = tile, .axis = *axis}, type);
    return type.is_tile() ? Value(Tile{result}) : Value(Dynamic{result});
  };
  return is_int && *fn == ir::ReduceFn::Sum ? sum_of_ints(in, tile, count, call.site.expr.span, total) : total(tile);
}

// Inside `simt`: the thread's place, and the lanes of its warp together.
Value thread_operation(Instance& in, std::string_view operation, const Invocation& call) {
  if (in.level != Level::Thread)
    return not_allowed(in, call.site.expr.span, "`" + std::string(call.fn.fn().signature.name.text) + "`",
                       "outside of `simt`");
  ir::Type index = ir::scalar_type(Scalar::Index);
  if (operation == "lane_index") return Dynamic{in.builder.value(op::LaneIndex{}, index)};
  if (operation == "warp_index") return Dynamic{in.builder.value(op::WarpIndex{}, index)};
  ir::ValueId x = number_id(in, call, 0);
  if (!x.valid()) return Poison{};
  ir::Type type = in.type(x);
  for (auto [text, how] : {std::pair{"vote_any", ir::VoteKind::Any}, {"vote_all", ir::VoteKind::All},
                           {"vote_ballot", ir::VoteKind::Ballot}})
    if (operation == text)
      return Dynamic{in.builder.value(op::Vote{how, x},
                                      ir::scalar_type(how == ir::VoteKind::Ballot ? Scalar::U32 : Scalar::Bool))};
  for (auto [text, how] : {std::pair{"shuffle_index", ir::ShuffleKind::Index}, {"shuffle_xor", ir::ShuffleKind::Xor},
                           {"shuffle_up", ir::ShuffleKind::Up}, {"shuffle_down", ir::ShuffleKind::Down}})
    if (operation == text) return Dynamic{in.builder.value(op::Shuffle{how, x, number_id(in, call, 1)}, type)};
  auto fn = function_named<ir::ReduceFn>(operation.substr(std::string_view("warp_reduce_").size()),
                                         int(ir::ReduceFn::ArgMin) + 1);
  INVARIANT(fn, "the library names reductions of the IR");
  auto total = [&](ir::ValueId x) { return in.builder.value(op::WarpReduce{*fn, x}, type); };
  const bool is_int_sum = type.element == Scalar::Index && *fn == ir::ReduceFn::Sum;
  return Dynamic{is_int_sum ? warp_sum_of_ints(in, x, total) : total(x)};
}

bool is_thread_operation(std::string_view operation) {
  return operation == "lane_index" || operation == "warp_index" || operation.starts_with("vote_") ||
         operation.starts_with("shuffle_") || operation.starts_with("warp_reduce_");
}

Value fused(Instance& in, const Invocation& call) {
  std::array<Value, 3> x{bound(in, call, 0), bound(in, call, 1), bound(in, call, 2)};
  auto *a = x[0].as<Const>(), *b = x[1].as<Const>(), *c = x[2].as<Const>();
  if (a && b && c) return Const{a->type, ir::evaluate_fma(a->type, a->number, b->number, c->number)};
  return Dynamic{in.builder.fma(number_id(in, call, 0), number_id(in, call, 1), number_id(in, call, 2))};
}

Value selected(Instance& in, const Invocation& call) {
  Value condition = bound(in, call, 0);
  if (auto* c = condition.as<Const>()) return bound(in, call, c->number.i ? 1 : 2);
  return Dynamic{in.builder.select(number_id(in, call, 0), number_id(in, call, 1), number_id(in, call, 2))};
}

bool are_literals(const Invocation& call) {
  return std::all_of(call.arguments.begin(), call.arguments.end(), [](const BoundArgument& a) {
    auto* c = a.operand.value.as<Const>();
    return c && c->is_literal;
  });
}

// A function of numbers on literals alone gives a literal, so that `min(1, 2)` fits any type.
Value keep_literal(const Invocation& call, Value value) {
  if (auto* c = value.as<Const>(); c && c->type != Scalar::Bool && are_literals(call)) {
    c->is_literal = true;
    if (is_float(c->type)) c->type = Scalar::F64;
  }
  return value;
}

}  // namespace

std::optional<std::vector<const ast::Expr*>> raw_arguments(Instance& in, const FnRef& fn, const CallSite& site) {
  const auto& parameters = fn.fn().signature.parameters;
  std::vector<const ast::Expr*> result(parameters.size());
  std::string_view name = fn.fn().signature.name.text;
  size_t next = site.receiver.has_value();
  for (const ast::Argument& argument : site.arguments) {
    size_t i = next;
    if (argument.is_named())
      for (i = 0; i < parameters.size() && parameters[i].name.text != argument.name.text; ++i) {}
    else ++next;
    if (i >= parameters.size() && argument.is_named()) {
      std::vector<std::string_view> names;
      for (const auto& p : parameters) names.push_back(p.name.text);
      auto report = in.at(argument.name.span).error(diag::UnknownParameter, name, argument.name.text);
      return suggest_parameter(report, argument.name, names), std::nullopt;
    }
    if (i >= parameters.size()) return in.at(site.expr.span)
        .error(diag::ArgumentCount, name, int64_t(parameters.size() - site.receiver.has_value()), int64_t(site.arguments.size())), std::nullopt;
    if (result[i]) return in.at(argument.span).error(diag::GivenTwice, parameters[i].name.text), std::nullopt;
    result[i] = argument.value;
  }
  for (size_t i = site.receiver.has_value(); i < parameters.size(); ++i)
    if (!result[i] && !parameters[i].default_value)
      return report_missing_argument(in, site.expr.span, name, parameters[i].name.text), std::nullopt;
  return result;
}

bool is_raw(std::string_view operation) { return find_raw(operation) != nullptr; }

Value run_raw(Instance& in, std::string_view operation, const FnRef& fn, const CallSite& site) {
  const RawRow* row = find_raw(operation);
  return row->run(in, fn, site, operation.substr(std::min(row->name.size(), operation.size())));
}

Value run_operation(Instance& in, std::string_view operation, const Invocation& call) {
  Span span = call.site.expr.span;
  in.builder.set_span(span);
  if (auto fn = function_named<ir::UnaryFn>(operation, int(ir::UnaryFn::LeadingZeros) + 1))
    return keep_literal(call, apply(in, *fn, bound(in, call, 0), span));
  if (auto fn = function_named<ir::BinaryFn>(operation, int(ir::BinaryFn::Shr) + 1))
    return keep_literal(call, apply(in, *fn, bound(in, call, 0), bound(in, call, 1), span));
  if (operation == "ceildiv") return ceildiv(in, bound(in, call, 0), bound(in, call, 1), span);
  if (operation == "round_up") return round_up(in, bound(in, call, 0), bound(in, call, 1), span);
  if (operation == "fma") return keep_literal(call, fused(in, call));
  if (operation == "select") return selected(in, call);
  if (operation.starts_with("reduce_")) return reduce(in, call, operation.substr(7), false);
  if (operation.starts_with("scan_")) return reduce(in, call, operation.substr(5), true);
  if (is_thread_operation(operation)) return thread_operation(in, operation, call);
  return not_supported(in, span, "the operation `" + std::string(operation) + "`");
}

}  // namespace tilec::sema
