// What a variable keeps: where it is assigned something computed of what it holds, and that has to do with padding, it keeps what it holds.
// Which elements those are check-padding finds; here it is asked, `select(inside(next), next, old)`.
#pragma once
#include "sema/made_of.h"
#include "sema/scalar.h"
#include "sema/view.h"

namespace tilec::sema {

// What a fragment that holds `old` is assigned: `next`, kept where that is computed of `old` element by element.
Value kept_tile(Instance& in, ir::ValueId old, const Operand& next, Span span);
// The same of a part of it.
Value kept_part(Instance& in, ir::ValueId whole, const Selection& part, const Operand& next, Span span);
// The same of a place that takes up more, `place += ...`: a part of a fragment, a shared tile or an element of one.
Value kept(Instance& in, const Operand& old, const Operand& next, Span span, MadeOf made_of = MadeOf::All);
// What an element of a fragment is assigned in `parallel`, or a variable of a number there or in a block.
ir::ValueId kept_element(Instance& in, VariableId id, ir::ValueId next);
// A variable that a branch has assigned to.
struct Changed {
  VariableId id;
  ir::ValueId before, next;
};
// Assigns behind the branch what it leaves of them, kept by what the condition has to do with, whatever it is computed of.
void keep_behind(Instance& in, ir::ValueId condition, std::span<const Changed> changed);

}  // namespace tilec::sema
