// The launcher of images for NVIDIA's GPUs, as launch.c has it.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace tilec::target::cuda {

inline constexpr const char* kLauncher = "tile_device_cuda";
// Bitcode for a host; empty where the build had no headers for it.
std::span<const uint8_t> launcher_bitcode(std::string_view triple);

}  // namespace tilec::target::cuda
