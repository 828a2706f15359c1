#include "ir/op.h"

#include <bit>

namespace tilec::ir {

bool operator==(const Number& a, const Number& b) {
  return a.is_float == b.is_float && a.i == b.i && std::bit_cast<uint64_t>(a.f) == std::bit_cast<uint64_t>(b.f);
}

std::string_view name(OpKind kind) {
  static constexpr std::string_view kNames[] = {
#define OP(Kind, text, ...) text,
#include "ir/control_ops.def"
#define OP(Kind, text, ...) text,
#include "ir/scalar_ops.def"
#define OP(Kind, text, ...) text,
#include "ir/tile_ops.def"
#define OP(Kind, text, ...) text,
#include "ir/thread_ops.def"
  };
  return kNames[int(kind)];
}

OpData make_op(OpKind kind) {
  switch (kind) {
#define OP(Kind, ...) case OpKind::Kind: return op::Kind{};
#include "ir/control_ops.def"
#define OP(Kind, ...) case OpKind::Kind: return op::Kind{};
#include "ir/scalar_ops.def"
#define OP(Kind, ...) case OpKind::Kind: return op::Kind{};
#include "ir/tile_ops.def"
#define OP(Kind, ...) case OpKind::Kind: return op::Kind{};
#include "ir/thread_ops.def"
  }
  UNREACHABLE("an operation kind is one of the tables'");
}

OpTable table(OpKind kind) {
  return visit(make_op(kind), [](const auto& op) { return op.op_table; });
}

namespace {

// Picks the overload for the fields of interest; the rest are passed over.
template <class Data, class F>
void walk_operands(Data& data, F&& f) {
  visit(data, [&](auto& op) {
    each_field(op, [&](auto kind, const char*, auto& value) {
      using Kind = decltype(kind);
      if constexpr (std::is_same_v<Kind, field::Value>) f(value);
      if constexpr (std::is_same_v<Kind, field::Maybe>) {
        if (value.valid()) f(value);
      }
      if constexpr (std::is_same_v<Kind, field::Values>)
        for (auto& v : value) f(v);
    });
  });
}

template <class Data, class F>
void walk_regions(Data& data, F&& f) {
  visit(data, [&](auto& op) {
    each_field(op, [&](auto kind, const char*, auto& value) {
      using Kind = decltype(kind);
      if constexpr (std::is_same_v<Kind, field::Region>) {
        if (value.valid()) f(value);
      }
      if constexpr (std::is_same_v<Kind, field::Regions>)
        for (auto& v : value) f(v);
    });
  });
}

}  // namespace

void each_operand(const OpData& data, const std::function<void(ValueId)>& f) { walk_operands(data, f); }
void each_operand(OpData& data, const std::function<void(ValueId&)>& f) { walk_operands(data, f); }
void each_region(const OpData& data, const std::function<void(RegionId)>& f) { walk_regions(data, f); }
void each_region(OpData& data, const std::function<void(RegionId&)>& f) { walk_regions(data, f); }

}  // namespace tilec::ir
