// Regions and structured control. The loop variables and results of the IR become phis.
#include "target/llvm/speller.h"

namespace tilec::target {

using llvm::BasicBlock;
using llvm::Value;

BasicBlock* Speller::new_block(const char* name) { return BasicBlock::Create(context_, name, &function_); }

void Speller::spell_ops(ir::RegionId region) {
  for (ir::OpId id : kernel_.region(region).ops) {
    const ir::Op& op = kernel_.op(id);
    bool is_wanted = has_effect(op) || ir::table(op.kind()) == ir::OpTable::Control;
    for (ir::ValueId v : op.results) is_wanted |= demand_.any(v);
    if (is_wanted) spell_op(id);
  }
}

std::vector<llvm::Type*> Speller::variable_types(ir::ValueId variable) const {
  const ir::Type& t = type(variable);
  std::vector<llvm::Type*> types;
  if (demand_.lanes(variable)) types.assign(part_count(t), part_type(t));
  if (t.varying && demand_.first(variable)) types.push_back(scalar_type(t.element));
  return types;
}

Values Speller::variable_in(ir::ValueId variable, ir::ValueId value) {
  const ir::Type& t = type(variable);
  Values out;
  if (demand_.lanes(variable)) out = parts_as(value, t);
  if (t.varying && demand_.first(variable)) out.push_back(first_lane(value));
  return out;
}

void Speller::hold_variable(ir::ValueId variable, llvm::ArrayRef<Value*> parts) {
  Held h;
  if (type(variable).varying && demand_.first(variable)) {
    h.first = parts.back();
    parts = parts.drop_back();
  }
  h.parts.assign(parts.begin(), parts.end());
  held_[variable.index] = h;
}

Speller::Phis Speller::hold_phis(llvm::ArrayRef<ir::ValueId> variables) {
  Phis phis;
  for (ir::ValueId v : variables) {
    Values parts;
    for (llvm::Type* t : variable_types(v)) {
      phis.push_back(b_.CreatePHI(t, 2));
      parts.push_back(phis.back());
    }
    hold_variable(v, parts);
  }
  return phis;
}

Values Speller::flow(llvm::ArrayRef<ir::ValueId> variables, llvm::ArrayRef<ir::ValueId> values) {
  INVARIANT(variables.size() == values.size(), "every variable of control flow is given a value");
  Values all;
  for (size_t i = 0; i < variables.size(); ++i) all.append(variable_in(variables[i], values[i]));
  return all;
}

void Speller::add_incoming(const Phis& phis, const Values& values, BasicBlock* from) {
  for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(values[i], from);
}

namespace {

llvm::MDNode* unroll_fully(llvm::LLVMContext& context) {
  llvm::Metadata* unroll = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.full"));
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, unroll});
  loop->replaceOperandWith(0, loop);
  return loop;
}

}  // namespace

void Speller::one(const ir::Op& op, const ir::op::For& x) {
  INVARIANT(!type(x.low).varying && !type(x.high).varying, "the lanes of a warp loop together");
  llvm::ArrayRef<ir::ValueId> args(kernel_.region(x.body).args), carried = args.drop_front();
  Value *low = uniform(x.low), *high = uniform(x.high), *step = uniform(x.step);
  Values inits = flow(carried, x.inits);
  BasicBlock *before = b_.GetInsertBlock(), *head = new_block("for"), *body = new_block("body"), *done = new_block("done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* i = b_.CreatePHI(low->getType(), 2);
  hold(args[0], i);
  Phis phis = hold_phis(carried);
  i->addIncoming(low, before);
  add_incoming(phis, inits, before);
  b_.CreateCondBr(b_.CreateICmpSLT(i, high), body, done);
  b_.SetInsertPoint(body);
  spell_ops(x.body);
  add_incoming(phis, flow(carried, kernel_.terminator(x.body).as<ir::op::Yield>().values), b_.GetInsertBlock());
  Value* next = x.guarded ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, i, step) : b_.CreateNSWAdd(i, step);
  i->addIncoming(next, b_.GetInsertBlock());
  llvm::BranchInst* again = b_.CreateBr(head);
  if (x.loop == ir::LoopKind::Unroll) again->setMetadata(llvm::LLVMContext::MD_loop, unroll_fully(context_));
  b_.SetInsertPoint(done);
  for (size_t r = 0; r < op.results.size(); ++r) held_[op.results[r].index] = held_[carried[r].index];
}

void Speller::one(const ir::Op& op, const ir::op::While& x) {
  llvm::ArrayRef<ir::ValueId> tested(kernel_.region(x.condition).args), args(kernel_.region(x.body).args);
  Values inits = flow(tested, x.inits);
  BasicBlock *before = b_.GetInsertBlock(), *head = new_block("while"), *body = new_block("body"), *done = new_block("done");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  Phis phis = hold_phis(tested);
  add_incoming(phis, inits, before);
  spell_ops(x.condition);
  const std::vector<ir::ValueId>& passed = kernel_.terminator(x.condition).as<ir::op::Yield>().values;
  INVARIANT(!type(passed[0]).varying, "the lanes of a warp loop together");
  for (size_t i = 0; i < args.size(); ++i) hold_variable(args[i], variable_in(args[i], passed[i + 1]));
  b_.CreateCondBr(uniform(passed[0]), body, done);
  b_.SetInsertPoint(body);
  spell_ops(x.body);
  add_incoming(phis, flow(tested, kernel_.terminator(x.body).as<ir::op::Yield>().values), b_.GetInsertBlock());
  b_.CreateBr(head);
  b_.SetInsertPoint(done);
  for (size_t r = 0; r < op.results.size(); ++r) held_[op.results[r].index] = held_[args[r].index];
}

void Speller::one(const ir::Op& op, const ir::op::If& x) {
  branch(op, x, [](int) {});
}

void Speller::branch(const ir::Op& op, const ir::op::If& x, llvm::function_ref<void(int side)> enter) {
  INVARIANT(width_ == 1 || !type(x.condition).varying, "lanes that are elements branch together");
  BasicBlock *blocks[] = {new_block("then"), new_block("else")}, *join = new_block("join");
  ir::RegionId regions[] = {x.then_body, x.else_body};
  b_.CreateCondBr(uniform(x.condition), blocks[0], blocks[1]);
  Values values[2];
  BasicBlock* ends[2];
  for (int side = 0; side < 2; ++side) {
    b_.SetInsertPoint(blocks[side]);
    enter(side);
    if (regions[side].valid()) {
      spell_ops(regions[side]);
      values[side] = flow(op.results, kernel_.terminator(regions[side]).as<ir::op::Yield>().values);
    }
    ends[side] = b_.GetInsertBlock();
    b_.CreateBr(join);
  }
  b_.SetInsertPoint(join);
  Phis phis = hold_phis(op.results);
  for (int side = 0; side < 2; ++side) add_incoming(phis, values[side], ends[side]);
}

}  // namespace tilec::target
