// What differs between the threads of a block.
#pragma once
#include "ir/op.h"

namespace tilec::ir {

// May its result differ from thread to thread though its operands do not? Loads are not meant: they give what was stored.
bool differs_by_thread(OpKind kind);

}  // namespace tilec::ir
