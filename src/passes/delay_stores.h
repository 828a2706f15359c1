// A tile that ends a round of blocks that go on is stored under the products of the next round.
//   in:  Staged    out: Staged
//
//   for number in this block's { for k { start a product };  c = f(sum);  store c }
//   ->
//   for number in this block's, carrying c and whether it waits to be stored {
//     if it waits { the first turns, one by one: start the product;  store a piece of c }
//     for the turns that are left { start a product }
//     c = f(sum);  unless it may wait { store c }
//   }
//
// While threads store, the engine then has a product to run, and the slots of the rings go back as they did. c waits where there is a next round,
// it lies inside its tensor, so that its pieces need no masks, and the tensor's rows begin where whole vectors may. What a block's
// indices are is asked behind the start of the first product, if only the store wants to know. Where shared memory has room, pieces go through tiles of
// it (ways.h), each warp its rows: then c waits only where the tensor suits the engine that stores them.
#pragma once
#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// Is it a name by which a schedule speaks of what is stored to a tensor: a label, or the tensor's name?
bool is_store(const ir::Kernel& kernel, const std::string& name);

void delay_stores(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics);

}  // namespace tilec::passes
