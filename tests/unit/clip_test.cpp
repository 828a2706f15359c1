// Bounds of accesses: proved, guarded, or an error with numbers.
#include "passes/clip.h"

#include "typed_kernel.h"

using namespace tilec;
using namespace tilec::ir;
using enum tilec::ir::Bounds;

namespace {

// The one operation of that kind.
template <class T> const T& only(const Kernel& kernel) {
  const T* found = nullptr;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (auto* o = kernel.op(id).get<T>()) found = o;
  });
  REQUIRE(found);
  return *found;
}

std::string clipped(Kernel& kernel) {
  Diagnostics diagnostics = all_shown();
  prove::Prover prover(kernel);
  passes::clip(kernel, prover, diagnostics);
  return reports(diagnostics);
}

// x, y: f32[N]; `body` stands in a launch over (i in N).
std::string element_access(std::string_view body, std::string_view more = "") {
  Kernel kernel = kernel_of(R"(kernel "k"
  dim "N", %N
  dim "M", %M
  param "x", %x, extents=[%N], type="f32[N]"
  param "y", %y, access=out, extents=[%M], type="f32[M]"
  param "at", %at, extents=[%N], type="i32[N]"
)" + std::string(more) + R"({ (%N: int, %M: int, %x: buffer<global ? f32>, %y: buffer<global ? f32>, %at: buffer<global ? i32>)
  %zero = constant 0 : int
  %one = constant 1 : int
  %same = compare.le %N, %M : bool
  launch [%N] { (%i: int)
)" + std::string(body) + "\n yield\n }\n yield\n}");
  return clipped(kernel);
}

}  // namespace

TEST_CASE("regions of the samples are inside where the launch says so and guarded where they hang over") {
  Kernel product = sample_kernel("matrix_product");
  CHECK(clipped(product) == "");
  CHECK(only<op::Store>(product).bounds == BoundsList{Guarded, Guarded});
  each_op(product, product.body, [&](OpId id) {
    auto* copy = product.op(id).get<op::Copy>();
    if (!copy) return;
    bool is_a = copy->label == "load_a";  // K is a multiple of 32, M and N are not
    CHECK(copy->src_bounds == (is_a ? BoundsList{Guarded, Inside} : BoundsList{Inside, Guarded}));
    CHECK(copy->dst_bounds == BoundsList{Inside, Inside});
  });
  Kernel attention = sample_kernel("attention");
  CHECK(clipped(attention) == "");
  CHECK(only<op::Store>(attention).bounds == BoundsList{Inside, Guarded, Inside});
  each_op(attention, attention.body, [&](OpId id) {
    if (auto* copy = attention.op(id).get<op::Copy>()) CHECK(copy->src_bounds == BoundsList{Inside, Guarded, Inside});
  });
}

TEST_CASE("an element access that leaves its tensor is an error with the smallest numbers") {
  CHECK(element_access(R"(%j = binary.add %i, %one : int
    %v = element_load %x, [%j] : f32)") == "OutOfBounds: this access leaves `x`: for N = 1, i = 0 the index 1 is not below 1\n");
  CHECK(element_access(R"(%j = binary.sub %i, %one : int
    %v = element_load %x, [%j] : f32)") == "OutOfBounds: this access leaves `x`: for N = 1, i = 0 the index -1 is below 0\n");
}

TEST_CASE("a condition, a contract, or nothing: the bounds of an element access") {
  const char* store = R"(%v = element_load %x, [%i] : f32
    element_store %y, [%i], %v)";
  CHECK(element_access(store).starts_with("OutOfBounds: this access leaves `y`: for N = 1, M = 0, i = 0 the index 0 is not below 0"));
  CHECK(element_access(store, "requires %same, \"N <= M\"\n") == "");
  CHECK(element_access(R"(%v = element_load %x, [%i] : f32
    %fits = compare.lt %i, %M : bool
    if %fits { element_store %y, [%i], %v
      yield } else_body { yield })") == "");
  const char* gather = R"(%a = element_load %at, [%i] : i32
    %j = convert %a : int
    %v = element_load %x, [%j] : f32)";
  CHECK(element_access(gather) ==
        "GuardKept: this access to `x` is tested at run time: its index along dimension 0 is not shown to stay inside\n");
}

TEST_CASE("what stands under a condition that memory decides is no counterexample") {
  CHECK(element_access(R"(%a = element_load %at, [%i] : i32
    %n = convert %a : int
    %is_set = compare.gt %n, %zero : bool
    if %is_set { %j = binary.add %i, %one : int
      %v = element_load %x, [%j] : f32
      yield } else_body { yield })").starts_with("GuardKept"));
}

TEST_CASE("parts of tiles must lie inside, and a region wholly outside is a warning") {
  CHECK(element_access(R"(%s = alloc name="s" : buffer<shared 64 f32>
    %off = constant 40 : int
    %t = load %s, [%off], axes=[0] : tile<32 f32>)") ==
        "OutOfBounds: this access leaves `s`: the elements 40 to 71 are not within 64\n");
  CHECK(element_access(R"(%s = alloc name="s" : buffer<shared 64 f32>
    %a = element_load %at, [%i] : i32
    %n = convert %a : int
    %t = subview %s, [%n], axes=[0] : buffer<shared 32 f32>)") ==
        "PartUnproved: this part of `s` is not shown to lie inside along dimension 0\n");
  CHECK(element_access(R"(%off = binary.add %i, %N : int
    %t = load %x, [%off], axes=[0] : tile<32 f32>)") == "TileOutside: this tile lies wholly outside `x`\n");
}
