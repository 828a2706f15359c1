// How fast programs are interpreted: `tilec_unit -tc='*speed*' -ns` prints lane operations a second.
#include <chrono>

#include "interp_fixture.h"

using namespace tilec;
using namespace tilec::interp;

namespace {

double measure(std::string_view what, std::string_view text, std::vector<Argument> arguments) {
  ir::Kernel kernel = kernel_of(text);
  auto start = std::chrono::steady_clock::now();
  RunResult result = run(kernel, arguments);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  check_fine(result);
  double rate = double(result.counters.lane_operations) / seconds;
  std::printf("%.*s: %.0f million lane operations a second (%llu steps, %.2f s)\n", int(what.size()), what.data(),
              rate / 1e6, static_cast<unsigned long long>(result.counters.steps), seconds);
  return rate;
}

constexpr std::string_view kHead =
    "kernel \"k\", form=thread\n  param \"x\", %x, extents=[%n], type=\"f32[8192]\"\n  param \"z\", %z, access=out, "
    "extents=[%n], type=\"f32[8192]\"\n"
    "{ (%x: buffer<global 8192 f32>, %z: buffer<global 8192 f32>)\n  %n = constant 8192 : int\n  %zero = constant 0 : "
    "int\n  %one = constant 1 : int\n"
    "  %blocks = constant 32 : int\n  launch [%blocks], warps=8 { (%block: int)\n%t = thread_index : varying "
    "int\n%size = constant 256 : int\n%b = binary.mul %block, %size : int\n"
    "%i = binary.add %b, %t : varying int\n%v = mem_load %x, %i, lane_stride=1 : varying f32\n%turns = constant 2000 : "
    "int\n";

}  // namespace

TEST_CASE("interp speed: lane operations a second in Thread form" * doctest::skip()) {
  Tensor x(Scalar::F32, {8192}), z(Scalar::F32, {8192});
  x.fill(scrambled);
  std::string arithmetic = std::string(kHead) +
                           "%r = for %zero, %turns, %one, [%v] : varying f32 { (%k: int, %a: varying f32)\n%p = fma "
                           "%a, %v, %v : varying f32\n%q = binary.add %p, %a : varying f32\n"
                           "%m = binary.min %q, %v : varying f32\n%j = binary.add %i, %k : varying int\n%c = "
                           "compare.lt %j, %n : varying bool\n%w = select %c, %m, %v : varying f32\nyield [%w]\n}\n"
                           "mem_store %z, %i, %r, lane_stride=1\nyield\n}\nyield\n}";
  CHECK(measure("arithmetic", arithmetic, {&x, &z}) > 50e6);
  std::string memory = std::string(kHead) +
                       "%s = alloc name=\"s\" : buffer<shared 256 f32>\nmem_store %s, %t, %v, "
                       "lane_stride=1\nblock_barrier\n%mask = constant 255 : int\n%few = constant 300 : int\n"
                       "%r = for %zero, %few, %one, [%v] : varying f32 { (%k: int, %a: varying f32)\n%j = binary.add "
                       "%t, %k : varying int\n%h = binary.and %j, %mask : varying int\n"
                       "%e = mem_load %s, %h : varying f32\n%y = mem_load %x, %h : varying f32\n%q = fma %e, %y, %a : "
                       "varying f32\nyield [%q]\n}\nmem_store %z, %i, %r, lane_stride=1\nyield\n}\nyield\n}";
  CHECK(measure("shared and device memory, judged", memory, {&x, &z}) > 50e6);
}

TEST_CASE("interp speed: a matrix product in Typed form" * doctest::skip()) {
  Tensor a(Scalar::F16, {512, 512}), b(Scalar::F16, {512, 512}), c(Scalar::F16, {512, 512});
  a.fill(scrambled);
  b.fill(scrambled);
  measure("512 x 512 x 512", sample("matrix_product.ir"), {&a, &b, &c});
}
