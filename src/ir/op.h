// Operations: a struct each, made from the tables `*_ops.def`, and the walk over their fields.
//
//   each_field(op, f)  calls f(Value{}, "name", field) ... for every field in order: operands, attributes, regions
//   visit(data, f)     calls f(op::Gemm&) ...; an overload set that forgets an operation does not compile
//   visit_scalar / visit_tile / visit_control / visit_thread: the same over one table; other operations go to `otherwise`
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <new>

#include "base/check.h"
#include "base/source.h"
#include "ir/attributes.h"

namespace tilec::ir {

using ValueId = Id<struct ValueTag>;
using OpId = Id<struct OpTag>;
using RegionId = Id<struct RegionTag>;

constexpr int64_t kUnknownStride = -1;
constexpr int64_t kUnplaced = -1;  // the offset of memory that has none

enum class OpKind : uint8_t {
#define ANY_OP(table, Kind, ...) Kind,
#include "ir/all_ops.def"
};

enum class OpTable : uint8_t { Control, Scalar, Tile, Thread };

namespace op {
#define VALUE(field) ValueId field;
#define MAYBE(field) ValueId field;
#define VALUES(field) std::vector<ValueId> field;
#define ATTR(type, field, ...) type field = __VA_ARGS__;
#define REGION(field) RegionId field;
#define REGIONS(field) std::vector<RegionId> field;
#define ANY_OP(in_table, Kind, text, fields)                  \
  struct Kind {                                               \
    static constexpr OpKind op_kind = OpKind::Kind;           \
    static constexpr OpTable op_table = OpTable::in_table;    \
    static constexpr std::string_view text_name = text;       \
    fields                                                    \
  };
#include "ir/all_ops.def"
#undef VALUE
#undef MAYBE
#undef VALUES
#undef ATTR
#undef REGION
#undef REGIONS
}  // namespace op

constexpr size_t kOpKinds = 0
#define ANY_OP(...) +1
#include "ir/all_ops.def"
    ;
constexpr OpKind kNoOp = OpKind(kOpKinds);  // the kind of an operation that is not filled in yet

// One of the structs above, by value. Not a `std::variant`: copies of a hundred alternatives would be compiled again in
// every file that keeps operations, which took four fifths of the time of some; here they are compiled once, in op.cpp.
class OpData {
 public:
  OpData() = default;
#define ANY_OP(table, Kind, ...) OpData(op::Kind op);
#include "ir/all_ops.def"
  OpData(const OpData& other);
  OpData(OpData&& other) noexcept;
  OpData& operator=(const OpData& other);
  OpData& operator=(OpData&& other) noexcept;
  ~OpData();

  OpKind kind() const { return kind_; }
  template <class T> bool is() const { return kind_ == T::op_kind; }
  template <class T> T* get() { return kind_ == T::op_kind ? &unchecked<T>() : nullptr; }
  template <class T> const T* get() const { return kind_ == T::op_kind ? &unchecked<T>() : nullptr; }
  // The caller has looked at kind().
  template <class T> T& unchecked() { return *std::launder(reinterpret_cast<T*>(bytes_)); }
  template <class T> const T& unchecked() const { return *std::launder(reinterpret_cast<const T*>(bytes_)); }

 private:
  static constexpr size_t kBytes = std::max({
#define ANY_OP(table, Kind, ...) sizeof(op::Kind),
#include "ir/all_ops.def"
  });

  void clear();

  OpKind kind_ = kNoOp;
  alignas(std::max_align_t) std::byte bytes_[kBytes];
};

// What a field of an operation is; the field itself is passed beside it.
namespace field {
struct Value {};      // ValueId
struct Maybe {};      // ValueId, possibly none
struct Values {};     // std::vector<ValueId>
struct Attribute {};  // anything of attributes.h
struct Region {};     // RegionId
struct Regions {};    // std::vector<RegionId>
}  // namespace field

#define VALUE(name) f(field::Value{}, #name, op.name);
#define MAYBE(name) f(field::Maybe{}, #name, op.name);
#define VALUES(name) f(field::Values{}, #name, op.name);
#define ATTR(type, name, ...) f(field::Attribute{}, #name, op.name);
#define REGION(name) f(field::Region{}, #name, op.name);
#define REGIONS(name) f(field::Regions{}, #name, op.name);
#define ANY_OP(table, Kind, text, fields)                                                              \
  template <class F> void each_field([[maybe_unused]] op::Kind& op, [[maybe_unused]] F&& f) { fields } \
  template <class F> void each_field([[maybe_unused]] const op::Kind& op, [[maybe_unused]] F&& f) { fields }
#include "ir/all_ops.def"
#undef VALUE
#undef MAYBE
#undef VALUES
#undef ATTR
#undef REGION
#undef REGIONS

// Dispatch by kind; `data` is never empty inside a kernel.
template <class Data, class F>
decltype(auto) visit(Data&& data, F&& f) {
  switch (data.kind()) {
#define ANY_OP(table, Kind, ...) case OpKind::Kind: return f(data.template unchecked<op::Kind>());
#include "ir/all_ops.def"
  }
  UNREACHABLE("an operation holds one of the table's structs");
}

template <class Data, class F, class Otherwise>
decltype(auto) visit_control(Data&& data, F&& f, Otherwise&& otherwise) {
  switch (data.kind()) {
#define OP(Kind, ...) case OpKind::Kind: return f(data.template unchecked<op::Kind>());
#include "ir/control_ops.def"
    default: return otherwise();
  }
}
template <class Data, class F, class Otherwise>
decltype(auto) visit_scalar(Data&& data, F&& f, Otherwise&& otherwise) {
  switch (data.kind()) {
#define OP(Kind, ...) case OpKind::Kind: return f(data.template unchecked<op::Kind>());
#include "ir/scalar_ops.def"
    default: return otherwise();
  }
}
template <class Data, class F, class Otherwise>
decltype(auto) visit_tile(Data&& data, F&& f, Otherwise&& otherwise) {
  switch (data.kind()) {
#define OP(Kind, ...) case OpKind::Kind: return f(data.template unchecked<op::Kind>());
#include "ir/tile_ops.def"
    default: return otherwise();
  }
}
template <class Data, class F, class Otherwise>
decltype(auto) visit_thread(Data&& data, F&& f, Otherwise&& otherwise) {
  switch (data.kind()) {
#define OP(Kind, ...) case OpKind::Kind: return f(data.template unchecked<op::Kind>());
#include "ir/thread_ops.def"
    default: return otherwise();
  }
}

struct Op {
  OpData data;
  std::vector<ValueId> results;
  Span span;
  OpKind kind() const { return data.kind(); }
  template <class T> bool is() const { return data.is<T>(); }
  template <class T> T& as() { return data.unchecked<T>(); }
  template <class T> const T& as() const { return data.unchecked<T>(); }
  template <class T> T* get() { return data.get<T>(); }
  template <class T> const T* get() const { return data.get<T>(); }
  ValueId result() const { return results.empty() ? ValueId{} : results[0]; }
};

// It may have no value, and reports that then.
inline bool is_guarded(const Op& op) {
  if (const auto* unary = op.get<op::Unary>()) return unary->guarded;
  const auto* binary = op.get<op::Binary>();
  return binary && (binary->guarded || binary->may_leave);
}

std::string_view name(OpKind kind);
OpTable table(OpKind kind);
// An operation of that kind with default fields.
OpData make_op(OpKind kind);

// Walks over operands and regions, in order; those that are absent (a mask, an else_body) are passed over.
void each_operand(const OpData& data, const std::function<void(ValueId)>& f);
void each_operand(OpData& data, const std::function<void(ValueId&)>& f);
void each_region(const OpData& data, const std::function<void(RegionId)>& f);
void each_region(OpData& data, const std::function<void(RegionId&)>& f);

}  // namespace tilec::ir
