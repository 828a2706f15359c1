// Names that other compilers have for machines, and options of theirs, with what is meant here.
#pragma once
#include "base/advice.h"

namespace tilec::target {

constexpr std::string_view kMachine = "machines are named by --target, 'x86-64-v3' or 'sm_90a'; left out, the object takes the best level of the CPU that it runs on";
constexpr std::string_view kNoLinker = "what comes out is always an object and a header; programs are linked by the compiler of C";
constexpr std::string_view kWarnings = "warnings are on; -Werror makes them errors, -Wno-NAME turns one off, -R all shows remarks";
constexpr std::string_view kDebug = "there is no debug information: `tilec run` interprets a kernel and stops at the source line where it goes wrong";

// By how they begin.
constexpr Advice kForeignOptions[] = {
    {"-march", kMachine}, {"-mcpu", kMachine}, {"-mtune", kMachine}, {"-arch", kMachine}, {"--gpu-architecture", kMachine}, {"--offload-arch", kMachine}, {"-gencode", kMachine},
    {"-mavx", kMachine}, {"-m64", kMachine}, {"--arch", kMachine},
    {"-c", "an object is what tilec makes: leave it out"}, {"-shared", kNoLinker}, {"-l", kNoLinker}, {"-L", kNoLinker}, {"-static", kNoLinker}, {"-fPIC", "objects are made so: leave it out"},
    {"-g", kDebug}, {"-S", "the text of a machine is printed by --emit=asm"}, {"-E", "there is no preprocessor"}, {"-D", "there is no preprocessor: what is known at compile time is a parameter in brackets, `kernel k[BM: int = 64](...)`, or `where N = 64` of an export"},
    {"-I", "a file is imported from the folder of the one that imports it: `import \"file.tile\" as name;`"}, {"-W", kWarnings}, {"--verbose", "-R all shows what was done, --time-passes how long it took"},
    {"-v", "-R all shows what was done, --version which tilec this is"}, {"-V", "--version"}, {"-std", "there is one language"}, {"-ffast-math", "`@fast_math` stands before a kernel"},
    {"--use_fast_math", "`@fast_math` stands before a kernel"}, {"-fopenmp", "blocks of a launch run on all cores anyway"}, {"-pthread", "nothing is needed for that"},
    {"--ptx", "the text of a GPU is printed by --emit=ptx --target sm_90a"}, {"-ptx", "the text of a GPU is printed by --emit=ptx --target sm_90a"}, {"--help", ""},
};

constexpr Advice kForeignTargets[] = {
    {"native", "left out, --target means all levels of this computer's CPU, and the object takes the best one when it runs"},
    {"cpu", "left out, --target means all levels of this computer's CPU, and the object takes the best one when it runs"},
    {"host", "left out, --target means all levels of this computer's CPU, and the object takes the best one when it runs"},
    {"sse2", "it is `x86-64`"}, {"sse4", "it is `x86-64`"}, {"sse4.2", "it is `x86-64`"}, {"x86", "it is `x86-64`"}, {"x64", "it is `x86-64`"}, {"amd64", "it is `x86-64`"}, {"x86_64", "it is `x86-64`"},
    {"avx", "it is `x86-64-v3`"}, {"avx2", "it is `x86-64-v3`"}, {"haswell", "it is `x86-64-v3`"}, {"zen3", "it is `x86-64-v3`"}, {"avx512", "it is `x86-64-v4`"}, {"skylake-avx512", "it is `x86-64-v4`"},
    {"x86-64-v2", "the level below it that there is is `x86-64`"}, {"x86-64-v1", "it is `x86-64`"}, {"sse4.1", "it is `x86-64`"},
    {"sm90", "it is `sm_90a`"}, {"sm90a", "it is `sm_90a`"}, {"sm_90", "it is `sm_90a`"}, {"compute_90", "it is `sm_90a`"}, {"compute_90a", "it is `sm_90a`"},
    {"sm80", "it is `sm_80`"}, {"compute_80", "it is `sm_80`"}, {"sm_86", "the one below it that there is is `sm_80`"}, {"sm86", "the one below it that there is is `sm_80`"},
    {"sm_87", "the one below it that there is is `sm_80`"}, {"sm89", "it is `sm_89`"}, {"compute_89", "it is `sm_89`"},
    {"arm64", "it is `aarch64`"}, {"arm", "it is `aarch64`"}, {"armv8", "it is `aarch64`"}, {"neon", "it is `aarch64`"}, {"apple-m1", "it is `aarch64`"},
    {"gpu", "NVIDIA's GPUs are `sm_80`, `sm_89` and `sm_90a`"}, {"cuda", "NVIDIA's GPUs are `sm_80`, `sm_89` and `sm_90a`"}, {"nvidia", "NVIDIA's GPUs are `sm_80`, `sm_89` and `sm_90a`"},
    {"ptx", "the text of a GPU is `--emit=ptx --target sm_90a`, in an object `ptx:sm_80`"}, {"nvptx", "NVIDIA's GPUs are `sm_80`, `sm_89` and `sm_90a`"},
    {"h100", "it is `sm_90a`"}, {"hopper", "it is `sm_90a`"}, {"a100", "it is `sm_80`"}, {"ampere", "it is `sm_80`"}, {"ada", "it is `sm_89`"}, {"rtx4090", "it is `sm_89`"}, {"l4", "it is `sm_89`"},
    {"c99", "it is `c`, which is C11"}, {"c11", "it is `c`"}, {"wasm", "compile C text, `--target c`"}, {"riscv", "compile C text, `--target c`"},
};

}  // namespace tilec::target
