#include "target/launch_support/launch_support.h"

#include "target/launch_support/bitcode.h"

namespace tilec::target {

std::span<const uint8_t> support_bitcode(std::string_view triple) {
  if (triple.find("linux") == std::string_view::npos) return {};
  if (triple.starts_with("x86_64-")) return support_x86_64_bitcode;
  if (triple.starts_with("aarch64-")) return support_aarch64_bitcode;
  return {};
}

}  // namespace tilec::target
