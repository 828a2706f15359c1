#include "sema/dims.h"

namespace tilec::sema {
namespace {

struct EachName {
  const std::function<void(const ast::Name&)>& f;
  void visit(const ast::Expr& e) const { std::visit(*this, e.node); }
  void operator()(const ast::NameRef& n) const { f(n.name); }
  void operator()(const ast::Member& n) const { visit(*n.base); }
  void operator()(const ast::Unary& n) const { visit(*n.operand); }
  void operator()(const ast::Binary& n) const { visit(*n.lhs), visit(*n.rhs); }
  void operator()(const ast::Cast& n) const { visit(*n.operand), f(n.element); }
  void operator()(const ast::IsTest& n) const { visit(*n.operand); }
  void operator()(const ast::Tuple& n) const { for (auto* e : n.elements) visit(*e); }
  void operator()(const ast::List& n) const { for (auto* e : n.elements) visit(*e); }
  void operator()(const ast::IfExpr& n) const { visit(*n.condition), visit(*n.then_value), visit(*n.else_value); }
  void operator()(const ast::Call& n) const {
    visit(*n.callee);
    for (const auto& a : n.generics) visit(*a.value);
    for (const auto& a : n.arguments) visit(*a.value);
  }
  void operator()(const ast::Index& n) const {
    visit(*n.base);
    for (const auto& s : n.subscripts) {
      if (s.lo) visit(*s.lo);
      if (s.hi) visit(*s.hi);
    }
    for (const auto& o : n.options) visit(*o.value);
  }
  template <class T> void operator()(const T&) const {}
};

bool means_something(Instance& in, const ast::Signature& signature, std::string_view name) {
  if (in.find(name) || scalar_named(name)) return true;
  for (const ast::Parameter& p : signature.parameters)
    if (p.name.text == name) return true;
  for (const Module* module : {&in.module(), in.session.modules.prelude()})
    if (module && (module->declarations.contains(name) || module->imports.contains(name))) return true;
  return false;
}

}  // namespace

void each_name(const ast::Expr& expr, const std::function<void(const ast::Name&)>& f) { EachName{f}.visit(expr); }

std::optional<std::vector<DimName>> dim_names(Instance& in, const ast::Signature& signature) {
  std::vector<DimName> dims;
  std::set<std::string_view> known, alone;
  for (const ast::Parameter& p : signature.parameters) {
    auto* type = p.type->as<ast::ShapedType>();
    if (!type) continue;
    for (const auto* list : {&type->extents, &type->strides})
      for (const ast::Expr* expr : *list) {
        if (auto* name = expr->as<ast::NameRef>()) alone.insert(name->name.text);
        each_name(*expr, [&](const ast::Name& name) {
          if (!name.exists() || means_something(in, signature, name.text)) return;
          if (known.insert(name.text).second) dims.push_back({name});
        });
      }
  }
  bool is_fine = true;
  for (const DimName& dim : dims) {
    if (alone.contains(dim.name.text)) continue;
    in.at(dim.name.span).error(diag::UnknownName, dim.name.text)
        .help("a dim stands alone as an extent or a stride of some parameter");
    is_fine = false;
  }
  return is_fine ? std::optional(dims) : std::nullopt;
}

}  // namespace tilec::sema
