// Memory of a run: allocations with a shadow of what exists, what was written, and who touched it last.
#pragma once
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "interp/clocks.h"
#include "interp/value.h"
#include "ir/type.h"

namespace tilec::interp {

// Blocks that touched a granule of device memory in this launch.
struct BlockCell {
  static constexpr uint32_t kNone = ~0u, kMany = ~0u - 1;
  uint32_t writer = kNone, reader = kNone, atomic = kNone;
};

struct Allocation;

// Shared memory of a block that several buffers share, one after the other: whose bytes they are now, and the touches of all.
struct Overlay {
  std::vector<uint8_t> bytes;
  std::vector<const Allocation*> owners;  // who wrote last, by granule
  std::vector<Cell> cells;                // empty: touches are not judged
  Readers readers;
  int granule = 4;
};

struct Allocation {
  static constexpr uint8_t kExists = 1, kWritten = 2;

  ir::Space space = ir::Space::Global;
  std::string name;
  uint8_t* data = nullptr;
  int64_t bytes = 0;
  int granule = 4;  // bytes that one shadow entry stands for
  int lanes = 1;    // private memory of a warp: copies, interleaved by element
  std::vector<uint8_t> owned;
  std::vector<uint8_t> state;     // kExists, kWritten; empty: all of it exists and was written
  std::vector<Cell> cells;        // empty: touches are not judged inside a block
  std::vector<BlockCell> blocks;  // empty: not between blocks
  Readers readers;
  Overlay* overlay = nullptr;     // its bytes are some of these, from `overlay_at` on
  int64_t overlay_at = 0;
  // Knowledge that releasing atomics left at an element, and the blocks that did.
  struct Released {
    std::vector<uint64_t> known;  // agents of the block that began at `base`
    uint64_t base = 0;
    std::vector<uint32_t> blocks;
  };
  std::unordered_map<int64_t, Released> released;

  // The record of touches of the granule with this byte of a memory that has one.
  bool has_cells() const { return overlay ? !overlay->cells.empty() : !cells.empty(); }
  Cell& cell(int64_t byte) {
    return overlay ? overlay->cells[size_t((overlay_at + byte) / overlay->granule)] : cells[size_t(byte / granule)];
  }
  Readers& cell_readers() { return overlay ? overlay->readers : readers; }
  bool is_plain() const { return state.empty() && cells.empty() && blocks.empty(); }
  int64_t granules() const { return (bytes + granule - 1) / granule; }
};

// Memory as an operation sees it: a buffer value.
struct View {
  static constexpr int kMaxRank = 8;
  Allocation* memory = nullptr;  // null: an absent argument
  Scalar element = Scalar::F32;
  int rank = 0;
  int64_t base = 0;   // in elements, from the allocation's start
  int64_t reach = 0;  // one past the last element, from `base`
  int64_t extents[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};
};

// A region with its offsets known: what of each tile axis lies inside the buffer.
struct Region {
  View view;
  int rank = 0;
  int64_t base = 0;  // the place of tile element 0
  int64_t shape[View::kMaxRank], stride[View::kMaxRank], low[View::kMaxRank], high[View::kMaxRank];
  bool is_empty = false;  // a guarded element access points outside: nothing is read or written
  int64_t count() const;
};

// A dense view of extents.
View dense_view(Allocation* memory, Scalar element, std::span<const int64_t> extents);
int64_t reach_of(const View& view);
// Marks which granules of a strided view exist.
void mark_existing(Allocation& memory, const View& view, bool is_written);

}  // namespace tilec::interp
