// Tiles that blocks which go on store at the end of a round: through shared memory of their own, by the engine, under the next round.
#pragma once
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// Of a launch whose blocks go on, with a role that copies: a store of registers, of which each warp holds whole rows, becomes a store to a
// shared tile and the engine's copy of that, where it may not wait for the next round's products and shared memory has room beside what the
// rings take. No warp waits for another there, nor for device memory; what a warp wrote has been read when it comes to write again (`ir/own_rows.h`).
void send_tiles(ir::Kernel& kernel, const Machine& machine, ir::RegionId launch);

}  // namespace tilec::passes
