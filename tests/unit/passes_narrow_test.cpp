// Narrow floats as integer code, against the meaning in ir/scalar_eval: every pattern, every tie and its neighbours.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>

#include "passes/passes.h"
#include "thread_eval.h"

using namespace tilec;
using ir::Number;

namespace {

constexpr Scalar kNarrow[] = {Scalar::F16, Scalar::BF16, Scalar::F8E4M3, Scalar::F8E5M2, Scalar::TF32};

// How many patterns a type has, and the k-th of them.
uint64_t patterns(Scalar type) { return 1ull << (bit_width(type) - float_format(type).spare_bits); }
uint64_t pattern(Scalar type, uint64_t k) { return k << float_format(type).spare_bits; }

Machine machine_with(std::initializer_list<Cap> caps) {
  Machine m{};
  m.caps = cap_set(caps);
  return m;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

double cut(Scalar to, double x) {
  return ir::evaluate_convert(Scalar::F64, to, ir::ConvertMode::TowardZero, Number::real(x)).f;
}

test::ScalarKernel conversion(Scalar from, Scalar to, ir::ConvertMode mode = ir::ConvertMode::Nearest) {
  test::ScalarKernel k({from});
  auto b = k.builder();
  b.yield({b.convert(k.args[0], to, mode)});
  Diagnostics diags;
  passes::legalise(k.kernel, machine_with({}), diags);
  return k;
}

// Values around every step of `to`: each number, each tie, and what lies just beside them in `from`.
std::vector<double> critical_values(Scalar to, Scalar from) {
  std::vector<double> out = {0.0,   -0.0, INFINITY, -INFINITY, NAN,   1e-46, 3e38,  -3e38, 448,   464,
                             464.1, 480,  65504,    65519,     65520, 65536, 57344, 61440, 61441, 1e5};
  uint64_t count = patterns(to) / 2, step = count > 1 << 16 ? 23 : 1;
  for (uint64_t k = 0; k + 1 < count; k += step) {
    double low = decode(to, pattern(to, k)), high = decode(to, pattern(to, k + 1));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    for (double v : {low, (low + high) / 2}) {
      double below = from == Scalar::F64 ? std::nextafter(v, -INFINITY) : std::nextafter(float(v), -INFINITY);
      double above = from == Scalar::F64 ? std::nextafter(v, INFINITY) : std::nextafter(float(v), INFINITY);
      for (double x : {v, below, above}) {
        out.push_back(x);
        out.push_back(-x);
      }
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) out.push_back(round_to(from, std::bit_cast<double>(random())));
  for (int i = 0; i < 20000; ++i) out.push_back(std::bit_cast<float>(uint32_t(random())));
  return out;
}

bool has_narrow_arithmetic(const ir::Kernel& kernel) {
  bool found = false;
  auto is_narrow = [&](ir::ValueId v) {
    return is_narrow_float(kernel.type(v).element);
  };
  ir::each_op(kernel, kernel.body, [&](ir::OpId id) {
    const ir::Op& op = kernel.op(id);
    if (op.is<ir::op::Yield>() || op.is<ir::op::Constant>() || op.is<ir::op::Select>()) return;
    if (const auto* c = op.get<ir::op::Convert>(); c && c->mode == ir::ConvertMode::Bits) return;
    for (ir::ValueId r : op.results) found |= is_narrow(r);
    ir::each_operand(op.data, [&](ir::ValueId v) { found |= is_narrow(v); });
  });
  return found;
}

}  // namespace

TEST_SUITE("passes_narrow") {
  TEST_CASE("every pattern of a narrow float widens exactly, flushed subnormals or not") {
    for (Scalar from : kNarrow)
      for (Scalar to : {Scalar::F32, Scalar::F64}) {
        auto k = conversion(from, to);
        REQUIRE_FALSE(has_narrow_arithmetic(k.kernel));
        for (bool flushes : {false, true}) {
          if (flushes && to == Scalar::F64) continue;  // f64 reads bf16's subnormals through f32
          test::Evaluator run(k.kernel, flushes);
          int wrong = 0;
          for (uint64_t k = 0; k < patterns(from); ++k) {
            double value = decode(from, pattern(from, k));
            wrong += !same(run({Number::real(value)}).f, value);
          }
          CHECK_MESSAGE(wrong == 0, name(from), " to ", name(to));
        }
      }
  }

  TEST_CASE("rounding toward zero takes the next number inside") {
    CHECK(cut(Scalar::F16, 2051) == 2050);
    CHECK(cut(Scalar::F16, -2051.5) == -2050);
    CHECK(cut(Scalar::F16, 65536) == 65504);
    CHECK(cut(Scalar::F16, 1e300) == 65504);
    CHECK(cut(Scalar::F32, -1e300) == -std::numeric_limits<float>::max());
    CHECK(cut(Scalar::BF16, std::nextafter(256, 0)) == 255);
    CHECK(cut(Scalar::F16, std::ldexp(1.9, -24)) == std::ldexp(1.0, -24));
    CHECK(std::signbit(cut(Scalar::F16, -1e-30)));
    CHECK(std::isinf(cut(Scalar::F16, INFINITY)));
    CHECK(std::isnan(cut(Scalar::F32, NAN)));
    CHECK(cut(Scalar::F8E4M3, 19.99) == 18);
    CHECK(cut(Scalar::F64, 0.1) == 0.1);
  }

  TEST_CASE("floats and integers are cut toward zero") {
    for (Scalar to : {Scalar::F16, Scalar::BF16, Scalar::TF32, Scalar::F8E4M3, Scalar::F8E5M2, Scalar::F32, Scalar::F64})
      for (Scalar from : {Scalar::F16, Scalar::BF16, Scalar::TF32, Scalar::F32, Scalar::F64}) {
        if (to == from) continue;
        auto k = conversion(from, to, ir::ConvertMode::TowardZero);
        REQUIRE_FALSE(has_narrow_arithmetic(k.kernel));
        test::Evaluator run(k.kernel);
        int wrong = 0;
        for (double x : critical_values(is_narrow_float(to) ? to : Scalar::F16, from == Scalar::F64 ? from : Scalar::F32)) {
          x = round_to(from, x);
          wrong += !same(run({Number::real(x)}).f, cut(to, x));
        }
        CHECK_MESSAGE(wrong == 0, name(from), " to ", name(to));
      }
    std::mt19937_64 random(3);
    for (Scalar from : {Scalar::I8, Scalar::U16, Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64, Scalar::Index})
      for (Scalar to : {Scalar::F8E4M3, Scalar::F16, Scalar::BF16, Scalar::TF32, Scalar::F32, Scalar::F64}) {
        auto k = conversion(from, to, ir::ConvertMode::TowardZero);
        test::Evaluator run(k.kernel);
        std::vector<int64_t> numbers{0, 1, -1, INT64_MIN, INT64_MAX, INT64_MAX - 1, 1 << 24, (1 << 24) + 1, (int64_t(1) << 53) + 1, -(int64_t(1) << 53) - 1};
        for (int i = 0; i < 5000; ++i) numbers.push_back(int64_t(random()) >> (random() % 64));
        int wrong = 0;
        for (int64_t number : numbers) {
          Number x = Number::integer(wrap(from, number));
          double got = run({x}).f;
          bool is_unsigned = from == Scalar::U64;
          long double exact = is_unsigned ? (long double)uint64_t(x.i) : (long double)x.i;
          // The greatest magnitude that is no greater: the next one beyond is too great, or is no finite number.
          double beyond = decode(to, encode(to, std::fabs(got)) + pattern(to, 1));
          wrong += std::fabs(got) > std::fabs(exact) || (got != 0 && std::signbit(got) != (exact < 0));
          wrong += std::isfinite(beyond) && beyond <= std::fabs(exact);
          wrong += !same(got, ir::evaluate_convert(from, to, ir::ConvertMode::TowardZero, x).f);
        }
        CHECK_MESSAGE(wrong == 0, name(from), " to ", name(to));
      }
  }

  TEST_CASE("floats round to narrow ones once, to nearest even") {
    for (Scalar to : kNarrow)
      for (Scalar from : {Scalar::F32, Scalar::F64}) {
        auto k = conversion(from, to);
        REQUIRE_FALSE(has_narrow_arithmetic(k.kernel));
        for (bool flushes : {false, true}) {
          if (flushes && from == Scalar::F64) continue;
          test::Evaluator run(k.kernel, flushes);
          int wrong = 0;
          for (double x : critical_values(to, from)) {
            double expected = round_to(to, x), got = run({Number::real(x)}).f;
            wrong += !same(got, expected);
          }
          CHECK_MESSAGE(wrong == 0, name(from), " to ", name(to));
        }
      }
  }

  TEST_CASE("narrow floats convert to each other and to integers as they mean") {
    for (Scalar from : kNarrow)
      for (Scalar to : {Scalar::F16, Scalar::BF16, Scalar::TF32, Scalar::F8E4M3, Scalar::F8E5M2, Scalar::I8, Scalar::U8, Scalar::I32,
                        Scalar::Bool}) {
        if (from == to) continue;
        auto k = conversion(from, to);
        test::Evaluator run(k.kernel);
        int wrong = 0;
        for (uint64_t k = 0; k < patterns(from); ++k) {
          Number x = Number::real(decode(from, pattern(from, k))),
                 want = ir::evaluate_convert(from, to, ir::ConvertMode::Nearest, x);
          Number got = run({x});
          wrong += is_float(to) ? !same(got.f, want.f) : got.i != want.i;
        }
        CHECK_MESSAGE(wrong == 0, name(from), " to ", name(to));
      }
  }

  TEST_CASE("integers round to narrow floats once") {
    for (Scalar from : {Scalar::I8, Scalar::U16, Scalar::I32, Scalar::U32, Scalar::I64, Scalar::Index})
      for (Scalar to : kNarrow) {
        auto k = conversion(from, to);
        test::Evaluator run(k.kernel);
        std::mt19937_64 random(3);
        int wrong = 0;
        for (int i = 0; i < 20000; ++i) {
          Number x = Number::integer(wrap(from, int64_t(random() >> (random() % 64))));
          wrong += !same(run({x}).f, ir::evaluate_convert(from, to, ir::ConvertMode::Nearest, x).f);
        }
        CHECK_MESSAGE(wrong == 0, name(from), " to ", name(to));
      }
  }

  TEST_CASE("arithmetic of f16, bf16 and tf32 rounds at every operation") {
    for (Scalar type : {Scalar::F16, Scalar::BF16, Scalar::TF32})
      for (ir::BinaryFn fn : {ir::BinaryFn::Add, ir::BinaryFn::Sub, ir::BinaryFn::Mul, ir::BinaryFn::Div,
                              ir::BinaryFn::Min, ir::BinaryFn::Max, ir::BinaryFn::Minimum, ir::BinaryFn::Maximum}) {
        test::ScalarKernel k({type, type});
        auto b = k.builder();
        auto y = b.binary(fn, k.args[0], k.args[1]);
        b.yield({b.unary(ir::UnaryFn::Neg, b.binary(fn, y, k.args[1]))});
        test::ScalarKernel before = k;
        Diagnostics diags;
        passes::legalise(k.kernel, machine_with({}), diags);
        REQUIRE_FALSE(has_narrow_arithmetic(k.kernel));
        test::Evaluator want(before.kernel), got(k.kernel);
        std::mt19937 random(5);
        int wrong = 0;
        for (int i = 0; i < 20000; ++i) {
          Number x = Number::real(decode(type, pattern(type, random() % patterns(type)))), y = Number::real(decode(type, pattern(type, random() % patterns(type))));
          double a = got({x, y}).f, e = want({x, y}).f;
          wrong += !same(a, e) && !(a == 0 && e == 0);  // min and max of two zeros may give either
        }
        CHECK_MESSAGE(wrong == 0, name(type), " ", ir::name(fn));
      }
  }

  TEST_CASE("a machine that converts f16 keeps the conversion, and f64 still rounds once") {
    test::ScalarKernel k({Scalar::F64});
    auto b = k.builder();
    b.yield({b.convert(k.args[0], Scalar::F16)});
    Diagnostics diags;
    passes::legalise(k.kernel, machine_with({Cap::HalfConvert}), diags);
    int kept = 0;
    ir::each_op(k.kernel, k.kernel.body, [&](ir::OpId id) {
      const auto* c = k.kernel.op(id).get<ir::op::Convert>();
      kept +=
          c && c->mode == ir::ConvertMode::Nearest && k.kernel.type(k.kernel.op(id).result()).element == Scalar::F16;
    });
    CHECK(kept == 1);
    test::Evaluator run(k.kernel);
    double tie_and_more = 1 + 0x1p-11 + 0x1p-40;
    CHECK(run({Number::real(tie_and_more)}).f == 1 + 0x1p-10);
  }

  TEST_CASE("a machine that rounds to bf16 keeps that, and widens by a shift") {
    test::ScalarKernel k({Scalar::F32});
    auto b = k.builder();
    b.yield({b.convert(b.convert(k.args[0], Scalar::BF16), Scalar::F32)});
    Diagnostics diags;
    passes::legalise(k.kernel, machine_with({Cap::BrainRound}), diags);
    int rounded = 0, shifts = 0;
    ir::each_op(k.kernel, k.kernel.body, [&](ir::OpId id) {
      const ir::Op& op = k.kernel.op(id);
      const auto* c = op.get<ir::op::Convert>();
      rounded += c && c->mode == ir::ConvertMode::Nearest && k.kernel.type(op.result()).element == Scalar::BF16;
      shifts += op.is<ir::op::Binary>();
    });
    CHECK(rounded == 1);
    CHECK(shifts == 1);
    test::Evaluator run(k.kernel);
    CHECK(run({Number::real(1 + 0x1p-8)}).f == 1);             // a tie, to the even one
    CHECK(run({Number::real(1 + 0x1p-8 + 0x1p-20)}).f == 1 + 0x1p-7);
  }

  TEST_CASE("where only the mantissa grows, a conversion is one shift") {
    const std::pair<Scalar, Scalar> kPairs[] = {{Scalar::BF16, Scalar::F32}, {Scalar::F8E5M2, Scalar::F16}, {Scalar::BF16, Scalar::TF32}};
    for (auto [from, to] : kPairs) {
      auto k = conversion(from, to);
      int operations = 0;
      ir::each_op(k.kernel, k.kernel.body, [&](ir::OpId id) { operations += k.kernel.op(id).is<ir::op::Binary>(); });
      CHECK_MESSAGE(operations == 1, name(from), " to ", name(to));
    }
  }

  TEST_CASE("a tf32 out of memory is cut to its bits") {
    test::ScalarKernel k({Scalar::U32});
    auto b = k.builder();
    b.yield({b.convert(b.convert(b.convert(k.args[0], Scalar::TF32, ir::ConvertMode::Bits), Scalar::F32), Scalar::U32, ir::ConvertMode::Bits)});
    Diagnostics diags;
    passes::legalise(k.kernel, machine_with({}), diags);
    bool is_cut = false;
    ir::each_op(k.kernel, k.kernel.body, [&](ir::OpId id) {
      const auto* binary = k.kernel.op(id).get<ir::op::Binary>();
      auto mask = binary ? k.kernel.constant(binary->b) : std::nullopt;
      is_cut |= mask && binary->fn == ir::BinaryFn::And && uint32_t(mask->i) == 0xffffe000u;
    });
    CHECK(is_cut);
    test::Evaluator run(k.kernel);
    CHECK(run({Number::integer(0x3f801fff)}).i == 0x3f800000);
  }
}
