#include "target/cuda/launch.h"

namespace tilec::target {
extern const std::span<const uint8_t> cuda_launch_x86_64_bitcode;
extern const std::span<const uint8_t> cuda_launch_aarch64_bitcode;
}  // namespace tilec::target

namespace tilec::target::cuda {

std::span<const uint8_t> launcher_bitcode(std::string_view triple) {
  if (triple.starts_with("x86_64-")) return cuda_launch_x86_64_bitcode;
  if (triple.starts_with("aarch64-")) return cuda_launch_aarch64_bitcode;
  return {};
}

}  // namespace tilec::target::cuda
