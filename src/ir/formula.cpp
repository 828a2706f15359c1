#include "ir/formula.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "ir/kernel.h"

namespace tilec::ir {

double apply(Formula::Kind kind, double a, double b) {
  switch (kind) {
    case Formula::Kind::Add: return a + b;
    case Formula::Kind::Sub: return a - b;
    case Formula::Kind::Mul: return a * b;
    case Formula::Kind::Div: return a / b;
    case Formula::Kind::Min: return std::min(a, b);
    case Formula::Kind::Max: return std::max(a, b);
    case Formula::Kind::Ceil: return std::ceil(a);
    case Formula::Kind::Floor: return std::floor(a);
    case Formula::Kind::Number: case Formula::Kind::Dim: case Formula::Kind::Param: break;
  }
  UNREACHABLE("a leaf is not computed");
}

namespace {

using Kind = Formula::Kind;

bool is_leaf(Kind kind) { return kind == Kind::Number || kind == Kind::Dim || kind == Kind::Param; }
bool has_one(Kind kind) { return kind == Kind::Ceil || kind == Kind::Floor; }

// x + 0, x - 0, x * 1 and x / 1 are x.
bool is_neutral(Kind kind, const Formula& b) {
  if (!b.is_number()) return false;
  return kind == Kind::Add || kind == Kind::Sub ? b.number() == 0 : (kind == Kind::Mul || kind == Kind::Div) && b.number() == 1;
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

int strength(Kind kind) { return kind == Kind::Add || kind == Kind::Sub ? 1 : kind == Kind::Mul || kind == Kind::Div ? 2 : 3; }

}  // namespace

Formula Formula::leaf(Kind kind, size_t index) {
  Formula result;
  result.nodes_ = {{.kind = kind, .a = uint32_t(index)}};
  return result;
}

Formula Formula::joined(Kind kind, const Formula& a, const Formula& b) {
  if (a.is_number() && (b.is_number() || has_one(kind))) return apply(kind, a.number(), b.number());
  if (is_neutral(kind, b)) return a;
  if (has_one(kind) && has_one(a.nodes_.back().kind)) return a;  // whole already
  if ((kind == Kind::Add || kind == Kind::Mul) && is_neutral(kind, a)) return b;
  Formula result = a;
  uint32_t left = uint32_t(result.nodes_.size() - 1), right = left;
  if (!has_one(kind)) {
    for (Node node : b.nodes_) {
      if (!is_leaf(node.kind)) node.a += left + 1, node.b += left + 1;
      result.nodes_.push_back(node);
    }
    right = uint32_t(result.nodes_.size() - 1);
  }
  result.nodes_.push_back({.kind = kind, .a = left, .b = right});
  return result;
}

double Formula::evaluate(const std::function<double(const Node&)>& value) const {
  std::vector<double> values;
  for (const Node& node : nodes_) {
    if (node.kind == Kind::Number) values.push_back(node.number);
    else values.push_back(is_leaf(node.kind) ? value(node) : apply(node.kind, values[node.a], values[node.b]));
  }
  return values.back();
}

std::string Formula::text(const Kernel& kernel) const { return text(kernel, uint32_t(nodes_.size() - 1), 0); }

std::string Formula::text(const Kernel& kernel, uint32_t index, int around) const {
  const Node& node = nodes_[index];
  if (node.kind == Kind::Number) return number_text(node.number);
  if (node.kind == Kind::Dim) return kernel.dims[node.a].name;
  if (node.kind == Kind::Param) return kernel.params[node.a].name;
  std::string a = text(kernel, node.a, strength(node.kind)), b = has_one(node.kind) ? "" : text(kernel, node.b, strength(node.kind) + 1);
  switch (node.kind) {
    case Kind::Ceil: return "ceil(" + text(kernel, node.a, 0) + ")";
    case Kind::Floor: return "floor(" + text(kernel, node.a, 0) + ")";
    case Kind::Min: case Kind::Max: return (node.kind == Kind::Min ? "min(" : "max(") + text(kernel, node.a, 0) + ", " + text(kernel, node.b, 0) + ")";
    default: break;
  }
  constexpr std::string_view kSigns[] = {" + ", " - ", " * ", " / "};
  std::string whole = a + std::string(kSigns[int(node.kind) - int(Kind::Add)]) + b;
  return strength(node.kind) < around ? "(" + whole + ")" : whole;
}

}  // namespace tilec::ir
