#include "interp_fixture.h"

using namespace tilec;
using namespace tilec::interp;

namespace {

struct Product {
  Tensor a{Scalar::F16, {64, 200}}, b{Scalar::F16, {200, 64}}, c{Scalar::F32, {64, 64}};
  Product() {
    a.fill(scrambled);
    b.fill([](int64_t k) { return scrambled(k + 1000); });
  }
  RunResult run_staged(std::string_view text, Completion completion, uint64_t seed = 1, bool check_races = true) {
    RunOptions options;
    options.completion = completion;
    options.seed = seed;
    options.check_races = check_races;
    options.check_initialised = check_races;
    return run_text(text, {&a, &b, &c}, options);
  }
  bool is_right() const {
    for (int64_t i = 0; i < 64; ++i)
      for (int64_t j = 0; j < 64; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 200; ++k) sum += a.at({i, k}) * b.at({k, j});
        if (c.at({i, j}) != sum) return false;
      }
    return true;
  }
};

std::string staged() { return sample("matrix_product_staged.ir"); }

constexpr Completion kBoth[] = {Completion::Late, Completion::Early};

}  // namespace

TEST_CASE("interp: roles hand tiles through a ring, late and early alike") {
  for (Completion completion : kBoth)
    for (uint64_t seed : {1, 2, 3}) {
      Product p;
      check_fine(p.run_staged(staged(), completion, seed));
      CHECK(p.is_right());
    }
}

TEST_CASE("interp: a missing wait is a race, and late completion shows it in the numbers") {
  std::string text = changed(staged(), "        wait %ring, %k2\n", "");
  for (Completion completion : kBoth) {
    Product p;
    RunResult result = p.run_staged(text, completion);
    REQUIRE(result.fault);
    CHECK((result.fault->kind == FaultKind::Race || result.fault->kind == FaultKind::Uninitialised ||
           result.fault->kind == FaultKind::Ring));
  }
  // The copies of one role alone: awaited too late.
  std::string single =
      "kernel \"k\", form=staged\n param \"x\", %x, extents=[%n], type=\"f32[64]\"\n param \"z\", %z, access=out, "
      "extents=[%n], type=\"f32[64]\"\n"
      "{ (%x: buffer<global 64 f32>, %z: buffer<global 64 f32>)\n%n = constant 64 : int\n%zero = constant 0 : "
      "int\n%one = constant 1 : int\nlaunch [%one] { (%i: int)\n"
      "%s = alloc name=\"s\" : buffer<shared 64 f32>\n%t = copy_async %x, [%zero], %s, [%zero], src_axes=[0], "
      "dst_axes=[0], shape=[64], label=\"fetch\" : token\n"
      "await_copy [%t]\n%v = load %s, [%zero], axes=[0] : tile<64 f32>\nstore %v, %z, [%zero], "
      "axes=[0]\nyield\n}\nyield\n}";
  Tensor x(Scalar::F32, {64}), z(Scalar::F32, {64});
  x.fill(scrambled);
  check_fine(run_text(single, {&x, &z}));
  CHECK(z.real(5) == x.real(5));
  std::string wrong = changed(changed(single, "await_copy [%t]\n", ""), "store %v", "await_copy [%t]\nstore %v");
  RunOptions lax;
  lax.check_initialised = false;
  check_fault(run_text(wrong, {&x, &z}, lax), FaultKind::Race, "which copy `fetch` writes");
  lax.completion = Completion::Early;
  check_fault(run_text(wrong, {&x, &z}, lax), FaultKind::Race, "which copy `fetch` writes");
  lax.check_races = false;
  check_fine(run_text(wrong, {&x, &z}, lax));
  CHECK(z.real(5) == x.real(5));
  lax.completion = Completion::Late;
  check_fine(run_text(wrong, {&x, &z}, lax));
  CHECK(z.real(5) != x.real(5));
  check_fault(run_text(changed(single, "await_copy [%t]\n", ""), {&x, &z}), FaultKind::Race, "copy `fetch`");
  check_fault(run_text(changed(changed(single, "await_copy [%t]\n", ""), "%v = load %s", "%v = load %x"), {&x, &z}),
              FaultKind::Token, "nobody waits");
}

TEST_CASE("interp: an overwrite that no release orders is a race") {
  // The producer takes every slot as its turn comes, never asking whether it was given back.
  std::string text = changed(changed(staged(), "        acquire %ring, %k\n", ""),
                             "        commit %ring, %k, [%ta, %tb]\n", "        await_copy [%ta, %tb]\n");
  text = changed(changed(text, "        wait %ring, %k2\n", ""), "        release %ring, %k2\n", "");
  Product p;
  CHECK(p.run_staged(text, Completion::Late).fault);
  // Released before the product that reads the slot has ended.
  std::string early = changed(staged(), "        release %ring, %k2\n", "");
  early = changed(early, "        %new = await_gemm", "        release %ring, %k2\n        %new = await_gemm");
  for (Completion completion : kBoth) {
    Product q;
    check_fault(q.run_staged(early, completion), FaultKind::Race, "which product `product` reads");
  }
}

TEST_CASE("interp: a flight goes from product to product and is taken once") {
  // The accumulator stays in flight over the loop, the last is awaited behind it; slots are released one turn later.
  Product p;
  std::string text = changed(staged(), "        %new = await_gemm %flight : tile",
                             "        %new = await_gemm %flight, in_flight=0 : tile");
  check_fine(p.run_staged(text, Completion::Late));
  std::string dropped = changed(staged(), "yield [%new]", "yield [%old]");
  dropped = changed(
      dropped,
      "        %new = await_gemm %flight : tile<64x64 f32 @ reg(c0 r3 c3 c4 c5) lane(c1 c2 r0 r1 r2) warp(r4 r5)>\n",
      "");
  for (Completion completion : kBoth) {
    Product q;
    CHECK(q.run_staged(dropped, completion).fault);
  }
  std::string twice = changed(staged(), "        release %ring, %k2\n",
                              "        %again = await_gemm %flight : tile<64x64 f32 @ reg(c0 r3 c3 c4 c5) lane(c1 c2 "
                              "r0 r1 r2) warp(r4 r5)>\n        release %ring, %k2\n");
  check_fault(p.run_staged(twice, Completion::Late), FaultKind::Flight, "taken already");
}

TEST_CASE("interp: products in flight end in the order of their issue") {
  std::string text =
      "kernel \"k\", form=staged\n param \"x\", %x, extents=[%n, %n], type=\"f32[8, 8]\"\n param \"z\", %z, "
      "access=out, extents=[%n, %n], type=\"f32[8, 8]\"\n"
      "{ (%x: buffer<global 8x8 f32>, %z: buffer<global 8x8 f32>)\n%n = constant 8 : int\n%zero = constant 0 : "
      "int\n%one = constant 1 : int\nlaunch [%one] { (%i: int)\n"
      "%s = alloc name=\"s\" : buffer<shared 8x8 f32>\n%r = alloc name=\"r\" : buffer<shared 8x8 f32>\n%t = load %x, "
      "[%zero, %zero], axes=[0, 1] : tile<8x8 f32>\nstore %t, %s, [%zero, %zero], axes=[0, 1]\nstore %t, %r, [%zero, "
      "%zero], axes=[0, 1]\n"
      "%c = constant 0.0 : f32\n%acc = splat %c : tile<8x8 f32>\n%f = gemm_async %s, %s, %acc, label=\"one\" : "
      "flight<8x8 f32>\n%g = gemm_async %r, %r, %f, label=\"two\" : flight<8x8 f32>\n"
      "%h = await_gemm %g, in_flight=1 : flight<8x8 f32>\nstore %acc, %s, [%zero, %zero], axes=[0, 1]\n%d = await_gemm "
      "%h : tile<8x8 f32>\nstore %d, %z, [%zero, %zero], axes=[0, 1]\nyield\n}\nyield\n}";
  Tensor x(Scalar::F32, {8, 8}), z(Scalar::F32, {8, 8});
  x.fill(scrambled);
  for (Completion completion : kBoth) {
    RunOptions options;
    options.completion = completion;
    check_fine(run_text(text, {&x, &z}, options));
    double sum = 0;
    for (int64_t k = 0; k < 8; ++k) sum += 2 * x.at({2, k}) * x.at({k, 3});
    CHECK(z.at({2, 3}) == sum);
    // The second product still reads r.
    check_fault(run_text(changed(text, "store %acc, %s", "store %acc, %r"), {&x, &z}, options), FaultKind::Race,
                "which product `two` reads");
  }
}

TEST_CASE("interp: a deadlock says who waits for what") {
  Product p;
  check_fault(p.run_staged(changed(staged(), "        release %ring, %k2\n", ""), Completion::Late),
              FaultKind::Deadlock, "role `load` waits for its turn 0 of ring `ab` to be given back");
  check_fault(
      p.run_staged(changed(staged(), "        commit %ring, %k, [%ta, %tb]\n", "        await_copy [%ta, %tb]\n"),
                   Completion::Late),
      FaultKind::Deadlock, "role `math` waits for turn 0 of ring `ab` to be filled");
}

TEST_CASE("interp: turns are taken, filled and given back once") {
  Product p;
  check_fault(p.run_staged(changed(staged(), "        acquire %ring, %k\n", ""), Completion::Late), FaultKind::Ring,
              "without having been acquired");
  check_fault(p.run_staged(changed(staged(), "        acquire %ring, %k\n",
                                   "        acquire %ring, %k\n        acquire %ring, %k\n"),
                           Completion::Late),
              FaultKind::Ring, "taken twice");
  check_fault(p.run_staged(changed(staged(), "        release %ring, %k2\n",
                                   "        release %ring, %k2\n        release %ring, %k2\n"),
                           Completion::Late),
              FaultKind::Ring, "released without having been filled");
}
