#include "driver/options.h"

#include "driver/manual.h"
#include "driver/option_advice.h"

#include <CLI/CLI.hpp>

#include <map>

#include <filesystem>

#include "base/text.h"
#include "diag/catalogue.h"
#include "pipeline/pipeline.h"
#include "target/target.h"

namespace tilec {

const char* const kVersion = TILEC_VERSION;

namespace {

// -W and -R take their word directly behind them, as in every C compiler; the parser behind us would want a space.
struct WarningOptions {
  std::vector<std::string> rest;
  std::string error;
};
WarningOptions take_warnings(int argc, const char* const* argv, Policy& policy) {
  WarningOptions out;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    bool known = true;
    if (word == "-w") policy.no_warnings = true;
    else if (word == "-Wall" || word == "-Wextra") known = true;  // as it is anyway
    else if (word.starts_with("-W") && word.size() > 2) known = apply_warning_option(policy, word.substr(2));
    else if (word == "-R" && i + 1 < argc) known = apply_remark_option(policy, argv[++i]);
    else if (word.starts_with("-R") && word.size() > 2) known = apply_remark_option(policy, word.substr(2));
    else if (word == "-R") out.error = "-R wants a group of remarks behind it; -R all shows them all";
    else out.rest.emplace_back(word);
    if (!known && out.error.empty()) out.error = "there is no warning or remark '" + std::string(argv[i]) + "'; -Wno-NAME and -Werror=NAME take the name that a warning shows, -R a group, or all";
  }
  return out;
}

std::string needs_no_sign(const std::string& word) { return word.starts_with("-") ? "'" + word + "' is no number from 0" : ""; }

void add_source_options(CLI::App& app, Options& o) {
  app.add_option("inputs", o.inputs, "source files (.tile); - is standard input")->required();
  app.add_option("--stdlib", o.stdlib, "folder of the standard library, instead of the built-in one")->check(CLI::ExistingDirectory);
  static const std::map<std::string, DiagnosticsFormat> kFormats = {
      {"text", DiagnosticsFormat::Text}, {"json", DiagnosticsFormat::Json}, {"sarif", DiagnosticsFormat::Sarif}};
  app.add_option_function<std::string>(
         "--diagnostics-format", [&o](const std::string& word) { o.format = kFormats.at(word); }, "text, json (one object a line) or sarif")
      ->check(CLI::IsMember({"text", "json", "sarif"}));
  app.add_option("--color", o.color, "auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("--error-limit", o.policy.error_limit, "stop after so many errors; 0: never")->check(CLI::Validator(needs_no_sign, "", "number"));
}

void add_target_options(CLI::App& app, Options& o) {
  auto take = [&o](const std::vector<std::string>& words) {
    for (const std::string& word : words)
      for (std::string& name : split(word, ',')) o.targets.push_back(std::move(name));
  };
  app.add_option_function<std::vector<std::string>>("--target", take, "machines to compile for, separated by commas; `tilec doctor` names them")
      ->allow_extra_args(false);
  std::vector<std::string> passes;
  for (const Pass& pass : pass_list()) passes.emplace_back(pass.name);
  CLI::IsMember is_pass(passes);
  app.add_option("--stop-after", o.stop_after, "end after this pass and print the kernels")->check(is_pass);
  app.add_option("--print-after", o.print_after, "print the kernels after this pass, to standard error")->check(is_pass);
  app.add_flag("--verify,!--no-verify", o.verify, "hold the kernels to the laws of the IR after every pass, or never; left out: where passes begin and end");
  app.add_option("-O", o.effort, "2: schedules of loops by modulo scheduling; 3: by an exact search, which takes longer")->check(CLI::IsMember({2, 3}));
  app.add_option("--schedule-cache", o.schedule_cache, "a folder in which schedules that the exact search finds are kept for the next time");
  app.add_flag("--time-passes", o.time_passes, "say how long each pass took, on standard error");
}

// What targets spell, each in its order, and what is the same for all of them.
std::vector<std::string> emit_kinds() {
  std::vector<std::string> kinds;
  auto add = [&](std::string_view kind) {
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.emplace_back(kind);
  };
  for (const target::Target* target : target::targets()) std::ranges::for_each(target->emits, add);
  for (std::string_view kind : {"tile-ir", "thread-ir", "ast", "schedule", "header", "manifest"}) add(kind);
  return kinds;
}

// What no target has yet is told apart from what nobody has heard of; the target says the rest.
std::string needs_emit(const std::string& text) {
  std::vector<std::string> kinds = emit_kinds();
  auto planned = target::planned_emits();
  bool is_known = std::ranges::find(kinds, text) != kinds.end() || std::ranges::find(planned, text) != planned.end();
  return is_known ? "" : "'" + text + "' is none of " + join(kinds, ", ");
}

std::string needs_identifier(const std::string& text) {
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool is_fine = text.empty() || is_letter(text[0]);
  for (char c : text) is_fine &= is_letter(c) || (c >= '0' && c <= '9');
  return is_fine ? "" : "'" + text + "' cannot begin a name in C";
}

void add_assembler_options(CLI::App& app, Options& o) {
  for (const target::Target* target : target::targets())
    if (target->assemble)
      app.add_option("--" + std::string(target->assembler), o.assembler, "the program that makes `" + std::string(target->image) + "`, where it is not found by itself")
          ->check(CLI::Validator([](const std::string& word) { return word.empty() ? std::string("it names no program") : ""; }, "", "program"));
  constexpr int kMostTries = 4;
  app.add_option("--tries", o.tries, "schedules of a kernel for which that program has too few registers, the first included")->check(CLI::Range(1, kMostTries));
}

void add_compile_options(CLI::App& app, Options& o) {
  add_source_options(app, o);
  add_target_options(app, o);
  const CLI::Validator names_file([](const std::string& word) { return word.empty() ? std::string("it names no file") : ""; }, "", "file");
  app.add_option("-o,--output", o.output, "the primary output")->check(names_file);
  app.add_option("--header", o.header, "the C header")->check(names_file);
  app.add_option("--manifest", o.manifest, "the manifest, as JSON")->check(names_file);
  app.add_option("--emit", o.emit, "what the primary output is")
      ->check(CLI::Validator(needs_emit, join(emit_kinds(), ", "), "emit"));
  add_assembler_options(app, o);
  app.add_option("--prefix", o.prefix, "put before the name of every exported function")
      ->check(CLI::Validator(needs_identifier, "", "identifier"));
  app.add_option("--name", o.name, "of the library in the header; the input's name if left out");
  app.add_flag("--MD", o.depends, "write the files that the output depends on, for Make");
  app.add_flag("--MMD", o.depends_no_system, "as -MD, without the standard library");
  app.add_option("--MF", o.depends_file, "where -MD writes; alone, -MD is meant");
  app.add_option("--MT", o.depends_targets, "the target that -MD names; several, when given several times")->allow_extra_args(false);
  app.add_flag("--MP", o.phony, "with -MD: a phony target for each file");
}

void add_run_options(CLI::App& app, Options& o) {
  add_source_options(app, o);
  add_target_options(app, o);
  app.add_option("--kernel", o.kernel, "the export to run, where there are several");
  app.add_option("--dim", o.dims, "NAME=VALUE, of a dim or an integer parameter; else a default that meets the contract")->delimiter(',');
  app.add_option("--form", o.form, "source, typed, placed, staged or thread")->check(CLI::IsMember({"source", "typed", "placed", "staged", "thread"}));
  app.add_option("--numeric", o.numeric, "wide (floats in f64) or typed (as declared)")->check(CLI::IsMember({"wide", "typed"}));
  app.add_option("--completion", o.completion, "of asynchronous operations: late, early or both")->check(CLI::IsMember({"late", "early", "both"}));
  app.add_flag("--after-each", o.after_each, "run after every pass and name the first that changes a result");
  app.add_flag("--counters", o.counters, "print what was counted: lane operations, bank conflicts, shuffles, barriers, atoms, conversions");
  app.add_option("--data", o.data, "a JSON file with the parameters' numbers, by name, instead of generated ones");
  app.add_option_function<std::string>("--print", [&o](const std::string& word) { o.prints_json = word == "json"; }, "text, or json: one object a run, with the outputs")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--seed", o.seed, "of the data and of the order of blocks")->check(CLI::Validator(needs_no_sign, "", "number"));
}

constexpr std::pair<const char*, Verb> kVerbs[] = {{"compile", Verb::Compile}, {"check", Verb::Check},     {"run", Verb::Run},
                                                   {"explain", Verb::Explain}, {"fmt", Verb::Format},      {"inspect", Verb::Inspect},
                                                   {"doctor", Verb::Doctor}};

bool is_verb(std::string_view word) {
  return std::any_of(std::begin(kVerbs), std::end(kVerbs), [&](const auto& row) { return word == row.first; });
}

// What a first word that is neither a verb, nor an option, nor a file may have been meant to be; empty for a file.
std::string misread_verb(const std::string& word) {
  if (word.empty() || word[0] == '-' || word.find_first_of("./") != std::string::npos || std::filesystem::exists(word)) return "";
  for (std::string_view later : {"bench", "test", "tune", "lsp"})
    if (word == later) return "'" + word + "' is not supported yet";
  std::vector<std::string_view> verbs;
  for (const auto& [verb, number] : kVerbs) verbs.push_back(verb);
  std::string_view near = nearest(word, verbs);
  return "there is no verb and no file '" + word + "'" + (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?");
}

bool is_misread(const std::vector<std::string>& words) {
  std::string why = words.empty() || is_verb(words[0]) ? "" : misread_verb(words[0]);
  if (!why.empty()) std::fprintf(stderr, "tilec: %s\n", why.c_str());
  return !why.empty();
}

// gcc's spellings with one dash become the parser's with two.
std::string spelled(std::string word) {
  for (const char* flag : {"-MD", "-MMD", "-MF", "-MT", "-MP"})
    if (word == flag) return "-" + word;
  return word;
}

constexpr const char* kSummary = "tilec: kernels over tiles, compiled ahead of time to one object and one C header";

void declare_options(CLI::App& app, Options& o) {
  app.name("tilec");
  app.set_version_flag("--version", std::string("tilec ") + kVersion);
  app.require_subcommand(1);
  app.footer("Without a verb, tilec compiles. --print-targets, --print-passes and --version (each also with =json), --print-manual and --print-completions stand alone. Warnings: -Wno-NAME, -Werror[=NAME], -w; remarks: -R GROUP or -R all. @FILE stands for the words in FILE.");
  CLI::App* compile = app.add_subcommand("compile", "to one object and one header, or what --emit says");
  add_compile_options(*compile, o);
  CLI::App* check = app.add_subcommand("check", "parse, types, contracts, proofs; no code");
  add_source_options(*check, o);
  CLI::App* run = app.add_subcommand("run", "interpret an exported kernel on generated data");
  add_run_options(*run, o);
  CLI::App* explain = app.add_subcommand("explain", "a diagnostic (T0123), or a file's kernels: layouts, memory, schedule");
  CLI::Option* all = explain->add_flag("--all", o.explain_all, "every diagnostic, as one document in Markdown");
  add_source_options(*explain, o);
  explain->get_option("inputs")->required(false)->excludes(all);
  add_target_options(*explain, o);
  add_assembler_options(*explain, o);
  explain->add_option("--kernel", o.kernel, "only this export");
  explain->add_flag("--cost", o.explain_cost, "how long kernels are expected to take, and what limits them, alone");
  explain->add_option("--dim", o.dims, "NAME=VALUE, of a dim or an integer parameter, for --cost")->delimiter(',');
  CLI::App* format = app.add_subcommand("fmt", "format source files");
  add_source_options(*format, o);
  format->add_flag("--check", o.check_only, "change nothing; exit 5 when a file is not formatted");
  format->add_flag("-i,--in-place", o.in_place, "write the files back");
  CLI::App* inspect = app.add_subcommand("inspect", "what an object holds");
  inspect->add_option("inputs", o.inputs, "object files")->required();
  inspect->add_flag("--json", o.json, "the manifest as it stands");
  app.add_subcommand("doctor", "versions and paths of what tilec uses");
}

}  // namespace

void with_option_table(const std::function<void(const CLI::App&)>& read) {
  Options o;
  CLI::App app{kSummary};
  declare_options(app, o);
  read(app);
}

namespace {

// The first word that no option is.
ParsedOptions tell_of_extra(const CLI::App& app, const std::string& word) {
  auto chosen = app.get_subcommands();
  std::string help = help_for_option(word, chosen.empty() ? app : *chosen[0]);
  std::fprintf(stderr, "tilec: there is no option '%s'%s%s\nRun with --help for those that there are.\n", word.c_str(), help.empty() ? "" : "; ", help.c_str());
  return {std::nullopt, kUsage};
}

// What single options allow and together says nothing; empty: all is well.
std::string misuse_of(const Options& o) {
  const bool writes = o.depends || o.depends_no_system || !o.depends_file.empty();
  if (!writes && !o.depends_targets.empty()) return "-MT says what dependencies are of, and without -MD, -MMD or -MF none are written";
  if (!writes && o.phony) return "-MP adds to dependencies, and without -MD, -MMD or -MF none are written";
  return "";
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
  Options o;
  WarningOptions words = take_warnings(argc, argv, o.policy);
  if (!words.error.empty()) {
    std::fprintf(stderr, "tilec: %s\n", words.error.c_str());
    return {std::nullopt, kUsage};
  }
  std::vector<std::string>& rest = words.rest;
  for (std::string& word : rest) word = spelled(word);
  // The parser would take the next word.
  for (const std::string& word : rest)
    if (word.starts_with("--") && word.ends_with("=")) {
      std::fprintf(stderr, "tilec: '%s' has no value\n", word.c_str());
      return {std::nullopt, kUsage};
    }
  CLI::App app{kSummary};
  declare_options(app, o);
  if (rest.empty()) {
    std::fputs(kWithoutInput, stderr);
    return {std::nullopt, kUsage};
  }
  if (is_misread(rest)) return {std::nullopt, kUsage};
  if (rest.empty() || (!is_verb(rest[0]) && rest[0] != "--help" && rest[0] != "-h" && rest[0] != "--version"))
    rest.insert(rest.begin(), "compile");
  try {
    std::reverse(rest.begin(), rest.end());
    app.parse(rest);
  } catch (const CLI::ExtrasError& error) {
    std::string what = error.what(), list = what.substr(what.rfind(": ") == what.npos ? 0 : what.rfind(": ") + 2);
    return tell_of_extra(app, list.substr(0, list.find(' ')));
  } catch (const CLI::RequiredError& error) {
    const std::vector<std::string> left = app.remaining(true);
    if (auto word = std::ranges::find_if(left, [](const std::string& w) { return w.starts_with("-"); }); word != left.end()) return tell_of_extra(app, *word);
    std::fprintf(stderr, "tilec: %s\nRun with --help for more information.\n", error.get_name() == "RequiredError" && std::string(error.what()).starts_with("inputs") ? "no file is given" : error.what());
    return {std::nullopt, kUsage};
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error, std::cout, std::cerr), ParsedOptions{std::nullopt, kDone};
    std::fprintf(stderr, "tilec: %s\nRun with --help for more information.\n", error.what());
    return {std::nullopt, kUsage};
  }
  for (auto [word, verb] : kVerbs)
    if (app.got_subcommand(word)) o.verb = verb;
  if (std::string misuse = misuse_of(o); !misuse.empty()) {
    std::fprintf(stderr, "tilec: %s\n", misuse.c_str());
    return {std::nullopt, kUsage};
  }
  return {o, kDone};
}

}  // namespace tilec
