// What is known of a scalar without running the program: the very number, or which kinds of number it may be.
#pragma once
#include "ir/attributes.h"
#include "ir/scalar_eval.h"

namespace tilec::passes {

// Kinds as bits of a set.
constexpr uint8_t kNegativeInfinity = 1, kNegative = 2, kZero = 4, kPositive = 8, kPositiveInfinity = 16, kNan = 32;
constexpr uint8_t kFinite = kNegative | kZero | kPositive, kAnyKind = 63;

struct Numbers {
  uint8_t kinds = 0;
  std::optional<ir::Number> exact;
  bool is_within(uint8_t allowed) const { return (kinds & ~allowed) == 0; }
  friend bool operator==(const Numbers&, const Numbers&) = default;
};

// What is taken for granted. None: memory holds anything, and results reach infinity or vanish. Finite: memory holds finite numbers of
// a size that arithmetic does not leave; what holds then is what the program is likely to mean.
enum class Belief : uint8_t { None, Finite };

Numbers exactly(Scalar type, ir::Number number);  // an integer stands for a float as well
Numbers of_kinds(uint8_t kinds);
Numbers data(Scalar type, Belief belief);         // what memory holds
Numbers anything(Scalar type);
Numbers joined(const Numbers& a, const Numbers& b);
// Without infinities and NaN, where anything is left then: who hopes, hopes that they do not come.
Numbers ordinary(const Numbers& a);

Numbers apply(ir::UnaryFn fn, Scalar type, const Numbers& x, Belief belief);
Numbers apply(ir::BinaryFn fn, Scalar type, const Numbers& a, const Numbers& b, Belief belief);
Numbers apply(ir::CompareFn fn, Scalar type, const Numbers& a, const Numbers& b, Belief belief);
Numbers apply_convert(Scalar from, Scalar to, ir::ConvertMode mode, const Numbers& x, Belief belief);
// Any number of them combined, one at least.
Numbers folded(ir::ReduceFn fn, Scalar type, const Numbers& x, Belief belief);
// Does combining with it change nothing? Of `argmax` and `argmin`: nothing about the greatest number; only NaN never is the answer.
bool is_identity(ir::ReduceFn fn, Scalar type, const Numbers& x);
std::string text_of(const Numbers& x);

// Of one number: what is sure, and what is hoped for. Where it is made of the result of a matrix product, what is hoped counts as sure, but for
// exponentials of it: with masks there the gradient of attention took up to 1.56 times as long on an H100.
struct Known {
  Numbers sure, hoped;
  bool is_of_product = false;
  bool is_beside = false;  // of data that stand beyond the edge at hand and are no padding: what the program hopes of them
  const Numbers& under(Belief belief) const { return belief == Belief::None ? sure : hoped; }
  bool is_some() const { return sure.kinds != 0; }
  friend bool operator==(const Known&, const Known&) = default;
};
// `f` of each belief.
template <class F> Known known(F&& f) { return {f(Belief::None), f(Belief::Finite)}; }
inline Known known_exactly(Scalar type, ir::Number number) { return {exactly(type, number), exactly(type, number)}; }
inline Known total(ir::ReduceFn fn, Scalar type, const Known& x) {
  return known([&](Belief belief) { return folded(fn, type, x.under(belief), belief); });
}
inline Known product(Scalar type, const Known& a, const Known& b) {
  return known([&](Belief belief) { return apply(ir::BinaryFn::Mul, type, a.under(belief), b.under(belief), belief); });
}
inline Known known_data(Scalar type) { return known([&](Belief b) { return data(type, b); }); }
inline Known known_anything(Scalar type) { return {anything(type), anything(type)}; }
inline Known ordinary(const Known& a) { return {a.sure, ordinary(a.hoped), a.is_of_product, a.is_beside}; }
inline Known joined(const Known& a, const Known& b) {
  return {joined(a.sure, b.sure), joined(a.hoped, b.hoped), a.is_of_product || b.is_of_product};
}
inline Known of_product(const Known& a) { return {a.hoped, a.hoped, true}; }

}  // namespace tilec::passes
