// The function of an image that copies a tensor for an engine that wants its rows at multiples of some bytes.
#pragma once
#include <llvm/IR/Module.h>

#include "target/native/native.h"

namespace tilec::target {

// It is called kPackName, and takes what target/abi/boxes.h says.
void add_pack_kernel(llvm::Module& module, const DeviceCode& code);

}  // namespace tilec::target
