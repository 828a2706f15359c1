#include "target/llvm/optimise.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "base/check.h"

namespace tilec::target {

namespace {

// Vector code, unrolled loops and addresses with their constants last come from the IR, so neither vectoriser, nor the
// unroller, nor anything else that asks for scalar evolution runs (it took half of the time): what is left is scalar
// clean-up, loop-invariant motion and redundancy, once each.
llvm::FunctionPassManager function_passes() {
  using namespace llvm;
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(SimplifyCFGPass());
  passes.addPass(InstCombinePass());
  LoopPassManager loops;
  loops.addPass(LoopRotatePass());
  loops.addPass(LICMPass(LICMOptions()));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  passes.addPass(GVNPass());
  passes.addPass(InstCombinePass());
  passes.addPass(DSEPass());
  LoopPassManager last;
  last.addPass(LICMPass(LICMOptions()));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(last), /*UseMemorySSA=*/true));
  passes.addPass(SimplifyCFGPass());
  passes.addPass(ADCEPass());
  return passes;
}

bool is_extreme(llvm::Intrinsic::ID id) {
  using namespace llvm;
  return id == Intrinsic::maxnum || id == Intrinsic::minnum || id == Intrinsic::maximum || id == Intrinsic::minimum;
}

// The clean-up finds the greater of two f16 before it widens them; CPUs without instructions for that would call a library.
void widen_extremes(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call || !call->getType()->getScalarType()->isHalfTy() || !is_extreme(call->getIntrinsicID())) continue;
    llvm::IRBuilder<> b(call);
    llvm::Type* wide = call->getType()->getWithNewType(b.getFloatTy());
    llvm::Value *x = b.CreateFPExt(call->getArgOperand(0), wide), *y = b.CreateFPExt(call->getArgOperand(1), wide);
    call->replaceAllUsesWith(b.CreateFPTrunc(b.CreateBinaryIntrinsic(call->getIntrinsicID(), x, y), call->getType()));
    call->eraseFromParent();
  }
}

void initialise_targets() {
  static const bool once = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)once;
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> target_machine(std::string_view triple, std::string_view cpu, std::string_view features) {
  initialise_targets();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(std::string(triple), error);
  INVARIANT(target, "the triple of a target is one that LLVM has: " + error);
  llvm::TargetOptions options;
  options.FunctionSections = true;
  options.DataSections = true;
  options.UniqueSectionNames = true;
  options.UseInitArray = true;  // the older sections are converted by some linkers only
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, modules);
  llvm::FunctionPassManager each = function_passes();
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && !function.hasFnAttribute(kIsLauncher)) {
      each.run(function, functions);
      widen_extremes(function);
    }
}

std::string emit(llvm::Module& module, llvm::TargetMachine& machine, NativeForm form) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  if (form == NativeForm::LlvmIr) {
    module.print(out, nullptr);
    return {bytes.begin(), bytes.end()};
  }
  llvm::legacy::PassManager passes;
  auto kind = form == NativeForm::Object ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  bool refused = machine.addPassesToEmitFile(passes, out, nullptr, kind, /*DisableVerify=*/true);
  INVARIANT(!refused, "a target emits what it is asked for");
  passes.run(module);
  return {bytes.begin(), bytes.end()};
}

}  // namespace tilec::target
