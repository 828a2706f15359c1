// The two families of CPU as targets: their objects hold everything that a program compiles to.
#include "target/target.h"

#include "target/cpu/machine.h"
#include "target/launch_support/launch_support.h"

namespace tilec::target {

namespace {

constexpr std::string_view kEmits[] = {"obj", "asm", "llvm-ir"};

std::string spell(const Program& program, std::string_view emit, std::string_view triple, std::span<const CpuCode> codes) {
  NativeForm form = emit == "asm" ? NativeForm::Assembly : emit == "llvm-ir" ? NativeForm::LlvmIr : NativeForm::Object;
  return native_code(program, {.triple = triple, .codes = codes, .support = support_bitcode(triple)}, form);
}

}  // namespace

namespace x86_64 {

namespace {

constexpr std::string_view kTriple = "x86_64-unknown-linux-gnu";

std::string spell_x86(const Program& program, std::string_view emit) {
  return spell(program, emit, kTriple, cpu::x86_64_codes());
}

std::string probe() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
  return "x86-64";
#else
  return "";
#endif
}

}  // namespace

const Target& target() {
  static constexpr Target kTarget = {.name = "x86-64", .machines = cpu::x86_64_machines, .emits = kEmits, .stream_struct = "",
                                     .triple = kTriple, .spell = spell_x86,
                                     .launch = support_text, .probe = probe};
  return kTarget;
}

}  // namespace x86_64

namespace aarch64 {

namespace {

constexpr std::string_view kTriple = "aarch64-unknown-linux-gnu";

std::string spell_arm(const Program& program, std::string_view emit) {
  return spell(program, emit, kTriple, cpu::aarch64_codes());
}

std::string probe() {
#if defined(__aarch64__)
  return "aarch64";
#else
  return "";
#endif
}

}  // namespace

const Target& target() {
  static constexpr Target kTarget = {.name = "aarch64", .machines = cpu::aarch64_machines, .emits = kEmits, .stream_struct = "",
                                     .triple = kTriple, .spell = spell_arm,
                                     .launch = support_text, .probe = probe};
  return kTarget;
}

}  // namespace aarch64

}  // namespace tilec::target
