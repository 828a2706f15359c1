// Kernels for machines whose lanes are threads: a function for each launch, numbered blocks along one axis.
#pragma once
#include <string>

#include "target/native/native.h"

namespace tilec::target {

constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;

// The instances of one machine. Every kernel takes the slots of the call by value, then the address of the fault word.
std::string device_text(const Program& program, const DeviceRequest& request, NativeForm form);

}  // namespace tilec::target
