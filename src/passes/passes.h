// The passes within one form. `Typed -> Typed` and the like: the form that comes in and goes out.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"
#include "passes/check_initialised.h"
#include "passes/check_memory.h"
#include "passes/check_numbers.h"
#include "passes/check_outputs.h"
#include "passes/check_padding.h"
#include "passes/check_races.h"
#include "passes/check_shuffles.h"
#include "passes/clip.h"
#include "passes/place.h"
#include "passes/select_atoms.h"

namespace tilec::passes {

// Thread -> Thread: narrow floats become integer code, math functions polynomials, where the machine lacks them.
void legalise(ir::Kernel& kernel, const Machine& machine, Diagnostics& diags);

// Any form -> the same: equal scalars are one, what a loop does not change stands in front of it, dead code is gone.
void cleanup(ir::Kernel& kernel, const Machine& machine, Diagnostics& diags);

// Typed -> Typed: scalars fold once more, decided branches are spliced in, loops without a trip and dead code vanish.
void simplify(ir::Kernel& kernel, const Machine& machine, Diagnostics& diags);

// Typed -> Typed: argmax and argmin become reductions, maps and reductions; sums of narrow floats run in f32.
void expand(ir::Kernel& kernel, const Machine& machine, Diagnostics& diags);

// Typed -> Typed: chains of maps become one map each, so that what lies between them is never a tile.
void fuse_elementwise(ir::Kernel& kernel, const Machine& machine, Diagnostics& diags);

// Typed -> Typed: maps that do nothing but add to a region of device memory, element by element, become a tile that is added to it,
// where the machine adds more than one element at once.
void gather_sums(ir::Kernel& kernel, const Machine& machine, Diagnostics& diags);

}  // namespace tilec::passes
