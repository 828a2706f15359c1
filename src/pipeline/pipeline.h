// The pass list, and compiling one kernel for one machine by it.
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec {

struct Pass {
  std::string_view name;
  ir::Form needs, gives;
  void (*run)(ir::Kernel&, const Machine&, Diagnostics&);
  std::string_view purpose;
};

// One list for every machine: a step that a machine does not need finds nothing to do.
std::span<const Pass> pass_list();

struct PassOptions {
  std::string_view stop_after;                                         // a pass's name; empty: none
  std::function<void(const Pass&, const ir::Kernel&)> after = nullptr;  // called when a pass is done
  bool verify = true;
};

// Takes a Typed kernel through the list. False when the program has errors (in the sink). A broken law of the IR is an
// internal error: the process ends with the pass, the value and the line.
bool run_passes(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics, const PassOptions& options = {});

}  // namespace tilec
