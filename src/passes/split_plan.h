// What splitting a loop would do, and whether it pays.
//
// The main part of a split loop is the run of iterations in which conditions of its ifs are decided: each is made of
// comparisons that turn once while the loop goes on (turning_point.h) and of conditions that the loop does not change.
// It lies on the longer side of a turning point that is known, and otherwise where the comparisons are true, if that decides both parts.
#pragma once
#include <optional>
#include <unordered_map>

#include "passes/turning_point.h"

namespace tilec::passes {

// What conditions say, by value.
using Decided = std::unordered_map<uint32_t, bool>;

// It says the same in all of the main part.
struct Premise {
  ir::ValueId condition;
  bool says;
  std::optional<Turning> turn;  // none: the loop does not change it
  bool is_late = false;      // the main part begins where it turns; otherwise it ends there
};

struct SplitPlan {
  std::vector<Premise> premises;
  Decided before, main, after;  // what is known in each part
  bool has_before = false, has_after = false;
  std::vector<ir::OpId> tests;  // the ifs that the main part is rid of
  int64_t guarded = 0;          // operations under these ifs, on both sides
  int64_t copied = 0;           // operations by which the code grows
  bool has_flights = false;     // products of an engine's are under way in the loop
};

// A split pays where it copies few operations, and each for several under the ifs that it decides: then the loop was mostly
// its ifs. The cost is code, which a compiler behind this one translates and an instruction cache holds; the gain is a main
// part without the tests and without the joins behind them. Both are counted in operations as they stand. So a loop around one
// guarded access splits, and one whose product is more than its guards does not. The few operations of a small loop need only
// be no more than those under its ifs.
//
// Where products are under way beside the loop's threads, a branch costs more than its test: the assembler moves nothing over it, and puts
// the wait for a product right behind it, in front of work that the product could run under. There copies may be many, for some under the ifs.
// (Attention without its tests in the loop: 2 to 5 % faster.)
constexpr int64_t kMostCopiedOfFlights = 2048;
constexpr int64_t kCopiedPerGuardedOfFlights = 8;
constexpr int64_t kMostCopied = 64;
constexpr int64_t kGuardedPerCopied = 4;
constexpr int64_t kFewCopied = 24;
constexpr int64_t kFewestTrips = 4;  // a loop known to run less often stays
bool pays(const SplitPlan& plan);

// The best plan that pays for a loop, if there is one.
std::optional<SplitPlan> plan_split(ir::Kernel& kernel, ir::OpId loop);

}  // namespace tilec::passes
