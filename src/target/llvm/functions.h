// The functions of one export: its plan, and the blocks of each launch of each instance.
#pragma once
#include <llvm/IR/Module.h>

#include "target/abi/abi.h"
#include "target/native/native.h"

namespace tilec::target {

// Who may refer to a function: its module, the other modules of an object, everybody.
enum class Reach : uint8_t { Module, Object, World };
void set_reach(llvm::GlobalObject& global, Reach reach);

// Instances of images have their part of the plan in the code of the plainest CPU.
void add_plan(llvm::Module& module, const Export& exported, const Abi& abi, std::span<const CpuCode> codes, Reach reach);
// Returns the bytes of scratch of each launch.
std::vector<int64_t> add_launches(llvm::Module& module, const Export& exported, const Abi& abi, int instance, const CpuCode& code,
                                  Reach reach);
// For what another module defines.
void declare_launches(llvm::Module& module, const Export& exported, const Abi& abi, int instance);

// Null: the machine is none of the CPU's.
const CpuCode* code_of(const Machine& machine, std::span<const CpuCode> codes);

}  // namespace tilec::target
