// Names in schedules: each must be one that the kernel has, even where nothing acts on it.
#include "sema/schedule_names.h"

#include "base/text.h"

namespace tilec::sema {
namespace {

constexpr std::string_view kNeeds[] = {"bulk_copy", "warpgroup_mma", "overlap"};

struct KernelNames {
  std::vector<std::string_view> labels = {}, tiles = {};

  void statement(const ast::Stmt& stmt) {
    if (stmt.label.exists()) labels.push_back(stmt.label.text);
    std::visit([&](const auto& node) { (*this)(node); }, stmt.node);
  }
  void block(const ast::Block& block) {
    for (const ast::Stmt* s : block.statements) statement(*s);
  }
  template <class T> void operator()(const T&) {}
  void operator()(const ast::Block& n) { block(n); }
  void operator()(const ast::Let& n) {
    for (const ast::Name& name : n.pattern.names) tiles.push_back(name.text);
  }
  void operator()(const ast::Var& n) { tiles.push_back(n.name.text); }
  void operator()(const ast::If& n) {
    block(n.then_block);
    if (n.else_branch) statement(*n.else_branch);
  }
  void operator()(const ast::For& n) { block(n.body); }
  void operator()(const ast::While& n) { block(n.body); }
  void operator()(const ast::Launch& n) { block(n.body); }
  void operator()(const ast::Simt& n) { block(n.body); }
};

struct Check {
  Instance& in;
  const ast::Kernel& kernel;
  KernelNames known = {};

  static bool contains(std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  void suggest(Report report, const ast::Name& name, std::span<const std::string_view> names) {
    std::string_view near = nearest(name.text, names);
    if (!near.empty()) report.fix(name.span, near, "did you mean `" + std::string(near) + "`?");
  }
  void label(const ast::Name& name) {
    if (!name.exists() || contains(known.labels, name.text)) return;
    suggest(in.at(name.span).error(diag::UnknownLabel, name.text, kernel.signature.name.text), name, known.labels);
  }
  void tile(const ast::Name& name) {
    if (!name.exists() || contains(known.tiles, name.text)) return;
    suggest(in.at(name.span).error(diag::UnknownName, name.text), name, known.tiles);
  }

  void operator()(const ast::LaunchOption& option) {
    if (option.kind == ast::LaunchOptionKind::Threads) not_supported(in, option.span, "`threads` in a schedule");
  }
  void operator()(const ast::PipelineItem& item) {
    for (const ast::Name& name : item.members) tile(name);
  }
  void operator()(const ast::LayoutItem& item) {
    for (const ast::Name& name : item.names) tile(name);
  }
  void operator()(const ast::RoleItem& item) {
    for (const ast::Name& name : item.labels)
      if (name.text != ir::kRest && !contains(known.tiles, name.text)) label(name);
  }
  void operator()(const ast::PlaceItem& item) {
    for (const ast::Name& name : item.labels) label(name);
  }
  void operator()(const ast::RequireItem& item) {
    for (const ast::Name& name : item.names) {
      if (!name.exists()) continue;
      if (contains(kNeeds, name.text)) not_supported(in, name.span, "`require`");
      else suggest(in.at(name.span).error(diag::UnknownName, name.text), name, kNeeds);
    }
  }
};

KernelNames names_of(const ast::Kernel& kernel) {
  KernelNames names;
  for (const ast::Parameter& p : kernel.signature.parameters) names.tiles.push_back(p.name.text);
  names.block(kernel.body);
  return names;
}

}  // namespace

std::vector<std::string> variables_of(const ast::Kernel& kernel) {
  KernelNames names = names_of(kernel);
  return {names.tiles.begin(), names.tiles.end()};
}

void check_schedule_names(Instance& in, const ast::Schedule& schedule, const ast::Kernel& kernel) {
  Check check{in, kernel, names_of(kernel)};
  for (const ast::ScheduleItem& item : schedule.items) std::visit(check, item.node);
}

}  // namespace tilec::sema
