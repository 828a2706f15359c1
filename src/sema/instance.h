// One monomorphic instance while it is lowered: the kernel that grows, the names in sight, the variables and their
// current values, the functions being inlined.
//
// Variables are SSA: `Variable::current` is the value now. Branches and loops save and merge the current values
// (branch.cpp, loop.cpp). Names are scopes on a stack; a frame hides the scopes below it.
#pragma once
#include <deque>
#include <set>

#include "diag/diag.h"
#include "ir/builder.h"
#include "sema/host_range.h"
#include "sema/module.h"
#include "sema/value.h"

namespace tilec::sema {

namespace op = ir::op;

// What may stand here: each level is lowered to other operations.
enum class Level : uint8_t {
  Constant,  // nothing at run time
  Host,      // the kernel's body: host arithmetic, workspaces, launches
  Block,     // inside a launch
  Element,   // one element of a tile: `parallel`, functions on elements
  Thread,    // inside `simt`
};

struct Variable {
  std::string name;
  Span span;
  ir::Type type;        // a scalar or a tile
  ir::ValueId current;  // none: not initialised
  bool is_poison = false;
  bool was_written = false;  // on some path
  bool is_element = false;   // stands for an element of memory of the caller, which takes what it holds in the end
  int depth = 0;        // isolated regions (launch, parallel, simt) open where it is declared
};
using VariableId = Id<struct VariableTag>;
using Assignments = std::vector<std::pair<VariableId, ir::ValueId>>;

struct Binding {
  std::string_view name;
  Span span;
  std::variant<Value, VariableId> what;
  std::string_view kind;  // why it cannot be assigned to: "a `let`", "a loop index"
};
using Scope = std::vector<Binding>;

// A loop that `break` and `continue` speak of.
struct Loop {
  std::optional<VariableId> goes_on;    // false after `break`
  std::optional<VariableId> in_turn;    // false after `continue`, until the next iteration
  bool allows_exits = true;
  std::set<uint32_t> unset_at_break = {}, unset_at_continue = {};  // variables that have no value where it stands
};

// A function being inlined, or the kernel itself.
struct Frame {
  const Module* module = nullptr;
  const ast::Decl* decl = nullptr;
  Span call;
  size_t first_scope = 0, first_loop = 0, first_variable = 0;
  int control_depth = 0, depth = 0;       // of the instance where the call stands
  std::optional<ir::Type> result_type;    // as declared, when it is a number or a tile
  std::optional<Value> result;            // returned on the one path
  std::optional<VariableId> result_variable;  // returned on several paths
  std::optional<VariableId> runs;         // false after a `return` deep inside
};

struct Parallel;

struct Session {
  SourceMap& sources;
  Diagnostics& diagnostics;
  Modules& modules;
  std::map<const ast::Decl*, Value> constants;
  std::set<const ast::Decl*> constants_in_progress;
};

struct Instance;

// A place in an instance: what is reported there says which calls and exports led to it.
class InstancePlace {
 public:
  InstancePlace(const Instance& in, Span span);
  template <class... Args>
  Report error(const diag::Message<Severity::Error, Args...>& message, std::type_identity_t<Args>... args) const {
    return traced(place_.error(message, args...));
  }
  template <class... Args>
  Report remark(const diag::Message<Severity::Remark, Args...>& message, std::type_identity_t<Args>... args) const {
    return place_.remark(message, args...);
  }

 private:
  Report traced(Report report) const;
  size_t frames_around() const;
  const Instance& in_;
  Span span_;
  Span inside_;  // in the library; the place is the call that led there
  Place place_;
};

struct Instance {
  explicit Instance(Session& session, const Module& module);

  Session& session;
  ir::Kernel kernel;
  ir::Builder builder;
  Level level = Level::Constant;
  std::vector<Scope> scopes;
  std::deque<Frame> frames;  // references to them stay good while functions are inlined
  std::vector<Loop> loops;
  std::vector<Variable> variables;
  std::deque<Memory> memories;
  std::set<MemoryId> present;   // nullable parameters tested by an `if` around this place
  int depth = 0;                // isolated regions open
  int control_depth = 0;        // branches and loops open
  std::set<ir::OpId> statements;  // branches and maps that statements have made, `if` and `parallel`: their results are what variables hold behind them
  std::map<ir::ValueId, ir::ValueId> carried;  // by an argument of a loop: what it begins with
  Magnitudes near_indices;  // of launches, threads, elements, and of loops whose ends are no numbers from afar
  bool is_dead = false;         // this place is not reached: a `break`, `continue` or `return` stands before it
  std::string label;            // of the statement being lowered
  // By the value of a condition: what variables that have no value on every path hold where it is false, and where it is true. Of the
  // statement being lowered, until a variable is set.
  std::map<ir::ValueId, std::array<Assignments, 2>> assigned_when;
  std::optional<int64_t> threads;  // of the launch around this place
  Parallel* parallel = nullptr;    // the loop around this place
  size_t rounds = 0;               // of loops over lists, which are written out
  size_t calls = 0;                // of functions, which are inlined
  std::set<std::pair<const ast::Decl*, std::string>> undeclared;  // names, each told once for a function

  InstancePlace at(Span span) const { return {*this, span}; }
  Frame& frame() { return frames.back(); }
  const Module& module() const { return *frames.back().module; }
  const Memory& memory(MemoryId id) const { return memories[id.index]; }
  Variable& variable(VariableId id) { return variables[id.index]; }
  const ir::Type& type(ir::ValueId id) const { return kernel.type(id); }
  std::string_view text(Span span) const { return session.sources.text(span); }

  // Names.
  void declare(const ast::Name& name, Value value, std::string_view kind);
  void declare(const ast::Name& name, VariableId variable);
  const Binding* find(std::string_view name) const;  // in the frame's scopes
  VariableId new_variable(std::string name, Span span, ir::Type type, ir::ValueId initial = {});
  void set(VariableId id, ir::ValueId value);
  MemoryId new_memory(Memory memory);

  // The current values of all variables, to come back to.
  std::vector<ir::ValueId> snapshot() const;
  void restore(const std::vector<ir::ValueId>& values);
};

// Opens a scope; what is declared in it goes with it.
class ScopeGuard {
 public:
  explicit ScopeGuard(Instance& in) : in_(in), variables_(in.variables.size()) { in.scopes.emplace_back(); }
  ~ScopeGuard() {
    in_.scopes.pop_back();
    in_.variables.resize(variables_);
  }
  ScopeGuard(const ScopeGuard&) = delete;

 private:
  Instance& in_;
  size_t variables_;
};

// Builds into another region until its end.
class RegionGuard {
 public:
  RegionGuard(Instance& in, ir::RegionId region) : in_(in),
      saved_(in.builder.region()) { in.builder.set_region(region); }
  ~RegionGuard() { in_.builder.set_region(saved_); }
  RegionGuard(const RegionGuard&) = delete;

 private:
  Instance& in_;
  ir::RegionId saved_;
};

// Sets a field and puts the old value back at its end.
template <class T>
class Restore {
 public:
  Restore(T& field, T value) : field_(field), saved_(std::move(field)) { field_ = std::move(value); }
  ~Restore() { field_ = std::move(saved_); }
  Restore(const Restore&) = delete;

 private:
  T& field_;
  T saved_;
};

// "T0123 {0} is not supported yet" at `span`; the answer is Poison.
Value not_supported(Instance& in, Span span, std::string_view what);
Value not_allowed(Instance& in, Span span, std::string_view what, std::string_view where, const char* help = nullptr);
// Has the kernel grown beyond what is compiled? Reports that, with what makes kernels grow here.
bool is_too_long(Instance& in, Span span, std::string_view growth);
// `what` must be written in a launch (Level::Block).
bool require_block(Instance& in, Span span, std::string_view what);

}  // namespace tilec::sema
