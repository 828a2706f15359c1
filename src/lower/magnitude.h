// What `absmax` compares: the magnitude of an element. The least integer has none in its type and counts as the greatest.
#pragma once
#include "ir/builder.h"

namespace tilec::lower {

inline ir::ValueId magnitude(ir::Builder& b, ir::ValueId x) {
  Scalar type = b.kernel().type(x).element;
  if (is_signed(type)) x = b.binary(ir::BinaryFn::Max, x, b.constant(type, ir::Number::integer(-int64_t(integer_max(type)))));
  return b.unary(ir::UnaryFn::Abs, x);
}

}  // namespace tilec::lower
