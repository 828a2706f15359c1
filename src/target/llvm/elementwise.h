// The frame of every operation that works on each lane alone.
#pragma once
#include "target/llvm/speller.h"

namespace tilec::target {

// `make(pick)` builds the result from the operands that `pick` gives: the lanes together, then lane 0 alone, as demanded.
template <class Make>
void Speller::elementwise(const ir::Op& op, Make make) {
  const ir::Type result = type(op.result());
  Held h;
  if (!result.varying || demand_.lanes(op.result())) {
    for (int i = 0; i < part_count(result); ++i)
      h.parts.push_back(make([&](ir::ValueId v) {
        const Values& parts = held(v).parts;
        INVARIANT(!parts.empty(), "all lanes of a value were demanded");
        llvm::Value* part = parts[int(parts.size()) > i ? i : 0];
        return result.varying ? splat(part) : part;
      }));
  }
  if (result.varying && demand_.first(op.result())) h.first = make([&](ir::ValueId v) { return first_lane(v); });
  held_[op.result().index] = std::move(h);
}

}  // namespace tilec::target
