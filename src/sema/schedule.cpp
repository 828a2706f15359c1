#include "sema/schedule.h"

#include "base/text.h"
#include "sema/dims.h"
#include "sema/names.h"
#include "sema/scalar.h"
#include "sema/expr.h"
#include "sema/raster.h"
#include "sema/schedule_names.h"

namespace tilec::sema {
namespace {

std::optional<KernelRef> kernel_of(Instance& in, const ast::Schedule& schedule) {
  Value what = value_of_path(in, schedule.path);
  if (auto* kernel = what.as<KernelRef>()) return *kernel;
  if (!what.is_poison() && !schedule.path.empty())
    in.at(cover(schedule.path.front().span, schedule.path.back().span))
        .error(diag::TypeMismatch, "a kernel", describe(in.kernel, what));
  return std::nullopt;
}
const ast::Signature& signature_of(const KernelRef& kernel) { return kernel.decl->as<ast::Kernel>()->signature; }

const ast::Argument* argument_of(std::span<const ast::Argument> arguments, const ast::Signature& signature,
                                 size_t parameter) {
  for (size_t k = 0; k < arguments.size(); ++k) {
    const ast::Argument& a = arguments[k];
    if (a.is_named() ? a.name.text == signature.generics[parameter].name.text : k == parameter) return &a;
  }
  return nullptr;
}

bool is_same(const Value& a, const Value& b) {
  if (auto *x = a.as<TypeValue>(), *y = b.as<TypeValue>(); x && y) return x->scalar == y->scalar;
  if (auto *x = a.as<Const>(), *y = b.as<Const>(); x && y) return x->number == y->number;
  if (auto *x = a.as<EnumValue>(), *y = b.as<EnumValue>(); x && y) return x->type == y->type && x->index == y->index;
  return false;
}

// Has the instance the value that a schedule's brackets, or its `where`, give?
bool has_argument(Instance& in, const ast::Argument& wanted, size_t parameter, const Instantiation& made) {
  return is_same(evaluate(in, *wanted.value), made.generics[parameter]);
}
bool has_dim(Instance& in, const ast::Argument& wanted, const Instantiation& made) {
  auto n = known_int(in, operand(in, *wanted.value), "the value of a dim");
  return n && std::ranges::any_of(made.dims, [&](const ir::Dim& d) { return d.name == wanted.name.text && d.fixed == n; });
}

bool speaks_of(Instance& in, const ast::Schedule& schedule, const ast::Signature& signature, const Instantiation& made) {
  if (schedule.is_wide && !made.is_wide) return false;
  for (size_t i = 0; i < signature.generics.size(); ++i) {
    const ast::Argument* wanted = argument_of(schedule.generics, signature, i);
    if (wanted && !has_argument(in, *wanted, i, made)) return false;
  }
  return std::ranges::all_of(schedule.where, [&](const ast::Argument& wanted) { return has_dim(in, wanted, made); });
}

// As `root` may write it: what the export says, or else the value. Nothing where only another file has the words.
std::string argument_text(Session& session, const Module& root, const ast::Argument* given, const Value& value) {
  if (given) return std::string(session.sources.text(given->value->span));
  if (auto* type = value.as<TypeValue>()) return std::string(name(type->scalar));
  if (auto* c = value.as<Const>()) return c->type == Scalar::Bool ? (c->number.i ? "true" : "false") : std::to_string(c->number.i);
  auto* chosen = value.as<EnumValue>();
  bool is_of_root = chosen && std::any_of(root.ast->declarations.begin(), root.ast->declarations.end(),
                                          [&](const ast::Decl* d) { return d->as<ast::Enum>() == chosen->type; });
  return is_of_root ? std::string(chosen->type->name.text) + "." + std::string(chosen->type->members[chosen->index].name.text) : "";
}

struct Reading {
  Instance& in;
  ir::Schedule result = {};

  // Spacing between the words of a layout means nothing.
  static std::string one_line(std::string_view text) {
    std::string out;
    for (char c : text) {
      bool is_space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
      if (!is_space) out += c;
      else if (!out.empty() && out.back() != ' ') out += ' ';
    }
    return std::string(trim(out));
  }
  int64_t number_of(const ast::Expr* expr, std::string_view what, int64_t least = 1) {
    if (!expr) return 0;
    auto number = known_int(in, operand(in, *expr), what);
    if (!number) return 0;
    if (*number < least) in.at(expr->span).error(diag::NotAllowedHere, std::string(what) + " below " + std::to_string(least), "here");
    return *number;
  }

  void operator()(const ast::LaunchOption& option) {
    if (option.kind == ast::LaunchOptionKind::Persistent) result.persistent = true;
    if (!option.value) return;
    if (option.kind == ast::LaunchOptionKind::Cluster) {
      Value value = evaluate(in, *option.value);
      std::vector<Value> parts = value.is<Tuple>() ? value.as<Tuple>()->elements : std::vector<Value>{value};
      for (const Value& part : parts)
        result.cluster.push_back(known_int(in, {part, option.value->span}, "the shape of a cluster").value_or(1));
      if (std::ranges::any_of(result.cluster, [](int64_t n) { return n < 1; }))
        not_allowed(in, option.value->span, "a cluster without blocks", "here");
    }
    if (option.kind == ast::LaunchOptionKind::Split) result.split = number_of(option.value, "a number of parts");
    if (option.kind == ast::LaunchOptionKind::Raster)
      if (auto raster = read_raster(in, *option.value)) (raster->columns ? result.raster : result.backwards) = raster->columns + raster->backwards;
  }
  void operator()(const ast::PipelineItem& item) {
    ir::Pipeline pipeline{.name = std::string(item.name.text), .tiles = {}};
    for (const ast::Name& name : item.members) pipeline.tiles.emplace_back(name.text);
    for (const ast::Clause& c : item.clauses) {
      if (c.name.text == "depth") pipeline.depth = number_of(c.value, "the depth of a pipeline");
      if (c.name.text == "in_flight") pipeline.in_flight = number_of(c.value, "a number of products in flight", 0);
    }
    result.pipelines.push_back(std::move(pipeline));
  }
  void operator()(const ast::RoleItem& item) {
    result.are_roles_pinned = true;
    ir::Role role{.name = std::string(item.name.text)};
    for (const ast::Clause& c : item.clauses) {
      if (c.name.text == "warps") role.warps = number_of(c.value, "a number of warps");
      if (c.name.text == "registers") role.registers = number_of(c.value, "a number of registers");
    }
    for (const ast::Name& label : item.labels)
      result.placements.push_back({.label = std::string(label.text), .role = role.name});
    result.roles.push_back(std::move(role));
  }
  void operator()(const ast::PlaceItem& item) {
    for (const ast::Name& label : item.labels) {
      ir::Placement placement{.label = std::string(label.text), .role = {}};
      for (const ast::Clause& c : item.clauses) {
        if (c.name.text == "stage") placement.stage = number_of(c.value, "a stage", 0);
        if (c.name.text == "order") placement.order = number_of(c.value, "an order", 0);
      }
      result.placements.push_back(std::move(placement));
    }
  }
  void operator()(const ast::LayoutItem& item) {
    for (const ast::Name& name : item.names)
      result.layouts.push_back({std::string(name.text), one_line(item.text), item.text_span});
  }
  void operator()(const ast::RequireItem& item) {
    ir::EnumNames needs = ir::names_of(ir::Need{});
    for (const ast::Name& name : item.names)
      if (auto found = std::ranges::find(needs, name.text); found != needs.end())
        result.required.push_back({ir::Need(found - needs.begin()), name.span});
  }
};

ir::Schedule read(Instance& in, const ast::Schedule& schedule) {
  Reading reading{in};
  for (const ast::ScheduleItem& item : schedule.items) std::visit(reading, item.node);
  reading.result.span = cover(schedule.path.front().span, schedule.path.back().span);
  return std::move(reading.result);
}

}  // namespace

std::string instance_text(Session& session, const Module& root, const Instantiation& made, std::span<const Instantiation> all) {
  const ast::Signature& signature = made.request.decl->as<ast::Kernel>()->signature;
  std::string text(session.sources.text(made.request.span)), arguments;
  for (size_t i = 0; i < signature.generics.size(); ++i) {
    const ast::Argument* given = argument_of(made.request.generics, signature, i);
    bool tells_apart = std::any_of(all.begin(), all.end(), [&](const Instantiation& other) {
      return other.request.decl == made.request.decl && !is_same(other.generics[i], made.generics[i]);
    });
    if (!given && !tells_apart) continue;
    std::string argument = argument_text(session, root, given, made.generics[i]);
    if (argument.empty()) continue;
    arguments += (arguments.empty() ? "[" : ", ") + std::string(signature.generics[i].name.text) + " = " + argument;
  }
  if (!arguments.empty()) text += arguments + "]";
  std::string_view separator = " where ";
  for (const ir::Dim& dim : made.dims) {
    if (!dim.fixed) continue;
    text += std::string(separator) + dim.name + " = " + std::to_string(*dim.fixed);
    separator = ", ";
  }
  return made.is_wide ? text + " wide" : text;
}

void pin_schedules(Session& session, const Module& root, const Instantiation& made, ExportInstance& instance) {
  for (const ast::Decl* d : root.ast->declarations) {
    auto* schedule = d->as<ast::Schedule>();
    if (!schedule) continue;
    Instance in(session, root);
    std::optional<KernelRef> kernel = kernel_of(in, *schedule);
    if (!kernel || kernel->decl != made.request.decl || !speaks_of(in, *schedule, signature_of(*kernel), made)) continue;
    PinnedSchedule pinned{.targets = {}, .dims = schedule->where.size(), .arguments = schedule->generics.size(),
                          .schedule = read(in, *schedule), .is_wide = schedule->is_wide};
    for (const ast::Name& target : schedule->targets) pinned.targets.emplace_back(target.text);
    instance.schedules.push_back(std::move(pinned));
  }
}

namespace {

// The dims of a kernel by name, for one that stands in any module. Nothing after a mistake in its parameters.
std::optional<std::set<std::string_view>> dims_of(Session& session, const KernelRef& kernel) {
  Instance in(session, *kernel.module);
  for (const ast::GenericParameter& p : signature_of(kernel).generics) in.declare(p.name, Poison{}, "a compile-time parameter");
  auto dims = dim_names(in, signature_of(kernel));
  if (!dims) return std::nullopt;
  std::set<std::string_view> names;
  for (const DimName& dim : *dims) names.insert(dim.name.text);
  return names;
}

void check_arguments(Instance& in, const ast::Schedule& schedule, const KernelRef& kernel) {
  const ast::Signature& signature = signature_of(kernel);
  auto require = [&](const ast::Argument& a, bool is_known) {
    if (!is_known) in.at(a.name.span).error(diag::UnknownParameter, signature.name.text, a.name.text);
  };
  for (const ast::Argument& a : schedule.generics) {
    evaluate(in, *a.value);
    require(a, !a.is_named() || std::ranges::any_of(signature.generics, [&](const auto& g) { return g.name.text == a.name.text; }));
  }
  auto dims = dims_of(in.session, kernel);
  for (const ast::Argument& a : schedule.where) {
    known_int(in, operand(in, *a.value), "the value of a dim");
    require(a, !dims || dims->contains(a.name.text));
  }
}

// What is never so: a value that no instance has.
std::string unmet_by_all(Instance& in, const ast::Schedule& schedule, const ast::Signature& signature, std::span<const Instantiation* const> all) {
  if (all.empty()) return "this file exports none";
  if (schedule.is_wide && std::ranges::none_of(all, &Instantiation::is_wide)) return "only the first instance of an export that lists several has a copy in wide clusters";
  for (size_t i = 0; i < signature.generics.size(); ++i) {
    const ast::Argument* wanted = argument_of(schedule.generics, signature, i);
    if (wanted && std::ranges::none_of(all, [&](const Instantiation* made) { return has_argument(in, *wanted, i, *made); }))
      return "none has `" + std::string(signature.generics[i].name.text) + " = " + std::string(in.text(wanted->value->span)) + "`";
  }
  for (const ast::Argument& wanted : schedule.where)
    if (std::ranges::none_of(all, [&](const Instantiation* made) { return has_dim(in, wanted, *made); }))
      return "none fixes `" + std::string(wanted.name.text) + " = " + std::string(in.text(wanted.value->span)) + "` after `where`";
  return "none has all of these values at once";
}

void warn_if_unused(Instance& in, const ast::Schedule& schedule, const KernelRef& kernel, std::span<const Instantiation> made) {
  std::vector<const Instantiation*> instances;
  for (const Instantiation& m : made)
    if (m.request.decl == kernel.decl) instances.push_back(&m);
  const ast::Signature& signature = signature_of(kernel);
  if (std::ranges::any_of(instances, [&](const Instantiation* m) { return speaks_of(in, schedule, signature, *m); })) return;
  in.session.diagnostics.at(cover(schedule.path.front().span, schedule.path.back().span))
      .warning(diag::UnusedSchedule, signature.name.text, unmet_by_all(in, schedule, signature, instances));
}

}  // namespace

void check_schedules(Session& session, const Module& root, std::span<const Instantiation> made) {
  for (const ast::Decl* d : root.ast->declarations) {
    auto* schedule = d->as<ast::Schedule>();
    if (!schedule) continue;
    Instance in(session, root);
    std::optional<KernelRef> kernel = kernel_of(in, *schedule);
    if (!kernel) continue;
    check_arguments(in, *schedule, *kernel);
    check_schedule_names(in, *schedule, *kernel->decl->as<ast::Kernel>());
    read(in, *schedule);
    if (!session.diagnostics.has_errors()) warn_if_unused(in, *schedule, *kernel, made);
  }
}

}  // namespace tilec::sema
