#include "sema/unused.h"

#include "diag/diag.h"
#include "sema/dims.h"
#include "sema/effect.h"

namespace tilec::sema {
namespace {

struct Local {
  ast::Name name;
  bool is_used = false, is_assigned = false;
};

bool is_place(const ast::Expr& expr) { return expr.as<ast::NameRef>() || expr.as<ast::Index>(); }
// Does `a op= b` exist?
bool changes_as_well(ast::BinaryOp op) { return op >= ast::BinaryOp::BitOr && op != ast::BinaryOp::MatrixMultiply; }

struct Walk {
  const Module& file;
  const Modules& modules;
  const SourceMap& sources;
  Diagnostics& diagnostics;
  std::vector<std::vector<Local>> scopes = {};
  bool has_parameters = false;

  Local* local(std::string_view name) {
    for (size_t i = scopes.size(); i-- > 0;)
      for (size_t k = scopes[i].size(); k-- > 0;)
        if (scopes[i][k].name.text == name) return &scopes[i][k];
    return nullptr;
  }
  void use(std::string_view name) {
    if (Local* found = local(name)) found->is_used = true;
  }
  void use(const ast::Expr* expr) {
    if (expr) each_name(*expr, [&](const ast::Name& name) { use(name.text); });
  }
  void use(const ast::Type* type) {
    auto* shaped = type ? type->as<ast::ShapedType>() : nullptr;
    if (!shaped) return;
    for (const ast::Name& name : shaped->path) use(name.text);
    for (const ast::Expr* e : shaped->extents) use(e);
  }
  // Those stand in the outermost scope of a kernel; to write one is to use it.
  bool is_parameter(std::string_view name) const {
    for (size_t i = scopes.size(); i-- > 0;)
      for (const Local& local : scopes[i])
        if (local.name.text == name) return i == 0 && has_parameters;
    return false;
  }
  void declare(const ast::Name& name, bool counts) {
    if (!name.exists()) return;
    for (const Local& other : scopes.back())
      if (other.name.text == name.text) return;  // an error already
    bool is_silent = !counts || name.text.starts_with('_');
    scopes.back().push_back({name, is_silent});
  }

  void block(const ast::Block& b) {
    scopes.emplace_back();
    for (const ast::Stmt* s : b.statements) std::visit([&](const auto& node) { (*this)(node); }, s->node);
    for (const Local& local : scopes.back()) {
      if (local.is_used) continue;
      auto report = diagnostics.at(local.name.span).warning(diag::UnusedName, local.name.text);
      if (local.is_assigned) report.help("nothing reads what is assigned to it: take that out as well");
      else report.fix(local.name.span, "_" + std::string(local.name.text), "begin it with `_` if that is meant");
    }
    scopes.pop_back();
  }

  // A parameter whose name never comes up is never written: reading an `out` is an error.
  void kernel(const ast::Kernel& k) {
    has_parameters = true;
    scopes.emplace_back();
    for (const ast::Parameter& p : k.signature.parameters)
      if (p.name.exists()) scopes.back().push_back({p.name});
    block(k.body);
    for (size_t i = 0; i < scopes.back().size(); ++i) {
      const Local& local = scopes.back()[i];
      bool is_out = std::any_of(k.signature.parameters.begin(), k.signature.parameters.end(), [&](const ast::Parameter& p) {
        auto* shaped = p.type ? p.type->as<ast::ShapedType>() : nullptr;
        return p.direction == ast::Direction::Out && p.name.span == local.name.span && shaped && shaped->has_extents;
      });
      if (is_out && !local.is_used && !local.name.text.starts_with('_'))
        diagnostics.at(local.name.span).warning(diag::NeverWritten, local.name.text)
            .help("write it, or take it out of the parameters");
    }
    scopes.pop_back();
  }

  template <class T> void operator()(const T&) {}
  void operator()(const ast::Block& n) { block(n); }
  void operator()(const ast::Let& n) {
    use(n.type), use(n.value);
    for (const ast::Name& name : n.pattern.names) declare(name, true);
  }
  void operator()(const ast::Var& n) {
    use(n.type), use(n.value);
    declare(n.name, true);
  }
  void operator()(const ast::Assign& n) {
    use(n.value);
    auto* name = n.target->as<ast::NameRef>();
    if (!name || is_parameter(name->name.text)) return use(n.target);
    if (Local* found = local(name->name.text)) found->is_assigned = true;
  }
  void operator()(const ast::ExprStmt& n) {
    use(n.value);
    if (has_effect(*n.value, file, modules)) return;
    diagnostics.at(n.value->span).warning(diag::IdleStatement).help(help_on_idle(*n.value));
  }
  std::string help_on_idle(const ast::Expr& value) const {
    auto text = [&](const ast::Expr* e) { return std::string(sources.text(e->span)); };
    auto* binary = value.as<ast::Binary>();
    bool would_be = binary && is_place(*binary->lhs) && (binary->op == ast::BinaryOp::Equal || changes_as_well(binary->op));
    bool is_product = binary && is_place(*binary->lhs) && binary->op == ast::BinaryOp::MatrixMultiply;
    if (is_product) return "a product is added to a tile by `acc += a @ b;`";
    if (!would_be) return "take it out, or give the value a name: `let y = ...;`";
    std::string place = text(binary->lhs), other = text(binary->rhs);
    if (binary->op == ast::BinaryOp::Equal) return "`==` compares; what sets it is `" + place + " = " + other + ";`";
    return "what changes `" + place + "` is `" + place + " " + std::string(spelling(binary->op)) + "= " + other + ";`";
  }
  void operator()(const ast::If& n) {
    use(n.condition);
    block(n.then_block);
    if (n.else_branch) std::visit([&](const auto& node) { (*this)(node); }, n.else_branch->node);
  }
  void loop(const ast::Pattern& pattern, const ast::Block& body) {
    scopes.emplace_back();
    for (const ast::Name& name : pattern.names) declare(name, false);
    block(body);
    scopes.pop_back();
  }
  void operator()(const ast::For& n) {
    for (const ast::Argument& a : n.arguments) use(a.value);
    loop(n.pattern, n.body);
  }
  void operator()(const ast::While& n) { use(n.condition), block(n.body); }
  void operator()(const ast::Return& n) { use(n.value); }
  void operator()(const ast::Launch& n) {
    ast::Pattern pattern;
    for (const ast::LaunchAxis& axis : n.axes) {
      use(axis.extent);
      pattern.names.push_back(axis.name);
    }
    for (const ast::LaunchOption& option : n.options) use(option.value);
    loop(pattern, n.body);
  }
  void operator()(const ast::Simt& n) { loop({.names = {n.thread}}, n.body); }
  void operator()(const ast::StaticAssert& n) { use(n.condition), use(n.message); }
  void operator()(const ast::Asm& n) {
    for (const ast::AsmOperand& o : n.operands)
      for (const ast::Argument& a : o.arguments) use(a.value);
  }
};

}  // namespace

void warn_unused(const Module& file, const Modules& modules, const SourceMap& sources, Diagnostics& diagnostics) {
  if (file.ast->has_errors) return;  // what could not be read may have used the name
  for (const ast::Decl* decl : file.ast->declarations) {
    if (auto* kernel = decl->as<ast::Kernel>()) Walk{file, modules, sources, diagnostics}.kernel(*kernel);
    if (auto* fn = decl->as<ast::Fn>(); fn && fn->body) Walk{file, modules, sources, diagnostics}.block(*fn->body);
  }
}

}  // namespace tilec::sema
