// NVIDIA's GPUs as a target: text that the driver compiles, or an image of it.
#include <dlfcn.h>

#include "target/target.h"

#include "target/cuda/assemble.h"
#include "target/cuda/launch.h"
#include "target/cuda/machine.h"

namespace tilec::target::cuda {

namespace {

constexpr std::string_view kEmits[] = {"ptx", "cubin", "llvm-ir"};

std::string text_of(const Program& program, const Machine& machine, NativeForm form) {
  return device_code(program, {.triple = "nvptx64-nvidia-cuda", .code = code_for(machine)}, form);
}

// All instances are for one machine: a text is.
std::string spell(const Program& program, std::string_view emit) {
  if (program.exports.empty()) return {};
  const Machine& machine = *program.exports.front().instances.front().machine;
  return text_of(program, machine, emit == "ptx" ? NativeForm::Assembly : NativeForm::LlvmIr);
}

Image image_of(const Program& program, const Machine& machine) {
  return {.machine = &machine, .text = text_of(program, machine, NativeForm::Assembly), .code = {}, .generation = generation_of(machine),
          .is_exact = machine.name.ends_with('a'), .launcher = kLauncher};
}

std::string probe() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver) dlclose(driver);
  std::string assembler = find_assembler();
  std::string found = driver ? "the driver" : "";
  if (!assembler.empty()) found += (found.empty() ? "" : ", ") + assembler;
  return found;
}

}  // namespace

const Target& target() {
  static constexpr Target kTarget = {.name = "cuda", .machines = machines, .emits = kEmits, .stream_struct = "CUstream_st",
                                     .triple = "", .spell = spell, .assemble = assemble, .image = "cubin", .assembler = "ptxas",
                                     .image_of = image_of, .launcher = launcher_bitcode, .probe = probe};
  return kTarget;
}

}  // namespace tilec::target::cuda
