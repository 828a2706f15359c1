// How long a step took, for `--time-passes`.
#pragma once
#include <chrono>
#include <cstdio>

namespace tilec {

struct PassClock {
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
  void tick(const char* what) {
    auto now = std::chrono::steady_clock::now();
    std::fprintf(stderr, "%8.2f ms  %s\n", std::chrono::duration<double, std::milli>(now - last).count(), what);
    last = now;
  }
};

}  // namespace tilec
