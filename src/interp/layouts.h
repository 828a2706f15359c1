// What the interpreter asks of layouts, by enumeration: it shares no algebra with the passes that chose them.
#pragma once
#include "interp/program.h"

namespace tilec::interp {

// How far elements move from one register layout to another: 0 not at all, 1 between registers of a lane, 2 between
// lanes of a warp, 3 between warps.
int conversion_tier(const ir::Kernel& kernel, const ir::Type& from, const ir::Type& to);
// The first tile or buffer whose layout does not fit it: a sentence and the operation.
void find_flaw(Program& program);
AtomTable atom_table(const MatrixAtom& row, int lanes);
GroupTable group_table(const MatrixAtom& row, int lanes);

}  // namespace tilec::interp
