// tf32 as a C program sees it: floats, of which kernels read the upper bits.
#include "compiled_program.h"

using namespace tilec::command;

TEST_CASE("numbers and tensors of tf32 are a caller's floats, cut") {
  Folder folder;
  expect_fine(folder, R"(
export kernel scaled(A: tf32[N], by: tf32, out B: tf32[N], out C: f32[N], out D: tf32[N]) {
    launch (i in ceildiv(N, 32)) {
        let a = A.tile[32](i);
        B.tile(i) = a;
        C.tile(i) = (a as f32) * (by as f32);
        for k in parallel(32) {
            if i * 32 + k < N { D[i * 32 + k] = by; }
        }
    }
}
)", R"(
int main(void) {
  float a[40], b[40], c[40], d[40];
  for (int i = 0; i < 40; ++i) a[i] = 1.1f + (float)i * 0.37f;
  CHECK(scaled(a, 1.1f, b, c, d, 40, NULL) == TILE_OK);
  for (int i = 0; i < 40; ++i) {
    uint32_t bits, number;
    float by = 1.1f, cut_a, cut_by;
    memcpy(&bits, &a[i], 4), memcpy(&number, &by, 4);
    bits &= 0xffffe000u, number &= 0xffffe000u;
    memcpy(&cut_a, &bits, 4), memcpy(&cut_by, &number, 4);
    CHECK(memcmp(&b[i], &cut_a, 4) == 0);
    CHECK(c[i] == cut_a * cut_by);
    CHECK(memcmp(&d[i], &cut_by, 4) == 0);
  }
  puts("fine");
  return 0;
}
)");
}
