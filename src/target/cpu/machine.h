// The CPUs that code is made for: x86-64 of three levels, and 64-bit Arm.
#pragma once
#include <span>

#include "machine/machine.h"
#include "target/native/native.h"

namespace tilec::target::cpu {

std::span<const Machine> x86_64_machines();  // lowest level first
std::span<const Machine> aarch64_machines();
std::span<const CpuCode> x86_64_codes();
std::span<const CpuCode> aarch64_codes();

}  // namespace tilec::target::cpu
