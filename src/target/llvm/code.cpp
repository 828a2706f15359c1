#include "target/native/native.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "base/check.h"
#include "target/llvm/descriptor.h"
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

// Without the launcher, the generated functions themselves are what is seen.
void show(const ExportFunctions& functions) {
  functions.plan->setLinkage(llvm::Function::ExternalLinkage);
  for (const auto& launches : functions.launches)
    for (const LaunchFunction& launch : launches) launch.function->setLinkage(llvm::Function::ExternalLinkage);
}

void add_export(llvm::Module& module, const Program& program, const Export& exported, const NativeRequest& request) {
  Abi abi = abi_of(exported);
  ExportFunctions functions = add_functions(module, exported, abi, request.codes);
  if (request.support.empty()) return show(functions);
  ScratchBytes scratch;
  std::vector<int> levels;
  for (size_t i = 0; i < exported.instances.size(); ++i) {
    levels.push_back(code_of(*exported.instances[i].machine, request.codes).level);
    for (scratch.emplace_back(); const LaunchFunction& launch : functions.launches[i]) scratch.back().push_back(launch.scratch_bytes);
  }
  llvm::GlobalVariable* kernel = add_tables(module, descriptor_of(program, exported, abi, scratch, levels));
  add_entries(module, exported, abi, *kernel);
}

// In a section that linkers leave out of what they link.
void add_manifest(llvm::Module& module, const std::string& manifest) {
  if (manifest.empty()) return;
  llvm::LLVMContext& context = module.getContext();
  llvm::Constant* text = llvm::ConstantDataArray::getString(context, manifest, false);
  auto* variable = new llvm::GlobalVariable(module, text->getType(), true, llvm::GlobalValue::PrivateLinkage, text, "tile_manifest");
  variable->setSection(kManifestSection);
  variable->setMetadata("exclude", llvm::MDNode::get(context, {}));
  llvm::appendToCompilerUsed(module, {variable});
}

}  // namespace

namespace {

std::string module_code(const Program& program, const NativeRequest& request, NativeForm form) {
  llvm::LLVMContext context;
  llvm::Module module("tile", context);
  auto machine = target_machine(request.triple);
  module.setTargetTriple(request.triple);
  module.setDataLayout(machine->createDataLayout());
  module.setPICLevel(llvm::PICLevel::BigPIC);
  if (!request.support.empty()) link_support(module, request.support);
  for (const Export& exported : program.exports) add_export(module, program, exported, request);
  add_manifest(module, program.manifest);
  verify_module(module);
  optimise(module, *machine);
  return emit(module, *machine, form);
}

std::string_view version() { return LLVM_VERSION_STRING; }

}  // namespace

extern "C" const NativeLibrary tilec_native = {TILEC_VERSION, kNativeLayout, module_code, version};

}  // namespace tilec::target
