// One run of the command on one input: its sources, what was found, and how it is told.
#pragma once
#include <functional>
#include <memory>

#include "base/source.h"
#include "diag/diag.h"
#include "driver/bundle.h"
#include "driver/options.h"
#include "driver/schedule_cache.h"
#include "pipeline/compile.h"
#include "pipeline/pipeline.h"
#include "sema/sema.h"
#include "target/target.h"

namespace tilec {

struct Chosen {
  const target::Target* target = nullptr;  // that makes the output
  std::vector<const Machine*> machines;
  std::vector<target::MachineChoice> images;  // those of them whose code the output only carries
  std::string named;  // what `target` was named by, or its name
};

struct Session {
  explicit Session(const Options& o) : options(o), diagnostics(o.policy), schedules(schedule_memory(o.schedule_cache)) { watch_sources(&sources); }
  ~Session() { watch_sources(nullptr); }
  Session(const Session&) = delete;

  const Options& options;
  SourceMap sources;
  Diagnostics diagnostics;
  Ast ast;
  Program program, set_aside;  // the latter: kernels that `made` has seen in vain
  std::vector<std::string> read_files;  // in order, without the embedded library
  std::unique_ptr<ir::LoopMemory> schedules;  // that the exact search has found

  // As the options ask for them.
  PassOptions passes() const {
    const bool is_each = options.verify.value_or(options.after_each);
    const Verify verify = is_each ? Verify::Always : options.verify ? Verify::Never : Verify::Ends;
    return {.exact = options.effort > 2 ? schedules.get() : nullptr, .verify = verify};
  }

  // Reads, parses and analyses; an exit code other than kDone ends the command (diagnostics are still to be told). `made` as
  // `analyse` has it.
  int load(const std::string& input, const std::function<void(const ir::Kernel&)>& made = {});
  int parse_only(const std::string& input);
  SourceProvider provider();  // of what is imported
  void mend(const std::function<void(const ir::Kernel&)>& made);
  // Reports exports whose names C does not leave to them.
  void check_names();
  // Warns of kernels none of which is exported.
  void check_exports();
  // Reports schedules for targets that nobody knows.
  void check_targets(), warn_of_targets(const ast::Schedule& schedule);
  // Prints the diagnostics; kSourceErrors when there are errors.
  int tell() const;
  int tell(const Diagnostics& what) const;
  // What keeps the command from its work is told at once, in the format asked for; the answer is the exit code.
  int cannot_read(const std::string& path, const std::string& why) const;
  int cannot_write(const std::string& path, const std::string& why) const;
  int cannot_emit(const Chosen& chosen, std::string_view kind) const;
  int cannot_assemble(const target::MachineChoice& of, const std::string& problem) const;
  int not_yet(const std::string& what, const std::string& help = {}) const;  // of a target that is to come
  // The machines that --target names; none: every level of this computer's CPU. An unknown name is told.
  std::optional<Chosen> machines() const;
  std::optional<target::MachineChoice> machine_of(const std::string& name) const;  // none: it has been told

 private:
  int tell_alone(const std::function<void(Place)>& report, int code) const;
};

// Every machine that some target spells for, or that the interpreter knows.
std::vector<const Machine*> all_machines();

// Was the compiler built without what an object of this host needs?
bool lacks_launcher(const target::Target& target);

// What was told in SARIF, as one document; to be called once, when the command ends.
void print_sarif();

int compile_command(const Options& options);
int check_command(const Options& options);
int run_command(const Options& options);
int explain_command(const Options& options);
int format_command(const Options& options);
int inspect_command(const Options& options);
int doctor_command(const Options& options);
// `--print-targets`, `--print-passes` and `--version`, each with `=json`; none when the words ask for something else.
std::optional<int> print_command(int argc, const char* const* argv);

}  // namespace tilec
