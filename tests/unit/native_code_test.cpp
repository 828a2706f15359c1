#include "ir/scalar_eval.h"
#include "native_kit.h"
#include "target/cpu/machine.h"
#include "target/llvm/code.h"

#include <doctest/doctest.h>

using namespace tilec;
using namespace tilec::testing;
using target::CpuCode;
using target::Export;
using target::NativeForm;

namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

std::string object_of(const Export& exported, NativeForm form = NativeForm::Object) {
  return native_code({.exports = {exported}}, {.triple = kTriple, .codes = target::cpu::x86_64_codes()}, form);
}

// One shared object of one export.
struct Linked {
  TemporaryFolder folder;
  std::unique_ptr<Library> library;
  explicit Linked(const Export& exported) {
    std::string object = folder.write("k.o", object_of(exported)), shared = folder.file("k.so");
    REQUIRE(runs("cc -shared -Wl,-z,defs -nostdlib -o " + shared + " " + object + " -lc"));
    library = std::make_unique<Library>(shared);
    REQUIRE(*library);
  }
};

bool cpu_has(const CpuCode& code) {
  if (code.level == 4) return __builtin_cpu_supports("x86-64-v4");
  return code.level < 3 || __builtin_cpu_supports("x86-64-v3");
}

// c[i] = a[i] * s + b[i] for a length that no number of lanes divides, with masks.
Kernel vector_kernel(int lanes) {
  KernelMaker m("axpy");
  ValueId n = m.dim("N");
  ValueId a = m.tensor("a", Scalar::F32, {n}, Access::In), b = m.tensor("b", Scalar::F32, {n}, Access::In);
  ValueId c = m.tensor("c", Scalar::F32, {n}, Access::Out), s = m.scalar("s", Scalar::F32);
  ValueId width = m.body.index(lanes);
  ValueId blocks = m.body.binary(BinaryFn::Div, m.body.add(n, m.body.index(lanes - 1)), width);
  std::vector<ValueId> block;
  Builder k = m.launch({blocks}, block);
  ValueId i = k.add(k.mul(block[0], k.index(lanes)), lane(k));
  ValueId mask = k.compare(CompareFn::Lt, i, n);
  ValueId x = load(k, a, i, 1, true, mask), y = load(k, b, i, 1, true, mask);
  store(k, c, i, k.fma(x, s, y), 1, mask);
  m.close(k);
  return std::move(m.kernel);
}

}  // namespace

TEST_SUITE("native code") {
  TEST_CASE("a masked vector kernel runs on every level that this CPU has") {
    constexpr int n = 133;
    for (const CpuCode& code : target::cpu::x86_64_codes()) {
      if (!cpu_has(code)) continue;
      CAPTURE(code.machine->name);
      Kernel kernel = vector_kernel(code.machine->lanes);
      Export exported{.name = "axpy", .instances = {{.kernel = &kernel, .machine = code.machine}}};
      Linked linked(exported);
      std::vector<float> a(n), b(n), c(n + 1, -1.0f);
      for (int i = 0; i < n; ++i) a[i] = float(i), b[i] = float(3 * i);
      float s = 0.5f;
      uint32_t bits = std::bit_cast<uint32_t>(s);
      CHECK(call(*linked.library, exported, 0, code.machine->lanes, {slot(a.data()), slot(b.data()), slot(c.data()), bits, n}) == 0);
      bool all = true;
      for (int i = 0; i < n; ++i) all &= c[i] == a[i] * s + b[i];
      CHECK(all);
      CHECK(c[n] == -1.0f);
    }
  }
}
