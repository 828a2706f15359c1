// Thread IR to LLVM IR, one function at a time: what is the same wherever a warp's lanes are. Below it stand LaneSpeller, for
// which they are the elements of vectors, and ThreadSpeller, for which each is a thread of its own.
//
// A uniform scalar is a scalar, a varying one a vector of `width` lanes (of one: a scalar); a vector type is that many of either.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <unordered_map>

#include "base/check.h"
#include "target/abi/abi.h"
#include "target/abi/demand.h"
#include "target/native/native.h"

namespace tilec::target {

using Values = llvm::SmallVector<llvm::Value*, 2>;

class Speller {
 public:
  struct Context {
    const ir::Kernel& kernel;
    const Abi& abi;
    int instance;
    const Machine& machine;
    bool has_half_conversion;  // f16 to f32 and back are instructions
    bool has_rounding;         // so are floor and its like
  };
  virtual ~Speller() = default;

  // Body: reads the slots, makes the values that `roots` need.
  void open_body(llvm::Value* slots, const std::vector<ir::ValueId>& roots);
  void spell_block(const ir::op::Launch& launch, llvm::ArrayRef<llvm::Value*> indices);

  llvm::IRBuilder<>& builder() { return b_; }
  llvm::Value* uniform(ir::ValueId v) { return held(v).parts[0]; }
  llvm::Value* product(const Product& product);
  // -1 where a factor is negative or 64 bits do not hold it.
  llvm::Value* size(const Product& product);

 protected:
  // `width`: lanes in a value of LLVM's; `space`: where its pointers to tensors point.
  Speller(llvm::Function& function, const Context& context, unsigned width, unsigned space);
  // A value of the IR: one part, or one for each element of a vector type; `first` is lane 0 of a varying scalar.
  struct Held {
    Values parts;
    llvm::Value* first = nullptr;
  };
  struct Place {
    llvm::Value* pointer = nullptr;
    int64_t low = 0, high = 0;         // bytes of the block's memory in which others may lie as well; none where both are 0
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
  llvm::Value* splat(llvm::Value* x) { return width_ == 1 || x->getType()->isVectorTy() ? x : b_.CreateVectorSplat(width_, x); }
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
  virtual void spell_op(ir::OpId id) = 0;  // `one` below, or what the lanes change
  // The phis of a list of variables, and what flows into them along one edge.
  using Phis = std::vector<llvm::PHINode*>;
  Phis hold_phis(llvm::ArrayRef<ir::ValueId> variables);
  Values flow(llvm::ArrayRef<ir::ValueId> variables, llvm::ArrayRef<ir::ValueId> values);
  // `enter` is called at the head of each side, 0 where the condition holds.
  void branch(const ir::Op& op, const ir::op::If& x, llvm::function_ref<void(int side)> enter);
  static void add_incoming(const Phis& phis, const Values& values, llvm::BasicBlock* from);

  // One for each operation that works on each lane alone.
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
  void one(const ir::Op& op, const ir::op::ClusterBlocks& x);
  void one(const ir::Op& op, const ir::op::GridBlocks& x);
  void one(const ir::Op& op, const ir::op::BlockNumber& x);
  void one(const ir::Op& op, const ir::op::BlockIndex& x);
  void one(const ir::Op& op, const ir::op::IsAligned& x);
  void one(const ir::Op& op, const ir::op::VectorMake& x);
  void one(const ir::Op& op, const ir::op::VectorElement& x);
  void one(const ir::Op& op, const ir::op::Fault& x);
  void one(const ir::Op&, const ir::op::Alloc&) {}  // placed when a launch is opened
  void one(const ir::Op&, const ir::op::Yield&) {}

  // Scalars (scalar.cpp, integer.cpp, convert.cpp): each works on a scalar and on a vector of lanes.
  llvm::Value* unary(ir::UnaryFn fn, Scalar element, llvm::Value* x);
  llvm::Value* rounded(ir::UnaryFn fn, llvm::Value* x);
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
  llvm::Value* magnitude(Scalar element, llvm::Value* x);  // that of the least integer is the greatest one
  llvm::Value* reduce_step(ir::ReduceFn fn, Scalar element, llvm::Value* a, llvm::Value* b);
  llvm::Type* shaped(llvm::Type* element, llvm::Value* like) const;

  llvm::Value* any_lane(llvm::Value* condition);
  llvm::Value* lane_mask(llvm::Value* condition);  // an integer with a bit a lane
  void unless_clear(llvm::Value* condition, bool is_rare, llvm::function_ref<void()> then);

  // Memory.
  llvm::Value* to_memory(Scalar element, llvm::Value* x);
  llvm::Value* from_memory(Scalar element, llvm::Value* x);
  llvm::Value* masked_or_null(ir::ValueId mask);
  llvm::Instruction* tag(llvm::Instruction* access, const Place& place);
  // One atomic operation; gives what was there.
  llvm::Value* atomic_once(const ir::op::MemAtomic& x, const Place& place, Scalar element, llvm::Value* pointer, llvm::ArrayRef<llvm::Value*> operands);

  // The frame (speller.cpp).
  llvm::Value* slot_value(llvm::Value* slots, int slot, llvm::Type* wanted);
  llvm::Value* invariant_load(llvm::Type* wanted, llvm::Value* address);
  void scope_places();

  const ir::Kernel& kernel_;
  const Abi& abi_;
  int instance_;
  const Machine& machine_;
  bool has_half_conversion_, has_rounding_;
  unsigned width_;
  llvm::PointerType* tensor_pointer_;
  llvm::Function& function_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  Demand demand_;
  llvm::Value* fault_ = nullptr;
  std::vector<Held> held_;
  std::unordered_map<uint32_t, Place> places_;
};

// The block indices of a linear block number; the first one varies fastest.
llvm::SmallVector<llvm::Value*, 3> decompose(llvm::IRBuilder<>& b, llvm::Value* linear, llvm::ArrayRef<llvm::Value*> extents);

}  // namespace tilec::target
