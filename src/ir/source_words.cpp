#include "ir/source_words.h"

namespace tilec::ir {

namespace {

constexpr int kDeepest = 6;  // operations inside each other

struct Operator {
  BinaryFn fn;
  std::string_view symbol;
};
constexpr Operator kOperators[] = {
    {BinaryFn::Add, "+"}, {BinaryFn::Sub, "-"}, {BinaryFn::Mul, "*"}, {BinaryFn::Div, "/"}, {BinaryFn::Rem, "%"},
    {BinaryFn::And, "&"}, {BinaryFn::Or, "|"}, {BinaryFn::Xor, "^"}, {BinaryFn::Shl, "<<"}, {BinaryFn::Shr, ">>"},
};

std::string_view symbol_of(BinaryFn fn) {
  for (const Operator& row : kOperators)
    if (row.fn == fn) return row.symbol;
  return {};
}

std::string call(std::string_view name, std::string_view arguments) { return std::string(name) + "(" + std::string(arguments) + ")"; }

std::string words(const Kernel& kernel, ValueId v, int depth);

std::string operand_words(const Kernel& kernel, const op::Binary& outer, ValueId v, int depth) {
  std::string text = words(kernel, v, depth);
  auto* inner = kernel.defined_by<op::Binary>(v);
  if (!inner || symbol_of(inner->fn).empty() || symbol_of(outer.fn).empty()) return text;
  bool is_product = inner->fn == BinaryFn::Mul, is_sum = outer.fn == BinaryFn::Add || outer.fn == BinaryFn::Sub;
  bool is_chain = v == outer.a && (inner->fn == outer.fn || (is_sum && (inner->fn == BinaryFn::Add || inner->fn == BinaryFn::Sub)));
  return (is_product && is_sum) || is_chain ? text : call("", text);
}

std::string words(const Kernel& kernel, ValueId v, int depth) {
  if (auto n = kernel.constant(v); n && !n->is_float) return std::to_string(n->i);
  const Op* op = kernel.definition(v);
  if (!op) return kernel.value(v).hint.empty() ? "..." : kernel.value(v).hint;
  if (depth == 0) return "...";
  if (auto* o = op->get<op::Convert>()) return words(kernel, o->x, depth);
  if (auto* o = op->get<op::Unary>()) return source_words(o->fn, words(kernel, o->x, depth - 1));
  if (auto* o = op->get<op::Binary>())
    return source_words(o->fn, operand_words(kernel, *o, o->a, depth - 1), operand_words(kernel, *o, o->b, depth - 1));
  return kernel.value(v).hint.empty() ? "..." : kernel.value(v).hint;
}

}  // namespace

std::string source_words(UnaryFn fn, std::string_view x) {
  return fn == UnaryFn::Neg ? call("-", x) : fn == UnaryFn::Not ? call("~", x) : call(name(fn), x);
}

std::string source_words(BinaryFn fn, std::string_view a, std::string_view b) {
  std::string_view symbol = symbol_of(fn), comma = symbol.empty() ? ", " : " ";
  std::string all = std::string(a) + std::string(comma) + std::string(symbol) + (symbol.empty() ? "" : " ") + std::string(b);
  return symbol.empty() ? call(name(fn), all) : all;
}

std::string source_words(const Kernel& kernel, ValueId v) { return words(kernel, v, kDeepest); }

}  // namespace tilec::ir
