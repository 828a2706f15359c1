// A product that ends the turns of a loop runs under the next turn.
//
//   loop { s = a @ b;  p = f(s);  o = g(o, s);  o += p @ v }       s and p of turn t feed the product that ends it
//   ->
//   first turn, without its last product
//   loop { start s = a @ b;  start o += p @ v of the turn before;  await s;  p = f(s);  await o;  o = g(o, s) }
//   the last product
//
// While threads compute f, the engine is at the product of the turn before. What that reads is kept until then: tiles in registers are
// carried, slots of rings go back a turn later.
//
// Groups of warps that run such a loop side by side may start their products in turns, one after the other, so that while one
// computes f the products of another run.
#pragma once
#include "passes/flights.h"

namespace tilec::passes {

// The name by which a schedule speaks of the product. Empty: the loop has none, or the schedule keeps it in its turn; the loop stays as it is.
std::string delay_product(ir::Kernel& kernel, const Launched& launched, ir::RegionId region, ir::OpId loop);

}  // namespace tilec::passes
