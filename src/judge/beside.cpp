// In `parallel`: conditions that are padding, and places that decide beside padding.
#include "judge/evaluator.h"
#include "judge/walk.h"

namespace tilec::judge {

namespace {

// Is it still combined as it was read? That it was only moved, an optimization may see.
void lose_reading(Number& x) {
  if (x.padding & kAsRead) x.padding = Padding((x.padding & ~kAsRead) | kAnything);
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
      Beside of = beside(expr, known);
      if (assign && !assign->op && expr == assign->target) of.of_values = {};
      made.add(of);
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

// Whether an assignment that is not run would have brought padding to it, or nothing, it is as it was, and counts: padding that is computed of what
// a variable holds leaves it.
bool Evaluator::counts_beside(const ast::Stmt& stmt, const Left& left, const Beside& made, const View* element) {
  const Number& x = left.before;
  auto* assign = stmt.as<ast::Assign>();
  if (!assign || left.is_taken || made.is_unsure || x.is_padding() || x.is_set() || x.is_anything() || x.waiting || !x.data) return false;
  if (element && element->kind != Kind::Fragment) return false;
  const bool is_computed = !made.of_values.is_open && (made.of_values.has(x.stamp) || made.of_values.has(x.copy_of));
  // An iteration that lies beyond an edge itself leaves no number as it is.
  const Padding leaves = element ? x.counted() | kLost : kLost;
  const Padding brought = element ? moved(made.padding, turned_round(element->indices)) : made.padding;
  return is_computed && !(brought & kAllAxes & ~leaves);
}

// What is not run because of the place would have brought padding: what it leaves as it was stands beside that.
void Evaluator::stand_beside(const ast::Stmt& stmt, const std::vector<Left>& left, Known& known) {
  const Beside made = made_by(stmt, known);
  if (!made.is_padding) return;
  each_statement(stmt, [&](const ast::Stmt& s) {
    if (s.as<ast::Return>()) frame_->doubt |= kSet;
  });
  each_held(stmt, [&](Number& x, const View* element) {
    auto one = std::ranges::find(left, &x, &Left::place);
    if (one != left.end() && counts_beside(stmt, *one, made, element)) return;
    lose_reading(x), x.padding |= kSet;
  });
}

// Behind branches, and in turns of loops: what was computed of a number before is not computed of what its variable holds.
// `test`: what an element has decided of it.
void Evaluator::stamp_numbers(const ast::Stmt& stmt, const Number* test) {
  each_statement(stmt, [&](const ast::Stmt& s) {
    auto* assign = s.as<ast::Assign>();
    auto* name = assign && !is_as_it_stands(*assign) ? assign->target->as<ast::NameRef>() : nullptr;
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
void Evaluator::decide(const ast::If& choice, const Number& test, const Number& own, const std::vector<Left>& left) {
  auto each = [&](const ast::Stmt& side, bool is_taken) {
    each_held(side, [&](Number& x, const View* element) {
      lose_reading(x), x.stamps.add(test.stamps);
      const Padding out = element ? moved(Padding(test.padding & kAllAxes), turned_round(element->indices)) : Padding(0);
      const bool is_kept = element && (element->kind == Kind::Fragment || (element->kind == Kind::Shared && is_in_place(*element)));
      if (is_kept && !x.is_padding() && is_walking_) x.data |= out & kLost;
      // What conditions within it have to do with came to nothing.
      const auto one = std::ranges::find(left, &x, &Left::place);
      const Number& before = one != left.end() ? one->before : x;
      if (is_kept && !x.is_padding()) x.waiting |= out & ~(x.data | before.counted()), x.unsaid |= out & before.placed & ~x.data & kAllAxes;
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
  Known known;
  auto each = [&](const ast::Stmt& side, bool is_taken) {
    const Beside made = is_taken ? Beside() : made_by(side, known);
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
  std::set<const Number*> elements;
  for (const Left& one : left) {
    all.push_back(one.place);
    if (one.is_element) elements.insert(one.place);
  }
  // What is not returned from is assigned to variables of the function.
  for (const Scope& scope : returns ? frame_->scopes : std::vector<Scope>())
    for (const auto& [name, binding] : scope.names)
      if (auto* number = std::get_if<Number>(&binding->value)) all.push_back(number);
  auto is_one = [&](uint32_t stamp, Padding Number::*axes, Owners Number::*of) {
    return stamp && stamp != kSeveral && std::ranges::any_of(all, [&](const Number* x) {
      // An element that holds data is its own variable's.
      const Padding own = axes == &Number::kept && elements.contains(x) ? x->data : Padding(0);
      return x->origin() == stamp || ((x->*axes & ~own) && (x->*of).has(stamp));
    });
  };
  Padding told = 0;
  for (size_t a = 0; a <= kMostAxes; ++a) {
    const bool is_kept = (test.kept >> a & 1) && !is_one(test.keepers.along[a], &Number::kept, &Number::keepers);
    const bool is_read = (test.read >> a & 1) && !is_one(test.owners.along[a], &Number::data, &Number::owners);
    told |= Padding((is_kept && !is_read) << a);
  }
  return told;
}

// It may be left as it was as well; which number padding is, where a mask for others may stand, is not said.
void Evaluator::unsay_masked(const std::vector<Left>& left, const Number& test, Padding others) {
  for (const Left& one : left) {
    const bool is_masked = test.is_padding() && one.before.is_padding() && test.padder != one.before.stamp && (!are_same(one.before, *one.place) || one.before.is_anything());
    if ((others && one.place->is_padding()) || is_masked) one.place->padding |= kAnything;
  }
}

// Both sides count, where elements decide.
void Evaluator::join_left(const Left& left, const Number& test) {
  Number& x = *left.place;
  if (!left.is_element) x.stamps.add(left.stamps), x.padding &= ~kAsked;
  // Of what elements choose from either side data counts, of what the place chooses its side.
  if (test.is_element && !test.is_padding()) x.waiting &= ~left.data;
  if (!test.is_padding() || x.is_padding()) x.data |= left.data & ~x.waiting & ~x.padding & kAllAxes, x.placed |= left.placed & ~x.padding & kAllAxes;
  if (!(left.is_taken && left.is_other)) x.unsaid |= left.before.unsaid & ~x.data;
  // Beside what a variable has kept, a number that the place chooses is none either.
  const Padding told = test.is_element ? Padding(test.data & ~test.spread) : Padding(0);
  if (!test.is_element || !test.is_padding()) x.waiting |= left.waiting & ~told & ~x.data & ~x.padding;
  if (!test.is_element || test.is_padding()) return;
  if (!(left.is_taken && left.is_other)) x.padding |= left.before.padding & kAllAxes;
  // What is left as it was is the same number, padding or not.
  if (left.brings && !x.is_padding()) x.padding |= left.is_taken ? kAnything : kSet;
}

// What a condition decides of, on either side, and what is returned by it; `others`: along these axes elements are left as they are.
void Evaluator::note_test(const ast::If& choice, const Number& test, Padding others) {
  if (returns(choice)) decided_by(frame_->decided, test), frame_->decided.is_element |= test.is_element;
  auto each = [&](const ast::Stmt& side) {
    each_held(side, [&](Number& x, const View* element) {
      Number of = test;
      of.data &= ~test.spread, of.placed &= ~test.spread, of.waiting &= ~test.spread, of.spread = 0;
      if (element) of.data &= ~others, of.placed &= ~others, of.waiting &= ~others, of = put_at(of, *element);
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
