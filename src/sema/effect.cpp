#include "sema/effect.h"

#include <algorithm>

#include "sema/call.h"

namespace tilec::sema {
namespace {

using Decls = std::vector<const ast::Decl*>;

// `copy` says of no parameter that it is written.
bool changes_argument(const ast::Decl& decl) {
  auto* fn = decl.as<ast::Fn>();
  auto is_written = [](const ast::Parameter& p) { return p.direction != ast::Direction::In; };
  return !fn || operation_name(decl) == "copy" || std::ranges::any_of(fn->signature.parameters, is_written);
}

struct Effect {
  const Module& file;
  const Modules& modules;

  bool of(const ast::Expr* e) const { return e && std::visit(*this, e->node); }
  template <class List> bool of_any(const List& list) const {
    return std::ranges::any_of(list, [&](const auto& each) { return of(each); });
  }
  bool of(const ast::Argument& a) const { return of(a.value); }
  bool of(const ast::Subscript& s) const { return of(s.lo) || of(s.hi); }

  // What a name in front of `(` means; null where it is no function of the library.
  const Decls* in_library(const Module* module, std::string_view name) const {
    if (!module || !module->is_library) return nullptr;
    auto found = module->declarations.find(name);
    return found == module->declarations.end() ? nullptr : &found->second;
  }
  const Decls* callee(const ast::Call& call) const {
    auto* member = call.callee->as<ast::Member>();
    auto* base = member ? member->base->as<ast::NameRef>() : nullptr;
    auto import = base ? file.imports.find(base->name.text) : file.imports.end();
    if (import != file.imports.end()) return in_library(import->second, member->name.text);
    auto* name = call.callee->as<ast::NameRef>();
    std::string_view text = member ? member->name.text : name ? name->name.text : "";
    return file.declarations.contains(text) ? nullptr : in_library(modules.prelude(), text);
  }

  bool operator()(const ast::Missing&) const { return true; }
  bool operator()(const ast::Member& n) const { return of(n.base); }
  bool operator()(const ast::Unary& n) const { return of(n.operand); }
  bool operator()(const ast::Binary& n) const { return of(n.lhs) || of(n.rhs); }
  bool operator()(const ast::Cast& n) const { return of(n.operand); }
  bool operator()(const ast::IsTest& n) const { return of(n.operand); }
  bool operator()(const ast::Tuple& n) const { return of_any(n.elements); }
  bool operator()(const ast::List& n) const { return of_any(n.elements); }
  bool operator()(const ast::IfExpr& n) const { return of(n.condition) || of(n.then_value) || of(n.else_value); }
  bool operator()(const ast::Call& n) const {
    const Decls* decls = callee(n);
    if (!decls || std::ranges::any_of(*decls, [](const ast::Decl* d) { return changes_argument(*d); })) return true;
    auto* method = n.callee->as<ast::Member>();
    return (method && of(method->base)) || of_any(n.arguments);
  }
  bool operator()(const ast::Index& n) const { return of(n.base) || of_any(n.subscripts) || of_any(n.options); }
  template <class T> bool operator()(const T&) const { return false; }  // literals and names
};

}  // namespace

bool has_effect(const ast::Expr& expr, const Module& file, const Modules& modules) { return Effect{file, modules}.of(&expr); }

}  // namespace tilec::sema
