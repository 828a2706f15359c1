// What happens inside a function of the library is told at the program's call, by the compiler and by compiled kernels; and what
// a choice between literals is.
#include <doctest/doctest.h>

#include "command.h"
#include "compiled_program.h"

using namespace tilec::command;

namespace {

constexpr const char* kCalls = R"(import std.math; export kernel turns(x: i64[N], out y: i64[N]) {
    launch (i in N) {
        let v = x[i] as int;
        if v > 0 { y[i] = (math.square(v) * 2) as i64; } else { y[i] = 0; }
        if v < -1 { y[i] = round_up(-5, v + 3) as i64; }
    }
}
export kernel parts(out y: i64[N], n: int, m: int) {
    launch (i in N) { y[i] = 0; }
    launch (i in ceildiv(n * m, 4)) { if i < N { y[i] = 2; } }
}
export kernel total(x: i64[N], out y: i64[N]) {
    launch (i in N) {
        var s = 1;
        s += x[i] as int;
        let t = x.tile[32](s);
        y[i] = t.sum(axis = 0);
    }
}
)";

constexpr const char* kCaller = R"c(enum { N = 21 };
int main(void) {
  int64_t x[N], y[N];
  for (int i = 0; i < N; i++) x[i] = i - 1;
  CHECK(turns(x, y, N, NULL) == TILE_OK && y[20] == 722);
  x[3] = INT64_MAX;
  CHECK(turns(x, y, N, NULL) == TILE_BOUNDS && PART("k.tile:4:28: math.square(v) leaves 64 bits"));
  x[3] = -3;
  CHECK(turns(x, y, N, NULL) == TILE_BOUNDS && PART("k.tile:5:28: division by zero in round_up(-5, v + 3)"));
  CHECK(parts(y, 3, 4, N, NULL) == TILE_OK && y[0] == 2 && y[2] == 2 && y[3] == 0);
  CHECK(parts(y, INT64_MAX, 2, N, NULL) == TILE_SHAPE);
  CHECK(PART("requires n * m to fit in 64 bits (k.tile:10:26), where n is 9223372036854775807 and m is 2"));
  CHECK(parts(y, INT64_MAX - 2, 1, N, NULL) == TILE_GRID);
  CHECK(total(x, y, N, NULL) == TILE_OK && y[0] == 184 && y[20] == 0);
  x[3] = INT64_MAX;
  CHECK(total(x, y, N, NULL) == TILE_BOUNDS && PART("k.tile:15:9: s += x[i] as int leaves 64 bits"));
  x[3] = INT64_MAX - 1;
  CHECK(total(x, y, N, NULL) == TILE_BOUNDS && PART("k.tile:16:17: x.tile[32](s) leaves 64 bits"));
  puts("fine");
  return 0;
}
)c";

constexpr const char* kChoices = R"(export kernel k(x: i32[N], t: i32[64], inout a: i8[N], out b: u64[N], out c: f16[N], out d: f64[N], out e: i16[64], out f: f16[64]) {
    launch (i in N) {
        a[i] = if x[i] > 3 { (127) } else { if x[N - 1 - i] > 2 { -128 } else { -1 } };
        b[i] = (if x[i] > 3 { 1 } else { 2 }) + a[i].wrap[u64]();
        c[i] = if x[i] > 3 { 0.1 } else { if x[N - 1 - i] > 2 { 2.5 } else { 3 } };
        var v: f64 = if x[i] > 3 { 0.1 } else { 0.2 };
        v += if x[i] > 3 { if x[N - 1 - i] > 2 { 0.1 } else { 0.3 } } else { 1 };
        d[i] = v;
    }
    launch (i in 1) {
        let m = t.tile[64](0) > 3;
        let w = t.tile[64](0) > 1;
        e.tile[64](0) = max(if m { 1 } else { -2 }, if w { 0 as i16 } else { -2 });
        f.tile[64](0) = (if m { 0.1 } else { if w { 2 } else { -1 } }) * (1 as f16);
    }
}
)";

constexpr const char* kChooser = R"(enum { N = 9 };
int main(void) {
  int32_t x[N], t[64];
  int8_t a[N];
  uint64_t b[N];
  tile_f16 c[N], f[64];
  double d[N];
  int16_t e[64];
  for (int i = 0; i < N; i++) x[i] = i;
  for (int i = 0; i < 64; i++) t[i] = i;
  CHECK(k(x, t, a, b, c, d, e, f, N, NULL) == TILE_OK);
  CHECK(a[4] == 127 && a[3] == -128 && a[8] == 127 && b[0] == (uint64_t)-126 && b[5] == 128);
  CHECK(*(uint16_t *)&c[4] == 0x2e66 && *(uint16_t *)&c[3] == 0x4100);
  CHECK(d[0] == 0.2 + 1 && d[4] == 0.1 + 0.1 && d[8] == 0.1 + 0.3);
  CHECK(e[0] == -2 && e[3] == 0 && e[4] == 1 && *(uint16_t *)&f[3] == 0x4000 && *(uint16_t *)&f[1] == 0xbc00 && *(uint16_t *)&f[4] == 0x2e66);
  puts("fine");
  return 0;
}
)";

}  // namespace

TEST_CASE("compiled kernels name the program's call, not the library's line") {
  Folder folder;
  expect_fine(folder, kCalls, kCaller);
}

TEST_CASE("diagnostics of what is inlined from the library stand at the program's call") {
  Folder folder;
  folder.write("k.tile", kCalls);
  Ran ran = folder.tilec("check k.tile -R proof");
  CHECK_MESSAGE(ran.says("k.tile:4:27: remark: whether this leaves 64 bits is tested at run time"), ran.out);
  CHECK_MESSAGE(ran.says("k.tile:5:28: remark: the divisor of this remainder is tested at run time"), ran.out);
  folder.write("k.tile", "import std.math;\nexport kernel k(x: i64[N], out y: i64[N]) {\n    launch (i in N) { y[i] = math.square(x[i] as int) as i64; }\n}\n");
  ran = folder.tilec("check k.tile -R proof");
  CHECK_MESSAGE(ran.says("k.tile:3:30: remark: whether this leaves 64 bits is tested at run time"), ran.out);
  CHECK_MESSAGE(ran.says("note: in `square` of the library"), ran.out);
  CHECK_MESSAGE(!ran.says("math.tile:8:38: remark"), ran.out);
  folder.write("k.tile", "import std.math;\nexport kernel k(out y: f32[N]) {\n    launch (i in N) { y[i] = 2 + ceildiv(4, 0) as f32; }\n}\n");
  ran = folder.tilec("check k.tile");
  CHECK_MESSAGE(ran.says("k.tile:3:34: error: "), ran.out);
  folder.write("k.tile", "export kernel k(out y: f32[N], n: int) requires n == 0 {\n    launch (i in N) { y[i] = round_up(7, n) as f32; }\n}\n");
  ran = folder.tilec("check k.tile");
  CHECK_MESSAGE(ran.says("k.tile:2:30: error: this remainder has no value: the divisor is always 0"), ran.out);
}

TEST_CASE("the interpreter names the program's call and speaks the language's words") {
  Folder folder;
  folder.write("k.tile", "import std.math; export kernel k(out y: i64[N], n: int) {\n    launch (i in N) { y[i] = ((i + 1) * n).wrap[i64](); }\n}\n"
                         "export kernel c(out y: i64[N], n: int) {\n    launch (i in N) { if n != 0 { y[i] = math.square(i - n) as i64; } }\n}\n");
  Ran ran = folder.tilec("run k.tile --kernel k --form typed --dim N=2,n=9223372036854775807");
  CHECK_MESSAGE(ran.says("k.tile:2:30: fault: an `int` leaves 64 bits: 2 * 9223372036854775807"), ran.out);
  ran = folder.tilec("run k.tile --kernel c --form typed --dim N=2,n=-9223372036854775807");
  CHECK_MESSAGE(ran.says("k.tile:5:42: fault: an `int` leaves 64 bits: 9223372036854775807 * 9223372036854775807"), ran.out);
}

TEST_CASE("a choice between literals takes the type of what it meets, exactly") {
  Folder folder;
  expect_fine(folder, kChoices, kChooser);
}
