#include "target/llvm/functions.h"

#include "target/llvm/lane_speller.h"

namespace tilec::target {

using llvm::Function;
using llvm::Value;

const CpuCode* code_of(const Machine& machine, std::span<const CpuCode> codes) {
  for (const CpuCode& code : codes)
    if (code.machine->name == machine.name) return &code;
  return nullptr;
}

namespace {

Function* new_function(llvm::Module& module, const std::string& name, llvm::Type* result,
                       llvm::ArrayRef<llvm::Type*> parameters) {
  auto* type = llvm::FunctionType::get(result, parameters, false);
  Function* function = Function::Create(type, Function::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

void write_only_through(Function& function, unsigned parameter, bool is_read_only) {
  function.addParamAttr(parameter, llvm::Attribute::NoAlias);
  function.addParamAttr(parameter, llvm::Attribute::NoCapture);
  if (is_read_only) function.addParamAttr(parameter, llvm::Attribute::ReadOnly);
}

void tune_for(Function& function, const CpuCode& code) {
  function.addFnAttr("target-cpu", code.cpu);
  if (!code.features.empty()) function.addFnAttr("target-features", code.features);
  std::string bits = std::to_string(code.machine->simd_bytes * 8);
  function.addFnAttr("prefer-vector-width", bits);
  function.addFnAttr("min-legal-vector-width", bits);
}

Value* plan_address(llvm::IRBuilder<>& b, Value* plan, int index) {
  return b.CreateConstGEP1_64(b.getInt64Ty(), plan, uint64_t(index));
}

// Without a function of the C library: numbers beyond the whole ones of 64 bits have no fraction.
Value* floor_of(llvm::IRBuilder<>& b, Value* x) {
  constexpr double kWhole = 0x1p62;
  Value* is_small = b.CreateFCmpOLT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), llvm::ConstantFP::get(x->getType(), kWhole));
  Value* small = b.CreateSelect(is_small, x, llvm::ConstantFP::get(x->getType(), 0));
  Value* whole = b.CreateSIToFP(b.CreateFPToSI(small, b.getInt64Ty()), x->getType());
  Value* below = b.CreateSelect(b.CreateFCmpOGT(whole, small), b.CreateFSub(whole, llvm::ConstantFP::get(x->getType(), 1)), whole);
  return b.CreateSelect(is_small, below, x);
}

// Where dims and scalars of the call decide a number.
Value* spell_formula(LaneSpeller& speller, const ir::Kernel& kernel, const ir::Formula& formula) {
  llvm::IRBuilder<>& b = speller.builder();
  std::vector<Value*> values;
  auto leaf = [&](const ir::Formula::Node& node) -> Value* {
    if (node.kind == ir::Formula::Kind::Number) return llvm::ConstantFP::get(b.getDoubleTy(), node.number);
    Value* number = speller.uniform(node.kind == ir::Formula::Kind::Dim ? kernel.dims[node.a].value : kernel.params[node.a].value);
    return b.CreateSIToFP(number, b.getDoubleTy());
  };
  for (const ir::Formula::Node& node : formula.nodes()) {
    using Kind = ir::Formula::Kind;
    Value *x = node.a < values.size() ? values[node.a] : nullptr, *y = node.b < values.size() ? values[node.b] : nullptr;
    switch (node.kind) {
      case Kind::Number: case Kind::Dim: case Kind::Param: values.push_back(leaf(node)); break;
      case Kind::Add: values.push_back(b.CreateFAdd(x, y)); break;
      case Kind::Sub: values.push_back(b.CreateFSub(x, y)); break;
      case Kind::Mul: values.push_back(b.CreateFMul(x, y)); break;
      case Kind::Div: values.push_back(b.CreateFDiv(x, y)); break;
      case Kind::Min: values.push_back(b.CreateSelect(b.CreateFCmpOLT(x, y), x, y)); break;
      case Kind::Max: values.push_back(b.CreateSelect(b.CreateFCmpOGT(x, y), x, y)); break;
      case Kind::Floor: values.push_back(floor_of(b, x)); break;
      case Kind::Ceil: values.push_back(b.CreateFNeg(floor_of(b, b.CreateFNeg(x)))); break;
    }
  }
  return values.back();
}

// What of the body a formula reads.
void add_leaves(const ir::Kernel& kernel, const ir::Formula& formula, std::vector<ir::ValueId>& roots) {
  for (const ir::Formula::Node& node : formula.nodes()) {
    if (node.kind == ir::Formula::Kind::Dim) roots.push_back(kernel.dims[node.a].value);
    if (node.kind == ir::Formula::Kind::Param) roots.push_back(kernel.params[node.a].value);
  }
}

// One instance's part of the plan; returns the clocks that it is expected to take, as a float64. The first instance's kernel stands for
// the shapes of all, and for the requirements that all have.
Function* add_plan_part(llvm::Module& module, const Export& exported, const Abi& abi, int index, const CpuCode& code) {
  const Instance& instance = exported.instances[index];
  const ir::Kernel& kernel = *instance.kernel;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::getUnqual(context);
  Function* part = new_function(module, plan_name(exported) + std::to_string(index), llvm::Type::getDoubleTy(context), {pointer, pointer});
  part->addFnAttr(llvm::Attribute::AlwaysInline);
  std::vector<ir::ValueId> roots;
  for (const RequirementAbi& r : abi.requirements)
    if (r.instance == index) roots.push_back(r.requirement->condition);
  if (instance.clocks) add_leaves(kernel, *instance.clocks, roots);
  for (const PlanEntry& entry : abi.plan) {
    if (entry.instance != index) continue;
    if (entry.value.valid()) roots.push_back(entry.value);
    else for (ir::ValueId v : bytes_of(kernel, entry.alloc).factors) roots.push_back(v);
  }
  // It runs on the least of the machines, and without the C library's mathematics.
  LaneSpeller speller(*part, {kernel, abi, index, *code.machine, false, false}, code.has_streaming_stores);
  speller.open_body(part->getArg(0), roots);
  llvm::IRBuilder<>& b = speller.builder();
  Value *place = plan_address(b, part->getArg(1), kPlanFailed), *failed = b.getInt64(uint64_t(-1));
  for (size_t r = abi.requirements.size(); r-- > 0;)
    if (abi.requirements[r].instance == index)
      failed = b.CreateSelect(speller.uniform(abi.requirements[r].requirement->condition), failed, b.getInt64(r));
  if (index > 0) {
    Value* before = b.CreateLoad(b.getInt64Ty(), place);
    failed = b.CreateSelect(b.CreateICmpSLT(before, b.getInt64(0)), failed, before);
  }
  b.CreateStore(failed, place);
  for (size_t i = 0; i < abi.plan.size(); ++i) {
    const PlanEntry& entry = abi.plan[i];
    if (entry.instance != index) continue;
    Value* x = entry.value.valid() ? speller.uniform(entry.value) : speller.size(bytes_of(kernel, entry.alloc));
    b.CreateStore(x, plan_address(b, part->getArg(1), kPlanFirst + int(i)));
  }
  b.CreateRet(instance.clocks ? spell_formula(speller, kernel, *instance.clocks) : llvm::ConstantFP::get(b.getDoubleTy(), 0));
  return part;
}

Function* new_launch(llvm::Module& module, const Export& exported, int index, int number) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::getUnqual(context), *count = llvm::Type::getInt64Ty(context);
  return new_function(module, launch_name(exported, index, number), llvm::Type::getVoidTy(context),
                      {pointer, pointer, count, count, pointer, pointer});
}

// Returns the bytes of its scratch.
int64_t add_launch(llvm::Module& module, const Export& exported, const Abi& abi, int index, int number, const CpuCode& code, Reach reach) {
  const ir::Kernel& kernel = *exported.instances[index].kernel;
  const auto& launch = kernel.op(abi.instances[index].launches[number].launch).as<ir::op::Launch>();
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* count = llvm::Type::getInt64Ty(context);
  Function* function = new_launch(module, exported, index, number);
  set_reach(*function, reach);
  for (unsigned parameter : {0u, 1u, 4u, 5u}) write_only_through(*function, parameter, parameter < 2);
  tune_for(*function, code);
  std::vector<ir::ValueId> roots = captured_values(kernel, launch.body);
  roots.insert(roots.end(), launch.extents.begin(), launch.extents.end());
  LaneSpeller speller(*function, {kernel, abi, index, *code.machine, code.has_half_conversion, true}, code.has_streaming_stores);
  speller.open_body(function->getArg(0), roots);
  speller.open_launch(launch, function->getArg(4), function->getArg(5));
  llvm::IRBuilder<>& b = speller.builder();
  llvm::SmallVector<Value*, 3> extents;
  for (ir::ValueId v : launch.extents) extents.push_back(speller.uniform(v));
  llvm::BasicBlock* before = b.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(context, "blocks", function);
  auto* block = llvm::BasicBlock::Create(context, "block", function);
  auto* done = llvm::BasicBlock::Create(context, "end", function);
  b.CreateBr(head);
  b.SetInsertPoint(head);
  llvm::PHINode* linear = b.CreatePHI(count, 2);
  linear->addIncoming(function->getArg(2), before);
  b.CreateCondBr(b.CreateICmpSLT(linear, function->getArg(3)), block, done);
  b.SetInsertPoint(block);
  speller.spell_block(launch, decompose(b, linear, extents));
  linear->addIncoming(b.CreateNSWAdd(linear, b.getInt64(1)), b.GetInsertBlock());
  b.CreateBr(head);
  b.SetInsertPoint(done);
  speller.close_launch();
  b.CreateRetVoid();
  return speller.scratch_bytes();
}

}  // namespace

void set_reach(llvm::GlobalObject& global, Reach reach) {
  global.setLinkage(reach == Reach::Module ? Function::InternalLinkage : Function::ExternalLinkage);
  global.setVisibility(reach == Reach::Object ? Function::HiddenVisibility : Function::DefaultVisibility);
}

void add_plan(llvm::Module& module, const Export& exported, const Abi& abi, std::span<const CpuCode> codes, Reach reach) {
  llvm::LLVMContext& context = module.getContext();
  auto* pointer = llvm::PointerType::getUnqual(context);
  Function* plan = new_function(module, plan_name(exported), llvm::Type::getVoidTy(context), {pointer, pointer});
  write_only_through(*plan, 0, true);
  write_only_through(*plan, 1, false);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", plan));
  Value* guards = b.getInt64(0);
  std::vector<Value*> clocks;
  for (size_t i = 0; i < exported.instances.size(); ++i) {
    const CpuCode* code = code_of(*exported.instances[i].machine, codes);
    Function* part = add_plan_part(module, exported, abi, int(i), code ? *code : codes.front());
    clocks.push_back(b.CreateCall(part, {plan->getArg(0), plan->getArg(1)}));
  }
  // A number that is none is never less, so that one always holds.
  for (size_t i = 0; i < exported.instances.size(); ++i) {
    Value* is_least = b.getTrue();
    for (size_t k = 0; k < exported.instances.size(); ++k)
      if (k != i && exported.instances[k].machine == exported.instances[i].machine)
        is_least = b.CreateAnd(is_least, b.CreateNot(k < i ? b.CreateFCmpOLE(clocks[k], clocks[i]) : b.CreateFCmpOLT(clocks[k], clocks[i])));
    guards = b.CreateOr(guards, b.CreateShl(b.CreateZExt(is_least, b.getInt64Ty()), b.getInt64(i)));
  }
  b.CreateStore(guards, plan_address(b, plan->getArg(1), kPlanGuards));
  b.CreateRetVoid();
  set_reach(*plan, reach);
}

std::vector<int64_t> add_launches(llvm::Module& module, const Export& exported, const Abi& abi, int instance, const CpuCode& code,
                                  Reach reach) {
  std::vector<int64_t> scratch;
  for (size_t k = 0; k < abi.instances[instance].launches.size(); ++k)
    scratch.push_back(add_launch(module, exported, abi, instance, int(k), code, reach));
  return scratch;
}

void declare_launches(llvm::Module& module, const Export& exported, const Abi& abi, int instance) {
  for (size_t k = 0; k < abi.instances[instance].launches.size(); ++k)
    set_reach(*new_launch(module, exported, instance, int(k)), Reach::Object);
}

}  // namespace tilec::target
