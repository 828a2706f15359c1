// NVIDIA's GPUs, by the generation of their instructions.
#pragma once
#include "machine/machine.h"
#include "target/native/native.h"

namespace tilec::target::cuda {

std::span<const Machine> machines();  // the oldest first
int generation_of(const Machine& machine);  // 80: compute capability 8.0
const DeviceCode& code_for(const Machine& machine);

}  // namespace tilec::target::cuda
