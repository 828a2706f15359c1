#include "base/heap.h"

#include <sys/mman.h>

#include <cstdint>
#include <memory>

namespace tilec {

namespace {

constexpr uintptr_t kSegment = uintptr_t(32) << 20;  // allocators take memory of about this size, at multiples of it

}  // namespace

// What is not mapped stays so, and the call says no: nothing hangs on it.
void use_large_pages() {
#ifdef MADV_HUGEPAGE
  auto some = std::make_unique<char>();
  uintptr_t segment = reinterpret_cast<uintptr_t>(some.get()) & ~(kSegment - 1);
  madvise(reinterpret_cast<void*>(segment), kSegment, MADV_HUGEPAGE);
#endif
}

}  // namespace tilec
