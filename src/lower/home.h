// Where the elements of tiles are, and which of a buffer they move.
#pragma once
#include <functional>
#include <memory>

#include "ir/builder.h"
#include "layout/intern.h"
#include "lower/digits.h"

namespace tilec::lower {

using ir::Builder;
using ir::Kernel;
using ir::OpId;
using ir::RegionId;
using ir::Space;
using ir::Type;
using ir::ValueId;

struct Deferred;

// Where the elements of a tile are: in SSA values, one a register, or, when there are too many, in a private array, or
// nowhere yet. Of a tile in flight `registers` are vectors, one a block of its atom.
struct Home {
  layout::LayoutId layout;
  std::vector<ValueId> registers;
  ValueId memory;
  std::shared_ptr<const Deferred> deferred = nullptr;
  bool in_memory() const { return memory.valid(); }
  bool in_registers() const { return !memory.valid() && !deferred; }
};

// Scalars travel as values; a tile as its registers, or in a memory home that stays where it is; what is in flight as its vectors.
inline bool has_home(const Type& type) { return type.is_tile() || type.kind == ir::TypeKind::Flight; }

// An index along one dimension as what the point contributes (one value a warp) and what the lane adds, if anything.
struct Coordinate {
  ValueId uniform;
  ValueId lane;  // or none
};

// A region of a buffer, ready to be addressed: operands of load, store, copy.
struct Region {
  ValueId buffer;  // in the source kernel
  std::vector<ValueId> offsets;  // lowered
  std::vector<int64_t> axes;     // tile axis -> dimension
  std::vector<ir::Bounds> bounds;
};

// A region that lies inside its buffer, or is touched element by element under a mask.
struct Guard {
  Region region;
  std::vector<int64_t> shape;
};

// A tile too large for registers whose elements are computed where they are read, so that none passes through memory.
struct Deferred {
  std::function<ValueId(const Point&)> element;
  std::vector<Guard> guards;    // what it reads
  unsigned unrolled_axes = 0;   // a set: along these its point must be constant, as it reads registers
  std::vector<ValueId> arrays;  // source tiles whose arrays it reads: they live until its last reader
};

}  // namespace tilec::lower
