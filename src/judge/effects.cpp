// What an iteration of `parallel` that lies beyond an edge does to memory: nothing. It is one where padding has told that it is come to, or where.
#include "judge/evaluator.h"
#include "judge/walk.h"

namespace tilec::judge {

void Told::add(const Number& x) {
  padding |= x.beyond() & kAllAxes;
  const Padding waits = x.waiting & ~x.data;
  if (x.is_padding()) is_out = true;
  else is_unsure |= x.is_set() || (x.is_anything() && !waits) || ((x.padding & kStands) && waits);
  if (x.is_element) data |= x.data & ~x.spread, waiting |= x.waiting & ~x.spread;
}

bool Region::is_inside() const {
  for (size_t d = 0; d < start.size(); ++d)
    if (start[d] < 0 || start[d] + length[d] > view.axes[d].extent) return false;
  return true;
}

Told Evaluator::told_by(const Number& test) const {
  Told told;
  if (keeps_numbers()) told.add(test);
  return told;
}

// The element at the place of the iteration itself.
bool Evaluator::is_in_place(const View& element) const {
  bool is_same = element.memory->shape.size() == parallel_rank_;
  for (size_t d = 0; d < parallel_rank_; ++d) is_same &= d < element.indices.size() && element.indices[d] == d;
  return is_same;
}

// Of fragments, assignments tell by what they assign.
bool Evaluator::is_left_alone(const Region& region, Span span) {
  if (!keeps_numbers() || region.view.kind == Kind::Fragment) return false;
  Told all = beyond_;
  all.add(region.by), all.add(region.view.by);
  return left_out(all, span) != 0;
}

// Does the side do something to memory that is run?
bool Evaluator::acts_on_memory(const ast::If& choice, bool takes_first) {
  bool acts = false;
  auto look = [&](const ast::Stmt& s) {
    if (auto* call = s.as<ast::ExprStmt>()) acts |= may_act(call->value);
    auto* assign = s.as<ast::Assign>();
    Binding* binding = assign && assign->target->as<ast::Index>() ? find(root_of(assign->target)) : nullptr;
    auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
    acts |= view && view->kind != Kind::Fragment;
  };
  if (!takes_first && choice.else_branch) each_statement(*choice.else_branch, look);
  if (takes_first)
    for (const ast::Stmt* s : choice.then_block.statements) each_statement(*s, look);
  return acts;
}

// What a condition tells of what is done on either side; `others`: along these axes, that it is not.
Told Evaluator::told_under(const ast::If& choice, const Number& test, Padding others) {
  Told told = told_by(test);
  told.padding |= others & kAllAxes;
  // Nor is it said which side is run, where it may be what was held.
  const bool acts = acts_on_memory(choice, test.truth()) || ((test.padding & kHeld) && acts_on_memory(choice, !test.truth()));
  if (told.is_unsure && !told.is_out && acts) unknown(choice.condition->span, "an effect of which numbers tell that were set beside padding");
  return told;
}

Padding Evaluator::left_out(const Told& told, Span span) {
  if (told.is_unsure && !told.is_out) unknown(span, "an effect of which numbers tell that were set beside padding");
  return told.left_out();
}

Padding Evaluator::left_out(const Place& place, std::span<const Value> operands, Span span) {
  Told all = beyond_;
  if (place.region) all.add(place.region->by), all.add(place.region->view.by);
  for (const Value& operand : operands)
    if (auto* number = std::get_if<Number>(&operand)) all.add(*number);
  return left_out(all, span);
}

Scalar Evaluator::element_type(const Place& place) { return place.region->view.memory->element; }

Number Evaluator::nowhere(Scalar type, Padding padding) {
  Number none;
  none.type = type, none.padding = padding;
  return none;
}

}  // namespace tilec::judge
