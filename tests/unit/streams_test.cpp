// Large tensors that are only written go past the caches: the same numbers, for every alignment.
#include "compiled_program.h"

namespace tilec::command {

namespace {

// Rows of 4097 elements begin at every place in a line; 1300 of them are more than caches keep.
const std::string kKernels = R"(
export kernel twice(A: f32[M, N], out B: f32[M, N], out C: i8[M, N]) {
    launch (i in ceildiv(M, 8), j in ceildiv(N, 128)) {
        let a = A.tile[8, 128](i, j);
        B.tile(i, j) = a * 2.0;
        C.tile(i, j) = (a - 5.0) as i8;
    }
}
)";

constexpr const char* kCaller = R"(
#include <stdlib.h>
enum { kRows = 5000, kColumns = 4097 };
int main(void) {
  size_t count = (size_t)kRows * kColumns;
  float *a = malloc(count * 4 + 64), *b = malloc(count * 4 + 64);
  int8_t *c = malloc(count + 64);
  for (size_t i = 0; i < count; ++i) a[i] = (float)(i * 7 % 101);
  for (int shift = 0; shift < 5; ++shift) {
    memset(b, 0xff, count * 4 + 64);
    memset(c, 0x55, count + 64);
    CHECK(twice(a, b + shift, c + 3 * shift, kRows, kColumns, 0) == TILE_OK);
    for (size_t i = 0; i < count; ++i) {
      CHECK(b[i + (size_t)shift] == 2 * a[i]);
      CHECK(c[i + 3 * (size_t)shift] == (int8_t)(a[i] - 5));
    }
    for (size_t i = 0; i < 8; ++i) CHECK(((unsigned char *)(b + count + shift))[i] == 0xff && c[count + 3 * (size_t)shift + i] == 0x55);
  }
  puts("fine");
  return 0;
}
)";

}  // namespace

TEST_CASE("what goes past the caches arrives whole at any alignment") {
  Folder folder;
  expect_fine(folder, kKernels, kCaller);
  for (const char* level : {"x86-64", "x86-64-v3", "x86-64-v4"}) {
    Ran ran = folder.tilec("k.tile --emit=asm -o - --target=" + std::string(level) + " | grep -c movnt");
    CHECK_MESSAGE(std::stoi("0" + ran.out) > 0, std::string(level));
    ran = folder.tilec("k.tile --emit=asm -o - --target=" + std::string(level) + " | grep -c sfence");
    CHECK_MESSAGE(std::stoi("0" + ran.out) > 0, std::string(level));
  }
}

}  // namespace tilec::command
