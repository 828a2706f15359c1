// The functions of one export: its plan, and the blocks of each launch of each instance.
#pragma once
#include <llvm/IR/Module.h>

#include "target/abi/abi.h"
#include "target/native/native.h"

namespace tilec::target {

struct LaunchFunction {
  llvm::Function* function = nullptr;
  int64_t scratch_bytes = 0;
};
struct ExportFunctions {
  llvm::Function* plan = nullptr;
  std::vector<std::vector<LaunchFunction>> launches;  // by instance
};
ExportFunctions add_functions(llvm::Module& module, const Export& exported, const Abi& abi, std::span<const CpuCode> codes);

const CpuCode& code_of(const Machine& machine, std::span<const CpuCode> codes);

}  // namespace tilec::target
