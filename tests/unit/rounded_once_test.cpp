// Conversions and fma round once: in the evaluator, as integer code, and in what a GPU is told.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>

#include "base/rounded_to_odd.h"
#include "command.h"
#include "passes/passes.h"
#include "thread_eval.h"

using namespace tilec;
using command::Folder;
using command::Ran;
using ir::Number;

namespace {

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

test::ScalarKernel fma_without_instruction(Scalar type) {
  test::ScalarKernel k({type, type, type});
  auto b = k.builder();
  b.yield({b.fma(k.args[0], k.args[1], k.args[2])});
  Diagnostics diags;
  passes::legalise(k.kernel, Machine{}, diags);
  return k;
}

// Random numbers of a type whose products and sums meet at ties, cancel, and leave the range at either end.
class Triples {
 public:
  explicit Triples(Scalar type) : type_(type), format_(float_format(type)) {}
  std::array<double, 3> next() {
    const int top = (1 << format_.exponent_bits) - 1, kind = int(random_() % 5);
    if (kind == 0) return {any(), any(), any()};
    int a = int(random_() % unsigned(top)), b = int(random_() % unsigned(top));
    if (kind == 1) b = format_.bias - a + int(random_() % 8) - format_.mantissa_bits - 4;
    if (kind == 2) b = top - 1 + format_.bias - a + int(random_() % 6) - 3;
    const int spread = kind == 3 ? 3 : 2 * format_.mantissa_bits + 4;
    int c = a + b - format_.bias + int(random_() % unsigned(2 * spread)) - spread;
    return {number(a), number(b), number(c)};
  }

 private:
  double any() { return decode(type_, random_() << format_.spare_bits & (~0ull >> (64 - bit_width(type_)))); }
  double number(int field) {
    const uint64_t ones = (1ull << format_.mantissa_bits) - 1;
    const uint64_t few[] = {0, ones & random_(), 1ull << random_() % unsigned(format_.mantissa_bits), ones & ~0ull << random_() % unsigned(format_.mantissa_bits)};
    const uint64_t top = (1ull << format_.exponent_bits) - 1, exponent = uint64_t(std::clamp<int64_t>(field, 0, int64_t(top)));
    const uint64_t pattern = ((random_() & 1) << format_.exponent_bits | exponent) << format_.mantissa_bits | few[random_() % 4];
    return decode(type_, pattern << format_.spare_bits);
  }
  Scalar type_;
  FloatFormat format_;
  std::mt19937_64 random_{7};
};

}  // namespace

TEST_CASE("an integer beside a tie goes to its own side") {
  auto converted = [](Scalar from, Scalar to, int64_t x) { return ir::evaluate_convert(from, to, ir::ConvertMode::Nearest, Number::integer(x)).f; };
  const int64_t tie = (int64_t(1) << 60) + (int64_t(1) << 36);
  CHECK(converted(Scalar::I64, Scalar::F32, tie) == 0x1p60);
  CHECK(converted(Scalar::I64, Scalar::F32, tie + 1) == 0x1p60 + 0x1p37);
  CHECK(converted(Scalar::I64, Scalar::F32, -tie - 1) == -0x1p60 - 0x1p37);
  CHECK(converted(Scalar::U64, Scalar::F32, int64_t((uint64_t(1) << 63) + (uint64_t(1) << 39) + 1)) == 0x1p63 + 0x1p40);
  CHECK(converted(Scalar::I64, Scalar::BF16, (int64_t(1) << 60) + (int64_t(1) << 52) + 1) == 0x1p60 + 0x1p53);
  std::mt19937_64 random(5);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t x = (random() | 1ull << 63) >> random() % 64 & ~0ull << random() % 64;
    if (converted(Scalar::I64, Scalar::F32, int64_t(x)) != float(int64_t(x)) || converted(Scalar::U64, Scalar::F32, int64_t(x)) != float(x)) FAIL(x);
    if (converted(Scalar::U64, Scalar::F64, int64_t(x)) != double(x)) FAIL(x);
  }
}

TEST_CASE("of f32 and narrower, the evaluator's fma is rounded once") {
  auto fma = [](Scalar type, double a, double b, double c) { return ir::evaluate_fma(type, Number::real(a), Number::real(b), Number::real(c)).f; };
  CHECK(fma(Scalar::BF16, 1 + 0x1p-4, 1 + 0x1p-4, 0x1p-100) == 1 + 0x1p-3 + 0x1p-7);  // a tie and a little
  CHECK(fma(Scalar::BF16, 1 + 0x1p-4, 1 + 0x1p-4, -0x1p-100) == 1 + 0x1p-3);
  CHECK(fma(Scalar::BF16, 1.5, 1 + 0x1p-7, 0x1p-100) == 1.5 + 0x1p-6);
  CHECK(fma(Scalar::BF16, 1.5, 1 + 0x1p-7, -0x1p-100) == 1.5 + 0x1p-7);
  std::mt19937 random(5);
  Triples triples(Scalar::F32);
  for (int i = 0; i < 100000; ++i) {
    auto [a, b, c] = triples.next();
    if (!same(fma(Scalar::F32, a, b, c), std::fma(float(a), float(b), float(c)))) FAIL(a, " ", b, " ", c);
  }
}

TEST_CASE("where there is no instruction for it, fma is exact arithmetic, for every type") {
  for (Scalar type : {Scalar::F64, Scalar::F32, Scalar::F16, Scalar::BF16, Scalar::TF32, Scalar::F8E4M3, Scalar::F8E5M2}) {
    auto k = fma_without_instruction(type);
    test::Evaluator run(k.kernel);
    Triples triples(type);
    int wrong = 0;
    for (int i = 0; i < (type == Scalar::F64 ? 200000 : 50000); ++i) {
      auto [a, b, c] = triples.next();
      double got = run({Number::real(a), Number::real(b), Number::real(c)}).f;
      double want = ir::evaluate_fma(type, Number::real(a), Number::real(b), Number::real(c)).f;
      wrong += !same(got, want);
      if (wrong == 1 && !same(got, want)) MESSAGE(name(type), " ", a, " ", b, " ", c, ": ", got, ", not ", want);
    }
    CHECK_MESSAGE(wrong == 0, name(type));
  }
}

TEST_CASE("integers become narrow floats, as integer code, as they mean") {
  for (Scalar from : {Scalar::I64, Scalar::U64, Scalar::Index})
    for (Scalar to : {Scalar::F16, Scalar::BF16, Scalar::TF32, Scalar::F8E4M3, Scalar::F8E5M2}) {
      test::ScalarKernel k({from});
      auto b = k.builder();
      b.yield({b.convert(k.args[0], to)});
      Diagnostics diags;
      passes::legalise(k.kernel, Machine{}, diags);
      test::Evaluator run(k.kernel);
      std::mt19937_64 random(3);
      for (int i = 0; i < 20000; ++i) {
        const int digits = float_format(to).mantissa_bits + 2, place = int(random() % unsigned(64 - digits));
        const uint64_t tie = (random() >> (64 - digits) | 1) << place, x = tie + (random() % 3) - 1;
        const Number number = Number::integer(is_signed(from) && i % 2 ? -int64_t(x) : int64_t(x));
        if (!same(run({number}).f, ir::evaluate_convert(from, to, ir::ConvertMode::Nearest, number).f)) FAIL(name(to), " ", number.i);
      }
    }
}

TEST_CASE("a GPU is told to convert in one step, and to fuse f16 and bf16") {
  Folder folder;
  folder.write("k.tile", R"(export kernel k(a: i64[N], b: u64[N], x: f16[N], y: bf16[N], z: f32[N], out c: f32[N], out d: f32[N], out e: f16[N], out f: bf16[N], out g: f32[N]) {
    launch (i in ceildiv(N, 128)) {
        c.tile(i) = a.tile[128](i) as f32;
        d.tile(i) = b.tile[128](i) as f32;
        let u = x.tile[128](i);
        let v = y.tile[128](i);
        let w = z.tile[128](i);
        e.tile(i) = fma(u, u, u);
        f.tile(i) = fma(v, v, v);
        g.tile(i) = fma(w, w, w);
    }
}
)");
  for (const char* machine : {"sm_80", "sm_90a"}) {
    CAPTURE(machine);
    Ran ran = folder.tilec("k.tile --emit=ptx -o - --target=" + std::string(machine));
    for (const char* words : {"cvt.rn.f32.s64", "cvt.rn.f32.u64", "fma.rn.f16 ", "fma.rn.bf16 ", "fma.rn.f32"}) CHECK_MESSAGE(ran.says(words), words);
    CHECK_FALSE(ran.says("f64"));
  }
}

// Exact fma is many operations there: only who asks for it by name gets it.
TEST_CASE("a matrix product is products and sums where nothing fuses them") {
  Folder folder;
  folder.write("g.tile", R"(export kernel g(a: f32[M, K], b: f32[K, N], out c: f32[M, N]) {
    launch (i in ceildiv(N, 64), j in ceildiv(M, 64)) {
        var sum: fragment f32[64, 64] = 0;
        for k in pipelined(ceildiv(K, 32)) { sum += a.tile[64, 32](j, k) @ b.tile[32, 64](k, i); }
        c.tile(j, i) = sum;
    }
}
)");
  Ran ran = folder.tilec("g.tile --emit=asm -o - --target=x86-64");
  CHECK(ran.times("mulps") >= 8);
  CHECK_FALSE(ran.says("cvtps2pd"));
  CHECK_FALSE(folder.tilec("g.tile --emit=c -o - --target=c").says("fmaf("));
}

TEST_CASE("C text converts narrow floats by functions") {
  Folder folder;
  auto lines = [&](const std::string& type) {
    folder.write("k.tile", "export kernel k(x: f16[N], out y: " + type + "[N]) {\n    launch (i in ceildiv(N, 256)) { y.tile(i) = x.tile[256](i) as " + type + "; }\n}\n");
    return folder.tilec("k.tile --emit=c -o - --target=c").times("\n");
  };
  const int bare = lines("f16"), bytes = lines("f8e4m3");
  CHECK(bare > 0);
  CHECK(bytes < bare + 200);
  folder.write("n.tile", "export kernel n(x: f8e4m3[N], out y: f8e4m3[N], out z: f8e4m3[N]) {\n    launch (i in ceildiv(N, 64)) { y.tile(i) = -x.tile[64](i); z.tile(i) = abs(x.tile[64](i)); }\n}\n");
  CHECK(folder.tilec("n.tile --target=c -o n.c --header n.h").code == 0);
  CHECK(folder.run("cc -std=c11 -Wall -Wextra -Werror -c n.c -o n.o").code == 0);
}
