// From the typed program to what a target spells: every export through the pass list, once for each machine.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "host/export.h"
#include "pipeline/pipeline.h"
#include "sema/sema.h"
#include "target/abi/export.h"

namespace tilec {

struct CompileRequest {
  std::vector<const Machine*> machines;  // each gets an instance of every export; the best first
  std::string prefix;                    // of the names of C functions
  std::string compiler;                  // name and version, for the header
  std::string library;                   // name of the header
};

// Owns the kernels that `program` points to; do not move the deque's elements.
struct Compiled {
  std::deque<ir::Kernel> kernels;
  target::Program program;
  host::Library library;
};

// The export as the pass list takes it for `machine`: with what the most special `schedule` block that speaks of it pins.
ir::Kernel kernel_for(const ExportInstance& exported, const Machine& machine);
// The same for a kernel of the export that has come through the checks.
const ir::Schedule& schedule_for(const ExportInstance& exported, const Machine& machine);

// Every export through the checks, in the order of the program.
struct Checked {
  ir::Kernel kernel;
  bool is_fine = false;  // it may go on to the passes of a machine
};
std::vector<Checked> check_all(const Program& typed, Diagnostics& diagnostics, const PassOptions& options = {});

// None when there are errors (in the sink).
std::optional<Compiled> compile(const Program& typed, const CompileRequest& request, const SourceMap& sources,
                                Diagnostics& diagnostics, const PassOptions& options = {});

}  // namespace tilec
