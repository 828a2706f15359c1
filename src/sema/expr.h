// Expressions.
#pragma once
#include "sema/elementwise.h"

namespace tilec::sema {

// What the other side of an assignment or operator says of a value.
struct Hint {
  const Shape* shape = nullptr;  // for `A.tile(i, j)`
};

Value evaluate(Instance& in, const ast::Expr& expr, Hint hint = {});
inline Operand operand(Instance& in, const ast::Expr& expr,
                       Hint hint = {}) { return {evaluate(in, expr, hint), expr.span}; }
// A condition: a bool, known now or later. Poison after a mistake.
Value condition(Instance& in, const ast::Expr& expr);
Value as_condition(Instance& in, const Operand& x);
// A whole tensor is a condition where it may be null, or where it is a tile of conditions: is this one, of a parameter, neither (reported)?
bool is_unmarked(Instance& in, const Operand& x);
// A parameter that may be null, named as a whole: as a condition it means that it is there.
const View* nullable(const Instance& in, const Value& value);
// The nullable parameters that are there where the condition has come out so: `bias`, `x && bias`, `!bias`.
std::set<MemoryId> present_where(Instance& in, const ast::Expr& condition, bool is_true);

// Parts with files of their own.
Value evaluate_index(Instance& in, const ast::Expr& expr, const ast::Index& index, Hint hint);       // index_expr.cpp
Value evaluate_member(Instance& in, const ast::Expr& expr, const ast::Member& member);               // index_expr.cpp
Value evaluate_if(Instance& in, const ast::Expr& expr, const ast::IfExpr& node, Hint hint);          // branch_expr.cpp
Value evaluate_logical(Instance& in, const ast::Expr& expr, const ast::Binary& node);                // branch_expr.cpp
Value evaluate_call(Instance& in, const ast::Expr& expr, const ast::Call& call, Hint hint);          // call.cpp
Value transposed(Instance& in, const Operand& operand);                                               // index_expr.cpp

}  // namespace tilec::sema
