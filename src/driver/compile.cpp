// tilec compile: one object and one header, or what --emit says.
#include <algorithm>

#include "base/parallel.h"
#include "base/text.h"
#include "driver/another_try.h"
#include "driver/assembler_remarks.h"
#include "driver/clock.h"
#include "driver/files.h"
#include "driver/session.h"
#include "explain/schedule_text.h"
#include "host/header.h"
#include "host/manifest.h"
#include "ir/print.h"
#include "syntax/dump.h"

namespace tilec {

namespace {

// Where the primary output goes when -o does not say: `form` is what it is.
std::string default_output(const Options& options, std::string_view form, bool is_image) {
  std::string stem = options.inputs[0] == "-" ? "out" : stem_of(options.inputs[0]);
  if (options.emit == "obj") return stem + (form == "c" ? ".c" : ".o");
  if (options.emit == "header") return stem + ".h";
  if (options.emit == "manifest") return stem + ".json";
  return is_image ? stem + "." + std::string(form) : "-";
}

// The header of an object that -o names: beside it. None where the output is not called as an object or its text is.
std::string header_beside(const std::string& output) {
  for (std::string_view ending : {".o", ".obj", ".c"})
    if (output.ends_with(ending) && !stem_of(output).empty()) return output.substr(0, output.size() - ending.size()) + ".h";
  return {};
}

// A file name as Make reads it in a rule. A backslash stands for itself but before a blank or a `#`, where it is doubled.
std::string escaped_for_make(std::string_view name) {
  std::string out;
  size_t backslashes = 0;
  for (char c : name) {
    if (c == ' ' || c == '\t' || c == '#') out.append(backslashes + 1, '\\');
    if (c == ':') out += '\\';
    if (c == '$') out += '$';
    backslashes = c == '\\' ? backslashes + 1 : 0;
    out += c;
  }
  return out;
}

std::string dependency_rule(const Session& session, const std::vector<std::string>& outputs) {
  std::string rule;
  for (const std::string& target : session.options.depends_targets) rule += (rule.empty() ? "" : " ") + target;
  if (rule.empty()) {
    for (const std::string& output : outputs) rule += (rule.empty() ? "" : " ") + escaped_for_make(output);
  }
  rule += ":";
  std::vector<std::string> files = session.read_files;
  const std::string library = session.options.stdlib + "/";
  if (session.options.depends_no_system && !session.options.stdlib.empty())
    std::erase_if(files, [&](const std::string& file) { return file.starts_with(library); });
  for (const std::string& file : files) rule += " " + escaped_for_make(file);
  rule += "\n";
  for (size_t i = 1; session.options.phony && i < files.size(); ++i) rule += "\n" + escaped_for_make(files[i]) + ":\n";
  return rule;
}

struct Outputs {
  std::string primary, header;
};

// Where dependencies for Make go; empty: none are asked for.
std::string dependency_file(const Options& options, const std::string& primary) {
  if (!options.depends && !options.depends_no_system) return options.depends_file;
  return options.depends_file.empty() ? folder_of(primary) + stem_of(primary) + ".d" : options.depends_file;
}

// Is a file to be written twice, or one that was read? Said, then.
bool do_outputs_meet(const Session& session, const Outputs& paths) {
  std::vector<std::string> taken = session.read_files;
  for (const std::string& path : {paths.primary, paths.header, session.options.manifest, dependency_file(session.options, paths.primary)}) {
    if (path.empty() || path == "-") continue;
    bool meets = std::ranges::any_of(taken, [&](const std::string& other) { return is_same_file(path, other); });
    if (meets) std::fprintf(stderr, "tilec: `%s` would be written over: it is read, or another output goes there\n", path.c_str());
    if (meets) return true;
    taken.push_back(path);
  }
  return false;
}

int write_outputs(Session& session, const Outputs& paths, const std::string& primary, const Compiled* compiled) {
  const Options& o = session.options;
  if (do_outputs_meet(session, paths)) return kUsage;
  std::vector<OutputFile> files;
  std::vector<std::string> written{paths.primary};
  if (compiled && !paths.header.empty()) {
    written.push_back(paths.header);
    files.push_back({paths.header, host::header_text(compiled->library), true});
  }
  if (compiled && !o.manifest.empty()) files.push_back({o.manifest, host::manifest_text(compiled->library), true});
  if (std::string file = dependency_file(o, paths.primary); !file.empty()) files.push_back({file, dependency_rule(session, written), false});
  // Last, so that where the primary output stands, all is there.
  files.push_back({paths.primary, primary, o.emit == "header"});
  std::string failed, error;
  if (!write_files(files, failed, error)) return session.cannot_write(failed, error);
  return kDone;
}

bool stops_early(const Options& options) {
  return !options.stop_after.empty() || options.emit == "tile-ir" || options.emit == "thread-ir";
}

// What the primary output is called by the target: its own usual one for "obj" where it has no objects. Empty: it has none.
std::string emitted_form(const Options& options, const target::Target& target) {
  bool is_ours = stops_early(options) || options.emit == "header" || options.emit == "manifest" || options.emit == "schedule";
  if (is_ours) return options.emit;
  if (target.emits.empty()) return "";
  if (options.emit == "obj") return std::string(target.emits.front());
  return std::find(target.emits.begin(), target.emits.end(), options.emit) == target.emits.end() ? "" : options.emit;
}

// Forms that the target's own speller makes hold the launcher.
bool needs_launcher(const Chosen& chosen, const std::string& emit) {
  return std::ranges::find(chosen.target->emits, emit) != chosen.target->emits.end();
}

std::string stream_of(const Chosen& chosen);

CompileRequest request_of(const Options& options, const Chosen& chosen, std::string name) {
  // Tables list the plainest machine first; the launcher takes the first instance that runs.
  std::vector<const Machine*> best_first;
  std::vector<const Machine*> all = all_machines();
  for (size_t i = all.size(); i-- > 0;)
    if (std::ranges::find(chosen.machines, all[i]) != chosen.machines.end()) best_first.push_back(all[i]);
  CompileRequest request{std::move(best_first), options.prefix, std::string("tilec ") + kVersion, std::move(name)};
  request.stream_struct = stream_of(chosen);
  return request;
}

// The text of kernels between passes, as --stop-after and --emit ask for it.
int print_kernels(Session& session, const CompileRequest& request, PassOptions& passes) {
  const Options& options = session.options;
  std::string printed;
  if (options.stop_after.empty() && options.emit == "tile-ir") {
    for (const ExportInstance& e : session.program.exports)
      if (!e.is_wide) printed += ir::print(e.kernel, {});
  } else {
    passes.after = [&, then = passes.after](const Pass& pass, const ir::Kernel& kernel) {
      then(pass, kernel);
      bool is_wanted = options.stop_after.empty() ? &pass == &pass_list().back() : pass.name == options.stop_after;
      if (is_wanted) printed += ir::print(kernel, {});
    };
    compile(session.program, request, session.sources, session.diagnostics, passes);
  }
  if (int code = session.tell()) return code;
  return write_outputs(session, {options.output.empty() ? "-" : options.output, {}}, printed, nullptr);
}

// Every kernel's schedule on every machine, to be pasted beside it; exports of one instance have one.
int print_schedules(Session& session, const Chosen& chosen, const Outputs& paths) {
  std::string text;
  const Retaken retaken = retaken_schedules(session, chosen, "");
  for (const ExportInstance& exported : session.program.exports)
    for (const Machine* machine : chosen.machines) {
      if (!is_for(exported, *machine)) continue;
      ir::Kernel kernel = kernel_for(exported, *machine, retaken), placed;
      PassOptions passes = session.passes();
      passes.after = [&](const Pass&, const ir::Kernel& now) {
        if (now.form != ir::Form::Thread) placed = now;
      };
      Diagnostics own(session.diagnostics.policy());
      bool is_fine = run_passes(kernel, *machine, own, passes);
      if (!is_fine && !is_missed(exported, own)) continue;
      if (!is_fine && lacks_memory(own) && has_other_instance(session.program, exported, *machine, passes)) continue;
      session.diagnostics.append(own);
      if (!is_fine) return session.tell();
      std::string schedule = schedule_text(exported, placed, machine->name);
      if (text.find(schedule) == text.npos) text += schedule;
    }
  if (int code = session.tell()) return code;
  return write_outputs(session, paths, text, nullptr);
}

int dump_syntax(Session& session, const Outputs& paths) {
  if (int code = session.parse_only(session.options.inputs[0])) return code;
  if (int code = session.tell()) return code;
  return write_outputs(session, paths, dump(session.ast), nullptr);
}

// What a device's assembler reads, or makes, is one machine's. Said where it is not.
bool is_for_machines(const std::string& emit, const Chosen& chosen) {
  const target::Target& target = *chosen.target;
  bool is_spelled = std::ranges::find(target.emits, emit) != target.emits.end();
  bool is_fine = !is_spelled || !target.assemble || chosen.machines.size() == 1;
  if (!is_fine) std::fprintf(stderr, "tilec: one `%s` is for one machine; %zu are named\n", emit.c_str(), chosen.machines.size());
  if (!is_fine || !target.assemble || emit != target.image || !chosen.images.front().is_text) return is_fine;
  std::string machine(chosen.machines.front()->name);
  std::fprintf(stderr, "tilec: '%s' is text alone; a `%s` is for '%s'\n", chosen.named.c_str(), emit.c_str(), machine.c_str());
  return false;
}

// The output of one kernel is the text of its best try, which is not assembled twice.
target::Assembled assemble(const Session& session, const target::MachineChoice& of, const std::string& text, const AssembledTexts& known = {}) {
  auto found = known.find(text);
  return found != known.end() ? found->second : of.target->assemble(text, *of.machine, session.options.assembler);
}

// What the object carries for machines other than its host's: text, and code where an assembler is there or named.
int add_images(Session& session, const Chosen& chosen, Compiled& compiled) {
  std::vector<target::Image> images(chosen.images.size());
  std::vector<target::Assembled> made(chosen.images.size());
  parallel_for(images.size(), [&](size_t i) {
    const target::MachineChoice& of = chosen.images[i];
    images[i] = of.target->image_of(compiled.program, *of.machine);
    if (of.target->assemble && !of.is_text) made[i] = assemble(session, of, images[i].text);
  });
  std::vector<target::AssembledFunction> slow;
  for (size_t i = 0; i < images.size(); ++i) {
    const target::Target& of = *chosen.images[i].target;
    std::optional<AssembledTexts> again = made[i].problem.empty() ? try_again(session, compiled, chosen.images[i], made[i].slow) : std::nullopt;
    if (again) images[i] = of.image_of(compiled.program, *images[i].machine), made[i] = assemble(session, chosen.images[i], images[i].text, *again);
    if (!made[i].problem.empty() && !made[i].is_missing) return session.cannot_assemble(chosen.images[i], made[i].problem);
    slow.insert(slow.end(), made[i].slow.begin(), made[i].slow.end());
    images[i].code = made[i].image;
    compiled.library.images.push_back({std::string(images[i].machine->name), images[i].text.size(), images[i].code.size(), made[i].by});
    auto launcher = of.launcher(chosen.target->triple);
    bool is_known = std::ranges::any_of(compiled.program.launchers, [&](auto known) { return known.data() == launcher.data(); });
    if (!is_known) compiled.program.launchers.push_back(launcher);
  }
  remark_assembled(session, compiled, slow);
  compiled.program.images = std::move(images);
  compiled.program.manifest = host::manifest_text(compiled.library);
  return kDone;
}

// The header's stream: of the one kind of device there is, or any pointer.
std::string stream_of(const Chosen& chosen) {
  std::string stream(chosen.images.empty() ? chosen.target->stream_struct : chosen.images.front().target->stream_struct);
  bool is_one = std::ranges::all_of(chosen.images, [&](const target::MachineChoice& c) { return c.target->stream_struct == stream; });
  return is_one ? stream : "";
}

// An image of one machine's kernels.
int write_image(Session& session, const Chosen& chosen, const Outputs& paths, Compiled& compiled) {
  const target::MachineChoice& of = chosen.images.front();
  auto spell = [&] { return of.target->spell(compiled.program, of.target->emits.front()); };
  target::Assembled made = assemble(session, of, spell());
  if (auto again = made.problem.empty() ? try_again(session, compiled, of, made.slow) : std::nullopt) made = assemble(session, of, spell(), *again);
  if (!made.problem.empty()) return session.cannot_assemble(of, made.problem);
  remark_assembled(session, compiled, made.slow);
  if (int code = session.tell()) return code;
  return write_outputs(session, paths, made.image, &compiled);
}

std::string spelled(const target::Target& target, const Compiled& compiled, const std::string& emit) {
  if (emit == "header") return host::header_text(compiled.library);
  return emit == "manifest" ? host::manifest_text(compiled.library) : target.spell(compiled.program, emit);
}

}  // namespace

int compile_command(const Options& options) {
  if (options.inputs.size() != 1) {
    std::fprintf(stderr, "tilec: one source file makes one object; %zu were given\n", options.inputs.size());
    return kUsage;
  }
  Session session(options);
  PassClock clock;
  auto tick = [&](std::string_view what) {
    if (options.time_passes) clock.tick(std::string(what).c_str());
  };
  auto path_of = [&](std::string_view form, bool is_image = false) { return options.output.empty() ? default_output(options, form, is_image) : options.output; };
  if (options.emit == "ast") return dump_syntax(session, {path_of("ast"), options.header});
  auto chosen = session.machines();
  if (!chosen) return kNoTarget;
  if (std::ranges::find(target::planned_emits(), options.emit) != target::planned_emits().end())
    return session.not_yet("`--emit=" + options.emit + "`");
  std::string emit = emitted_form(options, *chosen->target);
  if (emit.empty()) return session.cannot_emit(*chosen, options.emit);
  if (needs_launcher(*chosen, emit) && lacks_launcher(*chosen->target)) return session.cannot_emit(*chosen, emit);
  if (!is_for_machines(emit, *chosen)) return kUsage;
  bool is_image = chosen->target->assemble && emit == chosen->target->image;
  Outputs paths{path_of(emit, is_image), options.header};
  if (int code = session.load(options.inputs[0])) return code;
  session.check_names();
  session.check_exports();
  tick("parse and analyse");
  if (session.diagnostics.has_errors()) return session.tell();
  std::string name = !options.name.empty() ? options.name : options.inputs[0] == "-" ? "out" : stem_of(options.inputs[0]);
  if (options.emit == "obj" && paths.header.empty()) paths.header = options.output.empty() ? name + ".h" : header_beside(options.output);
  PassOptions passes = session.passes();
  passes.stop_after = options.stop_after;
  bool is_watched = options.time_passes || !options.print_after.empty() || stops_early(options);
  if (is_watched) passes.after = [&](const Pass& pass, const ir::Kernel& kernel) {
    tick(pass.name);
    if (pass.name == options.print_after) std::fputs(ir::print(kernel, {}).c_str(), stderr);
  };
  CompileRequest request = request_of(options, *chosen, name);
  if (stops_early(options)) return print_kernels(session, request, passes);
  if (emit == "schedule") return print_schedules(session, *chosen, paths);
  std::optional<Compiled> compiled = compile(session.program, request, session.sources, session.diagnostics, passes);
  if (session.diagnostics.has_errors()) return session.tell();
  if (is_image) return write_image(session, *chosen, paths, *compiled);
  bool is_carrier = !chosen->target->triple.empty() || emit == "manifest";
  if (int code = is_carrier && emit != "header" ? add_images(session, *chosen, *compiled) : kDone) return code;
  if (int code = session.tell()) return code;
  tick("images");
  std::string primary = spelled(*chosen->target, *compiled, emit);
  tick("native code");
  return write_outputs(session, paths, primary, &*compiled);
}

namespace {

// A shared tile that no machine has the room for: whichever is compiled for, it is an error.
void check_space(const ir::Kernel& kernel, Diagnostics& diagnostics) {
  const Machine* largest = nullptr;
  for (const Machine* m : all_machines())
    if (!largest || m->shared_bytes > largest->shared_bytes) largest = m;
  std::set<ir::ValueId> used;
  ir::each_op(kernel, kernel.body, [&](ir::OpId id) { ir::each_operand(kernel.op(id).data, [&](ir::ValueId v) { used.insert(v); }); });
  ir::each_op(kernel, kernel.body, [&](ir::OpId id) {
    const ir::Op& op = kernel.op(id);
    if (!op.is<ir::op::Alloc>() || kernel.type(op.result()).space != ir::Space::Shared || !used.contains(op.result())) return;
    int64_t bytes = kernel.type(op.result()).element_count() * bit_width(kernel.type(op.result()).element) / 8;
    if (bytes > largest->shared_bytes)
      diagnostics.at(op.span).error(diag::SharedMemoryExceeded, kernel.name, bytes, std::string(largest->name), largest->shared_bytes).help("use smaller tiles: no machine has more");
  });
}

}  // namespace

int check_command(const Options& options) {
  int worst = kDone;
  for (const std::string& input : options.inputs) {
    Session session(options);
    Checks checks(session.diagnostics, session.passes());
    int code = session.load(input, [&](const ir::Kernel& kernel) { checks.add(kernel); });
    if (code == kDone) {
      session.check_names();
      if (!session.diagnostics.has_errors())
        for (const Checked& checked : checks.finish()) check_space(checked.kernel, session.diagnostics);
      code = session.tell();
    }
    worst = std::max(worst, code);
  }
  return worst;
}

}  // namespace tilec
