// Native code from Thread kernels. What makes it is a library that is loaded when it is first asked for: it is large, and
// most runs of the compiler need it not.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/part.h"
#include "target/abi/export.h"

namespace tilec::target {

// What one machine of a CPU is to LLVM.
struct CpuCode {
  const Machine* machine;
  std::string_view cpu, features;
  int level;                  // as the launcher orders CPUs
  bool has_half_conversion;   // f16 to f32 and back are instructions
  bool has_streaming_stores;  // past the caches, ordered by a fence
};

struct NativeRequest {
  std::string_view triple;
  std::span<const CpuCode> codes;      // of the machines that the program's instances name
  std::span<const uint8_t> support;      // bitcode of the launcher for this triple; empty: kernels alone
};

enum class NativeForm : uint8_t { Object, Assembly, LlvmIr };

// One module with every export of the program; the same bytes for the same program. Where the library cannot be loaded, the
// process ends with a message and the exit code of a broken environment.
std::string native_code(const Program& program, const NativeRequest& request, NativeForm form);

// What a machine whose lanes are threads is to LLVM.
struct DeviceCode {
  const Machine* machine;
  std::string_view cpu, features;
};
struct DeviceRequest {
  std::string_view triple;
  DeviceCode code;
};
// The program's instances for one machine: a function for each launch, as text.
std::string device_code(const Program& program, const DeviceRequest& request, NativeForm form);

// The version of LLVM behind the door.
std::string_view native_version();

// What the library gives under the name `tilec_native`.
struct NativeLibrary {
  PartHeader header;
  std::string (*code)(const Program&, const NativeRequest&, NativeForm);
  std::string (*device)(const Program&, const DeviceRequest&, NativeForm);
  std::string_view (*version)();
};
constexpr size_t kNativeLayout =
    sizeof(Program) + (sizeof(Export) << 10) + (sizeof(ir::Kernel) << 20) + (sizeof(Machine) << 30) + (ir::kOpKinds << 42);

}  // namespace tilec::target
