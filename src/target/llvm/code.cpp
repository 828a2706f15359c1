// A program as native code. Text is one module. An object is made of parts, on all cores, that are merged: the launcher, each
// instance of each export, and what refers to them.
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "base/check.h"
#include "base/parallel.h"
#include "ir/packed.h"
#include "target/llvm/descriptor.h"
#include "target/llvm/device.h"
#include "target/llvm/functions.h"
#include "target/llvm/merge_objects.h"
#include "target/llvm/optimise.h"

namespace tilec::target {

namespace {

struct Part {
  llvm::LLVMContext context;
  llvm::Module module{"tile", context};
  std::unique_ptr<llvm::TargetMachine> machine;

  explicit Part(std::string_view triple) : machine(target_machine(triple)) {
    module.setTargetTriple(triple);
    module.setDataLayout(machine->createDataLayout());
    module.setPICLevel(llvm::PICLevel::BigPIC);
  }

  std::string code(NativeForm form) {
    std::string complaint;
    llvm::raw_string_ostream out(complaint);
    bool is_broken = llvm::verifyModule(module, &out);
    INVARIANT(!is_broken, "the module is well-formed: " + complaint);
    optimise(module, *machine);
    return emit(module, *machine, form);
  }
};

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

struct Work {
  const Export& exported;
  Abi abi;
  ScratchBytes scratch;  // by instance

  const Instance& instance(int index) const { return exported.instances[size_t(index)]; }
};

// Shared memory of the blocks of an image's launches.
std::vector<int64_t> shared_bytes(const Work& work, int index) {
  std::vector<int64_t> bytes;
  const ir::Kernel& kernel = *work.instance(index).kernel;
  for (const LaunchAbi& launch : work.abi.instances[size_t(index)].launches)
    bytes.push_back(ir::packed_bytes(kernel, kernel.op(launch.launch).as<ir::op::Launch>().body));
  return bytes;
}

class Maker {
 public:
  Maker(const Program& program, const NativeRequest& request) : program_(program), request_(request) {
    for (const Export& exported : program.exports) {
      Work& work = works_.emplace_back(exported, abi_of(exported), ScratchBytes(exported.instances.size()));
      for (size_t i = 0; i < exported.instances.size(); ++i) {
        if (image_of(program, exported.instances[i])) work.scratch[i] = shared_bytes(work, int(i));
        else instances_.emplace_back(&work, int(i));
      }
    }
  }

  std::string one_module(NativeForm form) {
    Part part(request_.triple);
    // Without the launcher, the generated functions themselves are what is seen.
    Reach reach = has_launcher() ? Reach::Module : Reach::World;
    if (has_launcher()) link_support(part.module, launcher_parts());
    for (auto [work, instance] : instances_) add_instance(part.module, *work, instance, reach);
    add_rest(part.module, reach);
    return part.code(form);
  }

  std::string object() {
    Reach reach = has_launcher() ? Reach::Object : Reach::World;
    std::vector<std::string> objects(instances_.size() + 2);
    parallel_for(instances_.size() + has_launcher(), [&](size_t i) {
      Part part(request_.triple);
      if (i < instances_.size()) add_instance(part.module, *instances_[i].first, instances_[i].second, reach);
      else link_support(part.module, launcher_parts(), called_support());
      objects[i + 1] = part.code(NativeForm::Object);
    });
    Part rest(request_.triple);
    for (auto [work, instance] : instances_) declare_launches(rest.module, work->exported, work->abi, instance);
    add_rest(rest.module, reach);
    objects[0] = rest.code(NativeForm::Object);
    if (!has_launcher()) objects.pop_back();
    return merged_objects(objects);
  }

 private:
  bool has_launcher() const { return !request_.support.empty(); }

  std::vector<std::span<const uint8_t>> launcher_parts() const {
    std::vector<std::span<const uint8_t>> parts = program_.launchers;
    parts.push_back(request_.support);
    return parts;
  }

  std::set<std::string> called_support() const {
    std::set<std::string> called;
    for (const Image& image : program_.images) called.insert(image.launcher);
    for (const Work& work : works_)
      for (const EntryAbi& entry : entries_of(work.exported, work.abi))
        if (!entry.support.empty()) called.insert(entry.support);
    return called;
  }

  void add_instance(llvm::Module& module, Work& work, int instance, Reach reach) const {
    const CpuCode* code = code_of(*work.instance(instance).machine, request_.codes);
    INVARIANT(code, "an instance without an image is for a machine of the CPU");
    work.scratch[size_t(instance)] = add_launches(module, work.exported, work.abi, instance, *code, reach);
  }

  // Plans, and what leads to the instances from outside.
  void add_rest(llvm::Module& module, Reach reach) const {
    if (has_launcher()) add_tables(module, image_tables(program_));
    for (const Work& work : works_) {
      add_plan(module, work.exported, work.abi, request_.codes, reach == Reach::World ? reach : Reach::Module);
      if (!has_launcher()) continue;
      std::vector<int> levels;
      for (const Instance& instance : work.exported.instances) {
        const CpuCode* code = code_of(*instance.machine, request_.codes);
        levels.push_back(code ? code->level : 0);
      }
      llvm::GlobalVariable* kernel = add_tables(module, descriptor_of(program_, work.exported, work.abi, work.scratch, levels));
      add_entries(module, work.exported, work.abi, *kernel);
    }
    add_manifest(module, program_.manifest);
  }

  const Program& program_;
  const NativeRequest& request_;
  std::deque<Work> works_;
  std::vector<std::pair<Work*, int>> instances_;
};

std::string code(const Program& program, const NativeRequest& request, NativeForm form) {
  Maker maker(program, request);
  return form == NativeForm::Object ? maker.object() : maker.one_module(form);
}

std::string_view version() { return LLVM_VERSION_STRING; }

}  // namespace

extern "C" const NativeLibrary tilec_native = {{TILEC_VERSION, kNativeLayout}, code, device_text, version};

}  // namespace tilec::target
