// Operations on numbers whose arguments are types or places: conversions by name, atomics.
#include "sema/intrinsics.h"
#include "sema/order.h"
#include "sema/shapeless.h"
#include "sema/view.h"

namespace tilec::sema {
namespace {

// The type in the brackets of `x.convert[f8e4m3, rounding = toward_zero]()`, and its rounding.
struct Target {
  Scalar type;
  ir::ConvertMode mode;
};

std::optional<Target> target_of(Instance& in, const FnRef& fn, const CallSite& site, ir::ConvertMode mode) {
  std::optional<Scalar> type;
  for (const ast::Argument& g : site.generics) {
    if (!g.is_named()) {
      Value value = evaluate(in, *g.value);
      if (value.is_poison()) return std::nullopt;
      if (!value.is<TypeValue>()) return in.at(g.span).error(diag::NotAType, in.text(g.span)), std::nullopt;
      if (type) return in.at(g.span).error(diag::ArgumentCount, fn.fn().signature.name.text, int64_t(1), int64_t(2)).help("it takes the type that it makes"), std::nullopt;
      type = value.as<TypeValue>()->scalar;
      continue;
    }
    auto* word = g.value->as<ast::NameRef>();
    if (g.name.text != "rounding")
      return in.at(g.name.span).error(diag::UnknownParameter, "convert", g.name.text), std::nullopt;
    if (word && word->name.text == "toward_zero") mode = ir::ConvertMode::TowardZero;
    else if (!word || word->name.text != "nearest") return not_supported(in, g.span, "this rounding"), std::nullopt;
  }
  if (type) return Target{*type, mode};
  in.at(site.expr.span).error(diag::MissingGeneric, in.text(site.expr.span), "T").help("write it in brackets: `[f16]`");
  return std::nullopt;
}

Value converted(Instance& in, const Operand& operand, const Target& to, Span span) {
  Value x = number(in, operand);
  if (x.is_poison()) return x;
  Scalar from = element_of(in, x);
  if (to.mode == ir::ConvertMode::Bits && bit_width(from) != bit_width(to.type)) {
    in.at(span).error(diag::BitWidths, name(from), int64_t(bit_width(from)), name(to.type), int64_t(bit_width(to.type)));
    return Poison{};
  }
  if (to.mode == ir::ConvertMode::Wrap && (!is_integer(from) || !is_integer(to.type))) {
    in.at(span).error(diag::TypeMismatch, "an integer", is_integer(from) ? name(to.type) : name(from));
    return Poison{};
  }
  return convert(in, x, to.type, to.mode, span);
}

// `x.wrap[u8]()`, or `wrap[u8](x)`.
Value run_conversion(Instance& in, const FnRef& fn, const CallSite& site, ir::ConvertMode mode) {
  auto to = target_of(in, fn, site, mode);
  auto arguments = to ? raw_arguments(in, fn, site) : std::nullopt;
  if (!arguments) return Poison{};
  const Operand x = site.receiver ? *site.receiver : operand(in, *arguments->front());
  return with_shape(in, site.expr, std::array{x}, [to = *to, span = site.expr.span](Instance& in, std::span<const Operand> all) {
    return map_elements(in, all, span, [&](std::span<const Operand> e) { return converted(in, e[0], to, span); });
  });
}

Value run_convert(Instance& in, const FnRef& fn, const CallSite& site, std::string_view) {
  return run_conversion(in, fn, site, ir::ConvertMode::Nearest);
}
Value run_wrap(Instance& in, const FnRef& fn, const CallSite& site, std::string_view) {
  return run_conversion(in, fn, site, ir::ConvertMode::Wrap);
}
Value run_bits(Instance& in, const FnRef& fn, const CallSite& site, std::string_view) {
  return run_conversion(in, fn, site, ir::ConvertMode::Bits);
}

constexpr struct { std::string_view name; ir::MemoryOrder order; } kOrders[] = {
    {"relaxed", ir::MemoryOrder::Relaxed}, {"acquire", ir::MemoryOrder::Acquire},
    {"release", ir::MemoryOrder::Release}, {"acquire_release", ir::MemoryOrder::AcquireRelease}};

std::optional<ir::MemoryOrder> order_of(Instance& in, const ast::Expr* expr) {
  if (!expr) return ir::MemoryOrder::Relaxed;
  auto* word = expr->as<ast::NameRef>();
  for (const auto& row : kOrders)
    if (word && word->name.text == row.name) return row.order;
  in.at(expr->span).error(diag::TypeMismatch, "relaxed, acquire, release or acquire_release", in.text(expr->span))
      .help("an atomic takes a place with its index, then a value: `atomic_add(h[0], 1)`");
  return std::nullopt;
}

Value run_atomic(Instance& in, const FnRef& fn, const CallSite& site, std::string_view rest) {
  std::optional<ir::AtomicFn> kind;
  for (int i = 0; i <= int(ir::AtomicFn::CompareExchange); ++i)
    if (name(ir::AtomicFn(i)) == rest) kind = ir::AtomicFn(i);
  INVARIANT(kind, "the library names atomics of the IR");
  auto arguments = raw_arguments(in, fn, site);
  if (!arguments) return Poison{};
  auto order = order_of(in, arguments->back());
  if (!order) return Poison{};
  Operand place = site.receiver ? *site.receiver : operand(in, *(*arguments)[0]);
  if (place.value.is_poison()) return Poison{};
  if (place.value.is_tile_like() || place.value.is<Shapeless>())
    return not_supported(in, site.expr.span, "an atomic on a whole tile");
  if (!place.value.is_element()) {
    in.at(place.span).error(diag::TypeMismatch, "an element of memory", describe(in.kernel, place.value))
        .help("atomics work on one element, such as `t[i]`");
    return Poison{};
  }
  const View& view = *place.value.as<View>();
  if (!is_readable(in, view, place.span) || !is_writable(in, view, place.span, true)) return Poison{};
  Scalar element = in.type(view.buffer).element;
  Value type = TypeValue{element};
  if (!meets_kind(in, fn.fn().signature.generics[0], type, place.span)) return Poison{};
  if (element == Scalar::Bool && *kind != ir::AtomicFn::Exchange && *kind != ir::AtomicFn::CompareExchange)
    return in.at(place.span).error(diag::TypeMismatch, "a number", "bool"), Value(Poison{});
  op::Atomic atomic{.fn = *kind, .order = *order, .buffer = view.buffer, .indices = offsets_of(in, view),
      .operands = {}};
  for (size_t i = 1; i + 1 < arguments->size(); ++i) {  // each is read before the next is evaluated
    Value value = implicitly(in, operand(in, *(*arguments)[i]), element);
    if (value.is_poison()) return value;
    atomic.operands.push_back(emit(in, value));
  }
  in.builder.set_span(site.expr.span);
  return Dynamic{in.builder.value(std::move(atomic), ir::scalar_type(element))};
}

// Declared by the library so that the name is known, and not built yet.
Value run_later(Instance& in, const FnRef&, const CallSite& site, std::string_view rest) {
  return not_supported(in, site.expr.span, "`" + std::string(rest) + "`");
}

constexpr RawRow kRows[] = {{"convert", run_convert}, {"wrap", run_wrap}, {"bits", run_bits}, {"atomic_", run_atomic},
                            {"later_", run_later}};

}  // namespace

std::span<const RawRow> number_rows() { return kRows; }

}  // namespace tilec::sema
