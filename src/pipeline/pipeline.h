// The pass list, and compiling one kernel for one machine by it.
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "diag/sink.h"
#include "ir/kernel.h"
#include "machine/machine.h"
#include "prove/prover.h"

namespace tilec {

// A pass changes a kernel or only looks at it, or asks a prover about it; which of these is in its type. The prover is the
// same for all that ask, as long as what they change are attributes; behind one that adds operations it begins anew.
struct PassFunction {
  constexpr PassFunction(void (*f)(ir::Kernel&, prove::Prover&, Diagnostics&)) : ask(f) {}
  constexpr PassFunction(void (*f)(const ir::Kernel&, prove::Prover&, Diagnostics&)) : question(f) {}
  constexpr PassFunction(void (*f)(ir::Kernel&, const Machine&, Diagnostics&)) : change(f) {}
  constexpr PassFunction(void (*f)(const ir::Kernel&, const Machine&, Diagnostics&)) : look(f) {}
  void (*change)(ir::Kernel&, const Machine&, Diagnostics&) = nullptr;
  void (*look)(const ir::Kernel&, const Machine&, Diagnostics&) = nullptr;
  void (*ask)(ir::Kernel&, prove::Prover&, Diagnostics&) = nullptr;
  void (*question)(const ir::Kernel&, prove::Prover&, Diagnostics&) = nullptr;
  constexpr bool asks() const { return ask || question; }
  constexpr bool changes() const { return change || ask; }
};

struct Pass {
  std::string_view name;
  ir::Form needs, gives;
  PassFunction run;
  std::string_view purpose;
};

// One list for every machine: a step that a machine does not need finds nothing to do.
std::span<const Pass> pass_list();

// When a kernel is held to the laws of the IR. Ends: before the first pass, behind the checks, and behind the last pass; Always: also behind each that
// may change something.
enum class Verify : uint8_t { Never, Ends, Always };

struct PassOptions {
  std::string_view stop_after;                                         // a pass's name; empty: none
  std::function<void(const Pass&, const ir::Kernel&)> after = nullptr;  // called when a pass is done
  prove::Memory* memory = nullptr;                                      // of what was proved for other kernels
  std::vector<int> lanes = {};                                         // of a warp, on the machines that are compiled for; none: on any
  ir::LoopMemory* exact = nullptr;                                     // of the exact search for schedules of loops; null: there is none
  Verify verify = Verify::Always;
};

// Both take a Typed kernel along the list, and tell whether it may go on: not with errors of its own (in the sink), nor where clusters
// were to be widened and none was. A broken
// law of the IR is an internal error: the process ends with the pass and the law.
//
// The passes that ask the prover run once for a kernel, however many machines it is for: all they know of these is how many
// lanes a warp may have. All of them run, so that one mistake hides no other.
bool run_checks(ir::Kernel& kernel, Diagnostics& diagnostics, const PassOptions& options = {});
// The kernel as it is meant: where padding would count, with the masks that keep it out (`check-padding`); as it was where
// there is none, or where the checks refuse a kernel whose padding would count.
ir::Kernel with_masks(const ir::Kernel& kernel, bool& is_refused);
// The passes behind the checks, for a kernel that has come through them.
bool run_machine_passes(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics, const PassOptions& options = {});
// Both, one after the other.
bool run_passes(ir::Kernel& kernel, const Machine& machine, Diagnostics& diagnostics, const PassOptions& options = {});

}  // namespace tilec
