// In `parallel`: conditions that are padding, and places that decide beside padding.
#include <array>

#include "judge/evaluator.h"
#include "judge/walk.h"

namespace tilec::judge {

namespace {

// Is it still combined as it was read? That it was only moved, an optimization may see.
void lose_reading(Number& x) {
  if (x.padding & kAsRead) x.padding = Padding((x.padding & ~kAsRead) | kAnything);
}

// A number of no tile brings nothing to where it is put.
void stay_carried(Number& x, Padding reached) {
  if (x.is_carried()) return;
  x.carried = Carried::Yes, x.reached = x.is_element ? Padding(kAllAxes & ~x.beyond()) : reached;
  if (!x.is_element) x.padding |= kPut;
}

// Where a number of a tile of the turn lies inside, it has brought something.
Padding brought_by(const Number& x) {
  if (x.is_carried()) return x.reached & (kLost - 1);
  return x.is_element && !x.is_padding() ? Padding((kLost - 1) & ~x.beyond() & ~x.spread) : Padding(0);
}

// The other side has come, or would have come, to more.
void may_reach(Number& x, Padding reached) {
  if (x.is_carried() && (reached & ~x.reached & (kLost - 1))) x.padding |= kPut;
}

bool has_return(const ast::If& choice) {
  bool found = false;
  auto look = [&](const ast::Stmt& s) { found |= s.as<ast::Return>() != nullptr; };
  for (const ast::Stmt* s : choice.then_block.statements) each_statement(*s, look);
  if (choice.else_branch) each_statement(*choice.else_branch, look);
  return found;
}

}  // namespace

std::optional<size_t> Evaluator::parallel_index(const ast::Expr& subscript) {
  auto* name = subscript.as<ast::NameRef>();
  const auto at = name ? std::ranges::find(indices_, name->name.text) : indices_.end();
  return at != indices_.end() ? std::optional(size_t(at - indices_.begin())) : std::nullopt;
}

// An element of memory of so many axes as a number of an iteration. What has fewer axes than `parallel` has indices is spread along some.
Number Evaluator::element_at(const Number& x, const Places& indices, size_t rank) const {
  Number out = moved(x, indices);
  out.is_element = true;
  out.spread = rank < parallel_rank_ ? kAllAxes : Padding(0);
  for (const auto& index : indices)
    if (index) out.spread &= ~(1 << *index);
  return out;
}

// The other way round. Axes that no index names are as those that all of them name.
Number Evaluator::put_at(const Number& x, const View& element) const {
  Number from = x;
  from.reached &= kLost - 1;
  Number out = moved(from, turned_round(element.indices));
  for (size_t d = 0; d < element.indices.size(); ++d)
    if (!element.indices[d]) out.reached |= Padding(1 << d);
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

// Calls f(write, number, element or null) for all assignments in a statement, and for places that are handed over, run or not.
template <class F> void Evaluator::each_held(const ast::Stmt& stmt, const F& f) {
  auto tell = [&](const ast::Expr& target, const ast::Expr* value, bool computes) {
    try {
      std::optional<View> element;
      if (Number* x = held_by(target, element)) f(Write{target, value, computes}, *x, element ? &*element : nullptr);
    } catch (const Stopped&) {
    } catch (const Unknown&) {
    }
  };
  each_statement(stmt, [&](const ast::Stmt& s) {
    if (auto* assign = s.as<ast::Assign>()) tell(*assign->target, assign->value, assign->op.has_value());
    each_call(s, [&](const ast::Call& call) {
      for (const ast::Expr* place : places_of(call)) tell(*place, nullptr, true);
    });
  });
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

// What a side has to do with that is not run, and may have no value here.
Evaluator::Beside Evaluator::beside(const ast::Expr* expr) {
  Beside found;
  each_part(expr, [&](const ast::Expr& part) {
    if (!(part.as<ast::Index>() || part.as<ast::NameRef>()) || may_act(&part)) return;
    try {
      Value value = eval(part);
      auto* number = std::get_if<Number>(&value);
      if (!number) return;
      found.padding |= number->is_padding() || number->is_set(), found.carried |= number->is_carried();
      found.reached |= number->is_carried() ? number->reached : brought_by(*number);
    } catch (const Stopped&) {
    } catch (const Unknown&) {
    }
  });
  return found;
}

// The chosen side of a choice between numbers, in `parallel`, of which the other one is not run.
Number Evaluator::chosen(const Number& test, Number number, const ast::Expr& other, bool is_first, Span span) {
  if (!test.pads()) {
    const Beside side = beside(&other);
    const bool keeps = number.is_carried();
    lose_reading(number);
    if (side.carried) stay_carried(number, side.reached);
    number.reached |= brought_by(test);
    may_reach(number, side.reached);
    if (test.is_set() || (!number.is_padding() && side.padding)) number.padding |= kSet;
    // By the place, or by the padding that the condition has as well: then what is carried would stay.
    const bool has_padding = number.is_padding() || side.padding;
    if (test.is_set() && (side.carried != keeps || (keeps && has_padding))) number.padding = kAnything;
    if (test.waiting) number.padding |= kAnything;
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

// What is not run because of the place would have brought padding: what it leaves as it was stands beside that.
void Evaluator::stand_beside(const ast::Stmt& stmt) {
  bool brings = false;
  each_statement(stmt, [&](const ast::Stmt& s) {
    each_expression(s, [&](const ast::Expr* expr) { brings = brings || beside(expr).padding; });
  });
  if (!brings) return;
  each_statement(stmt, [&](const ast::Stmt& s) {
    if (s.as<ast::Return>()) frame_->doubt |= kSet;
  });
  each_held(stmt, [&](const Write&, Number& x, const View*) { lose_reading(x), x.padding |= kSet; });
}

// What is assigned to under a condition that is padding, on either side.
std::vector<Evaluator::Held> Evaluator::held_under(const ast::If& choice) {
  std::vector<Held> all;
  auto add = [&](const ast::Stmt& side, bool is_first) {
    each_held(side, [&](const Write& write, Number& x, const View* element) {
      auto held = std::ranges::find(all, &x, &Held::place);
      if (held == all.end()) {
        held = all.insert(all.end(), Held{&x, x, element ? std::optional(*element) : std::nullopt, {}, 0});
        if (element) held->before = element_at(x, element->indices, element->memory->rank), held->before.carried = element->memory->carried;
      }
      const Beside value = beside(write.value);
      held->computes[is_first] = write.computes || value.carried;
      held->reached |= value.reached | (write.computes ? held->before.reached : Padding(0));
    });
  };
  for (const ast::Stmt* s : choice.then_block.statements) add(*s, true);
  if (choice.else_branch) add(*choice.else_branch, false);
  return all;
}

// Is that which has met padding of its own still what is carried? Of a side that was not run nothing is known.
void Evaluator::doubt(const Held& held) {
  held.place->padding = kAnything;
  if (held.before.is_carried() || held.computes[true].value_or(false) || held.computes[false].value_or(false)) stay_carried(*held.place, held.before.reached);
}

// The side that is made of what a loop carries stays, if the other is not. If both are, it is told by the number of the padding, where
// that is known. All else is padding.
void Evaluator::decide(std::span<const Held> all, const Number& test, Span span) {
  for (const Held& held : all) {
    auto is_carried = [&](bool side) { return held.computes[side].value_or(held.before.is_carried()); };
    const bool is_one = is_carried(true) != is_carried(false), side = is_carried(true), is_taken = side == test.truth();
    const bool stays = !held.computes[side];
    const Number now = held.element ? element_at(*held.place, held.element->indices, held.element->memory->rank) : *held.place;
    Number by = now, mine = stays ? held.before : now;
    by.padding = Padding((by.beyond() | test.beyond()) & ~kAsRead), by.waiting = 0, by.carried = Carried::No;
    auto same = is_one && !test.is_set() && (stays || is_taken) ? kept(mine, by, nullptr, span) : std::nullopt;
    const bool is_told = !same && (now.is_padding() || test.is_set()) && (held.computes[true].value_or(false) || held.computes[false].value_or(false));
    if (same) *held.place = held.element ? put_at(*same, *held.element) : *same;
    else if (is_one || is_told || ((held.before.padding | now.padding) & kAnything)) doubt(held);
    else if (side) held.place->padding |= kSet;
    else if (!held.element) held.place->padding |= test.beyond();
    else if (held.element->kind == Kind::Fragment) held.place->padding |= moved(test.beyond(), turned_round(held.element->indices));
    if (held.is_new()) put_anew(held);
  }
}

// Where both sides put something new, nothing of what the loop carries is left.
void Evaluator::put_anew(const Held& held) {
  held.place->carried = Carried::No;
  if (held.element) note_put(*held.element, *held.place);
}

// What the side that was not run would have made of what a loop carries is carried. A number of a tile that decides has come to where
// either side is.
void Evaluator::renew(const ast::If& choice, std::span<const Held> all, const Number& test) {
  const bool taken = test.truth();
  if (has_return(choice)) frame_->reached |= brought_by(test);
  for (const Held& held : all) {
    auto in_place = [&](Padding axes) { return held.element ? moved(axes, turned_round(held.element->indices)) : axes; };
    if (held.is_new()) put_anew(held);
    else if (held.computes[!taken].value_or(false)) stay_carried(*held.place, in_place(held.reached));
    held.place->reached |= in_place(brought_by(test));
    may_reach(*held.place, in_place(held.reached));
  }
}

// In `parallel`: what a function that returned early, or did not, because of padding, leaves in a place.
void Evaluator::decide_return(const ast::Fn& fn, const ast::Parameter& parameter, Binding& now, const Value& before, Span span) {
  auto* number = std::get_if<Number>(&now.value);
  auto* old = std::get_if<Number>(&before);
  if (!is_parallel_ || !fn.body || !number || !old) return;
  number->reached |= frame_->reached;
  // What returns early may have left it.
  bool may_return = false;
  for (const ast::Stmt* stmt : fn.body->statements)
    each_statement(*stmt, [&](const ast::Stmt& s) {
      if (auto* choice = s.as<ast::If>()) may_return |= has_return(*choice);
    });
  if (may_return && old->is_carried()) stay_carried(*number, old->reached);
  if (!frame_->doubt) return;
  bool computes = false;
  for (const ast::Stmt* stmt : fn.body->statements)
    each_held(*stmt, [&](const Write& write, Number&, const View*) {
      computes |= root_of(&write.target) == parameter.name.text && (write.computes || beside(write.value).carried);
    });
  Number test = truth_of(true);
  test.padding = frame_->doubt;
  decide(std::array{Held{number, *old, std::nullopt, {std::nullopt, computes}, 0}}, test, span);
}

// What is set in `parallel`: under a condition, in the place of padding, it stands beside that, and what it replaces may be carried.
void Evaluator::set_beside(Number& now, const Number* before, Carried carried) const {
  if (!is_parallel_) return;
  lose_reading(now);
  if (!guards_ || !before) return;
  if (before->is_padding() || before->is_set()) now.padding |= kSet;
  if (carried != Carried::No) stay_carried(now, before->reached), may_reach(now, before->reached);
}

// `parallel` puts something into an element. Where something new was put into all of them, nothing that the loop carries is left.
void Evaluator::note_put(const View& element, const Number& number) {
  if (!is_parallel_ || element.memory->is_callers()) return;
  std::set<int64_t>& put = put_[element.memory.get()];
  if (number.is_carried()) put.erase(element.offset);
  else put.insert(element.offset);
  if (int64_t(put.size()) == element.memory->count()) element.memory->carried = Carried::No;
}

// What `parallel` may have written is no longer read as it was.
void Evaluator::end_parallel(const ast::Block& body) {
  for (std::string_view name : assigned_in(body)) {
    Binding* binding = find(name);
    auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
    for (int64_t at = 0; view && at < view->memory->count(); ++at) lose_reading(*view->memory->own(at));
  }
}

}  // namespace tilec::judge
