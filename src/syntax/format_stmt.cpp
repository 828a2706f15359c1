// Statements as lines.
#include "syntax/format_printer.h"

namespace tilec::syntax {
namespace {

constexpr int kValueLevel = 12;  // breaking after `=` is worse than within the value
constexpr int kHeadMore = 8;     // a head that goes on stands further in than the body
constexpr size_t kWidth = 100;

}  // namespace

std::string Printer::attributes_text(const std::vector<ast::Attribute>& list) const {
  std::string text;
  for (const ast::Attribute& each : list) {
    text += "@" + std::string(each.name.text);
    if (!each.arguments.empty()) text += parts_.arguments(each.arguments, "()", 0);
    text += " ";
  }
  return text;
}

std::string Printer::prefix_text(const ast::Stmt& stmt) const {
  return attributes_text(stmt.attributes) + (stmt.label.exists() ? std::string(stmt.label.text) + ": " : "");
}

std::string Printer::option_text(const ast::LaunchOption& option) const {
  return std::string(spelling(option.kind)) + (option.value ? " " + parts_.expr(*option.value, 1) : "");
}

std::string Printer::asm_text(const ast::Asm& node) const {
  constexpr std::string_view kWords[] = {"in", "out", "inout", ""};
  std::string text = "asm(" + parts_.copied(node.target_span) + "," + space_mark(0) + parts_.strings(node.text_span, 0);
  for (const ast::AsmOperand& operand : node.operands) {
    text += "," + space_mark(0);
    bool is_option = operand.kind == ast::AsmOperandKind::Option;
    text += is_option ? parts_.argument(operand.arguments[0], 1)
                      : std::string(kWords[size_t(operand.kind)]) + parts_.arguments(operand.arguments, "()", 1);
  }
  return text + ");";
}

// A statement without a block, or "" for one that has one.
std::string Printer::simple_text(const ast::Stmt& stmt) const {
  auto typed = [&](const ast::Type* type) { return type ? ": " + parts_.type(*type, 1) : ""; };
  auto value = [&](const ast::Expr* value) { return value ? " =" + space_mark(kValueLevel) + parts_.expr(*value) : "";
      };
  if (const auto* s = stmt.as<ast::Let>()) return "let " + pattern_text(s->pattern) + typed(s->type) +
      value(s->value) + ";";
  if (const auto* s = stmt.as<ast::Var>()) return "var " + std::string(s->name.text) + typed(s->type) +
      value(s->value) + ";";
  if (const auto* s = stmt.as<ast::Assign>())
    return parts_.expr(*s->target, 1) + " " + (s->op ? std::string(spelling(*s->op)) : "") + "=" +
        space_mark(kValueLevel) +
           parts_.expr(*s->value) + ";";
  if (const auto* s = stmt.as<ast::ExprStmt>()) return parts_.expr(*s->value) + ";";
  if (const auto* s = stmt.as<ast::Return>()) return s->value ? "return " + parts_.expr(*s->value) + ";" : "return;";
  if (const auto* s = stmt.as<ast::StaticAssert>())
    return "static_assert(" + parts_.expr(*s->condition, 1) +
        (s->message ? "," + space_mark(0) + parts_.expr(*s->message, 1) : "") + ");";
  if (const auto* s = stmt.as<ast::Asm>()) return asm_text(*s);
  if (stmt.as<ast::Sync>()) return "sync;";
  if (stmt.as<ast::Break>()) return "break;";
  if (stmt.as<ast::Continue>()) return "continue;";
  return {};
}

const ast::Block* Printer::block_of(const ast::Stmt& stmt) const {
  if (const auto* s = stmt.as<ast::Block>()) return s;
  if (const auto* s = stmt.as<ast::If>()) return &s->then_block;
  if (const auto* s = stmt.as<ast::For>()) return &s->body;
  if (const auto* s = stmt.as<ast::While>()) return &s->body;
  if (const auto* s = stmt.as<ast::Launch>()) return &s->body;
  if (const auto* s = stmt.as<ast::Simt>()) return &s->body;
  return nullptr;
}

// What stands before the block, with a space at its end.
std::string Printer::head_text(const ast::Stmt& stmt) const {
  if (const auto* s = stmt.as<ast::If>()) return "if " + parts_.expr(*s->condition) + " ";
  if (const auto* s = stmt.as<ast::While>()) return "while " + parts_.expr(*s->condition) + " ";
  if (const auto* s = stmt.as<ast::Simt>()) return "simt (" + std::string(s->thread.text) + ") ";
  if (const auto* s = stmt.as<ast::For>()) {
    std::string text = "for " + pattern_text(s->pattern) + " in " + std::string(spelling(s->kind));
    if (s->kind == ast::LoopKind::Interval)
      text += parts_.expr(*s->arguments[0].value, 1) + ".." + parts_.expr(*s->arguments[1].value, 1);
    else if (s->kind == ast::LoopKind::Each) text += parts_.expr(*s->arguments[0].value);
    else text += parts_.arguments(s->arguments, "()", 0);
    return text + " ";
  }
  if (const auto* s = stmt.as<ast::Launch>()) {
    std::string text = "launch (";
    for (size_t i = 0; i < s->axes.size(); ++i)
      text += (i ? "," + space_mark(1) : "") + std::string(s->axes[i].name.text) + " in " +
          parts_.expr(*s->axes[i].extent, 1);
    text += ")";
    for (const ast::LaunchOption& option : s->options) text += space_mark(0) + option_text(option);
    return text + " ";
  }
  return {};
}

// A block that was written on one line, with at most one statement that has no block of its own.
bool Printer::stays_one_line(const ast::Block& block) const {
  if (block.statements.empty()) return !has_comments(block.span);
  return block.statements.size() == 1 && !block_of(*block.statements[0]) && is_one_line(block.span) &&
      !has_comments(block.span);
}

std::string Printer::one_line(const ast::Block& block) const {
  if (block.statements.empty()) return "{ }";
  return "{ " + prefix_text(*block.statements[0]) + simple_text(*block.statements[0]) + " }";
}

void Printer::body(const std::string& head, const ast::Block& block) {
  std::string whole = head + one_line(block);
  if (stays_one_line(block) && size_t(depth_) * 4 + flat(whole).size() <= kWidth) {
    emit(whole, kHeadMore);
    return;
  }
  emit(head + "{", kHeadMore);
  last_end_ = block.span.begin + 1;
  is_block_start_ = true;
  ++depth_;
  for (const ast::Stmt* stmt : block.statements) statement(*stmt);
  comments_until(block.span.end - 1);
  --depth_;
  emit("}", 0);
}

void Printer::if_chain(std::string head, const ast::If& stmt) {
  if (!stmt.else_branch) return body(head, stmt.then_block);
  const ast::Stmt& last = *stmt.else_branch;
  if (const auto* otherwise = last.as<ast::Block>(); otherwise && stays_one_line(*otherwise) &&
      stays_one_line(stmt.then_block)) {
    std::string whole = head + one_line(stmt.then_block) + " else " + one_line(*otherwise);
    bool was_one_line = is_one_line(cover(stmt.then_block.span, otherwise->span));
    if (was_one_line && size_t(depth_) * 4 + flat(whole).size() <= kWidth) return emit(whole, kHeadMore);
  }
  // The branches of a chain look alike: each on lines of its own.
  emit(head + "{", kHeadMore);
  auto branch = [&](const ast::Block& block) {
    last_end_ = block.span.begin + 1;
    is_block_start_ = true;
    ++depth_;
    for (const ast::Stmt* inner : block.statements) statement(*inner);
    comments_until(block.span.end - 1);
    --depth_;
    is_block_start_ = false;
  };
  const ast::If* link = &stmt;
  for (branch(link->then_block); link->else_branch;) {
    const auto* next = link->else_branch->as<ast::If>();
    const ast::Block& block = next ? next->then_block : *link->else_branch->as<ast::Block>();
    emit("} else " + (next ? head_text(*link->else_branch) : "") + "{", next ? kHeadMore : 0);
    branch(block);
    if (!next) break;
    link = next;
  }
  emit("}", 0);
}

void Printer::statement(const ast::Stmt& stmt) {
  const ast::Block* block = block_of(stmt);
  begin_item(stmt.span.begin);
  std::string prefix = prefix_text(stmt);
  if (!block) emit(prefix + simple_text(stmt), 4);
  else if (const auto* choice = stmt.as<ast::If>()) if_chain(prefix + head_text(stmt), *choice);
  else body(prefix + head_text(stmt), *block);
  end_item(stmt.span);
}

}  // namespace tilec::syntax
