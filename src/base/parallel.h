// Independent work on all cores.
#pragma once
#include <cstddef>
#include <functional>

namespace tilec {

// Calls f(0) to f(count - 1), each once and in no order, and returns when all have returned. Calls that run at the same time
// share nothing that one of them changes; what they find is put together by their index, so that no output tells the order.
void parallel_for(size_t count, const std::function<void(size_t)>& f);

}  // namespace tilec
