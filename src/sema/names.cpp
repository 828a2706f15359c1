#include "sema/names.h"

#include "base/text.h"
#include "sema/assign.h"
#include "sema/expr.h"
#include "sema/foreign_names.h"
#include "sema/types.h"
#include "syntax/foreign_words.h"

namespace tilec::sema {
namespace {

Value value_of_declaration(Session& session, const Module& module, const std::vector<const ast::Decl*>& decls) {
  const ast::Decl& decl = *decls[0];
  if (decl.as<ast::Const>()) return value_of_constant(session, module, decl);
  if (auto* e = decl.as<ast::Enum>()) return EnumType{e};
  if (decl.as<ast::Kernel>()) return KernelRef{&module, &decl};
  if (decl.as<ast::Fn>()) {
    FnSet set;
    for (const ast::Decl* d : decls) set.candidates.push_back({&module, d});
    return set;
  }
  return Poison{};
}

std::optional<Value> in_module(Instance& in, const Module& module, std::string_view name) {
  if (auto it = module.imports.find(name); it != module.imports.end())
    return it->second ? Value(ModuleRef{it->second}) : Value(Poison{});
  auto it = module.declarations.find(name);
  if (it == module.declarations.end()) return std::nullopt;
  return value_of_declaration(in.session, module, it->second);
}

constexpr std::string_view kLibraryModules[] = {"math"};

// Words of modules of the library that stand behind an import. `meant` is the word itself, or one like it.
bool suggest_import(Instance& in, Report& report, const ast::Name& word, std::string_view meant) {
  for (std::string_view module : kLibraryModules) {
    const Module* library = in.session.modules.of_library("std." + std::string(module));
    if (!library || !library->declarations.contains(meant)) continue;
    std::string where = std::string(module) + "." + std::string(meant);
    if (meant != word.text) {
      report.help("did you mean `" + where + "`, which is in `std." + std::string(module) + "`?");
      return true;
    }
    if (in.module().imports.contains(module)) report.fix(word.span, where, "it is in `std." + std::string(module) + "`");
    else report.help("it is in `std." + std::string(module) + "`: `import std." + std::string(module) + ";`, then `" + where + "`");
    return true;
  }
  return false;
}

// A name that is told once is left open.
bool is_told(Instance& in, const ast::Name& name) { return !in.undeclared.emplace(in.frame().decl, std::string(name.text)).second; }

std::vector<std::string_view> names_in_sight(const Instance& in) {
  std::vector<std::string_view> names;
  for (size_t i = in.frames.back().first_scope; i < in.scopes.size(); ++i)
    for (const Binding& b : in.scopes[i]) names.push_back(b.name);
  return names;
}

// The word behind the `.` behind `span`; empty where none is.
Span member_behind(Instance& in, Span span) {
  constexpr uint32_t kFarthest = 64;
  uint32_t end = std::min(span.end + kFarthest, uint32_t(in.session.sources.text(span.file).size()));
  std::string_view rest = in.text({span.file, span.end, end});
  auto is_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  size_t last = 1;
  while (rest.starts_with('.') && last < rest.size() && is_of_word(rest[last])) ++last;
  return {span.file, span.end + uint32_t(last > 1), span.end + uint32_t(last > 1 ? last : 0)};
}

// `math.exp(x)`, `T.alloc_shared(...)`: is there advice for it?
bool suggest_member(Instance& in, Report& report, const ast::Name& module) {
  Span span = member_behind(in, module.span);
  std::string member(in.text(span));
  const Module* prelude = in.session.modules.prelude();
  if (std::string_view help = help_for_member_of_module(member); !help.empty()) return report.help(std::string(help)), true;
  if (member.empty() || !prelude || !prelude->declarations.contains(member)) return false;
  report.fix({span.file, module.span.begin, span.begin}, "", "`" + member + "` needs no module");
  return true;
}

// Extents see the parameters in front of theirs.
bool is_later_parameter(Instance& in, const ast::Name& name) {
  const ast::Decl* decl = in.frame().decl;
  auto *kernel = decl ? decl->as<ast::Kernel>() : nullptr;
  auto *fn = decl ? decl->as<ast::Fn>() : nullptr;
  if (!kernel && !fn) return false;
  const ast::Signature& signature = kernel ? kernel->signature : fn->signature;
  return std::ranges::any_of(signature.parameters, [&](const ast::Parameter& p) { return p.name.text == name.text && p.name.span.begin > name.span.begin; });
}

void suggest(Instance& in, Report report, const ast::Name& name) {
  if (auto scalar = syntax::foreign_type(name.text)) {
    std::string ours(tilec::name(*scalar));
    report.fix(name.span, ours, "the type is called `" + ours + "` here");
    return;
  }
  if (is_foreign_module(name.text) && suggest_member(in, report, name)) return;
  if (std::string_view help = help_for_name(name.text); !help.empty()) return void(report.help(std::string(help)));
  if (is_later_parameter(in, name)) return void(report.help("the parameter of this name comes behind: put it in front of the one whose extents name it"));
  if (suggest_import(in, report, name, name.text)) return;
  std::vector<std::string_view> names = names_in_sight(in);
  in.session.modules.names_of(in.module(), names);
  if (const Module* prelude = in.session.modules.prelude()) in.session.modules.names_of(*prelude, names);
  std::string_view near = nearest(name.text, names);
  if (!near.empty()) return void(report.fix(name.span, near, "did you mean `" + std::string(near) + "`?"));
  for (std::string_view module : kLibraryModules)
    if (const Module* library = in.session.modules.of_library("std." + std::string(module))) in.session.modules.names_of(*library, names);
  suggest_import(in, report, name, nearest(name.text, names));
}

bool names_space(std::string_view word) {
  return word == "workspace" || word == "shared" || word == "local" || word == "fragment";
}

}  // namespace

Value read_variable(Instance& in, VariableId id, Span span) {
  Variable& v = in.variable(id);
  if (v.is_poison) return Poison{};
  if (v.type.is_tile() && in.level == Level::Thread) return not_allowed(in, span, "a fragment", "inside `simt`");
  if (!v.current.valid()) {
    auto report = in.at(span).error(diag::Uninitialised, v.name);
    report.note(v.span, diag::DeclaredHere, v.name);
    if (v.was_written) report.help("some path to this place does not write it");
    std::string_view declaration = in.text(v.span);
    uint32_t end = v.span.end - declaration.ends_with(';');
    if (declaration.find('=') == std::string_view::npos) report.fix({v.span.file, end, end}, " = 0", "give it a first value");
    v.is_poison = true;
    return Poison{};
  }
  if (v.type.is_tile()) return Tile{v.current};
  return Dynamic{v.current};
}

Value value_of_name(Instance& in, const ast::Name& name) {
  if (!name.exists()) return Poison{};
  if (const Binding* binding = in.find(name.text)) {
    if (auto* variable = std::get_if<VariableId>(&binding->what)) return read_variable(in, *variable, name.span);
    return std::get<Value>(binding->what);
  }
  if (name.text == "threads" && in.level == Level::Thread) {
    if (in.threads) return int_const(*in.threads);
    in.at(name.span).error(diag::NotCompileTime, "the number of threads")
        .help("state it: `launch (...) threads 256 { ... }`");
    return Poison{};
  }
  if (auto value = in_module(in, in.module(), name.text)) return *value;
  // `sum = 0.0;` hides a function of the library.
  if (in.undeclared.contains({in.frame().decl, std::string(name.text)})) return Poison{};
  if (const Module* prelude = in.session.modules.prelude())
    if (auto value = in_module(in, *prelude, name.text)) return *value;
  if (auto scalar = scalar_named(name.text)) {
    if (!is_supported(*scalar)) return not_supported(in, name.span, "the type `" + std::string(name.text) + "`");
    return TypeValue{*scalar};
  }
  if (name.text == "target" || name.text == "fast")
    return not_supported(in, name.span, "`" + std::string(name.text) + "`");
  // `let w = workspace f32[N]`: the parser has said how memory is declared.
  if (names_space(name.text) && in.session.diagnostics.has_errors()) return Poison{};
  if (is_told(in, name)) return Poison{};
  suggest(in, in.at(name.span).error(diag::UnknownName, name.text), name);
  return Poison{};
}

namespace {

bool may_be_set(const Instance& in, const Binding& binding) {
  auto* value = std::get_if<Value>(&binding.what);
  auto* view = value ? value->as<View>() : nullptr;
  return !value || (view && in.memory(view->memory).access != ir::Access::In);
}

bool has_word(std::string_view text, std::string_view word) {
  auto is_of_word = [&](size_t at) { return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'); };
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
    if (!(at > 0 && is_of_word(at - 1)) && !is_of_word(at + word.size())) return true;
  return false;
}

}  // namespace

bool is_undeclared_target(Instance& in, const ast::Name& name, Span value, bool has_operator) {
  if (!name.exists() || in.find(name.text) || in_module(in, in.module(), name.text) || scalar_named(name.text)) return false;
  if (is_told(in, name)) return true;
  auto report = in.at(name.span).error(diag::UnknownName, name.text);
  // Those that could be set: `m` beside an extent `M` is a variable that nobody has declared.
  std::vector<std::string_view> names = names_in_sight(in);
  std::erase_if(names, [&](std::string_view other) { return !may_be_set(in, *in.find(other)); });
  std::string_view near = nearest(name.text, names);
  Span front{name.span.file, name.span.begin, name.span.begin};
  const bool names_itself = has_word(in.text(value), name.text);
  if (!near.empty()) report.fix(name.span, near, "did you mean `" + std::string(near) + "`?");
  else if (has_operator || names_itself) report.help("a variable is declared first: `var " + std::string(name.text) + ": f32 = 0;`");
  else report.fix(front, "var ", "a variable is declared where it begins: `var " + std::string(name.text) + " = " + std::string(in.text(value)) + ";`");
  return true;
}

Value value_of_member(Instance& in, const Module& module, const ast::Name& name) {
  if (!name.exists()) return Poison{};
  if (auto value = in_module(in, module, name.text)) return *value;
  std::vector<std::string_view> names;
  in.session.modules.names_of(module, names);
  auto report = in.at(name.span).error(diag::UnknownMember, module.name, name.text);
  const Module* prelude = in.session.modules.prelude();
  bool is_plain = prelude && &module != prelude && prelude->declarations.contains(name.text);
  if (is_plain) return report.help("`" + std::string(name.text) + "` needs no module"), Poison{};
  if (std::string_view near = nearest(name.text, names); !near.empty())
    report.fix(name.span, near, "did you mean `" + std::string(near) + "`?");
  return Poison{};
}

void suggest_parameter(Report& report, const ast::Name& given, std::span<const std::string_view> names) {
  std::string_view ours = help_for_parameter(given.text), near = nearest(given.text, names);
  bool is_name = std::ranges::find(names, ours) != names.end();
  if (is_name) near = ours;
  if (!near.empty()) report.fix(given.span, near, is_name ? "it is called `" + std::string(near) + "` here" : "did you mean `" + std::string(near) + "`?");
  else if (ours.find(' ') != ours.npos) report.help(ours);
}

FnSet functions_named(Instance& in, std::string_view name) {
  FnSet set;
  for (const Module* module : {&in.module(), in.session.modules.prelude()}) {
    if (!module || (!set.candidates.empty() && module == set.candidates[0].module)) continue;
    auto it = module->declarations.find(name);
    if (it == module->declarations.end()) continue;
    for (const ast::Decl* decl : it->second)
      if (decl->as<ast::Fn>()) set.candidates.push_back({module, decl});
  }
  return set;
}

FnSet functions_called(Instance& in, const ast::Call& call) {
  if (auto* name = call.callee->as<ast::NameRef>()) return functions_named(in, name->name.text);
  auto* member = call.callee->as<ast::Member>();
  auto* base = member ? member->base->as<ast::NameRef>() : nullptr;
  if (!base || in.find(base->name.text)) return {};
  auto module = in_module(in, in.module(), base->name.text);
  auto* named = module ? module->as<ModuleRef>() : nullptr;
  auto value = named ? in_module(in, *named->module, member->name.text) : std::nullopt;
  auto* functions = value ? value->as<FnSet>() : nullptr;
  return functions ? *functions : FnSet();
}

const ast::Parameter* parameter_of(const FnRef& fn, const ast::Call& call, const ast::Argument& argument) {
  const auto& parameters = fn.fn().signature.parameters;
  size_t place = 0;
  for (const ast::Argument& other : call.arguments) {
    if (&other == &argument) break;
    place += !other.is_named();
  }
  for (size_t i = 0; i < parameters.size(); ++i)
    if (argument.is_named() ? parameters[i].name.text == argument.name.text : i == place) return &parameters[i];
  return nullptr;
}

Value value_of_path(Instance& in, const std::vector<ast::Name>& path) {
  if (path.empty()) return Poison{};
  Value value = value_of_name(in, path[0]);
  for (size_t i = 1; i < path.size() && !value.is_poison(); ++i) {
    if (auto* m = value.as<ModuleRef>()) {
      value = value_of_member(in, *m->module, path[i]);
      continue;
    }
    in.at(path[i].span).error(diag::UnknownMember, path[i - 1].text, path[i].text);
    return Poison{};
  }
  return value;
}

std::optional<Scalar> scalar_of_path(Instance& in, const std::vector<ast::Name>& path) {
  Value value = value_of_path(in, path);
  if (auto* t = value.as<TypeValue>()) return t->scalar;
  if (!value.is_poison()) {
    Span span = cover(path.front().span, path.back().span);
    in.at(span).error(diag::NotAType, in.text(span));
  }
  return std::nullopt;
}

// Constants that need one another, one below the other.
constexpr size_t kMostConstants = 256;

Value value_of_constant(Session& session, const Module& module, const ast::Decl& decl) {
  if (auto it = session.constants.find(&decl); it != session.constants.end()) return it->second;
  const ast::Const& constant = *decl.as<ast::Const>();
  Instance in(session, module);
  if (!session.constants_in_progress.insert(&decl).second) {
    in.at(constant.name.span).error(diag::ConstantCycle, constant.name.text);
    return Poison{};
  }
  if (session.constants_in_progress.size() > kMostConstants) {
    session.constants_in_progress.erase(&decl);
    in.at(constant.name.span).error(diag::NestedTooDeep, int64_t(kMostConstants));
    return session.constants[&decl] = Poison{};
  }
  Operand operand{evaluate(in, *constant.value), constant.value->span};
  if (operand.value.is_element() || operand.value.is<Dynamic>()) {
    in.at(operand.span).error(diag::NotCompileTime, "a constant");
    operand.value = Poison{};
  }
  if (constant.type) {
    auto type = resolve(in, *constant.type);
    operand.value = type && type->is_scalar() ? implicitly(in, operand, type->element) : Value(Poison{});
  }
  session.constants_in_progress.erase(&decl);
  return session.constants[&decl] = operand.value;
}

}  // namespace tilec::sema
