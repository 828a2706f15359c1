// Sequential loops: variables that the body sets are carried.
#include "sema/carried.h"
#include "sema/exits.h"
#include "sema/names.h"
#include "sema/scalar.h"
#include "sema/stmt.h"
#include "sema/while.h"

namespace tilec::sema {
namespace {

struct Header {
  ast::Pattern pattern;
  Operand low, high, step;
  ir::LoopKind kind = ir::LoopKind::Sequential;
  int64_t stages = 0;
};

// The ends and the step as the loop takes them.
struct Range {
  ir::ValueId low, high, step;
};

const ast::Argument* named(const ast::For& node, std::string_view name) {
  for (const ast::Argument& a : node.arguments)
    if (a.name.text == name) return &a;
  return nullptr;
}

bool read_stages(Instance& in, const ast::For& node, Header& header) {
  const ast::Argument* stages = named(node, "stages");
  if (!stages) return true;
  auto* word = stages->value->as<ast::NameRef>();
  if (word && word->name.text == "auto") return true;
  auto n = known_int(in, operand(in, *stages->value), "the number of stages");
  if (!n) return false;
  if (*n < 1) return in.at(stages->value->span).error(diag::BadExtent, *n), false;
  header.stages = *n;
  return true;
}

bool check_arguments(Instance& in, const ast::For& node, std::vector<const ast::Argument*>& positional) {
  bool is_pipelined = node.kind == ast::LoopKind::Pipelined;
  for (const ast::Argument& a : node.arguments) {
    if (!a.is_named()) positional.push_back(&a);
    else if (!is_pipelined || a.name.text != "stages") {
      std::vector<std::string_view> names;
      if (is_pipelined) names.push_back("stages");
      auto report = in.at(a.name.span).error(diag::UnknownParameter, spelling(node.kind), a.name.text);
      return suggest_parameter(report, a.name, names), false;
    }
  }
  size_t most = node.kind == ast::LoopKind::Range ? 3 : node.kind == ast::LoopKind::Interval ? 2 : 1;
  size_t least = node.kind == ast::LoopKind::Interval ? 2 : 1;
  if (positional.size() >= least && positional.size() <= most) return true;
  in.at(node.domain_span).error(diag::ArgumentCount, spelling(node.kind), int64_t(most), int64_t(positional.size()));
  return false;
}

std::optional<Header> read_header(Instance& in, const ast::For& node) {
  std::vector<const ast::Argument*> positional;
  if (!check_arguments(in, node, positional)) return std::nullopt;
  Operand zero{int_const(0), node.domain_span}, one{int_const(1), node.domain_span};
  Header header{.pattern = node.pattern, .low = zero, .high = zero, .step = one};
  std::vector<Operand> values;
  for (const ast::Argument* a : positional) {
    Operand x = operand(in, *a->value);
    if (x.value.is_element()) x.value = number(in, x);
    values.push_back(std::move(x));
  }
  if (values.size() == 1) header.high = values[0];
  if (values.size() >= 2) header.low = values[0], header.high = values[1];
  if (values.size() == 3) header.step = values[2];
  if (node.kind == ast::LoopKind::Pipelined) header.kind = ir::LoopKind::Pipelined;
  if (node.kind == ast::LoopKind::Unroll) header.kind = ir::LoopKind::Unroll;
  if (node.kind == ast::LoopKind::Vectorized) header.kind = ir::LoopKind::Vectorized;
  if (!read_stages(in, node, header)) return std::nullopt;
  if (auto* step = header.step.value.as<Const>(); step && is_integer(step->type) && step->number.i <= 0) {
    auto report = in.at(header.step.span).error(diag::BadExtent, step->number.i);
    if (step->number.i < 0) report.help("a loop counts up: `for k in 0..10 { ... 10 - k ... }` goes from 10 down to 1");
    return std::nullopt;
  }
  return header;
}

bool runs_at_least_once(const ir::Kernel& kernel, ir::ValueId low, ir::ValueId high) {
  auto a = kernel.constant(low), b = kernel.constant(high);
  return a && b && a->i < b->i;
}

// A variable without a value before the loop has one after it when every run of the loop gives it one: its first value is a zero
// that nobody sees.
void carry_late(Instance& in, std::vector<Carried>& all, const std::vector<ir::ValueId>& before, ir::RegionId region) {
  for (uint32_t i = 0; i < before.size(); ++i) {
    Variable& v = in.variables[i];
    if (before[i].valid() || !v.current.valid() || v.depth != in.depth) continue;
    const ir::ValueId first = zero(in, v.type);
    all.push_back({{i}, first, in.kernel.new_arg(region, v.type, v.name), v.current});
  }
}

void run_body(Instance& in, const ast::Block& body, Exits exits, const Loop& loop) {
  in.loops.push_back(loop);
  if (needs_flag(body.statements, &Exits::continues)) in.loops.back().in_turn = new_flag(in, "in_turn");
  Exits at_start{.breaks = exits.breaks, .continues = false, .returns = exits.returns};
  ir::ValueId here = still_here(in, at_start);
  if (here.valid())
    branch(in, here, [&] { run_scoped(in, body); }, [] {});
  else
    run_scoped(in, body);
  in.loops.pop_back();
}

void emit_for(Instance& in, const ast::Stmt& stmt, const ast::For& node, const Header& header, const Range& range) {
  const auto [low, high, step] = range;
  Exits exits = exits_of(node.body.statements);
  if (header.kind == ir::LoopKind::Sequential && (exits.breaks || exits.returns))
    return run_counted(in, node.body, {low, high, step, header.pattern.names[0]}, stmt.span);
  ScopeGuard outer(in);
  Loop loop;
  if (exits.breaks) loop.goes_on = new_flag(in, "goes_on");
  auto before = in.snapshot();
  ir::RegionId region = in.kernel.new_region();
  ir::ValueId index = in.kernel.new_arg(region, ir::scalar_type(Scalar::Index),
                                        std::string(header.pattern.names[0].text));
  note_near(in, index, low, high);
  auto all = carry(in, region);
  bool was_dead = in.is_dead;
  {
    RegionGuard inside(in, region);
    Restore<int> depth(in.control_depth, in.control_depth + 1);
    ScopeGuard scope(in);
    in.declare(header.pattern.names[0], Dynamic{index}, "a loop index");
    run_body(in, node.body, exits, loop);
  }
  in.is_dead = was_dead;
  read_last(in, all);
  drop_unchanged(in, all, region, args_of(all));
  std::vector<Carried> unchanged = all;
  std::erase_if(all, [](const Carried& c) { return !c.changes(); });
  if (runs_at_least_once(in.kernel, low, high) && !exits.any()) carry_late(in, all, before, region);
  in.restore(before);
  std::vector<ir::ValueId> inits, yields;
  std::vector<ir::Type> types;
  for (const Carried& c : all) {
    inits.push_back(c.init);
    yields.push_back(settled(unchanged, c.last));
    types.push_back(in.variable(c.variable).type);
  }
  {
    RegionGuard inside(in, region);
    in.builder.yield(std::move(yields));
  }
  in.builder.set_span(stmt.span);
  ir::OpId id = in.builder.add(op::For{.low = low, .high = high, .step = step, .inits = std::move(inits),
      .loop = header.kind,
                                       .stages = header.stages, .label = std::string(stmt.label.text), .body = region},
                               types);
  for (size_t i = 0; i < all.size(); ++i) in.set(all[i].variable, in.kernel.op(id).results[i]);
}

void bind_pattern(Instance& in, const ast::Pattern& pattern, const Value& value) {
  if (!pattern.is_tuple) {
    if (!pattern.names.empty()) in.declare(pattern.names[0], value, "a loop index");
    return;
  }
  auto* tuple = value.as<Tuple>();
  if (!tuple || tuple->elements.size() != pattern.names.size()) {
    in.at(pattern.span).error(diag::ArgumentCount, "the pattern", int64_t(pattern.names.size()),
                              int64_t(tuple ? tuple->elements.size() : 1));
    return;
  }
  for (size_t i = 0; i < pattern.names.size(); ++i) in.declare(pattern.names[i], tuple->elements[i], "a loop index");
}

// What has no value on a way out of a loop that is written out has none behind it; merging took a zero for it.
void unset(Instance& in, const std::set<uint32_t>& variables) {
  for (uint32_t i : variables)
    if (i < in.variables.size()) in.variables[i].current = {};
}

// Behind the turns of a loop that is written out.
void leave_turns(Instance& in) {
  unset(in, in.loops.back().unset_at_break);
  in.loops.pop_back();
}

// A turn of a loop over a list. False: no further one follows, as this one has left the loop for certain.
bool run_turn(Instance& in, const ast::For& node, const Value& element) {
  const Exits exits = exits_of(node.body.statements);
  in.loops.back().unset_at_continue.clear();
  auto turn = [&] {
    ScopeGuard scope(in);
    bind_pattern(in, node.pattern, element);
    in.loops.back().in_turn = {};
    if (needs_flag(node.body.statements, &Exits::continues)) in.loops.back().in_turn = new_flag(in, "in_turn");
    run_scoped(in, node.body);
  };
  const ir::ValueId here = still_here(in, {.breaks = exits.breaks, .continues = false, .returns = exits.returns});
  const auto known = here.valid() ? in.kernel.constant(here) : std::nullopt;
  if (known && !known->i) return false;
  if (!here.valid() || known) turn();
  else branch(in, here, turn, [&] { in.is_dead = true; });
  unset(in, in.loops.back().unset_at_continue);
  const bool goes_on = !in.is_dead || exits.continues || exits.breaks;
  if (goes_on) in.is_dead = false;
  return goes_on;
}

// The loop that `break` and `continue` speak of while its turns are written out one after the other.
Loop written_out(Instance& in, const ast::For& node) {
  Loop loop;
  if (exits_of(node.body.statements).breaks) loop.goes_on = new_flag(in, "goes_on");
  return loop;
}

// `for x in [a, b]`: the body once for each, at compile time.
void run_each(Instance& in, const ast::For& node) {
  if (node.arguments.empty()) return;
  Operand list = operand(in, *node.arguments[0].value);
  if (list.value.is_poison()) return;
  auto* tuple = list.value.as<Tuple>();
  if (!tuple) {
    in.at(list.span).error(diag::TypeMismatch, "a range or a list", describe(in.kernel, list.value))
        .help("write a range: `0..n`, `range(lo, hi, step)`, `parallel(M, N)`");
    return;
  }
  ScopeGuard outer(in);
  in.loops.push_back(written_out(in, node));
  for (const Value& element : tuple->elements) {
    ++in.rounds;
    if (is_too_long(in, list.span, "the body of a loop over a list is written out for each of its elements")) break;
    if (!run_turn(in, node, element)) break;
  }
  leave_turns(in);
}

bool holds_launch(std::span<const ast::Stmt* const> statements);

struct HoldsLaunch {
  bool operator()(const ast::Launch&) const { return true; }
  bool operator()(const ast::Block& b) const { return holds_launch(b.statements); }
  bool operator()(const ast::If& n) const {
    return holds_launch(n.then_block.statements) || (n.else_branch && std::visit(*this, n.else_branch->node));
  }
  bool operator()(const ast::For& n) const { return holds_launch(n.body.statements); }
  bool operator()(const ast::While& n) const { return holds_launch(n.body.statements); }
  template <class T> bool operator()(const T&) const { return false; }
};

bool holds_launch(std::span<const ast::Stmt* const> statements) {
  return std::ranges::any_of(statements, [](const ast::Stmt* s) { return std::visit(HoldsLaunch{}, s->node); });
}

// A range around launches: a kernel's launches are a list, so that the body is written out for each turn. False: it is not known how many
// there are, and the loop runs as one.
bool run_each_turn(Instance& in, const ast::For& node, const Range& range) {
  if (in.level != Level::Host || in.control_depth > 0 || !holds_launch(node.body.statements)) return false;
  const auto low = in.kernel.constant(range.low), high = in.kernel.constant(range.high), step = in.kernel.constant(range.step);
  if (!low || !high || !step) return false;
  ScopeGuard outer(in);
  in.loops.push_back(written_out(in, node));
  for (int64_t index = low->i, next = 0; index < high->i; index = next) {
    ++in.rounds;
    if (is_too_long(in, node.domain_span, "the body of a loop around a launch is written out for each of its turns")) break;
    if (!run_turn(in, node, int_const(index))) break;
    if (__builtin_add_overflow(index, step->i, &next)) break;
  }
  leave_turns(in);
  return true;
}

}  // namespace

void run_for(Instance& in, const ast::Stmt& stmt, const ast::For& node) {
  if (node.kind == ast::LoopKind::Parallel) return run_parallel(in, stmt, node);
  if (node.kind == ast::LoopKind::Each) return run_each(in, node);
  auto header = read_header(in, node);
  if (!header) return;
  if (node.pattern.is_tuple || node.pattern.names.size() != 1) {
    in.at(node.pattern.span).error(diag::ArgumentCount, "this loop", 1, int64_t(node.pattern.names.size()));
    return;
  }
  const Range range{index_value(in, header->low), index_value(in, header->high), index_value(in, header->step)};
  if (!range.low.valid() || !range.high.valid() || !range.step.valid()) return;
  if (!run_each_turn(in, node, range)) emit_for(in, stmt, node, *header, range);
}

}  // namespace tilec::sema
