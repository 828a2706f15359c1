#include "passes/pack_shared.h"

#include <algorithm>
#include <numeric>

#include "passes/shared_lifetimes.h"

namespace tilec::passes {

using namespace ir;

namespace {

// In bytes. A cache line, and the period of the widest swizzle that engines understand.
constexpr int64_t kAlignment = 64, kAlignmentOfEngines = 1024;

int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// The largest first, each at the lowest place where it meets nobody whom it must not.
std::vector<int64_t> place(const SharedLifetimes& lifetimes) {
  const std::vector<SharedBuffer>& buffers = lifetimes.buffers;
  std::vector<size_t> order(buffers.size()), placed;
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<int64_t> offsets(buffers.size(), 0);
  for (size_t n : order) {
    int64_t alignment = buffers[n].is_of_engine ? kAlignmentOfEngines : kAlignment, offset = 0;
    // `placed` is in the order of offsets.
    for (size_t other : placed) {
      bool is_clear = offset + buffers[n].bytes <= offsets[other] || offsets[other] + buffers[other].bytes <= offset;
      if (!is_clear && lifetimes.meets[n][other]) offset = round_up(offsets[other] + buffers[other].bytes, alignment);
    }
    offsets[n] = offset;
    placed.insert(std::ranges::upper_bound(placed, offset, {}, [&](size_t other) { return offsets[other]; }), n);
  }
  return offsets;
}

}  // namespace

void pack_shared(Kernel& kernel, const Machine& machine, Diagnostics&) {
  std::vector<op::Launch> launches;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (auto* launch = kernel.op(id).get<op::Launch>()) launches.push_back(*launch);
  });
  for (const op::Launch& launch : launches) {
    SharedLifetimes lifetimes = shared_lifetimes(kernel, launch.body, launch.warps <= 1 && !machine.has(Cap::DivergentBranches));
    std::vector<int64_t> offsets = place(lifetimes);
    for (size_t n = 0; n < offsets.size(); ++n) {
      op::Alloc alloc = kernel.op(lifetimes.buffers[n].alloc).as<op::Alloc>();
      alloc.offset = offsets[n];
      kernel.op(lifetimes.buffers[n].alloc).data = alloc;
    }
  }
}

}  // namespace tilec::passes
