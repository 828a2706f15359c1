// Statements, from top to bottom.
#include "judge/evaluator.h"
#include "judge/walk.h"

namespace tilec::judge {

void Evaluator::step(Span span) {
  if (++steps_ > options_.step_limit) stop(interp::FaultKind::StepLimit, span, "the program takes more steps than it may");
}

Flow Evaluator::execute(const ast::Block& block) {
  frame_->scopes.emplace_back();
  Flow flow = Flow::Next;
  for (const ast::Stmt* stmt : block.statements)
    if ((flow = execute(*stmt)) != Flow::Next) break;
  frame_->scopes.pop_back();
  return flow;
}

Flow Evaluator::execute(const ast::Stmt& stmt) {
  step(stmt.span);
  if (auto* block = stmt.as<ast::Block>()) return execute(*block);
  if (auto* let = stmt.as<ast::Let>()) {
    if (let->pattern.is_tuple) declare_each(let->pattern, eval(*let->value), stmt.span);
    else declare(let->pattern.names[0], let->type, let->value, false, stmt.span);
  } else if (auto* var = stmt.as<ast::Var>()) {
    declare(var->name, var->type, var->value, true, stmt.span);
  } else if (auto* assign = stmt.as<ast::Assign>()) {
    run_assign(*assign, stmt.span);
  } else if (auto* expr = stmt.as<ast::ExprStmt>()) {
    eval(*expr->value);
  } else if (auto* choice = stmt.as<ast::If>()) {
    return run_if(*choice);
  } else if (auto* loop = stmt.as<ast::For>()) {
    return run_for(*loop);
  } else if (auto* loop = stmt.as<ast::While>()) {
    return run_while(*loop, stmt.span);
  } else if (stmt.as<ast::Break>()) {
    return Flow::Break;
  } else if (stmt.as<ast::Continue>()) {
    return Flow::Continue;
  } else if (auto* back = stmt.as<ast::Return>()) {
    if (!back->value) return Flow::Return;
    Value value = operand(*back->value);
    if (frame_->result_type) {
      Type type = type_of(*frame_->result_type);
      if (!type.other && type.is_tile) value = tile_of(value, type.shape, stmt.span);
      if (!type.other) value = converted(value, type.scalar, stmt.span, false);
    }
    frame_->result = value;
    return Flow::Return;
  } else if (auto* launched = stmt.as<ast::Launch>()) {
    launch(*launched, stmt.span);
  } else if (auto* threads = stmt.as<ast::Simt>()) {
    simt(*threads, stmt.span);
  } else if (!stmt.as<ast::StaticAssert>()) {
    unknown(stmt.span, stmt.as<ast::Sync>() ? "`sync` in a loop, a condition or a call" : "this statement");
  }
  return Flow::Next;
}

void Evaluator::declare_tile(const ast::Name& name, const Type& type, const ast::Expr* value, Span span) {
  constexpr std::pair<ast::Space, Kind> kKinds[] = {
      {ast::Space::Fragment, Kind::Fragment}, {ast::Space::Shared, Kind::Shared}, {ast::Space::Local, Kind::Local}, {ast::Space::Workspace, Kind::Workspace}};
  Kind kind = Kind::Fragment;
  for (auto& [space, k] : kKinds)
    if (space == type.space) kind = k;
  constexpr double kMostElements = 1 << 26;
  double elements = 1;
  for (int64_t extent : type.shape) {
    if (extent < 0) stop(interp::FaultKind::Contract, name.span, "an extent of `" + std::string(name.text) + "` is " + std::to_string(extent));
    elements *= double(extent);
  }
  if (elements > kMostElements) unknown(name.span, "an array of so many elements");
  Value given = value ? operand(*value) : Value(None{});
  View view = new_memory(std::string(name.text), type.scalar, type.shape, kind);
  if (value) write(all_of(view), given, span);
  bind(name.text, view);
}

void Evaluator::declare(const ast::Name& name, const ast::Type* written, const ast::Expr* value, bool is_var, Span span) {
  std::optional<Type> type = written ? std::optional(type_of(*written)) : std::nullopt;
  if (type && type->is_tile) return declare_tile(name, *type, value, span);
  if (type && type->other) type.reset();
  if (!value) {
    Number blank;
    blank.type = type ? type->scalar : Scalar::Index;
    bind(name.text, blank);
    if (Binding* binding = find(name.text)) binding->is_set = false;
    return;
  }
  hold(name, type, eval(*value), is_var, span);
}

void Evaluator::declare_each(const ast::Pattern& pattern, const Value& all, Span span) {
  auto* list = std::get_if<std::shared_ptr<List>>(&all);
  if (!list || (*list)->items.size() != pattern.names.size()) unknown(span, "names for parts of this");
  for (size_t i = 0; i < pattern.names.size(); ++i) hold(pattern.names[i], {}, (*list)->items[i], false, span);
}

void Evaluator::hold(const ast::Name& name, const std::optional<Type>& type, Value held, bool is_var, Span span) {
  auto* view = std::get_if<View>(&held);
  bool is_name = view && !view->axes.empty() && view->kind != Kind::Fragment && view->kind != Kind::Shared && !is_var;
  if (!is_name) held = tile_or_number(held, span);
  if (auto* number = std::get_if<Number>(&held)) return bind(name.text, type ? convert(*number, type->scalar, span) : settle(*number));
  if (std::holds_alternative<Pending>(held)) unknown(span, "a tile whose shape nothing gives");
  auto* tile = std::get_if<TilePtr>(&held);
  if (!tile || !is_var) return bind(name.text, held);
  View own = new_memory(std::string(name.text), (*tile)->type, (*tile)->shape, Kind::Fragment);
  write(all_of(own), *tile, span);
  bind(name.text, own);
}

void Evaluator::run_assign(const ast::Assign& assign_stmt, Span span) {
  if (auto* name = assign_stmt.target->as<ast::NameRef>(); name && name->name.text == "_" && !find("_")) {
    eval(*assign_stmt.value);
    return;
  }
  Place place = place_of(*assign_stmt.target);
  if (!assign_stmt.op) {
    Value value = operand(*assign_stmt.value);
    return assign(place, value, span);
  }
  if (place.open) {
    Value value = operand(*assign_stmt.value);
    auto* tile = std::get_if<TilePtr>(&value);
    if (!tile) unknown(span, "a tile whose shape neither side gives");
    return assign(place, binary(*assign_stmt.op, place_value(place, span, (*tile)->shape), value, span), span);
  }
  Value before = place_value(place, assign_stmt.target->span);
  auto* product_of = assign_stmt.value->as<ast::Binary>();
  bool is_product = product_of && product_of->op == ast::BinaryOp::MatrixMultiply && *assign_stmt.op == ast::BinaryOp::Add;
  if (is_product && std::holds_alternative<TilePtr>(before)) {
    Value left = operand(*product_of->lhs), right = operand(*product_of->rhs);
    return assign(place, product(left, right, std::get<TilePtr>(before), span), span);
  }
  Value value = operand(*assign_stmt.value);
  assign(place, binary(*assign_stmt.op, before, value, span), span);
}

Flow Evaluator::run_turn(const ast::For& loop, const std::vector<Value>& indices) {
  step(loop.domain_span);
  ++turns_;
  frame_->scopes.emplace_back();
  for (size_t i = 0; i < loop.pattern.names.size() && i < indices.size(); ++i) bind(loop.pattern.names[i].text, indices[i]);
  Flow flow = execute(loop.body);
  frame_->scopes.pop_back();
  return flow;
}

Flow Evaluator::run_range(const ast::For& loop) {
  std::vector<Wide> ends;
  for (const ast::Argument& a : loop.arguments) {
    if (!a.is_named()) ends.push_back(whole_number(*a.value));
    else if (a.name.text != "stages") eval(*a.value);
  }
  if (ends.empty() || ends.size() > 3) unknown(loop.domain_span, "these ends of a loop");
  Wide from = ends.size() == 1 ? 0 : ends[0], to = ends.size() == 1 ? ends[0] : ends[1], by = ends.size() == 3 ? ends[2] : 1;
  if (by <= 0) stop(interp::FaultKind::Loop, loop.domain_span, "the step of a loop is not positive");
  for (Wide i = from; i < to; i += by) {
    Flow flow = run_turn(loop, {integer_of(i)});
    if (flow == Flow::Break) break;
    if (flow == Flow::Return) return flow;
  }
  return Flow::Next;
}

Flow Evaluator::run_parallel(const ast::For& loop) {
  Shape shape;
  for (const ast::Argument& a : loop.arguments)
    if (!a.is_named()) shape.push_back(int64_t(whole_number(*a.value)));
  for (int64_t k = 0, n = count_of(shape); k < n; ++k) {
    std::vector<Value> indices(shape.size());
    int64_t rest = k;
    for (size_t d = shape.size(); d-- > 0;) {
      indices[d] = integer_of(rest % shape[d]);
      rest /= shape[d];
    }
    Flow flow = run_turn(loop, indices);
    if (flow == Flow::Break) break;
    if (flow == Flow::Return) return flow;
  }
  return Flow::Next;
}

namespace {

// Calls f(target) for every assignment in a statement.
template <class F>
void each_target(const ast::Stmt& stmt, const F& f) {
  each_statement(stmt, [&](const ast::Stmt& s) {
    if (auto* assign = s.as<ast::Assign>()) f(*assign->target);
  });
}

// The name of which all or a part is assigned to; empty where there is none.
std::string_view root_of(const ast::Expr* place) {
  while (place && !place->as<ast::NameRef>()) {
    auto* index = place->as<ast::Index>();
    auto* member = place->as<ast::Member>();
    place = index ? index->base : member ? member->base : nullptr;
  }
  return place ? place->as<ast::NameRef>()->name.text : std::string_view();
}

}  // namespace

// In `parallel` a condition that is padding makes padding of the elements that are set under it, or are not.
void Evaluator::lose_assigned(const ast::Stmt& stmt) {
  each_target(stmt, [&](const ast::Expr& target) {
    auto* index = target.as<ast::Index>();
    Binding* binding = index ? find(root_of(&target)) : nullptr;
    auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
    if (!view || view->kind != Kind::Fragment) return;
    View element = element_of(region_of(*view, *index), target.span);
    if (!element.axes.empty() || !element.memory->is_written(element.offset)) return;
    Number x = element.memory->get(element.offset);
    x.padding |= kLost;
    element.memory->set(element.offset, x);
  });
}

namespace {

// Behind the name of a tensor: one element of it, `[i, j]`, and nothing more?
bool is_element_of(std::string_view text) {
  if (!text.starts_with('[')) return false;
  size_t depth = 0, at = 0;
  do {
    if (at == text.size() || (depth == 1 && text[at] == ':')) return false;
    depth += text[at] == '[', depth -= text[at] == ']';
    ++at;
  } while (depth > 0);
  return at == text.size() || text[at] != '.';
}

bool are_multiples(const Shape& extents, const Shape& tile) {
  return std::ranges::all_of(extents, [&](int64_t n) { return std::ranges::all_of(tile, [&](int64_t size) { return size > 0 && n % size == 0; }); });
}

}  // namespace

// Does the text name a tensor whose extents are no multiples of the tile's, so that it may read more than there is?
bool Evaluator::names_tensor(std::string_view text, const Shape& tile) {
  auto is_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && is_of_word(text[end])) ++end;
    Binding* binding = end > at ? find(text.substr(at, end - at)) : nullptr;
    auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
    if (view && view->kind == Kind::Tensor && !is_element_of(text.substr(end)) && !are_multiples(view->extents(), tile)) return true;
    at = std::max(end, at + 1);
  }
  return false;
}

// What is not run might have brought padding.
void Evaluator::open_assigned(const ast::Stmt& stmt) {
  if (is_parallel_ || thread_ >= 0) return;
  each_target(stmt, [&](const ast::Expr& target) {
    Binding* binding = find(root_of(&target));
    auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
    if (view && view->kind != Kind::Tensor && names_tensor(sources_.text(stmt.span), view->extents())) view->memory->may_end = true;
  });
}

// Numbers that were set, or returned, or were not, because of padding have to do with it.
void Evaluator::doubt(const ast::Stmt& stmt, Padding padding) {
  if (!padding) return;
  each_statement(stmt, [&](const ast::Stmt& s) {
    if (s.as<ast::Return>()) frame_->doubt |= padding;
    auto* assign = s.as<ast::Assign>();
    auto* name = assign ? assign->target->as<ast::NameRef>() : nullptr;
    Binding* binding = name ? find(name->name.text) : nullptr;
    auto* number = binding && binding->is_set ? std::get_if<Number>(&binding->value) : nullptr;
    if (number && !number->is_carried) number->padding |= padding;
  });
}

Flow Evaluator::run_if(const ast::If& choice) {
  const Number test = condition(*choice.condition);
  Flow flow = Flow::Next;
  if (test.truth()) flow = execute(choice.then_block);
  else if (choice.else_branch) flow = execute(*choice.else_branch);
  if (!test.truth())
    for (const ast::Stmt* s : choice.then_block.statements) open_assigned(*s);
  else if (choice.else_branch) open_assigned(*choice.else_branch);
  for (const ast::Stmt* s : choice.then_block.statements) doubt(*s, test.beyond());
  if (choice.else_branch) doubt(*choice.else_branch, test.beyond());
  if (!is_parallel_ || !test.is_padding()) return flow;
  for (const ast::Stmt* s : choice.then_block.statements) lose_assigned(*s);
  if (choice.else_branch) lose_assigned(*choice.else_branch);
  return flow;
}

// Runs a loop that carries the fragments of which its body assigns to the names.
template <class F>
Flow Evaluator::carrying(const ast::Block& body, F&& loop) {
  std::vector<std::string_view> names;
  for (const ast::Stmt* stmt : body.statements) {
    each_target(*stmt, [&](const ast::Expr& target) { names.push_back(root_of(&target)); });
    each_statement(*stmt, [&](const ast::Stmt& s) {
      each_call(s, [&](const ast::Call& call) {
        for (const ast::Expr* place : places_of(call)) names.push_back(root_of(place));
      });
    });
  }
  const size_t before = carried_.size();
  for (std::string_view name : names) {
    Binding* binding = find(name);
    auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
    if (!view || view->kind != Kind::Fragment || std::ranges::find(carried_, view->memory.get()) != carried_.end()) continue;
    view->memory->begin_loop();
    carried_.push_back(view->memory.get());
  }
  const uint64_t turns = turns_;
  Flow flow = loop();
  if (turns_ == turns)
    for (const ast::Stmt* stmt : body.statements) open_assigned(*stmt);
  carried_.resize(before);
  return flow;
}

// A turn that leaves everything as it was is followed by one like it, for ever: blocks do not wait for each other.
Flow Evaluator::run_while(const ast::While& loop, Span span) {
  constexpr uint64_t kMostTurns = 1 << 20;
  const uint64_t memory = changes_of_memory_;
  Padding met = 0;
  const Flow end = carrying(loop.body, [&] {
    for (uint64_t turn = 1;; ++turn) {
      uint64_t before = changes_;
      const Number test = condition(*loop.condition);
      met |= test.beyond();
      if (!test.truth()) return Flow::Next;
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
  for (const ast::Stmt* s : loop.body.statements) doubt(*s, met);
  return end;
}

Flow Evaluator::run_for(const ast::For& loop) {
  if (loop.kind == ast::LoopKind::Parallel) {
    is_parallel_ = true;
    Flow flow = run_parallel(loop);
    is_parallel_ = false;
    return flow;
  }
  return carrying(loop.body, [&] { return loop.kind == ast::LoopKind::Each ? run_each(loop) : run_range(loop); });
}

Flow Evaluator::run_each(const ast::For& loop) {
  Value value = eval(*loop.arguments.at(0).value);
  auto* list = std::get_if<std::shared_ptr<List>>(&value);
  if (!list) unknown(loop.domain_span, "a loop over this");
  for (const Value& item : (*list)->items) {
    Flow flow = run_turn(loop, {item});
    if (flow == Flow::Break) break;
    if (flow == Flow::Return) return flow;
  }
  return Flow::Next;
}

}  // namespace tilec::judge
