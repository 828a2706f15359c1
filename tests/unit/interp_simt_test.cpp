#include "interp_fixture.h"

using namespace tilec;
using namespace tilec::interp;

namespace {

// A tile program of one block with 80 threads (two warps and a half): x, z: f32[80].
std::string threads(std::string_view body) {
  return "kernel \"k\"\n  param \"x\", %x, extents=[%n], type=\"f32[80]\"\n  param \"z\", %z, access=out, "
         "extents=[%n], type=\"f32[80]\"\n"
         "{ (%x: buffer<global 80 f32>, %z: buffer<global 80 f32>)\n  %n = constant 80 : int\n  %zero = constant 0 : "
         "int\n  %one = constant 1 : int\n"
         "  launch [%one], threads=80 { (%block: int)\n%s = alloc name=\"s\" : buffer<shared 80 f32>\n" +
         std::string(body) + "\n    yield\n  }\n  yield\n}\n";
}

struct Vectors {
  Tensor x{Scalar::F32, {80}}, z{Scalar::F32, {80}};
  Vectors() { x.fill(scrambled); }
  RunResult run_threads(std::string_view body, const RunOptions& options = {}) {
    return run_text(threads(body), {&x, &z}, options);
  }
};

constexpr const char* kTurn =
    "simt { (%t: int)\n%v = element_load %x, [%t] : f32\nelement_store %s, [%t], %v\nblock_barrier\n%last = constant "
    "79 : int\n"
    "%o = binary.sub %last, %t : int\n%w = element_load %s, [%o] : f32\nelement_store %z, [%t], %w\nyield\n}";

}  // namespace

TEST_CASE("interp: threads of a simt meet at barriers") {
  Vectors v;
  check_fine(v.run_threads(kTurn));
  for (int64_t k : {0, 31, 32, 79}) CHECK(v.z.real(k) == v.x.real(79 - k));
  RunOptions lax;
  lax.check_initialised = false;
  for (uint64_t seed : {1, 2, 3}) {
    lax.seed = seed;
    check_fault(v.run_threads(changed(kTurn, "block_barrier\n", ""), lax), FaultKind::Race, "of warp");
  }
}

TEST_CASE("interp: threads of one warp are not ordered either") {
  Vectors v;
  std::string neighbour = changed(changed(kTurn, "block_barrier\n", ""), "binary.sub %last, %t", "binary.xor %one, %t");
  RunOptions lax;
  lax.check_initialised = false;
  check_fault(v.run_threads(neighbour, lax), FaultKind::Race, "lane 1 of warp");
  check_fine(v.run_threads(changed(kTurn, "binary.sub %last, %t", "binary.xor %one, %t")));
  check_fault(v.run_threads("simt { (%t: int)\n%c = constant 1.0 : f32\nelement_store %s, [%zero], %c\nyield\n}"),
              FaultKind::Race, "writes");
}

TEST_CASE("interp: a simt comes after the block's own work and before what follows") {
  Vectors v;
  check_fine(
      v.run_threads("%t = load %x, [%zero], axes=[0] : tile<80 f32>\nstore %t, %s, [%zero], axes=[0]\n"
                    "simt { (%i: int)\n%v = element_load %s, [%i] : f32\n%w = binary.add %v, %v : f32\nelement_store "
                    "%s, [%i], %w\nyield\n}\n"
                    "%u = load %s, [%zero], axes=[0] : tile<80 f32>\nstore %u, %z, [%zero], axes=[0]"));
  CHECK(v.z.real(77) == 2 * v.x.real(77));
}

TEST_CASE("interp: threads stride over an array, and keep arrays of their own") {
  Vectors v;
  check_fine(v.run_threads(
      "simt threads=48 { (%t: int)\n%p = alloc name=\"p\" : buffer<private 2 f32>\n%step = constant 48 : int\n"
      "for %t, %n, %step { (%i: int)\n%v = element_load %x, [%i] : f32\n%k = binary.rem %i, %one : int\nelement_store "
      "%p, [%k], %v\n"
      "%w = element_load %p, [%zero] : f32\nelement_store %z, [%i], %w\nyield\n}\nyield\n}"));
  bool all = true;
  for (int64_t k = 0; k < 80; ++k) all &= v.z.real(k) == v.x.real(k);
  CHECK(all);
}

TEST_CASE("interp: a barrier in a simt needs all threads") {
  Vectors v;
  check_fault(v.run_threads("simt { (%t: int)\n%some = compare.lt %t, %n : bool\n%few = compare.lt %t, %one : bool\nif "
                            "%few {\nblock_barrier\nyield\n} else_body {\nyield\n}\nyield\n}"),
              FaultKind::Barrier, "does not reach this barrier");
  check_fault(v.run_threads("simt { (%t: int)\n%w = constant 64 : int\n%few = compare.lt %t, %w : bool\nif %few "
                            "{\nblock_barrier\nyield\n} else_body {\nyield\n}\nyield\n}"),
              FaultKind::Barrier, "");
}

TEST_CASE("interp: lanes beyond the last thread take no part") {
  Vectors v;
  check_fine(
      v.run_threads("simt { (%t: int)\n%v = element_load %x, [%t] : f32\n%m = warp_reduce.sum %v : f32\nelement_store "
                    "%z, [%t], %m\nyield\n}"));
  double sum = 0;
  for (int64_t k = 64; k < 80; ++k) sum += v.x.real(k);
  CHECK(v.z.real(70) == sum);
  check_fault(v.run_threads("simt { (%t: int)\n%k = constant 16 : int\n%v = element_load %x, [%t] : f32\n%m = "
                            "shuffle.xor %v, %k : f32\nyield\n}"),
              FaultKind::OutOfBounds, "does not take part");
}
