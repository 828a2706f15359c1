#include "target/llvm/device_kernel.h"

#include "target/llvm/device.h"

namespace tilec::target {

namespace {

void annotate(llvm::Function& function, const char* key, llvm::Metadata* value) {
  llvm::LLVMContext& context = function.getContext();
  llvm::Metadata* row[] = {llvm::ValueAsMetadata::get(&function), llvm::MDString::get(context, key), value};
  function.getParent()->getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(context, row));
}

llvm::Metadata* number(llvm::LLVMContext& context, int64_t n) {
  return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), uint64_t(n)));
}

}  // namespace

llvm::Function* new_kernel_function(llvm::Module& module, const std::string& name, std::span<const KernelParameter> parameters, int64_t threads,
                                    const DeviceCode& code, int64_t together) {
  llvm::LLVMContext& context = module.getContext();
  std::vector<llvm::Type*> types;
  for (const KernelParameter& parameter : parameters)
    types.push_back(parameter.by_value ? llvm::PointerType::getUnqual(context) : llvm::PointerType::get(context, kGlobalSpace));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("target-cpu", code.cpu);
  function->addFnAttr("target-features", code.features);
  std::vector<llvm::Metadata*> constant;  // counted from 1
  for (unsigned i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].by_value) continue;
    function->addParamAttr(i, llvm::Attribute::getWithByValType(context, parameters[i].by_value));
    function->addParamAttr(i, llvm::Attribute::getWithAlignment(context, llvm::Align(parameters[i].alignment)));
    constant.push_back(number(context, i + 1));
  }
  annotate(*function, "maxntidx", number(context, threads));
  annotate(*function, "minctasm", number(context, together));
  annotate(*function, "grid_constant", llvm::MDNode::get(context, constant));
  return function;
}

}  // namespace tilec::target
