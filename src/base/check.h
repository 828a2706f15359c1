// INVARIANT(condition, "the law in words"): for our own mistakes only. A broken law ends the compilation with exit code 4;
// a mistake of the user's goes to the diagnostics sink instead.
#pragma once
#include <string>
#include <string_view>

namespace tilec {

// Called before the process ends on a broken law; the driver sets it to write the bundle that reproduces the failure.
using CheckHook = void (*)(std::string_view message);
void set_check_hook(CheckHook hook);

[[noreturn]] void check_failed(const char* file, int line, const char* condition, std::string_view message);

}  // namespace tilec

#define INVARIANT(condition, message)                                                        \
  do {                                                                                   \
    if (!(condition)) ::tilec::check_failed(__FILE__, __LINE__, #condition, (message));  \
  } while (false)
#define UNREACHABLE(message) ::tilec::check_failed(__FILE__, __LINE__, "unreachable", (message))
