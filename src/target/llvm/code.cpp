#include "target/llvm/code.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "base/check.h"
#include "target/llvm/functions.h"
#include "target/llvm/optimise.h"

namespace tilec::target {

namespace {

void verify_module(const llvm::Module& module) {
  std::string complaint;
  llvm::raw_string_ostream out(complaint);
  bool is_broken = llvm::verifyModule(module, &out);
  INVARIANT(!is_broken, "the module is well-formed: " + complaint);
}

}  // namespace

std::string native_code(const Program& program, const NativeRequest& request, NativeForm form) {
  llvm::LLVMContext context;
  llvm::Module module("tile", context);
  auto machine = target_machine(request.triple);
  module.setTargetTriple(request.triple);
  module.setDataLayout(machine->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  for (const Export& exported : program.exports) {
    ExportFunctions functions = add_functions(module, exported, abi_of(exported), request.codes);
    if (!request.support.empty()) continue;
    functions.plan->setLinkage(llvm::Function::ExternalLinkage);
    for (const auto& launches : functions.launches)
      for (const LaunchFunction& launch : launches) launch.function->setLinkage(llvm::Function::ExternalLinkage);
  }
  verify_module(module);
  optimise(module, *machine);
  return emit(module, *machine, form);
}

std::string_view native_version() { return LLVM_VERSION_STRING; }

}  // namespace tilec::target
