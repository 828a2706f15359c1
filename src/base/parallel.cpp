#include "base/parallel.h"

#include <system_error>

#include "base/heap.h"

namespace tilec {

void Tasks::add(std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
  }
  changed_.notify_one();
  static const size_t cores = std::thread::hardware_concurrency();  // asking the system takes a file
  if (helpers_.size() + 1 >= cores) return;
  // Where the system gives no more threads, those that there are do it all.
  try {
    helpers_.emplace_back([this] {
      use_large_pages();
      work(true);
    });
  } catch (const std::system_error&) {
  }
}

Tasks::~Tasks() {
  {
    std::lock_guard lock(mutex_);
    waiting_.clear();
  }
  finish();
}

void Tasks::finish() {
  {
    std::lock_guard lock(mutex_);
    is_complete_ = true;
  }
  changed_.notify_all();
  work(false);
  helpers_.clear();  // joins them
  is_complete_ = false;
}

void Tasks::work(bool waits) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (waits) changed_.wait(lock, [this] { return is_complete_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

void parallel_for(size_t count, const std::function<void(size_t)>& f) {
  Tasks tasks;
  for (size_t i = 0; i < count; ++i) tasks.add([&f, i] { f(i); });
  tasks.finish();
}

}  // namespace tilec
