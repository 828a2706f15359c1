// Turns of loops in `parallel` that a condition ends, and loops that end where padding says so.
#include "judge/evaluator.h"
#include "judge/walk.h"

namespace tilec::judge {

namespace {

// Does it end a turn of the loop around it?
bool leaves(const ast::Stmt& stmt) {
  if (stmt.as<ast::Break>() || stmt.as<ast::Continue>()) return true;
  if (auto* block = stmt.as<ast::Block>()) return std::ranges::any_of(block->statements, [](const ast::Stmt* s) { return leaves(*s); });
  auto* choice = stmt.as<ast::If>();
  if (!choice) return false;
  return std::ranges::any_of(choice->then_block.statements, [](const ast::Stmt* s) { return leaves(*s); }) || (choice->else_branch && leaves(*choice->else_branch));
}

bool leaves(const ast::If& choice) {
  return std::ranges::any_of(choice.then_block.statements, [](const ast::Stmt* s) { return leaves(*s); }) || (choice.else_branch && leaves(*choice.else_branch));
}

}  // namespace

// What its loop assigns to has to do with a condition that ends a turn. An iteration that lies beyond an edge is one element, whatever it has come
// to; where it does not itself, or may, it is not known.
void Evaluator::leave_turn(const ast::If& choice, const Number& test, const Number& own) {
  const bool is_return = !is_parallel_ && frame_->loops > 0 && returns(choice);
  if (!leaves(choice) && !is_return) return;
  const bool is_beyond = test.is_padding() && !test.is_set() && !(test.padding & kLost) && test.padding == own.padding;
  if ((test.is_padding() || test.is_set()) && !(leaving_ && is_parallel_ && is_beyond)) unknown(choice.condition->span, "a turn that ends because of padding");
  if (!leaving_) return;
  leaving_->met |= test.is_padding() ? test.beyond() : Padding(0);
  decided_by(leaving_->told, test), leaving_->told.is_element |= test.is_element;
  beyond_.add(told_by(test));
}

// Behind a loop whose end padding, or elements, have told, in `parallel`.
void Evaluator::end_turns(const ast::Block& body, Padding met, const Number& told, Span span) {
  if (is_parallel_) stamp_numbers(body, &told);
  for (size_t i = 0; is_parallel_ && !met && (told.data || told.placed) && i < body.statements.size(); ++i) tell_held(*body.statements[i], told, 0);
  if (!met) return;
  for (const ast::Stmt* s : body.statements) doubt(*s, met);
  if (!is_parallel_) return;
  auto look = [&](const ast::Stmt& inner) {
    auto* assign = inner.as<ast::Assign>();
    Binding* binding = assign && assign->target->as<ast::Index>() ? find(root_of(assign->target)) : nullptr;
    auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
    if (view && view->kind == Kind::Fragment) unknown(span, "a loop that padding ends, and elements of a fragment");
  };
  for (const ast::Stmt* s : body.statements) each_statement(*s, look);
}

// What a condition is that is known where the text is compiled, which leaves one side.
std::optional<bool> Evaluator::known_test(const ast::Expr& condition) {
  bool is_simple = true;
  each_part(&condition, [&](const ast::Expr& part) { is_simple &= !part.as<ast::Call>() && !part.as<ast::Index>(); });
  if (!is_simple) return std::nullopt;
  try {
    const Value value = eval(condition);
    auto* number = std::get_if<Number>(&value);
    if (number && number->is_known) return number->truth();
  } catch (const Stopped&) {
  } catch (const Unknown&) {
  }
  return std::nullopt;
}

}  // namespace tilec::judge
