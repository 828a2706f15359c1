#include "target/llvm/descriptor.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Linker/Linker.h>

#include "base/check.h"
#include "target/llvm/functions.h"
#include "target/llvm/optimise.h"

namespace tilec::target {

namespace {

using llvm::Constant;

constexpr uint64_t kImageAlignment = 64;

Constant* text_constant(llvm::Module& module, const std::string& text) {
  Constant* bytes = llvm::ConstantDataArray::getString(module.getContext(), text);
  auto* global = new llvm::GlobalVariable(module, bytes->getType(), true, llvm::GlobalValue::PrivateLinkage, bytes, ".text");
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  global->setAlignment(llvm::Align(1));
  return global;
}

struct DatumConstant {
  llvm::Module& module;
  Constant* operator()(const datum::I32& d) const {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt32Ty(module.getContext()), d.value);
  }
  Constant* operator()(const datum::I64& d) const {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(module.getContext()), d.value);
  }
  Constant* operator()(const datum::Text& d) const { return text_constant(module, d.value); }
  Constant* operator()(const datum::Bytes& d) const {
    if (d.value.empty()) return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(module.getContext()));
    Constant* bytes = text_constant(module, d.value);
    llvm::cast<llvm::GlobalVariable>(bytes)->setAlignment(llvm::Align(kImageAlignment));
    return bytes;
  }
  Constant* operator()(const datum::Foreign& d) const {
    if (Constant* known = module.getNamedValue(d.name)) return known;
    auto* global = new llvm::GlobalVariable(module, llvm::Type::getInt8Ty(module.getContext()), true, llvm::GlobalValue::ExternalLinkage, nullptr, d.name);
    global->setVisibility(llvm::GlobalValue::HiddenVisibility);
    return global;
  }
  Constant* operator()(const datum::Address& d) const {
    if (d.name.empty()) return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(module.getContext()));
    return named(d.name);
  }
  Constant* operator()(const datum::Function& d) const { return named(d.name); }
  // A struct inside of a struct lies as its fields do: all of them are aligned to their size.
  Constant* operator()(const datum::Open&) const { return nullptr; }
  Constant* operator()(const datum::Close&) const { return nullptr; }

  Constant* named(const std::string& name) const {
    Constant* global = module.getNamedValue(name);
    INVARIANT(global, "a table is made after what it names");
    return global;
  }
};

llvm::GlobalVariable* add_table(llvm::Module& module, const Table& table) {
  llvm::SmallVector<Constant*, 8> rows;
  for (const std::vector<Datum>& row : table.rows) {
    llvm::SmallVector<Constant*, 16> fields;
    for (const Datum& d : row)
      if (Constant* c = std::visit(DatumConstant{module}, d)) fields.push_back(c);
    rows.push_back(llvm::ConstantStruct::getAnon(module.getContext(), fields));
  }
  Constant* all = llvm::ConstantArray::get(llvm::ArrayType::get(rows[0]->getType(), rows.size()), rows);
  auto* global = new llvm::GlobalVariable(module, all->getType(), table.is_constant, llvm::GlobalValue::InternalLinkage, all, table.name);
  global->setAlignment(llvm::Align(8));
  return global;
}

llvm::Type* argument_type(llvm::LLVMContext& context, const ArgumentAbi& a) {
  switch (a.kind) {
    case Argument::Dim: case Argument::WorkspaceBytes: return llvm::Type::getInt64Ty(context);
    case Argument::Scalar:
      if (a.element == Scalar::F32 || a.element == Scalar::TF32) return llvm::Type::getFloatTy(context);  // as in the header
      if (a.element == Scalar::F64) return llvm::Type::getDoubleTy(context);
      return llvm::Type::getIntNTy(context, unsigned(byte_width(a.element)) * 8);
    default: return llvm::PointerType::getUnqual(context);
  }
}

// The bits of an argument in the eight bytes of its slot.
llvm::Value* slot_bits(llvm::IRBuilder<>& b, llvm::Value* x) {
  llvm::Type* type = x->getType();
  if (type->isPointerTy()) return b.CreatePtrToInt(x, b.getInt64Ty());
  if (type->isFloatingPointTy()) x = b.CreateBitCast(x, b.getIntNTy(type->getPrimitiveSizeInBits()));
  return b.CreateZExt(x, b.getInt64Ty());
}

llvm::Function* support_function(llvm::Module& module, const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> given) {
  llvm::Function* support = module.getFunction(name);
  if (!support) {
    llvm::SmallVector<llvm::Type*, 4> types;
    for (llvm::Value* v : given) types.push_back(v->getType());
    support = llvm::Function::Create(llvm::FunctionType::get(result, types, false), llvm::Function::ExternalLinkage, name, module);
    set_reach(*support, Reach::Object);
  }
  INVARIANT(support->arg_size() == given.size(), "the launcher's function takes this: " + name);
  return support;
}

void add_entry(llvm::Module& module, const Abi& abi, const EntryAbi& entry, llvm::GlobalVariable& kernel) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  llvm::SmallVector<llvm::Type*, 8> types;
  for (const ArgumentAbi& a : entry.arguments) types.push_back(argument_type(context, a));
  llvm::Type* result = entry.support.empty() ? pointer : llvm::Type::getInt32Ty(context);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result, types, false), llvm::Function::ExternalLinkage, entry.name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  if (entry.support.empty()) {
    b.CreateRet(&kernel);
    return;
  }
  llvm::SmallVector<llvm::Value*, 4> given = {&kernel};
  if (entry.fills_slots) {
    auto* array = llvm::ArrayType::get(b.getInt64Ty(), uint64_t(abi.slot_count));
    llvm::Value* slots = b.CreateAlloca(array);
    b.CreateMemSet(slots, b.getInt8(0), uint64_t(abi.slot_count) * 8, llvm::Align(8));
    for (size_t i = 0; i < entry.arguments.size(); ++i)
      if (int slot = entry.arguments[i].slot; slot >= 0)
        b.CreateStore(slot_bits(b, function->getArg(unsigned(i))), b.CreateConstGEP1_64(b.getInt64Ty(), slots, uint64_t(slot)));
    given.push_back(slots);
  }
  for (size_t i = 0; i < entry.arguments.size(); ++i)
    if (entry.arguments[i].slot < 0) given.push_back(function->getArg(unsigned(i)));
  b.CreateRet(b.CreateCall(support_function(module, entry.support, result, given), given));
}

}  // namespace

llvm::GlobalVariable* add_tables(llvm::Module& module, std::span<const Table> tables) {
  llvm::GlobalVariable* last = nullptr;
  for (const Table& table : tables) last = add_table(module, table);
  return last;
}

void add_entries(llvm::Module& module, const Export& exported, const Abi& abi, llvm::GlobalVariable& kernel) {
  for (const EntryAbi& entry : entries_of(exported, abi)) add_entry(module, abi, entry, kernel);
}

namespace {

void link_bitcode(llvm::Module& module, std::span<const uint8_t> bitcode) {
  llvm::MemoryBufferRef buffer(llvm::StringRef(reinterpret_cast<const char*>(bitcode.data()), bitcode.size()), "launch_support");
  auto parsed = llvm::parseBitcodeFile(buffer, module.getContext());
  if (!parsed) UNREACHABLE("the launcher's bitcode reads: " + llvm::toString(parsed.takeError()));
  llvm::Module& support = **parsed;
  for (llvm::Function& function : support) function.addFnAttr(kIsLauncher);
  support.setTargetTriple(module.getTargetTriple());
  support.setDataLayout(module.getDataLayout());
  bool failed = llvm::Linker::linkModules(module, std::move(*parsed));
  INVARIANT(!failed, "the launcher links into every module");
}

}  // namespace

void link_support(llvm::Module& module, std::span<const std::span<const uint8_t>> parts, const std::set<std::string>& called) {
  for (std::span<const uint8_t> bitcode : parts) link_bitcode(module, bitcode);
  for (llvm::GlobalObject& global : module.global_objects()) {
    bool is_shared = global.getName().starts_with("tile1_") || global.getName().starts_with("llvm.");
    if (!global.isDeclaration() && !global.hasLocalLinkage() && !is_shared) global.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  for (const std::string& name : called) {
    auto* global = llvm::dyn_cast_or_null<llvm::GlobalObject>(module.getNamedValue(name));
    INVARIANT(global, "the launcher has the function or the table: " + name);
    if (global->hasLocalLinkage()) set_reach(*global, Reach::Object);
  }
}

}  // namespace tilec::target
