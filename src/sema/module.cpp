#include "sema/module.h"

#include "base/text.h"
#include "diag/diag.h"
#include "syntax/parse.h"

namespace tilec::sema {
namespace {

struct NameOf {
  ast::Name operator()(const ast::Const& d) const { return d.name; }
  ast::Name operator()(const ast::Enum& d) const { return d.name; }
  ast::Name operator()(const ast::Kernel& d) const { return d.signature.name; }
  ast::Name operator()(const ast::Fn& d) const { return d.signature.name; }
  ast::Name operator()(const ast::Op& d) const { return d.signature.name; }
  ast::Name operator()(const ast::Mesh& d) const { return d.name; }
  template <class T> ast::Name operator()(const T&) const { return {}; }
};

std::string path_text(const std::vector<ast::Name>& path) {
  std::vector<std::string> parts;
  for (const ast::Name& name : path) parts.emplace_back(name.text);
  return join(parts, ".");
}

// What a generic parameter is of; an enumeration of this name would hide it.
constexpr std::string_view kKinds[] = {"type", "number", "float", "integer", "shape"};

bool hides_type(const ast::Decl& decl, std::string_view name) {
  bool is_kind = std::ranges::find(kKinds, name) != std::end(kKinds);
  return scalar_named(name) || (is_kind && decl.as<ast::Enum>());
}

// The name under which an import is seen: its alias, or the last word of its path.
ast::Name import_name(const ast::Import& import) {
  if (import.alias.exists()) return import.alias;
  return import.path.empty() ? ast::Name{} : import.path.back();
}

}  // namespace

std::string help_on_type_name(std::string_view name) {
  return "another name, such as `" + std::string(name) + "_`, leaves the type what it is";
}

const Module* Modules::add_root(const Ast& root) {
  load_prelude();
  std::string name(sources_.name(root.file));
  open_.push_back(name);
  Module* module = add(root, name, false);
  open_.pop_back();
  return module;
}

void Modules::load_prelude() {
  if (!provider_.module) return;
  for (std::string_view path : {"std.core"})
    if (auto source = provider_.module(path)) prelude_ = load(std::move(*source), true, {});
}

Module* Modules::add(const Ast& ast, std::string name, bool is_library) {
  Module& module = *modules_.emplace_back(std::make_unique<Module>());
  module.name = std::move(name);
  module.file = ast.file;
  module.ast = &ast;
  module.is_library = is_library;
  collect(module);
  return &module;
}

void Modules::collect(Module& module) {
  for (const ast::Decl* decl : module.ast->declarations) {
    if (auto* import_decl = decl->as<ast::Import>()) {
      ast::Name name = import_name(*import_decl);
      const Module* imported = import(*import_decl, module);
      bool needs_name = !name.exists() && imported;
      if (needs_name) diagnostics_.at(import_decl->source_span).error(diag::NotAllowedHere, "a file without a name", "in an import; write `import \"FILE\" as name;`");
      if (!name.exists()) continue;
      if (scalar_named(name.text)) {
        refuse_type_name(name);
        imported = nullptr;
      }
      // One that is not there keeps its name, so that its uses are no mistakes of their own.
      auto [known, is_new] = module.imports.try_emplace(name.text, imported);
      if (!is_new && known->second != imported) diagnostics_.at(name.span).error(diag::Redeclared, name.text);
      continue;
    }
    ast::Name name = std::visit(NameOf{}, decl->node);
    if (!name.exists()) continue;
    // What goes by the name is as silent as an import that is not there.
    if (!module.is_library && hides_type(*decl, name.text)) {
      refuse_type_name(name);
      module.imports.try_emplace(name.text, nullptr);
      continue;
    }
    auto& list = module.declarations[name.text];
    bool may_overload = decl->as<ast::Fn>() && module.is_library;
    if (!list.empty() && !may_overload) {
      diagnostics_.at(name.span).error(diag::Redeclared, name.text)
          .note(std::visit(NameOf{}, list[0]->node).span, diag::DeclaredHere, name.text);
      continue;
    }
    list.push_back(decl);
  }
}

void Modules::refuse_type_name(const ast::Name& name) {
  diagnostics_.at(name.span).error(diag::NotAllowedHere, "`" + std::string(name.text) + "`", kBecauseType).help(help_on_type_name(name.text));
}

const Module* Modules::import(const ast::Import& import, const Module& importer) {
  bool is_file = import.path.empty();
  const bool is_empty = is_file && import.source_span.end - import.source_span.begin == 2;  // `""`
  if (is_file && import.file.empty() && !is_empty) return nullptr;  // the parser has spoken
  std::string path = is_file ? import.file : path_text(import.path);
  std::optional<SourceProvider::Source> source;
  if (is_file && provider_.file && !is_empty) source = provider_.file(importer.name, import.file);
  if (!is_file && provider_.module) source = provider_.module(path);
  if (!source) {
    auto report = diagnostics_.at(import.source_span).error(diag::ImportNotFound, path);
    bool is_ours = !is_file && provider_.module && import.path.size() == 1 && provider_.module("std." + path);
    if (is_ours) report.help("modules of the library begin with `std`: `import std." + path + ";`");
    else if (!is_file && importer.ast && !path.starts_with("std.")) report.help("modules of the library begin with `std`, `import std.math;`; a file is imported by `import \"FILE.tile\" as name;`");
    return nullptr;
  }
  return load(std::move(*source), !is_file, import.source_span);
}

const Module* Modules::load(SourceProvider::Source source, bool is_library, Span place) {
  if (std::find(open_.begin(), open_.end(), source.name) != open_.end()) {
    diagnostics_.at(place).error(diag::ImportCycle, source.name);
    return nullptr;
  }
  for (const auto& module : modules_)
    if (module->name == source.name) return module.get();
  FileId file = sources_.add(source.name, std::move(source.text));
  asts_.push_back(std::make_unique<Ast>(parse(file, sources_, diagnostics_, reading_)));
  open_.push_back(source.name);
  const Module* module = add(*asts_.back(), source.name, is_library);
  open_.pop_back();
  return module;
}

const Module* Modules::of_library(std::string_view path) {
  auto source = provider_.module ? provider_.module(path) : std::nullopt;
  return source ? load(std::move(*source), true, {}) : nullptr;
}

void Modules::names_of(const Module& module, std::vector<std::string_view>& names) const {
  for (const auto& [name, list] : module.declarations) names.push_back(name);
  for (const auto& [name, imported] : module.imports) names.push_back(name);
}

}  // namespace tilec::sema
