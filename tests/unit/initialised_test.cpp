// Reads of shared tiles that have not been written, and integers without a value.
#include "passes/check_initialised.h"
#include "passes/check_numbers.h"

#include "typed_kernel.h"

using namespace tilec;
using namespace tilec::ir;

namespace {

template <class Pass> std::string checked(Pass pass, std::string_view body) {
  Kernel kernel = kernel_of(R"(kernel "k"
  dim "N", %N
  param "x", %x, extents=[%N], type="f32[N]"
  param "n", %n, type="int"
{ (%N: int, %x: buffer<global ? f32>, %n: int)
  %zero = constant 0 : int
  %one = constant 1 : int
  %two = constant 2 : int
  %four = constant 4 : int
  %sixteen = constant 16 : int
  %half = constant 32 : int
  launch [%N] { (%i: int)
    %s = alloc name="s" : buffer<shared 64 f32>
    %part = load %x, [%zero], axes=[0] : tile<32 f32>
    %small = load %x, [%zero], axes=[0] : tile<16 f32>
    %is_first = compare.eq %i, %zero : bool
    %nought = constant 0.0 : f32
)" + std::string(body) + "\n yield\n }\n yield\n}");
  Diagnostics diagnostics = all_shown();
  prove::Prover prover(kernel);
  pass(kernel, prover, diagnostics);
  return reports(diagnostics);
}

std::string shared(std::string_view body) { return checked(passes::check_initialised, body); }
std::string numbers(std::string_view body) { return checked(passes::check_numbers, body); }

const std::string kRead = "%t = load %s, [%zero], axes=[0] : tile<64 f32>\n";
const std::string kLow = "store %part, %s, [%zero], axes=[0]\n", kHigh = "store %part, %s, [%half], axes=[0]\n";
const std::string kError = "Uninitialised: `s` is read here but not every element has been written\n";

}  // namespace

TEST_CASE("the samples read only what is written") {
  for (auto name : {"matrix_product", "attention", "vector_add"}) {
    Kernel kernel = sample_kernel(name);
    Diagnostics diagnostics = all_shown();
    prove::Prover prover(kernel);
    passes::check_initialised(kernel, prover, diagnostics);
    passes::check_numbers(kernel, prover, diagnostics);
    CHECK_MESSAGE(reports(diagnostics) == "", name);
  }
}

TEST_CASE("the parts written must cover what is read") {
  CHECK(shared(kRead) == kError);
  CHECK(shared(kLow + kRead) == kError);
  CHECK(shared(kLow + kHigh + kRead) == "");
  CHECK(shared(kLow + "%t = load %s, [%zero], axes=[0] : tile<32 f32>") == "");
  CHECK(shared(kLow + kHigh + "%v = subview %s, [%half], axes=[0] : buffer<shared 32 f32>\n"
                              "%t = load %v, [%zero], axes=[0] : tile<32 f32>") == "");
}

TEST_CASE("loops count when they surely run and leave no gaps") {
  auto loop = [](const std::string& high, const std::string& stride) {
    return shared("for %zero, " + high + ", %one { (%j: int)\n %at = binary.mul %j, " + stride +
                  " : int\n store %small, %s, [%at], axes=[0]\n yield\n }\n" + kRead);
  };
  CHECK(loop("%four", "%sixteen") == "");
  CHECK(loop("%four", "%half") == kError);
  CHECK(loop("%n", "%sixteen") == kError);
  CHECK(shared("for %zero, %n, %one { (%j: int)\n" + kLow + kHigh + "yield\n }\n" + kRead) == kError);
  CHECK(shared("for %zero, %n, %one { (%j: int)\n" + kLow + kHigh + kRead + "yield\n }\n") == "");
}

TEST_CASE("conditions count when both sides write, maps when every element is theirs, simt never") {
  CHECK(shared("if %is_first {\n" + kLow + kHigh + "yield\n } else_body { yield }\n" + kRead) == kError);
  CHECK(shared("if %is_first {\n" + kLow + kHigh + "yield\n } else_body {\n" + kHigh + kLow + "yield }\n" + kRead) == "");
  auto map = [](const std::string& at) {
    return shared("map [], input_axes=[], shape=[4, 16] { (%a: int, %b: int)\n %r = binary.mul %a, %sixteen : int\n" + at +
                  "yield\n }\n" + kRead);
  };
  CHECK(map("%e = binary.add %r, %b : int\n element_store %s, [%e], %nought\n") == "");
  CHECK(map("element_store %s, [%r], %nought\n") == kError);
  CHECK(shared("simt { (%t0: int)\n element_store %s, [%t0], %nought\n yield\n }\n" + kRead) == kError);
}

TEST_CASE("what one turn writes it may read") {
  CHECK(shared("for %zero, %half, %one { (%j: int)\n element_store %s, [%j], %nought\n"
               "%v = element_load %s, [%j] : f32\n yield\n }") == "");
  CHECK(shared("for %zero, %half, %one { (%j: int)\n element_store %s, [%j], %nought\n %k = binary.add %j, %one : int\n"
               "%v = element_load %s, [%k] : f32\n yield\n }") == kError);
}

TEST_CASE("integers without a value") {
  CHECK(numbers("%q = binary.div %N, %n : int") ==
        "IntegerFault: this division has no value: for n = 0 the divisor is 0\n");
  CHECK(numbers("%z = binary.rem %i, %one : int\n %q = binary.div %N, %z : int") ==
        "IntegerFault: this division has no value: the divisor is always 0\n");
  CHECK(numbers("for %zero, %four, %one { (%j: int)\n %q = binary.rem %N, %j : int\n yield\n }") ==
        "IntegerFault: this remainder has no value: for j = 0 the divisor is 0\n");
  CHECK(numbers("for %one, %four, %one { (%j: int)\n %q = binary.rem %N, %j : int\n yield\n }") == "");
  CHECK(numbers("%big = constant 4611686018427387904 : int\n %sum = binary.mul %big, %four : int") ==
        "IntegerFault: this product has no value: the result never fits in 64 bits\n");
}
