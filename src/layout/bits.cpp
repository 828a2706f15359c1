// Gaussian elimination over F2, on words.
#include "layout/bits.h"

#include <algorithm>

namespace tilec::layout {

Vec image(Vecs basis, uint64_t x) {
  Vec y = 0;
  for (size_t i = 0; i < basis.size(); ++i) {
    if (x >> i & 1) y ^= basis[i];
  }
  return y;
}

Basis compose(Vecs outer, Vecs inner) {
  Basis result;
  for (Vec v : inner) result.push_back(image(outer, v));
  return result;
}

Basis concat(std::initializer_list<Vecs> parts) {
  Basis result;
  for (Vecs part : parts) result.insert(result.end(), part.begin(), part.end());
  return result;
}

Subspace Subspace::of(Vecs vectors) {
  Subspace space;
  for (Vec v : vectors) space.insert(v);
  return space;
}

Vec Subspace::reduce(Vec v) const {
  for (Vec row : rows_) v = std::min(v, v ^ row);
  return v;
}

Vec Subspace::greatest() const {
  Vec v = 0;
  for (Vec row : rows_) v = std::max(v, v ^ row);
  return v;
}

bool Subspace::insert(Vec v) {
  v = reduce(v);
  if (v == 0) return false;
  for (Vec& row : rows_) row = std::min(row, row ^ v);
  rows_.insert(std::upper_bound(rows_.begin(), rows_.end(), v, std::greater<>()), v);
  return true;
}

bool Subspace::contains(Vecs vectors) const {
  return std::all_of(vectors.begin(), vectors.end(), [&](Vec v) { return contains(v); });
}

int rank(Vecs vectors) { return Subspace::of(vectors).dimension(); }

namespace {

// Rows with falling leading bits, each with a tag that is summed along with it.
struct TaggedRows {
  std::vector<std::pair<Vec, uint64_t>> rows;

  std::pair<Vec, uint64_t> reduce(Vec v, uint64_t tag) const {
    for (auto [row, row_tag] : rows) {
      if ((v ^ row) < v) v ^= row, tag ^= row_tag;
    }
    return {v, tag};
  }
  // The tag left over when `v` was in the span already.
  std::optional<uint64_t> insert(Vec v, uint64_t tag) {
    auto [rest, rest_tag] = reduce(v, tag);
    if (rest == 0) return rest_tag;
    rows.push_back({rest, rest_tag});
    std::sort(rows.rbegin(), rows.rend());
    return std::nullopt;
  }
};

}  // namespace

std::optional<uint64_t> solve(Vecs basis, Vec y) {
  TaggedRows rows;
  for (size_t i = 0; i < basis.size(); ++i) rows.insert(basis[i], uint64_t{1} << i);
  auto [rest, inputs] = rows.reduce(y, 0);
  if (rest != 0) return std::nullopt;
  return inputs;
}

Basis intersection(Vecs a, Vecs b) {
  // Each row carries the part of it that came from `a`. A vector of `b` that reduces to nothing says
  // "a sum of b's equals a sum of a's", and the tag is that sum.
  TaggedRows rows;
  for (Vec v : a) rows.insert(v, v);
  Subspace common;
  for (Vec v : b) {
    if (auto from_a = rows.insert(v, 0)) common.insert(*from_a);
  }
  return common.rows();
}

Basis complement(Vecs of, Vecs candidates) {
  Subspace space = Subspace::of(of);
  Basis result;
  for (Vec v : candidates) {
    if (space.insert(v)) result.push_back(v);
  }
  return result;
}

}  // namespace tilec::layout
