// Thread IR for machines whose lanes are threads: every value is a scalar of its thread, which branches by itself.
#pragma once
#include <set>

#include "target/abi/boxes.h"
#include "target/llvm/speller.h"

namespace tilec::target {

class ThreadSpeller final : public Speller {
 public:
  ThreadSpeller(llvm::Function& function, const Context& context);
  // Gives every buffer of the region a place: shared ones from `shared` on, private ones each thread's own.
  void open_launch(const ir::op::Launch& launch, llvm::Value* shared, llvm::Value* fault);
  // Of copies by an engine: its descriptors, so many bytes each, then a byte each that says whether it holds.
  void open_counter(llvm::Value* counter) { counter_ = counter; }
  void open_boxes(std::vector<BoxAbi> boxes, llvm::Value* descriptors, uint64_t bytes);
  llvm::SmallVector<llvm::Value*, 3> block_indices(const ir::op::Launch& launch);
  llvm::SmallVector<llvm::Value*, 3> block_indices(const ir::op::Launch& launch, llvm::Value* number);  // of that block
  // Where launches overlap: what was launched before has ended, and what comes behind may begin to. Stands in front of the first operation
  // that reaches out of the block, so that all before it runs under the launch ahead; asked for again, it does nothing.
  void await_earlier_launches();

 private:
  using Speller::one;
  void spell_op(ir::OpId id) override;
  bool reaches_out(ir::OpId id) const;
  void one(const ir::Op& op, const ir::op::If& x);
  void one(const ir::Op& op, const ir::op::Unary& x);
  void one(const ir::Op& op, const ir::op::Binary& x);
  llvm::Value* instruction(const char* text, llvm::ArrayRef<llvm::Value*> operands);  // of numbers alone
  llvm::Value* quotient(llvm::Value* a, llvm::Value* b);
  void one(const ir::Op& op, const ir::op::ThreadIndex& x);
  void one(const ir::Op& op, const ir::op::LaneIndex& x);
  void one(const ir::Op& op, const ir::op::WarpIndex& x);
  void one(const ir::Op& op, const ir::op::Shuffle& x);
  void one(const ir::Op& op, const ir::op::Vote& x);
  void one(const ir::Op& op, const ir::op::WarpReduce& x);
  void one(const ir::Op& op, const ir::op::MemLoad& x);
  void one(const ir::Op& op, const ir::op::MemStore& x);
  void one(const ir::Op& op, const ir::op::MemAtomic& x);
  void one(const ir::Op& op, const ir::op::BlockBarrier& x);
  void one(const ir::Op& op, const ir::op::NamedBarrier& x);
  void one(const ir::Op& op, const ir::op::BarrierVote& x);
  void one(const ir::Op& op, const ir::op::WarpBarrier& x);
  void one(const ir::Op& op, const ir::op::ClusterBarrier& x);
  void one(const ir::Op& op, const ir::op::ClusterBlocks& x);
  void one(const ir::Op& op, const ir::op::GridBlocks& x);
  void one(const ir::Op& op, const ir::op::BlockNumber& x);
  void one(const ir::Op& op, const ir::op::TakeBlock& x);
  void one(const ir::Op& op, const ir::op::ReadBlock& x);
  void one(const ir::Op& op, const ir::op::BlockIndex& x);
  void one(const ir::Op& op, const ir::op::Atom& x);
  // Phases and copies in flight (thread_phases.cpp).
  void one(const ir::Op& op, const ir::op::PhaseInit& x);
  void one(const ir::Op& op, const ir::op::PhaseArrive& x);
  void one(const ir::Op& op, const ir::op::PhaseWait& x);
  void one(const ir::Op& op, const ir::op::PhaseFollow& x);
  void one(const ir::Op& op, const ir::op::CopyLanes& x);
  void one(const ir::Op& op, const ir::op::LoadMatrices& x);
  void one(const ir::Op& op, const ir::op::StoreMatrices& x);
  void one(const ir::Op& op, const ir::op::TurnMatrix& x);
  // Copies by an engine (thread_boxes.cpp).
  void one(const ir::Op& op, const ir::op::HasBoxes& x);
  void one(const ir::Op& op, const ir::op::CopyBox& x);
  void one(const ir::Op& op, const ir::op::StoreBox& x);
  void one(const ir::Op& op, const ir::op::AwaitStores& x);
  llvm::Value* corner(ir::ValueId memory, const ir::Ints& shape, const std::vector<ir::ValueId>& offsets, const layout::EngineRows& rows);
  llvm::Value* descriptor_of(const BoxAbi& box);
  void elect();
  std::string coordinates(const std::vector<ir::ValueId>& offsets, Values& operands);
  void one(const ir::Op& op, const ir::op::PhaseExpect& x);
  void one(const ir::Op& op, const ir::op::RegisterBudget& x);
  // Products of groups, in flight (thread_groups.cpp).
  void one(const ir::Op& op, const ir::op::EngineFence& x);
  void one(const ir::Op& op, const ir::op::GroupFence& x);
  void one(const ir::Op& op, const ir::op::GroupProduct& x);
  void one(const ir::Op& op, const ir::op::GroupCommit& x);
  void one(const ir::Op& op, const ir::op::GroupWait& x);
  void one(const ir::Op& op, const ir::op::VectorMake& x);
  Values tied(const std::string& text, llvm::ArrayRef<llvm::Value*> registers, llvm::ArrayRef<llvm::Value*> before, bool only_makes = false);
  void find_fresh(ir::RegionId body), find_long(ir::RegionId body);
  void keep_behind_reduction();
  void pass_on(const ir::Op& op, const std::string& text, llvm::ArrayRef<ir::ValueId> values);
  llvm::Value* descriptor(ir::ValueId array, ir::ValueId place, const ir::Ints& shape, const std::string& layout, bool is_long);
  llvm::Value* tied_to_lane(llvm::Value* x);
  llvm::Value* phase_pointer(ir::ValueId barriers, ir::ValueId index);
  void arrive_at(const ir::op::PhaseArrive& x);
  void tell_of_phases();
  llvm::Value* peer_pointer(llvm::Value* pointer, ir::ValueId peer);
  template <class T> void one(const ir::Op& op, const T&) {
    UNREACHABLE("no machine of this kind asks for `" + std::string(ir::name(op.kind())) + "` yet");
  }

  // Lanes (thread_lanes.cpp).
  llvm::Value* thread_number();
  void hold_number(const ir::Op& op, llvm::Value* number);  // as the result's type has it
  llvm::Value* lane_number();
  llvm::Value* own_warp();
  void find_warp(ir::RegionId launch);  // once, where all lanes are
  std::vector<std::pair<uint32_t, Held>> lend_warp(const ir::Op& op);
  // The lanes that take part where the code stands, a bit each. All of a warp do but under conditions in which its lanes differ;
  // what crosses lanes names its members, and no lane may wait for one that has gone another way.
  static constexpr uint32_t kAllLanes = 0xFFFFFFFF, kLastLane = 31;
  llvm::Value* members() { return members_ ? members_ : b_.getInt32(kAllLanes); }
  // Does anything in the region cross lanes?
  bool crosses_lanes(ir::RegionId region) const;
  // Every member's x read from another: `how` is the intrinsic of 32 bits, `lane` and `clamp` as it takes them.
  llvm::Value* exchange(unsigned how, llvm::Value* x, llvm::Value* lane, uint32_t clamp);
  llvm::Value* reduce_members(ir::ReduceFn fn, Scalar element, llvm::Value* x);
  llvm::Value* shuffle(const ir::op::Shuffle& x, llvm::Value* value);

  // Memory (thread_memory.cpp).
  llvm::Value* element_pointer(ir::ValueId buffer, ir::ValueId index);
  Values load(ir::ValueId buffer, llvm::Value* pointer, int64_t count);
  Values load_stream(ir::ValueId buffer, llvm::Value* pointer, int64_t count);
  void store(ir::ValueId buffer, llvm::Value* pointer, const Values& parts);
  void add_vector(const ir::op::MemAtomic& x);
  bool is_one_for_warp(const ir::op::MemAtomic& x) const;
  void fence(ir::MemoryOrder order, bool is_before);

  // Matrix instructions (thread_atoms.cpp).
  const MatrixAtom& atom_named(std::string_view name) const;
  static char constraint(llvm::Type* type);  // a register of this type, in the text of an instruction
  Values packed(ir::ValueId v);
  Values packed(Values parts);

  llvm::Value* members_ = nullptr;  // null: all
  llvm::Value* warp_ = nullptr;     // its number, found at the head of the launch; null: each lane finds it
  std::set<uint32_t> of_products_;  // scalars that tell where operands of groups' products are
  int64_t threads_ = 0;             // of a block
  const ir::op::Launch* launch_ = nullptr;  // that is spelled
  bool has_cluster_ = false;
  bool has_begun_phases_ = false;   // that nobody else was told of yet
  bool has_awaited_ = false;        // earlier launches
  std::vector<BoxAbi> boxes_;
  llvm::Value* counter_ = nullptr;  // of numbers that were taken
  llvm::Value *descriptors_ = nullptr, *elected_ = nullptr;  // the second: 1 in one lane of a warp
  uint64_t descriptor_bytes_ = 0;
  llvm::Value *arrived_ = nullptr, *crossed_ = nullptr;  // since the last wait for products: a phase that was arrived at, and what came from another lane then
  std::set<uint32_t> fresh_;             // flights of sums that nothing was added to yet
  std::map<std::tuple<llvm::BasicBlock*, uint32_t, uint32_t>, llvm::Value*> bases_;  // of the arrays of long products, dealt out by a lane
  std::set<uint32_t> long_;              // products of which a turn has many that read arrays
  std::map<std::pair<uint32_t, llvm::BasicBlock*>, llvm::Value*> asked_;  // numbers of blocks whose indices somebody asks for
  std::map<uint32_t, Values> operands_;  // of groups' products, in registers, by value: packed
};

}  // namespace tilec::target
