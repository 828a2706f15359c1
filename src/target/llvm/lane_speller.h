// Thread IR for machines whose lanes are the elements of vectors. A varying address is kept twice, whole and by its first lane, and
// only what `Demand` asks for is made.
#pragma once
#include "target/abi/memory.h"
#include "target/llvm/speller.h"

namespace tilec::target {

class LaneSpeller final : public Speller {
 public:
  LaneSpeller(llvm::Function& function, const Context& context, bool has_streaming_stores);
  // Gives every buffer of the region a place.
  void open_launch(const ir::op::Launch& launch, llvm::Value* scratch, llvm::Value* fault);
  // Behind the last block: what went past the caches is there for others.
  void close_launch();
  int64_t scratch_bytes() const { return memory_.scratch_bytes; }

 private:
  using Speller::one;
  void spell_op(ir::OpId id) override;
  void one(const ir::Op& op, const ir::op::ThreadIndex& x);
  void one(const ir::Op& op, const ir::op::LaneIndex& x);
  void one(const ir::Op& op, const ir::op::WarpIndex& x);
  void one(const ir::Op& op, const ir::op::Shuffle& x);
  void one(const ir::Op& op, const ir::op::Vote& x);
  void one(const ir::Op& op, const ir::op::WarpReduce& x);
  void one(const ir::Op& op, const ir::op::MemLoad& x);
  void one(const ir::Op& op, const ir::op::MemStore& x);
  void one(const ir::Op& op, const ir::op::MemAtomic& x);
  void one(const ir::Op& op, const ir::op::Prefetch& x);
  void one(const ir::Op&, const ir::op::BlockBarrier&) {}  // a block is one warp
  template <class T> void one(const ir::Op&, const T&) { UNREACHABLE("the operation is not one of a CPU's Thread form"); }

  // Lanes (lanes.cpp).
  llvm::Value* lane_numbers(llvm::Type* element, int64_t scale = 1, int64_t first = 0) const;
  llvm::Value* shuffle_constant(ir::ShuffleKind how, llvm::Value* x, int64_t distance);

  // Memory (memory.cpp, atomic.cpp).
  struct Target {                // one access, resolved
    const ir::Type& buffer;
    const Place& place;
    llvm::Value* first = nullptr;    // the index of lane 0, where the lanes lie `stride` apart
    llvm::Value* indices = nullptr;  // or that of each lane
    int64_t stride = 0;
    int64_t step = 1;                // between the elements of a vector
  };
  Target resolve(ir::ValueId buffer, ir::ValueId index, int64_t lane_stride);
  llvm::Value* element_pointer(const Target& target, int64_t element);
  llvm::Value* lane_pointers(const Target& target, int64_t element);
  llvm::Value* load_scalar(const Target& target, int64_t element, llvm::Value* mask);
  llvm::Value* load_part(const Target& target, int64_t element, bool varying, llvm::Value* mask);
  Values load_interleaved(const Target& target, int64_t count);
  void store_part(const Target& target, int64_t element, llvm::Value* value, llvm::Value* mask);
  void store_lanes(const Place& place, llvm::Value* pointer, llvm::Value* value, llvm::Align align);
  void stream_places();

  bool has_streaming_stores_;
  LaunchMemory memory_;
};

}  // namespace tilec::target
