// Names in schedules: each must be one that the kernel has, even where nothing acts on it, and nothing is said twice.
#include "sema/schedule_names.h"

#include "base/text.h"

namespace tilec::sema {
namespace {

constexpr std::string_view kPipelineWords[] = {"depth", "in_flight"};
constexpr std::string_view kRoleWords[] = {"warps", "registers"};
constexpr std::string_view kPlaceWords[] = {"stage", "order"};

struct KernelNames {
  std::vector<std::string_view> labels = {}, tiles = {};
  std::vector<std::string_view> shared = {};  // what stands in shared memory: tiles, and copies of tensors that products read

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
  void operator()(const ast::Var& n) {
    tiles.push_back(n.name.text);
    auto* shaped = n.type ? n.type->as<ast::ShapedType>() : nullptr;
    if (shaped && shaped->space == ast::Space::Shared) shared.push_back(n.name.text);
  }
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
  std::set<std::pair<std::string, std::string_view>> said = {};  // what, of which name

  void once(std::string what, const ast::Name& name) {
    if (name.exists() && !said.emplace(std::move(what), name.text).second) in.at(name.span).error(diag::GivenTwice, name.text);
  }

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

  // What stands behind the names of an item, each once: `depth 4, in_flight 1`.
  void clauses(std::string_view item, std::span<const ast::Clause> clauses, std::span<const std::string_view> words) {
    std::set<std::string_view> given;
    for (const ast::Clause& c : clauses) {
      if (!c.name.exists()) continue;
      if (item == "role" && c.name.text == "split") not_supported(in, c.name.span, "`split` of a role");
      else if (!contains(words, c.name.text)) suggest(in.at(c.name.span).error(diag::UnknownName, c.name.text), c.name, words);
      else if (!given.insert(c.name.text).second) in.at(c.name.span).error(diag::GivenTwice, c.name.text);
    }
  }

  void operator()(const ast::LaunchOption& option) {
    if (option.kind == ast::LaunchOptionKind::Threads) not_supported(in, option.span, "`threads` in a schedule");
    // Panels and a reversed axis are two things that a raster may say.
    auto* order = option.kind == ast::LaunchOptionKind::Raster && option.value ? option.value->as<ast::Call>() : nullptr;
    auto* word = order ? order->callee->as<ast::NameRef>() : nullptr;
    bool is_panels = word && word->name.text == "column";
    bool is_new = said.emplace(is_panels ? "panels" : "option", spelling(option.kind)).second;
    if (!is_new) in.at(option.span).error(diag::GivenTwice, spelling(option.kind));
  }
  void operator()(const ast::PipelineItem& item) {
    once("pipeline", item.name);
    for (const ast::Name& name : item.members) {
      tile(name);
      once("tile of a pipeline", name);
      if (contains(known.tiles, name.text) && !contains(known.shared, name.text))
        not_allowed(in, name.span, "`" + std::string(name.text) + "`", "in a pipeline, which fills `shared` tiles");
    }
    clauses("pipeline", item.clauses, kPipelineWords);
  }
  void operator()(const ast::LayoutItem& item) {
    for (const ast::Name& name : item.names) {
      tile(name);
      once("layout", name);
    }
  }
  void operator()(const ast::RoleItem& item) {
    once("role", item.name);
    for (const ast::Name& name : item.labels) {
      once("statement of a role", name);
      if (name.text != ir::kRest && !contains(known.tiles, name.text)) label(name);
    }
    clauses("role", item.clauses, kRoleWords);
  }
  void operator()(const ast::PlaceItem& item) {
    for (const ast::Name& name : item.labels) {
      auto is_it = [&](const ast::Parameter& parameter) { return parameter.name.text == name.text; };
      if (!contains(known.tiles, name.text) && std::ranges::none_of(kernel.signature.parameters, is_it)) label(name);
      once("place", name);
    }
    clauses("place", item.clauses, kPlaceWords);
  }
  void operator()(const ast::RequireItem& item) {
    const ir::EnumNames needs = ir::names_of(ir::Need{});
    for (const ast::Name& name : item.names) {
      if (!name.exists()) continue;
      once("requirement", name);
      if (contains(needs, name.text)) continue;
      Report report = in.at(name.span).error(diag::UnknownName, name.text);
      suggest(report, name, needs);
      std::string all;
      for (std::string_view need : needs) all += (all.empty() ? "`" : ", `") + std::string(need) + "`";
      report.help("a schedule may require " + all);
    }
  }
};

KernelNames names_of(const ast::Kernel& kernel) {
  KernelNames names;
  names.block(kernel.body);
  for (const ast::Parameter& p : kernel.signature.parameters) {
    names.tiles.push_back(p.name.text);
    if (p.type->as<ast::ShapedType>()) names.shared.push_back(p.name.text);
  }
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
