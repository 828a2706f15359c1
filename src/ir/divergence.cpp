#include "ir/divergence.h"

namespace tilec::ir {

bool differs_by_thread(OpKind kind) {
  switch (kind) {
    case OpKind::ThreadIndex:
    case OpKind::LaneIndex:
    case OpKind::WarpIndex:
    case OpKind::Shuffle:
    case OpKind::Vote:
    case OpKind::WarpReduce:
    case OpKind::Atomic:
    case OpKind::MemAtomic: return true;
    default: return false;
  }
}

}  // namespace tilec::ir
