// Declarations as lines.
#include "base/text.h"
#include "syntax/format_printer.h"

namespace tilec::syntax {
namespace {

std::string text_of(const ast::Name& name) { return std::string(name.text); }

}  // namespace

std::string Printer::reference_text(const std::vector<ast::Name>& path, const std::vector<ast::Argument>& generics)
    const {
  return join_names(path, ".") + (generics.empty() ? "" : parts_.arguments(generics, "[]", 0));
}

std::string Printer::where_text(const std::vector<ast::Argument>& where) const {
  std::string text;
  for (size_t i = 0; i < where.size(); ++i)
    text += (i ? "," + space_mark(1) : space_mark(0) + "where ") + parts_.argument(where[i], 1);
  return text;
}

// Declarations that are one statement.
std::string Printer::line_text(const ast::Decl& decl) const {
  auto alias = [](const ast::Name& name) { return name.exists() ? " as " + text_of(name) : ""; };
  if (const auto* d = decl.as<ast::Import>()) return "import " + words_of(d->source_span) + alias(d->alias) + ";";
  if (const auto* d = decl.as<ast::Const>())
    return "const " + text_of(d->name) + (d->type ? ": " + parts_.type(*d->type) : "") + " =" + space_mark(12) +
        parts_.expr(*d->value) + ";";
  if (const auto* d = decl.as<ast::Mesh>()) return "mesh " + text_of(d->name) + parts_.arguments(d->axes, "[]", 0) +
      ";";
  if (const auto* d = decl.as<ast::StaticAssert>())
    return "static_assert(" + parts_.expr(*d->condition, 1) +
        (d->message ? "," + space_mark(0) + parts_.expr(*d->message, 1) : "") + ");";
  if (const auto* d = decl.as<ast::Export>()) {
    std::string text = "export ";
    for (size_t i = 0; i < d->instances.size(); ++i)
      text += (i ? space_mark(0) + "| " : "") + reference_text(d->instances[i].path, d->instances[i].generics);
    return text + alias(d->alias) + where_text(d->where) + ";";
  }
  if (const auto* d = decl.as<ast::Tune>()) {
    std::string text = "tune " + reference_text(d->path, d->generics);
    for (size_t i = 0; i < d->axes.size(); ++i)
      text += (i ? "," + space_mark(1) : space_mark(0) + "over ") + text_of(d->axes[i].name) + " in " +
          parts_.expr(*d->axes[i].values, 1);
    if (d->given) text += space_mark(0) + "given " + parts_.expr(*d->given, 1);
    if (d->problems) text += space_mark(0) + "for " + pattern_text(d->problem) + " in " + parts_.expr(*d->problems, 1);
    return text + ";";
  }
  return {};
}

void Printer::declaration(const ast::Decl& decl) {
  std::string prefix = attributes_text(decl.attributes);
  if (std::string line = line_text(decl); !line.empty()) {
    begin_item(decl.span.begin);
    emit(prefix + line, 4);
  } else {
    begin_item(decl.span.begin);
    if (const auto* d = decl.as<ast::Enum>()) enumeration(*d, decl.span, prefix);
    if (const auto* d = decl.as<ast::Schedule>()) schedule(*d, prefix);
    if (const auto* d = decl.as<ast::Test>()) body(prefix + "test " + text_of(d->name) + " ", d->body);
    if (const auto* d = decl.as<ast::Kernel>())
      function(prefix + (d->is_exported ? "export kernel " : "kernel "), d->signature, nullptr, &d->body, nullptr,
          decl.span);
    if (const auto* d = decl.as<ast::Op>())
      function(prefix + (d->is_exported ? "export op " : "op "), d->signature, nullptr, nullptr, d->value, decl.span);
    if (const auto* d = decl.as<ast::Fn>())
      function(prefix + (d->is_reference ? "reference fn " : "fn "), d->signature, d->condition, d->body ? &*d->body
          : nullptr, d->value, decl.span);
  }
  end_item(decl.span);
}

void Printer::enumeration(const ast::Enum& node, Span span, const std::string& prefix) {
  std::string text = prefix + "enum " + text_of(node.name) + " {";
  for (size_t i = 0; i < node.members.size(); ++i) text += (i ? ", " : " ") + text_of(node.members[i].name);
  if (is_one_line(span) && text.size() <= 98) return emit(text + " }", 4);
  emit(prefix + "enum " + text_of(node.name) + " {", 4);
  is_block_start_ = true;
  ++depth_;
  for (const ast::Enumerator& member : node.members) {
    begin_item(member.name.span.begin);
    emit(text_of(member.name) + (has_comma_behind(member.name.span.end) ? "," : ""), 4);
  }
  comments_until(span.end - 1);
  --depth_;
  emit("}", 0);
}

// ---- functions

std::string Printer::parameter_text(const ast::Parameter& p) const {
  std::string modes = std::string(p.is_const ? "const " : "") + (p.is_alias ? "alias " : "");
  if (p.says_in || p.direction != ast::Direction::In) modes += std::string(spelling(p.direction)) + " ";
  return modes + text_of(p.name) + ": " + parts_.type(*p.type, 2) +
      (p.default_value ? " = " + parts_.expr(*p.default_value, 2) : "");
}

std::string Printer::generics_text(const ast::Signature& signature) const {
  std::string text;
  for (const ast::GenericParameter& g : signature.generics)
    text += (text.empty() ? "[" : "," + space_mark(3)) + text_of(g.name) +
        (g.kind ? ": " + parts_.type(*g.kind, 2) : "") +
            (g.default_value ? " = " + parts_.expr(*g.default_value, 2) : "");
  return text.empty() ? text : text + "]";
}

std::string Printer::tail_text(const ast::Signature& signature, const ast::Expr* condition) const {
  std::string text = signature.result ? " -> " + parts_.type(*signature.result, 2) : "";
  return condition ? text + space_mark(1) + "if " + parts_.expr(*condition, 2) : text;
}

std::string Printer::contract_text(const ast::Signature& signature) const {
  std::string text;
  for (const ast::Expr* each : signature.requirements)
    text += (text.empty() ? "requires " : "," + space_mark(0)) + parts_.expr(*each, 1);
  return text;
}

// Parameters with comments between them stand on a line each.
void Printer::signature_lines(const std::string& head, const ast::Signature& signature, const std::string& tail) {
  emit(head + "(", 4);
  is_block_start_ = true;
  ++depth_;
  for (const ast::Parameter& parameter : signature.parameters) {
    begin_item(parameter.span.begin);
    emit(parameter_text(parameter) + (has_comma_behind(parameter.span.end) ? "," : ""), 4);
  }
  comments_until(signature.parameters_span.end - 1);
  --depth_;
  is_block_start_ = false;
  emit(")" + tail, 4);
}

void Printer::function(const std::string& words, const ast::Signature& signature, const ast::Expr* condition,
    const ast::Block* block,
                       const ast::Expr* value, Span span) {
  std::string head = words + text_of(signature.name) + generics_text(signature), tail = tail_text(signature, condition);
  std::string contract = contract_text(signature), end = value ? " =" + space_mark(2) + parts_.expr(*value, 1) + ";"
      : block ? "" : ";";
  bool has_any = has_comments({span.file, span.begin, block ? block->span.begin : span.end});
  if (has_comments(signature.parameters_span)) {
    signature_lines(head, signature, tail + (contract.empty() ? end : ""));
  } else {
    std::string line = head + "(" + (signature.parameters.empty() ? "" : empty_mark(0));
    for (size_t i = 0; i < signature.parameters.size(); ++i)
      line += (i ? "," + space_mark(1) : "") + parameter_text(signature.parameters[i]);
    line += ")" + tail;
    std::string whole = line + (contract.empty() ? "" : " " + contract) + end;
    bool fits = !has_any && flat(whole).size() + (block ? 2 : 0) <= 100;
    if (fits && block) return body(whole + " ", *block);
    if (fits || contract.empty()) emit(whole, 4);
    else emit(line, 4);
    if (fits) return;
  }
  if (!contract.empty()) {
    ++depth_;
    emit(contract + end, 4);
    --depth_;
  }
  // A head of several lines is told from the body by a brace on a line of its own.
  if (block) body("", *block);
}

// ---- schedules

std::string Printer::clauses_text(const std::vector<ast::Clause>& list) const {
  std::string text;
  for (const ast::Clause& each : list)
    text += (text.empty() ? "" : "," + space_mark(0)) + text_of(each.name) +
        (each.value ? " " + parts_.expr(*each.value, 1) : "");
  return text;
}

std::string Printer::item_text(const ast::ScheduleItem& item) const {
  if (const auto* i = std::get_if<ast::LaunchOption>(&item.node)) return option_text(*i) + ";";
  if (const auto* i = std::get_if<ast::LayoutItem>(&item.node))
    return "layout " + join_names(i->names, ", ") + ": " + words_of(i->text_span) + ";";
  if (const auto* i = std::get_if<ast::PipelineItem>(&item.node))
    return "pipeline " + text_of(i->name) + ": " + join_names(i->members, ", ") +
        (i->clauses.empty() ? "" : "; " + clauses_text(i->clauses)) + ";";
  if (const auto* i = std::get_if<ast::PlaceItem>(&item.node)) return "place " + join_names(i->labels, ", ") + ": " +
      clauses_text(i->clauses) + ";";
  if (const auto* i = std::get_if<ast::RequireItem>(&item.node)) return "require " + join_names(i->names, ", ") + ";";
  const auto& role = std::get<ast::RoleItem>(item.node);
  std::string labels;
  for (const ast::Name& label : role.labels) labels += text_of(label) + "; ";
  return "role " + text_of(role.name) + (role.clauses.empty() ? "" : ": " + clauses_text(role.clauses)) +
      space_mark(0) + "{ " + labels + "}";
}

void Printer::schedule(const ast::Schedule& node, const std::string& prefix) {
  std::string targets;
  for (const ast::Name& target : node.targets) targets += (targets.empty() ? " for " : ", ") +
      parts_.copied(target.span);
  emit(prefix + "schedule " + reference_text(node.path, node.generics) + where_text(node.where) + (node.is_wide ? " wide" : "") + targets + " {", 4);
  is_block_start_ = true;
  ++depth_;
  for (const ast::ScheduleItem& item : node.items) {
    begin_item(item.span.begin);
    emit(item_text(item), 4);
    end_item(item.span);
  }
  comments_until(node.items_span.end - 1);
  --depth_;
  emit("}", 0);
}

}  // namespace tilec::syntax
