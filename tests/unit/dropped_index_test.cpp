// An index that takes one place of a dimension is not clipped, as tiles over an edge are: it is reported, natively as by the
// interpreter.
#include "compiled_program.h"

namespace tilec::command {

namespace {

const std::string kKernels = R"(
export kernel rows(t: f32[V, N], index: i32[M], out y: f32[M, N]) {
    launch (j in ceildiv(N, 128), i in M) { y[i].tile(j) = t[index[i] as int].tile[128](j); }
}
export kernel through_shared(t: f32[V, N], index: i32[M], out y: f32[M, N]) {
    launch (j in ceildiv(N, 128), i in M) { var s: shared f32[128] = t[index[i] as int].tile(j); y[i].tile(j) = s; }
}
export kernel back(t: f32[M, N], index: i32[M], inout y: f32[V, N]) {
    launch (one in 1) { for i in 0..M { for j in 0..ceildiv(N, 128) { y[index[i] as int].tile(j) = t[i].tile[128](j); } } }
}
)";

// The message names the side that leaves its tensor, with its text and extent.
constexpr const char* kCaller = R"(
#define SAYS(text, extent) (strstr(tile1_last_message(), text) && strstr(tile1_last_message(), extent))
int main(void) {
  enum { V = 4, M = 3, N = 5 };
  float t[V * N], y[V * N];
  const int32_t good[M] = {3, 0, 1}, outside[] = {4, -1, 2147483647, (-2147483647 - 1)};
  for (int i = 0; i < V * N; ++i) t[i] = (float)i;
  CHECK(rows(t, good, y, V, N, M, 0) == TILE_OK && y[0] == 15 && y[N] == 0 && y[2 * N + 4] == 9);
  CHECK(through_shared(t, good, y, V, N, M, 0) == TILE_OK && y[0] == 15 && y[N] == 0 && y[2 * N + 4] == 9);
  CHECK(back(t, good, y, M, N, V, 0) == TILE_OK && y[3 * N] == 0 && y[0] == 5 && y[N] == 10);
  for (int k = 0; k < 4; ++k) {
    int32_t bad[M] = {0, outside[k], 1};
    CHECK(rows(t, bad, y, V, N, M, 0) == TILE_BOUNDS && SAYS(": t[index[i] as int].tile[128](j): ", "the extent is 4"));
    CHECK(y[0] == 0 && y[N] == 0 && y[2 * N] == 5);
    CHECK(through_shared(t, bad, y, V, N, M, 0) == TILE_BOUNDS && SAYS(": t[index[i] as int].tile(j): ", "the extent is 4"));
    CHECK(back(t, bad, y, M, N, V, 0) == TILE_BOUNDS && y[0] == 0 && y[N] == 10);
    CHECK(SAYS(": y[index[i] as int].tile(j): ", "the extent is 4"));
  }
  puts("fine");
  return 0;
}
)";

}  // namespace

TEST_CASE("an index of one place that lies outside is reported") {
  Folder folder;
  expect_fine(folder, kKernels, kCaller);
}

}  // namespace tilec::command
