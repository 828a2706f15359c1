// What the command line says, as data.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "diag/policy.h"

namespace tilec {

enum ExitCode : int { kDone = 0, kSourceErrors = 1, kUsage = 2, kEnvironment = 3, kInternal = 4, kSaidNo = 5, kNoTarget = 6 };

enum class Verb { Compile, Check, Run, Explain, Format, Inspect, Doctor };
enum class DiagnosticsFormat { Text, Json, Sarif };

struct Options {
  Verb verb = Verb::Compile;
  std::vector<std::string> inputs;
  // Outputs.
  std::string output, header, manifest, emit = "obj", prefix, name;
  bool depends = false, depends_no_system = false, phony = false;
  std::string depends_file;
  std::vector<std::string> depends_targets;
  // What for, and with what.
  std::vector<std::string> targets;
  std::string stdlib;
  std::vector<std::string> include_dirs;
  std::string assembler;  // of images; empty: one that is found
  int tries = 4;          // schedules of a kernel for which the assembler has too few registers, the first included
  // Diagnostics.
  DiagnosticsFormat format = DiagnosticsFormat::Text;
  Policy policy;
  std::string color = "auto";
  // Passes.
  std::string stop_after, print_after;
  bool time_passes = false;
  int effort = 2;  // -O
  std::string schedule_cache;  // a folder; empty: none
  std::optional<bool> verify;  // after every pass, or never; none: where passes begin and end
  // run
  std::string kernel;                                 // an export's name; empty: the only one
  std::vector<std::string> dims;                      // NAME=VALUE
  bool explain_cost = false;
  std::string form, numeric, machine;  // form: none is typed
  std::string completion = "late";
  bool after_each = false, counters = false;
  std::string data;                                   // a file of the kernel's numbers; empty: they are generated
  bool prints_json = false;
  uint64_t seed = 1;
  double tolerance = 0;
  // explain
  bool explain_all = false;
  // inspect
  bool json = false;
  // fmt
  bool check_only = false;
  bool in_place = false;
};

// The parsed options, or the exit code that help, a version or a usage error ends with (it has been printed).
struct ParsedOptions {
  std::optional<Options> options;
  int exit_code = kDone;
};
ParsedOptions parse_options(int argc, const char* const* argv);

extern const char* const kVersion;

}  // namespace tilec
