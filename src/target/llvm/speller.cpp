// The frame of a function: arguments of the body from the slots, scopes of the buffers, the region of a block.
#include "target/llvm/speller.h"

namespace tilec::target {

using llvm::Value;

Speller::Speller(llvm::Function& function, const Context& context, unsigned width, unsigned space)
    : kernel_(context.kernel), abi_(context.abi), instance_(context.instance), machine_(context.machine),
      has_half_conversion_(context.has_half_conversion), has_rounding_(context.has_rounding), width_(width), tensor_pointer_(llvm::PointerType::get(function.getContext(), space)),
      function_(function), context_(function.getContext()),
      b_(llvm::BasicBlock::Create(function.getContext(), "entry", &function)), held_(context.kernel.values.size()) {
  demand_.bits.assign(kernel_.values.size(), Demand::kLanes);
  if (!kernel_.fast_math) return;
  llvm::FastMathFlags flags;
  flags.setAllowReassoc();
  flags.setNoSignedZeros();
  flags.setAllowReciprocal();
  flags.setAllowContract(true);
  b_.setFastMathFlags(flags);
}

Value* Speller::slot_value(Value* slots, int slot, llvm::Type* wanted) {
  Value* address = b_.CreateConstGEP1_64(b_.getInt64Ty(), slots, uint64_t(slot));
  if (wanted->isPointerTy()) return invariant_load(wanted, address);
  Value* bits = invariant_load(b_.getInt64Ty(), address);
  if (wanted->isIntegerTy(1)) return b_.CreateICmpNE(bits, b_.getInt64(0));
  if (wanted->isIntegerTy()) return b_.CreateTrunc(bits, wanted);
  return b_.CreateBitCast(b_.CreateTrunc(bits, b_.getIntNTy(wanted->getPrimitiveSizeInBits())), wanted);
}

// The slots do not change during a call.
Value* Speller::invariant_load(llvm::Type* wanted, Value* address) {
  llvm::LoadInst* load = b_.CreateAlignedLoad(wanted, address, llvm::Align(8));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  return load;
}

void Speller::open_body(Value* slots, const std::vector<ir::ValueId>& roots) {
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    ir::ValueId v = kernel_.params[i].value;
    if (type(v).is_buffer()) places_[v.index].pointer = slot_value(slots, abi_.params[i].slot, tensor_pointer_);
    else hold(v, slot_value(slots, abi_.params[i].slot, scalar_type(type(v).element)));
  }
  for (size_t i = 0; i < kernel_.dims.size(); ++i) {
    const ir::Dim& dim = kernel_.dims[i];
    if (abi_.dims[i].slot >= 0) hold(dim.value, slot_value(slots, abi_.dims[i].slot, scalar_type(type(dim.value).element)));
    else if (!kernel_.definition(dim.value)) hold(dim.value, b_.getInt64(uint64_t(*dim.fixed)));
  }
  for (const WorkspaceAbi& w : abi_.instances[instance_].workspaces)
    places_[kernel_.op(w.alloc).result().index].pointer = slot_value(slots, w.slot, tensor_pointer_);
  for (ir::OpId id : body_ops_for(kernel_, roots)) spell_op(id);
}

// Says which buffers never meet: all, but for read-only parameters, of which no write is seen, those marked `alias`, and buffers
// of a block of which one lies where the other has been.
void Speller::scope_places() {
  llvm::MDBuilder metadata(context_);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain();
  std::map<uint32_t, Place*> in_order;
  for (auto& [value, place] : places_) in_order[value] = &place;
  for (auto& [value, place] : in_order)
    place->scope = llvm::MDNode::get(context_, {metadata.createAnonymousAliasScope(domain)});
  for (auto& [value, place] : in_order) {
    const ir::Param* own = kernel_.param_of({value});
    llvm::SmallVector<llvm::Metadata*, 8> disjoint;
    for (auto& [other_value, other] : in_order) {
      const ir::Param* param = kernel_.param_of({other_value});
      bool may_meet = own && param && (own->may_alias || param->may_alias);
      may_meet |= place->low < other->high && other->low < place->high;
      if (other != place && !may_meet) disjoint.push_back(other->scope->getOperand(0));
    }
    place->disjoint = llvm::MDNode::get(context_, disjoint);
  }
}

void Speller::spell_block(const ir::op::Launch& launch, llvm::ArrayRef<Value*> indices) {
  const std::vector<ir::ValueId>& args = kernel_.region(launch.body).args;
  INVARIANT(args.size() == indices.size(), "a launch's region takes its block indices");
  for (size_t i = 0; i < args.size(); ++i) hold(args[i], indices[i]);
  spell_ops(launch.body);
}

Value* Speller::product(const Product& product) {
  Value* all = b_.getInt64(uint64_t(product.constant));
  for (ir::ValueId v : product.factors) all = b_.CreateMul(all, uniform(v));
  return all;
}

// As `ScalarText::size_product` of the C text.
Value* Speller::size(const Product& product) {
  Value *zero = b_.getInt64(0), *too_large = b_.getInt64(uint64_t(-1)), *negative = b_.getInt64(uint64_t(-2));
  Value* all = b_.getInt64(uint64_t(product.constant));
  for (ir::ValueId v : product.factors) {
    Value *extent = uniform(v), *longer = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, all, extent);
    Value* is_too_large = b_.CreateOr(b_.CreateICmpSLT(all, zero), b_.CreateExtractValue(longer, 1));
    Value* is_empty = b_.CreateOr(b_.CreateICmpEQ(all, zero), b_.CreateICmpEQ(extent, zero));
    Value* is_negative = b_.CreateOr(b_.CreateICmpEQ(all, negative), b_.CreateICmpSLT(extent, zero));
    all = b_.CreateSelect(is_too_large, too_large, b_.CreateExtractValue(longer, 0));
    all = b_.CreateSelect(is_negative, negative, b_.CreateSelect(is_empty, zero, all));
  }
  return all;
}

void Speller::one(const ir::Op& op, const ir::op::Extent& x) {
  hold(op.result(), product(extent_of(kernel_, x.buffer, x.axis)));
}
void Speller::one(const ir::Op& op, const ir::op::Stride& x) {
  hold(op.result(), product(stride_of(kernel_, x.buffer, x.axis)));
}
void Speller::one(const ir::Op& op, const ir::op::IsAligned& x) {
  Value* address = b_.CreatePtrToInt(places_.at(x.buffer.index).pointer, b_.getInt64Ty());
  hold(op.result(), b_.CreateICmpEQ(b_.CreateAnd(address, uint64_t(x.bytes - 1)), b_.getInt64(0)));
}
void Speller::one(const ir::Op& op, const ir::op::Present& x) {
  hold(op.result(), b_.CreateIsNotNull(places_.at(x.buffer.index).pointer));
}
// Blocks of a processor's pool are tasks: each is one, and ends.
void Speller::one(const ir::Op&, const ir::op::ClusterBlocks&) { UNREACHABLE("blocks of this target are on their own"); }
void Speller::one(const ir::Op&, const ir::op::GridBlocks&) { UNREACHABLE("blocks of this target do not go on from one to the next"); }
void Speller::one(const ir::Op&, const ir::op::BlockNumber&) { UNREACHABLE("blocks of this target do not go on from one to the next"); }
void Speller::one(const ir::Op&, const ir::op::BlockIndex&) { UNREACHABLE("blocks of this target do not go on from one to the next"); }

}  // namespace tilec::target
