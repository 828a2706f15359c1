// In `parallel`: conditions that are padding, and places that decide beside padding.
#include "judge/evaluator.h"
#include "judge/walk.h"

namespace tilec::judge {

namespace {

// Is it still combined as it was read? That it was only moved, an optimization may see.
void lose_reading(Number& x) {
  if (x.padding & kAsRead) x.padding = Padding((x.padding & ~kAsRead) | kAnything);
}

bool leaves(const ast::If& choice) {
  bool found = false;
  auto look = [&](const ast::Stmt& s) { found |= s.as<ast::Break>() || s.as<ast::Continue>(); };
  for (const ast::Stmt* s : choice.then_block.statements) each_statement(*s, look);
  if (choice.else_branch) each_statement(*choice.else_branch, look);
  return found;
}

}  // namespace

// Is it the same in all iterations, by its names?
bool Evaluator::is_of_all(const ast::Expr& expr) const {
  bool is = true;
  each_part(&expr, [&](const ast::Expr& part) {
    auto* name = part.as<ast::NameRef>();
    is &= name || part.as<ast::IntLiteral>() || part.as<ast::Binary>() || part.as<ast::Unary>();
    for (size_t s = around_parallel_; name && s < frame_->scopes.size(); ++s)
      for (const auto& [known, binding] : frame_->scopes[s].names) is &= known != name->name.text;
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
  out.is_element = true;
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

// Calls f(number) for what is assigned to in a statement, and for places that are handed over, run or not.
template <class F> void Evaluator::each_held(const ast::Stmt& stmt, const F& f) {
  auto tell = [&](const ast::Expr& target) {
    try {
      std::optional<View> element;
      if (Number* x = held_by(target, element)) f(*x, element ? &*element : nullptr);
    } catch (const Stopped&) {
    } catch (const Unknown&) {
    }
  };
  each_statement(stmt, [&](const ast::Stmt& s) {
    if (auto* assign = s.as<ast::Assign>()) tell(*assign->target);
    each_call(s, [&](const ast::Call& call) {
      for (const ast::Expr* place : places_of(call)) tell(*place);
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

// What a side has to do with that is not run, and may have no value here. Names within subscripts only say where an element lies.
Evaluator::Beside Evaluator::beside(const ast::Expr* expr) {
  Beside found;
  std::set<const ast::Expr*> places;
  each_part(expr, [&](const ast::Expr& part) {
    if (auto* index = part.as<ast::Index>())
      for (const ast::Subscript& s : index->subscripts)
        for (const ast::Expr* place : {s.lo, s.hi}) each_part(place, [&](const ast::Expr& name) { places.insert(&name); });
    const bool is_read = part.as<ast::Index>() || (part.as<ast::NameRef>() && !places.contains(&part));
    if (!is_read || may_act(&part)) return;
    try {
      Value value = eval(part);
      auto* number = std::get_if<Number>(&value);
      if (!number) return;
      found.is_padding |= number->is_padding() || number->is_set();
      if (!number->spread) found.stamps.add(number->stamps);
      found.data |= number->data & ~number->spread, found.placed |= number->placed & ~number->spread;
      found.waiting |= number->waiting & ~number->spread;
    } catch (const Stopped&) {
    } catch (const Unknown&) {
    }
  });
  return found;
}

// The chosen side of a choice between numbers, in `parallel`, of which the other one is not run.
Number Evaluator::chosen(const Number& test, Number number, const ast::Expr& other, bool is_first, Span span) {
  if (!test.is_padding()) {
    lose_reading(number);
    number.padding &= ~kAsked;
    const Beside left = beside(&other);
    number.stamps.add(left.stamps);
    if (test.is_set() || (!number.is_padding() && left.is_padding)) number.padding |= kSet;
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

// What is not run because of the place would have brought padding: what it leaves as it was stands beside that.
void Evaluator::stand_beside(const ast::Stmt& stmt) {
  bool brings = false;
  each_statement(stmt, [&](const ast::Stmt& s) {
    each_expression(s, [&](const ast::Expr* expr) { brings = brings || beside(expr).is_padding; });
  });
  if (!brings) return;
  each_statement(stmt, [&](const ast::Stmt& s) {
    if (s.as<ast::Return>()) frame_->doubt |= kSet;
  });
  each_held(stmt, [&](Number& x, const View*) { lose_reading(x), x.padding |= kSet; });
}

// Behind branches, and in turns of loops: what was computed of a number before is not computed of what its variable holds.
// `test`: what an element has decided of it.
void Evaluator::stamp_numbers(const ast::Stmt& stmt, const Number* test) {
  each_statement(stmt, [&](const ast::Stmt& s) {
    auto* assign = s.as<ast::Assign>();
    auto* name = assign ? assign->target->as<ast::NameRef>() : nullptr;
    Binding* binding = name ? find(name->name.text) : nullptr;
    auto* number = binding && binding->is_set ? std::get_if<Number>(&binding->value) : nullptr;
    if (number) *number = stamped(*number, number->stamp);
    if (number && test) decided_by(*number, *test), number->is_element |= test->is_element;
  });
}

void Evaluator::stamp_numbers(const ast::Block& block, const Number* test) {
  for (const ast::Stmt* s : block.statements) stamp_numbers(*s, test);
}

// Behind a condition that is padding, `own`, or that others tell of, or that may be: fragments were kept out of; what else was assigned to has to do with it.
void Evaluator::decide(const ast::If& choice, const Number& test, const Number& own) {
  if (leaves(choice)) unknown(choice.condition->span, "a turn that ends because of padding");
  auto each = [&](const ast::Stmt& side, bool is_taken) {
    each_held(side, [&](Number& x, const View* element) {
      lose_reading(x);
      const Padding out = element ? moved(Padding(test.padding & kAllAxes), turned_round(element->indices)) : Padding(0);
      const bool is_kept = element && (element->kind == Kind::Fragment || (element->kind == Kind::Shared && is_in_place(*element)));
      if (is_kept && !x.is_padding()) x.waiting |= out & ~x.counted();
      // Whether it was kept out of it is not known; padding to which nothing is assigned is left as it is either way.
      if (test.is_set() && !is_taken && x.is_padding()) return;
      if (test.is_set()) x.padding = Padding((x.padding & ~kAllAxes) | kAnything), x.waiting = 0;
      else if (!element && !(own.padding & kLost)) x.padding |= own.beyond();
    });
  };
  for (const ast::Stmt* s : choice.then_block.statements) each(*s, test.truth());
  if (choice.else_branch) each(*choice.else_branch, !test.truth());
}

// What a branch assigns to, and what the other side leaves of it.
std::vector<Evaluator::Left> Evaluator::left_by(const ast::If& choice, bool takes_first) {
  std::vector<Left> all;
  auto each = [&](const ast::Stmt& side, bool is_taken) {
    Beside made;
    auto look = [&](const ast::Stmt& s) {
      each_expression(s, [&](const ast::Expr* expr) {
        const Beside of = beside(expr);
        made.stamps.add(of.stamps), made.is_padding |= of.is_padding, made.data |= of.data, made.placed |= of.placed, made.waiting |= of.waiting;
      });
    };
    if (!is_taken) each_statement(side, look);
    each_held(side, [&](Number& x, const View* element) {
      auto left = std::ranges::find(all, &x, &Left::place);
      if (left == all.end()) left = all.insert(all.end(), Left{&x, x, x.data, x.placed, x.waiting, x.stamps, element != nullptr});
      (is_taken ? left->is_taken : left->is_other) = true;
      left->stamps.add(made.stamps), left->brings |= made.is_padding;
      auto seen = [&](Padding axes) { return element ? moved(axes, turned_round(element->indices)) : axes; };
      left->data |= seen(made.data), left->placed |= seen(made.placed), left->waiting |= seen(made.waiting);
    });
  };
  for (const ast::Stmt* s : choice.then_block.statements) each(*s, takes_first);
  if (choice.else_branch) each(*choice.else_branch, !takes_first);
  return all;
}

// Along which axes a condition is padding: others than what is assigned under it have kept what it is made of, and no data were read but for that.
Padding Evaluator::told_by_others(const Number& test, const std::vector<Left>& left, bool returns) {
  if (!test.kept) return 0;
  std::vector<const Number*> all;
  for (const Left& one : left) all.push_back(one.place);
  // What is not returned from is assigned to variables of the function.
  for (const Scope& scope : returns ? frame_->scopes : std::vector<Scope>())
    for (const auto& [name, binding] : scope.names)
      if (auto* number = std::get_if<Number>(&binding->value)) all.push_back(number);
  auto is_one = [&](uint32_t stamp, Padding Number::*axes, Owners Number::*of) {
    return stamp && stamp != kSeveral && std::ranges::any_of(all, [&](const Number* x) { return x->stamp == stamp || (x->*axes && (x->*of).has(stamp)); });
  };
  Padding told = 0;
  for (size_t a = 0; a <= kMostAxes; ++a) {
    const bool is_kept = (test.kept >> a & 1) && !is_one(test.keepers.along[a], &Number::kept, &Number::keepers);
    const bool is_read = (test.read >> a & 1) && !is_one(test.owners.along[a], &Number::data, &Number::owners);
    told |= Padding((is_kept && !is_read) << a);
  }
  return told;
}

// Both sides count, where elements decide.
void Evaluator::join_left(const Left& left, const Number& test) {
  Number& x = *left.place;
  if (!left.is_element) x.stamps.add(left.stamps), x.padding &= ~kAsked;
  if (!test.is_padding() || x.is_padding()) x.data |= left.data & ~x.waiting & ~x.padding & kAllAxes, x.placed |= left.placed & ~x.padding & kAllAxes;
  // Beside what a variable has kept, a number that the place chooses is none either.
  if (!test.is_element) x.waiting |= left.waiting & ~x.data & ~x.padding;
  if (!test.is_element || test.is_padding()) return;
  if (!(left.is_taken && left.is_other)) x.padding |= left.before.padding & kAllAxes;
  if (left.brings && !x.is_padding()) x.padding |= kAnything;
}

// What a condition decides of, on either side, and what is returned by it.
void Evaluator::note_test(const ast::If& choice, const Number& test) {
  if (returns(choice)) decided_by(frame_->decided, test), frame_->decided.is_element |= test.is_element;
  auto each = [&](const ast::Stmt& side) {
    each_held(side, [&](Number& x, const View* element) {
      Number of = test;
      of.data &= ~test.spread, of.placed &= ~test.spread, of.waiting &= ~test.spread, of.spread = 0;
      if (element) of = put_at(of, *element);
      decided_by(x, of);
      if (element) x.read = x.kept = 0;
    });
  };
  for (const ast::Stmt* s : choice.then_block.statements) each(*s);
  if (choice.else_branch) each(*choice.else_branch);
}

// What is set in `parallel`: under a condition, in the place of padding, it stands beside that.
void Evaluator::set_beside(Number& now, const Number* before) const {
  if (!is_parallel_) return;
  lose_reading(now);
  if (guards_ && before && (before->is_padding() || before->is_set())) now.padding |= kSet;
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
