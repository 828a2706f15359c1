// One relocatable object out of several. The linker that comes with LLVM would do it, but through files, for one caller at a
// time, and would leave to somebody else what is to be hidden.
#pragma once
#include <span>
#include <string>

namespace tilec::target {

// `objects`: 64-bit little-endian ELF relocatables of one machine, at least one. Sections stay as they are, one after the
// other; what one object asks for by name and another one gives is connected; hidden names become local ones.
std::string merged_objects(std::span<const std::string> objects);

}  // namespace tilec::target
