#include "judge/results.h"

#include <algorithm>

#include "judge/walk.h"

namespace tilec::judge {

namespace {

bool has_return(const ast::Stmt& stmt, const ast::Stmt* but = nullptr) {
  bool found = false;
  each_statement(stmt, [&](const ast::Stmt& s) { found |= s.as<ast::Return>() && &s != but; });
  return found;
}

}  // namespace

bool returns_early(const ast::Fn& fn) {
  bool found = false;
  for (size_t i = 0; fn.body && i < fn.body->statements.size(); ++i)
    found |= has_return(*fn.body->statements[i], fn.body->statements.back());
  return found;
}

bool gives_number(const ast::Fn& fn) {
  auto* type = fn.signature.result ? fn.signature.result->as<ast::ShapedType>() : nullptr;
  return fn.value || (type && !type->has_extents);
}

namespace {

using Names = std::set<std::string_view>;

void add_names(Names& all, const ast::Expr* expr) {
  each_part(expr, [&](const ast::Expr& part) {
    if (auto* name = part.as<ast::NameRef>()) all.insert(name->name.text);
  });
}

// What a statement gives a value: names that it declares or assigns to, and places that it hands over.
Names given_by(const ast::Stmt& stmt) {
  Names names;
  if (auto* let = stmt.as<ast::Let>())
    for (const ast::Name& name : let->pattern.names) names.insert(name.text);
  if (auto* var = stmt.as<ast::Var>()) names.insert(var->name.text);
  if (auto* assign = stmt.as<ast::Assign>()) names.insert(root_of(assign->target));
  each_call(stmt, [&](const ast::Call& call) {
    for (const ast::Argument& a : call.arguments)
      if (const std::string_view name = root_of(a.value); !name.empty()) names.insert(name);
  });
  return names;
}

// From the end of the text to its start, so that what is assigned behind its last use has nothing to do with it.
struct Sources {
  Names all = {};

  bool tells(const ast::Stmt& stmt) const {
    bool is = false;
    each_statement(stmt, [&](const ast::Stmt& s) {
      const Names given = given_by(s);
      is |= s.as<ast::Return>() || std::ranges::any_of(given, [&](std::string_view name) { return all.contains(name); });
    });
    return is;
  }
  void look(const ast::Block& block) {
    for (size_t i = block.statements.size(); i-- > 0;) look(*block.statements[i]);
  }
  void turn(const ast::Block& body) {
    for (size_t before = all.size() + 1; before != all.size();) before = all.size(), look(body);
  }
  void look(const ast::Stmt& stmt) {
    if (!tells(stmt)) return;
    if (auto* block = stmt.as<ast::Block>()) return look(*block);
    if (auto* choice = stmt.as<ast::If>()) {
      look(choice->then_block);
      if (choice->else_branch) look(*choice->else_branch);
    }
    each_expression(stmt, [&](const ast::Expr* expr) { add_names(all, expr); });
    if (auto* loop = stmt.as<ast::For>()) turn(loop->body);
    if (auto* loop = stmt.as<ast::While>()) turn(loop->body);
  }
};

}  // namespace

bool is_given_behind_return(const ast::Fn& fn, std::string_view parameter) {
  bool has_returned = false, is = false;
  for (size_t i = 0; fn.body && i < fn.body->statements.size(); ++i)
    each_statement(*fn.body->statements[i], [&](const ast::Stmt& s) {
      const bool is_loop = s.as<ast::For>() || s.as<ast::While>();
      has_returned |= s.as<ast::Return>() || (is_loop && has_return(s));
      is |= has_returned && given_by(s).contains(parameter);
    });
  return is;
}

std::set<std::string_view> sources_of_result(const ast::Fn& fn, std::string_view parameter) {
  Sources sources;
  if (!parameter.empty()) sources.all.insert(parameter);
  if (fn.body) sources.look(*fn.body);
  return sources.all;
}

}  // namespace tilec::judge
