// Walks the tree: statements from top to bottom, operands from left to right, values as the reference names them.
#pragma once
#include <map>
#include <optional>
#include <set>

#include "judge/judge.h"
#include "judge/value.h"

namespace tilec::judge {

// These end the walk; none of them leaves `run`.
struct Stopped { interp::Fault fault; };
struct Unknown { Unjudged unjudged; };

enum class Flow : uint8_t { Next, Break, Continue, Return };

// Modules by the names of their files; the prelude stands behind all of them.
class Modules {
 public:
  Modules(const Ast& root, SourceMap& sources, const SourceProvider& provider);
  Module* root() { return root_; }
  Module* prelude() { return prelude_; }

 private:
  Module* add(const Ast& ast, std::string name);
  Module* load(std::optional<SourceProvider::Source> source);
  SourceMap& sources_;
  const SourceProvider& provider_;
  std::map<std::string, std::unique_ptr<Module>> modules_;
  std::vector<std::unique_ptr<Ast>> asts_;
  Module *root_ = nullptr, *prelude_ = nullptr;
};

// The names of one call: those of its module stand behind its scopes.
struct Frame {
  Module* module;
  std::vector<Scope> scopes;
  Value result = None{};
  const ast::Type* result_type = nullptr;
  Padding doubt = 0;        // of conditions that decided what is returned
  bool may_have_returned = false;  // as a condition tells that was met
  const ast::Stmt* returned_at = nullptr;
  int loops = 0;            // that are turning in it
  Number decided = {};      // in `parallel`: what they are made of
};

struct Type {
  Scalar scalar = Scalar::F32;
  ast::Space space = ast::Space::None;
  bool is_tile = false;
  Shape shape;
  std::optional<Value> other;  // an enumeration, `type` and the like: the value itself is taken
};

// Arithmetic of padding has no faults.
class Muted {
 public:
  Muted(bool& is_muted, bool is_padding) : is_muted_(is_muted), was_muted_(is_muted) { is_muted |= is_padding; }
  ~Muted() { is_muted_ = was_muted_; }
  Muted(const Muted&) = delete;

 private:
  bool &is_muted_, was_muted_;
};

// What is run here is come to because of padding.
class Within {
 public:
  explicit Within(Told& beyond) : beyond_(beyond), before_(beyond) {}
  Within(Told& beyond, const Told& more) : Within(beyond) { beyond_.add(more); }
  ~Within() { beyond_ = before_; }
  Within(const Within&) = delete;

 private:
  Told &beyond_, before_;
};

// Something is another one, here.
template <class T> class Instead {
 public:
  Instead(T& place, T value) : place_(place), before_(std::exchange(place, value)) {}
  ~Instead() { place_ = before_; }
  Instead(const Instead&) = delete;

 private:
  T &place_, before_;
};

// A condition of `parallel` is around.
class Guarded {
 public:
  Guarded(int& guards, bool is_guard) : guards_(guards), before_(guards) { guards_ += is_guard; }
  ~Guarded() { guards_ = before_; }
  Guarded(const Guarded&) = delete;

 private:
  int &guards_, before_;
};

// Subscripts (parts.cpp).
bool has_new_axis(const ast::Index& index);
ast::Index without_new_axes(const ast::Index& index);
TilePtr with_new_axes(const TilePtr& cut, const ast::Index& index);
bool is_row(const ast::Index& index);  // it takes one place of each axis that it names

class Evaluator {
 public:
  Evaluator(Modules& modules, SourceMap& sources, const Options& options) : modules_(modules), sources_(sources), options_(options) {}
  void run_export(const std::string& name, size_t number, std::span<const interp::Argument> arguments);

 private:
  // ---- names (names.cpp)
  Binding* find(std::string_view name);
  void bind(std::string_view name, Value value);
  Value name_value(const ast::Name& name);
  void ask_cell(const Binding& binding, Span span);
  std::optional<Value> value_in(Module& module, std::string_view name);
  std::vector<std::pair<Module*, const ast::Fn*>> functions_named(std::string_view name, Module& module);
  Type type_of(const ast::Type& type);
  bool is_float_literal(const ast::Expr& expr);
  std::optional<Scalar> scalar_of(const ast::Expr& expr);  // without evaluating anything; none of literals
  std::optional<Shape> shape_of_tile(const ast::Expr& expr);  // without evaluating anything; none of numbers
  std::optional<Shape> shape_of_part(const ast::Index& index);
  std::optional<Shape> shape_of_result(const ast::Call& call);
  std::optional<Scalar> scalar_of_call(const ast::Call& call);
  std::optional<Scalar> scalar_of_value(const Value& value);

  // ---- numbers (numbers.cpp)
  Number convert(const Number& x, Scalar to, Span span);  // where a value flows into a type
  Number cast(const Number& x, Scalar to, ir::ConvertMode mode);
  Number settle(const Number& x, Span span);  // a literal that meets nothing
  Number arithmetic(ast::BinaryOp op, Number a, Number b, Span span);
  Number whole(ast::BinaryOp op, const Number& a, const Number& b, Span span);  // of `int`s, exact
  Number negated(ast::UnaryOp op, const Number& x, Span span);
  Number unary_function(ir::UnaryFn fn, Number x, Span span);
  Number binary_function(ir::BinaryFn fn, Number a, Number b, Span span);
  void unite(Number& a, Number& b, Span span);
  Number from(Scalar type, const std::optional<ir::Number>& n, Padding padding);
  Number assigned(const Number& old, Number next, bool takes_up, Span span);  // what a variable holds behind an assignment
  Number faulty(interp::FaultKind kind, Span span, std::string text, Scalar type);  // under a mask: some number

  // ---- tiles (tiles.cpp)
  using Each = std::function<Number(std::span<const Number>)>;
  Value map(const std::vector<Value>& operands, Scalar type_hint, const Each& each, Span span);
  Value tile_or_number(const Value& value, Span span);  // what a name stands for, read
  TilePtr tile_of(const Value& value, const Shape& shape, Span span);
  Number number_of(const Value& value, Span span);
  Value operand(const ast::Expr& expr) { return tile_or_number(eval(expr), expr.span); }
  Number number(const ast::Expr& expr) { return number_of(eval(expr), expr.span); }
  Number whole(const ast::Expr& expr);
  Wide whole_number(const ast::Expr& expr);
  Number condition(const ast::Expr& expr);
  Value converted(const Value& value, Scalar to, Span span, bool is_cast, ir::ConvertMode mode = ir::ConvertMode::Nearest);
  Value product(const Value& a, const Value& b, const TilePtr& acc, Span span);
  Number int_sum(Wide exact, Padding padding, Span span);
  Value reduce(const std::string& fn, const TilePtr& tile, int64_t axis, Span span);
  Value scan(const std::string& fn, const TilePtr& tile, int64_t axis, Span span);
  Value turned(const Value& value, Span span);
  Value reshaped(const Value& value, const Shape& shape, Span span);

  // ---- memory (memory.cpp)
  Number load(const View& view, int64_t offset, Span span, const Memory::Old* old = nullptr);
  TilePtr read(const Region& region, Span span, const Memory::Old* old = nullptr);
  void write(const Region& region, const Value& value, Span span, bool takes_up = false);
  Region all_of(const View& view);
  Region region_of(const View& view, const ast::Index& index);
  Value part_of(const Value& base, const ast::Index& index, Span span);
  Region within(const Region& region, const ast::Index& index);  // a part of a part
  View element_of(const Region& region, Span span);
  // ---- parts as they stand (parts.cpp)
  std::optional<size_t> axes_of_memory(const ast::Expr& expr);
  bool is_part_as_it_stands(const ast::Expr& expr);
  Region part_as_it_stands(const ast::Expr& expr);
  Region tile_as_it_stands(const ast::Call& call);
  Value taken_out(const ast::Index& index, Span span);
  Number written_pad(const Number& x, Scalar element, Span span);
  View new_memory(const std::string& name, Scalar element, const Shape& shape, Kind kind);
  struct Place {
    Binding* variable = nullptr;
    std::optional<Region> region;
    std::optional<std::pair<View, std::vector<Wide>>> open;  // a tile that takes its shape from the value
  };
  Place place_of(const ast::Expr& expr);
  Value place_value(const Place& place, Span span, const Shape& open_shape = {});
  bool keeps_numbers() const { return thread_ < 0 && !is_lifted_; }
  void hold_number(Number& now, const Number* old, bool takes_up, Span span);
  void assign(Place& place, const Value& value, Span span, bool takes_up = false);  // `takes_up`: it is computed of what stands there
  Region open_region(const View& view, const std::vector<Wide>& index, const Shape& shape);

  // ---- expressions (expr.cpp)
  Value eval(const ast::Expr& expr);
  Value eval_binary(const ast::Binary& binary, Span span);
  Value eval_logic(const ast::Binary& binary, Span span);
  Value eval_if(const ast::IfExpr& choice, Span span);
  Value beside_tile(Value value, const ast::Expr& other);
  Value eval_member(const ast::Member& member, Span span);
  Value eval_index(const ast::Index& index, Span span);
  Value choose(const Value& condition, const Value& a, const Value& b, Span span);
  Number chosen(const Number& test, Number x, Number y, Span span);
  Number beside_elements(Number result, std::span<const Number> elements, Span span);
  Value unary(ast::UnaryOp op, const Value& x, Span span);
  Value binary(ast::BinaryOp op, const Value& a, const Value& b, Span span);
  Value compare_others(ast::BinaryOp op, const Value& a, const Value& b, Span span);
  template <class F> Value masked(const TilePtr& mask, bool wanted, F&& f);

  // ---- calls (call.cpp, library.cpp)
  struct Given {
    const ast::Argument* written = nullptr;  // none: the receiver
    const ast::Expr* expr = nullptr;
    std::optional<Value> value;
    std::optional<Place> place;
  };
  struct Call {
    Module* module;
    const ast::Fn* fn;
    std::vector<Given> arguments;         // as written
    std::vector<int> position;            // of each parameter the argument, or -1
    std::vector<std::pair<std::string_view, Value>> generics;
  };
  Value eval_call(const ast::Call& call, Span span);
  std::vector<const ast::Expr*> places_of(const ast::Call& call);
  const ast::Expr* receiver_of(const ast::Call& call, std::vector<std::pair<Module*, const ast::Fn*>>& functions, std::string_view& name);
  bool suits(const ast::Fn& fn, const ast::Call& call, bool has_receiver);
  Call matched(Module* module, const ast::Fn& fn, const ast::Call& call, const ast::Expr* receiver);
  void evaluate_arguments(Call& call);
  void take_generics(Call& c, const ast::Call& call);
  Value run_function(Call& call, Span span);
  void take_places(Call& call, std::vector<Value>& values, Span span);
  void bind_generics(const Call& call, const std::vector<Value>& values);
  void bind_arguments(const Call& call, const std::vector<Value>& values, Span span);
  Value result_of(const ast::Fn& fn, Span span);
  Value enter(Call& call, const std::vector<Value>& values, Span span);
  void infer(const ast::Fn& fn, const ast::Type& type, const Value& value);
  void infer_shape(const ast::Fn& fn, const ast::ShapedType& shaped, const Shape& shape);
  Value parameter_value(const ast::Parameter& parameter, const Value& value, Span span);
  Value run_operation(const std::string& op, Call& call, Span span);
  std::optional<Value> run_on_tiles(const std::string& op, Call& call, Span span);
  std::optional<Value> run_on_numbers(const std::string& op, Call& call, Span span);
  Value run_atomic(const std::string& op, Call& call, Span span);
  Value tile_at(Call& call, Span span);
  Shape shape_of(const std::vector<ast::Argument>& generics);

  // ---- statements (stmt.cpp, launch.cpp)
  Flow execute(const ast::Block& block);
  Flow execute(const ast::Stmt& stmt);
  struct Leaving;
  template <class F> Flow turning(const ast::Block& body, Span span, bool is_written_out, F&& loop);
  template <class F> Flow leaving_turns(Leaving& leaving, F&& loop);
  void begin_turn(const ast::Block& body);
  void sweep_stamps();
  bool takes_up(const ast::Block& body, std::string_view name);
  void keep_known(const Memory& memory, const Number& x, Span span);
  void doubt(const ast::Stmt& stmt, Padding padding, bool is_kept = false);
  std::vector<std::shared_ptr<Memory>> assigned_memory(const ast::Block& block);
  std::vector<std::shared_ptr<Memory>> assigned_memory(const ast::Stmt* side);
  Flow run_if(const ast::If& choice);
  Number* held_by(const ast::Expr& target, std::optional<View>& element);
  bool is_as_it_stands(const ast::Assign& assign) const;
  std::optional<bool> known_test(const ast::Expr& condition);
  void each_held(const ast::Stmt& stmt, const std::function<void(Number&, const View*)>& f);
  void tell_held(const ast::Stmt& side, const Number& test, Padding others);
  struct Beside {
    bool is_padding = false, is_unsure = false, is_element = false;
    Padding padding = 0, data = 0, placed = 0, waiting = 0;
    Stamps stamps = {}, of_values = {};  // not of what is only assigned to
    void add(const Number& x);
    void add(const Beside& other);
  };
  using Known = std::vector<std::pair<std::string_view, Beside>>;  // what names have to do with that a side assigns to
  bool may_act(const ast::Expr* expr) const;
  void refuse_assignments(const ast::Expr& side, Span span);
  bool is_padded(std::string_view name);
  Beside beside(const ast::Expr* expr, const Known& known = {});
  Beside made_by(const ast::Stmt& stmt, Known& known);
  Number chosen(const Number& test, Number number, const ast::Expr& other, bool is_first, Span span);
  // What conditions have told that end turns of a loop of `parallel`.
  struct Leaving {
    Padding met = 0;
    Number told = {};
  };
  void end_turns(const ast::Block& body, Padding met, const Number& told, Span span);
  void leave_turn(const ast::If& choice, const Number& test, const Number& own);
  void stamp_numbers(const ast::Stmt& stmt, const Number* test = nullptr);
  void stamp_numbers(const ast::Block& block, const Number* test = nullptr);
  Told told_by(const Number& test) const;
  // What iterations beyond an edge do to memory (effects.cpp): nothing.
  bool is_in_place(const View& element) const;
  bool is_left_alone(const Region& region, Span span);
  static bool is_nowhere(const Region& region) { return region.by.left_out() && !region.is_inside(); }
  bool acts_on_memory(const ast::If& choice, bool takes_first);
  Told told_under(const ast::If& choice, const Number& test, Padding others);
  Padding left_out(const Told& told, Span span);
  Padding left_out(const Place& place, std::span<const Value> operands, Span span);
  static Scalar element_type(const Place& place);
  static Number nowhere(Scalar type, Padding padding);
  // As it is when `parallel` begins.
  // What stands in a place that a branch assigns to, and what the side that is not run would make of it.
  struct Left {
    Number* place;
    Number before;
    Padding data, placed, waiting;
    Stamps stamps;
    bool is_element, is_taken = false, is_other = false, brings = false;
    bool is_taken_replaced = false, is_other_replaced = false;  // by a statement of that side itself
  };
  static bool counts_beside(const ast::Stmt& stmt, const Left& left, const Beside& made, const View* element);
  void stand_beside(const ast::Stmt& stmt, const std::vector<Left>& left, Known& known);
  std::vector<Left> left_by(const ast::If& choice, bool takes_first);
  Padding told_by_others(const Number& test, const std::vector<Left>& left, bool returns);
  static void join_left(const Left& left, const Number& test);
  void unsay_masked(const std::vector<Left>& left, const Number& test, Padding others);
  void note_test(const ast::If& choice, const Number& test, Padding others);
  void decide(const ast::If& choice, const Number& test, const Number& own, const std::vector<Left>& left);
  void set_beside(Number& now, const Number* before) const;
  void end_parallel(const ast::Block& body);
  static void lose_reading(Number& x);
  static void lose_readings(Memory& memory);
  bool is_of_all(const ast::Expr& expr) const;
  std::optional<size_t> parallel_index(const ast::Expr& subscript) const;
  Number element_at(const Number& x, const Places& indices, size_t rank, Kind kind) const;
  Number put_at(const Number& x, const View& element) const;
  std::vector<std::string_view> assigned_in(const ast::Block& block);
  void open_rest(const ast::Block& block, size_t first);
  Flow run_while(const ast::While& loop, Span span);
  void end_by_padding(const ast::While& loop, const Number& test);
  Flow run_for(const ast::For& loop);
  std::vector<Value> named_parts(const ast::Pattern& pattern, const Value& item, Span span);
  Flow run_each(const ast::For& loop);
  Flow run_turn(const ast::For& loop, const std::vector<Value>& indices);
  Flow run_range(const ast::For& loop);
  Flow run_parallel(const ast::For& loop);
  void run_assign(const ast::Assign& assign, Span span);
  void declare(const ast::Name& name, const ast::Type* type, const ast::Expr* value, bool is_var, Span span);
  void declare_each(const ast::Pattern& pattern, const Value& all, Span span);
  static Value named(Value value);
  void hold(const ast::Name& name, const std::optional<Type>& type, Value held, bool is_var, Span span);
  void declare_tile(const ast::Name& name, const Type& type, const ast::Expr* value, Span span);
  void launch(const ast::Launch& launch, Span span);
  void simt(const ast::Simt& simt, Span span);
  void bind_parameters(const ast::Kernel& kernel, std::span<const interp::Argument> arguments);
  void check_contract(const ast::Kernel& kernel);
  void step(Span span);

  [[noreturn]] void stop(interp::FaultKind kind, Span span, std::string text);
  [[noreturn]] void unknown(Span span, std::string what);

  Modules& modules_;
  SourceMap& sources_;
  const Options& options_;
  Frame* frame_ = nullptr;
  uint64_t steps_ = 0;
  uint64_t changes_ = 0, changes_of_memory_ = 0;  // of variables and memory; of memory alone
  int depth_ = 0;
  bool is_parallel_ = false;
  bool is_walking_ = false;  // in a loop of an iteration
  int guards_ = 0;          // conditions around, within `parallel`
  Told beyond_;             // what has told that this place was come to: conditions, ends of loops, early returns
  bool is_lifted_ = false;  // a function of elements, called with tiles
  Padding kept_out_ = 0;    // what conditions around that are padding lie beyond, of a block or within `parallel`
  std::vector<std::string_view> indices_;  // of `parallel`
  size_t around_parallel_ = 0;             // scopes that stand around it
  size_t parallel_rank_ = 0;
  bool is_in_launch_ = false;
  bool is_muted_ = false;   // an element that nobody chooses: its arithmetic has no faults
  std::vector<std::pair<TilePtr, bool>> masks_;
  uint64_t turns_ = 0;  // of all loops
  Leaving* leaving_ = nullptr;  // of the loop around
  std::vector<std::pair<std::shared_ptr<Memory>, bool>> turned_;  // what the loop around this place assigns to; of what it holds?
  const ast::Launch* launch_ = nullptr;
  int64_t threads_ = 0, thread_ = -1;
};

}  // namespace tilec::judge
