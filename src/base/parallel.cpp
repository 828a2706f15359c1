#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace tilec {

void parallel_for(size_t count, const std::function<void(size_t)>& f) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < count;) f(i);
  };
  std::vector<std::jthread> helpers;
  size_t wanted = std::min<size_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  // Where the system gives no more threads, those that there are do it all.
  try {
    while (helpers.size() + 1 < wanted) helpers.emplace_back(work);
  } catch (const std::system_error&) {
  }
  work();
}

}  // namespace tilec
