// The attributes of operations: plain enums and small structs, each with a text that parses back (attribute_text.h).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/type.h"

namespace tilec::ir {

// A number of some scalar type: integers, bool and `int` in `i` (u64 as its bits), floats in `f`.
struct Number {
  bool is_float = false;
  int64_t i = 0;
  double f = 0;
  static Number integer(int64_t value) { return {false, value, 0}; }
  static Number real(double value) { return {true, 0, value}; }
  friend bool operator==(const Number& a, const Number& b);  // by bits, so that a NaN equals itself
};

enum class UnaryFn : uint8_t {
#define UNARY(Kind, text) Kind,
#include "ir/scalar_fn.def"
};
enum class BinaryFn : uint8_t {
#define BINARY(Kind, text) Kind,
#include "ir/scalar_fn.def"
};
enum class CompareFn : uint8_t {
#define COMPARE(Kind, text) Kind,
#include "ir/scalar_fn.def"
};
// What a conversion does with what does not fit. Nearest: rounds to nearest even, integers and fp8 saturate.
// Wrap: integers keep their low bits. Bits: the same bits read as another type of equal width.
enum class ConvertMode : uint8_t { Nearest, TowardZero, Wrap, Bits };
enum class ReduceFn : uint8_t { Sum, Prod, Max, Min, AbsMax, Any, All, ArgMax, ArgMin };
enum class AtomicFn : uint8_t { Add, Max, Min, And, Or, Xor, Exchange, CompareExchange };
enum class MemoryOrder : uint8_t { Relaxed, Acquire, Release, AcquireRelease };
enum class LoopKind : uint8_t { Sequential, Pipelined, Unroll, Vectorized, Dealt };
enum class ShuffleKind : uint8_t { Index, Xor, Up, Down };
enum class VoteKind : uint8_t { Any, All, Ballot };
// May an access leave its tensor or tile? Unknown until `clip` has asked the prover.
// Inside: proved. Guarded: a test stands in front (region: clipped; element: reads zero, drops writes, reports BOUNDS).
enum class Bounds : uint8_t { Unknown, Inside, Guarded };
// What a guard has found: an index outside its buffer, a divisor of 0, an `int` that leaves 64 bits.
enum class FaultCause : uint8_t { Outside, Division, Overflow };
// How a copy from device memory to shared memory is made; chosen by `select-atoms`.
enum class CopyClass : uint8_t { Unset, Through, Async, Bulk };  // Through: registers; Async: per-thread; Bulk: one engine

using Ints = std::vector<int64_t>;
using Axes = std::vector<int64_t>;           // e.g. for each tile axis the buffer dimension it runs along
using AxesList = std::vector<Axes>;
using BoundsList = std::vector<Bounds>;      // one per dimension of the buffer
using Text = std::string;

// The words of an enum, in the order of its values; the argument only picks the enum.
using EnumNames = std::span<const std::string_view>;
EnumNames names_of(UnaryFn);
EnumNames names_of(BinaryFn);
EnumNames names_of(CompareFn);
EnumNames names_of(ConvertMode);
EnumNames names_of(ReduceFn);
EnumNames names_of(AtomicFn);
EnumNames names_of(MemoryOrder);
EnumNames names_of(LoopKind);
EnumNames names_of(ShuffleKind);
EnumNames names_of(VoteKind);
EnumNames names_of(Bounds);
EnumNames names_of(CopyClass);
EnumNames names_of(FaultCause);

template <class E>
  requires std::is_enum_v<E> && requires(E e) { names_of(e); }
std::string_view name(E value) {
  EnumNames names = names_of(value);
  return size_t(value) < names.size() ? names[size_t(value)] : "?";
}

}  // namespace tilec::ir
