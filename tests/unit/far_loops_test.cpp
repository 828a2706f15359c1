// Loops of lanes that end apart, next to the ends of `int`: a lane that is done stays done.
#include <doctest/doctest.h>

#include "compiled_program.h"

using namespace tilec::command;

namespace {

// Each counts its turns, and sums how far from `e` they are: a turn too many shows in both.
constexpr const char* kKernels = R"(export kernel fixed(out y: i32[N]) {
    launch (b in ceildiv(N, 64)) threads 64 {
        simt (t) {
            let n = b * 64 + t;
            var count = 0 as i32;
            for i in 9223372036854775807 - 3 - t..9223372036854775807 { count = count + (9223372036854775807 - i) as i32; }
            if n < N { y[n] = count; }
        }
    }
}
export kernel upper(e: int, out y: i32[N]) requires e > 9223372036854770000 {
    launch (b in ceildiv(N, 64)) {
        for t in parallel(64) {
            let n = b * 64 + t;
            if n < N {
                var count = 0 as i32;
                for i in e - t % 20..e { count = count + (e - i) as i32; }
                y[n] = count;
            }
        }
    }
}
export kernel stepped(e: int, s: int, out y: i32[N]) requires e > 9223372036854770000, s > 0, s < 1000 {
    launch (b in ceildiv(N, 64)) {
        for t in parallel(64) {
            let n = b * 64 + t;
            if n < N {
                var count = 0 as i32;
                for i in range(e - t % 20, e, s + t % 3) { count = count + (e - i) as i32; }
                y[n] = count;
            }
        }
    }
}
export kernel wide(a: int, e: int, s: int, out y: i32[N]) requires s > 0 {
    launch (b in ceildiv(N, 64)) {
        for t in parallel(64) {
            let n = b * 64 + t;
            if n < N {
                var count = 0 as i32;
                for i in range(if t % 2 == 0 { a } else { e }, e, s) { count = count + 1; }
                y[n] = count;
            }
        }
    }
}
export kernel left(e: int, x: i32[M], out y: i32[N]) requires e > 9223372036854770000, M > 20 {
    launch (b in ceildiv(N, 64)) {
        for t in parallel(64) {
            let n = b * 64 + t;
            if n < N {
                var count = 0 as i32;
                for i in e - t % 20..e {
                    if (e - i) as i32 == 5 { break; }
                    count = count + x[e - i];
                }
                y[n] = count;
            }
        }
    }
}
)";

constexpr const char* kCaller = R"(enum { N = 101, M = 21 };
int main(void) {
  int32_t y[N], x[M];
  for (int i = 0; i < M; i++) x[i] = i;
  CHECK(fixed(y, N, NULL) == TILE_OK);
  for (int n = 0; n < N; n++) CHECK(y[n] == (3 + n % 64) * (4 + n % 64) / 2);
  const int64_t ends[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX - 19};
  for (int k = 0; k < 3; k++) {
    CHECK(upper(ends[k], y, N, NULL) == TILE_OK);
    for (int n = 0; n < N; n++) CHECK(y[n] == (n % 64 % 20) * (n % 64 % 20 + 1) / 2);
    CHECK(left(ends[k], x, y, M, N, NULL) == TILE_OK);
    for (int n = 0; n < N; n++) {
      int sum = 0;
      for (int d = n % 64 % 20; d > 0 && d != 5; d--) sum += d;
      CHECK(y[n] == sum);
    }
    for (int s = 1; s <= 7; s += 3) {
      CHECK(stepped(ends[k], s, y, N, NULL) == TILE_OK);
      for (int n = 0; n < N; n++) {
        int sum = 0, step = s + n % 64 % 3;
        for (int d = n % 64 % 20; d > 0; d -= step) sum += d;
        CHECK(y[n] == sum);
      }
    }
  }
  const struct { int64_t a, e, s; int turns; } all[] = {
    {INT64_MIN, INT64_MAX, INT64_MAX, 3}, {INT64_MIN, INT64_MAX, (int64_t)1 << 62, 4}, {INT64_MIN, 0, (int64_t)1 << 61, 4},
    {INT64_MAX, INT64_MIN, 1, 0}, {INT64_MAX, INT64_MIN, INT64_MAX, 0}, {-3, 2, 1, 5}, {INT64_MIN, INT64_MIN + 5, 2, 3},
    {5, INT64_MIN, 1, 0}, {0, INT64_MAX, INT64_MAX, 1}, {-1, INT64_MAX, INT64_MAX, 2}};
  for (int k = 0; k < 10; k++) {
    CHECK(wide(all[k].a, all[k].e, all[k].s, y, N, NULL) == TILE_OK);
    for (int n = 0; n < N; n++) CHECK(y[n] == (n % 64 % 2 ? 0 : all[k].turns));
  }
  puts("fine");
  return 0;
}
)";

}  // namespace

TEST_CASE("lanes that are done with a loop do not step on beyond the greatest int") {
  Folder folder;
  expect_fine(folder, kKernels, kCaller);
}

TEST_CASE("the interpreter agrees on loops next to the ends of int at every form") {
  Folder folder;
  folder.write("k.tile", kKernels);
  const char* runs[] = {"fixed", "upper --dim e=9223372036854775807", "stepped --dim e=9223372036854775806 --dim s=3",
                        "wide --dim a=-9223372036854775808 --dim e=9223372036854775807 --dim s=9223372036854775807",
                        "wide --dim a=9223372036854775807 --dim e=-9223372036854775808 --dim s=1",
                        "left --dim M=21 --dim e=9223372036854775807"};
  for (const char* machine : {"x86-64-v3", "model"})
    for (const char* words : runs) {
      Ran ran = folder.tilec("run k.tile --dim N=70 --after-each --target " + std::string(machine) + " --kernel " + words);
      CHECK_MESSAGE(ran.code == 0, std::string(words), " on ", std::string(machine), ": ", ran.out);
    }
}

TEST_CASE("what lanes compute that do not run is no fault of the program") {
  Folder folder;
  folder.write("k.tile", "export kernel k(x: i32[N], d: i32[N], by: int, out y: i64[N]) {\n    launch (b in ceildiv(N, 64)) threads 64 {\n"
                         "        simt (t) {\n            let i = b * 64 + t;\n            if i < N {\n                y[i] = 1;\n"
                         "                let v = (d[i] as int) % 3;\n                if v != 0 { y[i] = ((x[i] as int) / v) as i64; }\n"
                         "                if by < 100000 && by > -100000 { y[i] = (by + i) as i64; }\n            }\n        }\n    }\n}\n");
  for (const char* by : {"7", "9223372036854775807", "-9223372036854775808"}) {
    Ran ran = folder.tilec("run k.tile --dim N=70 --after-each --target x86-64-v3 --dim by=" + std::string(by));
    CHECK_MESSAGE(ran.code == 0, ran.out);
  }
}
