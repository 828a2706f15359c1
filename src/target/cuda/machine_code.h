// What an image says that its assembler does not.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tilec::target::cuda {

// How many instructions of the function load from a lane's stack, or store to it, in a loop. None where the image, or its machine's code, is
// not as we know it.
std::optional<int64_t> stack_accesses_in_loops(std::string_view image, std::string_view function, int generation);

}  // namespace tilec::target::cuda
