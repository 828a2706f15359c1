// Products of groups of warps, which an engine runs beside the threads. It finds operands in shared memory by descriptors; the
// accumulator's registers are its own from a fence to a wait, so each statement that may touch them ties them.
#include <algorithm>
#include <cmath>

#include <llvm/IR/InlineAsm.h>

#include "layout/engine_rows.h"
#include "layout/notation.h"
#include "target/llvm/thread_speller.h"

namespace tilec::target {

using llvm::Value;

namespace {

// A swizzled array as its descriptor says it: rows of `swizzle` bytes, eight of them `stride` bytes from the next eight, and the
// columns behind them `leading` bytes away.
struct MatrixArray {
  int64_t swizzle = 0, stride = 0, leading = 0;
};

MatrixArray matrix_array(Scalar element, const ir::Ints& shape, const std::string& text) {
  std::vector<int> extents(shape.begin(), shape.end());
  auto layout = layout::parse_mem_layout(text, layout::Shape(extents));
  auto rows = layout ? layout::engine_rows(*layout, bit_width(element)) : std::nullopt;
  INVARIANT(rows && rows->swizzle, "an operand of a group's product has a layout that engines know");
  return {rows->swizzle, rows->swizzle * 8, rows->panel * byte_width(element)};
}

constexpr int64_t kUnit = 16;  // bytes, in which descriptors count

constexpr uint64_t kReach = 0x3FFFF;  // of an address, that descriptors hold; blocks of a cluster have theirs beyond it

uint32_t high_word(const MatrixArray& array) {
  uint32_t mode = array.swizzle == 128 ? 1 : array.swizzle == 64 ? 2 : 3;
  return mode << 30 | uint32_t(array.stride / kUnit);
}

}  // namespace

// A statement that takes these registers, unless it only makes them, and gives them back; `before` are its other operands, of which the
// first is called by the number of registers.
Values ThreadSpeller::tied(const std::string& text, llvm::ArrayRef<Value*> registers, llvm::ArrayRef<Value*> before, bool only_makes) {
  std::string outputs, inputs, ties;
  llvm::SmallVector<llvm::Type*, 64> types, given;
  llvm::SmallVector<Value*, 64> arguments(before.begin(), before.end());
  for (Value* v : before) {
    inputs += std::string(",") + constraint(v->getType());
    given.push_back(v->getType());
  }
  for (size_t i = 0; i < registers.size(); ++i) {
    outputs += std::string(i ? ",=" : "=") + constraint(registers[i]->getType());
    types.push_back(registers[i]->getType());
    if (only_makes) continue;
    ties += "," + std::to_string(i);
    given.push_back(types.back());
    arguments.push_back(registers[i]);
  }
  std::string constraints = outputs + inputs + ties + ",~{memory}";
  if (constraints[0] == ',') constraints.erase(0, 1);
  llvm::Type* result = types.empty() ? b_.getVoidTy() : types.size() == 1 ? types[0] : llvm::StructType::get(context_, types);
  auto* function = llvm::FunctionType::get(result, given, false);
  llvm::CallInst* call = b_.CreateCall(llvm::InlineAsm::get(function, text, constraints, true), arguments);
  call->addFnAttr(llvm::Attribute::Convergent);
  Values out;
  for (unsigned i = 0; i < types.size(); ++i) out.push_back(types.size() == 1 ? call : b_.CreateExtractValue(call, i));
  return out;
}

// The same of the registers of several values, each of which becomes one of the results.
void ThreadSpeller::pass_on(const ir::Op& op, const std::string& text, llvm::ArrayRef<ir::ValueId> values) {
  Values all;
  for (ir::ValueId v : values) all.append(held(v).parts);
  Values passed = tied(text, all, {});
  auto next = passed.begin();
  for (size_t i = 0; i < values.size(); ++i) {
    size_t count = held(values[i]).parts.size();
    Held h;
    h.parts.assign(next, next + ptrdiff_t(count));
    next += ptrdiff_t(count);
    held_[op.results[i].index] = std::move(h);
  }
}

// Places of one base are a constant away from each other, in the low word alone: a step along k is one sum of 32 bits. The base of a `long`
// product is dealt out by a lane anew in each block of code: so the assembler knows that all lanes have the same, counts on in registers
// that they share, and keeps no sums from turn to turn.
Value* ThreadSpeller::descriptor(ir::ValueId array, ir::ValueId place, const ir::Ints& shape, const std::string& layout, bool is_long) {
  const MatrixArray described = matrix_array(type(array).element, shape, layout);
  int64_t away = 0;
  if (const auto* sum = kernel_.defined_by<ir::op::Binary>(place); sum && sum->fn == ir::BinaryFn::Add) {
    auto known = kernel_.constant(sum->b);
    int64_t bytes = known ? known->i * byte_width(type(array).element) : 0;
    if (known && bytes % kUnit == 0) place = sum->a, away = bytes / kUnit;
  }
  auto word = [&](Value* x) { return b_.CreateTrunc(x, b_.getInt32Ty()); };
  auto units_of_base = [&]() -> Value* {
    Value* begin = word(b_.CreatePtrToInt(places_.at(array.index).pointer, b_.getInt64Ty()));
    Value* inside = b_.CreateMul(word(to_index(operand(place, true), type(place).element)), b_.getInt32(uint32_t(byte_width(type(array).element))));
    return b_.CreateLShr(b_.CreateAnd(b_.CreateAdd(begin, inside), kReach), b_.getInt32(std::countr_zero(uint64_t(kUnit))));
  };
  Value* units = nullptr;
  if (is_long) {
    Value*& dealt = bases_[{b_.GetInsertBlock(), array.index, place.index}];
    if (!dealt) dealt = tied_to_lane(units_of_base());
    units = dealt;
  } else {
    units = units_of_base();
  }
  Value* low = b_.CreateAdd(units, b_.getInt32(uint32_t(away + (described.leading / kUnit << 16))));
  Value* words = b_.CreateInsertElement(llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(2), b_.getInt32(high_word(described))), low, uint64_t(0));
  return b_.CreateBitCast(words, b_.getInt64Ty());
}

// A number that is the same in all lanes, as lane 0 has it.
Value* ThreadSpeller::tied_to_lane(Value* x) {
  auto* function = llvm::FunctionType::get(b_.getInt32Ty(), {b_.getInt32Ty()}, false);
  auto* call = b_.CreateCall(llvm::InlineAsm::get(function, "shfl.sync.idx.b32 $0, $1, 0, 31, 0xffffffff;", "=r,r", true), {x});
  call->addFnAttr(llvm::Attribute::Convergent);
  return call;
}

// The registers that a product will read are made before the fence that it stands behind: the engine reads them after that.
void ThreadSpeller::one(const ir::Op& op, const ir::op::VectorMake& x) {
  Speller::one(op, x);
  if (auto operand = operands_.find(op.result().index); operand != operands_.end()) operand->second = tied("", packed(op.result()), {});
}

void ThreadSpeller::one(const ir::Op&, const ir::op::EngineFence&) { tied("fence.proxy.async.shared::cta;", {}, {}); }

// A sum that begins with zeros needs none: its first product says that nothing is added to. Registers that are written for it would be
// work of every turn, and the assembler shares the one that holds zero with sums in flight, for which it then waits.
void ThreadSpeller::find_fresh(ir::RegionId body) {
  auto is_zero = [&](ir::ValueId v) {
    if (const auto* convert = kernel_.defined_by<ir::op::Convert>(v)) v = convert->x;
    auto number = kernel_.constant(v);
    return number && (is_float(type(v).element) ? number->f == 0 && !std::signbit(number->f) : number->i == 0);
  };
  find_long(body);
  std::vector<int> uses;
  ir::each_op(kernel_, body, [&](ir::OpId id) {
    const auto* product = kernel_.op(id).get<ir::op::GroupProduct>();
    const auto* fence = product ? kernel_.defined_by<ir::op::GroupFence>(product->acc) : nullptr;
    if (!fence) return;
    if (uses.empty()) uses = use_counts(kernel_);
    const std::vector<ir::ValueId>& begun = kernel_.definition(product->acc)->results;
    const auto* made = kernel_.defined_by<ir::op::VectorMake>(fence->registers[size_t(std::ranges::find(begun, product->acc) - begun.begin())]);
    if (made && uses[product->acc.index] == 1 && std::ranges::all_of(made->elements, is_zero)) fresh_.insert(product->acc.index);
  });
}

// Where many products of a turn read arrays that stay where they are, the assembler would keep the descriptors of all in registers, or on
// the stack. Fewer are best kept: attention, whose turns have 8 and 16, was 1 to 4 % slower without, the gradient of d 128 6 %, and MLA decode
// with 40 a turn no faster; with 64 it had them on the stack, and loaded one in front of each product.
void ThreadSpeller::find_long(ir::RegionId body) {
  constexpr size_t kMostKept = 48;
  std::vector<uint32_t> steps;  // of this region, whose first operand is an array
  for (ir::OpId id : kernel_.region(body).ops) {
    const auto* product = kernel_.op(id).get<ir::op::GroupProduct>();
    if (product && type(product->a).kind != ir::TypeKind::Vector) steps.push_back(kernel_.op(id).result().index);
    ir::each_region(kernel_.op(id).data, [&](ir::RegionId inner) { find_long(inner); });
  }
  if (steps.size() > kMostKept) long_.insert(steps.begin(), steps.end());
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::GroupFence& x) {
  ir::Op rest = op;
  std::vector<ir::ValueId> registers;
  rest.results.clear();
  for (size_t i = 0; i < x.registers.size(); ++i) {
    bool is_fresh = fresh_.contains(op.results[i].index);
    if (is_fresh) held_[op.results[i].index] = held(x.registers[i]);
    else rest.results.push_back(op.results[i]), registers.push_back(x.registers[i]);
  }
  pass_on(rest, "wgmma.fence.sync.aligned;", registers);
}

void ThreadSpeller::one(const ir::Op&, const ir::op::GroupCommit&) { tied("wgmma.commit_group.sync.aligned;", {}, {}); }

// The assembler knows of nothing that ties a wait to what threads compute, and moves it up to the wait before it: then nothing of that
// runs under the products. It moves none over a touch of shared memory, and such a one as practically never happens, and does nothing,
// is asked for by what crossed lanes last: there a warp waits in any case.
void ThreadSpeller::keep_behind_reduction() {
  auto is_here = [&](Value* v) { return v && llvm::isa<llvm::Instruction>(v) && llvm::cast<llvm::Instruction>(v)->getParent() == b_.GetInsertBlock(); };
  if (!is_here(crossed_) || !arrived_) return;
  tied("{ .reg .pred p, q; setp.eq.u32 p, $1, 0x7FC0ABCD; @p mbarrier.test_wait.parity.shared.b64 q, [$0], 0; }", {}, {arrived_, b_.CreateBitCast(crossed_, b_.getInt32Ty())});
}

void ThreadSpeller::one(const ir::Op& op, const ir::op::GroupWait& x) {
  keep_behind_reduction();
  crossed_ = arrived_ = nullptr;
  pass_on(op, "wgmma.wait_group.sync.aligned " + std::to_string(x.in_flight) + ";", x.flights);
}

// TEXT {accumulator}, A, B, accumulates, [scales], [which operands run along m or n];
void ThreadSpeller::one(const ir::Op& op, const ir::op::GroupProduct& x) {
  const MatrixAtom& atom = atom_named(x.atom);
  const Values registers = held(x.acc).parts;
  size_t count = registers.size();
  bool is_in_registers = type(x.a).kind == ir::TypeKind::Vector, is_long = long_.contains(op.result().index);
  auto list = [](size_t from, size_t number) {
    std::string text = "{";
    for (size_t i = 0; i < number; ++i) text += (i ? ", $" : "$") + std::to_string(from + i);
    return text + "}";
  };
  Values operands;
  if (is_in_registers) operands = operands_.at(x.a.index);
  else operands.push_back(descriptor(x.a, x.a_place, x.a_shape, x.a_layout, is_long));
  std::string a = is_in_registers ? list(count, operands.size()) : "$" + std::to_string(count);
  std::string b = "$" + std::to_string(count + operands.size());
  operands.push_back(descriptor(x.b, x.b_place, x.b_shape, x.b_layout, is_long));
  bool is_fresh = fresh_.contains(x.acc.index);
  std::string text = "{ .reg .pred p; setp.ne.b32 p, " + std::string(is_fresh ? "0" : "1") + ", 0; " + std::string(atom.text) + " " + list(0, count) + ", " + a + ", " + b + ", p";
  if (is_float(atom.c)) text += ", 1, 1";
  if (!atom.k_major_only) text += (is_in_registers ? "" : x.transpose_a ? ", 1" : ", 0") + std::string(x.transpose_b ? ", 0" : ", 1");
  Held h;
  h.parts = tied(text + "; }", registers, operands, is_fresh);
  held_[op.result().index] = std::move(h);
}

}  // namespace tilec::target
