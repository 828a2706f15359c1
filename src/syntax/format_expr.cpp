// Expressions and types as text.
#include "syntax/format_parts.h"

namespace tilec::syntax {
namespace {

constexpr int kComma = 0;
int level(int depth, int within) { return depth * kLevelsPerDepth + within; }

}  // namespace

std::string join_names(const std::vector<ast::Name>& names, std::string_view separator) {
  std::string text;
  for (const ast::Name& name : names) {
    if (!text.empty()) text += separator;
    text += name.text;
  }
  return text;
}

std::string pattern_text(const ast::Pattern& pattern) {
  std::string names = join_names(pattern.names, ", ");
  if (!pattern.is_tuple) return names;
  return "(" + names + (pattern.names.size() == 1 ? ",)" : ")");
}

std::string PartPrinter::list(const std::vector<const ast::Expr*>& list, int depth) const {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) text += (i ? "," + space_mark(level(depth, kComma)) : "") +
      expr(*list[i], depth);
  return text;
}

std::string PartPrinter::argument(const ast::Argument& argument, int depth) const {
  return (argument.is_named() ? std::string(argument.name.text) + " = " : "") + expr(*argument.value, depth);
}

std::string PartPrinter::arguments(const std::vector<ast::Argument>& list, std::string_view brackets, int depth) const {
  std::string text(1, brackets[0]);
  for (size_t i = 0; i < list.size(); ++i)
    text += (i ? "," + space_mark(level(depth + 1, kComma)) : "") + argument(list[i], depth + 1);
  return text + brackets[1];
}

std::string PartPrinter::strings(Span span, int depth) const {
  std::string text;
  std::string_view source = source_.substr(span.begin, span.end - span.begin);
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '/') i = std::min(source.find('\n', i), source.size());  // a comment between two strings
    if (i >= source.size() || source[i] != '"') continue;
    size_t begin = i++;
    while (source[i] != '"') i += source[i] == '\\' ? 2 : 1;
    if (!text.empty()) text += space_mark(level(depth, kComma));
    text += source.substr(begin, i + 1 - begin);
  }
  return text;
}

std::string PartPrinter::expr(const ast::Expr& expr, int depth) const {
  return expr.is_parenthesized ? "(" + bare(expr, depth + 1) + ")" : bare(expr, depth);
}

std::string PartPrinter::bare(const ast::Expr& expr, int depth) const {
  if (const auto* e = expr.as<ast::NameRef>()) return std::string(e->name.text);
  if (const auto* e = expr.as<ast::Member>()) return this->expr(*e->base, depth) + "." + std::string(e->name.text);
  if (const auto* e = expr.as<ast::Unary>()) return std::string(spelling(e->op)) + this->expr(*e->operand, depth);
  if (const auto* e = expr.as<ast::Binary>())
    return this->expr(*e->lhs, depth) + " " + std::string(spelling(e->op)) +
        space_mark(level(depth, precedence(e->op))) +
           this->expr(*e->rhs, depth);
  if (const auto* e = expr.as<ast::Cast>()) return this->expr(*e->operand, depth) + " as " +
      std::string(e->element.text);
  if (const auto* e = expr.as<ast::IsTest>()) return this->expr(*e->operand, depth) + " is " +
      std::string(e->name.text);
  if (const auto* e = expr.as<ast::Tuple>())
    return "(" + list(e->elements, depth + 1) + (e->elements.size() == 1 ? ",)" : ")");
  if (const auto* e = expr.as<ast::List>()) return "[" + list(e->elements, depth + 1) + "]";
  if (const auto* e = expr.as<ast::IfExpr>()) {
    std::string mark = space_mark(level(depth, kLevelsPerDepth - 1));
    bool is_chain = e->else_value->as<ast::IfExpr>() && !e->else_value->is_parenthesized && !has_brace(e->then_value->span.end, e->else_value->span.begin);
    std::string otherwise = is_chain ? " " + bare(*e->else_value, depth) : " {" + mark + this->expr(*e->else_value, depth + 1) + " }";
    return "if " + this->expr(*e->condition, depth + 1) + " {" + mark + this->expr(*e->then_value, depth + 1) + " } else" + otherwise;
  }
  if (const auto* e = expr.as<ast::Call>()) return call(*e, depth);
  if (const auto* e = expr.as<ast::Index>()) return index(*e, depth);
  if (expr.as<ast::StringLiteral>()) return strings(expr.span, depth);
  if (expr.as<ast::Missing>()) return {};
  return copied(expr.is_parenthesized ? expr.bare_span : expr.span);
}

// Does a brace stand before the second place, behind the first one's `} else`?
bool PartPrinter::has_brace(uint32_t begin, uint32_t end) const {
  std::string_view between = source_.substr(begin, end - begin);
  char last = 0;
  for (size_t i = 0; i < between.size(); ++i) {
    if (between.substr(i).starts_with("//")) i = std::min(between.find('\n', i), between.size() - 1);
    else if (!std::isspace(uint8_t(between[i]))) last = between[i];
  }
  return last == '{';
}

std::string PartPrinter::call(const ast::Call& call, int depth) const {
  std::string text = expr(*call.callee, depth);
  if (call.generics_span.valid()) text += arguments(call.generics, "[]", depth);
  return text + arguments(call.arguments, "()", depth);
}

std::string PartPrinter::index(const ast::Index& index, int depth) const {
  std::string text = expr(*index.base, depth) + "[", separator;
  for (const ast::Subscript& each : index.subscripts) {
    text += separator + subscript(each, depth + 1);
    separator = "," + space_mark(level(depth + 1, kComma));
  }
  for (const ast::Argument& each : index.options) {
    text += separator + argument(each, depth + 1);
    separator = "," + space_mark(level(depth + 1, kComma));
  }
  return text + "]";
}

std::string PartPrinter::subscript(const ast::Subscript& subscript, int depth) const {
  std::string lo = subscript.lo ? expr(*subscript.lo, depth) : "", hi = subscript.hi ? expr(*subscript.hi, depth) : "";
  switch (subscript.kind) {
    case ast::SubscriptKind::Index: return lo;
    case ast::SubscriptKind::All: return ":";
    case ast::SubscriptKind::NewAxis: return "_";
    case ast::SubscriptKind::Bounds: return lo + (lo.empty() ? ": " : hi.empty() ? " :" : " : ") + hi;
    case ast::SubscriptKind::Length: return lo + " +: " + hi;
  }
  return {};
}

std::string PartPrinter::types(const std::vector<const ast::Type*>& list, int depth) const {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) text += (i ? "," + space_mark(level(depth, kComma)) : "") +
      type(*list[i], depth);
  return text;
}

std::string PartPrinter::type(const ast::Type& type, int depth) const {
  if (const auto* t = type.as<ast::ShapedType>()) return shaped(*t, depth);
  if (const auto* t = type.as<ast::TupleType>()) return "(" + types(t->elements, depth + 1) +
      (t->elements.size() == 1 ? ",)" : ")");
  if (const auto* t = type.as<ast::FunctionType>()) return "fn(" + types(t->parameters, depth + 1) + ") -> " +
      this->type(*t->result, depth);
  return {};
}

std::string PartPrinter::shaped(const ast::ShapedType& type, int depth) const {
  std::string text = type.space == ast::Space::None ? "" : std::string(spelling(type.space)) + " ";
  text += join_names(type.path, ".");
  if (type.has_extents) {
    text += "[" + list(type.extents, depth + 1);
    if (!type.strides.empty()) text += "; " + list(type.strides, depth + 1);
    text += "]";
  }
  if (type.is_nullable) text += "?";
  if (type.distribution == ast::Distribution::Sharded) text += " sharded(" + join_names(type.axes, ", ") + ") on " +
      std::string(type.mesh.text);
  if (type.distribution == ast::Distribution::Replicated) text += " replicated on " + std::string(type.mesh.text);
  return text;
}

}  // namespace tilec::syntax
