// Operations in flight.
#pragma once
#include "interp/strand.h"

namespace tilec::interp {

// Moves the data now, if it has not moved yet.
void land(Block& block, uint32_t id);
// The same, and orders what `s` does from now on after it.
void join(Strand& s, uint32_t id);

}  // namespace tilec::interp
