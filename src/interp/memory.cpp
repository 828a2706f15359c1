#include "interp/memory.h"

#include "base/check.h"

namespace tilec::interp {

int64_t reach_of(const View& view) {
  int64_t last = 0;
  for (int d = 0; d < view.rank; ++d) {
    if (view.extents[d] == 0) return 0;
    last += (view.extents[d] - 1) * view.strides[d];
  }
  return last + 1;
}

View dense_view(Allocation* memory, Scalar element, std::span<const int64_t> extents) {
  INVARIANT(extents.size() <= View::kMaxRank, "a buffer has at most eight dimensions");
  View view{.memory = memory, .element = element, .rank = int(extents.size())};
  int64_t stride = 1;
  for (int d = view.rank; d-- > 0;) {
    view.extents[d] = extents[size_t(d)];
    view.strides[d] = stride;
    // Of nothing, strides may leave 64 bits.
    (void)__builtin_mul_overflow(stride, extents[size_t(d)], &stride);
  }
  view.reach = stride;
  return view;
}

void mark_existing(Allocation& memory, const View& view, bool is_written) {
  memory.state.assign(size_t(memory.granules()), 0);
  uint8_t mark = Allocation::kExists | (is_written ? Allocation::kWritten : 0);
  int64_t count = view.reach > 0 ? 1 : 0;
  for (int d = 0; d < view.rank; ++d) count *= view.extents[d];
  for (int64_t k = 0; k < count; ++k) {
    int64_t at = view.base, rest = k;
    for (int d = view.rank; d-- > 0;) {
      at += rest % view.extents[d] * view.strides[d];
      rest /= view.extents[d];
    }
    memory.state[size_t(at * byte_width(view.element) / memory.granule)] = mark;
  }
}

}  // namespace tilec::interp
