// Operations in flight.
#pragma once
#include "interp/strand.h"

namespace tilec::interp {

// Moves the data now, if it has not moved yet.
void land(Block& block, uint32_t id);
// The same, and orders what `s` does from now on after it.
void join(Strand& s, uint32_t id);


// The barrier that an instruction names by view `a` and register `b`. None: a fault was recorded.
PhaseBarrier* phase_barrier(Strand& s, const Instr& i);
// A copy has moved so many bytes: its phase may end, and whoever waits for that knows of the copy.
void count_bytes(Block& block, const Flying& copy, int64_t bytes);

}  // namespace tilec::interp
