// From the typed program to what a target spells: every export through the pass list, once for each machine.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/parallel.h"
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
  std::string stream_struct = {};        // what a stream is a pointer to; empty: any pointer
};

// An export's kernel behind the checks.
struct Checked {
  ir::Kernel kernel;
  bool is_fine = false;  // it may go on to the passes of a machine
};

// A kernel of the output, and what it was made of.
struct Lowered {
  const ExportInstance* source;
  const Checked* checked;
  ir::Kernel* kernel;
};

// Owns the kernels that `program` points to; do not move the deques' elements.
struct Compiled {
  std::deque<Checked> checked;
  std::deque<ir::Kernel> kernels;
  std::vector<Lowered> lowered;
  target::Program program;
  host::Library library;
};

// The export as the pass list takes it for `machine`: with what the most special `schedule` block that speaks of it pins.
ir::Kernel kernel_for(const ExportInstance& exported, const Machine& machine);
// The same for a kernel of the export that has come through the checks. What several blocks require adds up.
ir::Schedule schedule_for(const ExportInstance& exported, const Machine& machine);

// Copies in wider clusters are for machines that have clusters.
bool is_for(const ExportInstance& exported, const Machine& machine);

// Were all errors for want of memory? An instance that a machine has too little of it for is left out there, as long as another one of
// its export remains.
bool lacks_memory(const Diagnostics& found);
// Of an instance that did not come through: one that no source speaks of, as it copies another one for wider clusters, is missed by nobody.
bool is_missed(const ExportInstance& exported, const Diagnostics& found);
std::string first_error(const Diagnostics& found);
// Does another instance of the export come through the passes on the machine?
bool has_other_instance(const Program& typed, const ExportInstance& exported, const Machine& machine, const PassOptions& options = {});

// Takes kernels through the checks, on other cores, while more of them are still made. Who looks on between the passes sees
// them one after the other.
class Checks {
 public:
  explicit Checks(Diagnostics& diagnostics, PassOptions options = {}) : diagnostics_(diagnostics), options_(std::move(options)) {
    if (!options_.memory) options_.memory = &memory_;
  }
  void add(const ir::Kernel& kernel);
  // In the order of adding; what was found goes to the sink only now.
  std::deque<Checked> finish();

 private:
  Diagnostics& diagnostics_;
  prove::Memory memory_;
  PassOptions options_;
  std::deque<Checked> checked_;
  std::deque<Diagnostics> found_;
  Tasks tasks_;  // the last member: it ends before what it works on
};

// None when there are errors (in the sink).
std::optional<Compiled> compile(const Program& typed, const CompileRequest& request, const SourceMap& sources,
                                Diagnostics& diagnostics, const PassOptions& options = {});

}  // namespace tilec
