#include "ir/attributes.h"

namespace tilec::ir {

EnumNames names_of(UnaryFn) {
  static constexpr std::string_view kNames[] = {
#define UNARY(Kind, text) text,
#include "ir/scalar_fn.def"
  };
  return kNames;
}

EnumNames names_of(BinaryFn) {
  static constexpr std::string_view kNames[] = {
#define BINARY(Kind, text) text,
#include "ir/scalar_fn.def"
  };
  return kNames;
}

EnumNames names_of(CompareFn) {
  static constexpr std::string_view kNames[] = {
#define COMPARE(Kind, text) text,
#include "ir/scalar_fn.def"
  };
  return kNames;
}

EnumNames names_of(ConvertMode) {
  static constexpr std::string_view kNames[] = {"nearest", "toward_zero", "wrap", "bits"};
  return kNames;
}

EnumNames names_of(ReduceFn) {
  static constexpr std::string_view kNames[] = {"sum", "prod", "max",    "min",   "absmax",
                                                "any", "all",  "argmax", "argmin"};
  return kNames;
}

EnumNames names_of(AtomicFn) {
  static constexpr std::string_view kNames[] = {"add", "max", "min",      "and",
                                                "or",  "xor", "exchange", "compare_exchange"};
  return kNames;
}

EnumNames names_of(MemoryOrder) {
  static constexpr std::string_view kNames[] = {"relaxed", "acquire", "release", "acquire_release"};
  return kNames;
}

EnumNames names_of(LoopKind) {
  static constexpr std::string_view kNames[] = {"sequential", "pipelined", "unroll", "vectorized", "dealt"};
  return kNames;
}

EnumNames names_of(ShuffleKind) {
  static constexpr std::string_view kNames[] = {"index", "xor", "up", "down"};
  return kNames;
}

EnumNames names_of(VoteKind) {
  static constexpr std::string_view kNames[] = {"any", "all", "ballot"};
  return kNames;
}

EnumNames names_of(Bounds) {
  static constexpr std::string_view kNames[] = {"unknown", "inside", "guarded"};
  return kNames;
}

EnumNames names_of(CopyClass) {
  static constexpr std::string_view kNames[] = {"unset", "through", "async", "bulk"};
  return kNames;
}

EnumNames names_of(FaultCause) {
  static constexpr std::string_view kNames[] = {"outside", "division", "overflow"};
  return kNames;
}

}  // namespace tilec::ir
