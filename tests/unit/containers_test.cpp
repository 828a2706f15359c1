// Short lists in place, and work on all cores.
#include <doctest/doctest.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "base/small_vector.h"

using namespace tilec;

namespace {

using Short = SmallVector<int64_t, 3>;

Short counted(int64_t count) {
  Short list;
  for (int64_t i = 0; i < count; ++i) list.push_back(i);
  return list;
}

bool is_counted(const Short& list, int64_t count) {
  std::vector<int64_t> wanted(count);
  std::iota(wanted.begin(), wanted.end(), 0);
  return std::equal(list.begin(), list.end(), wanted.begin(), wanted.end());
}

}  // namespace

TEST_SUITE("containers") {
  TEST_CASE("short lists and long ones are copied and moved alike") {
    for (int64_t count : {0, 1, 3, 4, 50})
      for (int64_t other_count : {0, 2, 3, 7}) {
        Short list = counted(count), copy = list, other = counted(other_count);
        CHECK(is_counted(list, count));
        CHECK(copy == list);
        other = list;
        CHECK(is_counted(other, count));
        other = counted(other_count);
        CHECK(is_counted(other, other_count));
        copy = std::move(other);
        CHECK(is_counted(copy, other_count));
        copy.push_back(other_count);
        CHECK(is_counted(copy, other_count + 1));
        list = list;
        CHECK(is_counted(list, count));
      }
    CHECK(counted(2) < counted(3));
    CHECK(Short{1, 2} < Short{2});
  }

  TEST_CASE("every index is worked on once") {
    std::vector<std::atomic<int>> seen(1000);
    parallel_for(seen.size(), [&](size_t i) { ++seen[i]; });
    CHECK(std::all_of(seen.begin(), seen.end(), [](const std::atomic<int>& n) { return n == 1; }));
    parallel_for(0, [](size_t) { FAIL("nothing is to be done"); });
  }
}
