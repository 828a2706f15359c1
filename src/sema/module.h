// Modules: one file each, their declarations by name, and what they import.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sema/sema.h"
#include "sema/value.h"

namespace tilec::sema {

struct Module {
  std::string name;  // as the provider calls it
  FileId file;
  const Ast* ast = nullptr;
  bool is_library = false;
  std::map<std::string_view, std::vector<const ast::Decl*>> declarations;  // several only for functions of the library
  std::map<std::string_view, const Module*> imports;                       // by the name that the file gives them
};

// What is said of a declaration that would hide a type.
constexpr std::string_view kBecauseType = "as a name, because it is a type";
std::string help_on_type_name(std::string_view name);

// Everything that the instances of one compilation share.
class Modules {
 public:
  Modules(SourceMap& sources, const SourceProvider& provider, Diagnostics& diagnostics, Reading reading)
      : sources_(sources), provider_(provider), diagnostics_(diagnostics), reading_(reading) {}

  const Module* add_root(const Ast& root);
  const Module* prelude() const { return prelude_; }
  std::vector<std::unique_ptr<Ast>> take_asts() { return std::move(asts_); }
  // A module of the library, whether it is imported or not; null where there is none.
  const Module* of_library(std::string_view path);
  // Near names of a module for "did you mean".
  void names_of(const Module& module, std::vector<std::string_view>& names) const;

 private:
  Module* add(const Ast& ast, std::string name, bool is_library);
  const Module* import(const ast::Import& import, const Module& importer);
  const Module* load(SourceProvider::Source source, bool is_library, Span place);
  void collect(Module& module);
  void refuse_type_name(const ast::Name& name);
  void load_prelude();

  SourceMap& sources_;
  const SourceProvider& provider_;
  Diagnostics& diagnostics_;
  Reading reading_;  // of what is imported
  std::vector<std::unique_ptr<Module>> modules_;
  std::vector<std::unique_ptr<Ast>> asts_;
  std::vector<std::string> open_;  // modules whose imports are being read
  const Module* prelude_ = nullptr;
};

}  // namespace tilec::sema
