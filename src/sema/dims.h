// The dims of a kernel: names that its parameters' extents and strides bring in.
#pragma once
#include "sema/instance.h"

namespace tilec::sema {

struct DimName {
  ast::Name name;
};
// In the order of their first appearance. A name inside a larger expression must stand alone in some parameter. Nothing
// after a mistake.
std::optional<std::vector<DimName>> dim_names(Instance& in, const ast::Signature& signature);
// Calls f for every name in the expression.
void each_name(const ast::Expr& expr, const std::function<void(const ast::Name&)>& f);

}  // namespace tilec::sema
