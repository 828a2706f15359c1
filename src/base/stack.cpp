#include "base/stack.h"

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace tilec {

namespace {

// The address below which it is low; 0 where the system does not say.
uintptr_t lowest_for_more() {
  pthread_attr_t attributes;
  void* begin = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  return uintptr_t(begin) + size / 8 * 5;
}

}  // namespace

bool is_stack_low() {
  thread_local const uintptr_t lowest = lowest_for_more();
  return uintptr_t(__builtin_frame_address(0)) < lowest;
}

}  // namespace tilec
