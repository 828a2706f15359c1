// Branches in `parallel`: what both sides leave of what they assign to, and conditions that are padding.
#include "judge/evaluator.h"
#include "judge/walk.h"

namespace tilec::judge {

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
      if (is_kept && !x.is_padding() && is_walking_ && (out & kLost)) x.data |= kAllAxes & ~(out & ~kLost);
      // What conditions within it have to do with came to nothing.
      const auto one = std::ranges::find(left, &x, &Left::place);
      const Number& before = one != left.end() ? one->before : x;
      if (is_kept && !x.is_padding()) x.waiting |= out & ~(x.data | before.counted()), x.unsaid |= out & before.placed & ~x.data & kAllAxes;
      // Whether it was kept out of it is not known; padding to which nothing is assigned is left as it is either way.
      const bool is_unsaid = test.is_set() || (test.is_anything() && !test.is_padding());
      if (is_unsaid && !is_taken && x.is_padding()) return;
      if (is_unsaid) x.padding = Padding((x.padding & ~kAllAxes) | kAnything), x.waiting = 0;
      else if (!element && !(own.padding & kLost)) x.padding |= own.beyond(), decided_by(x, own);
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
    auto* assign = side.as<ast::Assign>();
    each_held(side, [&](Number& x, const View* element) {
      auto left = std::ranges::find(all, &x, &Left::place);
      if (left == all.end()) left = all.insert(all.end(), Left{&x, x, 0, 0, 0, x.stamps, element != nullptr});
      (is_taken ? left->is_taken : left->is_other) = true;
      (is_taken ? left->is_taken_replaced : left->is_other_replaced) |= assign && !assign->op && !made.is_padding;
      left->stamps.add(made.stamps), left->brings |= made.is_padding;
      auto seen = [&](Padding axes) { return element ? moved(axes, turned_round(element->indices)) : axes; };
      // What others have kept leaves an element as it is, where that is computed of what it holds, and counts.
      const bool is_left = element && !is_taken && !made.of_values.is_open && (made.of_values.has(x.stamp) || made.of_values.has(x.copy_of));
      left->data |= seen(made.data), left->placed |= seen(made.placed), left->waiting |= seen(made.waiting) & ~(is_left ? x.counted() : Padding(0));
    });
  };
  for (const ast::Stmt* s : choice.then_block.statements) each(*s, takes_first);
  auto* block = choice.else_branch ? choice.else_branch->as<ast::Block>() : nullptr;
  for (size_t i = 0; block && i < block->statements.size(); ++i) each(*block->statements[i], !takes_first);
  if (choice.else_branch && !block) each(*choice.else_branch, !takes_first);
  // Where both sides assign something else, nothing of what it held is left.
  for (Left& one : all)
    if (!(one.is_taken_replaced && one.is_other_replaced)) one.data |= one.before.data, one.placed |= one.before.placed, one.waiting |= one.before.waiting;
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

// `test` decides of what is assigned there; `others`: along these axes elements are left as they are.
void Evaluator::tell_held(const ast::Stmt& side, const Number& test, Padding others) {
  each_held(side, [&](Number& x, const View* element) {
    Number of = test;
    of.data &= ~test.spread, of.placed &= ~test.spread, of.waiting &= ~test.spread, of.spread = 0;
    if (element) of.data &= ~others, of.placed &= ~others, of.waiting &= ~others, of = put_at(of, *element);
    decided_by(x, of);
    if (element) x.read = x.kept = 0;
  });
}

// What a condition decides of, on either side, and what is returned by it.
void Evaluator::note_test(const ast::If& choice, const Number& test, Padding others) {
  if (returns(choice)) decided_by(frame_->decided, test), frame_->decided.is_element |= test.is_element;
  for (const ast::Stmt* s : choice.then_block.statements) tell_held(*s, test, others);
  if (choice.else_branch) tell_held(*choice.else_branch, test, others);
}

}  // namespace tilec::judge
