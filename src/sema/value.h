// What an expression means while an instance is lowered: numbers known now, numbers of the IR, tiles, memory, names.
//
// A tile expression stays an `Elementwise` until something needs the tile: then the whole expression becomes one map.
// Memory stays a `View` until it is read; a view without axes is one element.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/kernel.h"
#include "syntax/ast.h"

namespace tilec::sema {

struct Instance;
struct Module;
struct Value;
using Shape = std::vector<int64_t>;
constexpr int64_t kNewAxis = -2;  // the extent of an axis written `_`: it takes that of the other side

struct Poison {};   // a mistake that has been reported: whatever touches it stays silent
struct Nothing {};  // the answer of a function without a result

// A number known at compile time. A literal takes the type of what it meets; until then it is `int` or f64.
struct Const {
  Scalar type;
  ir::Number number;
  bool is_literal = false;
  // Of a float as the program writes it: its digits rounded to odd, from which a narrower type is rounded as from the digits.
  std::optional<double> odd = {};
};
// A number known at run time. What is made of literals alone takes the type of what it meets, as they do.
struct Dynamic {
  ir::ValueId id;
  bool is_literal = false;
};
struct Tile { ir::ValueId id; };     // a fragment

// A tile whose elements are computed by scalar code in `region`, which has no place in the program yet.
struct Elementwise {
  struct Input {
    ir::ValueId tile, element;  // `element` is an argument of the region
    ir::Axes axes;              // for each axis of the tile that of `shape` which it runs along
  };
  Shape shape;  // kNewAxis where the axis was written `_`
  ir::RegionId region;
  std::vector<Input> inputs;
  ir::ValueId result;
  bool is_literal = false;  // each element chooses between literals
};

struct Extent {
  int64_t fixed = ir::kDynamic;
  ir::ValueId value;  // when not fixed
  bool is_fixed() const { return fixed != ir::kDynamic; }
};

using MemoryId = Id<struct MemoryTag>;
// A parameter, a shared or local array, a workspace.
struct Memory {
  std::string name;
  Span span;
  ir::Space space;
  std::optional<ir::Access> access;  // of a parameter
  bool may_be_null = false;
  int param = -1;
};
struct View {
  ir::ValueId buffer;
  MemoryId memory;
  std::vector<ir::ValueId> offsets;  // one for each dimension of the buffer; none: 0
  ir::Axes axes;                     // for each axis of the view the dimension that it runs along
  std::vector<Extent> shape;         // of each axis
  std::vector<bool> ends_early;      // by dimension of the buffer: before that does, as far as is known; none: nowhere
  Span constant_at = {};             // of the `in` parameter that names it: nothing is written through it
  bool is_region = false;            // cut out as a tile, by `tile(...)`, `:` or `+:`
  std::optional<Const> pad;
  Span pad_span = {};                // of the value in `pad = value`
  Span region_span = {};             // of `A.tile(...)` or `A[...]`, whose last bracket a `pad` goes before
  bool is_element() const { return axes.empty(); }
};
// An expression with a tile whose shape must come from the other side. What it is made of has been evaluated; with the shape it goes on.
struct Shapeless {
  const ast::Expr* expr;
  std::function<Value(Instance&, const Shape&)> resume;
};

struct TypeValue { Scalar scalar; };
struct ShapeValue { std::vector<Extent> extents; };
struct EnumType { const ast::Enum* type; };
struct EnumValue { const ast::Enum* type; int64_t index; };
struct Text { std::string text; };
struct ModuleRef { const Module* module; };
struct KernelRef { const Module* module; const ast::Decl* decl; };
struct FnRef {
  const Module* module;
  const ast::Decl* decl;
  const ast::Fn& fn() const { return *decl->as<ast::Fn>(); }
};
struct FnSet { std::vector<FnRef> candidates; };

struct Tuple { std::vector<Value> elements; };  // also a list

struct Value {
  using Data = std::variant<Poison, Nothing, Const, Dynamic, Tile, Elementwise, View, Shapeless, TypeValue, ShapeValue,
                            EnumType, EnumValue, Text, ModuleRef, KernelRef, FnSet, Tuple>;
  Data data;
  Value() = default;
  template <class T> requires (!std::is_same_v<std::decay_t<T>, Value>)
  Value(T&& from) : data(std::forward<T>(from)) {}

  template <class T> bool is() const { return std::holds_alternative<T>(data); }
  template <class T> const T* as() const { return std::get_if<T>(&data); }
  template <class T> T* as() { return std::get_if<T>(&data); }
  bool is_poison() const { return is<Poison>(); }
  bool is_element() const { return is<View>() && as<View>()->is_element(); }
  // One number, known now or later, possibly still in memory.
  bool is_scalar() const { return is<Const>() || is<Dynamic>() || is_element(); }
  // A tile, or memory that a tile can be read from.
  bool is_tile_like() const { return is<Tile>() || is<Elementwise>() || (is<View>() && !is_element()); }
};

inline Const integer_literal(int64_t value) { return {Scalar::Index, ir::Number::integer(value), true}; }
inline Const int_const(int64_t value) { return {Scalar::Index, ir::Number::integer(value), false}; }
inline Const bool_const(bool value) { return {Scalar::Bool, ir::Number::integer(value), false}; }

// `f32[M, 64]`, for messages.
std::string shape_text(const Shape& shape);
std::string shape_text(const std::vector<Extent>& extents);
// The type of a value in words: "f16", "a tile f32[64, 64]", "a function".
std::string describe(const ir::Kernel& kernel, const Value& value);
std::string describe(const ir::Type& type);
// The extents as numbers, when all are known now.
std::optional<Shape> fixed_shape(const std::vector<Extent>& extents);
std::vector<Extent> extents_of(const Shape& shape);

}  // namespace tilec::sema
