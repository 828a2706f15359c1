// One lane's atomic update.
#pragma once
#include "interp/touch.h"

namespace tilec::interp {

struct AtomicCall {
  ir::AtomicFn fn;
  ir::MemoryOrder order;
  Scalar type;
};

// `old` becomes what stood there. False: a fault was recorded.
bool update(Strand& s, const Instr& i, const AtomicCall& call, Allocation& memory, int64_t byte, int lane,
            Slot expected, Slot value, Slot& old);

}  // namespace tilec::interp
