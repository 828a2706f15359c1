// Products of one region in flight under the work of its threads.
//
//   s = a @ b;  p = f(s);  x += p @ c;  r = d @ e;  y += g(r, p) @ h
//   ->
//   start s;  start r;  await s;  p = f(s);  start x;  await r;  start y  ...  await x, y
//
// A product starts as soon as what it reads is there without waiting for another one: before threads wait for a result, all products
// start that can, with what they need of the operations further down. It is awaited in front of the first operation that reads its
// result, or writes what it reads; slots of rings go back behind the products that read them. What products of a loop add to nothing but
// what the loop carries stays in flight into the next turn, and is known to have ended when that first waits for a younger product.
#pragma once
#include "passes/flights.h"

namespace tilec::passes {

// A region of a launch, of which some products may not be started yet. `loop`: whose body it is, and where that stands; invalid: none.
struct TurnAt {
  ir::RegionId region;
  ir::OpId loop;
  ir::RegionId outer;
};

// How far work may run ahead of the threads. A product takes registers until it is awaited, for its result and for what it reads of them.
struct Reach {
  bool to_others = false;     // products run beside others of their turn
  bool to_next_turn = false;  // and into the next turn
  bool of_reads = false;      // vectors are read from device memory before the turn waits for the first time
};

void overlap_turn(ir::Kernel& kernel, const Launched& launched, const TurnAt& at, Reach reach);

}  // namespace tilec::passes
