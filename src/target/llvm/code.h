// The door to LLVM, for those outside of it: native code from Thread kernels. No header of LLVM is included here.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "target/abi/export.h"

namespace tilec::target {

// What one machine of a CPU is to LLVM.
struct CpuCode {
  const Machine* machine;
  std::string_view cpu, features;
  int level;                  // as the launcher orders CPUs
  bool has_half_conversion;   // f16 to f32 and back are instructions
};

struct NativeRequest {
  std::string_view triple;
  std::span<const CpuCode> codes;      // of the machines that the program's instances name
  std::span<const uint8_t> support;      // bitcode of the launcher for this triple; empty: kernels alone
};

enum class NativeForm : uint8_t { Object, Assembly, LlvmIr };

// One module with every export of the program; the same bytes for the same program.
std::string native_code(const Program& program, const NativeRequest& request, NativeForm form);

// The version of LLVM behind the door.
std::string_view native_version();

}  // namespace tilec::target
