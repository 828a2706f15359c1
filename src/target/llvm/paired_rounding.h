// Two f32 rounded to f16, or to bf16, by one instruction: each by itself takes a unit that is an eighth as wide.
#pragma once
#include <llvm/IR/Function.h>

namespace tilec::target {

// Pairs roundings that follow each other in a block, as registers of a tile do. Before the optimiser: what packs both then folds away.
void pair_roundings(llvm::Function& function);

}  // namespace tilec::target
