#include "driver/driver.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "diag/catalogue.h"
#include "diag/explain.h"
#include "driver/another_try.h"
#include "driver/files.h"
#include "driver/option_files.h"
#include "driver/run_dims.h"
#include "driver/session.h"
#include "explain/cost_text.h"
#include "explain/explain.h"
#include "ir/print.h"
#include "syntax/format.h"
#include "target/native/native.h"

namespace tilec {

namespace {

// Exports of the same kernel with the same arguments are one; copies in wider clusters another.
struct Group {
  std::vector<const ExportInstance*> exports;
};
std::vector<Group> grouped(const Program& program, const std::string& wanted) {
  std::vector<Group> groups;
  std::map<std::string, size_t> known;
  for (const ExportInstance& e : program.exports) {
    if (!wanted.empty() && e.name != wanted) continue;
    auto [at, is_new] = known.try_emplace(ir::print(e.kernel, {}) + (e.is_wide ? " wide" : ""), groups.size());
    if (is_new) groups.push_back({});
    groups[at->second].exports.push_back(&e);
  }
  return groups;
}

int explain_file(const Options& options, const std::string& input) {
  Session session(options);
  auto machines = session.machines();
  if (!machines) return kNoTarget;
  if (int code = session.load(input)) return code;
  if (int code = session.tell()) return code;
  std::vector<Group> groups = grouped(session.program, options.kernel);
  if (groups.empty() && !options.kernel.empty()) {
    std::fprintf(stderr, "tilec: no export is named '%s'\n", options.kernel.c_str());
    return kUsage;
  }
  auto dims = given_dims(options, session.program);
  if (!dims) return kUsage;
  auto number = [&](const std::string& name) { return dims->contains(name) ? std::optional(double(dims->at(name))) : std::nullopt; };
  Diagnostics found(session.diagnostics.policy());  // what analysis said has been told
  TakenInstances taken(number);
  const Retaken retaken = options.explain_cost ? Retaken() : retaken_schedules(session, *machines, options.kernel);
  for (const Group& group : groups) {
    for (const Machine* machine : machines->machines) {
      if (!is_for(*group.exports.front(), *machine)) continue;
      ir::Kernel kernel = kernel_for(*group.exports.front(), *machine, retaken), tiles;
      PassOptions passes = session.passes();
      passes.after = [&](const Pass&, const ir::Kernel& now) {
        if (now.form != ir::Form::Thread) tiles = now;
      };
      Diagnostics own(found.policy());
      bool is_fine = run_passes(kernel, *machine, own, passes);
      if (!is_fine && !is_missed(*group.exports.front(), own)) continue;
      auto has_other = [&](const ExportInstance* e) { return has_other_instance(session.program, *e, *machine, passes); };
      if (!is_fine && lacks_memory(own) && std::ranges::all_of(group.exports, has_other)) {
        std::printf("%sleft out: %s\n", kernel_line(group.exports, *machine).c_str(), first_error(own).c_str());
        continue;
      }
      found.append(own);
      if (!is_fine) return session.tell(found);
      if (options.explain_cost) taken.add(group.exports, kernel, *machine);
      std::fputs(options.explain_cost ? cost_text(group.exports, kernel, *machine, number).c_str() : explain(group.exports, tiles, kernel, *machine, session.sources).c_str(), stdout);
    }
  }
  std::fputs(taken.text().c_str(), stdout);
  return found.all().empty() ? kDone : session.tell(found);
}

// The code that a word of digits means, "T0404" of `T404`; empty where it is a name.
std::string code_of(std::string_view input) {
  constexpr size_t kDigits = 4;
  std::string_view digits = input.substr(input.starts_with("T") || input.starts_with("t") ? 1 : 0);
  const bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
  return is_number ? "T" + std::string(kDigits - std::min(digits.size(), kDigits), '0') + std::string(digits) : "";
}

// Was a page meant, and no file? Codes and names of pages have neither a dot nor a folder. That there is none has been said.
bool is_missing_page(const std::string& input) {
  if (input.empty() || input.find_first_of("./") != input.npos || input == "-" || std::filesystem::exists(input)) return false;
  const std::string code = code_of(input);
  std::vector<std::string_view> names;
  for (const diag::Page& page : diag::pages()) names.push_back(page.name);
  for (const diag::Row& row : diag::rows())
    if (row.severity == Severity::Warning) names.push_back(row.flag);
  std::string near = code.empty() ? std::string(nearest(input, names)) : diag::find_page(code) ? code : "";
  std::fprintf(stderr, "tilec: there is no diagnostic %s%s%s\n", code.empty() ? "and no file " : "", input.c_str(),
               near.empty() ? "; `tilec explain --all` prints every one" : ("; did you mean " + near + "?").c_str());
  return true;
}

}  // namespace

int explain_command(const Options& options) {
  if (options.explain_all) std::fputs(diag::errors_document().c_str(), stdout);
  int code = options.inputs.empty() && !options.explain_all ? kUsage : kDone;
  if (code == kUsage) std::fputs("tilec: explain needs a code, as in `tilec explain T0404`, or a file\nRun with --help for more information.\n", stderr);
  for (const std::string& input : options.inputs) {
    if (auto page = diag::explain_page(input)) std::fputs(page->c_str(), stdout);
    else if (is_missing_page(input)) code = std::max<int>(code, kUsage);
    else code = std::max(code, explain_file(options, input));
  }
  return code;
}

int format_command(const Options& options) {
  int code = kDone, mistakes = kDone;  // of the first file that has some: the others are formatted
  for (const std::string& input : options.inputs) {
    Session session(options);
    int failed = session.parse_only(input);
    if (failed == kDone) failed = session.tell();
    if (mistakes == kDone) mistakes = failed;
    if (failed != kDone) continue;
    std::string text = format(session.ast, session.sources), error;
    bool is_formatted = text == session.sources.text(session.ast.file);
    if (options.check_only) {
      if (!is_formatted) std::printf("%s\n", input.c_str()), code = kSaidNo;
      continue;
    }
    std::string output = options.in_place ? input : "-";
    if (!write_file(output, text, true, error)) return session.cannot_write(output, error);
  }
  return mistakes != kDone ? mistakes : code;
}

int doctor_command(const Options&) {
  std::printf("tilec %s\nLLVM  %s\n", kVersion, std::string(target::native_version()).c_str());
  for (const target::Target* target : target::targets()) {
    std::string found = target->probe();
    std::printf("target %s:", std::string(target->name).c_str());
    for (const Machine& m : target->machines()) std::printf(" %s", std::string(m.name).c_str());
    std::printf("; %s%s\n", found.empty() ? "not on this computer" : found.c_str(), lacks_launcher(*target) ? "; no objects: built without that C library's headers" : "");
  }
  return kDone;
}

namespace {

int run_words(int argc, const char* const* argv) {
  ExpandedWords words = expand_option_files({argv + 1, argv + std::max(argc, 1)});
  if (!words.unreadable.empty()) return Session(Options{}).cannot_read(words.unreadable, words.why);
  std::vector<const char*> all{"tilec"};
  for (const std::string& word : words.words) all.push_back(word.c_str());
  if (std::optional<int> code = print_command(int(all.size()), all.data())) return *code;
  ParsedOptions parsed = parse_options(int(all.size()), all.data());
  if (!parsed.options) return parsed.exit_code;
  constexpr std::pair<Verb, int (*)(const Options&)> kCommands[] = {
      {Verb::Compile, compile_command}, {Verb::Check, check_command},     {Verb::Run, run_command},      {Verb::Explain, explain_command},
      {Verb::Format, format_command},   {Verb::Inspect, inspect_command}, {Verb::Doctor, doctor_command}};
  for (auto [verb, command] : kCommands)
    if (verb == parsed.options->verb) return command(*parsed.options);
  return kUsage;
}

}  // namespace

int run_driver(int argc, const char* const* argv) {
  int code = run_words(argc, argv);
  print_sarif();
  if (code == kEnvironment) return code;  // what could not be written has been said
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  return Session(Options{}).cannot_write("-", std::strerror(errno));
}

}  // namespace tilec
