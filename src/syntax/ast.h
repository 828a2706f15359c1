// The abstract syntax tree of one file: what the parser hands to sema, the formatter and the editor.
//
//   Ast            owns every node and the comments; nodes refer to each other by `const Node*`, which stay put
//                  when the Ast is moved
//   Expr Stmt Type Decl    a span and a variant of the structs below
//
// Laws: a pointer is never null unless its comment says "or null". Names and comments are views of the text in the
// source map, which must outlive the Ast. A place that could not be parsed holds `Missing` (an error has been reported
// for it): treat it as poison and stay silent. The syntax knows no meaning: `A.tile(i, j)`, `m.max(axis = 1)`, `x.T`
// and `random.normal[f16](M)` are a Call or a Member on an expression like any other.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/source.h"

namespace tilec::ast {

struct Expr;
struct Stmt;
struct Type;
struct Decl;

// An identifier where it stands. `text` is empty where a name is missing (an error has been reported), and "_" where
// the program says that it does not want the value.
struct Name {
  std::string_view text;
  Span span;
  bool exists() const { return !text.empty(); }
};

// `value` or `name = value`, in calls, regions, generic arguments, attributes and `where`.
struct Argument {
  Name name;  // empty when positional
  const Expr* value;
  Span span;
  bool is_named() const { return name.exists(); }
};

// `@fast_math`, `@op("scan")`.
struct Attribute {
  Span span;
  Name name;
  std::vector<Argument> arguments;
};

// ---- expressions ---------------------------------------------------------------------------------------------------

enum class UnaryOp : uint8_t { Negate, Not, BitNot };
enum class BinaryOp : uint8_t {
  Or, And,                                                 // || &&
  Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual,  // == != < <= > >=
  BitOr, BitXor, BitAnd, ShiftLeft, ShiftRight,            // | ^ & << >>
  Add, Subtract, Multiply, Divide, Remainder, MatrixMultiply,  // + - * / % @
};
std::string_view spelling(UnaryOp op);
std::string_view spelling(BinaryOp op);
int precedence(BinaryOp op);  // a higher number binds tighter; all are left-associative, comparisons do not chain

struct Missing {};
struct IntLiteral { uint64_t value; };
// Also `inf` and `nan`. `odd` is rounded to odd: narrower types are rounded from it as from the digits.
struct FloatLiteral {
  double value, odd;
  static FloatLiteral of(double exact) { return {exact, exact}; }
};
struct BoolLiteral { bool value; };
struct StringLiteral { std::string value; };  // escapes resolved, adjacent literals joined
struct NameRef { Name name; };
struct Member { const Expr* base; Name name; };  // base.name
struct Unary { UnaryOp op; Span op_span; const Expr* operand; };
struct Binary { BinaryOp op; Span op_span; const Expr *lhs, *rhs; };
struct Cast { const Expr* operand; Name element; };    // operand as element
struct IsTest { const Expr* operand; Name name; };     // target is nvptx
struct Tuple { std::vector<const Expr*> elements; };   // (a, b)
struct List { std::vector<const Expr*> elements; };    // [a, b]
struct IfExpr { const Expr *condition, *then_value, *else_value; };

// callee[generics](arguments)
struct Call {
  const Expr* callee;
  std::vector<Argument> generics;
  Span generics_span;  // with its brackets; invalid when there are none
  std::vector<Argument> arguments;
  Span arguments_span;  // with its parentheses
};

enum class SubscriptKind : uint8_t {
  Index,    // i
  All,      // :
  NewAxis,  // _
  Bounds,   // lo : hi      either may be left out, not both
  Length,   // lo +: length
};
struct Subscript {
  SubscriptKind kind;
  Span span;
  const Expr* lo = nullptr;  // or null: Index, Length and most Bounds have it
  const Expr* hi = nullptr;  // or null: the upper bound, or the length
};

// base[subscripts, pad = value]. An Index whose base is a Member may also be `t.reshape[M, N]`.
struct Index {
  const Expr* base;
  std::vector<Subscript> subscripts;
  std::vector<Argument> options;
  Span brackets_span;
};

struct Expr {
  Span span;  // with the parentheses around it
  std::variant<Missing, IntLiteral, FloatLiteral, BoolLiteral, StringLiteral, NameRef, Member, Unary, Binary, Cast,
               IsTest, Tuple, List, IfExpr, Call, Index>
      node;
  bool is_parenthesized = false;  // written in ( ): for the formatter, it changes nothing else
  Span bare_span = {};            // when parenthesized: the span without the parentheses
  template <class T>
  const T* as() const { return std::get_if<T>(&node); }
};

// ---- types ---------------------------------------------------------------------------------------------------------

enum class Space : uint8_t { None, Shared, Fragment, Local, Workspace, TensorMemory };
std::string_view spelling(Space space);  // "" for None

enum class Distribution : uint8_t { None, Sharded, Replicated };

// space path[extents; strides]?      a scalar when it has no brackets
struct ShapedType {
  Space space = Space::None;
  Span space_span;
  std::vector<Name> path;  // `f16`, `T`, `ep.Kind`; never empty
  bool has_extents = false;
  std::vector<const Expr*> extents;
  std::vector<const Expr*> strides;  // empty: row-major and dense
  bool is_nullable = false;          // T[N]?
  // `sharded(tp, _) on node`, `replicated on node`: where the parts lie. `axes` holds one name an axis, "_" for whole.
  Distribution distribution = Distribution::None;
  std::vector<Name> axes;
  Name mesh;
};
struct TupleType { std::vector<const Type*> elements; };                            // (f32, i32)
struct FunctionType { std::vector<const Type*> parameters; const Type* result; };  // fn(T, T) -> T

struct Type {
  Span span;
  std::variant<Missing, ShapedType, TupleType, FunctionType> node;
  template <class T>
  const T* as() const { return std::get_if<T>(&node); }
};

// ---- statements ----------------------------------------------------------------------------------------------------

struct Block {
  Span span;  // with its braces
  std::vector<const Stmt*> statements;
};

// One name, or several in parentheses: `let (value, index) = ...`, `for (r, c) in ...`.
struct Pattern {
  std::vector<Name> names;
  bool is_tuple = false;
  Span span;
};

struct Let { Pattern pattern; const Type* type; /* or null */ const Expr* value; };
struct Var { Name name; const Type* type; /* or null */ const Expr* value; /* or null, not both */ };
// target = value, target op= value
struct Assign { const Expr* target; std::optional<BinaryOp> op; Span op_span; const Expr* value; };
struct ExprStmt { const Expr* value; };
struct If { const Expr* condition; Block then_block; const Stmt* else_branch; /* a Block, an If, or null */ };
struct While { const Expr* condition; Block body; };
struct Break {};
struct Continue {};
struct Return { const Expr* value; /* or null */ };
struct Sync {};
struct Simt { Name thread; Block body; };  // simt (t) { }
struct StaticAssert { const Expr* condition; const Expr* message; /* or null */ };

enum class LoopKind : uint8_t { Interval, Range, Parallel, Pipelined, Unroll, Vectorized, Each };
std::string_view spelling(LoopKind kind);  // the word before ( ); "" for Interval and Each

// for pattern in domain { }. `lo..hi` and the loop words become their arguments; Each goes over the value of any other
// expression, such as a list.
struct For {
  Pattern pattern;
  LoopKind kind;
  Span domain_span;
  std::vector<Argument> arguments;  // Interval: lo, hi; Each: the value
  Block body;
};

enum class AsmOperandKind : uint8_t { In, Out, InOut, Option };
struct AsmOperand {
  AsmOperandKind kind;
  Span span;
  std::vector<Argument> arguments;  // Option: the one argument itself
};
// asm("ptx", "text", in(a), out(b))
struct Asm {
  std::string target, text;
  Span target_span, text_span;
  std::vector<AsmOperand> operands;
};

enum class LaunchOptionKind : uint8_t { Threads, Cluster, Persistent, Raster, Split };
std::string_view spelling(LaunchOptionKind kind);
// threads N, cluster (x, y), persistent, raster column(8), split N: in a launch, and as an item of a schedule
struct LaunchOption {
  LaunchOptionKind kind;
  Span span;
  const Expr* value;  // or null: Persistent has none, Cluster usually a Tuple
};
struct LaunchAxis { Name name; const Expr* extent; };
struct Launch {
  std::vector<LaunchAxis> axes;
  std::vector<LaunchOption> options;
  Block body;
};

struct Stmt {
  Span span;  // from its first attribute or label to its `;` or `}`
  std::variant<Missing, Block, Let, Var, Assign, ExprStmt, If, For, While, Break, Continue, Return, Launch, Simt, Sync,
               StaticAssert, Asm>
      node;
  Name label;  // empty when it has none
  std::vector<Attribute> attributes;
  template <class T>
  const T* as() const { return std::get_if<T>(&node); }
};

// ---- declarations --------------------------------------------------------------------------------------------------

struct GenericParameter {
  Name name;
  const Type* kind;            // or null: `[M, N]`. `type`, `float`, `integer`, `int`, `bool`, `shape`, an enumeration
  const Expr* default_value;  // or null
  Span span;
};

enum class Direction : uint8_t { In, Out, InOut };
std::string_view spelling(Direction direction);
struct Parameter {
  Name name;
  Direction direction = Direction::In;
  bool says_in = false;  // wrote `in`, which is the default: for the formatter
  bool is_const = false, is_alias = false;
  const Type* type;
  const Expr* default_value;  // or null
  std::string doc;
  Span span;
};

// What kernels, functions and ops have in common.
struct Signature {
  Name name;
  std::vector<GenericParameter> generics;
  std::vector<Parameter> parameters;
  Span parameters_span;                     // with its parentheses
  const Type* result = nullptr;            // or null
  std::vector<const Expr*> requirements;   // requires a, b
};

struct Import {
  std::vector<Name> path;  // import std.math;  empty for a file
  std::string file;        // import "epilogues.tile" as ep;
  Span source_span;        // the path or the string
  Name alias;              // empty when not given
};
struct Const { Name name; const Type* type; /* or null */ const Expr* value; };
struct Enumerator { Name name; std::string doc; };
struct Enum { Name name; std::vector<Enumerator> members; };
struct Kernel { Signature signature; bool is_exported = false; Block body; };
struct Fn {
  Signature signature;
  bool is_reference = false;
  const Expr* condition = nullptr;  // or null: `fn exp(x: f32) -> f32 if has(FastExp) { }`
  // A body, a value (`= x + 1;`), or neither (`;`, an `@op` of the library).
  std::optional<Block> body;
  const Expr* value = nullptr;
};
struct Op { Signature signature; bool is_exported = false; const Expr* value; };
struct ExportedInstance {
  std::vector<Name> path;  // what: `gemm`, `ep.gemm`
  std::vector<Argument> generics;
};
struct Export {
  std::vector<ExportedInstance> instances;  // of which a call runs one
  Name alias;                    // empty when not given
  std::vector<Argument> where;  // each one named
};
struct Test { Name name; Block body; };
struct TuneAxis { Name name; const Expr* values; };
struct Tune {
  std::vector<Name> path;
  std::vector<Argument> generics;
  std::vector<TuneAxis> axes;
  const Expr* given = nullptr;  // or null
  Pattern problem;              // empty when there is no `for`
  const Expr* problems = nullptr;
};
struct Mesh { Name name; std::vector<Argument> axes; };  // mesh node[tp = 8];

// name value, within a schedule's items: `warps 4`, `split rows`, `stage 1`
struct Clause { Name name; const Expr* value; /* or null */ };
struct LayoutItem { std::vector<Name> names; std::string_view text; Span text_span; };  // src/layout reads the text
struct PipelineItem { Name name; std::vector<Name> members; std::vector<Clause> clauses; };
struct RoleItem { Name name; std::vector<Clause> clauses; std::vector<Name> labels; };   // `rest` is every other label
struct PlaceItem { std::vector<Name> labels; std::vector<Clause> clauses; };
struct RequireItem { std::vector<Name> names; };
struct ScheduleItem {
  Span span;
  std::variant<LaunchOption, LayoutItem, PipelineItem, RoleItem, PlaceItem, RequireItem> node;
};
struct Schedule {
  std::vector<Name> path;
  std::vector<Argument> generics;
  std::vector<Argument> where;  // each one named
  bool is_wide = false;         // for the copy in wider clusters
  std::vector<Name> targets;  // empty: all. A target written as a string is its text without the quotes
  std::vector<ScheduleItem> items;
  Span items_span;  // with its braces
};

struct Decl {
  Span span;  // from its first attribute or word, its doc comment not included
  std::variant<Missing, Import, Const, Enum, Kernel, Fn, Op, Export, Schedule, Test, Tune, Mesh, StaticAssert> node;
  std::vector<Attribute> attributes;
  std::string doc;  // the text of its `///` lines without the slashes, joined by newlines
  template <class T>
  const T* as() const { return std::get_if<T>(&node); }
};

struct Comment {
  Span span;  // without its line end
  bool is_doc;
  bool is_alone;  // nothing but spaces before it on its line
};

}  // namespace tilec::ast

namespace tilec {

// One parsed file. Move-only; pointers into it outlive a move.
class Ast {
 public:
  Ast() = default;
  Ast(Ast&&) = default;
  Ast& operator=(Ast&&) = default;
  Ast(const Ast&) = delete;
  Ast& operator=(const Ast&) = delete;

  FileId file;
  std::vector<const ast::Decl*> declarations;  // in the order of the text
  std::vector<ast::Comment> comments;          // in the order of the text, doc comments among them
  bool has_errors = false;                     // some part of the file is Missing or was skipped

  // The node stays at the address that comes back.
  ast::Expr* add(ast::Expr node) { return &exprs_.emplace_back(std::move(node)); }
  ast::Stmt* add(ast::Stmt node) { return &stmts_.emplace_back(std::move(node)); }
  ast::Type* add(ast::Type node) { return &types_.emplace_back(std::move(node)); }
  ast::Decl* add(ast::Decl node) { return &decls_.emplace_back(std::move(node)); }

 private:
  std::deque<ast::Expr> exprs_;
  std::deque<ast::Stmt> stmts_;
  std::deque<ast::Type> types_;
  std::deque<ast::Decl> decls_;
};

}  // namespace tilec
