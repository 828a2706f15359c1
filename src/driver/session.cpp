#include "driver/session.h"

#include "driver/option_advice.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "diag/render.h"
#include "driver/files.h"
#include "host/names.h"
#include "sema/stdlib.h"
#include "syntax/parse.h"
#include "target/launch_support/launch_support.h"
#include "target/target.h"

namespace tilec {

SourceProvider Session::provider() {
  Session& session = *this;
  SourceProvider provider = embedded_library();
  if (!options.stdlib.empty())
    provider.module = [&session](std::string_view path) -> std::optional<SourceProvider::Source> {
      std::string file = stdlib_path(path), name = session.options.stdlib + "/" + file, error;
      auto text = file.empty() ? std::nullopt : read_file(name, error);
      if (!text) return std::nullopt;
      session.read_files.push_back(name);
      return SourceProvider::Source{name, std::move(*text)};
    };
  provider.file = [&session](std::string_view importer, std::string_view file) -> std::optional<SourceProvider::Source> {
    std::string name = file.starts_with("/") ? std::string(file) : folder_of(std::string(importer)) + std::string(file), error;
    auto text = read_file(name, error);
    if (!text) return std::nullopt;
    session.read_files.push_back(name);
    return SourceProvider::Source{name, std::move(*text)};
  };
  return provider;
}

namespace {

std::string help_for_target(std::string_view name) {
  if (std::string_view foreign = help_for_foreign_target(name); !foreign.empty()) return std::string(foreign);
  std::vector<std::string_view> names;
  for (const Machine* m : all_machines()) names.push_back(m->name);
  std::string_view near = nearest(name, names);
  return near.empty() ? "`tilec --print-targets` lists them" : "did you mean `" + std::string(near) + "`?";
}

// Machines whose names begin with the same letters.
std::string supported_like(std::string_view name) {
  std::string_view letters = name.substr(0, name.find_first_of("0123456789"));
  std::string out;
  for (const Machine* m : all_machines())
    if (!letters.empty() && m->name.starts_with(letters)) out += (out.empty() ? "`" : ", `") + std::string(m->name) + "`";
  return out.empty() ? "`tilec --print-targets` lists those that are" : "there are " + out;
}

}  // namespace

int Session::parse_only(const std::string& input) {
  std::string error;
  auto text = read_file(input, error);
  if (!text) return cannot_read(input, error);
  read_files.push_back(input);
  FileId file = sources.add(input == "-" ? "<stdin>" : input, std::move(*text));
  ast = parse(file, sources, diagnostics, Reading::AsWritten);
  return kDone;
}

// What is a program as it stands is one, whatever it looks like. Where it has mistakes, they are those of what was meant.
void Session::mend(const std::function<void(const ir::Kernel&)>& made) {
  if (ast.has_errors) return;  // it was read so
  Diagnostics again(options.policy);
  Ast mended = parse(ast.file, sources, again);
  Program found = analyse(mended, sources, provider(), again);
  const bool is_mended = mended.has_errors || std::ranges::any_of(found.imported, &Ast::has_errors, [](const auto& imported) -> const Ast& { return *imported; });
  if (!is_mended) return;
  diagnostics = std::move(again);
  set_aside = std::exchange(program, std::move(found));
  ast = std::move(mended);
  if (made)
    for (const ExportInstance& e : program.exports) made(e.kernel);
}

int Session::load(const std::string& input, const std::function<void(const ir::Kernel&)>& made) {
  if (int code = parse_only(input)) return code;
  program = analyse(ast, sources, provider(), diagnostics, made, Reading::AsWritten);
  if (diagnostics.has_errors()) mend(made);
  check_targets();
  return kDone;
}

// Blocks for machines that take no notice of them.
void Session::warn_of_targets(const ast::Schedule& schedule) {
  for (const ast::Name& name : schedule.targets) {
    auto choice = target::machine_named(name.text);
    bool is_missing = !choice && !target::target_named(name.text) && target::is_planned(name.text);
    bool has_none = schedule.is_wide && choice && choice->machine && choice->machine->cluster_blocks <= 1;
    std::string why = is_missing ? " is a target that is not there yet" : has_none ? " has no clusters to widen" : "";
    if (!why.empty() && !schedule.path.empty())
      diagnostics.at(name.span).warning(diag::UnusedSchedule, schedule.path.back().text, "`" + std::string(name.text) + "`" + why).help(help_for_target(name.text));
  }
}

void Session::check_targets() {
  for (const ast::Decl* decl : ast.declarations) {
    auto* schedule = decl->as<ast::Schedule>();
    if (schedule) warn_of_targets(*schedule);
    for (size_t i = 0; schedule && i < schedule->targets.size(); ++i) {
      const ast::Name& name = schedule->targets[i];
      bool is_known = !name.exists() || target::machine_named(name.text) || target::target_named(name.text) || target::is_planned(name.text);
      if (!is_known) diagnostics.at(name.span).error(diag::UnknownTarget, name.text).help(help_for_target(name.text));
    }
  }
}

void Session::check_names() {
  std::vector<host::FunctionName> functions;
  for (const ExportInstance& e : program.exports)
    if (e.number == 0) functions.push_back({options.prefix + e.name, e.span});
  host::check_function_names(functions, diagnostics);
}

void Session::check_exports() {
  if (!program.exports.empty() || diagnostics.has_errors()) return;
  for (const ast::Decl* decl : ast.declarations)
    if (auto* kernel = decl->as<ast::Kernel>()) {
      std::string_view name = kernel->signature.name.text;
      return void(diagnostics.at(kernel->signature.name.span).warning(diag::NothingExported, name).help("write `export kernel " + std::string(name) + "`"));
    }
}

namespace {

// Of all inputs of the command.
SarifLog& sarif_log() {
  static SarifLog log;
  return log;
}

}  // namespace

bool lacks_launcher(const target::Target& target) { return !target.triple.empty() && target::support_bitcode(target.triple).empty(); }

void print_sarif() {
  if (sarif_log().is_begun()) std::fputs(sarif_log().text(kVersion).c_str(), stderr);
}

int Session::tell() const { return tell(diagnostics); }

int Session::tell(const Diagnostics& what) const {
  if (options.format == DiagnosticsFormat::Json) {
    std::fputs(render_json(what.all(), sources).c_str(), stderr);
  } else if (options.format == DiagnosticsFormat::Sarif) {
    sarif_log().add(what.all(), sources);
  } else {
    bool has_color = options.color == "always" || (options.color == "auto" && isatty(2));
    std::fputs(render_text(what.all(), sources, {has_color}).c_str(), stderr);
    std::string count = count_line(what);
    if (!count.empty()) std::fprintf(stderr, "%s\n", count.c_str());
  }
  return what.has_errors() ? kSourceErrors : kDone;
}

int Session::tell_alone(const std::function<void(Place)>& report, int code) const {
  Diagnostics alone(options.policy);
  report(alone.nowhere());
  tell(alone);
  return code;
}
int Session::cannot_read(const std::string& path, const std::string& why) const {
  return tell_alone([&](Place at) { at.error(diag::CannotRead, path, why); }, kEnvironment);
}
int Session::cannot_write(const std::string& path, const std::string& why) const {
  return tell_alone([&](Place at) { at.error(diag::CannotWrite, path == "-" ? "standard output" : path, why); }, kEnvironment);
}
int Session::cannot_emit(const Chosen& chosen, std::string_view kind) const {
  return tell_alone([&](Place at) {
    Report report = at.error(diag::EmitNotOffered, chosen.named, kind);
    if (chosen.target->emits.empty()) report.help("it is for `tilec run` and `tilec explain`");
    if (lacks_launcher(*chosen.target))
      report.help("this tilec was built where the headers of that machine's C library were missing (Debian: libc6-dev-arm64-cross), so it holds no launcher for it; "
                  "`--emit=c` gives text that a compiler there takes");
  }, kNoTarget);
}
int Session::cannot_assemble(const target::MachineChoice& of, const std::string& problem) const {
  tell();
  return tell_alone([&](Place at) { at.error(diag::NoImage, of.target->image, of.machine->name, problem); }, kEnvironment);
}
int Session::not_yet(const std::string& what, const std::string& help) const {
  return tell_alone([&](Place at) {
    Report report = at.error(diag::NotSupportedYet, what);
    if (!help.empty()) report.help(help);
  }, kNoTarget);
}

std::vector<const Machine*> all_machines() {
  std::vector<const Machine*> out;
  for (const target::Target* target : target::targets())
    for (const Machine& m : target->machines()) out.push_back(&m);
  return out;
}

namespace {

// The target that spells for this computer's CPU.
const target::Target& host_target() {
  utsname host{};
  uname(&host);
  const target::Target* found = target::target_named(host.machine);
  return found ? *found : *target::targets().front();
}

void add_all(const target::Target& target, std::vector<const Machine*>& machines) {
  for (const Machine& m : target.machines()) machines.push_back(&m);
}

}  // namespace

std::optional<target::MachineChoice> Session::machine_of(const std::string& name) const {
  auto choice = target::machine_named(name);
  if (!choice && target::is_planned(name)) not_yet("the target `" + name + "`", supported_like(name));
  else if (!choice) tell_alone([&](Place at) { at.error(diag::UnknownTarget, name).help(help_for_target(name)); }, kNoTarget);
  return choice;
}

std::optional<Chosen> Session::machines() const {
  Chosen out;
  // `--emit=c` without a target is C for any machine.
  if (options.targets.empty()) {
    const target::Target* c = options.emit == "c" ? target::target_named("c") : nullptr;
    out.target = c ? c : &host_target();
    out.named = out.target->name;
    add_all(*out.target, out.machines);
    return out;
  }
  for (const std::string& name : options.targets) {
    auto choice = machine_of(name);
    if (!choice) return std::nullopt;
    if (std::ranges::find(out.machines, choice->machine) != out.machines.end()) {
      for (target::MachineChoice& image : out.images) image.is_text &= image.machine != choice->machine || choice->is_text;
      continue;
    }
    out.machines.push_back(choice->machine);
    if (choice->target->image_of) {
      out.images.push_back(*choice);
      continue;
    }
    if (out.target && out.target != choice->target) {
      std::fprintf(stderr, "tilec: '%s' cannot go into one output with '%s'\n", name.c_str(), out.named.c_str());
      return std::nullopt;
    }
    out.target = choice->target;
    out.named = name;
  }
  if (out.target && !out.images.empty() && out.target->triple.empty()) {
    not_yet("one output for `" + out.named + "` and `" + std::string(out.images.front().machine->name) + "`");
    return std::nullopt;
  }
  // Without a host among them, an object is this computer's; everything else is the device's own.
  if (out.target) return out;
  out.target = options.emit == "obj" ? &host_target() : out.images.front().target;
  out.named = options.targets.front();
  return out;
}

}  // namespace tilec
