#include "machine/machine.h"

namespace tilec {

std::string_view name(Cap cap) {
  constexpr std::string_view kNames[] = {"fused-multiply-add", "divergent-branches", "shuffles", "async-copy", "bulk-copy", "async-matrix", "phase-barriers",
                                         "named-barriers", "voting-barriers", "register-budgets", "half-arithmetic", "half-convert", "matrix-loads", "matrix-stores",
                                         "matrix-turns", "stream-hints", "persistent-blocks", "dependent-launch", "prefetch", "native-math", "native-exp2", "brain-round", "half-fused",
                                         "text-functions"};
  static_assert(std::size(kNames) == size_t(Cap::TextFunctions) + 1);
  return kNames[int(cap)];
}

}  // namespace tilec
