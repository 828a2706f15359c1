// split-loops: what is split and what is not, and that the parts do what the loop did, judged by the interpreter.
#include "interp_fixture.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/cleanup.h"
#include "passes/split_loops.h"
#include "passes/split_plan.h"

using namespace tilec;
using namespace tilec::ir;
using interp::check_fine;
using interp::kernel_of;

namespace {

struct Shape {
  std::string condition;           // operations that make %t from %i, %n and %m
  std::string before = {};         // in the body, in front of them
  std::string low = "%low", high = "%high", step = "%c1", loop = {};
  int work = 40, other = 0;        // operations on either side of the if; 0: as many on the other
  std::string launch = "warps=1";
};

// z[0]: a number that tells which iterations there were, in which order, and what the test said in each; z[1]: their count.
std::string text_of(const Shape& shape) {
  std::string side[2];
  for (bool is_true : {false, true}) {
    side[is_true] = "%w" + std::to_string(is_true) + "_0 = binary.mul %a, %" + (is_true ? "three" : "five") + " : i64\n";
    int work = is_true || !shape.other ? shape.work : shape.other;
    for (int k = 1; k < work; ++k) {
      std::string name = "%w" + std::to_string(is_true) + "_";
      side[is_true] += name + std::to_string(k) + " = binary." + (k % 2 ? "add" : "xor") + " " + name + std::to_string(k - 1) + ", %x : i64\n";
    }
    side[is_true] += "yield [%w" + std::to_string(is_true) + "_" + std::to_string(work - 1) + "]\n";
  }
  return "kernel \"k\", form=thread\n  param \"z\", %z, access=out, extents=[%c4], type=\"i64[4]\"\n"
         "  param \"n\", %n, type=\"int\"\n  param \"m\", %m, type=\"int\"\n  param \"low\", %low, type=\"int\"\n"
         "  param \"high\", %high, type=\"int\"\n"
         "{ (%z: buffer<global 4 i64>, %n: int, %m: int, %low: int, %high: int)\n"
         "%c0 = constant 0 : int\n%c1 = constant 1 : int\n%c2 = constant 2 : int\n%c3 = constant 3 : int\n%c4 = constant 4 : int\n"
         "%c7 = constant 7 : int\n%c24 = constant 24 : int\n%c64 = constant 64 : int\n%c257 = constant 257 : int\n"
         "%giant = constant 2305843009213693952 : int\n"
         "%none = constant 0 : i64\n%one = constant 1 : i64\n%three = constant 3 : i64\n%five = constant 5 : i64\n"
         "launch [%c1], " + shape.launch + " { (%block: int)\n%lane = lane_index : varying int\n%warp = warp_index : int\n"
         "%r, %c = for " + shape.low + ", " + shape.high + ", " + shape.step + ", [%one, %none]" + shape.loop +
         " : i64, i64 { (%i: int, %a: i64, %count: i64)\n" + shape.before + "\n" + shape.condition + "\n%x = convert %i : i64\n"
         "%b = if %t : i64 {\n" + side[true] + "} else_body {\n" + side[false] + "}\n"
         "%next = binary.add %count, %one : i64\nyield [%b, %next]\n}\n"
         "%is_first = compare.eq %warp, %c0 : bool\nif %is_first {\nmem_store %z, %c0, %r, lane_stride=0\nmem_store %z, %c1, %c, lane_stride=0\nyield\n} else_body {\nyield\n}\n"
         "yield\n}\nyield\n}\n";
}

Kernel split(const Shape& shape) {
  Kernel kernel = kernel_of(text_of(shape));
  REQUIRE(verify(kernel, Form::Thread).empty());
  Diagnostics diagnostics;
  passes::split_loops(kernel, Machine{}, diagnostics);
  std::vector<Violation> violations = verify(kernel, Form::Thread);
  REQUIRE_MESSAGE(violations.empty(), internal_error(violations.front(), "split-loops"));
  return kernel;
}

template <class T>
int count(const Kernel& kernel, RegionId region) {
  int n = 0;
  each_op(kernel, region, [&](OpId id) { n += kernel.op(id).is<T>(); });
  return n;
}
int loops(const Kernel& kernel) { return count<op::For>(kernel, kernel.body); }

// How many ifs each loop holds, in program order.
std::vector<int> tests(const Kernel& kernel) {
  std::vector<int> out;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (const auto* loop = kernel.op(id).get<op::For>()) out.push_back(count<op::If>(kernel, loop->body));
  });
  return out;
}

struct Numbers {
  int64_t n, m, low, high;
};

struct Outcome {
  bool is_fine;
  int64_t trace, count;
  bool operator==(const Outcome&) const = default;
};

Outcome run(const Kernel& kernel, Numbers at, bool takes_ints_exact = false) {
  interp::Tensor z(Scalar::I64, {4});
  std::vector<interp::Argument> arguments{&z};
  for (int64_t v : {at.n, at.m, at.low, at.high}) arguments.push_back(Number::integer(v));
  interp::RunResult result = interp::run(kernel, arguments, {.takes_ints_exact = takes_ints_exact});
  return {result.ok(), z.integer(0), z.integer(1)};
}

void check_same(const Shape& shape, std::span<const Numbers> cases, int parts) {
  CAPTURE(shape.condition);
  const Kernel after = split(shape);
  // Sums that a loop does not change are worked out in front of it, here as everywhere, even if it never runs.
  Kernel before = kernel_of(text_of(shape));
  passes::merge_equal_scalars(before);
  CHECK(loops(after) == parts);
  for (const Numbers& at : cases) {
    Outcome expected = run(before, at, true);
    if (!expected.is_fine) continue;
    CAPTURE(at.n);
    CAPTURE(at.m);
    CAPTURE(at.low);
    CAPTURE(at.high);
    CHECK(run(after, at) == expected);
  }
}

std::vector<Numbers> everyday() {
  std::vector<Numbers> out;
  for (auto [low, high] : {std::pair<int64_t, int64_t>{0, 1}, {0, 33}, {0, 257}, {0, 256}, {-5, 7}, {3, 3}, {5, -5}, {4, 9}})
    for (int64_t n : {-400, -1, 0, 1, 5, 32, 33, 34, 63, 64, 65, 256, 257, 2112})
      for (int64_t m : {-3, 0, 2}) out.push_back({n, m, low, high});
  return out;
}

std::vector<Numbers> far() {
  std::vector<Numbers> out;
  const int64_t most = INT64_MAX, least = INT64_MIN;
  for (auto [low, high] : {std::pair<int64_t, int64_t>{most - 6, most}, {least, least + 6}, {least + 3, least + 9}, {0, 6}, {-3, 3}, {most, least}})
    for (int64_t n : {most, most - 1, most - 3, least, least + 1, least + 3, int64_t(0), int64_t(2), int64_t(-2)})
      for (int64_t m : {most, most - 2, least, least + 2, int64_t(0), int64_t(1), int64_t(-1)}) out.push_back({n, m, low, high});
  return out;
}

constexpr std::string_view kTurns[] = {
    "%t = compare.lt %i, %n : bool",
    "%t = compare.le %i, %n : bool",
    "%t = compare.gt %i, %n : bool",
    "%t = compare.ge %i, %n : bool",
    "%t = compare.lt %n, %i : bool",
    "%t = compare.ge %n, %i : bool",
    "%o = binary.mul %i, %c64 : int\n%l = binary.sub %n, %c64 : int\n%t = compare.le %o, %l : bool",
    "%o = binary.mul %i, %c64 : int\n%t = compare.ge %o, %n : bool",
    "%o = binary.mul %i, %c7 : int\n%p = binary.add %m, %o : int\n%t = compare.lt %p, %n : bool",
    "%o = binary.sub %i, %m : int\n%t = compare.gt %o, %n : bool",
    "%o = binary.sub %n, %i : int\n%t = compare.ge %o, %m : bool",
    "%o = binary.sub %m, %i : int\n%p = binary.mul %o, %c3 : int\n%t = compare.gt %n, %p : bool",
    "%u = compare.lt %i, %n : bool\n%t = unary.not %u : bool",
    "%u = compare.lt %i, %n : bool\n%s = compare.lt %m, %c1 : bool\n%t = binary.and %u, %s : bool",
    "%u = compare.ge %i, %n : bool\n%s = compare.lt %m, %c1 : bool\n%t = binary.or %u, %s : bool",
    "%u = compare.lt %i, %n : bool\n%o = binary.add %i, %m : int\n%v = compare.le %o, %c24 : bool\n%t = binary.and %u, %v : bool",
};

}  // namespace

TEST_SUITE("split_loops") {
  TEST_CASE("the parts do what the loop did") {
    for (std::string_view turn : kTurns) check_same({.condition = std::string(turn)}, everyday(), 2);
  }

  TEST_CASE("at the ends of 64 bits as well") {
    for (std::string_view turn : kTurns) check_same({.condition = std::string(turn)}, far(), 2);
  }

  TEST_CASE("with steps other than 1, from a low end that is known") {
    for (std::string_view turn : kTurns)
      for (const char* step : {"%c2", "%c3", "%c64"})
        for (const char* low : {"%c0", "%c7"}) check_same({.condition = std::string(turn), .low = low, .step = step}, everyday(), 2);
    check_same({.condition = std::string(kTurns[0]), .low = "%c7", .step = "%giant"}, far(), 2);
    CHECK(loops(split({.condition = std::string(kTurns[0]), .step = "%c2"})) == 1);
    CHECK(loops(split({.condition = std::string(kTurns[0]), .step = "%m"})) == 1);
  }

  TEST_CASE("no part of a loop with one condition tests it") {
    for (int turn : {0, 2, 6, 12, 13}) CHECK(tests(split({.condition = std::string(kTurns[turn])})) == std::vector{0, 0});
  }

  TEST_CASE("what is true in the middle makes three parts") {
    Shape halo{.condition = "%o = binary.mul %i, %c7 : int\n%p = binary.sub %o, %c24 : int\n%u = compare.ge %p, %c0 : bool\n"
                            "%v = compare.le %p, %n : bool\n%t = binary.and %u, %v : bool",
               .low = "%c0", .work = 120, .other = 4};
    check_same(halo, everyday(), 3);
    CHECK(tests(split(halo)) == std::vector{0, 0, 0});
  }

  TEST_CASE("the first iterations may be what is special") {
    Shape first{.condition = "%t = compare.ge %i, %c2 : bool", .low = "%c0"};
    check_same(first, everyday(), 2);
    Shape known = first;
    known.high = "%c257";
    check_same(known, everyday(), 2);
  }

  TEST_CASE("conditions of the elements of a vector, of loads and of what is not straight stay") {
    CHECK(loops(split({.condition = "%l = binary.and %i, %c3 : int\n%t = compare.lt %l, %n : bool"})) == 1);
    CHECK(loops(split({.condition = "%l = binary.mul %i, %i : int\n%t = compare.lt %l, %n : bool"})) == 1);
    CHECK(loops(split({.condition = "%t = compare.eq %i, %n : bool"})) == 1);
    CHECK(loops(split({.condition = "%l = convert %count : int\n%t = compare.lt %l, %n : bool"})) == 1);
    CHECK(loops(split({.condition = "%t = compare.lt %n, %m : bool"})) == 1);
    Kernel lanes = kernel_of(interp::changed(
        "kernel \"k\", form=thread\n{ (%n: int)\n%zero = constant 0 : int\n%one = constant 1 : int\nlaunch [%one], warps=1 { (%block: int)\n"
        "%lane = lane_index : varying int\n%p = alloc : buffer<private 64 f32>\nfor %zero, %n, %one { (%i: int)\n"
        "%o = binary.add %i, %lane : varying int\n%t = compare.lt %o, %n : varying bool\nif %t {\nSTORES yield\n} else_body {\nyield\n}\nyield\n}\nyield\n}\nyield\n}\n",
        "STORES", "%v = constant 1.0 : f32\nmem_store %p, %zero, %v, lane_stride=0\n"));
    Diagnostics diagnostics;
    passes::split_loops(lanes, Machine{}, diagnostics);
    CHECK(loops(lanes) == 1);
  }

  TEST_CASE("what would be copied is limited, and weighed against the work under the test") {
    auto beside = [](int operations) {
      std::string text = "%s0 = convert %i : i64";
      for (int k = 1; k < operations; ++k) text += "\n%s" + std::to_string(k) + " = binary.add %s" + std::to_string(k - 1) + ", %one : i64";
      return text;
    };
    const std::string turn(kTurns[0]);
    // Beside what is added here there are the comparison and a sum, against the if itself, which is gone.
    auto parts = [&](int operations, int work) { return loops(split({.condition = turn, .before = beside(operations), .work = work})); };
    int most = int(passes::kMostCopied) - 1, weight = int(passes::kGuardedPerCopied);
    CHECK(parts(most, 2 * weight * int(passes::kMostCopied)) == 2);
    CHECK(parts(most + 1, 2 * weight * int(passes::kMostCopied)) == 1);
    CHECK(parts(29, 30 * weight / 2) == 2);
    CHECK(parts(30, 30 * weight / 2) == 1);
    int few = int(passes::kFewCopied);
    CHECK(parts(few - 1, few / 2) == 2);
    CHECK(parts(few - 1, few / 2 - 1) == 1);
    CHECK(parts(few, few / 2) == 1);
  }

  TEST_CASE("short loops, unrolled ones and those that hold memory stay whole") {
    const std::string turn(kTurns[0]);
    CHECK(loops(split({.condition = turn, .low = "%c0", .high = "%c3"})) == 1);
    CHECK(loops(split({.condition = turn, .low = "%c0", .high = "%c4"})) == 2);
    CHECK(loops(split({.condition = turn, .loop = ", loop=unroll"})) == 1);
    CHECK(loops(split({.condition = turn, .before = "%p = alloc : buffer<private 4 f32>"})) == 1);
  }

  TEST_CASE("barriers stay under control that all threads share") {
    std::string barrier = "block_barrier why=\"a test\"";
    Shape shared{.condition = std::string(kTurns[13]), .before = barrier, .launch = "warps=2"};
    check_same(shared, everyday(), 2);
    Shape apart{.condition = "%s = binary.add %warp, %n : int\n%t = compare.lt %i, %s : bool", .before = barrier, .launch = "warps=2"};
    CHECK(loops(split(apart)) == 1);
    apart.before.clear();
    CHECK(loops(split(apart)) == 2);
  }

  TEST_CASE("an if inside an inner loop is decided by the loop that turns it") {
    std::string inner =
        "kernel \"k\", form=thread\n  param \"z\", %z, access=out, extents=[%c64], type=\"i64[64]\"\n  param \"n\", %n, type=\"int\"\n"
        "{ (%z: buffer<global 64 i64>, %n: int)\n%c0 = constant 0 : int\n%c1 = constant 1 : int\n%c8 = constant 8 : int\n%c64 = constant 64 : int\n"
        "launch [%c1], warps=1 { (%block: int)\nfor %c0, %c8, %c1 { (%i: int)\nfor %c0, %c8, %c1 { (%j: int)\n"
        "%t = compare.lt %i, %n : bool\nif %t {\nWORK yield\n} else_body {\nOTHER yield\n}\nyield\n}\nyield\n}\nyield\n}\nyield\n}\n";
    auto side = [](const char* prefix, int number) {
      std::string name = prefix, text = "%" + name + "_at = binary.mul %i, %c8 : int\n%" + name + "_o = binary.add %" + name + "_at, %j : int\n%" + name + "0 = constant " + std::to_string(number) + " : i64\n";
      for (int k = 1; k < 9; ++k) text += "%" + name + std::to_string(k) + " = binary.add %" + name + std::to_string(k - 1) + ", %" + name + "0 : i64\n";
      return text + "mem_store %z, %" + name + "_o, %" + name + "8, lane_stride=0\n";
    };
    Kernel before = kernel_of(interp::changed(interp::changed(inner, "WORK", side("a", 3)), "OTHER", side("b", 5))), after = before;
    Diagnostics diagnostics;
    passes::split_loops(after, Machine{}, diagnostics);
    CHECK(verify(after, Form::Thread).empty());
    CHECK(tests(after) == std::vector{0, 0, 0, 0});
    for (int64_t n : {-1, 0, 1, 5, 8, 9}) {
      interp::Tensor expected(Scalar::I64, {64}), z(Scalar::I64, {64});
      check_fine(interp::run(before, std::vector<interp::Argument>{&expected, Number::integer(n)}));
      check_fine(interp::run(after, std::vector<interp::Argument>{&z, Number::integer(n)}));
      for (int64_t k = 0; k < 64; ++k) CHECK(z.integer(k) == expected.integer(k));
    }
  }
}
