// Prints declarations and statements as lines; dump_expr.cpp prints what stands within a line.
#include "syntax/dump.h"

#include "base/text.h"
#include "syntax/dump_parts.h"

namespace tilec {
namespace {

using namespace ast;

class Dumper {
 public:
  std::string run(const Ast& ast) {
    for (const Decl* decl : ast.declarations) declaration(*decl);
    return std::move(out_);
  }

 private:
  // ---- declarations

  void declaration(const Decl& decl) {
    for (const std::string& text : decl.doc.empty() ? std::vector<std::string>{} : split(decl.doc, '\n'))
        line("doc " + tilec::quoted(text));
    attributes(decl.attributes);
    std::visit([&](const auto& node) { print(node); }, decl.node);
  }

  void print(const Import& d) {
    line("import " + (d.file.empty() ? dump_path(d.path) : tilec::quoted(d.file)) + alias(d.alias));
  }
  void print(const Const& d) { line("const " + dump_name(d.name) + of_type(d.type) + " = " + dump(*d.value)); }
  void print(const Enum& d) {
    line("enum " + dump_name(d.name));
    for (const Enumerator& member : d.members) inner("member " + dump_name(member.name) + doc(member.doc));
  }
  void print(const Kernel& d) {
    line((d.is_exported ? "export kernel " : "kernel ") + dump_name(d.signature.name));
    signature(d.signature);
    body(d.body);
  }
  void print(const Fn& d) {
    line((d.is_reference ? "reference fn " : "fn ") + dump_name(d.signature.name));
    signature(d.signature);
    if (d.condition) inner("if " + dump(*d.condition));
    if (d.value) inner("value " + dump(*d.value));
    if (d.body) body(*d.body);
  }
  void print(const Op& d) {
    line((d.is_exported ? "export op " : "op ") + dump_name(d.signature.name));
    signature(d.signature);
    inner("value " + dump(*d.value));
  }
  void print(const Export& d) {
    std::string instances;
    for (const ExportedInstance& i : d.instances) instances += (instances.empty() ? "" : " | ") + dump_path(i.path) + generics(i.generics);
    line("export " + instances + alias(d.alias) + where(d.where));
  }
  void print(const Test& d) {
    line("test " + dump_name(d.name));
    body(d.body);
  }
  void print(const Tune& d) {
    line("tune " + dump_path(d.path) + generics(d.generics));
    for (const TuneAxis& axis : d.axes) inner("over " + dump_name(axis.name) + " in " + dump(*axis.values));
    if (d.given) inner("given " + dump(*d.given));
    if (d.problems) inner("for " + dump_pattern(d.problem) + " in " + dump(*d.problems));
  }
  void print(const Mesh& d) { line("mesh " + dump_name(d.name) + generics(d.axes)); }

  void print(const Schedule& d) {
    std::string targets = d.targets.empty() ? "" : " for " + dump_names(d.targets);
    line("schedule " + dump_path(d.path) + generics(d.generics) + where(d.where) + (d.is_wide ? " wide" : "") + targets);
    for (const ScheduleItem& item : d.items) std::visit([&](const auto& node) { this->item(node); }, item.node);
  }
  void item(const LaunchOption& i) { inner(option(i)); }
  void item(const LayoutItem& i) {
    // Spacing between the words of a layout means nothing.
    std::string text;
    for (char c : i.text) {
      bool is_space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
      if (!is_space) text += c;
      else if (!text.empty() && text.back() != ' ') text += ' ';
    }
    inner("layout " + dump_names(i.names) + ": " + text);
  }
  void item(const PipelineItem& i) { inner("pipeline " + dump_name(i.name) + ": " + dump_names(i.members) +
      clauses(i.clauses)); }
  void item(const RoleItem& i) { inner("role " + dump_name(i.name) + clauses(i.clauses) + " {" +
      dump_names(i.labels) + "}"); }
  void item(const PlaceItem& i) { inner("place " + dump_names(i.labels) + clauses(i.clauses)); }
  void item(const RequireItem& i) { inner("require " + dump_names(i.names)); }

  void signature(const Signature& s) {
    for (const GenericParameter& g : s.generics)
      inner("generic " + dump_name(g.name) + of_type(g.kind) + (g.default_value ? " = " + dump(*g.default_value) : ""));
    for (const Parameter& p : s.parameters) {
      std::string modes = std::string(p.is_const ? "const " : "") + (p.is_alias ? "alias " : "");
      inner("parameter " + modes + std::string(spelling(p.direction)) + " " + dump_name(p.name) + of_type(p.type) +
            (p.default_value ? " = " + dump(*p.default_value) : "") + doc(p.doc));
    }
    if (s.result) inner("result " + dump(*s.result));
    for (const Expr* requirement : s.requirements) inner("requires " + dump(*requirement));
  }

  // ---- statements

  void body(const Block& block) {
    ++depth_;
    for (const Stmt* stmt : block.statements) statement(*stmt);
    --depth_;
  }

  void statement(const Stmt& stmt) {
    attributes(stmt.attributes);
    if (stmt.label.exists()) line("label " + dump_name(stmt.label));
    std::visit([&](const auto& node) { print(node); }, stmt.node);
  }

  void print(const Missing&) { line("missing"); }
  void print(const Block& s) {
    line("block");
    body(s);
  }
  void print(const Let& s) { line("let " + dump_pattern(s.pattern) + of_type(s.type) + " = " + dump(*s.value)); }
  void print(const Var& s) { line("var " + dump_name(s.name) + of_type(s.type) +
      (s.value ? " = " + dump(*s.value) : "")); }
  void print(const Assign& s) {
    line("assign " + (s.op ? std::string(spelling(*s.op)) : "") + "= " + dump(*s.target) + " " + dump(*s.value));
  }
  void print(const ExprStmt& s) { line("do " + dump(*s.value)); }
  void print(const If& s) {
    line("if " + dump(*s.condition));
    body(s.then_block);
    if (!s.else_branch) return;
    line("else");
    ++depth_;
    statement(*s.else_branch);
    --depth_;
  }
  void print(const While& s) {
    line("while " + dump(*s.condition));
    body(s.body);
  }
  void print(const For& s) {
    std::string kind = s.kind == LoopKind::Interval ? "interval" : s.kind == LoopKind::Each ? "each"
        : std::string(spelling(s.kind));
    line("for " + dump_pattern(s.pattern) + " in " + kind + dump_arguments(s.arguments));
    body(s.body);
  }
  void print(const Break&) { line("break"); }
  void print(const Continue&) { line("continue"); }
  void print(const Return& s) { line(s.value ? "return " + dump(*s.value) : "return"); }
  void print(const Sync&) { line("sync"); }
  void print(const Simt& s) {
    line("simt " + dump_name(s.thread));
    body(s.body);
  }
  void print(const StaticAssert& s) { line("static_assert " + dump(*s.condition) +
      (s.message ? " " + dump(*s.message) : "")); }
  void print(const Launch& s) {
    line("launch");
    for (const LaunchAxis& axis : s.axes) inner("axis " + dump_name(axis.name) + " in " + dump(*axis.extent));
    for (const LaunchOption& each : s.options) inner(option(each));
    body(s.body);
  }
  void print(const Asm& s) {
    constexpr std::string_view kKinds[] = {"in", "out", "inout", "option"};
    line("asm " + tilec::quoted(s.target) + " " + tilec::quoted(s.text));
    for (const AsmOperand& operand : s.operands) inner(std::string(kKinds[size_t(operand.kind)]) +
        dump_arguments(operand.arguments));
  }

  // ---- parts of lines

  void attributes(const std::vector<Attribute>& list) {
    for (const Attribute& a : list) line("@" + dump_name(a.name) + dump_arguments(a.arguments));
  }
  std::string where(const std::vector<Argument>& bindings) {
    std::string text;
    for (const Argument& binding : bindings) text += " where " + dump_argument(binding);
    return text;
  }
  std::string alias(Name name) { return name.exists() ? " as " + dump_name(name) : ""; }
  std::string of_type(const Type* type) { return type ? ": " + dump(*type) : ""; }
  std::string doc(const std::string& text) { return text.empty() ? "" : " doc " + tilec::quoted(text); }
  std::string generics(const std::vector<Argument>& list) { return list.empty() ? "" : " [" +
      dump_arguments(list).substr(1) + "]"; }
  std::string clauses(const std::vector<Clause>& list) {
    std::string text;
    for (const Clause& c : list) text += ", " + dump_name(c.name) + (c.value ? " " + dump(*c.value) : "");
    return text;
  }
  std::string option(const LaunchOption& o) { return std::string(spelling(o.kind)) +
      (o.value ? " " + dump(*o.value) : ""); }

  void line(std::string_view text) {
    out_.append(size_t(depth_) * 2, ' ');
    out_ += text;
    out_ += '\n';
  }
  void inner(std::string_view text) {
    ++depth_;
    line(text);
    --depth_;
  }

  std::string out_;
  int depth_ = 0;
};

}  // namespace

std::string dump(const Ast& ast) { return Dumper().run(ast); }

}  // namespace tilec
