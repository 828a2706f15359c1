// Matrix products.
#pragma once
#include "sema/expr.h"

namespace tilec::sema {

// `a @ b`: f32 for floats (f64 for f64), i32 for 8- and 16-bit integers, i64 for wider ones.
Value matrix_product(Instance& in, const ast::Binary& product, Span span);
// `acc += a @ b`, in the type of `acc`.
void accumulate(Instance& in, VariableId acc, const ast::Binary& product, Span span);
void accumulate(Instance& in, VariableId acc, const Operand& a, const Operand& b, Span span);
// The same on what `acc` held before the operands were evaluated.
void accumulate(Instance& in, VariableId acc, ir::ValueId before, const Operand& a, const Operand& b, Span factors, Span span);

}  // namespace tilec::sema
