// Prints expressions and types.
#include <charconv>

#include "base/text.h"
#include "syntax/dump.h"
#include "syntax/dump_parts.h"

namespace tilec {
namespace {

using namespace ast;

std::string list_of(const std::vector<const Expr*>& list) {
  std::string text;
  for (const Expr* each : list) text += " " + dump(*each);
  return text;
}

std::string print(const Missing&) { return "?"; }
std::string print(const IntLiteral& e) { return std::to_string(e.value); }
std::string print(const FloatLiteral& e) {
  if (std::isinf(e.value)) return "inf";
  if (std::isnan(e.value)) return "nan";
  char digits[32];
  auto end = std::to_chars(digits, digits + sizeof digits, e.value).ptr;
  std::string text(digits, end);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}
std::string print(const BoolLiteral& e) { return e.value ? "true" : "false"; }
std::string print(const StringLiteral& e) { return tilec::quoted(e.value); }
std::string print(const NameRef& e) { return dump_name(e.name); }
std::string print(const Member& e) { return "(. " + dump(*e.base) + " " + dump_name(e.name) + ")"; }
std::string print(const Unary& e) { return "(" + std::string(spelling(e.op)) + " " + dump(*e.operand) + ")"; }
std::string print(const Binary& e) { return "(" + std::string(spelling(e.op)) + " " + dump(*e.lhs) + " " +
    dump(*e.rhs) + ")"; }
std::string print(const Cast& e) { return "(as " + dump(*e.operand) + " " + dump_name(e.element) + ")"; }
std::string print(const IsTest& e) { return "(is " + dump(*e.operand) + " " + dump_name(e.name) + ")"; }
std::string print(const Tuple& e) { return "(tuple" + list_of(e.elements) + ")"; }
std::string print(const List& e) { return "(list" + list_of(e.elements) + ")"; }
std::string print(const IfExpr& e) {
  return "(if " + dump(*e.condition) + " " + dump(*e.then_value) + " " + dump(*e.else_value) + ")";
}
std::string print(const Call& e) {
  std::string generics = e.generics_span.valid() ? " [" + dump_arguments(e.generics) + " ]" : "";
  return "(call " + dump(*e.callee) + generics + dump_arguments(e.arguments) + ")";
}
std::string print(const Subscript& s) {
  auto part = [](const Expr* expr) { return expr ? dump(*expr) : std::string("_"); };
  switch (s.kind) {
    case SubscriptKind::Index: return dump(*s.lo);
    case SubscriptKind::All: return ":";
    case SubscriptKind::NewAxis: return "_";
    case SubscriptKind::Bounds: return "(: " + part(s.lo) + " " + part(s.hi) + ")";
    case SubscriptKind::Length: return "(+: " + part(s.lo) + " " + part(s.hi) + ")";
  }
  return {};
}
std::string print(const Index& e) {
  std::string text = "(index " + dump(*e.base);
  for (const Subscript& subscript : e.subscripts) text += " " + print(subscript);
  return text + dump_arguments(e.options) + ")";
}

std::string print(const ShapedType& t) {
  std::string text = t.space == Space::None ? "" : std::string(spelling(t.space)) + " ";
  text += dump_path(t.path);
  if (t.has_extents) text += "[" + std::string(trim(list_of(t.extents))) +
      (t.strides.empty() ? "" : ";" + list_of(t.strides)) + "]";
  if (t.is_nullable) text += "?";
  if (t.distribution == Distribution::Sharded) text += " sharded(" + dump_names(t.axes) + ") on " + dump_name(t.mesh);
  if (t.distribution == Distribution::Replicated) text += " replicated on " + dump_name(t.mesh);
  return text;
}
std::string types_of(const std::vector<const Type*>& list) {
  std::string text;
  for (const Type* each : list) text += (text.empty() ? "" : ", ") + dump(*each);
  return "(" + text + ")";
}
std::string print(const TupleType& t) { return types_of(t.elements); }
std::string print(const FunctionType& t) { return "fn" + types_of(t.parameters) + " -> " + dump(*t.result); }

}  // namespace

std::string dump(const Expr& expr) {
  return std::visit([](const auto& node) { return print(node); }, expr.node);
}
std::string dump(const Type& type) {
  return std::visit([](const auto& node) { return print(node); }, type.node);
}

std::string dump_name(const Name& name) { return name.exists() ? std::string(name.text) : "?"; }

std::string dump_names(const std::vector<Name>& names) {
  std::string text;
  for (const Name& name : names) text += (text.empty() ? "" : ", ") + dump_name(name);
  return text;
}

std::string dump_path(const std::vector<Name>& path) {
  std::string text;
  for (const Name& name : path) text += (text.empty() ? "" : ".") + dump_name(name);
  return text;
}

std::string dump_pattern(const Pattern& pattern) {
  return pattern.is_tuple ? "(" + dump_names(pattern.names) + ")" : dump_names(pattern.names);
}

std::string dump_argument(const Argument& argument) {
  return argument.is_named() ? dump_name(argument.name) + " = " + dump(*argument.value) : dump(*argument.value);
}

std::string dump_arguments(const std::vector<Argument>& list) {
  std::string text;
  for (const Argument& argument : list) text += " " + dump_argument(argument);
  return text;
}

}  // namespace tilec
