// Shared memory: what may lie in the same bytes does, what may not does not, and the interpreter notices who put it there.
#include <ranges>

#include "interp_fixture.h"
#include "ir/packed.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pack_shared.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/model/machine.h"

using namespace tilec;
using namespace tilec::interp;

namespace {

// One block of `warps` warps; every thread has an element of x and of z.
std::string block(std::string_view body, int warps = 2) {
  std::string n = std::to_string(warps * 32);
  return "kernel \"k\", form=thread\n  param \"x\", %x, extents=[%n], type=\"f32[" + n + "]\"\n  param \"z\", %z, access=out, extents=[%n], type=\"f32[" + n + "]\"\n"
         "{ (%x: buffer<global " + n + " f32>, %z: buffer<global " + n + " f32>)\n"
         "  %n = constant " + n + " : int\n  %zero = constant 0 : int\n  %one = constant 1 : int\n  %three = constant 3 : int\n  %yes = compare.lt %zero, %n : bool\n"
         "  launch [%one], warps=" + std::to_string(warps) + " { (%block: int)\n%t = thread_index : varying int\n%last = constant " + std::to_string(warps * 32 - 1) +
         " : int\n%o = binary.sub %last, %t : varying int\n%v = mem_load %x, %t, lane_stride=1 : varying f32\n" + std::string(body) + "\n    yield\n  }\n  yield\n}\n";
}

// `$` stands for a name.
std::string with_name(std::string text, std::string_view name) { return changed(std::move(text), "$", name); }
std::string declare(std::string_view name) { return with_name("%$ = alloc name=\"$\" : buffer<shared 64 f32>\n", name); }
std::string write(std::string_view name, std::string_view value = "%v") {
  return with_name("mem_store %$, %t, ", name) + std::string(value) + ", lane_stride=1\n";
}
// Of the thread opposite.
std::string read(std::string_view name) { return with_name("%from_$ = mem_load %$, %o : varying f32\n", name); }
constexpr std::string_view kBarrier = "block_barrier\n";
std::string give(std::string_view value) { return "mem_store %z, %t, " + std::string(value) + ", lane_stride=1\n"; }
std::string loop(std::string_view body) { return "for %zero, %three, %one { (%i: int)\n" + std::string(body) + "yield }\n"; }

std::string operator+(const std::string& a, std::string_view b) { return a + std::string(b); }

struct Packed {
  ir::Kernel kernel;
  explicit Packed(const std::string& body, int warps = 2, const Machine& machine = target::model::asynchronous()) : kernel(kernel_of(block(body, warps))) {
    Diagnostics diagnostics{Policy{}};
    REQUIRE(ir::verify(kernel, kernel.form).empty());
    passes::pack_shared(kernel, machine, diagnostics);
    REQUIRE(ir::verify(kernel, kernel.form).empty());
  }
  int64_t offset(std::string_view name) const {
    int64_t found = ir::kUnplaced;
    each_op(kernel, kernel.body, [&](ir::OpId id) {
      auto* alloc = kernel.op(id).get<ir::op::Alloc>();
      if (alloc && alloc->name == name) found = alloc->offset;
    });
    return found;
  }
  bool is_shared() const { return offset("a") == offset("b"); }
};

// z is x the other way round, through a and back through b.
std::string turn_twice() {
  return declare("a") + declare("b") + write("a") + kBarrier + read("a") + kBarrier + write("b", "%from_a") + kBarrier + read("b") + give("%from_b");
}

}  // namespace

TEST_CASE("packing: buffers that are done give their bytes to others behind a barrier") {
  Packed packed(turn_twice());
  CHECK(packed.is_shared());
  Tensor x(Scalar::F32, {64}), z(Scalar::F32, {64});
  x.fill(scrambled);
  std::vector<Argument> arguments{&x, &z};
  check_fine(run(packed.kernel, arguments));
  bool all = true;
  for (int64_t k = 0; k < 64; ++k) all &= z.real(k) == x.real(k);
  CHECK(all);
}

TEST_CASE("packing: without a barrier between them they lie apart, but for a single warp whose lanes cannot part") {
  std::string close = declare("a") + declare("b") + write("a") + kBarrier + read("a") + write("b", "%from_a") + kBarrier + read("b") + give("%from_b");
  CHECK_FALSE(Packed(close).is_shared());
  std::string alone = changed(close, "64 f32", "32 f32");
  Machine in_step = target::model::asynchronous();
  in_step.caps &= ~cap_set({Cap::DivergentBranches});
  CHECK(Packed(changed(alone, "block_barrier\n", ""), 1, in_step).is_shared());
  CHECK_FALSE(Packed(changed(alone, "block_barrier\n", ""), 1).is_shared());
}

TEST_CASE("packing: what is held while the other is touched keeps its bytes") {
  CHECK_FALSE(Packed(declare("a") + declare("b") + write("a") + kBarrier + write("b") + kBarrier + read("a") + read("b") + give("%from_a")).is_shared());
  // Around a loop in which the other is used; and from one iteration to the next.
  CHECK_FALSE(Packed(declare("a") + declare("b") + write("a") + kBarrier + loop(write("b") + kBarrier + read("b") + kBarrier) + read("a") + give("%from_a")).is_shared());
  std::string in_turns = write("a") + kBarrier + read("a") + kBarrier + write("b") + kBarrier + read("b") + kBarrier;
  CHECK_FALSE(Packed(declare("a") + declare("b") + loop(in_turns)).is_shared());
  CHECK(Packed(loop(declare("a") + declare("b") + in_turns)).is_shared());
}

TEST_CASE("packing: the barrier has to be there from one iteration to the next, and on every path") {
  std::string body = declare("a") + declare("b") + write("a") + kBarrier + read("a") + kBarrier + write("b") + kBarrier + read("b");
  CHECK(Packed(loop(body + kBarrier)).is_shared());
  CHECK_FALSE(Packed(loop(body)).is_shared());
  std::string maybe = declare("a") + declare("b") + write("a") + kBarrier + read("a") + "if %yes {\n" + kBarrier + "yield } else_body { yield }\n" + write("b") + kBarrier + read("b");
  CHECK_FALSE(Packed(maybe).is_shared());
  CHECK(Packed(changed(maybe, "else_body { yield }", std::string("else_body {\n") + kBarrier + "yield }")).is_shared());
}

TEST_CASE("packing: the interpreter notices bytes that are shared too early") {
  std::string text = ir::print(Packed(turn_twice()).kernel);
  Tensor x(Scalar::F32, {64}), z(Scalar::F32, {64});
  x.fill(scrambled);
  // The second barrier orders the reads of a before the writes of b.
  size_t first = text.find("block_barrier"), second = text.find("block_barrier", first + 1);
  text.erase(second, 13);
  RunResult early = run_text(text, {&x, &z});
  REQUIRE(early.fault);
  CHECK_MESSAGE((early.fault->kind == FaultKind::Race || early.fault->kind == FaultKind::Uninitialised), fault_of(early));
  // Though every element were written again in time, nothing orders the two.
  RunOptions lax;
  lax.check_initialised = false;
  check_fault(run_text(text, {&x, &z}, lax), FaultKind::Race, "and nothing orders the two");
  // And what is read behind the writes of the other is gone.
  std::string held = ir::print(Packed(declare("a") + declare("b") + write("a") + kBarrier + write("b") + kBarrier + read("a") + read("b") + give("%from_a")).kernel);
  check_fine(run_text(held, {&x, &z}));
  check_fault(run_text(changed(held, "offset=256", "offset=0"), {&x, &z}), FaultKind::Uninitialised, "where `b` has been written since");
}

TEST_CASE("packing: an array of barriers with phases shares its bytes with nothing, even when it is done") {
  std::string phases = "%a = alloc name=\"a\" : buffer<shared 4 u64>\nphase_init %a, %zero, arrivals=2\n";
  CHECK_FALSE(Packed(phases + declare("b") + kBarrier + write("b") + kBarrier + read("b")).is_shared());
}

TEST_CASE("packing: only shared memory in Thread form has an offset") {
  std::string text = block(declare("a") + write("a"));
  auto codes = [&](std::string_view type) {
    std::string all;
    for (const ir::Violation& v : ir::verify(kernel_of(changed(text, "name=\"a\" : buffer<shared 64 f32>", type)), ir::Form::Thread)) all += std::string(v.code) + " ";
    return all;
  };
  CHECK(codes("name=\"a\", offset=64 : buffer<shared 64 f32>") == "");
  CHECK(codes("name=\"a\", offset=2 : buffer<shared 64 f32>") == "V071 ");
  CHECK(codes("name=\"a\", offset=64 : buffer<private 64 f32>") == "V071 ");
}

namespace {

struct OnModel {
  SourceMap sources;
  Diagnostics diagnostics{Policy{}};
  ir::Kernel kernel;
  bool is_fine = false;
  int rounds = 0, versions = 0;
  int64_t packed = 0;

  explicit OnModel(std::string_view source, const Machine& machine = target::model::asynchronous()) {
    Ast ast = parse(sources.add("k.tile", std::string(source)), sources, diagnostics);
    Program program = analyse(ast, sources, embedded_library(), diagnostics);
    REQUIRE(!diagnostics.has_errors());
    kernel = kernel_for(program.exports.at(0), machine);
    PassOptions passes;
    passes.after = [&](const Pass& pass, const ir::Kernel& now) {
      rounds += pass.name == "pack-shared";
      if (pass.name == "stage-loops")
        each_op(now, now.body, [&](ir::OpId id) {
          if (now.op(id).is<ir::op::RingAlloc>()) versions = int(now.type(now.op(id).result()).shape[0]);
        });
    };
    is_fine = run_passes(kernel, machine, diagnostics, passes);
    each_op(kernel, kernel.body, [&](ir::OpId id) {
      if (auto* launch = kernel.op(id).get<ir::op::Launch>()) packed = std::max(packed, ir::packed_bytes(kernel, launch->body));
    });
  }
  std::string errors() const {
    std::string all;
    for (const Diagnostic& d : diagnostics.all()) all += std::string(d.name) + ": " + d.message + "\n";
    return all;
  }
};

}  // namespace

TEST_CASE("packing: loops with tiles of their own use one memory, which would not hold both") {
  // 128 KB in each loop, of 227.
  OnModel both(R"(
kernel twice(A: f32[64, W], B: f32[64, W], out C: f32[N, 64, 512], out D: f32[N, 64, 512]) {
    launch (i in 1) threads 128 {
        for k in 0..N {
            var a: shared f32[64, 512];
            a = A[0 +: 64, k * 64 +: 512];
            C[k, 0 +: 64, 0 +: 512] = a;
        }
        for k in 0..N {
            var b: shared f32[64, 512];
            b = B[0 +: 64, k * 64 +: 512];
            D[k, 0 +: 64, 0 +: 512] = b;
        }
    }
}
export twice;
)");
  INFO(both.errors());
  CHECK(both.is_fine);
  CHECK(both.packed == 128 << 10);
}

namespace {

// The turns of a ring beside the 32 KB that the sum needs from warp to warp; three turns would fit without that.
std::string ring_beside_sum(std::string_view rest = {}) {
  return R"(
kernel product(A: f16[M, K], B: f16[K, N], D: f32[P, 2048], out C: f32[M, N], out S: f32[2048]) {
    launch (i in 1) threads 128 {
        var a: shared f16[128, 256];
        var b: shared f16[256, 16];
        var acc: fragment f32[128, 16] = 0;
        var s: fragment f32[2048] = 0;
        for k in pipelined(ceildiv(K, 256)) {
            a = A.tile(0, k);
            b = B.tile(k, 0);
            acc += a @ b;
            let x = D[k * 32 +: 32, 0 +: 2048];
            s += x.sum(axis = 0);
        }
        C.tile(0, 0) = acc;
        S[0 +: 2048] = s;
    }
}
export product;
)" + std::string(rest);
}

}  // namespace

TEST_CASE("packing: what lowering needs beside the tiles makes another round with fewer versions") {
  OnModel rounds(ring_beside_sum());
  INFO(rounds.errors());
  CHECK(rounds.is_fine);
  CHECK(rounds.rounds == 2);
  CHECK(rounds.versions == 2);
  CHECK(rounds.packed <= target::model::asynchronous().shared_bytes);
}

TEST_CASE("packing: a pinned depth is not given back") {
  OnModel pinned(ring_beside_sum("schedule product for model { pipeline a_b: a, b; depth 3, in_flight 1; }\n"));
  CHECK_FALSE(pinned.is_fine);
  CHECK(pinned.errors().find("SharedMemoryExceeded") != std::string::npos);
  CHECK(std::ranges::count(pinned.errors(), '\n') == 1);
}

TEST_CASE("packing: engines' tiles lie where swizzles begin, and phases share nothing") {
  OnModel rounds(ring_beside_sum());
  std::vector<std::pair<int64_t, int64_t>> phases, others;
  each_op(rounds.kernel, rounds.kernel.body, [&](ir::OpId id) {
    auto* alloc = rounds.kernel.op(id).get<ir::op::Alloc>();
    if (!alloc || alloc->offset == ir::kUnplaced) return;
    const ir::Type& type = rounds.kernel.type(rounds.kernel.op(id).result());
    std::pair place(alloc->offset, alloc->offset + type.element_count() * byte_width(type.element));
    bool is_phase = alloc->name == "full" || alloc->name == "empty";
    (is_phase ? phases : others).push_back(place);
    if (alloc->name == "a" || alloc->name == "b") CHECK(alloc->offset % 1024 == 0);
  });
  REQUIRE(phases.size() == 2);
  others.insert(others.end(), phases.begin(), phases.end());
  for (auto phase : phases)
    for (auto other : others) CHECK((phase == other || phase.second <= other.first || other.second <= phase.first));
}
