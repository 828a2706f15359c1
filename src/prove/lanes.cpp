#include "prove/lanes.h"

#include <algorithm>

namespace tilec::prove {

namespace {

constexpr int kAllCounts[] = {4, 8, 16, 32};

}  // namespace

Lanes::Lanes(std::span<const int> counts) {
  if (counts.empty()) counts = kAllCounts;
  counts_.assign(counts.begin(), counts.end());
  std::sort(counts_.begin(), counts_.end());
  counts_.erase(std::unique(counts_.begin(), counts_.end()), counts_.end());
}

template <class F> Linear Lanes::by_count(Terms& terms, F&& of) {
  if (counts_.size() > 1 && !choice_.valid()) choice_ = terms.variable("lanes", {0, int64_t(counts_.size()) - 1}, true);
  Linear result = of(counts_.back());
  for (int64_t k = int64_t(counts_.size()) - 2; k >= 0; --k) result = terms.choice(at_least(k, choice_), of(counts_[size_t(k)]), result);
  return result;
}

Linear Lanes::warp(Terms& terms, const Linear& thread) {
  return by_count(terms, [&](int64_t lanes) { return terms.quotient(thread, lanes); });
}

Linear Lanes::lane(Terms& terms, const Linear& thread) {
  return by_count(terms, [&](int64_t lanes) { return terms.remainder(thread, lanes); });
}

Linear Lanes::count(Terms& terms) {
  return by_count(terms, [](int64_t lanes) { return Linear(lanes); });
}

std::optional<int64_t> Lanes::count(const Model& model) const {
  const int64_t* found = choice_.valid() ? model.find(choice_) : nullptr;
  return found ? std::optional(counts_[size_t(*found)]) : std::nullopt;
}

}  // namespace tilec::prove
