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
  for (size_t i = 0; i < block.statements.size() && flow == Flow::Next; ++i) {
    flow = execute(*block.statements[i]);
    if (flow != Flow::Next) open_rest(block, i + 1);
  }
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
    frame_->returned_at = &stmt;
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
  const std::vector<Value> parts = named_parts(pattern, all, span);
  for (size_t i = 0; i < pattern.names.size(); ++i) hold(pattern.names[i], {}, parts[i], false, span);
}

// Behind a name it is no longer combined as it was read, and no more of one variable alone.
Value Evaluator::named(Value value) {
  auto* tile = std::get_if<TilePtr>(&value);
  if (!tile || std::ranges::none_of((*tile)->elements, [](const Number& x) { return (x.padding & kAsked) || x.kept; })) return value;
  auto out = std::make_shared<Tile>(**tile);
  for (Number& x : out->elements) x = apart(x), x.padding &= ~kAsked;
  return TilePtr(out);
}

void Evaluator::hold(const ast::Name& name, const std::optional<Type>& type, Value held, bool is_var, Span span) {
  auto* view = std::get_if<View>(&held);
  bool is_name = view && !view->axes.empty() && view->kind != Kind::Fragment && view->kind != Kind::Shared && !is_var;
  if (!is_name) held = tile_or_number(held, span);
  held = named(std::move(held));
  // A number of an iteration is the same by any name.
  if (auto* number = is_parallel_ ? nullptr : std::get_if<Number>(&held)) number->padding &= ~kAsked;
  if (auto* number = std::get_if<Number>(&held)) {
    const Number x = type ? convert(*number, type->scalar, span) : settle(*number, span);
    return bind(name.text, is_var ? stamped(x, 0) : x);
  }
  if (std::holds_alternative<Pending>(held)) unknown(span, "a tile whose shape nothing gives");
  auto* tile = std::get_if<TilePtr>(&held);
  if (tile && !is_var) {
    // A variable may be given what it names.
    auto own = std::make_shared<Tile>(**tile);
    for (Number& x : own->elements) {
      if (!x.stamp) x = stamped(x, 0);
      own_sources(x);
    }
    held = TilePtr(own);
  }
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
    if (!is_as_it_stands(assign_stmt)) assign(place, value, span);
    return;
  }
  if (place.open) {
    // What stands there now, whatever the value changes.
    const std::shared_ptr<Memory::Old> old = place.open->first.memory->look();
    Value value = operand(*assign_stmt.value);
    auto* tile = std::get_if<TilePtr>(&value);
    if (!tile) unknown(span, "a tile whose shape neither side gives");
    const TilePtr before = read(open_region(place.open->first, place.open->second, (*tile)->shape), span, old.get());
    return assign(place, binary(*assign_stmt.op, before, value, span), span, true);
  }
  Value before = place_value(place, assign_stmt.target->span);
  auto* product_of = assign_stmt.value->as<ast::Binary>();
  bool is_product = product_of && product_of->op == ast::BinaryOp::MatrixMultiply && *assign_stmt.op == ast::BinaryOp::Add;
  if (is_product && std::holds_alternative<TilePtr>(before)) {
    Value left = operand(*product_of->lhs), right = operand(*product_of->rhs);
    return assign(place, product(left, right, std::get<TilePtr>(before), span), span, true);
  }
  Value value = operand(*assign_stmt.value);
  assign(place, binary(*assign_stmt.op, before, value, span), span, true);
}

// Numbers that were set, or returned, or were not, because of padding have to do with it. `is_kept`: what they are assigned is kept out of them.
void Evaluator::doubt(const ast::Stmt& stmt, Padding padding, bool is_kept) {
  if (!padding) return;
  each_statement(stmt, [&](const ast::Stmt& s) {
    if (s.as<ast::Return>()) frame_->doubt |= padding;
    if (is_kept) return;
    auto* assign = s.as<ast::Assign>();
    auto* name = assign && !is_as_it_stands(*assign) ? assign->target->as<ast::NameRef>() : nullptr;
    Binding* binding = name ? find(name->name.text) : nullptr;
    auto* number = binding && binding->is_set ? std::get_if<Number>(&binding->value) : nullptr;
    if (number) number->padding |= padding;
  });
}

// What a branch assigns to outside of `parallel`.
std::vector<std::shared_ptr<Memory>> Evaluator::assigned_memory(const ast::Block& block) {
  std::vector<std::shared_ptr<Memory>> all;
  for (std::string_view name : is_parallel_ ? std::vector<std::string_view>() : assigned_in(block)) {
    Binding* binding = find(name);
    auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
    if (view && view->kind != Kind::Tensor) all.push_back(view->memory);
  }
  return all;
}

std::vector<std::shared_ptr<Memory>> Evaluator::assigned_memory(const ast::Stmt* side) {
  if (auto* block = side ? side->as<ast::Block>() : nullptr) return assigned_memory(*block);
  auto* choice = side ? side->as<ast::If>() : nullptr;
  if (!choice) return {};
  std::vector<std::shared_ptr<Memory>> all = assigned_memory(choice->then_block);
  for (auto& memory : assigned_memory(choice->else_branch)) all.push_back(std::move(memory));
  return all;
}

Flow Evaluator::run_if(const ast::If& choice) {
  Number test = condition(*choice.condition);
  auto run = [&] { return test.truth() ? execute(choice.then_block) : choice.else_branch ? execute(*choice.else_branch) : Flow::Next; };
  // The other side is not compiled.
  if (test.is_known) return run();
  Flow flow;
  const std::vector<std::shared_ptr<Memory>> sides[] = {assigned_memory(choice.then_block), assigned_memory(choice.else_branch)};
  const std::vector<Left> left = is_parallel_ ? left_by(choice, test.truth()) : std::vector<Left>();
  const Padding others = told_by_others(test, left, returns(choice));
  const Number own = test;
  test.padding |= others;
  {
    Guarded guarded(guards_, is_parallel_);
    const Padding around = kept_out_;
    Within within(beyond_, told_under(choice, own, others));
    if (keeps_numbers()) kept_out_ |= test.padding & kAllAxes;
    flow = run();
    kept_out_ = around;
  }
  for (const auto& memory : sides[test.truth() ? 0 : 1]) memory->stamp_anew(false);
  for (const auto& memory : sides[test.truth() ? 1 : 0]) memory->stamp_anew(true);
  // On the other side it may be something else than what was read.
  for (const auto& side : sides)
    for (const auto& memory : side) lose_readings(*memory);
  const bool is_kept = keeps_numbers() && (test.padding & kLost);
  // A number of an iteration that others tell of is made of what they hold, and of what else it is given.
  const bool is_number_kept = is_kept || (is_parallel_ && others && !own.is_padding());
  for (const ast::Stmt* s : choice.then_block.statements) doubt(*s, test.beyond(), is_number_kept);
  if (choice.else_branch) doubt(*choice.else_branch, test.beyond(), is_number_kept);
  const Number* decides = is_parallel_ || test.is_padding() ? nullptr : &test;
  stamp_numbers(choice.then_block, decides);
  if (choice.else_branch) stamp_numbers(*choice.else_branch, decides);
  if (returns(choice)) beyond_.add(told_by(test)), frame_->may_have_returned = true;
  if (!is_parallel_) return leave_turn(choice, test, own), flow;
  unsay_masked(left, test, others);
  for (const Left& one : left) join_left(one, test);
  if (!own.is_padding()) note_test(choice, own, others);
  leave_turn(choice, test, own);
  Known known;
  if (test.is_padding() || test.is_set() || test.is_anything()) {
    decide(choice, test, own, left);
  } else if (!test.truth()) {
    for (const ast::Stmt* s : choice.then_block.statements) stand_beside(*s, left, known);
  } else if (choice.else_branch) {
    stand_beside(*choice.else_branch, left, known);
  }
  return flow;
}

}  // namespace tilec::judge
