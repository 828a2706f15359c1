// What two executions of `x ^ k` have to do with each other, for proofs to which XOR is an unknown number: with one operand the same,
// the results are the same only where the other one is. Swizzled columns, `c ^ (r & 7)`, are told apart by it.
#pragma once
#include "passes/region.h"
#include "prove/prover.h"

namespace tilec::passes {

// Of every XOR of integers that both lists of values are made of: `one` and `other` are the executions that they are looked at in.
prove::Facts xor_facts(const ir::Kernel& kernel, prove::Prover& prover, std::span<const ir::ValueId> a, prove::Twin one,
                       std::span<const ir::ValueId> b, prove::Twin other);

}  // namespace tilec::passes
