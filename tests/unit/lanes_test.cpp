// Bits of integers, and threads in their warps: the prover against arithmetic on every number.
#include "prove/lanes.h"

#include <doctest/doctest.h>

using namespace tilec::prove;

TEST_CASE("`&` with a constant is a sum of quotients, on numbers of either sign") {
  for (int64_t mask : {0, 1, 2, 5, 6, 7, 31, 42, -1, -2, -4, -43}) {
    Terms terms;
    AtomId x = terms.variable("x", {-100, 100}, true);
    Linear both = terms.masked(x, mask);
    REQUIRE(!both.is_lost);
    for (int64_t value = -100; value <= 100; ++value) {
      Model model;
      model.set(x, value);
      CHECK(terms.evaluate(both, model) == (value & mask));
    }
  }
}

TEST_CASE("nothing is known of many runs of bits, nor of the highest") {
  Terms terms;
  AtomId x = terms.variable("x", {}, true);
  CHECK(terms.masked(x, 0b1010101010).is_lost);
  CHECK(terms.masked(x, INT64_MAX).is_lost);
  CHECK(!terms.masked(x, 0b10101010).is_lost);
}

TEST_CASE("lane and warp are those of some machine, the same one for both") {
  constexpr int kCounts[] = {16, 4, 8, 8};
  Lanes lanes(kCounts);
  Terms terms;
  AtomId thread = terms.variable("t", {0, 127}, true);
  Linear lane = lanes.lane(terms, thread), warp = lanes.warp(terms, thread);
  std::vector<int64_t> seen;
  for (uint32_t i = 0; i < terms.size(); ++i) {
    if (!lanes.is_choice({i})) continue;
    for (int64_t which = terms[{i}].range.low; which <= terms[{i}].range.high; ++which) {
      Model model;
      model.set(thread, 101), model.set({i}, which);
      int64_t count = lanes.count(model).value();
      seen.push_back(count);
      CHECK(terms.evaluate(lane, model) == 101 % count);
      CHECK(terms.evaluate(warp, model) == 101 / count);
    }
  }
  CHECK(seen == std::vector<int64_t>{4, 8, 16});
  CHECK(terms.range(warp) == Interval{0, 31});
}

TEST_CASE("where all machines have as many lanes, the thread is made of its lane and its warp") {
  constexpr int kOne[] = {32};
  Lanes lanes(kOne);
  Terms terms;
  Linear thread = terms.variable("t", {0, 127}, true);
  CHECK(lanes.warp(terms, thread) * 32 + lanes.lane(terms, thread) == thread);
  CHECK(!lanes.count({}));
}
