// `expand`: what is left of reductions to an index, and of sums of narrow floats.
#include <cmath>

#include "interp/interp.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/passes.h"
#include "typed_kernel.h"

using namespace tilec;

namespace {

// y = `operation` of the tile %t, which is x, 2 rows of 4.
ir::Kernel kernel_with(const std::string& element, const std::string& operation, const std::string& result, const std::string& shape) {
  std::string offsets = shape.find('x') == shape.npos ? "[%zero]" : "[%zero, %zero]";
  std::string axes = shape.find('x') == shape.npos ? "[0]" : "[0, 1]";
  return kernel_of("kernel \"k\"\n  param \"x\", %x, extents=[%two, %four], type=\"x\"\n"
                   "  param \"y\", %y, access=out, extents=[%two" + std::string(offsets == "[%zero]" ? "" : ", %four") +
                   "], type=\"y\"\n{ (%x: buffer<global 2x4 " + element + ">, %y: buffer<global " + shape + " " + result + ">)\n"
                   "  %zero = constant 0 : int\n  %one = constant 1 : int\n  %two = constant 2 : int\n  %four = constant 4 : int\n"
                   "  launch [%one] { (%i: int)\n"
                   "    %t = load %x, [%zero, %zero], axes=[0, 1] : tile<2x4 " + element + ">\n"
                   "    %r = " + operation + " : tile<" + shape + " " + result + ">\n"
                   "    store %r, %y, " + offsets + ", axes=" + axes + "\n"
                   "    yield []\n  }\n  yield []\n}\n");
}

ir::Kernel expanded(ir::Kernel kernel) {
  Diagnostics diagnostics = all_shown();
  passes::expand(kernel, Machine{}, diagnostics);
  for (const ir::Violation& v : ir::verify(kernel, ir::Form::Typed)) FAIL(ir::internal_error(v, "expand"));
  return kernel;
}

std::vector<double> values_of(const ir::Kernel& kernel, Scalar element, std::vector<double> x, interp::Tensor y) {
  interp::Tensor in(element, {2, 4});
  in.fill([&](int64_t k) { return x[size_t(k)]; });
  std::vector<interp::Argument> arguments{&in, &y};
  interp::RunResult result = interp::run(kernel, arguments);
  REQUIRE_MESSAGE(result.ok(), result.fault->text);
  std::vector<double> out;
  for (int64_t k = 0; k < y.size(); ++k) out.push_back(y.real(k));
  return out;
}

}  // namespace

TEST_SUITE("expand") {
  TEST_CASE("an index is a greatest element, where it stands, and the least of these places") {
    const double nan = std::nan(""), inf = INFINITY;
    for (std::string fn : {"argmax", "argmin"}) {
      ir::Kernel kernel = kernel_with("f32", "reduce." + fn + " %t, axis=1", "i32", "2");
      ir::Kernel now = expanded(kernel);
      CHECK(ir::print(now).find(fn) == std::string::npos);
      for (std::vector<double> x : {std::vector<double>{1, 3, 3, 2, -1, -4, -4, 0}, {nan, nan, nan, nan, nan, -inf, inf, nan},
                                    {0.0, -0.0, 0.0, -0.0, inf, -inf, -inf, inf}})
        CHECK(values_of(now, Scalar::F32, x, {Scalar::I32, {2}}) == values_of(kernel, Scalar::F32, x, {Scalar::I32, {2}}));
    }
  }
  TEST_CASE("sums of narrow floats run in f32 and are rounded once") {
    ir::Kernel sum = expanded(kernel_with("f16", "reduce.sum %t, axis=1", "f16", "2"));
    CHECK(ir::print(sum).find("tile<2 f32>") != std::string::npos);
    std::vector<double> small{2048, 1, 1, 1, 2048, 1, 0, 0};
    CHECK(values_of(sum, Scalar::F16, small, {Scalar::F16, {2}}) == std::vector<double>{2052, 2048});
    ir::Kernel scan = expanded(kernel_with("bf16", "scan.sum %t, axis=1", "bf16", "2x4"));
    CHECK(ir::print(scan).find("scan.sum %") != std::string::npos);
    CHECK(ir::print(scan).find("tile<2x4 f32>") != std::string::npos);
  }
  TEST_CASE("what lowering knows stays") {
    for (std::string operation : {"reduce.sum %t, axis=1", "reduce.max %t, axis=1"}) {
      ir::Kernel kernel = kernel_with("f32", operation, "f32", "2");
      CHECK(ir::print(expanded(kernel)) == ir::print(kernel));
    }
  }
}
