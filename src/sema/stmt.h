// Statements.
#pragma once
#include "sema/expr.h"

namespace tilec::sema {

// The statements of a block, in the scope that is open.
void run_block(Instance& in, const ast::Block& block);
// The same in a scope of its own.
void run_scoped(Instance& in, const ast::Block& block);
void run_statements(Instance& in, std::span<const ast::Stmt* const> statements);
void run_statement(Instance& in, const ast::Stmt& stmt);

// Both parts as the branches of one `if`; variables that they set become its results.                     branch.cpp
void branch(Instance& in, ir::ValueId condition, const std::function<void()>& then_part,
            const std::function<void()>& else_part);
// Statements that run where control is still here, and not where an exit has been taken.               branch.cpp
void run_where(Instance& in, ir::ValueId here, std::span<const ast::Stmt* const> statements);
// An `if` statement and the statements after it in its block.                                             branch.cpp
void run_if(Instance& in, const ast::If& node, std::span<const ast::Stmt* const> rest);

void run_for(Instance& in, const ast::Stmt& stmt, const ast::For& node);       // loop.cpp
void run_while(Instance& in, const ast::While& node);                            // while.cpp
void run_parallel(Instance& in, const ast::Stmt& stmt, const ast::For& node);  // parallel.cpp
void run_launch(Instance& in, const ast::Stmt& stmt, const ast::Launch& node);  // launch.cpp
void run_simt(Instance& in, const ast::Stmt& stmt, const ast::Simt& node);     // simt.cpp
void run_let(Instance& in, const ast::Let& node);                                // local.cpp
void run_var(Instance& in, const ast::Stmt& stmt, const ast::Var& node);       // local.cpp
void run_static_assert(Instance& in, const ast::StaticAssert& node);
// A returned value in the type that the function declares.                                                inline.cpp
Value convert_result(Instance& in, const Operand& result);

}  // namespace tilec::sema
