// The embedded modules, one an architecture; empty where the build had no headers for it.
#pragma once
#include <cstdint>
#include <span>

namespace tilec::target {
extern const std::span<const uint8_t> support_x86_64_bitcode;
extern const std::span<const uint8_t> support_aarch64_bitcode;
}  // namespace tilec::target
