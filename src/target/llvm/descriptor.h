// What surrounds the kernels in an object: constant descriptors, exported functions, the launcher's module.
#pragma once
#include <llvm/IR/Module.h>

#include <set>

#include "target/abi/descriptor.h"

namespace tilec::target {

// Adds the tables; returns the last one, the kernel's own.
llvm::GlobalVariable* add_tables(llvm::Module& module, std::span<const Table> tables);
// Declares what they call of the launcher where the module has it not.
void add_entries(llvm::Module& module, const Export& exported, const Abi& abi, llvm::GlobalVariable& kernel);
// Links the parts of the launcher in and hides all of it but the weak symbols that a process shares; `called` reach other modules.
void link_support(llvm::Module& module, std::span<const std::span<const uint8_t>> parts, const std::set<std::string>& called = {});

}  // namespace tilec::target
