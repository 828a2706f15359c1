// The least `int` has no negative: what takes one is tested like a sum. Data of 64 bits wrap there, and nothing traps.
#include <doctest/doctest.h>

#include "compiled_program.h"

using namespace tilec::command;

namespace {

constexpr const char* kKernels = R"(export kernel negated(x: i64[N], out y: i64[N]) {
    launch (i in N) { y[i] = (-(x[i] as int)) as i64; }
}
export kernel sized(x: i64[N], out y: i64[N]) {
    launch (b in ceildiv(N, 64)) threads 64 {
        simt (t) {
            let i = b * 64 + t;
            if i < N { y[i] = abs(x[i] as int) as i64; }
        }
    }
}
export kernel divided(x: i64[N], by: i64[N], out y: i64[N]) {
    launch (b in ceildiv(N, 32)) {
        for t in parallel(32) {
            let i = b * 32 + t;
            if i < N { y[i] = ((x[i] as int) / (by[i] as int)) as i64; }
        }
    }
}
export kernel rest(x: i64[N], by: i64[N], out y: i64[N]) {
    launch (i in N) { y[i] = ((x[i] as int) % (by[i] as int)) as i64; }
}
export kernel turned(x: i64[N], out y: i32[N]) {
    launch (i in N) {
        y[i] = 0;
        let v = x[i] as int;
        if v < -1 {
            let j = -v;
            if j < N { y[j / 2] = 7; }
        }
    }
}
export kernel own(a: int, b: int, out y: i64[N]) requires b != 0 {
    let c = a / b + abs(a % 5) + -(b % 9);
    launch (i in N) { y[i] = c as i64; }
}
export kernel changed(x: i64[N], out y: i64[N]) {
    launch (i in N) {
        var n = x[i] as int;
        n /= -1;
        y[i] = n as i64;
    }
}
export kernel chosen(a: int, b: int, out y: i32[N]) {
    launch (i in N) {
        let c = if a < -9223372036854775807 { 3 } else { -a % 10 };
        let d = if a < -9223372036854775807 || a / -1 > 5 { 20 } else { 40 };
        let e = if b == -1 || b == 0 { 100 } else { abs(a / b) % 100 };
        y[i] = (c + d + e) as i32;
    }
}
export kernel data(x: i64[N], u: i32[N], by: i64[N], of: i32[N], out y: i64[N], out z: i32[N]) {
    launch (b in ceildiv(N, 32)) {
        for t in parallel(32) {
            let i = b * 32 + t;
            if i < N {
                y[i] = x[i] / by[i] + x[i] % by[i] + abs(x[i]) * 2 - -x[i] + x[i] / -1 + x[i] % -1;
                z[i] = u[i] / of[i] + u[i] % of[i] + abs(u[i]) * 2 - -u[i] + u[i] / -1 + u[i] % -1;
            }
        }
    }
}
export kernel converted(u: u64[N], f: f64[N], out y: i64[N], out z: i64[N]) {
    launch (i in N) {
        y[i] = (u[i] as int) as i64;
        z[i] = (f[i] as int) as i64;
    }
}
)";

constexpr const char* kCaller = R"c(enum { N = 70 };
#define LEAVES(place) (strstr(tile1_last_message(), "k.tile:" place) && strstr(tile1_last_message(), "leaves 64 bits"))
static int64_t x[N], by[N], y[N], u_of[N];
static int32_t a[N], of[N], z[3 * N];
static double f[N];
int main(void) {
  const int64_t least = INT64_MIN;
  for (int i = 0; i < N; i++) x[i] = i - 35, by[i] = i % 2 ? -1 : 4, a[i] = i - 35, of[i] = i % 2 ? -1 : -4;
  x[3] = least + 1;
  CHECK(negated(x, y, N, NULL) == TILE_OK && y[3] == INT64_MAX && y[0] == 35);
  CHECK(sized(x, y, N, NULL) == TILE_OK && y[3] == INT64_MAX && y[0] == 35 && y[69] == 34);
  CHECK(divided(x, by, y, N, NULL) == TILE_OK && y[3] == INT64_MAX && y[0] == -9 && y[69] == -34);
  CHECK(changed(x, y, N, NULL) == TILE_OK && y[3] == INT64_MAX && y[0] == 35);
  x[66] = least;
  CHECK(divided(x, by, y, N, NULL) == TILE_OK && y[66] == least / 4);
  CHECK(rest(x, by, y, N, NULL) == TILE_OK && y[66] == 0 && y[0] == 1);
  CHECK(negated(x, y, N, NULL) == TILE_BOUNDS && LEAVES("2:30: (-(x[i] as int))"));
  CHECK(y[69] == -34 && y[3] == INT64_MAX);
  CHECK(sized(x, y, N, NULL) == TILE_BOUNDS && LEAVES("8:31: abs(x[i] as int)") && y[69] == 34);
  CHECK(changed(x, y, N, NULL) == TILE_BOUNDS && LEAVES("40:") && y[69] == -34);
  by[66] = -1;
  CHECK(divided(x, by, y, N, NULL) == TILE_BOUNDS && LEAVES("16:") && y[69] == -34);
  CHECK(rest(x, by, y, N, NULL) == TILE_OK && y[66] == 0);
  by[66] = 0;
  CHECK(divided(x, by, y, N, NULL) == TILE_BOUNDS && !LEAVES("16:") && y[66] == 0);
  for (int i = 0; i < 3 * N; i++) z[i] = 5;
  CHECK(turned(x, z + N, N, NULL) == TILE_BOUNDS && LEAVES("28:"));
  for (int i = 0; i < N; i++) CHECK(z[i] == 5 && z[2 * N + i] == 5);
  CHECK(own(least, 1, y, N, NULL) == TILE_OK && y[9] == least + 2 - 1);
  CHECK(own(least + 9, -1, y, N, NULL) == TILE_OK && y[9] == INT64_MAX - 8 + 1 - 8);
  CHECK(own(least, -1, y, N, NULL) == TILE_SHAPE && strstr(tile1_last_message(), "requires a / b to fit in 64 bits"));
  CHECK(chosen(least, -1, z, N, NULL) == TILE_OK && z[9] == 123);
  CHECK(chosen(-4, -2, z, N, NULL) == TILE_OK && z[9] == 46);
  CHECK(chosen(least, 1, z, N, NULL) == TILE_BOUNDS && LEAVES("48:"));
  by[66] = -1, a[66] = INT32_MIN, of[66] = -1;
  CHECK(data(x, a, by, of, y, z, N, NULL) == TILE_OK);
  CHECK(y[66] == least && z[66] == INT32_MIN);
  for (int i = 0; i < 3; i++) CHECK(y[i] == (i == 1 ? 34 + 0 + 68 - 34 + 34 : i ? -9 + 3 + 66 - 33 + 33 : -9 + 1 + 70 - 35 + 35));
  uint64_t u[N] = {0, 1, (uint64_t)1 << 63, UINT64_MAX, INT64_MAX};
  f[0] = 1e300, f[1] = -1e300, f[2] = -9223372036854775808.0, f[3] = 0.0 / f[9], f[4] = 9223372036854775808.0;
  CHECK(converted(u, f, y, u_of, N, NULL) == TILE_OK);
  CHECK(y[1] == 1 && y[2] == INT64_MAX && y[3] == INT64_MAX && y[4] == INT64_MAX);
  CHECK(u_of[0] == INT64_MAX && u_of[1] == least && u_of[2] == least && u_of[3] == 0 && u_of[4] == INT64_MAX);
  puts("fine");
  return 0;
}
)c";

}  // namespace

TEST_CASE("the negative of the least int is reported, in quotients and absolute values too") {
  Folder folder;
  expect_fine(folder, kKernels, kCaller);
  // The C text of before, where whatever C leaves undefined ends the program.
  Ran ran = folder.run("cc -fsanitize=undefined -fsanitize-undefined-trap-on-error main.c k.c -o main -pthread -lm && ./main");
  CHECK_MESSAGE(ran.out == "fine\n", ran.out);
}

TEST_CASE("the interpreter faults where an int has no negative") {
  Folder folder;
  folder.write("k.tile", "export kernel k(a: int, b: int, out y: i64[N]) {\n    launch (i in N) {\n        let d = i - 2 + b;\n"
                         "        y[i] = if d != 0 { ((a + 1) / d) as i64 } else { 7 };\n    }\n}\n"
                         "export kernel turned(a: int, out y: i64[N]) { launch (i in N) { y[i] = (-(a + i)) as i64; } }\n"
                         "export kernel sized(a: int, out y: i64[N]) { launch (i in N) { y[i] = abs(a + i) as i64; } }\n");
  std::string least = " --dim a=-9223372036854775808", more = " --dim a=-9223372036854775807";
  auto run = [&](const std::string& words) { return folder.tilec("run k.tile --target x86-64-v3 --dim N=3 " + words); };
  CHECK(run("--kernel k --dim b=0 --after-each" + least).code == 0);
  for (const char* kernel : {"turned", "sized"}) {
    CHECK(run("--after-each --kernel " + std::string(kernel) + more).code == 0);
    for (const char* form : {"typed", "placed", "staged", "thread"}) {
      Ran ran = run("--kernel " + std::string(kernel) + least + " --form " + form);
      CHECK_MESSAGE((ran.code != 0 && (ran.says("overflow") || ran.says("leaves 64 bits"))), std::string(form), ": ", ran.out);
    }
  }
}

TEST_CASE("negatives and quotients that fit are not tested") {
  Folder folder;
  folder.write("k.tile", "export kernel k(x: i64[N], d: i64[N], z: i32[N], out y: i64[N]) {\n    launch (i in N) {\n"
                         "        let v = x[i] as int;\n        let w = d[i] as int;\n        var s = -(z[i] as int) + abs(z[i] as int) / -1 - -i;\n"
                         "        if v > -1152921504606846976 { s = max(s, -v); s = max(s, abs(v)); s = max(s, v / -1); }\n"
                         "        if w != 0 && w != -1 { s = max(s, v / w); }\n"
                         "        if w > 0 { s = max(s, v / w); s = max(s, v % w); }\n"
                         "        y[i] = max(v % -1, max(s, min(v, 5))) as i64;\n    }\n}\n");
  Ran ran = folder.tilec("k.tile --emit=thread-ir --target=x86-64-v3 -R proof");
  CHECK_MESSAGE(!ran.says("overflow"), ran.out);
  CHECK_MESSAGE(!ran.says("T0812"), ran.out);
  CHECK_MESSAGE(ran.says("mem_store"), ran.out);
}
