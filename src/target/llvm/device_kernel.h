// The functions that a device is asked to launch, as LLVM has them.
#pragma once
#include <span>
#include <string>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include "target/native/native.h"

namespace tilec::target {

// By value, and then as the caller has left it, or, without a type, an address of device memory.
struct KernelParameter {
  llvm::Type* by_value = nullptr;
  uint64_t alignment = 8;
};

// An empty function for blocks of so many threads, of which a core is to hold `together` at once.
llvm::Function* new_kernel_function(llvm::Module& module, const std::string& name, std::span<const KernelParameter> parameters, int64_t threads,
                                    const DeviceCode& code, int64_t together = 1);

}  // namespace tilec::target
