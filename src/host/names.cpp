#include "host/names.h"

#include <unordered_map>

#include "diag/diag.h"
#include "target/abi/c_names.h"

namespace tilec::host {

namespace {

// What stands beside each function.
constexpr std::string_view kCompanions[] = {"_args", "_call", "_load", "_check", "_info", "_workspace_size"};

// `f_0_launch1_x86_64`: what the launches of `f` are called within the object.
bool is_launch_of(std::string_view name, std::string_view function) {
  if (!name.starts_with(function)) return false;
  auto skip = [&](std::string_view word) {
    bool begins = name.starts_with(word);
    name.remove_prefix(begins ? word.size() : 0);
    size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    name.remove_prefix(begins ? digits : 0);
    return begins && digits > 0;
  };
  name.remove_prefix(function.size());
  return skip("_") && skip("_launch") && name.starts_with('_');
}

// Words of our language too, which a kernel cannot be called: that was told.
constexpr std::string_view kWordsOfBoth[] = {"asm", "break", "const", "continue", "else", "enum", "for", "if", "return", "while"};

}  // namespace

void check_function_names(std::span<const FunctionName> functions, Diagnostics& diagnostics) {
  std::unordered_map<std::string_view, const FunctionName*> by_name;
  for (const FunctionName& f : functions) by_name.emplace(f.name, &f);
  for (const FunctionName& f : functions) {
    if (std::ranges::find(kWordsOfBoth, f.name) != std::end(kWordsOfBoth)) continue;
    std::string beginning(target::beginning_of_run_time(f.name));
    std::string why = beginning.empty() ? "C or its headers have it already" : "names that begin with `" + beginning + "` are the run time's";
    if (!beginning.empty() || target::is_word_of_c(f.name) || target::is_declared_by_c(f.name))
      diagnostics.at(f.span).error(diag::NotAllowedHere, "`" + f.name + "`", "as the name of an export, because " + why)
          .help("give it another name, `export NAME as OTHER;`, or put something before all of them with --prefix");
    for (std::string_view companion : kCompanions)
      if (auto other = by_name.find(f.name + std::string(companion)); other != by_name.end())
        diagnostics.at(other->second->span).error(diag::ExportClash, other->second->name)
            .note(f.span, diag::BecauseOf, "`" + other->second->name + "` comes with `" + f.name + "` of itself");
    for (const FunctionName& other : functions)
      if (is_launch_of(other.name, f.name))
        diagnostics.at(other.span).error(diag::ExportClash, other.name)
            .note(f.span, diag::BecauseOf, "a launch of `" + f.name + "` may be called `" + other.name + "`");
  }
}

}  // namespace tilec::host
