// Independent work on all cores.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tilec {

// Work that begins while more of it is still found: other threads take it up at once, in the order given; who gave it joins
// them in the end. What runs at the same time shares nothing that one of them changes; results are put together in the order
// given, so that no output tells who was first.
class Tasks {
 public:
  Tasks() = default;
  Tasks(const Tasks&) = delete;
  ~Tasks();  // what has not begun is not done
  void add(std::function<void()> task);
  void finish();  // returns when all that was given is done

 private:
  void work(bool waits);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool is_complete_ = false;
  std::vector<std::jthread> helpers_;
};

// Calls f(0) to f(count - 1), each once and in no order, and returns when all have returned.
void parallel_for(size_t count, const std::function<void(size_t)>& f);

}  // namespace tilec
