// In `parallel`: conditions that are padding, and places that decide beside padding.
#include "judge/evaluator.h"
#include "judge/walk.h"

namespace tilec::judge {

// Is it still combined as it was read? That it was only moved, an optimization may see.
void Evaluator::lose_reading(Number& x) {
  if (x.padding & kAsRead) x.padding = Padding((x.padding & ~kAsRead) | kAnything);
}

// Is it the same in all iterations, by its names? So is what is known where the text is compiled, as the names of a loop over a list.
bool Evaluator::is_of_all(const ast::Expr& expr) const {
  bool is = true;
  each_part(&expr, [&](const ast::Expr& part) {
    auto* name = part.as<ast::NameRef>();
    is &= name || part.as<ast::IntLiteral>() || part.as<ast::Binary>() || part.as<ast::Unary>();
    for (size_t s = around_parallel_; name && s < frame_->scopes.size(); ++s)
      for (const auto& [known, binding] : frame_->scopes[s].names) {
        auto* number = std::get_if<Number>(&binding->value);
        is &= known != name->name.text || (number && number->is_known);
      }
  });
  return is;
}

// The index of `parallel` that a subscript is, moved or turned round.
std::optional<size_t> Evaluator::parallel_index(const ast::Expr& subscript) const {
  auto* sum = subscript.as<ast::Binary>();
  if (sum && (sum->op == ast::BinaryOp::Add || sum->op == ast::BinaryOp::Subtract))
    return is_of_all(*sum->rhs) ? parallel_index(*sum->lhs) : is_of_all(*sum->lhs) ? parallel_index(*sum->rhs) : std::nullopt;
  auto* name = subscript.as<ast::NameRef>();
  const auto at = name ? std::ranges::find(indices_, name->name.text) : indices_.end();
  return at != indices_.end() ? std::optional(size_t(at - indices_.begin())) : std::nullopt;
}

// An element of memory of so many axes as a number of an iteration. What has fewer axes than `parallel` has indices is spread along some.
// What is no fragment is read by its place.
Number Evaluator::element_at(const Number& x, const Places& indices, size_t rank, Kind kind) const {
  Number out = moved(x, indices);
  out.is_element = true, out.is_known = false;
  if (kind != Kind::Fragment) {
    out.data = kAllAxes & ~out.waiting & ~out.padding, out.spread = 0;
    out.owners.set(out.data, kind == Kind::Shared ? x.stamp : kSeveral);
    out.read = kind == Kind::Shared && x.data && !x.read ? Padding(0) : out.data;
    return out;
  }
  out.spread = rank < parallel_rank_ ? kAllAxes : Padding(0);
  for (const auto& index : indices)
    if (index) out.spread &= ~(1 << *index);
  if (is_parallel_ && rank == parallel_rank_) out.stamps = x.stamps;
  return out;
}

// The other way round.
Number Evaluator::put_at(const Number& x, const View& element) const {
  Number out = moved(x, turned_round(element.indices));
  out.stamps = x.stamps;
  return out;
}

// The element of a fragment, or the variable, that is assigned to; none where it is another place, or was never written.
Number* Evaluator::held_by(const ast::Expr& target, std::optional<View>& element) {
  auto* index = target.as<ast::Index>();
  Binding* binding = find(root_of(&target));
  if (!binding || !binding->is_set) return nullptr;
  if (!index) return std::get_if<Number>(&binding->value);
  auto* view = std::get_if<View>(&binding->value);
  if (!view || view->kind == Kind::Tensor) return nullptr;
  element = element_of(region_of(*view, *index), target.span);
  if (!element->axes.empty() || !element->memory->is_written(element->offset)) return nullptr;
  return element->memory->own(element->offset);
}

// `a[c] = a[c];`, which is no assignment.
bool Evaluator::is_as_it_stands(const ast::Assign& assign) const {
  auto text = [&](Span span) { return sources_.text(span); };
  bool calls = false;
  each_call(assign.target, [&](const ast::Call&) { calls = true; });
  return !assign.op && !calls && text(assign.target->span) == text(assign.value->span);
}

// Calls f(number) for what is assigned to in a statement, and for places that are handed over, run or not.
void Evaluator::each_held(const ast::Stmt& stmt, const std::function<void(Number&, const View*)>& f) {
  auto tell = [&](const ast::Expr& target) {
    try {
      std::optional<View> element;
      if (Number* x = held_by(target, element)) f(*x, element ? &*element : nullptr);
    } catch (const Stopped&) {
    } catch (const Unknown&) {
    }
  };
  each_statement(stmt, [&](const ast::Stmt& s) {
    auto* assign = s.as<ast::Assign>();
    if (assign && !is_as_it_stands(*assign)) tell(*assign->target);
    each_call(s, [&](const ast::Call& call) {
      for (const ast::Expr* place : places_of(call)) tell(*place);
    });
  }, [&](const ast::If& choice) { return known_test(*choice.condition); });
}

// May it change anything, if it is run without being chosen? What the program declares may; of the library, atomics do.
bool Evaluator::may_act(const ast::Expr* expr) const {
  bool acts = false;
  each_call(expr, [&](const ast::Call& call) {
    auto* name = call.callee->as<ast::NameRef>();
    acts |= !name || name->name.text.starts_with("atomic") || frame_->module->declarations.contains(name->name.text);
  });
  return acts;
}

// In an iteration: what a side of an expression assigns to that padding decides, it would have kept.
void Evaluator::refuse_assignments(const ast::Expr& side, Span span) {
  each_call(&side, [&](const ast::Call& call) {
    if (is_parallel_ && !places_of(call).empty()) unknown(span, "a choice that padding decides, and a side that acts");
  });
}

void Evaluator::Beside::add(const Number& x) {
  is_padding |= x.is_padding() || x.is_set(), is_unsure |= x.is_set() || x.is_anything();
  padding |= x.padding & kAllAxes, is_element |= x.is_element;
  if (!x.spread) stamps.add(x.stamps), of_values.add(x.stamps);
  data |= x.data & ~x.spread, placed |= x.placed & ~x.spread, waiting |= x.waiting & ~x.spread;
}

void Evaluator::Beside::add(const Beside& other) {
  is_padding |= other.is_padding, is_unsure |= other.is_unsure, padding |= other.padding, is_element |= other.is_element;
  stamps.add(other.stamps), of_values.add(other.of_values);
  data |= other.data, placed |= other.placed, waiting |= other.waiting;
}

// Is any element of it padding? Which one is meant is not known where a name is not that a side that is not run declares.
bool Evaluator::is_padded(std::string_view name) {
  Binding* binding = find(name);
  auto* tile = binding ? std::get_if<TilePtr>(&binding->value) : nullptr;
  auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
  if (tile) return std::ranges::any_of((*tile)->elements, [](const Number& x) { return x.is_padding() || x.is_set() || x.waiting; });
  return view && !view->memory->is_callers() && view->memory->is_padded();
}

// What a side has to do with that is not run, and may have no value here; `known`: its names, by what it has assigned to them. Names within
// subscripts only say where an element lies.
Evaluator::Beside Evaluator::beside(const ast::Expr* expr, const Known& known) {
  Beside found;
  std::set<const ast::Expr*> places;
  each_part(expr, [&](const ast::Expr& part) {
    if (auto* index = part.as<ast::Index>())
      for (const ast::Subscript& s : index->subscripts)
        for (const ast::Expr* place : {s.lo, s.hi}) each_part(place, [&](const ast::Expr& name) { places.insert(&name); });
    auto* name = part.as<ast::NameRef>();
    for (const auto& [assigned, made] : known)
      if (name && assigned == name->name.text) found.add(made);
    const bool is_read = part.as<ast::Index>() || (name && !places.contains(&part));
    if (!is_read || may_act(&part)) return;
    auto unseen = [&] {
      const bool is = part.as<ast::Index>() && is_padded(root_of(&part));
      found.is_padding |= is, found.is_unsure |= is;
    };
    try {
      Value value = eval(part);
      if (auto* number = std::get_if<Number>(&value)) found.add(*number);
    } catch (const Stopped&) {
      unseen();
    } catch (const Unknown&) {
      unseen();
    }
  });
  return found;
}

// The same of a statement, the names of which are known to those behind it.
Evaluator::Beside Evaluator::made_by(const ast::Stmt& stmt, Known& known) {
  Beside made;
  std::vector<std::string_view> names;
  each_statement(stmt, [&](const ast::Stmt& s) {
    auto* assign = s.as<ast::Assign>();
    each_expression(s, [&](const ast::Expr* expr) {
      if (!assign || assign->op || expr != assign->target) made.add(beside(expr, known));
    });
    if (auto* let = s.as<ast::Let>())
      for (const ast::Name& name : let->pattern.names) names.push_back(name.text);
    if (auto* var = s.as<ast::Var>()) names.push_back(var->name.text);
    if (assign) names.push_back(root_of(assign->target));
    each_call(s, [&](const ast::Call& call) {
      for (const ast::Expr* place : places_of(call)) names.push_back(root_of(place));
    });
  });
  for (std::string_view name : names) known.emplace_back(name, made);
  return made;
}

// The chosen side of a choice between numbers, in `parallel`, of which the other one is not run.
Number Evaluator::chosen(const Number& test, Number number, const ast::Expr& other, bool is_first, Span span) {
  if (!test.is_padding()) {
    lose_reading(number);
    number.padding &= ~kAsked;
    const Beside left = beside(&other);
    number.stamps.add(left.stamps);
    if (test.is_set() || (!number.is_padding() && left.is_padding)) number.padding |= kSet;
    if (test.is_element) number.waiting &= ~left.data;
    number.waiting |= left.waiting & ~number.data;
    number.data |= left.data & ~number.waiting & ~number.padding & kAllAxes;
    decided_by(number, test);
    return number;
  }
  if (may_act(&other)) unknown(span, "a choice that padding decides, and a side that acts");
  try {
    Muted muted(is_muted_, true);
    const Number second = number_of(operand(other), span);
    return is_first ? chosen(test, number, second, span) : chosen(test, second, number, span);
  } catch (const Stopped&) {
    number.padding |= kLost | kAnything;
    return number;
  }
}

// What is set in `parallel`: under a condition, in the place of padding, it stands beside that.
void Evaluator::set_beside(Number& now, const Number* before) const {
  if (is_parallel_) lose_reading(now);
  if (is_parallel_ && guards_ && before && (before->is_padding() || before->is_set())) now.padding |= kSet;
}

void Evaluator::lose_readings(Memory& memory) {
  for (int64_t at = 0; at < memory.count(); ++at) lose_reading(*memory.own(at));
}

// What `parallel` may have written is no longer read as it was.
void Evaluator::end_parallel(const ast::Block& body) {
  for (std::string_view name : assigned_in(body)) {
    Binding* binding = find(name);
    auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
    if (!view || view->memory->is_callers()) continue;
    lose_readings(*view->memory);
    view->memory->level();
  }
}

}  // namespace tilec::judge
