// The interpreter as the judge of products of groups of warps.
#include "interp_fixture.h"
#include "target/model/machine.h"

using namespace tilec;
using namespace tilec::interp;

namespace {

// z = x[64, 16] @ y[16, 8]: threads write both operands to shared memory (the right one twice), a group of four warps multiplies.
constexpr std::string_view kProduct = R"ir(kernel "k", form=thread
  param "x", %x, extents=[%m, %k], type="f16[64, 16]"
  param "y", %y, extents=[%k, %n], type="f16[16, 8]"
  param "z", %z, access=out, extents=[%m, %n], type="f32[64, 8]"
{ (%x: buffer<global 64x16 f16>, %y: buffer<global 16x8 f16>, %z: buffer<global 64x8 f32>)
  %m = constant 64 : int
  %k = constant 16 : int
  %n = constant 8 : int
  %zero = constant 0 : int
  %one = constant 1 : int
  %warps = constant 4 : int
  launch [%one], warps=4 { (%block: int)
    %a = alloc name="a" : buffer<shared 1024 f16>
    %b = alloc name="b" : buffer<shared 256 f16>
    %thread = thread_index : varying int
    %warp = warp_index : int
    %threads = constant 128 : int
    for %zero, %n, %one { (%i: int)
      %from = binary.mul %i, %threads : int
      %at = binary.add %from, %thread : varying int
      %e = mem_load %x, %at, lane_stride=1 : varying f16
      mem_store %a, %at, %e, lane_stride=1
      yield
    }
    %f = mem_load %y, %thread, lane_stride=1 : varying f16
    %again = binary.add %thread, %threads : varying int
    %two = constant 2 : int
    %half = binary.div %warp, %two : int
    %copy = binary.mul %half, %threads : int
    mem_store %b, %thread, %f, lane_stride=1
    mem_store %b, %again, %f, lane_stride=1
    engine_fence
    block_barrier
    %nought = constant 0.0 : f32
    %v = convert %nought : varying f32
    %four = vector_make [%v, %v, %v, %v] : varying vector<4 f32>
    %begun = group_fence [%four] : varying flight<4 f32>
    %trips = binary.min %one, %one : int
    %done = for %zero, %trips, %one, [%begun] : varying flight<4 f32> { (%t: int, %acc: varying flight<4 f32>)
      %p = group_product %acc, %a, %b, %zero, a_place=%zero, a_shape=[64, 16], a_layout="addr(c0 c1 c2 c3 r0 r1 r2 r3 r4 r5)", b_shape=[32, 8], b_layout="addr(c0 c1 c2 r0 r1 r2 r3 r4)", atom="group.m64n8k16.f16" : varying flight<4 f32>
      group_commit
      yield [%p]
    }
    %sums = group_wait [%done] : varying vector<4 f32>
    %lane = lane_index : varying int
    %quad = binary.div %lane, %warps : varying int
    %in_quad = binary.rem %lane, %warps : varying int
    %rows = binary.mul %warp, %k : int
    %row = binary.add %rows, %quad : varying int
    %column = binary.mul %in_quad, %two : varying int
    %line = binary.mul %row, %n : varying int
    %place = binary.add %line, %column : varying int
    %right = binary.add %place, %one : varying int
    %below = binary.add %place, %m : varying int
    %last = binary.add %below, %one : varying int
    %s0 = vector_element %sums, index=0 : varying f32
    %s1 = vector_element %sums, index=1 : varying f32
    %s2 = vector_element %sums, index=2 : varying f32
    %s3 = vector_element %sums, index=3 : varying f32
    mem_store %z, %place, %s0
    mem_store %z, %right, %s1
    mem_store %z, %below, %s2
    mem_store %z, %last, %s3
    yield
  }
  yield
}
)ir";

struct Product {
  Tensor x{Scalar::F16, {64, 16}}, y{Scalar::F16, {16, 8}}, z{Scalar::F32, {64, 8}};
  Product() {
    x.fill(scrambled);
    y.fill([](int64_t k) { return scrambled(k + 77); });
  }
  RunResult run(std::string_view text, Completion completion, uint64_t seed = 1) {
    RunOptions options;
    options.machine = &target::model::asynchronous();
    options.completion = completion;
    options.seed = seed;
    return run_text(text, {&x, &y, &z}, options);
  }
  bool is_right() const {
    for (int64_t i = 0; i < 64; ++i)
      for (int64_t j = 0; j < 8; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 16; ++k) sum += x.at({i, k}) * y.at({k, j});
        if (z.at({i, j}) != sum) return false;
      }
    return true;
  }
};

void check_judged(std::string_view from, std::string_view to, FaultKind kind, std::string_view words) {
  std::string text = changed(std::string(kProduct), from, to);
  for (Completion completion : {Completion::Late, Completion::Early})
    for (uint64_t seed : {1, 2, 3}) {
      Product p;
      check_fault(p.run(text, completion, seed), kind, words);
    }
}

}  // namespace

TEST_SUITE("interp group products") {
  TEST_CASE("a product of a group is right, late and early alike") {
    for (Completion completion : {Completion::Late, Completion::Early}) {
      Product p;
      check_fine(p.run(kProduct, completion));
      CHECK(p.is_right());
    }
  }

  TEST_CASE("registers come back when their product has ended") {
    check_judged("group_wait [%done]", "group_wait [%done], in_flight=1", FaultKind::Flight, "leaves the product in flight");
    check_judged("      group_commit\n", "", FaultKind::Flight, "leaves the product in flight");
  }

  TEST_CASE("engines read what is fenced before the barrier by whoever wrote it, or behind it by whoever starts them") {
    check_judged("    engine_fence\n", "", FaultKind::Race, "did not fence");
    const std::string fenced = "    engine_fence\n    block_barrier\n", behind = "    block_barrier\n    engine_fence\n";
    for (Completion completion : {Completion::Late, Completion::Early}) {
      Product p;
      check_fine(p.run(changed(std::string(kProduct), fenced, behind), completion));
      CHECK(p.is_right());
    }
    // Neither the one nor the other: of two warps that write for each other, the first fences early, and the second not at all.
    const std::string some = "    %is_first = compare.eq %warp, %zero : bool\n    if %is_first {\n      engine_fence\n      yield\n    } else_body {\n      yield\n    }\n";
    check_judged(fenced, some + "    block_barrier\n", FaultKind::Race, "did not fence");
    check_judged(fenced, "    block_barrier\n" + some, FaultKind::Race, "did not fence");
    check_judged("    engine_fence\n    block_barrier\n", "    engine_fence\n", FaultKind::Uninitialised, "never written");
  }

  TEST_CASE("what a product reads is left alone until it is awaited") {
    check_judged("      group_commit\n", "      group_commit\n      mem_store %b, %thread, %f, lane_stride=1\n", FaultKind::Race, "product of warp");
    // Awaited by this warp, but not by the others.
    check_judged("    %lane = lane_index", "    mem_store %b, %thread, %f, lane_stride=1\n    %lane = lane_index", FaultKind::Race, "product of warp");
  }

  TEST_CASE("all warps of a group issue the same products") {
    check_judged("%b, %zero, a_place", "%b, %copy, a_place", FaultKind::Atom, "another product");
    check_judged("binary.min %one, %one", "binary.min %one, %warp", FaultKind::Atom, "fewer products");
  }

  TEST_CASE("operands fit their instruction and their array") {
    check_judged("m64n8k16.f16", "m64n8k16.bf16", FaultKind::Atom, "do not fit");
    check_judged("m64n8k16.f16", "m64n16k16.f16", FaultKind::Atom, "do not fit");
    check_judged("group.m64n8k16.f16", "mma.m16n8k16.f16", FaultKind::Atom, "no atom");
    check_judged("a_place=%zero", "a_place=%k", FaultKind::OutOfBounds, "leaves its operand's array");
  }
}
