// Vectors over F2 and the few questions asked of them. A vector is a word whose bits are added by XOR; a basis is the
// list of images of input bits 0, 1, 2 ..., so it is both a matrix (by columns) and a list of vectors.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tilec::layout {

using Vec = uint64_t;
using Basis = std::vector<Vec>;
using Vecs = std::span<const Vec>;

// The image of `x`: the sum of the vectors whose input bit is set.
Vec image(Vecs basis, uint64_t x);
// First `inner`, then `outer`.
Basis compose(Vecs outer, Vecs inner);
Basis concat(std::initializer_list<Vecs> parts);

// A linear subspace, kept as reduced rows in falling order.
class Subspace {
 public:
  Subspace() = default;
  static Subspace of(Vecs vectors);
  // False, and nothing changes, when `v` was in the span already.
  bool insert(Vec v);
  bool contains(Vec v) const { return reduce(v) == 0; }
  bool contains(Vecs vectors) const;
  Vec reduce(Vec v) const;  // the least vector of v + span
  Vec greatest() const;     // the greatest vector of the span
  int dimension() const { return static_cast<int>(rows_.size()); }
  const Basis& rows() const { return rows_; }
  friend bool operator==(const Subspace&, const Subspace&) = default;

 private:
  Basis rows_;
};

int rank(Vecs vectors);
// The input bits whose image is `y`, if any.
std::optional<uint64_t> solve(Vecs basis, Vec y);
// A basis of span(a) ∩ span(b).
Basis intersection(Vecs a, Vecs b);
// Those of `candidates`, first come first taken, that extend span(of) to span(of + candidates).
Basis complement(Vecs of, Vecs candidates);

}  // namespace tilec::layout
