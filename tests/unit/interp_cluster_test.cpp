// Blocks that run at once, written by hand: they meet, read each other's shared memory and arrive at each other's barriers.
#include "interp_fixture.h"
#include "target/target.h"

using namespace tilec;
using namespace tilec::interp;

namespace {

// Blocks of one warp over x: f32[96] (in) and z: f32[96] (out), a lane an element: %e.
std::string blocks(std::string_view body, int count) {
  return "kernel \"k\", form=thread\n  param \"x\", %x, extents=[%n], type=\"f32[96]\"\n"
         "  param \"z\", %z, access=out, extents=[%n], type=\"f32[96]\"\n"
         "{ (%x: buffer<global 96 f32>, %z: buffer<global 96 f32>)\n"
         "  %n = constant 96 : int\n  %zero = constant 0 : int\n  %one = constant 1 : int\n  %warp = constant 32 : int\n  %blocks = constant " +
         std::to_string(count) +
         " : int\n  launch [%blocks], warps=1, cluster=[2] { (%block: int)\n"
         "%lane = lane_index : varying int\n%first = binary.mul %block, %warp : int\n%e = binary.add %first, %lane : varying int\n"
         "%other = binary.sub %one, %block : int\n%is_first = compare.eq %block, %zero : bool\n"
         "%s = alloc name=\"s\" : buffer<shared 32 f32>\n%bars = alloc name=\"bars\" : buffer<shared 1 u64>\n%v = mem_load %x, %e, lane_stride=1 : varying f32\n" +
         std::string(body) + "    yield\n  }\n  yield\n}\n";
}

struct Vectors {
  Tensor x{Scalar::F32, {96}}, z{Scalar::F32, {96}};
  Vectors() { x.fill(scrambled); }
  RunResult run_blocks(std::string_view body, RunOptions options = {}, int count = 2) { return run_text(blocks(body, count), {&x, &z}, options); }
};

// Reads of what was never written would be noticed first.
RunOptions lax(uint64_t seed) {
  RunOptions options;
  options.check_initialised = false;
  options.seed = seed;
  return options;
}

// Each block gives what the other one has written.
constexpr std::string_view kTurned = "cluster_barrier why=\"both are there\"\nmem_store %s, %lane, %v, lane_stride=1\ncluster_barrier why=\"both have written\"\n"
                                     "%w = mem_load %s, %lane, lane_stride=1, peer=%other : varying f32\nmem_store %z, %e, %w, lane_stride=1\n"
                                     "cluster_barrier why=\"both have read\"\n";

// The first block waits at its barrier for what the second one has written, of which one lane tells.
constexpr std::string_view kTold = "if %is_first {\nphase_init %bars, %zero, arrivals=1\nyield\n} else_body {\nyield\n}\n"
                                   "cluster_barrier why=\"the barrier is set\"\nif %is_first {\nphase_wait %bars, %zero, %zero\n"
                                   "%w = mem_load %s, %lane, lane_stride=1, peer=%other : varying f32\nmem_store %z, %e, %w, lane_stride=1\nyield\n"
                                   "} else_body {\nmem_store %s, %lane, %v, lane_stride=1\nwarp_barrier\n%tells = compare.eq %lane, %zero : varying bool\n"
                                   "phase_arrive %bars, %zero, mask=%tells, block=%other\nyield\n}\ncluster_barrier why=\"all is read\"\n";

}  // namespace

TEST_CASE("interp: blocks of a cluster read what the others have written, a barrier between") {
  for (uint64_t seed : {1, 2, 3, 4}) {
    CAPTURE(seed);
    RunOptions options;
    options.seed = seed;
    Vectors v;
    check_fine(v.run_blocks(kTurned, options));
    for (int64_t k = 0; k < 64; ++k) REQUIRE(v.z.real(k) == v.x.real(k ^ 32));
    check_fault(v.run_blocks(changed(std::string(kTurned), "cluster_barrier why=\"both have written\"\n", ""), lax(seed)), FaultKind::Race, "`s`");
  }
}

TEST_CASE("interp: what is written again may be read no longer") {
  std::string again = changed(std::string(kTurned), "cluster_barrier why=\"both have read\"\n",
                              "cluster_barrier why=\"both have read\"\nmem_store %s, %lane, %v, lane_stride=1\n");
  for (uint64_t seed : {1, 2, 3, 4}) {
    CAPTURE(seed);
    Vectors v;
    check_fine(v.run_blocks(again, lax(seed)));
    std::string early = changed(again, "cluster_barrier why=\"both have read\"\n", "") + "cluster_barrier\n";
    check_fault(v.run_blocks(early, lax(seed)), FaultKind::Race, "`s`");
  }
}

TEST_CASE("interp: the memory of a block that is not there is not read") {
  Vectors v;
  check_fault(v.run_blocks(changed(std::string(kTurned), "cluster_barrier why=\"both have read\"\n", "")), FaultKind::OutOfBounds, "has ended");
  check_fault(v.run_blocks(changed(std::string(kTurned), "peer=%other", "peer=%blocks")), FaultKind::OutOfBounds, "is none of its 2");
  check_fault(v.run_blocks("%w = mem_load %s, %lane, lane_stride=1, peer=%other : varying f32\ncluster_barrier\n"), FaultKind::OutOfBounds,
              "has not come to where it has `s`");
}

TEST_CASE("interp: all lanes of all blocks come to the barrier of a cluster") {
  Vectors v;
  const std::string some = "%c = compare.lt %lane, %one : varying bool\nif %c {\nBARRIER\nyield\n} else_body {\nyield\n}\n";
  check_fault(v.run_blocks("if %is_first {\ncluster_barrier\nyield\n} else_body {\nyield\n}\n"), FaultKind::Deadlock, "the barrier of its cluster");
  for (const char* barrier : {"cluster_barrier", "warp_barrier"})
    check_fault(v.run_blocks(changed(some, "BARRIER", barrier)), FaultKind::Barrier, "does not reach this barrier");
}

TEST_CASE("interp: the barrier of another block is set before it is used, in whatever order blocks run") {
  for (uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    CAPTURE(seed);
    Vectors v;
    const std::string there = "cluster_barrier why=\"both are there\"\n";
    check_fine(v.run_blocks(there + std::string(kTold), lax(seed)));
    check_fault(v.run_blocks(there + changed(std::string(kTold), "cluster_barrier why=\"the barrier is set\"\n", ""), lax(seed)), FaultKind::Barrier, "`phase_init`");
  }
}

TEST_CASE("interp: a lane that tells another block speaks for its warp where that has met") {
  for (const char* machine : {"sm_90a", "model"}) {
    CAPTURE(machine);
    RunOptions options = lax(1);
    options.machine = target::machine_named(machine)->machine;
    Vectors v;
    check_fine(v.run_blocks(kTold, options));
    for (int64_t k = 0; k < 32; ++k) REQUIRE(v.z.real(k) == v.x.real(k + 32));
    RunResult apart = v.run_blocks(changed(std::string(kTold), "warp_barrier\n", ""), options);
    if (options.machine->has(Cap::DivergentBranches)) check_fault(apart, FaultKind::Race, "`s`");
    else check_fine(apart);
    check_fault(v.run_blocks(changed(std::string(kTold), "phase_wait %bars, %zero, %zero\n", ""), options), FaultKind::Race, "`s`");
    check_fault(v.run_blocks(changed(std::string(kTold), "arrivals=1", "arrivals=2"), options), FaultKind::Deadlock, "a phase of a barrier");
    check_fault(v.run_blocks(changed(std::string(kTold), ", mask=%tells", ""), options), FaultKind::Deadlock, "a phase of a barrier");
    check_fault(v.run_blocks(changed(std::string(kTold), "cluster_barrier why=\"all is read\"\n", ""), options), FaultKind::OutOfBounds, "has ended");
  }
}

TEST_CASE("interp: blocks form clusters where these cut the grid, and where it is wanted") {
  const std::string counted = "%c = cluster_blocks : int\n%f = convert %c : f32\nmem_store %z, %e, %f, lane_stride=1\n";
  Vectors v;
  auto blocks_of = [&](int count, bool forms_clusters) {
    RunOptions options;
    options.forms_clusters = forms_clusters;
    check_fine(v.run_blocks(counted, options, count));
    return v.z.real(0);
  };
  CHECK(blocks_of(2, true) == 2);
  CHECK(blocks_of(3, true) == 1);
  CHECK(blocks_of(2, false) == 1);
}
