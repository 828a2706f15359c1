// Portable C11 from Thread kernels: one file that holds the launcher, the kernels and their descriptors.
#pragma once
#include <string>
#include <string_view>

#include "target/abi/export.h"

namespace tilec::target::c {

// `support`: the text of the launcher, which begins with the headers that all of it needs.
std::string spell(const Program& program, std::string_view support);

}  // namespace tilec::target::c
