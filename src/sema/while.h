// Loops that look at a condition before every turn: `while`, and a `for` that something leaves before its end.
#pragma once
#include "sema/instance.h"

namespace tilec::sema {

struct Count {
  ir::ValueId low, high, step;
  ast::Name name;
};

// The index of a loop between numbers that are near is near as well.
void note_near(Instance& in, ir::ValueId index, ir::ValueId low, ir::ValueId high);

// for (name = low; name < high; name += step) body, which ends with the turn that leaves it.
void run_counted(Instance& in, const ast::Block& body, const Count& count, Span span);

}  // namespace tilec::sema
