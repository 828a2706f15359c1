// Expressions, from left to right.
#include <array>

#include "base/stack.h"
#include "judge/evaluator.h"
#include "judge/walk.h"

namespace tilec::judge {

namespace {

bool is_comparison(ast::BinaryOp op) { return op >= ast::BinaryOp::Equal && op <= ast::BinaryOp::GreaterEqual; }

bool is_test(ast::BinaryOp op) { return is_comparison(op) || op == ast::BinaryOp::And || op == ast::BinaryOp::Or; }

bool is_null_test(const Value& value) {
  auto* view = std::get_if<View>(&value);
  return view && view->kind == Kind::Tensor && view->memory->element != Scalar::Bool;
}

}  // namespace

template <class F>
Value Evaluator::masked(const TilePtr& mask, bool wanted, F&& f) {
  masks_.emplace_back(mask, wanted);
  Value value = f();
  masks_.pop_back();
  return value;
}

Value Evaluator::unary(ast::UnaryOp op, const Value& x, Span span) {
  if (std::holds_alternative<Absent>(x)) return truth_of(true);
  if (op == ast::UnaryOp::Not && is_null_test(x)) return truth_of(false);
  Scalar hint = scalar_of_value(x).value_or(Scalar::F32);
  return map({x}, hint, [this, op, span](std::span<const Number> n) { return negated(op, n[0], span); }, span);
}

Value Evaluator::compare_others(ast::BinaryOp op, const Value& a, const Value& b, Span span) {
  bool is_same = false;
  if (auto *x = std::get_if<EnumValue>(&a), *y = std::get_if<EnumValue>(&b); x && y) is_same = x->of == y->of && x->index == y->index;
  else if (auto *s = std::get_if<TypeValue>(&a), *t = std::get_if<TypeValue>(&b); s && t) is_same = s->scalar == t->scalar;
  else unknown(span, "a comparison of these");
  if (op != ast::BinaryOp::Equal && op != ast::BinaryOp::NotEqual) unknown(span, "a comparison of these");
  return truth_of(is_same == (op == ast::BinaryOp::Equal));
}

Value Evaluator::binary(ast::BinaryOp op, const Value& a, const Value& b, Span span) {
  auto is_other = [](const Value& v) { return std::holds_alternative<EnumValue>(v) || std::holds_alternative<TypeValue>(v); };
  if (is_other(a) || is_other(b)) return compare_others(op, a, b, span);
  if (op == ast::BinaryOp::MatrixMultiply) return product(a, b, nullptr, span);
  auto type = scalar_of_value(a);
  Scalar hint = is_comparison(op) ? Scalar::Bool : type ? *type : scalar_of_value(b).value_or(Scalar::F32);
  return map({a, b}, hint, [this, op, span](std::span<const Number> n) { return arithmetic(op, n[0], n[1], span); }, span);
}

Value Evaluator::eval_logic(const ast::Binary& logic, Span span) {
  const bool is_and = logic.op == ast::BinaryOp::And;
  Value left = eval(*logic.lhs);
  if (std::holds_alternative<Absent>(left)) left = truth_of(false);
  if (is_null_test(left)) left = truth_of(true);
  left = tile_or_number(left, span);
  if (auto* n = std::get_if<Number>(&left)) {
    if (n->truth() != is_and) {
      if (!is_parallel_ || n->is_known) return *n;
      // The places of both decide, and it is computed of both.
      const Beside other = beside(logic.rhs);
      const bool is_of_no_place = !n->is_element && !n->placed;
      n->stamps.add(other.stamps), n->is_element |= other.is_element;
      if (n->is_padding()) return *n;
      if (other.is_padding) n->padding |= kSet;
      n->placed |= other.placed & ~n->padding;
      // Where no place decides, what elements would have told counts.
      if (is_of_no_place) n->data |= other.data & ~(n->padding | n->waiting);
      return *n;
    }
    const Within within(beyond_, told_by(*n));
    if (n->is_padding()) refuse_assignments(*logic.rhs, span);
    Value right = eval(*logic.rhs);
    if (std::holds_alternative<Absent>(right)) return truth_of(false);
    right = is_null_test(right) ? Value(truth_of(true)) : tile_or_number(right, span);
    // Both have told.
    auto* told = std::get_if<Number>(&right);
    if (told) told->is_known &= n->is_known;
    if (told && keeps_numbers() && !n->is_known) {
      const Padding padding = n->beyond() | told->beyond();
      mark(*told, std::array{*n, *told});
      told->padding |= padding;
    }
    return right;
  }
  auto* tile = std::get_if<TilePtr>(&left);
  if (!tile) unknown(span, "a condition of an open shape");
  Value right = masked(*tile, is_and, [&] { return operand(*logic.rhs); });
  auto each = [is_and](std::span<const Number> n) {
    Number out = truth_of(is_and ? n[0].truth() && n[1].truth() : n[0].truth() || n[1].truth());
    out.padding = n[0].beyond() | n[1].beyond();
    mark(out, n);
    return out;
  };
  return map({left, right}, Scalar::Bool, each, span);
}

Value Evaluator::eval_binary(const ast::Binary& binary_expr, Span span) {
  if (binary_expr.op == ast::BinaryOp::And || binary_expr.op == ast::BinaryOp::Or) return eval_logic(binary_expr, span);
  Value left = operand(*binary_expr.lhs);
  Value right = operand(*binary_expr.rhs);
  return binary(binary_expr.op, left, right, span);
}

Number Evaluator::chosen(const Number& test, Number x, Number y, Span span) {
  unite(x, y, span);
  Number out = test.truth() ? x : y;
  // Of sides that end at different places, what lies beyond either is padding, as in all elementwise code.
  const Padding padding = x.beyond() | y.beyond() | test.beyond();
  out.padding = padding;
  mark(out, std::array{test, x, y});
  return out;
}

// An element that the result of a function has no part of tells all the same.
Number Evaluator::beside_elements(Number result, std::span<const Number> elements, Span span) {
  for (const Number& x : elements)
    if (!result.is_element || (x.beyond() & ~result.padding) || (x.data & ~(result.data | result.padding))) result = chosen(x, result, result, span);
  return result;
}

Value Evaluator::choose(const Value& condition, const Value& a, const Value& b, Span span) {
  auto each = [this, span](std::span<const Number> n) { return chosen(n[0], n[1], n[2], span); };
  return map({condition, a, b}, scalar_of_value(a).value_or(scalar_of_value(b).value_or(Scalar::F32)), each, span);
}

// Is this, made of literals alone, a float, which makes one of the other side of a choice?
bool Evaluator::is_float_literal(const ast::Expr& expr) {
  if (scalar_of(expr) || expr.as<ast::Cast>()) return false;
  if (expr.as<ast::FloatLiteral>()) return true;
  if (auto* unary = expr.as<ast::Unary>()) return is_float_literal(*unary->operand);
  if (auto* both = expr.as<ast::Binary>()) return !is_test(both->op) && (is_float_literal(*both->lhs) || is_float_literal(*both->rhs));
  if (auto* choice = expr.as<ast::IfExpr>()) return is_float_literal(*choice->then_value) || is_float_literal(*choice->else_value);
  auto* call = expr.as<ast::Call>();
  return call && std::ranges::any_of(call->arguments, [&](const ast::Argument& a) { return a.value && is_float_literal(*a.value); });
}

// A choice between tiles is computed of what either side is, element by element.
Value Evaluator::beside_tile(Value value, const ast::Expr& other) {
  auto* tile = std::get_if<TilePtr>(&value);
  if (!tile) return value;
  auto out = std::make_shared<Tile>(**tile);
  each_part(&other, [&](const ast::Expr& part) {
    auto* name = part.as<ast::NameRef>();
    Binding* binding = name ? find(name->name.text) : nullptr;
    auto* view = binding ? std::get_if<View>(&binding->value) : nullptr;
    if (!view || view->kind != Kind::Fragment || view->memory->shape != out->shape) return;
    for (size_t k = 0; k < out->elements.size(); ++k) out->elements[k].stamps.add(view->memory->own(int64_t(k))->stamps), out->elements[k].stamp = 0;
  });
  return TilePtr(out);
}

Value Evaluator::eval_if(const ast::IfExpr& choice, Span span) {
  Value condition = eval(*choice.condition);
  if (std::holds_alternative<Absent>(condition)) condition = truth_of(false);
  if (is_null_test(condition)) condition = truth_of(true);
  condition = tile_or_number(condition, span);
  if (auto* mask = std::get_if<TilePtr>(&condition)) {
    TilePtr tile = *mask;
    Value a = masked(tile, true, [&] { return operand(*choice.then_value); });
    Value b = masked(tile, false, [&] { return operand(*choice.else_value); });
    return choose(condition, a, b, span);
  }
  const Number test = number_of(condition, span);
  const bool takes_first = test.truth();
  const ast::Expr &taken = takes_first ? *choice.then_value : *choice.else_value, &other = takes_first ? *choice.else_value : *choice.then_value;
  Value value;
  {
    Guarded guarded(guards_, is_parallel_ && !test.is_known);
    const Within within(beyond_, told_by(test));
    if (test.is_padding()) refuse_assignments(taken, span);
    value = operand(taken);
  }
  if (std::holds_alternative<Pending>(value))
    if (auto shape = shape_of_tile(other)) return tile_of(value, *shape, span);
  auto* number = std::get_if<Number>(&value);
  if (!number) return test.is_known ? value : beside_tile(std::move(value), other);
  if (!test.is_known) {
    if (is_parallel_) *number = chosen(test, *number, other, takes_first, span), number->is_element |= test.is_element;
    else if (keeps_numbers()) number->padding |= test.beyond(), number->stamps.add(beside(&other).stamps), decided_by(*number, test);
    number->is_known = false;
  }
  auto type = number->is_literal ? scalar_of(other) : std::nullopt;
  if (type) *number = convert(*number, *type, span);
  // A number beside a tile is every element of one.
  if (auto shape = shape_of_tile(other)) return tile_of(value, *shape, span);
  if (type || !number->is_literal) return value;
  if (!number->is_real() && is_float_literal(other)) number->f = double(number->i), number->type = Scalar::F64;
  return value;
}

Value Evaluator::eval_member(const ast::Member& member, Span span) {
  Value base = eval(*member.base);
  if (auto* module = std::get_if<ModuleValue>(&base)) {
    if (auto value = value_in(*module->module, member.name.text)) return *value;
    unknown(span, "this name of a module");
  }
  if (auto* e = std::get_if<EnumType>(&base))
    for (size_t i = 0; i < e->of->members.size(); ++i)
      if (e->of->members[i].name.text == member.name.text) return EnumValue{e->of, i};
  if (member.name.text == "T") return turned(base, span);
  unknown(span, "`." + std::string(member.name.text) + "`");
}

Value Evaluator::eval_index(const ast::Index& index, Span span) {
  auto* member = index.base->as<ast::Member>();
  if (member && member->name.text == "reshape") {
    Value base = operand(*member->base);
    Shape shape;
    for (const ast::Subscript& s : index.subscripts) {
      Value extent = eval(*s.lo);
      if (auto* whole = std::get_if<ShapeValue>(&extent)) shape.insert(shape.end(), whole->extents.begin(), whole->extents.end());
      else shape.push_back(int64_t(number_of(extent, span).i));
    }
    return reshaped(base, shape, span);
  }
  const bool takes_place = std::ranges::any_of(index.subscripts, [](const ast::Subscript& s) { return s.kind == ast::SubscriptKind::Index; });
  if (takes_place && is_part_as_it_stands(*index.base)) return taken_out(index, span);
  Value base = eval(*index.base);
  if (auto* shape = std::get_if<ShapeValue>(&base)) return integer_of(shape->extents.at(size_t(whole_number(*index.subscripts[0].lo))));
  if (std::holds_alternative<Number>(base)) unknown(span, "subscripts of a number");
  return part_of(base, index, span);
}

Value Evaluator::eval(const ast::Expr& expr) {
  const Span span = expr.span;
  if (is_stack_low()) unknown(span, "what nests so deep");
  if (auto* literal = expr.as<ast::IntLiteral>()) {
    Number n = integer_of(literal->value);
    n.is_literal = n.is_known = true;
    return n;
  }
  if (auto* literal = expr.as<ast::FloatLiteral>()) {
    Number n;
    n.type = Scalar::F64;
    n.f = literal->value;
    n.odd = literal->odd;
    n.is_literal = n.is_known = true;
    return n;
  }
  if (auto* literal = expr.as<ast::BoolLiteral>()) {
    Number n = truth_of(literal->value);
    n.is_known = true;
    return n;
  }
  if (auto* name = expr.as<ast::NameRef>()) return name_value(name->name);
  if (auto* member = expr.as<ast::Member>()) return eval_member(*member, span);
  if (auto* x = expr.as<ast::Unary>()) return unary(x->op, x->op == ast::UnaryOp::Not ? eval(*x->operand) : operand(*x->operand), span);
  if (auto* x = expr.as<ast::Binary>()) return eval_binary(*x, span);
  if (auto* x = expr.as<ast::IfExpr>()) return eval_if(*x, span);
  if (auto* x = expr.as<ast::Call>()) return eval_call(*x, span);
  if (auto* x = expr.as<ast::Index>()) return eval_index(*x, span);
  if (auto* x = expr.as<ast::Cast>()) {
    Value value = operand(*x->operand), type = name_value(x->element);
    auto* t = std::get_if<TypeValue>(&type);
    if (!t) unknown(span, "a conversion to this");
    return converted(value, t->scalar, span, true);
  }
  auto list = std::make_shared<List>();
  if (auto* x = expr.as<ast::List>()) {
    for (const ast::Expr* item : x->elements) list->items.push_back(operand(*item));
    return list;
  }
  if (auto* x = expr.as<ast::Tuple>()) {
    for (const ast::Expr* item : x->elements) list->items.push_back(operand(*item));
    return list;
  }
  unknown(span, "this expression");
}

}  // namespace tilec::judge
