// `break`, `continue` and early `return`: which statements hold them, and the flags that they become.
//
// A branch that always leaves takes the rest of its block into its other branch, which needs no flag. What leaves from
// deeper sets a flag, and the statements after it stand under an `if` of that flag.
#pragma once
#include "sema/instance.h"

namespace tilec::sema {

struct Exits {
  bool breaks = false, continues = false, returns = false;
  bool any() const { return breaks || continues || returns; }
  friend Exits operator|(Exits a, Exits b) {
    return {a.breaks || b.breaks, a.continues || b.continues, a.returns || b.returns};
  }
};
// The exits of the loop or function around the statement; those of loops inside it are their own.
Exits exits_of(const ast::Stmt& stmt);
Exits exits_of(std::span<const ast::Stmt* const> statements);
// Does control never come out at its end?
bool always_exits(const ast::Stmt& stmt);
bool always_exits(std::span<const ast::Stmt* const> statements);

// Does an exit of this kind leave from deeper than branches can follow? Only then is there a flag.
bool needs_flag(std::span<const ast::Stmt* const> statements, bool Exits::*kind);

// Makes room for the results of a function whose `return`s are not only its last statement. False after a mistake.
bool prepare_returns(Instance& in, const ast::Block& body);
// A new flag, true until an exit clears it.
VariableId new_flag(Instance& in, std::string name);
// Is control still here after statements with these exits? None when that is certain.
ir::ValueId still_here(Instance& in, Exits exits);

void run_break(Instance& in, Span span);
void run_continue(Instance& in, Span span);
void run_return(Instance& in, const ast::Return& node, Span span);

}  // namespace tilec::sema
