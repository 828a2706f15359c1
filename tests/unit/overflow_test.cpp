// An `int` that leaves 64 bits: in front of it stands a test, and behind it no access leaves its tensor.
#include <doctest/doctest.h>

#include "compiled_program.h"

using namespace tilec::command;

namespace {

constexpr const char* kKernels = R"(export kernel shifted(x: i64[N], out y: i32[N]) {
    launch (i in N) {
        y[i] = 0;
        let v = x[i] as int;
        if v >= 0 {
            let j = v << 40;
            if j < N { y[j / 2] = 7; }
        }
    }
}
export kernel stretched(x: i64[N], out y: i32[N]) {
    launch (i in N) {
        y[i] = 0;
        let v = x[i] as int;
        if v >= 1 {
            let j = v * 1099511627776;
            if j < N { y[j / 2] = 7; }
        }
    }
}
export kernel wrapped(x: i64[N], out y: i32[N]) {
    launch (i in N) {
        y[i] = 0;
        let v = x[i];
        if v >= 0 {
            let j = (v << 40) + v * 1099511627776;
            if j < N { y[j / 2] = 7; }
        }
    }
}
export kernel moved(x: i64[N], out y: i32[N], by: int) {
    launch (b in ceildiv(N, 32)) {
        for t in parallel(32) {
            let i = b * 32 + t;
            if i < N {
                let j = x[i] + by - 1;
                y[i] = if j >= 0 && j < N { 3 as i32 } else { 0 as i32 };
            }
        }
    }
}
export kernel threaded(x: i64[N], out y: i64[N]) {
    launch (b in ceildiv(N, 64)) threads 64 {
        simt (t) {
            let i = b * 64 + t;
            if i < N { y[i] = ((x[i] as int) - 9223372036854775000) as i64; }
        }
    }
}
export kernel volume(out y: i32[A], B: int, C: int) {
    let all = A * B * C;
    launch (i in A) { y[i] = (all % 1000) as i32; }
}
export kernel stored(out y: i64[N], a: int, b: int) {
    var w: workspace i64[a, b];
    launch (i in N) { if i < a && i < b { w[i, i] = i as i64; } }
    launch (i in N) { y[i] = if i < a && i < b { w[i, i] } else { 3 as i64 }; }
}
export kernel chosen(j: i64, out y: i32[N]) {
    launch (i in N) {
        let a = if j >= 0 && j as int * 2 < N { 1 } else { 0 };
        let b = if j < 0 || j as int * 2 >= N { 2 } else { 0 };
        let c = if j >= 0 { j as int * 2 + 4 } else { 4 };
        y[i] = (a + b + c) as i32;
    }
}
)";

constexpr const char* kCaller = R"(enum { N = 101 };
int main(void) {
  int64_t x[N], z[N];
  int32_t memory[3 * N], *y = memory + N;
  for (int i = 0; i < N; i++) x[i] = -1 - i;
  for (int i = 0; i < 3 * N; i++) memory[i] = 5;
  CHECK(shifted(x, y, N, NULL) == TILE_OK && stretched(x, y, N, NULL) == TILE_OK);
  CHECK(moved(x, y, 40, N, NULL) == TILE_OK);
  for (int i = 0; i < N; i++) CHECK(y[i] == (i <= 38 ? 3 : 0));
  x[50] = 0x7ffffff;
  CHECK(shifted(x, y, N, NULL) == TILE_BOUNDS && PART("k.tile:6:21: v << 40 leaves 64 bits"));
  CHECK(stretched(x, y, N, NULL) == TILE_BOUNDS && PART("k.tile:16:21: v * 1099511627776 leaves 64 bits"));
  CHECK(wrapped(x, y, N, NULL) == TILE_BOUNDS && PART("k.tile:27:24: y[j / 2]: index -549755813887 or less, the extent is 101"));
  for (int i = 0; i < N; i++) CHECK(y[i] == 0);
  CHECK(moved(x, y, INT64_MAX, N, NULL) == TILE_BOUNDS && PART("k.tile:36:25") && PART("leaves 64 bits"));
  CHECK(moved(x, y, INT64_MIN + 1000, N, NULL) == TILE_OK);
  x[50] = 0;
  CHECK(threaded(x, z, N, NULL) == TILE_OK && z[100] == -101 - 9223372036854775000);
  x[77] = -2000;
  CHECK(threaded(x, z, N, NULL) == TILE_BOUNDS && PART("leaves 64 bits"));
  CHECK(z[100] == -101 - 9223372036854775000);
  CHECK(volume(y, 1 << 20, 1 << 20, N, NULL) == TILE_OK && y[N - 1] == (int32_t)(((int64_t)N << 40) % 1000));
  CHECK(volume(y, (int64_t)1 << 40, (int64_t)1 << 40, N, NULL) == TILE_SHAPE && PART("requires A * B * C to fit in 64 bits (k.tile:51:15), where A is 101 and B is 1099511627776"));
  const int64_t far[] = {INT64_MAX, (int64_t)1 << 61, (int64_t)1 << 62, -1, INT64_MIN};
  for (int i = 0; i < 5; i++) {
    CHECK(stored(z, far[i], 3, N, NULL, 0, NULL) == TILE_SHAPE);
    CHECK(stored(z, far[i], far[i], N, NULL, 0, NULL) == TILE_SHAPE && PART("size of a workspace"));
  }
  CHECK(stored(z, 3, 200, N, NULL, 0, NULL) == TILE_OK && z[2] == 2 && z[3] == 3);
  CHECK(chosen(INT64_MIN, y, N, NULL) == TILE_OK && y[N - 1] == 6);  // what is not chosen is not computed
  CHECK(chosen(3, y, N, NULL) == TILE_OK && y[N - 1] == 11);
  CHECK(chosen(INT64_MAX, y, N, NULL) == TILE_BOUNDS && PART("leaves 64 bits"));
  for (int i = 0; i < N; i++) CHECK(memory[i] == 5 && memory[2 * N + i] == 5);
  puts("fine");
  return 0;
}
)";

}  // namespace

TEST_CASE("an int that leaves 64 bits is reported, and leads to no access outside") {
  Folder folder;
  expect_fine(folder, kKernels, kCaller);
}

TEST_CASE("the interpreter refuses a workspace that it cannot hold") {
  Folder folder;
  folder.write("k.tile", kKernels);
  for (const char* a : {"4000000000000", "2305843009213693952"}) {
    Ran ran = folder.tilec("run k.tile --kernel stored --dim N=4 --dim b=3 --dim a=" + std::string(a));
    CHECK(ran.code == 5);
    CHECK_MESSAGE(ran.says("more elements than the interpreter holds"), ran.out);
  }
}

TEST_CASE("sums of dims and indices that fit are not tested") {
  Folder folder;
  folder.write("k.tile", "export kernel k(x: i32[M, N], out y: i32[M, N], at: i64[M]) {\n    launch (i in M) {\n        let r = at[i];\n"
                         "        for j in 0..N { y[i, j] = x[M - 1 - i, N - 1 - j] + ((M * N + i * N + j) % 7) as i32; }\n"
                         "        if r >= 0 && r < M - 1 { y[r + 1, 0] = 1; }\n    }\n}\n");
  Ran thread = folder.tilec("k.tile --emit=thread-ir --target=x86-64-v3");
  CHECK_MESSAGE(!thread.says("overflows"), thread.out);
  CHECK_MESSAGE(thread.says("mem_store"), thread.out);
}
