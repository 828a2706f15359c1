// The C code that generated objects carry, as text and as LLVM bitcode.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace tilec::target {

// All of it as one C11 text: what `--emit=c` prints before the kernels. It begins with the text of abi_text().
std::string_view support_text();
// What headers and objects agree on: statuses, elements, tile_info, tile1_*. C99 and C++11, with an include guard.
std::string_view abi_text();
// A module with hidden entry points (tile_call and its like) and weak tile1_*. The triple's architecture and
// system choose it; empty where there is none.
std::span<const uint8_t> support_bitcode(std::string_view triple);

}  // namespace tilec::target
