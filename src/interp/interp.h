// The interpreter: runs a kernel of any form and says what it means, or where and why it means nothing.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "interp/tensor.h"
#include "ir/kernel.h"
#include "ir/scalar_eval.h"
#include "machine/machine.h"

namespace tilec::interp {

using ir::Numeric;

// When asynchronous operations move their data: as late as their tokens allow (a missing wait shows) or at once (a
// missing release shows). Both judge touches by happens-before as well.
enum class Completion : uint8_t { Late, Early };

// One for each parameter, in order: a tensor, a scalar, or null for one that may be absent.
using Argument = std::variant<std::monostate, Tensor*, ir::Number>;

struct RunOptions {
  Numeric numeric = Numeric::Typed;
  Completion completion = Completion::Late;
  const Machine* machine = nullptr;  // lanes, banks, atoms; without it 32 lanes, 32 banks, no atoms
  uint64_t step_limit = 1ull << 36;  // instructions; beyond it the run is taken for endless
  uint64_t seed = 1;                 // of the order of blocks and of warps and roles
  bool check_initialised = true, check_races = true, count_conflicts = true;
  bool forms_clusters = true;        // where a launch asks for them and they cut the grid; else every block is alone
  bool takes_ints_exact = false;     // of Thread IR: a fault where an `int` of all lanes leaves 64 bits, as no pass expects. Else it wraps
  std::map<std::string, int64_t> dims;  // those that no tensor's extent gives
};

enum class FaultKind : uint8_t {
  Contract,       // arguments that do not fit the parameters, or a requirement that does not hold
  OutOfBounds,    // an access outside a tensor or tile
  Uninitialised,  // a read of what was never written
  Race,           // two unordered touches of one byte inside a block
  BlockRace,      // two blocks touch one element, one of them writing, outside atomics
  Barrier,        // a barrier that not all reach
  Token,          // a copy that nobody waited for
  Flight,         // a matrix product whose result nobody took
  Ring,           // a turn taken, filled or given back twice or out of order
  Deadlock,
  DivisionByZero,
  Overflow,
  StepLimit,
  Uniformity,  // a value declared uniform that differs between lanes
  LaneStride,  // an access whose lanes do not move as its `lane_stride` says
  Loop,        // a step that is not positive
  Layout,      // a layout that does not cover its tile
  Atom,        // an atom that the machine lacks or whose operands do not fit its row
};
std::string_view name(FaultKind kind);

struct Fault {
  FaultKind kind;
  Span span;
  std::string text;  // a sentence without a full stop
};

// A guarded access that met its guard, or a `fault` operation that fired: the first of the run.
struct GuardHit {
  Span span;
  int64_t line = 0, index = 0;
};

struct Counters {
  uint64_t steps = 0;            // instructions
  uint64_t lane_operations = 0;  // instructions times lanes
  uint64_t bank_conflicts = 0;   // transactions of shared memory beyond one a phase
  uint64_t shared_transactions = 0;
  uint64_t shuffles = 0, votes = 0, barriers = 0, atomics = 0, atoms = 0;
  uint64_t registers_converted = 0, lanes_converted = 0, warps_converted = 0;  // elements by a conversion's tier
  uint64_t loaded[5] = {}, stored[5] = {};                                     // bytes by ir::Space
};

struct RunResult {
  std::optional<Fault> fault;
  std::optional<GuardHit> guard;
  Counters counters;
  bool ok() const { return !fault; }
};

RunResult run(const ir::Kernel& kernel, std::span<const Argument> arguments, const RunOptions& options = {});

// What of a kernel and a machine decides how runs with the same arguments and options end: where it is equal, one of them says it for
// the other, but for bank conflicts.
std::string run_key(const ir::Kernel& kernel, const Machine* machine);

}  // namespace tilec::interp
