// Thread IR to LLVM IR, one function at a time.
//
// A uniform scalar is a scalar, a varying one a vector of the machine's lanes; a vector type is that many of either. A
// varying address is kept twice, whole and by its first lane, and only what `Demand` asks for is made.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <unordered_map>

#include "base/check.h"
#include "target/abi/abi.h"
#include "target/abi/demand.h"
#include "target/abi/memory.h"
#include "target/native/native.h"

namespace tilec::target {

using Values = llvm::SmallVector<llvm::Value*, 2>;

class Speller {
 public:
  struct Context {
    const ir::Kernel& kernel;
    const Abi& abi;
    int instance;
    const CpuCode& code;
  };
  Speller(llvm::Function& function, const Context& context);

  // Body: reads the slots, makes the values that `roots` need.
  void open_body(llvm::Value* slots, const std::vector<ir::ValueId>& roots);
  // Launch: gives every buffer of the region a place.
  void open_launch(const ir::op::Launch& launch, llvm::Value* scratch, llvm::Value* fault);
  void spell_block(const ir::op::Launch& launch, llvm::ArrayRef<llvm::Value*> indices);

  llvm::IRBuilder<>& builder() { return b_; }
  llvm::Value* uniform(ir::ValueId v) { return held(v).parts[0]; }
  llvm::Value* product(const Product& product);
  // -1 where a factor is negative or 64 bits do not hold it.
  llvm::Value* size(const Product& product);
  // Behind the last block: what went past the caches is there for others.
  void close_launch();
  int64_t scratch_bytes() const { return memory_.scratch_bytes; }

 private:
  // A value of the IR: one part, or one for each element of a vector type; `first` is lane 0 of a varying scalar.
  struct Held {
    Values parts;
    llvm::Value* first = nullptr;
  };
  struct Place {
    llvm::Value* pointer = nullptr;
    llvm::MDNode* scope = nullptr;     // accesses of this buffer
    llvm::MDNode* disjoint = nullptr;  // scopes that it never meets
    llvm::Value* streams = nullptr;    // whether what is written here is better not kept in caches; null: it is kept
  };

  // Types (types.cpp).
  const ir::Type& type(ir::ValueId v) const { return kernel_.type(v); }
  llvm::Type* scalar_type(Scalar element) const;  // in registers
  llvm::Type* memory_type(Scalar element) const;
  llvm::Type* part_type(const ir::Type& type) const;
  static int part_count(const ir::Type& type);
  llvm::Value* constant(Scalar element, ir::Number number) const;
  llvm::Value* lane_numbers(llvm::Type* element, int64_t scale = 1, int64_t first = 0) const;
  llvm::Value* splat(llvm::Value* x) { return x->getType()->isVectorTy() ? x : b_.CreateVectorSplat(lanes_, x); }
  static llvm::Value* number_like(llvm::Value* x, int64_t number);  // of x's type
  llvm::Value* to_index(llvm::Value* x, Scalar element);  // as 64 bits

  // Values.
  const Held& held(ir::ValueId v) const;
  Values parts_as(ir::ValueId v, const ir::Type& wanted);
  llvm::Value* operand(ir::ValueId v, bool varying);
  llvm::Value* first_lane(ir::ValueId v);
  void hold(ir::ValueId v, llvm::Value* x) { held_[v.index] = {{x}, nullptr}; }
  template <class Make> void elementwise(const ir::Op& op, Make make);

  // Control (control.cpp). A variable is a result or an argument of control flow: its parts, then its first lane.
  std::vector<llvm::Type*> variable_types(ir::ValueId variable) const;
  Values variable_in(ir::ValueId variable, ir::ValueId value);
  void hold_variable(ir::ValueId variable, llvm::ArrayRef<llvm::Value*> parts);
  llvm::BasicBlock* new_block(const char* name);
  void spell_ops(ir::RegionId region);
  void spell_op(ir::OpId id);
  // The phis of a list of variables, and what flows into them along one edge.
  using Phis = std::vector<llvm::PHINode*>;
  Phis hold_phis(llvm::ArrayRef<ir::ValueId> variables);
  Values flow(llvm::ArrayRef<ir::ValueId> variables, llvm::ArrayRef<ir::ValueId> values);
  static void add_incoming(const Phis& phis, const Values& values, llvm::BasicBlock* from);

  // One for each operation; those of other forms do not exist in Thread IR.
  void one(const ir::Op& op, const ir::op::For& x);
  void one(const ir::Op& op, const ir::op::While& x);
  void one(const ir::Op& op, const ir::op::If& x);
  void one(const ir::Op& op, const ir::op::Constant& x);
  void one(const ir::Op& op, const ir::op::Unary& x);
  void one(const ir::Op& op, const ir::op::Binary& x);
  void one(const ir::Op& op, const ir::op::Fma& x);
  void one(const ir::Op& op, const ir::op::Overflows& x);
  void one(const ir::Op& op, const ir::op::Compare& x);
  void one(const ir::Op& op, const ir::op::Select& x);
  void one(const ir::Op& op, const ir::op::Convert& x);
  void one(const ir::Op& op, const ir::op::Extent& x);
  void one(const ir::Op& op, const ir::op::Stride& x);
  void one(const ir::Op& op, const ir::op::Present& x);
  void one(const ir::Op& op, const ir::op::ThreadIndex& x);
  void one(const ir::Op& op, const ir::op::LaneIndex& x);
  void one(const ir::Op& op, const ir::op::WarpIndex& x);
  void one(const ir::Op& op, const ir::op::Shuffle& x);
  void one(const ir::Op& op, const ir::op::Vote& x);
  void one(const ir::Op& op, const ir::op::WarpReduce& x);
  void one(const ir::Op& op, const ir::op::MemLoad& x);
  void one(const ir::Op& op, const ir::op::MemStore& x);
  void one(const ir::Op& op, const ir::op::MemAtomic& x);
  void one(const ir::Op& op, const ir::op::VectorMake& x);
  void one(const ir::Op& op, const ir::op::VectorElement& x);
  void one(const ir::Op& op, const ir::op::Fault& x);
  void one(const ir::Op&, const ir::op::BlockBarrier&) {}  // a block is one warp
  void one(const ir::Op&, const ir::op::Alloc&) {}         // placed by open_launch
  void one(const ir::Op&, const ir::op::Yield&) {}
  template <class T> void one(const ir::Op&, const T&) { UNREACHABLE("the operation is not one of a CPU's Thread form"); }

  // Scalars (scalar.cpp, integer.cpp, convert.cpp): each works on a scalar and on a vector of lanes.
  llvm::Value* unary(ir::UnaryFn fn, Scalar element, llvm::Value* x);
  llvm::Value* float_unary(ir::UnaryFn fn, llvm::Value* x);
  llvm::Value* integer_unary(ir::UnaryFn fn, Scalar element, llvm::Value* x);
  llvm::Value* binary(ir::BinaryFn fn, Scalar element, llvm::Value* a, llvm::Value* b);
  llvm::Value* float_binary(ir::BinaryFn fn, llvm::Value* a, llvm::Value* b);
  llvm::Value* float_remainder(llvm::Value* a, llvm::Value* b);
  llvm::Value* bool_binary(ir::BinaryFn fn, llvm::Value* a, llvm::Value* b);
  llvm::Value* integer_binary(ir::BinaryFn fn, Scalar element, llvm::Value* a, llvm::Value* b);
  llvm::Value* divide_signed(llvm::Value* a, llvm::Value* b, bool remainder);
  llvm::Value* divide_unsigned(llvm::Value* a, llvm::Value* b, bool remainder);
  llvm::Value* shift(ir::BinaryFn fn, Scalar element, llvm::Value* a, llvm::Value* b);
  llvm::Value* overflows(ir::BinaryFn fn, llvm::Value* a, llvm::Value* b);
  llvm::Value* compare(ir::CompareFn fn, Scalar element, llvm::Value* a, llvm::Value* b);
  llvm::Value* convert(Scalar from, Scalar to, ir::ConvertMode mode, llvm::Value* x);
  llvm::Value* convert_bits(Scalar from, Scalar to, llvm::Value* x);
  llvm::Value* convert_float(Scalar from, Scalar to, llvm::Value* x);
  llvm::Value* convert_to_float(Scalar from, Scalar to, llvm::Value* x);
  llvm::Value* saturate(Scalar from, Scalar to, llvm::Value* x);
  llvm::Value* reduce_step(ir::ReduceFn fn, Scalar element, llvm::Value* a, llvm::Value* b);
  llvm::Type* shaped(llvm::Type* element, llvm::Value* like) const;

  // Lanes (lanes.cpp).
  llvm::Value* any_lane(llvm::Value* condition);
  llvm::Value* lane_mask(llvm::Value* condition);  // an integer with a bit a lane
  llvm::Value* shuffle_constant(ir::ShuffleKind how, llvm::Value* x, int64_t distance);
  void unless_clear(llvm::Value* condition, bool is_rare, llvm::function_ref<void()> then);

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
  llvm::Value* to_memory(Scalar element, llvm::Value* x);
  llvm::Value* from_memory(Scalar element, llvm::Value* x);
  llvm::Value* masked_or_null(ir::ValueId mask);
  llvm::Instruction* tag(llvm::Instruction* access, const Place& place);
  llvm::Value* atomic_once(const ir::op::MemAtomic& x, const Target& target, llvm::Value* pointer, llvm::ArrayRef<llvm::Value*> operands);

  // The frame (speller.cpp).
  llvm::Value* slot_value(llvm::Value* slots, int slot, llvm::Type* wanted);
  llvm::Value* invariant_load(llvm::Type* wanted, llvm::Value* address);
  void scope_places();
  void stream_places();

  const ir::Kernel& kernel_;
  const Abi& abi_;
  int instance_;
  const CpuCode& code_;
  unsigned lanes_;
  llvm::Function& function_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  Demand demand_;
  LaunchMemory memory_;
  llvm::Value* fault_ = nullptr;
  std::vector<Held> held_;
  std::unordered_map<uint32_t, Place> places_;
};

}  // namespace tilec::target
