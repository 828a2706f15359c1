// Loops: what they carry, and what they or branches that were not run may have changed.
#include "judge/evaluator.h"
#include "judge/walk.h"

namespace tilec::judge {

Flow Evaluator::run_turn(const ast::For& loop, const std::vector<Value>& indices) {
  step(loop.domain_span);
  if (loop.kind == ast::LoopKind::Each) sweep_stamps();
  else if (loop.kind != ast::LoopKind::Parallel) begin_turn(loop.body);
  ++turns_;
  frame_->scopes.emplace_back();
  for (size_t i = 0; i < loop.pattern.names.size() && i < indices.size(); ++i) bind(loop.pattern.names[i].text, indices[i]);
  Flow flow = execute(loop.body);
  frame_->scopes.pop_back();
  return flow;
}

Flow Evaluator::run_range(const ast::For& loop) {
  std::vector<Wide> ends;
  Padding met = 0;
  Told told;
  Number all;
  for (const ast::Argument& a : loop.arguments) {
    if (a.is_named()) {
      if (a.name.text != "stages") eval(*a.value);
      continue;
    }
    const Number end = whole(*a.value);
    ends.push_back(end.i), met |= end.beyond(), told.add(told_by(end)), decided_by(all, end), all.is_element |= end.is_element;
  }
  if (ends.empty() || ends.size() > 3) unknown(loop.domain_span, "these ends of a loop");
  Wide from = ends.size() == 1 ? 0 : ends[0], to = ends.size() == 1 ? ends[0] : ends[1], by = ends.size() == 3 ? ends[2] : 1;
  if (by <= 0) stop(interp::FaultKind::Loop, loop.domain_span, "the step of a loop is not positive");
  const Within within(beyond_, told);
  for (Wide i = from; i < to; i += by) {
    Flow flow = run_turn(loop, {integer_of(i)});
    if (flow == Flow::Break) break;
    if (flow == Flow::Return) return flow;
  }
  end_turns(loop.body, met, all, loop.domain_span);
  return Flow::Next;
}

Flow Evaluator::run_parallel(const ast::For& loop) {
  Shape shape;
  for (const ast::Argument& a : loop.arguments)
    if (!a.is_named()) shape.push_back(int64_t(whole_number(*a.value)));
  parallel_rank_ = shape.size(), around_parallel_ = frame_->scopes.size(), indices_.clear();
  for (const ast::Name& name : loop.pattern.names) indices_.push_back(name.text);
  for (int64_t k = 0, n = count_of(shape); k < n; ++k) {
    std::vector<Value> indices(shape.size());
    int64_t rest = k;
    for (size_t d = shape.size(); d-- > 0;) {
      Number index = integer_of(rest % shape[d]);
      index.placed = Padding(1 << d), index.spread = kAllAxes & ~index.placed;
      indices[d] = index;
      rest /= shape[d];
    }
    Flow flow = run_turn(loop, indices);
    if (flow == Flow::Break) break;
    if (flow == Flow::Return) return flow;
  }
  return Flow::Next;
}

// The names of what a block assigns to, by calls too.
std::vector<std::string_view> Evaluator::assigned_in(const ast::Block& block) {
  std::vector<std::string_view> names;
  for (const ast::Stmt* stmt : block.statements) {
    each_statement(*stmt, [&](const ast::Stmt& s) {
      if (auto* assign = s.as<ast::Assign>(); assign && !is_as_it_stands(*assign)) names.push_back(root_of(assign->target));
      each_call(s, [&](const ast::Call& call) {
        for (const ast::Expr* place : places_of(call)) names.push_back(root_of(place));
      });
    });
  }
  return names;
}

// What is left of a block behind a `continue`, a `break` or a `return` is not run.
void Evaluator::open_rest(const ast::Block& block, size_t first) {
  if (first >= block.statements.size() || is_parallel_ || thread_ >= 0) return;
  ast::Block rest = block;
  rest.statements.erase(rest.statements.begin(), rest.statements.begin() + ptrdiff_t(first));
  for (const auto& memory : assigned_memory(rest)) memory->stamp_anew(true);
}

void Evaluator::begin_turn(const ast::Block& body) {
  stamp_numbers(body);
  for (const auto& [memory, takes_up] : turned_) memory->begin_turn(takes_up);
  sweep_stamps();
}

// Is anything assigned to the name that is computed of what it holds?
bool Evaluator::takes_up(const ast::Block& body, std::string_view name) {
  bool found = false;
  auto look = [&](const ast::Stmt& s) {
    auto* assign = s.as<ast::Assign>();
    if (assign && root_of(assign->target) == name) found |= assign->op.has_value() || mentions(assign->value, name);
    if (s.as<ast::If>()) each_target(s, [&](const ast::Expr& target) { found |= root_of(&target) == name && target.as<ast::Index>(); });
    each_call(s, [&](const ast::Call& call) {
      for (const ast::Expr* place : places_of(call)) found |= root_of(place) == name;
    });
  };
  for (const ast::Stmt* s : body.statements) each_statement(*s, look);
  return found;
}

// A turn that goes on because of padding makes no report, which would be of nothing.
template <class F>
Flow Evaluator::leaving_turns(Leaving& leaving, F&& loop) {
  const Instead<Leaving*> inside(leaving_, &leaving);
  try {
    return loop();
  } catch (const Stopped& stopped) {
    if (leaving.met) unknown(stopped.fault.span, "a fault of a turn that padding has not ended");
    throw;
  }
}

// Runs a loop that assigns to the fragments of which its body assigns to the names.
template <class F>
Flow Evaluator::turning(const ast::Block& body, Span span, bool is_written_out, F&& loop) {
  std::vector<std::pair<std::shared_ptr<Memory>, bool>> outer = is_written_out ? turned_ : std::exchange(turned_, {});
  for (std::string_view name : is_written_out ? std::vector<std::string_view>() : assigned_in(body)) {
    Binding* binding = find(name);
    auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
    if (is_parallel_ || !view || view->kind != Kind::Fragment || std::ranges::find(turned_, view->memory, &decltype(turned_)::value_type::first) != turned_.end()) continue;
    turned_.emplace_back(view->memory, takes_up(body, name));
    lose_readings(*view->memory);  // as later turns may find it otherwise
  }
  const uint64_t turns = turns_;
  Leaving leaving;
  frame_->loops += 1;
  Flow flow = leaving_turns(leaving, loop);
  frame_->loops -= 1;
  if (is_parallel_) end_turns(body, leaving.met, leaving.told, span);
  if (is_written_out) return flow;
  stamp_numbers(body);
  // A loop may have had no turn: what it leaves is no longer what was read.
  for (const auto& [memory, takes_up] : turned_) memory->stamp_anew(turns_ == turns), lose_readings(*memory);
  turned_ = std::move(outer);
  return flow;
}

// An iteration beyond an edge does not go on as padding says. How many turns it makes is not said, nor what it leaves then.
void Evaluator::end_by_padding(const ast::While& loop, const Number& test) {
  for (std::string_view name : assigned_in(loop.body)) {
    Binding* binding = find(name);
    auto* number = binding ? std::get_if<Number>(&binding->value) : nullptr;
    if (binding && !number) unknown(loop.condition->span, "what a loop leaves that padding ends");
    if (number && binding->is_set) number->padding |= test.beyond() | kAnything;
  }
}

// A turn that leaves everything as it was is followed by one like it, for ever: blocks do not wait for each other.
Flow Evaluator::run_while(const ast::While& loop, Span span) {
  constexpr uint64_t kMostTurns = 1 << 20;
  const uint64_t memory = changes_of_memory_;
  Padding met = 0;
  Number told;
  const Within within(beyond_);
  const Instead<bool> walking(is_walking_, is_walking_ || is_parallel_);
  const Flow end = turning(loop.body, loop.condition->span, false, [&] {
    for (uint64_t turn = 1;; ++turn) {
      uint64_t before = changes_;
      begin_turn(loop.body);
      const Number test = condition(*loop.condition);
      met |= test.beyond(), decided_by(told, test), told.is_element |= test.is_element;
      if (!test.truth()) return Flow::Next;
      if (is_parallel_ && test.is_padding()) return end_by_padding(loop, test), Flow::Next;
      beyond_.add(told_by(test));
      step(span);
      ++turns_;
      Flow flow = execute(loop.body);
      if (flow == Flow::Break) return Flow::Next;
      if (flow == Flow::Return) return flow;
      bool is_quiet = changes_of_memory_ == memory;
      if (changes_ != before && (!is_quiet || turn < kMostTurns)) continue;
      if (changes_ != before || thread_ >= 0) unknown(loop.condition->span, "a loop that turns and turns, and changes no memory");
      stop(interp::FaultKind::Deadlock, loop.condition->span, "waits here for ever: a turn of the loop changes nothing, and blocks do not wait for each other");
    }
  });
  end_turns(loop.body, met, told, loop.condition->span);
  return end;
}

Flow Evaluator::run_for(const ast::For& loop) {
  if (loop.kind == ast::LoopKind::Parallel) {
    const Padding around = std::exchange(kept_out_, Padding(0));
    const Within within(beyond_);
    const Instead<Leaving*> alone(leaving_, nullptr);
    beyond_ = {};
    is_parallel_ = true;
    Flow flow = run_parallel(loop);
    end_parallel(loop.body);
    is_parallel_ = false, parallel_rank_ = 0, kept_out_ = around;
    return flow;
  }
  const Instead<bool> walking(is_walking_, is_walking_ || (is_parallel_ && loop.kind != ast::LoopKind::Each));
  return turning(loop.body, loop.domain_span, loop.kind == ast::LoopKind::Each, [&] { return loop.kind == ast::LoopKind::Each ? run_each(loop) : run_range(loop); });
}

// What the names of a loop over a list stand for in a turn: of a tuple each has its part.
std::vector<Value> Evaluator::named_parts(const ast::Pattern& pattern, const Value& item, Span span) {
  if (!pattern.is_tuple) return {item};
  auto* parts = std::get_if<std::shared_ptr<List>>(&item);
  if (!parts || (*parts)->items.size() != pattern.names.size()) unknown(span, "names for parts of this");
  return (*parts)->items;
}

Flow Evaluator::run_each(const ast::For& loop) {
  Value value = eval(*loop.arguments.at(0).value);
  auto* list = std::get_if<std::shared_ptr<List>>(&value);
  if (!list) unknown(loop.domain_span, "a loop over this");
  const Within within(beyond_);
  // What holds numbers has a name; no program can say this one.
  frame_->scopes.emplace_back();
  bind("for", value);
  Flow flow = Flow::Next;
  for (size_t i = 0; i < (*list)->items.size() && flow != Flow::Break && flow != Flow::Return; ++i)
    flow = run_turn(loop, named_parts(loop.pattern, (*list)->items[i], loop.domain_span));
  frame_->scopes.pop_back();
  return flow == Flow::Return ? flow : Flow::Next;
}

}  // namespace tilec::judge
