#include "ir/op.h"

#include <bit>

namespace tilec::ir {

bool operator==(const Number& a, const Number& b) {
  return a.is_float == b.is_float && a.i == b.i && std::bit_cast<uint64_t>(a.f) == std::bit_cast<uint64_t>(b.f);
}

// Kinds are made, copied and cleared here alone.
#define ANY_OP(table, Kind, ...) OpData::OpData(op::Kind op) : kind_(OpKind::Kind) { new (bytes_) op::Kind(std::move(op)); }
#include "ir/all_ops.def"

OpData::OpData(const OpData& other) : kind_(other.kind_) {
  if (kind_ == kNoOp) return;
  visit(other, [&]<class T>(const T& op) { new (bytes_) T(op); });
}

OpData::OpData(OpData&& other) noexcept : kind_(other.kind_) {
  if (kind_ == kNoOp) return;
  visit(other, [&]<class T>(T& op) { new (bytes_) T(std::move(op)); });
}

OpData& OpData::operator=(const OpData& other) { return *this = OpData(other); }

OpData& OpData::operator=(OpData&& other) noexcept {
  if (this == &other) return *this;
  clear();
  return *new (this) OpData(std::move(other));
}

OpData::~OpData() { clear(); }

void OpData::clear() {
  if (kind_ == kNoOp) return;
  visit(*this, []<class T>(T& op) { op.~T(); });
  kind_ = kNoOp;
}

std::string_view name(OpKind kind) {
  static constexpr std::string_view kNames[] = {
#define ANY_OP(table, Kind, text, ...) text,
#include "ir/all_ops.def"
  };
  return kNames[int(kind)];
}

OpData make_op(OpKind kind) {
  switch (kind) {
#define ANY_OP(table, Kind, ...) case OpKind::Kind: return op::Kind{};
#include "ir/all_ops.def"
  }
  UNREACHABLE("an operation kind is one of the tables'");
}

OpTable table(OpKind kind) {
  static constexpr OpTable kTables[] = {
#define ANY_OP(table, Kind, ...) op::Kind::op_table,
#include "ir/all_ops.def"
  };
  return kTables[int(kind)];
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
