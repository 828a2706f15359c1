// A program: every export lowered, and what is not exported checked.
#include "base/check.h"
#include "base/text.h"
#include "sema/call.h"
#include "sema/kernel.h"
#include "sema/names.h"
#include "sema/same_call.h"
#include "sema/schedule.h"
#include "sema/schedule_names.h"
#include "sema/stmt.h"
#include "sema/unused.h"

namespace tilec::sema {
namespace {

constexpr size_t kMostInstances = 16;  // of an export: a call has a bit for each of them and each machine

struct Analysis {
  Session& session;
  const Module& root;
  Program& program;
  const std::function<void(const ir::Kernel&)>& tell;
  std::set<const ast::Decl*> lowered = {};
  std::vector<Instantiation> made = {};  // for each export of the program

  void not_yet(Span span, std::string_view what) { session.diagnostics.at(span).error(diag::NotSupportedYet, what); }

  std::optional<LoweredKernel> lower(const Request& request) {
    lowered.insert(request.decl);
    return lower_kernel(session, request);
  }

  // Two kernels of one name: that was told.
  bool is_declared_again(const ast::Name& name, const Request& request) const {
    auto declared = root.declarations.find(name.text);
    bool is_own = request.module == &root && request.decl->as<ast::Kernel>()->signature.name.span == name.span;
    return is_own && declared != root.declarations.end() && declared->second[0] != request.decl;
  }

  // `number`: among the instances of the export.
  void add_export(const ast::Name& name, const Request& request, size_t number = 0) {
    if (is_declared_again(name, request)) return;
    for (const ExportInstance& other : program.exports)
      if (number == 0 && other.name == name.text) return void(session.diagnostics.at(name.span).error(diag::ExportClash, name.text));
    auto kernel = lower(request);
    INVARIANT(kernel || session.diagnostics.has_errors(), "an export is left out for a mistake that was told");
    if (!kernel) return;
    program.exports.push_back({std::string(name.text), request.decl->doc, {}, variables_of(*request.decl->as<ast::Kernel>()),
                               std::move(kernel->kernel), {}, request.span, number});
    made.push_back({request, std::move(kernel->generics), program.exports.back().kernel.dims});
    if (number > 0) compare_with_first(number);
    pin_schedules(session, root, made.back(), program.exports.back());
    if (tell) tell(program.exports.back().kernel);
  }

  // What no schedule of the source pins the clusters of, a machine may also want in wider ones.
  void add_wide(size_t instances) {
    const size_t all = program.exports.size();
    if (instances < 2 || instances >= kMostInstances || all < instances) return;
    bool are_made = program.exports[all - instances].name == program.exports.back().name && program.exports.back().number == instances - 1;
    if (!are_made) return;
    Instantiation copied = made[all - instances];
    ExportInstance copy = program.exports[all - instances];
    copy.number = instances, copy.is_wide = copied.is_wide = true;
    copy.schedules.clear();
    pin_schedules(session, root, copied, copy);
    program.exports.push_back(std::move(copy));
    made.push_back(std::move(copied));
  }

  // The instance that was made last, with the first one of its export, if that could be made.
  void compare_with_first(size_t number) {
    const ExportInstance& made_last = program.exports.back();
    if (program.exports.size() <= number) return;
    const ExportInstance& first = program.exports[program.exports.size() - 1 - number];
    if (first.name != made_last.name) return;
    std::string difference = difference_of_calls(first.kernel, made_last.kernel);
    if (difference.empty()) return;
    session.diagnostics.at(made_last.span).error(diag::InstancesDiffer, session.sources.text(first.span), session.sources.text(made_last.span), difference)
        .note(first.span, diag::DeclaredHere, session.sources.text(first.span));
  }

  void run_export(const ast::Export& node) {
    if (node.instances.size() > kMostInstances) {
      const ast::ExportedInstance& first_beyond = node.instances[kMostInstances];
      return void(session.diagnostics.at(cover(first_beyond.path.front().span, first_beyond.path.back().span))
                      .error(diag::NotAllowedHere, "more than " + std::to_string(kMostInstances) + " instances", "in an export"));
    }
    const ast::Name& name = node.alias.exists() ? node.alias : node.instances.front().path.back();
    for (size_t i = 0; i < node.instances.size(); ++i) {
      const ast::ExportedInstance& instance = node.instances[i];
      Instance in(session, root);
      Value what = value_of_path(in, instance.path);
      if (what.is_poison()) continue;
      Span span = cover(instance.path.front().span, instance.path.back().span);
      auto* kernel = what.as<KernelRef>();
      if (kernel) add_export(name, {kernel->module, kernel->decl, &root, instance.generics, node.where, span}, i);
      else session.diagnostics.at(span).error(diag::TypeMismatch, "a kernel", describe(in.kernel, what));
    }
    add_wide(node.instances.size());
  }

  void run_kernel(const ast::Decl& decl, const ast::Kernel& node) {
    if (node.is_exported && node.signature.name.exists()) add_export(node.signature.name, {&root, &decl, &root, {}, {}, node.signature.name.span});
  }

  // Kernels that no export asks for are looked at with their defaults.
  void check_kernel(const ast::Decl& decl, const ast::Kernel& node) {
    bool has_defaults = std::all_of(node.signature.generics.begin(), node.signature.generics.end(),
                                    [](const ast::GenericParameter& g) { return g.default_value != nullptr; });
    if (!lowered.contains(&decl) && has_defaults) lower({&root, &decl, &root, {}, {}, node.signature.name.span});
  }

  // Functions of plain numbers are looked at once as they stand; the others where they are called.
  void check_fn(const ast::Decl& decl, const ast::Fn& node) {
    bool is_plain = node.signature.generics.empty() && node.signature.requirements.empty() && !node.is_reference && (node.body || node.value);
    for (const ast::Parameter& p : node.signature.parameters)
      is_plain &= !takes_tile(p) && p.direction == ast::Direction::In && !p.is_const;
    if (!is_plain) return;
    Instance in(session, root);
    in.level = Level::Element;
    ast::Expr nowhere{node.signature.name.span, ast::NameRef{node.signature.name}};
    CallSite site{.expr = nowhere, .generics = {}, .arguments = {}, .hint = {}};
    Invocation call{{&root, &decl}, site, {}, {}};
    for (const ast::Parameter& p : node.signature.parameters) {
      auto* shaped = p.type->as<ast::ShapedType>();
      Value type = shaped ? value_of_path(in, shaped->path) : Value(Poison{});
      if (!type.is<TypeValue>()) return;
      ir::ValueId arg = in.kernel.new_arg(in.kernel.body, ir::scalar_type(type.as<TypeValue>()->scalar));
      call.arguments.push_back({{Dynamic{arg}, p.span}, &nowhere});
    }
    invoke(in, call);
  }

  void run_tune(const ast::Tune& node) {
    if (node.path.empty()) return;
    Instance in(session, root);
    Span span = cover(node.path.front().span, node.path.back().span);
    if (!value_of_path(in, node.path).is_poison()) not_yet(span, "`tune`");
  }

  void check_enum(const ast::Enum& node) {
    for (size_t i = 0; i < node.members.size(); ++i)
      for (size_t k = 0; k < i; ++k) {
        const ast::Name &first = node.members[k].name, &name = node.members[i].name;
        if (!name.exists() || first.text != name.text) continue;
        session.diagnostics.at(name.span).error(diag::Redeclared, name.text).note(first.span, diag::DeclaredHere, name.text);
        break;
      }
  }

  void check_attributes(const ast::Decl& decl) {
    for (const ast::Attribute& a : decl.attributes) {
      bool is_known = decl.as<ast::Kernel>() ? a.name.text == "fast_math" : decl.as<ast::Fn>() && a.name.text == "op";
      if (!a.name.exists() || is_known) continue;
      auto report = session.diagnostics.at(a.span).error(diag::NotSupportedYet, "the attribute `@" + std::string(a.name.text) + "` here");
      constexpr std::string_view kKnown[] = {"fast_math"};
      if (decl.as<ast::Kernel>() && !nearest(a.name.text, kKnown).empty()) report.fix(a.name.span, "fast_math", "did you mean `@fast_math`?");
    }
  }

  // Called or not: a function or a tuple is no compile-time value yet.
  void check_generics(const ast::Decl& decl) {
    auto* kernel = decl.as<ast::Kernel>();
    auto* fn = decl.as<ast::Fn>();
    if (!kernel && !fn) return;
    for (const ast::GenericParameter& p : (kernel ? kernel->signature : fn->signature).generics)
      if (p.kind && !p.kind->as<ast::ShapedType>()) not_yet(p.kind->span, kOtherKinds);
  }

  void run(const ast::Decl& decl) {
    check_generics(decl);
    if (auto* n = decl.as<ast::Export>()) run_export(*n);
    if (auto* n = decl.as<ast::Kernel>()) run_kernel(decl, *n);
    if (decl.as<ast::Const>()) value_of_constant(session, root, decl);
    if (auto* n = decl.as<ast::Enum>()) check_enum(*n);
    if (auto* n = decl.as<ast::Op>()) not_yet(n->signature.name.span, "an `op`");
    if (auto* n = decl.as<ast::Mesh>()) not_yet(n->name.span, "a `mesh`");
    if (auto* n = decl.as<ast::Test>()) not_yet(n->name.span, "a `test`");
    if (auto* n = decl.as<ast::Tune>()) run_tune(*n);
    if (auto* n = decl.as<ast::Fn>(); n && n->condition) not_yet(n->condition->span, "a function under a condition");
    check_attributes(decl);
    if (auto* n = decl.as<ast::StaticAssert>()) {
      Instance in(session, root);
      run_static_assert(in, *n);
    }
  }

  void run() {
    for (const ast::Decl* decl : root.ast->declarations) run(*decl);
    for (const ast::Decl* decl : root.ast->declarations) {
      if (auto* n = decl->as<ast::Kernel>()) check_kernel(*decl, *n);
      if (auto* n = decl->as<ast::Fn>()) check_fn(*decl, *n);
    }
    for (size_t i = 0; i < made.size(); ++i) program.exports[i].instance = instance_text(session, root, made[i], made);
    check_schedules(session, root, made);
  }
};

}  // namespace
}  // namespace tilec::sema

namespace tilec {

Program analyse(const Ast& root, SourceMap& sources, const SourceProvider& provider, Diagnostics& diagnostics,
                const std::function<void(const ir::Kernel&)>& made, Reading reading) {
  sema::Modules modules(sources, provider, diagnostics, reading);
  const sema::Module* module = modules.add_root(root);
  sema::Session session{sources, diagnostics, modules, {}, {}};
  Program program;
  sema::Analysis{session, *module, program, made}.run();
  // What has no value because of a mistake may have been used with it.
  if (!diagnostics.has_errors()) sema::warn_unused(*module, modules, sources, diagnostics);
  program.imported = modules.take_asts();
  return program;
}

}  // namespace tilec
