// Races between blocks and between iterations of `parallel`.
#include "passes/check_races.h"

#include "typed_kernel.h"

using namespace tilec;
using namespace tilec::ir;

namespace {

std::string raced(Kernel kernel) {
  Diagnostics diagnostics = all_shown();
  prove::Prover prover(kernel);
  passes::check_races(kernel, prover, diagnostics);
  return reports(diagnostics);
}

// C: f32[M, N], out: f32[S, M, N], s: f32[N]; `body` stands in a launch over (bx, by, z).
std::string blocks(std::string_view body) {
  return raced(kernel_of(R"(kernel "k"
  dim "M", %M
  dim "N", %N
  dim "S", %S
  param "C", %C, access=inout, extents=[%M, %N], type="f32[M, N]"
  param "P", %P, access=out, extents=[%S, %M, %N], type="f32[S, M, N]"
  param "s", %s, access=inout, extents=[%N], type="f32[N]"
  param "at", %at, extents=[%N], type="i32[N]"
{ (%M: int, %N: int, %S: int, %C: buffer<global ?x? f32>, %P: buffer<global ?x?x? f32>, %s: buffer<global ? f32>, %at: buffer<global ? i32>)
  %zero = constant 0 : int
  %one = constant 1 : int
  %size = constant 64 : int
  %less = constant 63 : int
  %m1 = binary.add %M, %less : int
  %n1 = binary.add %N, %less : int
  %mb = binary.div %m1, %size : int
  %nb = binary.div %n1, %size : int
  launch [%nb, %mb, %S] { (%bx: int, %by: int, %z: int)
    %row = binary.mul %by, %size : int
    %col = binary.mul %bx, %size : int
    %x = constant 0.0 : f32
    %tile = splat %x : tile<64x64 f32>
)" + std::string(body) + "\n yield\n }\n yield\n}"));
}

}  // namespace

TEST_CASE("the samples have no races") {
  for (auto name : {"matrix_product", "attention", "vector_add"}) CHECK_MESSAGE(raced(sample_kernel(name)) == "", name);
}

TEST_CASE("partial sums with an index of their own are apart, without it they race") {
  CHECK(blocks("store %tile, %P, [%z, %row, %col], axes=[1, 2]") == "");
  CHECK(blocks("store %tile, %C, [%row, %col], axes=[0, 1]") ==
        "Race: two blocks touch the same element of `C`: blocks bx = 0, by = 0, z = 0 and bx = 0, by = 0, z = 1\n");
}

TEST_CASE("one element for all blocks is a race, but not by atomics") {
  CHECK(blocks("element_store %s, [%zero], %x").starts_with("Race: two blocks touch the same element of `s`"));
  CHECK(blocks("%old = atomic.add %s, [%zero], [%x] : f32") == "");
  CHECK(blocks("%old = atomic.add %s, [%zero], [%x] : f32\n %v = element_load %s, [%zero] : f32").starts_with("Race"));
}

TEST_CASE("an index from memory is a warning") {
  CHECK(blocks(R"(%a = element_load %at, [%bx] : i32
    %j = convert %a : int
    element_store %s, [%j], %x)") == "UnprovedRace: two blocks may touch the same element of `s`\n");
}

TEST_CASE("a read of what another block writes is a race") {
  CHECK(blocks(R"(%next = binary.add %z, %one : int
    %t = load %P, [%z, %row, %col], axes=[1, 2] : tile<64x64 f32>
    store %t, %P, [%next, %row, %col], axes=[1, 2])").starts_with("Race: two blocks touch the same element of `P`"));
  CHECK(blocks(R"(%t = load %P, [%z, %row, %col], axes=[1, 2] : tile<64x64 f32>
    store %t, %P, [%z, %row, %col], axes=[1, 2])") == "");
}

// What block i reads of `A` and writes to `C` at other places, one of them marked.
std::string aliased(std::string_view of_a, std::string_view of_c, std::string_view type_of_c = "? f32") {
  return raced(kernel_of(R"(kernel "k"
  dim "N", %N
  param "A", %A, )" + std::string(of_a) + R"(extents=[%N], type="f32[N]"
  param "C", %C, access=inout, )" + std::string(of_c) + R"(extents=[%N], type="[N]"
{ (%N: int, %A: buffer<global ? f32>, %C: buffer<global )" + std::string(type_of_c) + R"(>)
  launch [%N] { (%i: int)
    %one = constant 1 : int
    %j = binary.add %i, %one : int
    %x = element_load %A, [%j] : f32
    %y = convert %x : )" + std::string(type_of_c.substr(2)) + R"(
    element_store %C, [%i], %y
    yield
  }
  yield
})"));
}

TEST_CASE("one `alias` is enough for two parameters to be one memory") {
  constexpr std::string_view kRace = "Race: two blocks touch the same element of `C`: blocks i = 1 and i = 0\n";
  CHECK(aliased("", "") == "");
  CHECK(aliased("may_alias=true, ", "") == kRace);
  CHECK(aliased("", "may_alias=true, ") == kRace);
  CHECK(aliased("may_alias=true, ", "may_alias=true, ") == kRace);
  CHECK(aliased("may_alias=true, ", "", "? f16") == "UnprovedRace: two blocks may touch the same element of `C`\n");
}

TEST_CASE("iterations that write one element, read a neighbour's, or may") {
  auto map = [](std::string_view body) {
    return blocks(R"(%two = constant 2 : int
    %t = alloc name="t" : buffer<shared 128 f32>
    map [], input_axes=[], shape=[8, 16] { (%i: int, %j: int)
      %eight = constant 8 : int
      %sixteen = constant 16 : int
)" + std::string(body) + "\n yield\n }");
  };
  CHECK(map("%r = binary.mul %i, %sixteen : int\n %e = binary.add %r, %j : int\n element_store %t, [%e], %x") == "");
  CHECK(map("%r = binary.mul %i, %eight : int\n %e = binary.add %r, %j : int\n element_store %t, [%e], %x") ==
        "ParallelRace: two iterations write the same element of `t`: iterations i = 0, j = 8 and i = 1, j = 0\n");
  CHECK(map("%r = binary.mul %i, %sixteen : int\n %e = binary.add %r, %j : int\n %f = binary.add %e, %one : int\n"
            "%v = element_load %t, [%f] : f32\n element_store %t, [%e], %v").starts_with("IterationDependence"));
  CHECK(map("%a = element_load %at, [%j] : i32\n %e = convert %a : int\n element_store %t, [%e], %x") ==
        "UnprovedIterations: two iterations may touch the same element of `t`\n");
}
