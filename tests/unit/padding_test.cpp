// Padding that would enter a reduction, a scan or a product.
#include "passes/check_padding.h"
#include "passes/clip.h"

#include "ir/verify.h"
#include "passes/numbers.h"
#include "typed_kernel.h"

using namespace tilec;
using namespace tilec::ir;

namespace {

// What is reported, and how many masks were put in: "2 masked".
std::string padded(Kernel kernel) {
  Diagnostics diagnostics = all_shown();
  prove::Prover prover(kernel);
  passes::clip(kernel, prover, diagnostics);
  auto selects = [&] {
    int count = 0;
    each_op(kernel, kernel.body, [&](OpId id) { count += kernel.op(id).is<op::Select>(); });
    return count;
  };
  int before = selects();
  passes::check_padding(kernel, prover, diagnostics);
  CHECK(verify(kernel, Form::Typed).empty());
  std::string text = reports(diagnostics);
  return selects() > before ? text + std::to_string(selects() - before) + " masked" : text;
}

// A: f32[M, N], v: f32[K, N]; `body` stands in a launch over (i in ceildiv(M, 64)).
std::string tile_code(std::string_view body, std::string_view requires_line = "") {
  return padded(kernel_of(R"(kernel "k"
  dim "M", %M
  dim "N", %N
  dim "K", %K
  param "A", %A, extents=[%M, %N], type="f32[M, N]"
  param "V", %V, extents=[%N, %K], type="f32[N, K]"
  param "scale", %scale, type="f32"
)" + std::string(requires_line) + R"({ (%M: int, %N: int, %K: int, %A: buffer<global ?x? f32>, %V: buffer<global ?x? f32>, %scale: f32)
  %zero = constant 0 : int
  %size = constant 64 : int
  %less = constant 63 : int
  %nought = constant 0.0 : f32
  %minus = constant -inf : f32
  %is_128 = compare.eq %N, %size : bool
  %is_up = compare.gt %scale, %nought : bool
  %more = binary.add %M, %less : int
  %blocks = binary.div %more, %size : int
  launch [%blocks] { (%i: int)
    %row = binary.mul %i, %size : int
)" + std::string(body) + "\n yield\n }\n yield\n}"));
}

const std::string kLoad = "%t = load %A, [%row, %zero], axes=[0, 1] : tile<64x64 f32>\n";
const std::string kSum = "%r = reduce.sum %t, axis=1 : tile<64 f32>\n";
const std::string kMax = "%r = reduce.max %t, axis=1 : tile<64 f32>\n";

}  // namespace

TEST_CASE("zeros at the edge are right for a sum, and masked for a maximum") {
  CHECK(tile_code(kLoad + kSum) == "");
  CHECK(tile_code(kLoad + kMax) == "1 masked");
  CHECK(tile_code(kLoad + "%r = reduce.max %t, axis=0 : tile<64 f32>") == "1 masked");
  CHECK(tile_code("%t = load %A, [%row, %zero], axes=[0, 1], pad=-inf : tile<64x64 f32>\n" + kMax) == "");
  CHECK(tile_code("%t = load %A, [%row, %zero], axes=[0, 1], pad=nan : tile<64x64 f32>\n" + kMax) == "");
  CHECK(tile_code("%t = load %A, [%row, %zero], axes=[0, 1], pad=-inf : tile<64x64 f32>\n" + kSum) == "1 masked");
}

TEST_CASE("only NaN never wins an argmax") {
  auto argmax = [](const std::string& pad) {
    return tile_code("%t = load %A, [%row, %zero], axes=[0, 1], pad=" + pad + " : tile<64x64 f32>\n%r = reduce.argmax %t, axis=1 : tile<64 i32>");
  };
  CHECK(argmax("nan") == "");
  CHECK(argmax("-inf") == "1 masked");
  CHECK(argmax("0.0") == "1 masked");
}

TEST_CASE("a proof that the region lies inside needs no mask") {
  CHECK(tile_code(kLoad + kMax, "requires %is_128, \"N == 64\"\n") == "");
}

TEST_CASE("arithmetic on padding is followed, and memory may hold anything") {
  auto mapped = [](const std::string& body, const std::string& reduce, std::string_view contract = "") {
    return tile_code(kLoad + "%t2 = map [%t], input_axes=[[0, 1]], shape=[64, 64] : tile<64x64 f32> { (%a: int, %c: int, %x: f32)\n" +
                         body + "\n yield [%y]\n }\n %r = reduce." + reduce + " %t2, axis=1 : tile<64 f32>", contract);
  };
  CHECK(mapped("%y = unary.exp2 %x : f32", "sum") == "1 masked");
  CHECK(mapped("%y = binary.mul %x, %x : f32", "sum") == "");
  CHECK(mapped("%y = binary.mul %x, %scale : f32", "sum") == "1 masked");  // 0 * inf
  CHECK(mapped("%y = binary.add %x, %scale : f32", "sum") == "1 masked");
  const std::string mask = "%o = compare.ge %c, %N : bool\n";
  CHECK(mapped(mask + "%y = select %o, %minus, %x : f32", "max") == "");
  CHECK(mapped(mask + "%y = if %o : f32 { yield [%minus] } else_body { yield [%x] }", "max") == "");
  CHECK(mapped("%o = compare.ge %a, %N : bool\n %y = select %o, %minus, %x : f32", "max") == "1 masked");
  // What the program sets itself does what the program may hope for; what it does not hope for is told of.
  const std::string scaled = mask + "%z = select %o, %minus, %x : f32\n %w = binary.mul %z, %scale : f32\n %y = unary.exp2 %w : f32";
  CHECK(mapped(scaled, "sum", "requires %is_up, \"scale > 0\"\n") == "");
  CHECK(mapped(scaled, "sum") == "PadInReduction: the padding value nan of `t2` would enter this sum\n");
  CHECK(mapped(mask + "%y = select %o, %nought, %x : f32", "max") == "PadInReduction: the padding value 0 of `t2` would enter this max\n");
}

TEST_CASE("products want zeros where both sides are contracted") {
  auto product = [](const std::string& a, const std::string& b) {
    return tile_code("%a = load %A, [%row, %zero], axes=[0, 1]" + a + " : tile<64x64 f32>\n"
                     "%b = load %V, [%zero, %zero], axes=[0, 1]" + b + " : tile<64x64 f32>\n"
                     "%acc = splat %nought : tile<64x64 f32>\n%p = gemm %a, %b, %acc : tile<64x64 f32>");
  };
  CHECK(product("", "") == "");
  CHECK(product(", pad=1.0", "") == "");  // 1 * 0
  CHECK(product(", pad=1.0", ", pad=1.0") == "1 masked");
  CHECK(product("", ", pad=inf") == "1 masked");              // 0 * inf
  CHECK(product(", pad=nan", ", pad=inf") == "2 masked");     // either would spoil the other's zeros
}

TEST_CASE("of two sides that end at different places both are masked") {
  CHECK(tile_code("%a = load %A, [%row, %zero], axes=[0, 1] : tile<64x64 f32>\n"
                  "%b = load %A, [%zero, %zero], axes=[0, 1] : tile<64x64 f32>\n"
                  "%acc = splat %nought : tile<64x64 f32>\n%p = gemm %a, %b, %acc : tile<64x64 f32>") == "2 masked");
}

TEST_CASE("loops carry padding and shared tiles keep it") {
  CHECK(padded(sample_kernel("matrix_product")) == "");
  CHECK(padded(sample_kernel("attention")) == "");
  CHECK(tile_code(R"(%s = alloc name="s" : buffer<shared 64x64 f32>
    copy %A, [%row, %zero], %s, [%zero, %zero], src_axes=[0, 1], dst_axes=[0, 1], shape=[64, 64]
    %t = load %s, [%zero, %zero], axes=[0, 1] : tile<64x64 f32>
)" + kMax) == "1 masked");
}

TEST_CASE("what a scan leaves beyond the edge is padding as well") {
  const std::string scan = "%s = scan.max %t, axis=1 : tile<64x64 f32>\n%r = reduce.max %s, axis=1 : tile<64 f32>";
  CHECK(tile_code("%t = load %A, [%row, %zero], axes=[0, 1], pad=-inf : tile<64x64 f32>\n" + scan) == "1 masked");
  CHECK(tile_code(kLoad + "%s = scan.sum %t, axis=0 : tile<64x64 f32>\n%r = reduce.sum %s, axis=1 : tile<64 f32>") == "");
  CHECK(tile_code(kLoad + "%s = scan.max %t, axis=1, reverse=true : tile<64x64 f32>") == "1 masked");
}

TEST_CASE("a guard is not asked about padding") {
  const std::string quotient = "%whole = map [%t], input_axes=[[0, 1]], shape=[64, 64] : tile<64x64 i32> { (%a: int, %c: int, %x: f32)\n"
                               "%y = convert %x : i32\n %q = binary.div %y, %y, guarded=true : i32\n yield [%q]\n }";
  CHECK(tile_code(kLoad + quotient) == "2 masked");  // along both axes
}

TEST_CASE("sets of numbers") {
  using namespace passes;
  constexpr Belief kNone = Belief::None, kHope = Belief::Finite;
  Numbers low = exactly(Scalar::F32, Number::real(-HUGE_VAL)), any = data(Scalar::F32, kHope), all = data(Scalar::F32, kNone);
  CHECK(apply(UnaryFn::Exp2, Scalar::F32, low, kNone).is_within(kZero));
  CHECK(apply(BinaryFn::Sub, Scalar::F32, low, any, kHope).is_within(kNegativeInfinity));
  CHECK((apply(BinaryFn::Sub, Scalar::F32, low, all, kNone).kinds & kNan));
  CHECK(apply(BinaryFn::Max, Scalar::F32, low, any, kHope) == any);
  CHECK((apply(BinaryFn::Mul, Scalar::F32, low, any, kHope).kinds & kNan));
  // Products of finite numbers reach infinity and vanish.
  CHECK(apply(BinaryFn::Mul, Scalar::F32, of_kinds(kPositive), of_kinds(kPositive), kNone) == of_kinds(kZero | kPositive | kPositiveInfinity));
  CHECK(apply(CompareFn::Gt, Scalar::F32, low, all, kNone).is_within(kZero));
  CHECK(apply(CompareFn::Eq, Scalar::I32, of_kinds(kPositive), exactly(Scalar::I32, Number::integer(77)), kNone).kinds == (kZero | kPositive));
  CHECK(folded(ReduceFn::Max, Scalar::F32, of_kinds(kNan), kNone).kinds == (kNan | kNegativeInfinity));
  // Of zeros the sign is known only where each way to combine them keeps it.
  const Numbers zero = exactly(Scalar::F32, Number::real(0.0)), below = exactly(Scalar::F32, Number::real(-0.0));
  for (ReduceFn fn : {ReduceFn::Sum, ReduceFn::Prod, ReduceFn::AbsMax}) {
    CHECK(folded(fn, Scalar::F32, zero, kNone) == zero);
    CHECK(folded(fn, Scalar::F32, below, kNone) == of_kinds(kZero));
  }
  CHECK(folded(ReduceFn::Max, Scalar::F32, below, kNone) == below);
  CHECK(apply(BinaryFn::Min, Scalar::F32, zero, below, kNone) == of_kinds(kZero));
  CHECK(is_identity(ReduceFn::Sum, Scalar::I32, exactly(Scalar::I32, Number::integer(0))));
  CHECK(is_identity(ReduceFn::Min, Scalar::F32, of_kinds(kNan)));
  CHECK_FALSE(is_identity(ReduceFn::Max, Scalar::I32, exactly(Scalar::I32, Number::integer(0))));
}
