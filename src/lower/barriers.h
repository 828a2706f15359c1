// What the warps of a block wait for: barriers with phases, and what is known of them.
#pragma once
#include "lower/home.h"

namespace tilec::lower {

// Of a buffer's slots: filled, read and given back in turns. (rings.cpp)
struct Ring {
  ValueId full, empty;  // barriers with phases, one of each a slot
  int64_t depth = 1;
  int64_t lanes = 0;     // that fill a slot, one for each copy
  int64_t threads = 0;   // that read it
  bool is_bulk = false;  // an engine fills it, where `boxes` holds (none: always); elsewhere lanes do
  bool is_read_by_lanes = false;  // not by products in flight alone
  ValueId boxes = {};
  ValueId together = {};  // the engines of a cluster fill it for each other where that holds, and `boxes` with it; none: nowhere
};
struct Slot {
  const Ring& ring;
  ValueId index, parity;
};

// Where roles learn which block comes next, of a launch that deals its blocks out. (deal.cpp)
struct Deal {
  ValueId full, empty, next;  // barriers with phases and a number, one of each a slot
  int64_t readers = 0;        // warps
  RegionId filling;           // the role that takes numbers
};

// Where blocks of a cluster leave their tiles for each other. (cluster_sum.cpp)
struct ClusterSums {
  ValueId memory;        // a whole tile
  ValueId there, taken;  // barriers with phases: all tiles are there; all blocks have read this one's
  ValueId together = {};
  int64_t warps = 1;  // that come to it, of each block
};

// Where registers of a tile lie in memory that holds rows of it. (cluster_sum.cpp)
struct RowPlaces {
  const layout::MemLayout& memory;
  std::vector<int64_t> flips = {};  // by register: the bits of the address of register 0 that it flips; none: there is no such number
  int vector = 1;                   // so many registers are neighbours
};

// Groups of warps that take turns. (orders.cpp)
struct Order {
  ValueId turns;  // a barrier with phases for each group
  int64_t groups = 1, warps = 1;
};

}  // namespace tilec::lower
