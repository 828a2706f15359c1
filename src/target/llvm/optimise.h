// The passes of LLVM that a module goes through, and what comes out of it.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "target/native/native.h"

namespace tilec::target {

std::unique_ptr<llvm::TargetMachine> target_machine(std::string_view triple, std::string_view cpu = {}, std::string_view features = {});
// An attribute of functions that are optimised already.
constexpr const char* kIsLauncher = "tile-launcher";
void optimise(llvm::Module& module, llvm::TargetMachine& machine);
std::string emit(llvm::Module& module, llvm::TargetMachine& machine, NativeForm form);

}  // namespace tilec::target
