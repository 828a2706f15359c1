#include "sema/raster.h"

#include "sema/expr.h"
#include "sema/scalar.h"

namespace tilec::sema {

namespace {

constexpr int64_t kMostAxes = 64;  // more than any launch has

}  // namespace

std::optional<Raster> read_raster(Instance& in, const ast::Expr& value) {
  auto* call = value.as<ast::Call>();
  auto* order = (call ? call->callee : &value)->as<ast::NameRef>();
  std::string_view word = order ? order->name.text : "";
  if (!call && word == "forward") return Raster{.backwards = ir::kForward};
  bool is_column = word == "column", is_known = call && call->arguments.size() == 1 && (is_column || word == "reversed");
  if (is_known) {
    const ast::Expr& argument = *call->arguments[0].value;
    auto n = known_int(in, operand(in, argument), is_column ? "the width of a raster" : "the number of an axis");
    if (!n) return std::nullopt;
    if (is_column && *n >= 1) return Raster{.columns = *n};
    if (!is_column && *n >= 0 && *n < kMostAxes) return Raster{.backwards = *n + 1};
    if (is_column) in.at(argument.span).error(diag::BadExtent, *n);
    else not_allowed(in, argument.span, "an axis that no launch has", "here");
    return std::nullopt;
  }
  not_supported(in, value.span, "a raster other than `column(n)`, `reversed(axis)` or `forward`");
  return std::nullopt;
}

}  // namespace tilec::sema
