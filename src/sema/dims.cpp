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

bool declares(const Module* module, std::string_view name) {
  return module && (module->declarations.contains(name) || module->imports.contains(name));
}

bool means_something(Instance& in, const ast::Signature& signature, std::string_view name) {
  if (in.find(name) || scalar_named(name)) return true;
  for (const ast::Parameter& p : signature.parameters)
    if (p.name.text == name) return true;
  return declares(&in.module(), name);
}

// The extents and strides of the parameters.
std::vector<const ast::Expr*> numbers_of(const ast::Signature& signature) {
  std::vector<const ast::Expr*> all;
  for (const ast::Parameter& p : signature.parameters)
    if (auto* type = p.type->as<ast::ShapedType>())
      for (const auto* list : {&type->extents, &type->strides}) all.insert(all.end(), list->begin(), list->end());
  return all;
}

// A type that stands where a dim would.
bool has_type_for_dim(Instance& in, const std::vector<const ast::Expr*>& numbers) {
  for (const ast::Expr* expr : numbers) {
    auto* name = expr->as<ast::NameRef>();
    if (!name || !scalar_named(name->name.text) || in.find(name->name.text)) continue;
    in.at(name->name.span).error(diag::NotAllowedHere, "`" + std::string(name->name.text) + "`", kBecauseType).help(help_on_type_name(name->name.text));
    return true;
  }
  return false;
}

// `k(x: f32[N], N: int)`: the extent is there already.
bool has_dim_as_parameter(Instance& in, const ast::Signature& signature) {
  const auto& all = signature.parameters;
  for (size_t i = 1; i < all.size(); ++i)
    for (size_t k = 0; k < i; ++k) {
      auto* type = all[k].type->as<ast::ShapedType>();
      if (!type || !all[i].name.exists()) continue;
      for (const ast::Expr* extent : type->extents) {
        auto* name = extent->as<ast::NameRef>();
        if (!name || name->name.text != all[i].name.text) continue;
        auto report = in.at(all[i].name.span).error(diag::Redeclared, all[i].name.text);
        report.note(name->name.span, diag::DeclaredHere, name->name.text);
        if (all[i].type->as<ast::ShapedType>()) report.help("an extent and a parameter have one name: call the one or the other otherwise");
        else report.fix({all[i].span.file, all[i - 1].span.end, all[i].span.end}, "", "an extent comes with its tensor: leave the parameter out, or put it in front of the tensors");
        return true;
      }
    }
  return false;
}

}  // namespace

void each_name(const ast::Expr& expr, const std::function<void(const ast::Name&)>& f) { EachName{f}.visit(expr); }

std::optional<std::vector<DimName>> dim_names(Instance& in, const ast::Signature& signature) {
  std::vector<const ast::Expr*> numbers = numbers_of(signature);
  if (has_type_for_dim(in, numbers) || has_dim_as_parameter(in, signature)) return std::nullopt;
  std::vector<DimName> dims;
  std::set<std::string_view> known, alone;
  for (const ast::Expr* expr : numbers)
    if (auto* name = expr->as<ast::NameRef>()) alone.insert(name->name.text);
  for (const ast::Expr* expr : numbers)
    each_name(*expr, [&](const ast::Name& name) {
      if (!name.exists() || means_something(in, signature, name.text)) return;
      // A dim may be called as a function of the library is.
      if (!alone.contains(name.text) && declares(in.session.modules.prelude(), name.text)) return;
      if (known.insert(name.text).second) dims.push_back({name});
    });
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
