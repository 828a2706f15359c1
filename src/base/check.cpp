#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tilec {

namespace {
CheckHook g_hook = nullptr;  // the one global: a broken law has no other way out
}

void set_check_hook(CheckHook hook) { g_hook = hook; }

void check_failed(const char* file, int line, const char* condition, std::string_view message) {
  std::string text = std::string(file) + ":" + std::to_string(line) + ": " + std::string(message) + " (" + condition + ")";
  std::fprintf(stderr, "tilec: internal error: %s\n", text.c_str());
  if (CheckHook hook = g_hook) {
    g_hook = nullptr;
    hook(text);
  }
  std::fflush(nullptr);
  std::_Exit(4);
}

}  // namespace tilec
