// NVIDIA's GPUs as a target: images are text that the driver compiles.
#include "target/target.h"

#include "target/cuda/assemble.h"
#include "target/cuda/machine.h"

namespace tilec::target::cuda {

namespace {

constexpr std::string_view kEmits[] = {"ptx", "cubin", "llvm-ir"};

std::string spell(const Program& program, std::string_view emit) {
  std::string text;
  for (const Machine& machine : machines()) {
    Program part = program;
    for (Export& exported : part.exports)
      std::erase_if(exported.instances, [&](const Instance& i) { return i.machine->name != machine.name; });
    std::erase_if(part.exports, [](const Export& exported) { return exported.instances.empty(); });
    if (part.exports.empty()) continue;
    text += device_code(part, {.triple = "nvptx64-nvidia-cuda", .code = code_for(machine)}, emit == "ptx" ? NativeForm::Assembly : NativeForm::LlvmIr);
  }
  return text;
}

std::string probe() { return ""; }

}  // namespace

const Target& target() {
  static constexpr Target kTarget = {.name = "cuda", .machines = machines, .emits = kEmits, .stream_type = "struct CUstream_st *",
                                     .stream_declaration = "struct CUstream_st;", .is_host = false, .spell = spell, .assemble = assemble, .image = "cubin", .assembler = "ptxas",
                                     .launch = nullptr, .probe = probe};
  return kTarget;
}

}  // namespace tilec::target::cuda
