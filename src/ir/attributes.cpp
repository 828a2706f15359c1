#include "ir/attributes.h"

namespace tilec::ir {

std::string_view name(UnaryFn fn) {
  static constexpr std::string_view kNames[] = {
#define UNARY(Kind, text) text,
#include "ir/scalar_fn.def"
  };
  return kNames[int(fn)];
}

std::string_view name(BinaryFn fn) {
  static constexpr std::string_view kNames[] = {
#define BINARY(Kind, text) text,
#include "ir/scalar_fn.def"
  };
  return kNames[int(fn)];
}

std::string_view name(CompareFn fn) {
  static constexpr std::string_view kNames[] = {
#define COMPARE(Kind, text) text,
#include "ir/scalar_fn.def"
  };
  return kNames[int(fn)];
}

std::string_view name(ReduceFn fn) {
  constexpr std::string_view kNames[] = {"sum", "prod", "max", "min", "absmax", "any", "all", "argmax", "argmin"};
  return kNames[int(fn)];
}

std::string_view name(AtomicFn fn) {
  constexpr std::string_view kNames[] = {"add", "max", "min", "and", "or", "xor", "exchange", "compare_exchange"};
  return kNames[int(fn)];
}

}  // namespace tilec::ir
