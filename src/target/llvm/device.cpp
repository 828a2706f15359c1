#include "target/llvm/device.h"

#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <set>

#include "base/parallel.h"
#include "base/text.h"
#include "ir/packed.h"
#include "target/abi/boxes.h"
#include "target/abi/deal.h"
#include "target/llvm/device_kernel.h"
#include "target/llvm/late_code.h"
#include "target/llvm/paired_rounding.h"
#include "target/llvm/pack_kernel.h"
#include "target/llvm/optimise.h"
#include "target/llvm/thread_speller.h"

namespace tilec::target {

namespace {

using llvm::Value;

constexpr uint64_t kSharedAlignment = 1024;

// The block's shared memory, as long as the launch asks for.
llvm::GlobalVariable* shared_memory(llvm::Module& module) {
  constexpr const char* kName = "tile_shared";
  if (auto* known = module.getNamedGlobal(kName)) return known;
  auto* bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
  auto* variable = new llvm::GlobalVariable(module, bytes, false, llvm::GlobalValue::ExternalLinkage, nullptr, kName, nullptr,
                                            llvm::GlobalValue::NotThreadLocal, kSharedSpace);
  variable->setAlignment(llvm::Align(kSharedAlignment));
  return variable;
}

int64_t threads_of(const ir::op::Launch& launch, const DeviceCode& code) { return std::max<int64_t>(launch.warps, 1) * code.machine->lanes; }

llvm::Function* new_kernel(llvm::Module& module, const std::string& name, const Abi& abi, const ir::op::Launch& launch, const DeviceCode& code,
                           size_t boxes, bool takes_blocks) {
  llvm::LLVMContext& context = module.getContext();
  std::vector<KernelParameter> parameters = {{llvm::ArrayType::get(llvm::Type::getInt64Ty(context), uint64_t(std::max(abi.slot_count, 1)))}, {}};
  auto* descriptors = llvm::ArrayType::get(llvm::Type::getInt8Ty(context), uint64_t(described_bytes(boxes)));
  if (boxes) parameters.push_back({descriptors, uint64_t(kDescriptorAlignment)});
  if (takes_blocks) parameters.push_back({});
  llvm::Function* function = new_kernel_function(module, name, parameters, threads_of(launch, code), code);
  function->addParamAttr(0, llvm::Attribute::ReadOnly);
  return function;
}

void add_kernel(llvm::Module& module, const Export& exported, const Abi& abi, int index, int number, const DeviceCode& code) {
  const ir::Kernel& kernel = *exported.instances[index].kernel;
  const auto& launch = kernel.op(abi.instances[index].launches[number].launch).as<ir::op::Launch>();
  std::vector<BoxAbi> boxes = boxes_of(kernel, launch.body);
  llvm::Function* function = new_kernel(module, launch_name(exported, index, number), abi, launch, code, boxes.size(), takes_blocks(kernel, launch.body));
  std::vector<ir::ValueId> roots = captured_values(kernel, launch.body);
  roots.insert(roots.end(), launch.extents.begin(), launch.extents.end());
  ThreadSpeller speller(*function, {kernel, abi, index, *code.machine, true, true});
  speller.open_body(function->getArg(0), roots);
  speller.open_launch(launch, shared_memory(module), function->getArg(1));
  if (!boxes.empty()) speller.open_boxes(std::move(boxes), function->getArg(2), kDescriptorBytes);
  if (takes_blocks(kernel, launch.body)) speller.open_counter(function->getArg(unsigned(function->arg_size() - 1)));
  speller.spell_block(launch, speller.block_indices(launch));
  speller.await_earlier_launches();
  speller.builder().CreateRetVoid();
}

constexpr int kMostTerms = 32;  // of a formula that people read

// A number of the kernel's body as a formula over its dims and scalars.
std::string formula(const ir::Kernel& kernel, ir::ValueId v, int& terms) {
  if (++terms > kMostTerms) return "?";
  if (auto known = kernel.constant(v)) return std::to_string(known->i);
  for (const ir::Dim& dim : kernel.dims)
    if (dim.value == v) return dim.name;
  for (const ir::Param& param : kernel.params)
    if (param.value == v) return param.name;
  const auto* binary = kernel.defined_by<ir::op::Binary>(v);
  if (!binary) return "?";
  std::string a = formula(kernel, binary->a, terms), b = formula(kernel, binary->b, terms);
  switch (binary->fn) {
    case ir::BinaryFn::Add: return "(" + a + " + " + b + ")";
    case ir::BinaryFn::Sub: return "(" + a + " - " + b + ")";
    case ir::BinaryFn::Mul: return "(" + a + " * " + b + ")";
    case ir::BinaryFn::Div: return "(" + a + " / " + b + ")";
    default: return std::string(ir::name(binary->fn)) + "(" + a + ", " + b + ")";
  }
}

// Of each box its tensor, its extents, the bytes of its swizzle, the elements that it adds, and whether a tensor that does not suit must
// be handed to it as a copy that does.
std::string described(const ir::Kernel& kernel, const std::vector<BoxAbi>& boxes) {
  std::vector<std::string> texts;
  for (const BoxAbi& box : boxes) {
    std::vector<std::string> extents;
    for (int64_t extent : box.extents) extents.push_back(std::to_string(extent));
    texts.push_back(kernel.params[size_t(box.param)].name + " " + join(extents, "x") + " swizzle " + std::to_string(box.swizzle) +
                    (box.adds ? " adds " + std::string(name(*box.adds)) : "") + (box.is_packed ? " packed" : ""));
  }
  return texts.empty() ? "" : "; boxes " + join(texts, ", ");
}

// What who launches a kernel by hand has to know: a line of comment for each.
std::string requirements(const Export& exported, const Abi& abi, int index, int number, const DeviceCode& code) {
  const ir::Kernel& kernel = *exported.instances[index].kernel;
  const auto& launch = kernel.op(abi.instances[index].launches[number].launch).as<ir::op::Launch>();
  std::vector<std::string> slots(size_t(abi.slot_count), "-");
  for (size_t i = 0; i < kernel.params.size(); ++i) slots[size_t(abi.params[i].slot)] = kernel.params[i].name;
  for (size_t i = 0; i < kernel.dims.size(); ++i)
    if (abi.dims[i].slot >= 0) slots[size_t(abi.dims[i].slot)] = kernel.dims[i].name;
  for (const WorkspaceAbi& w : abi.instances[index].workspaces) slots[size_t(w.slot)] = w.name;
  std::vector<std::string> blocks;
  for (ir::ValueId v : launch.extents) {
    int terms = 0;
    blocks.push_back(formula(kernel, v, terms));
  }
  const std::string clocks = kernel.estimates.empty() ? "" : "; clocks " + kernel.estimates[size_t(number)].clocks.text(kernel);
  std::string cluster;
  for (int64_t size : launch.cluster) cluster += (cluster.empty() ? "; clusters of " : "x") + std::to_string(size);
  return launch_name(exported, index, number) + ": " + std::to_string(threads_of(launch, code)) + " threads; " +
         std::to_string(ir::packed_bytes(kernel, launch.body)) + " bytes of shared memory; blocks " + join(blocks, ", ") + "; slots " +
         join(slots, ", ") + described(kernel, boxes_of(kernel, launch.body)) + cluster + (launch.persistent ? "; any number of blocks" : "") + (takes_blocks(kernel, launch.body) ? ", dealt out" : "") + clocks;
}

// A launch of an instance; without an export, what packs tensors.
struct Part {
  const Export* exported = nullptr;
  Abi abi;
  int instance = 0, launch = 0;
};

std::vector<Part> parts_of(const Program& program, const DeviceCode& code) {
  std::vector<Part> parts;
  bool packs = false;
  for (const Export& exported : program.exports) {
    Abi abi = abi_of(exported);
    for (size_t i = 0; i < exported.instances.size(); ++i)
      for (size_t k = 0; exported.instances[i].machine == code.machine && k < abi.instances[i].launches.size(); ++k)
        parts.push_back({&exported, abi, int(i), int(k)});
    for (const Instance& instance : exported.instances) packs |= instance.machine == code.machine && has_packed_boxes(*instance.kernel);
  }
  if (packs) parts.push_back({});
  return parts;
}

// The functions of `parts` as one module.
std::string module_text(std::span<const Part> parts, const DeviceRequest& request, NativeForm form) {
  llvm::LLVMContext context;
  llvm::Module module("tile", context);
  auto machine = target_machine(request.triple, request.code.cpu, request.code.features);
  module.setTargetTriple(request.triple);
  module.setDataLayout(machine->createDataLayout());
  for (const Part& part : parts)
    if (part.exported) add_kernel(module, *part.exported, part.abi, part.instance, part.launch, request.code);
    else add_pack_kernel(module, request.code);
  std::string complaint;
  llvm::raw_string_ostream out(complaint);
  bool is_broken = llvm::verifyModule(module, &out);
  INVARIANT(!is_broken, "the module is well-formed: " + complaint);
  for (llvm::Function& function : module) pair_roundings(function);
  optimise(module, *machine);
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) sink_cheap_code(function, request.code.machine->registers_per_lane);
  return emit(module, *machine, form);
}

// Texts of modules as one: what the first has before its functions, and what others declare beside.
std::string joined(std::span<const std::string> texts) {
  constexpr std::string_view kFunction = ".visible .entry";
  std::string heads, functions;
  std::set<std::string> told;
  for (const std::string& text : texts) {
    size_t end = text.find(kFunction);
    INVARIANT(end != text.npos && end > 0 && text.substr(0, end).find(".global") == text.npos, "a module is a head and functions, without constants of its own");
    for (const std::string& line : split(std::string_view(text).substr(0, end - 1), '\n')) {
      bool is_comment = trim(line).starts_with("//");
      if (told.insert(line).second ? !is_comment || functions.empty() : functions.empty()) heads += line + "\n";
    }
    functions += text.substr(end);
  }
  return heads + functions;
}

}  // namespace

// Every function is made on its own, as many at once as there are cores: none calls another.
std::string device_text(const Program& program, const DeviceRequest& request, NativeForm form) {
  std::vector<Part> parts = parts_of(program, request.code);
  std::string head;
  for (const Part& part : parts)
    if (part.exported) head += (form == NativeForm::LlvmIr ? "; " : "// ") + requirements(*part.exported, part.abi, part.instance, part.launch, request.code) + "\n";
  if (form == NativeForm::LlvmIr || parts.empty()) return head + module_text(parts, request, form);
  std::vector<std::string> texts(parts.size());
  parallel_for(parts.size(), [&](size_t i) { texts[i] = module_text(std::span(parts).subspan(i, 1), request, form); });
  return head + joined(texts);
}

}  // namespace tilec::target
