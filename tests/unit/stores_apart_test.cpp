// Stores of a loop's turns to regions that lie apart need no barrier between them; others do.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "threads.h"

using namespace tilec;

namespace {

const std::string kText = R"(
export kernel apart(A: f32[M, N], out B: f32[M, N]) {
    launch (i in ceildiv(M, 4)) {
        for j in 0..ceildiv(N, 256) { B.tile[4, 256](i, j) = A.tile[4, 256](i, j) * 2.0; }
    }
}
export kernel nested(A: f32[M, N], out B: f32[M, N]) {
    launch (z in 1) {
        for i in 0..ceildiv(M, 4) {
            for j in 0..ceildiv(N, 256) { B.tile[4, 256](i, j) = A.tile[4, 256](i, j) * 2.0; }
        }
    }
}
export kernel again(A: f32[M, N], out B: f32[M, N]) {
    launch (i in ceildiv(M, 4), j in ceildiv(N, 256)) {
        for k in 0..ceildiv(N, 256) { B.tile[4, 256](i, j) = A.tile[4, 256](i, k) * 2.0; }
    }
}
export kernel inner_again(A: f32[M, N], out B: f32[M, N]) {
    launch (z in 1) {
        for i in 0..ceildiv(M, 4) {
            for j in 0..ceildiv(N, 256) { B.tile[4, 256](0, j) = A.tile[4, 256](i, j) * 2.0; }
        }
    }
}
export kernel across(A: f32[M, N], out B: f32[M, N]) {
    launch (i in ceildiv(M, 4)) {
        for j in 0..ceildiv(N, 64) { B[i * 4 +: 4, j * 64 +: 256] = A[i * 4 +: 4, j * 64 +: 256] * 2.0; }
    }
}
export kernel twice(A: f32[M, N], out B: f32[M, N]) {
    launch (i in ceildiv(M, 4)) {
        for j in 0..ceildiv(N, 256) { B.tile[4, 256](i, j) = A.tile[4, 256](i, j) * 2.0; }
        for j in 0..ceildiv(N, 64) { B.tile[4, 64](i, j) = A.tile[4, 64](i, j) * 3.0; }
    }
}
export kernel read_back(A: f32[M, N], inout B: f32[M, N]) {
    launch (i in ceildiv(M, 4)) {
        for j in 0..ceildiv(N, 256) { B.tile[4, 256](i, j) = A.tile[4, 256](i, j) + B.tile[4, 256](i, 0); }
    }
}
)";

}  // namespace

TEST_SUITE("stores apart") {
  TEST_CASE("a barrier stands between turns that may write the same elements, and only there") {
    std::string path = (std::filesystem::temp_directory_path() / ("stores_apart_" + std::to_string(getpid()) + ".tile")).string();
    std::ofstream(path) << kText;
    Threads threads(path);
    std::filesystem::remove(path);
    auto barriers = [&](const char* name) { return count(threads.of(name, "sm_90a"), "block_barrier"); };
    CHECK(barriers("apart") == 0);
    CHECK(barriers("nested") == 0);
    CHECK(barriers("again") > 0);
    CHECK(barriers("inner_again") > 0);
    CHECK(barriers("across") > 0);
    CHECK(barriers("twice") > 0);
    CHECK(barriers("read_back") > 0);
  }
}
