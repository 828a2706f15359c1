#include "interp_fixture.h"

using namespace tilec;
using namespace tilec::interp;

namespace {

// A kernel of one block over x: f32[64] (in) and z: f32[64] (out).
std::string over_64(std::string_view body, std::string_view extra = "") {
  return "kernel \"k\"\n  param \"x\", %x, extents=[%n], type=\"f32[64]\"\n"
         "  param \"z\", %z, access=out, extents=[%n], type=\"f32[64]\"\n" +
         std::string(extra) +
         "{ (%x: buffer<global 64 f32>, %z: buffer<global 64 f32>)\n"
         "  %n = constant 64 : int\n  %zero = constant 0 : int\n  %one = constant 1 : int\n"
         "  launch [%one] { (%block: int)\n" +
         std::string(body) + "\n    yield\n  }\n  yield\n}\n";
}

RunResult run_64(std::string_view body, Tensor& x, Tensor& z, const RunOptions& options = {}) {
  return run_text(over_64(body), {&x, &z}, options);
}

struct Vectors {
  Tensor x{Scalar::F32, {64}}, z{Scalar::F32, {64}};
  Vectors() { x.fill(scrambled); }
};

// Loads x as a tile, transforms it, stores the tile %out: f32[64].
std::string transformed(std::string_view body) {
  return "%t = load %x, [%zero], axes=[0] : tile<64 f32>\n" + std::string(body) + "\nstore %out, %z, [%zero], axes=[0]";
}

}  // namespace

TEST_CASE("interp: blocks add vectors, the last one is clipped") {
  Tensor x(Scalar::F32, {1000}), y(Scalar::F32, {1000}), z(Scalar::F32, {1000});
  x.fill(scrambled);
  y.fill([](int64_t k) { return k; });
  RunResult result = run_text(sample("vector_add.ir"), {&x, &y, &z});
  check_fine(result);
  bool all = true;
  for (int64_t k = 0; k < 1000; ++k) all &= z.real(k) == x.real(k) + y.real(k);
  CHECK(all);
  CHECK(result.counters.stored[0] == 4000);
}

TEST_CASE("interp: a tiled matrix product is the textbook product") {
  Tensor a(Scalar::F16, {100, 64}), b(Scalar::F16, {64, 70}), c(Scalar::F16, {100, 70});
  a.fill(scrambled);
  b.fill([](int64_t k) { return scrambled(k + 1000); });
  for (Numeric numeric : {Numeric::Typed, Numeric::Wide}) {
    RunOptions options;
    options.numeric = numeric;
    check_fine(run_text(sample("matrix_product.ir"), {&a, &b, &c}, options));
    bool all = true;
    for (int64_t i = 0; i < 100; ++i)
      for (int64_t j = 0; j < 70; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 64; ++k) sum += a.at({i, k}) * b.at({k, j});
        all &= c.at({i, j}) == round_to(Scalar::F16, sum);
      }
    CHECK(all);
  }
}

TEST_CASE("interp: attention is softmax of scores times values") {
  constexpr int64_t kS = 70, kL = 90, kD = 64;
  Tensor q(Scalar::F16, {2, kS, kD}), k(Scalar::F16, {2, kL, kD}), v(Scalar::F16, {2, kL, kD}),
      o(Scalar::F32, {2, kS, kD});
  q.fill([](int64_t n) { return scrambled(n) / 4; });
  k.fill([](int64_t n) { return scrambled(n + 77) / 4; });
  v.fill([](int64_t n) { return scrambled(n + 999); });
  for (bool causal : {false, true}) {
    check_fine(run_text(sample("attention.ir"), {&q, &k, &v, &o, ir::Number::real(0.25), ir::Number::integer(causal)}));
    double worst = 0;
    for (int64_t row = 0; row < kS; ++row) {
      std::vector<double> p(kL, 0);
      double sum = 0;
      for (int64_t c = 0; c < (causal ? row + 1 : kL); ++c) {
        double s = 0;
        for (int64_t d = 0; d < kD; ++d) s += q.at({1, row, d}) * k.at({1, c, d});
        sum += p[size_t(c)] = std::exp2(s * 0.25);
      }
      for (int64_t d = 0; d < kD; ++d) {
        double expected = 0;
        for (int64_t c = 0; c < kL; ++c) expected += p[size_t(c)] / sum * v.at({1, c, d});
        worst = std::max(worst, std::abs(expected - o.at({1, row, d})));
      }
    }
    CHECK(worst < 2e-3);
  }
}

TEST_CASE("interp: tile operations move and combine elements") {
  Vectors v;
  SUBCASE("splat, insert, extract") {
    check_fine(run_64(transformed("%c = constant 7.0 : f32\n%four = constant 4 : int\n%s = splat %c : tile<8 f32>\n"
                                  "%part = extract %t, [%four], axes=[0] : tile<2 f32>\n"
                                  "%a = insert %t, %s, [%four], axes=[0] : tile<64 f32>\n"
                                  "%out = insert %a, %part, [%zero], axes=[0] : tile<64 f32>"),
                      v.x, v.z));
    CHECK(v.z.real(4) == 7);
    CHECK(v.z.real(11) == 7);
    CHECK(v.z.real(12) == v.x.real(12));
    CHECK(v.z.real(0) == v.x.real(4));
  }
  SUBCASE("reshape and permute") {
    check_fine(run_64(transformed("%m = reshape %t : tile<8x8 f32>\n%p = permute %m, axes=[1, 0] : tile<8x8 f32>\n"
                                  "%out = reshape %p : tile<64 f32>"),
                      v.x, v.z));
    CHECK(v.z.real(1) == v.x.real(8));
    CHECK(v.z.real(8 * 3 + 5) == v.x.real(8 * 5 + 3));
  }
  SUBCASE("scan forward and back") {
    check_fine(run_64(transformed("%out = scan.sum %t, reverse=true : tile<64 f32>"), v.x, v.z));
    CHECK(v.z.real(62) == v.x.real(62) + v.x.real(63));
    check_fine(run_64(transformed("%out = scan.max %t : tile<64 f32>"), v.x, v.z));
    CHECK(v.z.real(2) == std::max({v.x.real(0), v.x.real(1), v.x.real(2)}));
  }
  SUBCASE("reductions of an axis and of everything") {
    check_fine(run_64(transformed("%m = reshape %t : tile<8x8 f32>\n%r = reduce.max %m, axis=1 : tile<8 f32>\n"
                                  "%w = reduce.argmin %r : int\n%f = convert %w : f32\n%s = splat %f : tile<56 f32>\n"
                                  "%q = constant 8 : int\n%a = insert %t, %r, [%zero], axes=[0] : tile<64 f32>\n"
                                  "%out = insert %a, %s, [%q], axes=[0] : tile<64 f32>"),
                      v.x, v.z));
    double least = 1e9;
    int at = -1;
    for (int r = 0; r < 8; ++r) {
      double most = -1e9;
      for (int c = 0; c < 8; ++c) most = std::max(most, v.x.real(8 * r + c));
      CHECK(v.z.real(r) == most);
      if (most < least) least = most, at = r;
    }
    CHECK(v.z.real(40) == at);
  }
  SUBCASE("a map broadcasts an input and masks") {
    check_fine(run_64(transformed("%m = reshape %t : tile<8x8 f32>\n%r = reduce.sum %m, axis=0 : tile<8 f32>\n"
                                  "%w = map [%m, %r], input_axes=[[0, 1], [1]], shape=[8, 8] : tile<8x8 f32> { (%i: "
                                  "int, %j: int, %a: f32, %b: f32)\n"
                                  "%c = compare.lt %i, %j : bool\n%y = if %c : f32 {\n%u = binary.sub %a, %b : "
                                  "f32\nyield [%u]\n} else_body {\nyield [%b]\n}\n"
                                  "yield [%y]\n}\n%out = reshape %w : tile<64 f32>"),
                      v.x, v.z));
    double sum = 0;
    for (int r = 0; r < 8; ++r) sum += v.x.real(8 * r + 5);
    CHECK(v.z.real(8 * 2 + 5) == v.x.real(21) - sum);
    CHECK(v.z.real(8 * 6 + 5) == sum);
  }
}

TEST_CASE("interp: loops carry values and end") {
  Vectors v;
  check_fine(
      run_64(transformed("%five = constant 5 : int\n%ten = constant 10 : int\n"
                         "%a, %b = for %zero, %five, %one, [%zero, %one] : int, int { (%i: int, %p: int, %q: int)\n"
                         "%s = binary.add %p, %q : int\nyield [%q, %s]\n}\n"
                         "%w, %steps = while [%a, %zero] : int, int { (%c: int, %d: int)\n%more = compare.lt %c, %n : "
                         "bool\nyield [%more, %c, %d]\n"
                         "} body { (%e: int, %f: int)\n%g = binary.add %e, %ten : int\n%h = binary.add %f, %one : "
                         "int\nyield [%g, %h]\n}\n"
                         "%wf = convert %w : f32\n%sf = convert %steps : f32\n%wt = splat %wf : tile<32 f32>\n%st = "
                         "splat %sf : tile<32 f32>\n"
                         "%half = constant 32 : int\n%u = insert %t, %wt, [%zero], axes=[0] : tile<64 f32>\n"
                         "%out = insert %u, %st, [%half], axes=[0] : tile<64 f32>"),
             v.x, v.z));
  CHECK(v.z.real(0) == 65);  // 5, 15 ... 65
  CHECK(v.z.real(63) == 6);
}

TEST_CASE("interp: lanes of a map leave a loop one by one") {
  Vectors v;
  check_fine(run_64(transformed("%out = map [%t], input_axes=[[0]], shape=[64] : tile<64 f32> { (%i: int, %a: f32)\n"
                                "%r = for %zero, %i, %one, [%a] : f32 { (%k: int, %c: f32)\n%kf = convert %k : f32\n%d "
                                "= binary.add %c, %kf : f32\nyield [%d]\n}\n"
                                "yield [%r]\n}"),
                    v.x, v.z));
  for (int64_t k : {0, 1, 2, 33, 63}) CHECK(v.z.real(k) == v.x.real(k) + double(k * (k - 1) / 2));
}

TEST_CASE("interp: strided tensors and regions outside read as padding") {
  Tensor x(Scalar::F32, {4, 6}, {10, 1}), z(Scalar::F32, {8, 8});
  x.fill([](int64_t k) { return k + 1; });
  std::string text =
      "kernel \"k\"\n param \"x\", %x, extents=[%a, %b], strides=[%s, %one], type=\"f32[4, 6]\"\n"
      " param \"z\", %z, access=out, extents=[%e, %e], type=\"f32[8, 8]\"\n"
      "{ (%x: buffer<global 4x6 f32>, %z: buffer<global 8x8 f32>)\n%a = constant 4 : int\n%b = constant 6 : int\n%s = "
      "constant 10 : int\n"
      "%e = constant 8 : int\n%one = constant 1 : int\n%m = constant -2 : int\n%zero = constant 0 : int\nlaunch [%one] "
      "{ (%i: int)\n"
      "%t = load %x, [%m, %one], axes=[0, 1], pad=9.0 : tile<8x8 f32>\nstore %t, %z, [%zero, %zero], axes=[0, "
      "1]\nyield\n}\nyield\n}";
  check_fine(run_text(text, {&x, &z}));
  CHECK(z.at({0, 0}) == 9);
  CHECK(z.at({2, 0}) == 2);
  CHECK(z.at({3, 4}) == 12);
  CHECK(z.at({3, 5}) == 9);
  CHECK(z.at({6, 0}) == 9);
  Tensor dense(Scalar::F32, {4, 6});
  check_fault(run_text(text, {&dense, &z}), FaultKind::Contract, "stride 0 of `x`");
}

TEST_CASE("interp: accesses that leave are faults unless guarded") {
  Vectors v;
  RunResult result = run_64(
      "%i = constant 64 : int\n%e = element_load %x, [%i] : f32 !0:12:40\nelement_store %z, [%zero], %e", v.x, v.z);
  check_fault(result, FaultKind::OutOfBounds, "index 64 along axis 0 leaves `x`, whose extent is 64");
  CHECK(result.fault->span.begin == 12);
  CHECK(result.fault->span.end == 40);
  result = run_64(
      "%i = constant 64 : int\n%e = element_load %x, [%i], bounds=guarded : f32\nelement_store %z, [%i], %e, "
      "bounds=guarded\n"
      "element_store %z, [%zero], %e",
      v.x, v.z);
  check_fine(result);
  CHECK(result.guard);
  CHECK(result.guard->index == 64);
  CHECK(v.z.real(0) == 0);
  check_fault(run_64("%t = load %x, [%one], axes=[0], bounds=[inside] : tile<64 f32>\nstore %t, %z, [%zero], axes=[0]",
                     v.x, v.z),
              FaultKind::OutOfBounds, "proved inside");
  check_fault(run_64(transformed("%out = insert %t, %t, [%one], axes=[0] : tile<64 f32>"), v.x, v.z),
              FaultKind::OutOfBounds, "leaves its tile");
}

TEST_CASE("interp: what was never written is not read") {
  Vectors v;
  check_fault(run_64("%t = load %z, [%zero], axes=[0] : tile<64 f32>\nstore %t, %z, [%zero], axes=[0]", v.x, v.z),
              FaultKind::Uninitialised, "`z`");
  std::string half =
      "%s = alloc name=\"s\" : buffer<shared 64 f32>\n%t = load %x, [%zero], axes=[0] : tile<32 f32>\n"
      "store %t, %s, [%zero], axes=[0]\n%u = load %s, [%zero], axes=[0] : tile<64 f32>\nstore %u, %z, [%zero], "
      "axes=[0]";
  check_fault(run_64(half, v.x, v.z), FaultKind::Uninitialised, "byte 128 of `s`");
  RunOptions lax;
  lax.check_initialised = false;
  check_fine(run_64(half, v.x, v.z, lax));
  // A tile in a loop's body is new each time.
  check_fault(
      run_64(
          "%two = constant 2 : int\nfor %zero, %two, %one { (%i: int)\n%s = alloc name=\"s\" : buffer<shared 1 f32>\n"
          "%first = compare.eq %i, %zero : bool\n%c = constant 1.0 : f32\nif %first {\nelement_store %s, [%zero], "
          "%c\nyield\n} else_body {\n"
          "%e = element_load %s, [%zero] : f32\nelement_store %z, [%zero], %e\nyield\n}\nyield\n}",
          v.x, v.z),
      FaultKind::Uninitialised, "`s`");
}

TEST_CASE("interp: integers fault where they have no value") {
  Vectors v;
  auto with = [](std::string_view op) {
    return "%a = element_load %x, [%zero] : f32\n%w = convert %a : int\n%y = " + std::string(op) +
           " : int\n%f = convert %y : f32\nelement_store %z, [%zero], %f";
  };
  v.x.set_real(0, 0);
  check_fault(run_64(with("binary.div %n, %w"), v.x, v.z), FaultKind::DivisionByZero, "64 is divided by zero");
  check_fault(run_64(with("binary.rem %n, %w"), v.x, v.z), FaultKind::DivisionByZero, "divided by zero");
  v.x.set_real(0, 9.2e18);
  check_fault(run_64(with("binary.add %w, %w"), v.x, v.z), FaultKind::Overflow, "an `int` leaves 64 bits: 9200000267938955264 + 9200000267938955264");
  check_fault(run_64(with("binary.mul %w, %w"), v.x, v.z), FaultKind::Overflow, "an `int` leaves 64 bits: 9200000267938955264 * 9200000267938955264");
  v.x.set_real(0, -1e30);
  check_fault(run_64(with("unary.neg %w"), v.x, v.z), FaultKind::Overflow, "an `int` leaves 64 bits: -(-9223372036854775808)");
  // Lanes that do not take part do not fault.
  check_fine(run_64(
      transformed(
          "%out = map [%t], input_axes=[[0]], shape=[64] : tile<64 f32> { (%i: int, %a: f32)\n"
          "%some = compare.gt %i, %zero : bool\n%r = if %some : int {\n%q = binary.div %n, %i : int\nyield [%q]\n"
          "} else_body {\nyield [%i]\n}\n%f = convert %r : f32\nyield [%f]\n}"),
      v.x, v.z));
  CHECK(v.z.real(0) == 0);
  CHECK(v.z.real(7) == 9);
}

TEST_CASE("interp: an endless loop is stopped, a step must be positive") {
  Vectors v;
  RunOptions options;
  options.step_limit = 10'000;
  check_fault(run_64("%yes = constant 1 : bool\n%a_loop = while [%zero] : int { (%c: int)\nyield [%yes, %c]\n} body { (%d: int)\n"
                     "%more = binary.add %d, %one : int\nyield [%more]\n}", v.x, v.z, options),
              FaultKind::StepLimit, "10000 steps");
  check_fault(run_64("%yes = constant 1 : bool\nwhile {\nyield [%yes]\n} body {\nyield\n}", v.x, v.z, options),
              FaultKind::Deadlock, "turns here for ever");
  check_fault(run_64("for %zero, %n, %zero { (%i: int)\nyield\n}", v.x, v.z), FaultKind::Loop, "step is 0");
}

TEST_CASE("interp: arguments have to fit the parameters") {
  Vectors v;
  Tensor wrong(Scalar::F16, {64}), longer(Scalar::F32, {65}), matrix(Scalar::F32, {8, 8});
  std::string text = over_64("", "  requires %holds, \"x[0] > 1\"\n");
  check_fault(run_64("", wrong, v.z), FaultKind::Contract, "has elements of f32");
  check_fault(run_64("", longer, v.z), FaultKind::Contract, "extent 0 of `x` is 64");
  check_fault(run_64("", matrix, v.z), FaultKind::Contract, "1 dimensions");
  check_fault(run_text(over_64(""), {&v.x}), FaultKind::Contract, "2 parameters");
  check_fault(run_text(over_64(""), {&v.x, std::monostate{}}), FaultKind::Contract, "may not be null");
  Tensor a(Scalar::F16, {8, 63}), b(Scalar::F16, {63, 8}), c(Scalar::F16, {8, 8}), other(Scalar::F16, {62, 8});
  check_fault(run_text(sample("matrix_product.ir"), {&a, &b, &c}), FaultKind::Contract, "K % 32 == 0");
  check_fault(run_text(sample("matrix_product.ir"), {&a, &other, &c}), FaultKind::Contract, "extent 0 of `b` is 63");
}

TEST_CASE("interp: blocks may not touch each other's elements") {
  Tensor x(Scalar::F32, {64}), z(Scalar::F32, {64});
  auto text = [](std::string_view body) { return changed(over_64(body), "launch [%one]", "launch [%n]"); };
  auto run_it = [&](std::string_view body) { return run_text(text(body), {&x, &z}); };
  check_fine(run_it("%e = element_load %x, [%block] : f32\nelement_store %z, [%block], %e"));
  check_fault(run_it("%e = element_load %x, [%block] : f32\nelement_store %z, [%zero], %e"), FaultKind::BlockRace,
              "of `z`");
  std::string neighbour =
      "%e = element_load %x, [%block] : f32\nelement_store %z, [%block], %e\n"
      "%b1 = binary.add %block, %one : int\n%b2 = binary.rem %b1, %n : int\n";
  RunOptions lax;
  lax.check_initialised = false;
  check_fault(
      run_text(text(neighbour + "%f = element_load %z, [%b2] : f32\nelement_store %z, [%block], %f"), {&x, &z}, lax),
      FaultKind::BlockRace, "as well");
  // Atomics of many blocks on one element are fine, a plain read of it is not.
  std::string inout =
      changed(text("%f = constant 1.0 : f32\n%old = atomic.add %z, [%zero], [%f] : f32"), "access=out", "access=inout");
  z.fill([](int64_t) { return 0; });
  check_fine(run_text(inout, {&x, &z}));
  CHECK(z.real(0) == 64);
  check_fault(run_text(changed(inout, "yield\n  }", "%r = element_load %z, [%zero] : f32\nyield\n  }"), {&x, &z}),
              FaultKind::BlockRace, "of `z`");
  // A second launch comes after the first.
  std::string twice = text("%e = element_load %x, [%block] : f32\nelement_store %z, [%block], %e");
  twice = changed(twice, "  yield\n}\n",
                  "launch [%one] { (%b: int)\n%t = load %z, [%zero], axes=[0] : tile<64 f32>\nstore %t, %z, [%zero], "
                  "axes=[0]\nyield\n}\n  yield\n}\n");
  check_fine(run_text(twice, {&x, &z}));
}

TEST_CASE("interp: iterations of a map may not touch each other's elements") {
  Vectors v;
  auto map = [](std::string_view body) {
    return "%s = alloc name=\"s\" : buffer<shared 65 f32>\n%t = load %x, [%zero], axes=[0] : tile<64 f32>\n"
           "map [%t], input_axes=[[0]], shape=[64] { (%i: int, %a: f32)\n" +
           std::string(body) + "\nyield\n}";
  };
  check_fine(run_64(map("element_store %s, [%i], %a\n%b = element_load %s, [%i] : f32\nelement_store %z, [%i], %b"),
                    v.x, v.z));
  CHECK(v.z.real(9) == v.x.real(9));
  check_fault(run_64(map("element_store %s, [%zero], %a"), v.x, v.z), FaultKind::Race, "map");
  check_fault(
      run_64(map("element_store %s, [%i], %a\n%k = binary.add %i, %one : int\n%b = element_load %s, [%k] : f32"), v.x,
             v.z),
      FaultKind::Race, "which an iteration of a map writes");
  RunOptions lax;
  lax.check_initialised = false;
  check_fault(
      run_64(map("%k = binary.add %i, %one : int\n%b = element_load %s, [%k] : f32\nelement_store %s, [%i], %b"), v.x,
             v.z, lax),
      FaultKind::Race, "nothing orders");
}

TEST_CASE("interp: wide numbers are rounded by conversions and stores alone") {
  Vectors v;
  std::string body = transformed(
      "%out = map [%t], input_axes=[[0]], shape=[64] : tile<64 f32> { (%i: int, %a: f32)\n%tiny = constant 1e-9 : f32\n"
      "%b = binary.add %a, %tiny : f32\n%c = binary.sub %b, %a : f32\nyield [%c]\n}");
  v.x.set_real(3, 1);
  RunOptions wide;
  wide.numeric = Numeric::Wide;
  check_fine(run_64(body, v.x, v.z));
  CHECK(v.z.real(3) == 0);
  check_fine(run_64(body, v.x, v.z, wide));
  CHECK(v.z.real(3) == doctest::Approx(1e-9).epsilon(1e-5));
}

TEST_CASE("interp: a layout has to cover its tile, conversions count by how far they move") {
  Vectors v;
  std::string bad = transformed(
      "%l = convert_layout %t : tile<64 f32 @ reg(c0) lane(c1 c2 c3 c4 c5)>\n%out = convert_layout %l : tile<64 f32 @ "
      "reg(c5) lane(c0 c1 c2 c3 c4)>");
  RunResult result = run_64(bad, v.x, v.z);
  check_fine(result);
  CHECK(result.counters.lanes_converted == 64);
  ir::Kernel kernel = kernel_of(over_64(bad));
  for (size_t k = 0; k < kernel.values.size(); ++k) {
    const ir::Type& type = kernel.types[kernel.values[k].type];
    if (!type.is_tile() || !type.layout.valid()) continue;
    layout::RegLayout half{.shape = {64}, .lane = {1, 2, 4, 8, 16}};
    ir::Type broken = type;
    broken.layout = kernel.layouts.intern(half);
    kernel.values[k].type = kernel.types.intern(broken);
  }
  std::vector<Argument> arguments{&v.x, &v.z};
  check_fault(run(kernel, arguments), FaultKind::Layout, "does not cover");
}
