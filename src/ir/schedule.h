// The schedule of one kernel on one machine: what the compiler decides and a user may pin. `schedule` completes what the
// source pins, `stage-loops` and `split-roles` write down what they could do; nobody else changes it.
#pragma once
#include <algorithm>
#include <memory>

#include "base/source.h"
#include "ir/op.h"

namespace tilec::ir {

class LoopMemory;  // loop_memory.h

// One labelled statement. A copy without a label goes by the name of the shared tile that it fills.
struct Placement {
  Text label, role;
  int64_t stage = 0, order = 0;
  bool is_inferred = false;  // by a pass: where it cannot be carried out, nobody asked for it
  friend bool operator==(const Placement& a, const Placement& b) {
    return a.label == b.label && a.role == b.role && a.stage == b.stage && a.order == b.order;
  }
};

// Warps that run a part of the block's program. `registers`: 32-bit ones of each lane; 0: what the machine gives.
struct Role {
  Text name;
  int64_t warps = 0, registers = 0;
  friend bool operator==(const Role&, const Role&) = default;
};

// Shared tiles that are filled together, ahead of time, in `depth` versions; depth 1: not ahead. At most `in_flight` matrix
// products that read them are open when the next starts; -1: the compiler chooses.
struct Pipeline {
  Text name;
  std::vector<Text> tiles;
  int64_t depth = 0, in_flight = -1;
  int64_t carried = 0;  // products that a loop leaves open from turn to turn, at the most: what came of `in_flight`
  friend bool operator==(const Pipeline& a, const Pipeline& b) {
    return a.name == b.name && a.tiles == b.tiles && a.depth == b.depth && a.in_flight == b.in_flight;
  }
  void carry(int64_t products) {
    in_flight = products;
    carried = std::max(carried, products);
  }
};

// The layout of a variable, in the notation of `layout/`.
struct PinnedLayout {
  Text name, layout;
  Span span;
  friend bool operator==(const PinnedLayout& a, const PinnedLayout& b) { return a.name == b.name && a.layout == b.layout; }
};

// What the source insists on: what it misses is an error then, and no slow fallback.
enum class Need : uint8_t {
  BulkCopy,       // engines fill the shared tiles of pipelined loops, where tensors suit them
  GroupProducts,  // every matrix product is one of groups of warps
  MatrixUnit,     // none is made of the lanes' own multiply-adds
  Overlap,        // products of pipelined loops run while warps go on
  Roles,
  Persistent,
  Split,          // blocks of a cluster share the turns of a launch's loop of products
  NoSpill,        // the assembler finds registers for everything
};
EnumNames names_of(Need);
struct Required {
  Need need = Need::BulkCopy;
  Span span;
  friend bool operator==(const Required& a, const Required& b) { return a.need == b.need; }
};

// What an earlier round of the passes found out, for the next one, and what the caller asks of all kernels. No decision: it is neither printed nor compared.
struct Facts {
  int64_t scratch_bytes = 0;  // of shared memory, that the tiles must leave to what lowering needs beside them
  bool lanes_copy = false;    // in a role that fills rings, which needs registers for it
  LoopMemory* exact = nullptr;  // of the exact search, by which loops are scheduled; null: they are not
  bool widens = false;        // clusters that are inferred, along a second axis
  bool is_widened = false;    // and one has been
  bool is_for_wide = false;   // the source speaks of that instance
  Span tied = {};             // of a block of the source that says as much of this kernel as the one that is taken; none: there is none
  std::shared_ptr<const struct Schedule> pinned = nullptr;  // as the source has it; null: it has none
};

struct Schedule {
  std::vector<Role> roles;
  std::vector<Placement> placements;
  std::vector<Pipeline> pipelines;
  std::vector<PinnedLayout> layouts;
  std::vector<Required> required;
  int64_t raster = 0, backwards = 0, split = 0;  // as a launch has them
  std::vector<int64_t> cluster;
  bool persistent = false;
  bool are_roles_pinned = false;  // by the source, so that it is an error if the block cannot have them
  Facts facts;
  Span span;  // of the first `schedule` block that pins something
  friend bool operator==(const Schedule& a, const Schedule& b) {
    return a.roles == b.roles && a.placements == b.placements && a.pipelines == b.pipelines && a.layouts == b.layouts && a.required == b.required &&
           a.raster == b.raster && a.backwards == b.backwards && a.split == b.split && a.cluster == b.cluster && a.persistent == b.persistent;
  }
};

// `backwards` of a launch all of whose axes go forward because the source says so.
constexpr int64_t kForward = -1;

// The names of the role that fills rings, and of the one that does all else, where nobody gave others.
constexpr std::string_view kLoadRole = "load", kMathRole = "math";
constexpr std::string_view kRest = "rest";  // in a role: every statement that no other role names

}  // namespace tilec::ir
