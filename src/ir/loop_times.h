// The work of a turn of a pipelined loop, and when each part of it begins: what schedulers take and give.
//
// Groups of warps run one program side by side, each a `groups`-th of a turn behind the one before it, and share the units. In a steady
// state every `turn` clocks each of them begins a turn, and work of `begins` b runs from b to b + clocks, in the turn that is b / turn
// behind the one whose copies were awaited then.
#pragma once
#include <vector>

#include "base/source.h"
#include "ir/op.h"

namespace tilec::ir {

enum class Unit : uint8_t {
  Products,  // an engine that runs one product after the other, beside the threads
  Threads,   // lanes of the group's warps, which do one thing after the other
};

struct LoopWork {
  Text name;
  Unit unit;
  int64_t clocks = 1;     // that one group takes the unit
  int64_t registers = 0;  // of a lane, for what it makes: of products from their begin, of threads from their end, until the last use
  int64_t most_stage = 0; // turns that it may be behind
};

// `to` begins when `from` has ended, `distance` turns before.
struct LoopEdge {
  int from, to;
  int64_t distance = 0;
  bool takes_over = false;  // what `from` made becomes part of what `to` makes: it needs no registers of its own from then on
};

// Tiles that are filled ahead of the products that read them.
struct LoopRing {
  Text name;
  std::vector<int> readers;
  int64_t bytes = 0;      // of one version
  int64_t latency = 0;    // clocks from the start of its copies to their end
};

struct LoopProblem {
  std::vector<LoopWork> work;  // in the order of the program
  std::vector<LoopEdge> edges;
  std::vector<LoopRing> rings;
  int64_t groups = 1;
  int64_t registers = 0;      // of a lane, for all that `work` makes; 0: no limit
  int64_t shared_bytes = 0;   // for all rings; 0: no limit
};

struct LoopTimes {
  int64_t turn = 0;             // clocks from turn to turn, while all groups run
  int64_t alone = 0;            // the least that one group needs by itself: turn - alone is what it may lose by waiting
  std::vector<int64_t> begins;  // of `work`
  std::vector<int64_t> depths;  // of `rings`: versions that keep copies ahead of their readers
  int64_t stage(size_t work) const { return turn ? begins[work] / turn : 0; }
};

struct ScheduledLoop {
  Span span;
  LoopProblem problem;
  LoopTimes times;
};

}  // namespace tilec::ir
