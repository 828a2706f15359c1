// Math functions as polynomials: the greatest error over a dense sample, against long double, and the edges.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>

#include "passes/passes.h"
#include "thread_eval.h"

using namespace tilec;
using ir::BinaryFn;
using ir::Number;
using ir::UnaryFn;

namespace {

Machine machine(bool fused) {
  Machine m{};
  m.caps = fused ? cap_set({Cap::FusedMultiplyAdd}) : 0;
  return m;
}

// exp on a machine that has exp2 as an instruction.
test::ScalarKernel exp_of_exp2() {
  test::ScalarKernel k({Scalar::F32});
  auto b = k.builder();
  b.yield({b.unary(UnaryFn::Exp, k.args[0])});
  Machine m{};
  m.caps = cap_set({Cap::FusedMultiplyAdd, Cap::NativeExp2});
  Diagnostics diags;
  passes::legalise(k.kernel, m, diags);
  return k;
}

bool calls_remain(const ir::Kernel& kernel) {
  bool found = false;
  ir::each_op(kernel, kernel.body, [&](ir::OpId id) {
    if (const auto* u = kernel.op(id).get<ir::op::Unary>())
      found |= u->fn == UnaryFn::Rsqrt || (u->fn >= UnaryFn::Exp && u->fn <= UnaryFn::Erf);
    if (const auto* b = kernel.op(id).get<ir::op::Binary>())
      found |=
          is_float(kernel.type(kernel.op(id).result()).element) && (b->fn == BinaryFn::Pow || b->fn == BinaryFn::Rem);
  });
  return found;
}

test::ScalarKernel function(UnaryFn fn, Scalar type, bool fused) {
  test::ScalarKernel k({type});
  auto b = k.builder();
  b.yield({b.unary(fn, k.args[0])});
  Diagnostics diags;
  passes::legalise(k.kernel, machine(fused), diags);
  REQUIRE_FALSE(calls_remain(k.kernel));
  return k;
}

test::ScalarKernel function(BinaryFn fn, Scalar type) {
  test::ScalarKernel k({type, type});
  auto b = k.builder();
  b.yield({b.binary(fn, k.args[0], k.args[1])});
  Diagnostics diags;
  passes::legalise(k.kernel, machine(true), diags);
  REQUIRE_FALSE(calls_remain(k.kernel));
  return k;
}

long double exact(UnaryFn fn, long double x) {
  switch (fn) {
    case UnaryFn::Exp: return std::exp(x);
    case UnaryFn::Exp2: return std::exp2(x);
    case UnaryFn::Log: return std::log(x);
    case UnaryFn::Log2: return std::log2(x);
    case UnaryFn::Sin: return std::sin(x);
    case UnaryFn::Cos: return std::cos(x);
    case UnaryFn::Tanh: return std::tanh(x);
    case UnaryFn::Erf: return std::erf(x);
    case UnaryFn::Rsqrt: return 1 / std::sqrt(x);
    default: return NAN;
  }
}

// The error in units of the last place that the exact value has in `type`; a result that may be flushed counts for
// nothing.
double ulps(Scalar type, double got, long double want) {
  int mantissa = type == Scalar::F64 ? 52 : 23, least = type == Scalar::F64 ? -1022 : -126;
  if (std::fabs(want) < std::ldexp(1.0L, least)) return std::fabs(got) <= std::ldexp(1.0, least) ? 0 : INFINITY;
  double rounded = round_to(type, double(want));
  if (!std::isfinite(rounded) || !std::isfinite(got)) return got == rounded ? 0 : INFINITY;
  int exponent;
  std::frexp(want, &exponent);
  return double(std::fabs((long double)(got) - want) / std::ldexp(1.0L, exponent - 1 - mantissa));
}

struct Range {
  UnaryFn fn;
  double low, high;
  double f32_ulps, f64_ulps;  // bounds
  bool is_logarithmic = false;  // sampled evenly in the exponent
};
constexpr Range kRanges[] = {
    {UnaryFn::Exp2, -127, 129, 1.6, 1.6},      {UnaryFn::Exp2, -1e-3, 1e-3, 1.6, 1.6},
    {UnaryFn::Exp, -88, 89, 2, 2},             {UnaryFn::Exp, -1e-3, 1e-3, 2, 2},
    {UnaryFn::Log2, 0.5, 2, 2, 3},             {UnaryFn::Log2, 1e-38, 3e38, 2, 3, true},
    {UnaryFn::Log, 0.5, 2, 2, 2},              {UnaryFn::Log, 1e-38, 3e38, 2, 2, true},
    {UnaryFn::Log2, 0.99, 1.01, 2, 3},         {UnaryFn::Log, 0.99, 1.01, 2, 2},
    {UnaryFn::Rsqrt, 1e-38, 3e38, 1.5, 1.5, true},
    {UnaryFn::Sin, -4, 4, 2, 2},               {UnaryFn::Sin, 1, 2e5, 2, 4},
    {UnaryFn::Cos, -4, 4, 2, 2},               {UnaryFn::Cos, 1, 2e5, 2, 4},
    {UnaryFn::Sin, 1e-20, 1, 2, 2, true},
    {UnaryFn::Tanh, -10, 10, 4, 4},            {UnaryFn::Tanh, 1e-20, 1, 4, 4, true},
    {UnaryFn::Erf, -4, 4, 2.5, 2},               {UnaryFn::Erf, 1e-20, 1, 2.5, 2, true},
    {UnaryFn::Erf, 3, 6.5, 2.5, 2},
};

double worst_error(const Range& range, Scalar type, const test::ScalarKernel& k) {
  test::Evaluator run(k.kernel);
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(0, 1);
  double worst = 0;
  for (int i = 0; i < 8000; ++i) {
    double t = unit(random);
    double x = range.is_logarithmic ? range.low * std::pow(range.high / range.low, t)
                                    : range.low + (range.high - range.low) * t;
    x = round_to(type, x);
    worst = std::max(worst, ulps(type, run({Number::real(x)}).f, exact(range.fn, x)));
  }
  return worst;
}

double value(UnaryFn fn, double x, Scalar type = Scalar::F32) {
  auto k = function(fn, type, true);
  return test::Evaluator(k.kernel)({Number::real(x)}).f;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

}  // namespace

TEST_SUITE("passes_math") {
  TEST_CASE("errors stay within their bounds") {
    for (const Range& range : kRanges)
      for (bool fused : {true, false}) {
        double f32 = worst_error(range, Scalar::F32, function(range.fn, Scalar::F32, fused));
        double f64 = worst_error(range, Scalar::F64, function(range.fn, Scalar::F64, fused));
        INFO(ir::name(range.fn), " on [", range.low, ", ", range.high, "] fused ", fused, ": f32 ", f32, " f64 ", f64);
        CHECK(f32 <= range.f32_ulps);
        CHECK(f64 <= range.f64_ulps);
      }
  }

  TEST_CASE("edges: zeros, infinities and NaN of either sign and any payload") {
    double nan_with_payload = std::bit_cast<float>(0x7fffffffu);
    for (Scalar type : {Scalar::F32, Scalar::F64}) {
      for (UnaryFn fn : {UnaryFn::Exp2, UnaryFn::Exp, UnaryFn::Log2, UnaryFn::Log, UnaryFn::Sin, UnaryFn::Cos,
                         UnaryFn::Tanh, UnaryFn::Erf, UnaryFn::Rsqrt}) {
        INFO(ir::name(fn), " ", name(type));
        for (double x :
             {0.0, -0.0, double(INFINITY), -double(INFINITY), double(NAN), nan_with_payload, 1.0, -1000.0, 1000.0}) {
          if ((fn == UnaryFn::Sin || fn == UnaryFn::Cos || fn == UnaryFn::Tanh || fn == UnaryFn::Erf) &&
              std::fabs(x) == 1)
            continue;
          double want = round_to(type, double(exact(fn, x))), got = value(fn, x, type);
          if (std::isfinite(want) && want != 0 && want != std::nearbyint(want)) {
            CHECK(got == doctest::Approx(want).epsilon(1e-6));
          } else if (std::fabs(x) == 1 && fn == UnaryFn::Exp) {
            CHECK(got == doctest::Approx(want).epsilon(1e-6));
          } else {
            CHECK_MESSAGE(same(got, want), x, " gives ", got, ", not ", want);
          }
        }
      }
    }
  }

  TEST_CASE("exp2 of a whole number is exact") {
    auto k = function(UnaryFn::Exp2, Scalar::F32, true);
    test::Evaluator run(k.kernel);
    for (int n = -126; n <= 127; ++n) CHECK(run({Number::real(n)}).f == std::ldexp(1.0, n));
    CHECK(run({Number::real(-126.5)}).f == 0);
    CHECK(run({Number::real(128)}).f == INFINITY);
    CHECK(run({Number::real(std::nextafter(128.0f, 0.0f))}).f == doctest::Approx(3.40282e38));
  }

  TEST_CASE("the greatest argument of exp is finite, the next is not") {
    float last = 88.72283f;
    CHECK(value(UnaryFn::Exp, last) == doctest::Approx(std::exp(double(last))).epsilon(1e-6));
    CHECK(value(UnaryFn::Exp, std::nextafter(last, 100.0f)) == INFINITY);
    CHECK(value(UnaryFn::Exp, -200) == 0);
  }

  // The instruction may err by two units: four are promised.
  TEST_CASE("where exp2 is an instruction, exp is that of a product, made up for what it lost") {
    auto k = exp_of_exp2();
    int powers = 0, operations = 0;
    ir::each_op(k.kernel, k.kernel.body, [&](ir::OpId id) {
      const ir::op::Unary* u = k.kernel.op(id).get<ir::op::Unary>();
      powers += u && u->fn == UnaryFn::Exp2;
      CHECK_FALSE((u && u->fn == UnaryFn::Exp));
      operations += !k.kernel.op(id).is<ir::op::Constant>() && !k.kernel.op(id).is<ir::op::Yield>();
    });
    CHECK(powers == 1);
    CHECK(operations <= 11);  // two compares and selects are one minimum each, a sign is none
    for (Range range : {Range{UnaryFn::Exp, -87.3, 88.72, 2, 2}, Range{UnaryFn::Exp, -1e-3, 1e-3, 2, 2}, Range{UnaryFn::Exp, -10, 10, 2, 2}})
      CHECK(worst_error(range, Scalar::F32, k) <= 2);
    test::Evaluator run(k.kernel);
    auto at = [&](double x) { return run({Number::real(x)}).f; };
    CHECK(at(88.72283f) == doctest::Approx(std::exp(double(88.72283f))).epsilon(1e-6));
    CHECK(at(std::nextafter(88.72283f, 100.0f)) == INFINITY);
    for (double x : {89.0, 1e4, 1e30, 3.4e38, double(INFINITY)}) CHECK(at(x) == INFINITY);
    for (double x : {-110.0, -1e4, -1e30, -3.4e38, -double(INFINITY)}) CHECK(at(x) == 0);
    for (double x : {0.0, -0.0}) CHECK(at(x) == 1);
    CHECK(std::isnan(at(NAN)));
  }

  TEST_CASE("a logarithm of a subnormal number is that number's") {
    CHECK(value(UnaryFn::Log2, 0x1p-149) == -149);
    CHECK(value(UnaryFn::Log2, 0x1p-1074, Scalar::F64) == -1074);
  }

  TEST_CASE("the angle of a huge argument is not guessed") {
    CHECK(std::isnan(value(UnaryFn::Sin, 1e30)));
    CHECK(value(UnaryFn::Sin, 4e6) == doctest::Approx(std::sin(4e6)).epsilon(1e-6));
  }

  TEST_CASE("pow has the values of C's") {
    for (Scalar type : {Scalar::F32, Scalar::F64}) {
      auto k = function(BinaryFn::Pow, type);
      test::Evaluator run(k.kernel);
      double cases[] = {0.0,  -0.0, 1,    -1,       2,         -2,  3,   -3,   0.5,
                        -0.5, 2.5,  -2.5, INFINITY, -INFINITY, NAN, 1e9, -1e9, 1e-9};
      for (double x : cases)
        for (double y : cases) {
          double rx = round_to(type, x), ry = round_to(type, y);
          double want = round_to(type, std::pow(rx, ry)), got = run({Number::real(rx), Number::real(ry)}).f;
          bool close =
              same(got, want) ||
              (std::isfinite(want) && std::fabs(got - want) <= 1e-6 * std::fabs(want) && want != 0) ||
              (std::fabs(want) < 0x1p-126 && std::fabs(got) < 0x1p-126 && std::signbit(want) == std::signbit(got));
          CHECK_MESSAGE(close, name(type), " pow(", rx, ", ", ry, ") = ", got, ", not ", want);
        }
      std::mt19937_64 random(13);
      std::uniform_real_distribution<double> unit(-1, 1);
      double worst = 0;
      for (int i = 0; i < 8000; ++i) {
        double x = round_to(type, std::exp2(unit(random) * 20)), y = round_to(type, unit(random) * 5);
        long double want = std::pow((long double)x, (long double)y);
        worst = std::max(worst, ulps(type, run({Number::real(x), Number::real(y)}).f, want));
      }
      CHECK(worst <= (type == Scalar::F32 ? 1 : 400));
    }
  }

  TEST_CASE("a power below the least normal number is that number's") {
    auto k = function(BinaryFn::Pow, Scalar::F64);
    test::Evaluator run(k.kernel);
    auto power = [&](double x, double y) { return run({Number::real(x), Number::real(y)}).f; };
    CHECK(power(10, -310) == doctest::Approx(1e-310).epsilon(1e-10));
    CHECK(power(2, -1022) == 0x1p-1022);
    CHECK(power(2, -1074) == 0x1p-1074);
    CHECK(power(-2, -1073) == -0x1p-1073);
    CHECK(power(0.5, 1076) == 0);
    CHECK(power(2, -1e300) == 0);
    CHECK(power(2, 1024) == INFINITY);
    for (double y = 1020; y < 1080; y += 0.37) {
      double want = std::pow(2.0, -y), units = std::fabs(power(2, -y) - want) / 0x1p-1074;
      CHECK_MESSAGE((units <= 1 || std::fabs(power(2, -y) - want) <= 0x1p-40 * want), y);
    }
    auto small = function(BinaryFn::Pow, Scalar::F32);
    CHECK(test::Evaluator(small.kernel)({Number::real(10), Number::real(-40)}).f == float(1e-40));
  }

  TEST_CASE("a float remainder is what folding gives") {
    auto k = function(BinaryFn::Rem, Scalar::F32);
    test::Evaluator run(k.kernel);
    std::mt19937_64 random(17);
    std::uniform_real_distribution<double> unit(-100, 100);
    for (int i = 0; i < 2000; ++i) {
      Number x = Number::real(float(unit(random))), y = Number::real(float(unit(random)));
      CHECK(run({x, y}).f == ir::evaluate(BinaryFn::Rem, Scalar::F32, x, y)->f);
    }
  }

  TEST_CASE("without fused multiply-add none is left") {
    test::ScalarKernel k({Scalar::F32});
    auto b = k.builder();
    b.yield({b.fma(k.args[0], k.args[0], k.args[0])});
    Diagnostics diags;
    passes::legalise(k.kernel, machine(false), diags);
    int fused = 0;
    ir::each_op(k.kernel, k.kernel.body, [&](ir::OpId id) { fused += k.kernel.op(id).is<ir::op::Fma>(); });
    CHECK(fused == 0);
  }

  TEST_CASE("exp2 in a loop costs few operations") {
    auto k = function(UnaryFn::Exp2, Scalar::F32, true);
    int operations = 0;
    ir::each_op(k.kernel, k.kernel.body, [&](ir::OpId id) {
      operations += !k.kernel.op(id).is<ir::op::Constant>() && !k.kernel.op(id).is<ir::op::Yield>();
    });
    CHECK(operations <= 19);  // two compares and selects are one minimum each, two conversions of bits are none
  }
}
