// Large tensors that are only written go past the caches: the same numbers, for every alignment. Rows that are read twice
// ask for the next ones meanwhile.
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

constexpr const char* kReadTwice = R"(
export kernel k(A: f32[M, N], out B: f32[M, N]) {
    launch (i in ceildiv(M, 4)) {
        var sum: fragment f32[4] = 0;
        for j in 0..ceildiv(N, 512) { sum += A.tile[4, 512](i, j).sum(axis = 1); }
        for j in 0..ceildiv(N, 512) { B.tile[4, 512](i, j) = A.tile[4, 512](i, j) - sum[:, _]; }
    }
}
)";
constexpr const char* kReadOnce = R"(
export kernel k(A: f32[M, N], out B: f32[M, N]) {
    launch (i in ceildiv(M, 4)) {
        for j in 0..ceildiv(N, 512) { B.tile[4, 512](i, j) = A.tile[4, 512](i, j) * 2.0; }
    }
}
)";
constexpr const char* kReadByAll = R"(
export kernel k(A: f32[M, N], out B: f32[M, N]) {
    launch (i in ceildiv(M, 4)) {
        var sum: fragment f32[4] = 0;
        for j in 0..ceildiv(N, 512) { sum += A.tile[4, 512](0, j).sum(axis = 1); }
        for j in 0..ceildiv(N, 512) { B.tile[4, 512](i, j) = A.tile[4, 512](0, j) - sum[:, _]; }
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

TEST_CASE("a loop that reads again asks for what the next block reads") {
  Folder folder;
  auto asked = [&](const char* kernel, const std::string& form) {
    folder.write("r.tile", kernel);
    return std::stoi("0" + folder.tilec("r.tile -o - --target=x86-64-v4 --emit=" + form + " | grep -c prefetch").out);
  };
  CHECK(asked(kReadTwice, "thread-ir") > 0);
  CHECK(asked(kReadTwice, "asm") > 0);
  CHECK(asked(kReadOnce, "thread-ir") == 0);
  CHECK(asked(kReadByAll, "thread-ir") == 0);
}

}  // namespace tilec::command
