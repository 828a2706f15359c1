#include "interp_fixture.h"

using namespace tilec;
using namespace tilec::interp;

namespace {

constexpr MatrixAtom kAtoms[] = {{.name = "product_16_8_16",
                                  .kind = AtomKind::Warp,
                                  .m = 16,
                                  .n = 8,
                                  .k = 16,
                                  .a = Scalar::F16,
                                  .b = Scalar::F16,
                                  .c = Scalar::F32,
                                  .a_layout = "reg(k0 m3 k3) lane(k1 k2 m0 m1 m2)",
                                  .b_layout = "reg(k0 k3) lane(k1 k2 n0 n1 n2)",
                                  .c_layout = "reg(n0 m3) lane(n1 n2 m0 m1 m2)"}};
const Machine kMachine{.name = "made_up",
                       .target = "model",
                       .lanes = 32,
                       .max_warps = 32,
                       .default_warps = 4,
                       .registers_per_lane = 255,
                       .shared_bytes = 65536,
                       .banks = 32,
                       .vector_bytes = 16,
                       .simd_bytes = 0,
                       .caps = 0,
                       .matrix_atoms = kAtoms};

// One block of two warps over x: f32[64] (in) and z: f32[64] (out), and f: i32[64] as z.
std::string warps(std::string_view body, std::string_view launch = "warps=2") {
  return "kernel \"k\", form=thread\n  param \"x\", %x, extents=[%n], type=\"f32[64]\"\n"
         "  param \"z\", %z, access=out, extents=[%n], type=\"f32[64]\"\n"
         "{ (%x: buffer<global 64 f32>, %z: buffer<global 64 f32>)\n"
         "  %n = constant 64 : int\n  %zero = constant 0 : int\n  %one = constant 1 : int\n"
         "  launch [%one], " +
         std::string(launch) +
         " { (%block: int)\n%t = thread_index : varying int\n%lane = lane_index : varying int\n"
         "%warp = warp_index : int\n%first_warp = compare.eq %warp, %zero : bool\n" +
         std::string(body) + "\n    yield\n  }\n  yield\n}\n";
}

struct Vectors {
  Tensor x{Scalar::F32, {64}}, z{Scalar::F32, {64}};
  Vectors() { x.fill(scrambled); }
  RunResult run_warps(std::string_view body, const RunOptions& options = {}) {
    return run_text(warps(body), {&x, &z}, options);
  }
};

constexpr std::string_view kLoad = "%v = mem_load %x, %t, lane_stride=1 : varying f32\n";
constexpr std::string_view kShared = "%s = alloc name=\"s\" : buffer<shared 64 f32>\n";
// z[t] = the shared element of the thread opposite.
constexpr std::string_view kTurn =
    "%last = constant 63 : int\n%o = binary.sub %last, %t : varying int\n%w = mem_load %s, %o : varying f32\n"
    "mem_store %z, %t, %w, lane_stride=1";

std::string text(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (std::string_view part : parts) all += part;
  return all;
}

}  // namespace

TEST_CASE("interp: a histogram in shared memory counts every byte") {
  Tensor x(Scalar::U8, {5000}), counts(Scalar::I32, {256});
  x.fill([](int64_t k) { return double(k * k % 251); });
  RunResult result = run_text(sample("histogram_thread.ir"), {&x, &counts});
  check_fine(result);
  CHECK(result.counters.barriers == 16);
  std::vector<int> expected(256, 0);
  for (int64_t k = 0; k < 5000; ++k) ++expected[size_t(x.integer(k))];
  bool all = true;
  for (int64_t k = 0; k < 256; ++k) all &= counts.integer(k) == expected[size_t(k)];
  CHECK(all);
  RunOptions lax;
  lax.check_initialised = false;
  std::string_view store = "    mem_store %bins, %t, %none, lane_stride=1\n";
  check_fault(run_text(changed(sample("histogram_thread.ir"), std::string(store) + "    block_barrier\n", store),
                       {&x, &counts}, lax),
              FaultKind::Race, "nothing orders the two");
}

TEST_CASE("interp: warps exchange numbers through shared memory, a barrier between") {
  Vectors v;
  std::string good = text({kShared, kLoad, "mem_store %s, %t, %v, lane_stride=1\nblock_barrier\n", kTurn});
  for (uint64_t seed : {1, 2, 3, 4}) {
    RunOptions options;
    options.seed = seed;
    check_fine(v.run_warps(good, options));
    for (int64_t k : {0, 5, 63}) CHECK(v.z.real(k) == v.x.real(63 - k));
    RunOptions lax = options;
    lax.check_initialised = false;
    check_fault(v.run_warps(changed(good, "block_barrier\n", ""), lax), FaultKind::Race, "warp");
  }
  // A second round needs a barrier before it overwrites.
  std::string again = text({good, "\nmem_store %s, %t, %w, lane_stride=1"});
  check_fault(v.run_warps(again), FaultKind::Race, "nothing orders");
  check_fine(v.run_warps(changed(again, "mem_store %z, %t, %w, lane_stride=1", "block_barrier")));
}

TEST_CASE("interp: a barrier that not all reach is a fault") {
  Vectors v;
  check_fault(v.run_warps("if %first_warp {\nblock_barrier\nyield\n} else_body {\nyield\n}"), FaultKind::Barrier, "");
  check_fault(
      v.run_warps(
          "%some = compare.lt %lane, %one : varying bool\nif %some {\nblock_barrier\nyield\n} else_body {\nyield\n}"),
      FaultKind::Barrier, "lane 1 of warp");
  check_fault(v.run_warps("if %first_warp {\nblock_barrier\nyield\n} else_body {\nblock_barrier\nyield\n}"),
              FaultKind::Barrier, "another barrier");
  check_fault(v.run_warps("if %first_warp {\nnamed_barrier id=1, warps=2\nyield\n} else_body {\nyield\n}"),
              FaultKind::Deadlock, "warp 0 waits for a named barrier");
}

TEST_CASE("interp: named barriers order the warps that meet") {
  Vectors v;
  std::string good =
      text({kShared, kLoad, "mem_store %s, %t, %v, lane_stride=1\nnamed_barrier id=3, warps=2\n", kTurn});
  check_fine(v.run_warps(good));
  CHECK(v.z.real(1) == v.x.real(62));
}

TEST_CASE("interp: a phase barrier hands data from one warp to another") {
  Vectors v;
  std::string good = text({kShared,
                           "%bars = alloc name=\"bars\" : buffer<shared 1 u64>\nif %first_warp {\nphase_init %bars, "
                           "%zero, arrivals=32\nyield\n} else_body {\nyield\n}\n"
                           "block_barrier\nif %first_warp {\n",
                           kLoad,
                           "mem_store %s, %lane, %v, lane_stride=1\nphase_arrive %bars, %zero\nyield\n} else_body {\n"
                           "phase_wait %bars, %zero, %zero\n%w = mem_load %s, %lane, lane_stride=1 : varying "
                           "f32\nmem_store %z, %lane, %w, lane_stride=1\nyield\n}"});
  check_fine(v.run_warps(good));
  CHECK(v.z.real(9) == v.x.real(9));
  RunOptions lax;
  lax.check_initialised = false;
  check_fault(v.run_warps(changed(good, "phase_wait %bars, %zero, %zero\n", ""), lax), FaultKind::Race, "`s`");
  check_fault(v.run_warps(changed(good, "phase_arrive %bars, %zero\n", "")), FaultKind::Deadlock,
              "a phase of a barrier");
  check_fault(v.run_warps(changed(good, "phase_init %bars, %zero, arrivals=32\n", "")), FaultKind::Barrier,
              "before `phase_init`");
  check_fault(v.run_warps(changed(good, "arrivals=32", "arrivals=31")), FaultKind::Barrier,
              "more than the 31 arrivals");
}

TEST_CASE("interp: lanes diverge and come together") {
  Vectors v;
  check_fine(v.run_warps(text({kLoad,
                               "%null = constant 0.0 : f32\n%is_low = compare.lt %v, %null : varying bool\n%r = if "
                               "%is_low : varying f32 {\n%m = unary.neg %v : varying f32\nyield [%m]\n"
                               "} else_body {\n%l = for %zero, %lane, %one, [%v] : varying f32 { (%i: varying int, %c: "
                               "varying f32)\n%d = binary.add %c, %v : varying f32\nyield [%d]\n}\nyield [%l]\n}\n"
                               "mem_store %z, %t, %r, lane_stride=1"})));
  bool all = true;
  for (int64_t k = 0; k < 64; ++k)
    all &= v.z.real(k) == (v.x.real(k) < 0 ? -v.x.real(k) : v.x.real(k) * double(k % 32 + 1));
  CHECK(all);
}

TEST_CASE("interp: lanes shuffle, vote and reduce") {
  Vectors v;
  check_fine(v.run_warps(text(
      {kLoad,
       "%five = constant 5 : int\n%a = shuffle.xor %v, %five : varying f32\nmem_store %z, %t, %a, lane_stride=1"})));
  CHECK(v.z.real(33) == v.x.real(32 + (1 ^ 5)));
  check_fine(v.run_warps(text(
      {kLoad,
       "%five = constant 5 : int\n%a = shuffle.down %v, %five : varying f32\nmem_store %z, %t, %a, lane_stride=1"})));
  CHECK(v.z.real(3) == v.x.real(8));
  CHECK(v.z.real(30) == v.x.real(30));
  check_fault(v.run_warps(text({kLoad, "%a = shuffle.index %v, %n : varying f32"})), FaultKind::OutOfBounds,
              "does not take part");
  RunResult result = v.run_warps(text({kLoad,
                                       "%a = warp_reduce.sum %v : f32\n%null = constant 0.0 : f32\n%is_low = "
                                       "compare.lt %v, %null : varying bool\n%ballot = vote.ballot %is_low : u32\n"
                                       "%count = unary.popcount %ballot : u32\n%cf = convert %count : f32\n%both = "
                                       "binary.add %a, %cf : f32\nmem_store %z, %t, %both"}));
  check_fine(result);
  double sum = 0;
  for (int64_t k = 32; k < 64; ++k) sum += v.x.real(k) + (v.x.real(k) < 0);
  CHECK(v.z.real(40) == sum);
  CHECK(result.counters.votes == 2);
}

TEST_CASE("interp: lane strides and uniform types are checked, for spellers trust them") {
  Vectors v;
  check_fault(v.run_warps("%two = constant 2 : int\n%i = binary.div %t, %two : varying int\n%v = mem_load %x, %i, "
                          "lane_stride=1 : varying f32"),
              FaultKind::LaneStride, "not a stride of 1");
  check_fault(v.run_warps("%v = mem_load %x, %t, lane_stride=0 : varying f32"), FaultKind::LaneStride,
              "not a stride of 0");
  check_fault(v.run_warps("%v = mem_load %x, %t, lane_stride=1 : f32"), FaultKind::Uniformity, "differs between lanes");
}

TEST_CASE("interp: masks and vectors of memory accesses") {
  Vectors v;
  check_fine(v.run_warps(
      "%four = constant 4 : int\n%i = binary.mul %t, %four : varying int\n%in = compare.lt %i, %n : varying bool\n"
      "%q = mem_load %x, %i, mask=%in, lane_stride=4 : varying vector<4 f32>\n%a = vector_element %q, index=1 : "
      "varying f32\n"
      "%b = vector_element %q : varying f32\n%p = vector_make [%a, %b, %a, %a] : varying vector<4 f32>\n"
      "mem_store %z, %i, %p, mask=%in, lane_stride=4"));
  CHECK(v.z.real(4) == v.x.real(5));
  CHECK(v.z.real(61) == v.x.real(60));
  const std::string pairs = "%two = constant 2 : int\n%i = binary.mul %t, %two : varying int\n";
  check_fault(v.run_warps(pairs + "%v = mem_load %x, %i, lane_stride=2 : varying vector<2 f32>"), FaultKind::OutOfBounds, "place 64 to 65 of lane");
  check_fault(v.run_warps("%v = mem_load %x, %t, lane_stride=1 : varying vector<2 f32>"), FaultKind::OutOfBounds,
              "is not where a vector of 2 elements may begin");
}

TEST_CASE("interp: lanes that write one place at once must agree") {
  Vectors v;
  check_fault(v.run_warps(text({kLoad, "mem_store %z, %warp, %v"})), FaultKind::Race, "write different numbers");
  check_fine(v.run_warps("%c = constant 2.0 : f32\n%b = binary.mul %warp, %one : int\nmem_store %z, %b, %c"));
}

TEST_CASE("interp: a private array is one a lane, or one a warp when it does not vary") {
  Vectors v;
  check_fine(v.run_warps(
      text({kLoad,
            "%p = alloc name=\"p\" : varying buffer<private 4 f32>\n%u = alloc name=\"u\" : buffer<private 2 f32>\n"
            "mem_store %p, %one, %v, lane_stride=0\n%c = constant 3.0 : f32\nmem_store %u, %one, %c, lane_stride=0\n"
            "%a = mem_load %p, %one, lane_stride=0 : varying f32\n%d = mem_load %u, %one, lane_stride=0 : f32\n%e = "
            "binary.add %a, %d : varying f32\nmem_store %z, %t, %e, lane_stride=1"})));
  CHECK(v.z.real(7) == v.x.real(7) + 3);
  check_fault(
      v.run_warps(
          "%p = alloc name=\"p\" : varying buffer<private 4 f32>\n%a = mem_load %p, %one, lane_stride=0 : varying f32"),
      FaultKind::Uninitialised, "`p`");
}

TEST_CASE("interp: bank conflicts are counted") {
  Vectors v;
  auto conflicts = [&](int64_t stride) {
    std::string body = "%s = alloc name=\"s\" : buffer<shared 2048 f32>\n%k = constant " + std::to_string(stride) +
                       " : int\n%i = binary.mul %lane, %k : varying int\n" + std::string(kLoad) +
                       "if %first_warp {\nmem_store %s, %i, %v\nyield\n} else_body {\nyield\n}";
    RunResult result = v.run_warps(body);
    check_fine(result);
    CHECK(result.counters.shared_transactions == result.counters.bank_conflicts + 1);
    return result.counters.bank_conflicts;
  };
  CHECK(conflicts(1) == 0);
  CHECK(conflicts(2) == 1);
  CHECK(conflicts(32) == 31);
  CHECK(conflicts(33) == 0);
}

TEST_CASE("interp: atomics with acquire and release order what stands around them") {
  Vectors v;
  std::string good =
      text({kShared,
            "%flag = alloc name=\"flag\" : buffer<shared 1 i32>\n%set = constant 1 : i32\n%clear = constant 0 : i32\n"
            "if %first_warp {\nmem_store %flag, %zero, %clear\nyield\n} else_body {\nyield\n}\nblock_barrier\n"
            "if %first_warp {\n%c = constant 8.0 : f32\nmem_store %s, %zero, %c\n"
            "%o = mem_atomic.exchange %flag, %zero, [%set], order=release : i32\nblock_barrier\nyield\n} else_body "
            "{\nyield\n}\n"});
  // The two warps of a fixed order: the release comes first, whoever runs first.
  std::string body =
      changed(good, "block_barrier\nyield\n} else_body {\nyield\n}\n",
              "yield\n} else_body {\n%got = mem_atomic.add %flag, %zero, [%clear], order=acquire : i32\n"
              "%is_set = compare.eq %got, %set : bool\nif %is_set {\n%w = mem_load %s, %zero, lane_stride=0 : f32\n"
              "mem_store %z, %zero, %w\nyield\n} else_body {\nyield\n}\nyield\n}\n");
  int seen = 0, raced = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    RunOptions options;
    options.seed = seed;
    v.z.set_real(0, 0);
    check_fine(v.run_warps(body, options));
    seen += v.z.real(0) == 8;
    raced += bool(v.run_warps(changed(body, ", order=acquire", ""), options).fault);
  }
  CHECK(seen > 0);
  CHECK(raced == seen);
}

TEST_CASE("interp: an atom is the product that its layouts say") {
  Tensor a(Scalar::F16, {16, 16}), b(Scalar::F16, {16, 8}), c(Scalar::F32, {16, 8});
  a.fill(scrambled);
  b.fill([](int64_t k) { return scrambled(k + 31); });
  // Register and lane of an element as the layouts have it: a[g + 8 r1, 2 q + r0 + 8 r2], b[2 q + r0 + 8 r1, g], c[g +
  // 8 r1, 2 q + r0].
  std::string body;
  auto load = [&](std::string_view to, std::string_view from, int row_bit, int column_bit, bool row_is_k,
                  std::string_view element) {
    body += "%r" + std::string(to) + " = constant " + std::to_string(row_bit) + " : int\n%c" + std::string(to) +
            " = constant " + std::to_string(column_bit) + " : int\n";
    std::string row = row_is_k ? "%k2" : "%g", column = row_is_k ? "%g" : "%k2";
    body += "%y" + std::string(to) + " = binary.add " + row + ", %r" + std::string(to) + " : varying int\n";
    body +=
        "%m" + std::string(to) + " = binary.mul %y" + std::string(to) + ", %w" + std::string(from) + " : varying int\n";
    body += "%x" + std::string(to) + " = binary.add " + column + ", %c" + std::string(to) + " : varying int\n";
    body +=
        "%i" + std::string(to) + " = binary.add %m" + std::string(to) + ", %x" + std::string(to) + " : varying int\n";
    if (!element.empty())
      body += "%v" + std::string(to) + " = mem_load %" + std::string(from) + ", %i" + std::string(to) + " : varying " +
              std::string(element) + "\n";
  };
  body +=
      "%four = constant 4 : int\n%two = constant 2 : int\n%g = binary.div %lane, %four : varying int\n%q = binary.rem "
      "%lane, %four : varying int\n%k2 = binary.mul %q, %two : varying int\n"
      "%wa = constant 16 : int\n%wb = constant 8 : int\n%wc = constant 8 : int\n";
  std::string list_a, list_b;
  for (int r = 0; r < 8; ++r) {
    load("a" + std::to_string(r), "a", r & 2 ? 8 : 0, (r & 1) + (r & 4 ? 8 : 0), false, "f16");
    list_a += (r ? ", %va" : "%va") + std::to_string(r);
  }
  for (int r = 0; r < 4; ++r) {
    load("b" + std::to_string(r), "b", (r & 1) + (r & 2 ? 8 : 0), 0, true, "f16");
    list_b += (r ? ", %vb" : "%vb") + std::to_string(r);
  }
  for (int r = 0; r < 4; ++r) load("c" + std::to_string(r), "c", r & 2 ? 8 : 0, r & 1, false, "");
  body += "%va = vector_make [" + list_a + "] : varying vector<8 f16>\n%vb = vector_make [" + list_b +
          "] : varying vector<4 f16>\n"
          "%null = constant 1.0 : f32\n%vc = vector_make [%null, %null, %null, %null] : varying vector<4 f32>\n"
          "%d = atom [%va, %vb, %vc], name=\"product_16_8_16\" : varying vector<4 f32>\n";
  for (int r = 0; r < 4; ++r)
    body += "%e" + std::to_string(r) + " = vector_element %d, index=" + std::to_string(r) +
            " : varying f32\nmem_store %c, %ic" + std::to_string(r) + ", %e" + std::to_string(r) + "\n";
  std::string kernel =
      "kernel \"k\", form=thread\n param \"a\", %a, extents=[%s, %s], type=\"f16[16, 16]\"\n param \"b\", %b, "
      "extents=[%s, %h], type=\"f16[16, 8]\"\n"
      " param \"c\", %c, access=out, extents=[%s, %h], type=\"f32[16, 8]\"\n{ (%a: buffer<global 16x16 f16>, %b: "
      "buffer<global 16x8 f16>, %c: buffer<global 16x8 f32>)\n"
      "%s = constant 16 : int\n%h = constant 8 : int\n%one = constant 1 : int\nlaunch [%one], warps=1 { (%block: "
      "int)\n%lane = lane_index : varying int\n" +
      body + "yield\n}\nyield\n}";
  RunOptions options;
  options.machine = &kMachine;
  check_fine(run_text(kernel, {&a, &b, &c}, options));
  bool all = true;
  for (int64_t m = 0; m < 16; ++m)
    for (int64_t n = 0; n < 8; ++n) {
      double sum = 1;
      for (int64_t k = 0; k < 16; ++k) sum += a.at({m, k}) * b.at({k, n});
      all &= c.at({m, n}) == sum;
    }
  CHECK(all);
  check_fault(run_text(kernel, {&a, &b, &c}), FaultKind::Atom, "no atom `product_16_8_16`");
  check_fault(run_text(changed(kernel, "%vb = vector_make [" + list_b + "] : varying vector<4 f16>",
                               "%vb = vector_make [%vb0] : varying vector<1 f16>"),
                       {&a, &b, &c}, options),
              FaultKind::Atom, "takes vectors of 8 f16, 4 f16 and 4 f32");
}
