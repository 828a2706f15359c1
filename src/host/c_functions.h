// Functions that every program has already: those of the C library, of POSIX and of its threads.
#pragma once
#include <string_view>

namespace tilec::host {

// An export of such a name would take its place in the whole program, in the launcher of its own object too.
bool is_c_function(std::string_view name);

}  // namespace tilec::host
