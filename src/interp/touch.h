// Judges every touch of memory: does the place exist, was it written, is the touch ordered with those of others?
#pragma once
#include "interp/strand.h"

namespace tilec::interp {

// Who touches: a strand, or an asynchronous operation of its.
struct Toucher {
  Run& run;
  Block* block;
  const Clock& clock;
  uint32_t op;
};
inline Toucher toucher(Strand& s, const Instr& i) { return {*s.run, s.block, s.clock, i.op}; }

// `width` bytes at `byte`, by one lane. False: a fault was recorded.
bool touch_bytes(const Toucher& who, Allocation& memory, int64_t byte, int width, int lane, Touch how);
// The same for each lane of the mask: `count` elements of `width` bytes, `step` apart, from its byte on.
struct LaneBytes {
  uint64_t lanes = 0;
  const int64_t* bytes = nullptr;
  int64_t step = 1;
  int count = 1;
};
bool touch_lanes(const Toucher& who, Allocation& memory, const LaneBytes& at, int width, Touch how);

}  // namespace tilec::interp
