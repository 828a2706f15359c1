#include "native_kit.h"

#include <doctest/doctest.h>

using namespace tilec;
using namespace tilec::testing;
using target::Export;
using target::NativeForm;
using target::Program;

namespace {

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
  store(k, c, i, k.add(k.mul(x, s), y), 1, mask);
  m.close(k);
  return std::move(m.kernel);
}

// C = A @ B, A [4, K] and B [K, 2 * lanes]: the accumulators live in a private array that a loop over rows indexes, rows of
// B are staged in a shared buffer. `rows`: of the private array, more than fit the stack for a second test.
Kernel matmul_kernel(int lanes, int64_t rows) {
  KernelMaker m("matmul");
  ValueId depth = m.dim("K"), four = m.body.index(rows), width = m.body.index(2 * lanes);
  ValueId a = m.tensor("a", Scalar::F32, {four, depth}, Access::In), b = m.tensor("b", Scalar::F32, {depth, width}, Access::In);
  ValueId c = m.tensor("c", Scalar::F32, {four, width}, Access::Out);
  std::vector<ValueId> block;
  Builder k = m.launch({m.body.index(2)}, block);
  Type array = buffer_type(Space::Private, Scalar::F32, {rows}), staged = buffer_type(Space::Shared, Scalar::F32, {lanes});
  array.varying = true;
  ValueId acc = k.value(op::Alloc{}, array), row = k.value(op::Alloc{}, staged);
  ValueId column = k.add(k.mul(block[0], k.index(lanes)), lane(k)), zero = k.index(0), one = k.index(1);
  auto loop = [&](ValueId high, auto body) {
    RegionId region = m.kernel.new_region();
    ValueId i = m.kernel.new_arg(region, scalar_type(Scalar::Index));
    Builder inner(m.kernel, region);
    body(inner, i);
    inner.yield({});
    return op::For{.low = zero, .high = high, .step = one, .body = region};
  };
  k.add(loop(four, [&](Builder& l, ValueId i) { store(l, acc, i, l.real(Scalar::F32, 0), 0); }));
  k.add(loop(depth, [&](Builder& l, ValueId d) {
    store(l, row, lane(l), load(l, b, l.add(l.mul(d, width), column), 1, true), 1);
    l.add(loop(four, [&](Builder& r, ValueId i) {
      ValueId x = load(r, a, r.add(r.mul(i, depth), d), 0, false), y = load(r, row, lane(r), 1, true);
      store(r, acc, i, r.add(r.mul(x, y), load(r, acc, i, 0, true)), 0);
    }));
  }));
  k.add(loop(four, [&](Builder& l, ValueId i) { store(l, c, l.add(l.mul(i, width), column), load(l, acc, i, 0, true), 1); }));
  m.close(k);
  return std::move(m.kernel);
}

Export one_instance(const std::string& name, const Kernel& kernel, const Machine* machine) {
  return {.name = name, .instances = {{.kernel = &kernel, .machine = machine}}, .signature = name};
}

// Nothing in its tables makes the reader of objects complain, no relocation lacks its symbol, and what is to run in the end
// stands where every linker looks for it.
bool is_well_formed(const TemporaryFolder& folder, const std::string& object) {
  std::string told = folder.file("told");
  return runs("readelf -SW " + object + " | grep -q fini_array && ! readelf -SW " + object + " | grep -q dtors") &&
         runs("readelf -aW " + object + " > /dev/null 2> " + told + " && test ! -s " + told) &&
         runs("readelf -rW " + object + " | awk '/R_/ && NF < 5 {bad = 1} END {exit bad}'");
}

}  // namespace

TEST_SUITE("native code") {
  TEST_CASE("a masked vector kernel runs on every engine") {
    constexpr int n = 133;
    for (const Engine& engine : engines()) {
      CAPTURE(engine.name);
      Kernel kernel = vector_kernel(engine.machine->lanes);
      Export exported = one_instance("axpy", kernel, engine.machine);
      Linked linked(engine, {.exports = {exported}});
      REQUIRE(bool(linked));
      std::vector<float> a(n), b(n), c(n + 1, -1.0f);
      for (int i = 0; i < n; ++i) a[i] = float(i), b[i] = float(3 * i);
      CHECK(call(linked, exported, {tensor(a), tensor(b), tensor(c, {n}), {std::bit_cast<uint32_t>(0.5f)}}) == 0);
      bool all = true;
      for (int i = 0; i < n; ++i) all &= c[i] == a[i] * 0.5f + b[i];
      CHECK(all);
      CHECK(c[n] == -1.0f);
      auto* flat = linked.function<int(void*, void*, void*, float, int64_t, void*)>("axpy");
      REQUIRE(bool(flat));
      CHECK(flat(a.data(), b.data(), c.data(), 2.0f, n, nullptr) == 0);
      CHECK(c[n - 1] == a[n - 1] * 2 + b[n - 1]);
      CHECK(flat(nullptr, b.data(), c.data(), 2.0f, n, nullptr) == 1);
    }
  }

  TEST_CASE("private arrays on the stack and in scratch, and shared rows, make a matrix product") {
    for (const Engine& engine : engines())
      for (int64_t rows : {4, 96}) {
        CAPTURE(engine.name);
        int64_t depth = 11, width = 2 * engine.machine->lanes;
        Kernel kernel = matmul_kernel(engine.machine->lanes, rows);
        Export exported = one_instance("matmul", kernel, engine.machine);
        Linked linked(engine, {.exports = {exported}});
        REQUIRE(bool(linked));
        std::vector<float> a(size_t(rows * depth)), b(size_t(depth * width)), c(size_t(rows * width));
        for (size_t i = 0; i < a.size(); ++i) a[i] = float(int(i * 7 % 13) - 6);
        for (size_t i = 0; i < b.size(); ++i) b[i] = float(int(i * 5 % 11) - 5);
        CHECK(call(linked, exported, {tensor(a, {rows, depth}), tensor(b, {depth, width}), tensor(c, {rows, width})}) == 0);
        int wrong = 0;
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < width; ++j) {
            float sum = 0;
            for (int64_t d = 0; d < depth; ++d) sum += a[size_t(i * depth + d)] * b[size_t(d * width + j)];
            wrong += sum != c[size_t(i * width + j)];
          }
        CHECK(wrong == 0);
      }
  }

  TEST_CASE("one object holds every level and one set of exported names, and asks libc alone") {
    std::vector<Kernel> kernels;
    for (const Machine& machine : target::cpu::x86_64_machines()) kernels.push_back(vector_kernel(machine.lanes));
    Export exported{.name = "axpy"};
    for (size_t i = 3; i-- > 0;)
      exported.instances.push_back({.kernel = &kernels[i], .machine = &target::cpu::x86_64_machines()[i]});
    Program program{.exports = {exported}};
    std::string bytes = target::native_code(program, native_request(), NativeForm::Object);
    CHECK(bytes == target::native_code(program, native_request(), NativeForm::Object));
    TemporaryFolder folder;
    std::string object = folder.write("k.o", bytes), names = folder.file("names");
    REQUIRE(runs("nm -g --defined-only -f posix " + object + " | grep -v '^tile1_' | cut -d' ' -f1 | sort | tr '\\n' ' ' > " + names));
    std::ifstream in(names);
    std::string text;
    std::getline(in, text);
    CHECK(text == "axpy axpy_call axpy_check axpy_info axpy_load axpy_workspace_size ");
    CHECK(is_well_formed(folder, object));
    CHECK(runs("cc -shared -Wl,-z,defs,--gc-sections -nodefaultlibs -o " + folder.file("k.so") + " " + object + " -lc"));
    std::string assembly = target::native_code(program, native_request(), NativeForm::Assembly);
    CHECK(assembly.find("%zmm0") != std::string::npos);
    CHECK(target::native_code(program, native_request(), NativeForm::LlvmIr).find("define") != std::string::npos);
  }

  TEST_CASE("an Arm object is one of its machine and links with its compiler") {
    Kernel kernel = vector_kernel(4);
    Program program{.exports = {one_instance("axpy", kernel, &target::cpu::aarch64_machines()[0])}};
    std::string bytes = target::native_code(program, native_request("aarch64-unknown-linux-gnu"), NativeForm::Object);
    constexpr int kMachineOffset = 18, kAArch64 = 183;
    REQUIRE(bytes.size() > 64);
    CHECK(uint8_t(bytes[kMachineOffset]) == kAArch64);
    TemporaryFolder folder;
    std::string object = folder.write("k.o", bytes);
    CHECK(is_well_formed(folder, object));
    if (runs("command -v aarch64-linux-gnu-gcc > /dev/null"))
      CHECK(runs("aarch64-linux-gnu-gcc -shared -Wl,-z,defs -nodefaultlibs -o " + folder.file("k.so") + " " + object + " -lc"));
  }
}
