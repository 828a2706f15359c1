#include "sema/raster.h"

#include "sema/expr.h"
#include "sema/scalar.h"

namespace tilec::sema {

namespace {

std::optional<int64_t> argument_of(Instance& in, const ast::Call& call, std::string_view what, int64_t least) {
  auto n = known_int(in, operand(in, *call.arguments[0].value), what);
  if (!n || *n >= least) return n;
  in.at(call.arguments[0].value->span).error(diag::BadExtent, *n);
  return std::nullopt;
}

}  // namespace

std::optional<Raster> read_raster(Instance& in, const ast::Expr& value) {
  auto* call = value.as<ast::Call>();
  auto* order = (call ? call->callee : &value)->as<ast::NameRef>();
  std::string_view word = order ? order->name.text : "";
  if (!call && word == "forward") return Raster{.backwards = ir::kForward};
  if (call && call->arguments.size() == 1 && word == "column")
    if (auto columns = argument_of(in, *call, "the width of a raster", 1)) return Raster{.columns = *columns};
    else return std::nullopt;
  if (call && call->arguments.size() == 1 && word == "reversed")
    if (auto axis = argument_of(in, *call, "the number of an axis", 0)) return Raster{.backwards = *axis + 1};
    else return std::nullopt;
  not_supported(in, value.span, "a raster other than `column(n)`, `reversed(axis)` or `forward`");
  return std::nullopt;
}

}  // namespace tilec::sema
