// Sums that the blocks of a cluster make together before they add them to a tensor: tests/kernels/cluster_sums.tile. That they are right
// the tests of kernel files show.
#include "threads.h"

using namespace tilec;

TEST_SUITE("cluster sums") {
  TEST_CASE("blocks that add to the same elements read each other's tiles, between two barriers of the cluster") {
    Threads threads(std::string(TILEC_TESTS) + "/kernels/cluster_sums.tile");
    for (const char* name : {"column_sums_2", "column_sums_4", "matrix_sums_2", "matrix_sums_8", "paired_sums"}) {
      CAPTURE(name);
      std::string text = threads.of(name, "sm_90a");
      CHECK(count(text, "cluster_barrier") == 2);
      CHECK(count(text, "peer=") > 0);
      CHECK(count(text, "cluster_blocks") == 1);
    }
    // Of eight blocks each adds an eighth, of four registers at once, from eight.
    CHECK(count(threads.of("matrix_sums_8", "sm_90a"), "peer=") == 8);
    CHECK(count(threads.of("matrix_sums_2", "sm_90a"), "peer=") == 8);
  }

  TEST_CASE("blocks that add to elements of their own, and those of other machines, are alone") {
    Threads threads(std::string(TILEC_TESTS) + "/kernels/cluster_sums.tile");
    CHECK(count(threads.of("own_sums", "sm_90a"), "cluster") == 0);
    for (const char* machine : {"sm_80", "model", "x86-64-v3"}) CHECK(count(threads.of("matrix_sums_2", machine), "cluster") == 0);
  }

  TEST_CASE("it is told how many blocks add up, or why none do") {
    Threads threads(std::string(TILEC_TESTS) + "/kernels/cluster_sums.tile");
    threads.of("matrix_sums_8", "sm_90a");
    CHECK(threads.remarks("SumsShared") == std::vector<std::string>{"8 blocks of a cluster add up what they add to `sums`, each a part of it"});
    CHECK(threads.remarks("NothingShared").empty());
    threads.of("own_sums", "sm_90a");
    CHECK(threads.remarks("NothingShared") == std::vector<std::string>{"the blocks of this launch form no clusters: each of them adds to elements of `sums` of its own"});
  }
}
