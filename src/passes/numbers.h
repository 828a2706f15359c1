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

Numbers exactly(Scalar type, ir::Number number);  // an integer stands for a float as well
Numbers of_kinds(uint8_t kinds);
Numbers data(Scalar type);      // what memory holds: finite
Numbers anything(Scalar type);
Numbers joined(const Numbers& a, const Numbers& b);
// Without infinities and NaN, where anything is left then: a result that they spoil is spoilt without any padding.
Numbers ordinary(const Numbers& a);

Numbers apply(ir::UnaryFn fn, Scalar type, const Numbers& x);
Numbers apply(ir::BinaryFn fn, Scalar type, const Numbers& a, const Numbers& b);
Numbers apply(ir::CompareFn fn, Scalar type, const Numbers& a, const Numbers& b);
Numbers apply_convert(Scalar from, Scalar to, ir::ConvertMode mode, const Numbers& x);
// Any number of them combined, one at least.
Numbers folded(ir::ReduceFn fn, Scalar type, const Numbers& x);
// Does combining with it change nothing?
bool is_identity(ir::ReduceFn fn, Scalar type, const Numbers& x);
std::string text_of(const Numbers& x);

}  // namespace tilec::passes
