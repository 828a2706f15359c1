// `ceildiv` and `round_up` for all signs, on the host and on blocks, to the ends of 64 bits.
#include "compiled_program.h"

namespace tilec::command {

namespace {

std::string kernels() {
  std::string text = R"(
export kernel many(a: i64[N], b: i64[N], inout up: i64[N], inout to: i64[N]) {
    launch (i in N) {
        up[i] = ceildiv(a[i] as int, b[i] as int) as i64;
        to[i] = round_up(a[i] as int, b[i] as int) as i64;
    }
}
export kernel one(a: int, b: int, inout to: i64[2]) requires b != 0 {
    let up = ceildiv(a, b);
    let next = if up < 0 || up > 1000 { 0 } else { round_up(a, b) };
    launch (i in 1) { to[0] = up as i64; to[1] = next as i64; }
}
export kernel known(x: i64[N], inout to: i64[N]) {
    launch (i in N) {
        let a = x[i] as int;
        to[i] = if i < 3 { (ceildiv(a, 3) + ceildiv(a, 1) % 7) as i64 } else { (ceildiv(a, -3) + round_up(a / 2, 4) % 7) as i64 };
    }
}
export kernel written(inout to: i64[8]) {
    launch (i in 1) {
        to[0] = ceildiv(7, -3) as i64; to[1] = ceildiv(-7, 3) as i64; to[2] = ceildiv(-7, -3) as i64; to[3] = ceildiv(9223372036854775807, 2) as i64;
        to[4] = round_up(7, -3) as i64; to[5] = round_up(-7, 3) as i64; to[6] = round_up(-7, -3) as i64; to[7] = round_up(9223372036854775807, 1) as i64;
    }
}
export kernel bounded(n: int, inout B: u8[64]) requires ceildiv(n, 4) < 64, n >= 0 { launch (i in 1) { B[ceildiv(n, 4)] = 1; } }
)";
  return text;
}

constexpr const char* kCaller = R"(
typedef __int128 wide;
static wide up(int64_t a, int64_t b) {
  wide q = (wide)a / b;
  return q + ((wide)a % b != 0 && ((a < 0) == (b < 0)));
}
static wide to(int64_t a, int64_t b) {
  wide m = b < 0 ? -(wide)b : b, q = (wide)a / m;
  return (q + ((wide)a % m > 0)) * m;
}
static int fits(wide x) { return x >= INT64_MIN && x <= INT64_MAX; }
int main(void) {
  const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, INT64_MIN + 2, -((int64_t)1 << 62), -100, -9, -7, -6, -3, -2, -1, 0, 1, 2, 3, 4, 6, 7, 9, 64, 100,
                          (int64_t)1 << 62, INT64_MAX - 2, INT64_MAX - 1, INT64_MAX};
  enum { COUNT = sizeof ends / sizeof *ends };
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < COUNT; j++) {
      int64_t a = ends[i], b = ends[j], u = 0, t = 0, two[2];
      int32_t status = many(&a, &b, &u, &t, 1, 0);
      if (b == 0) {
        CHECK(status == TILE_BOUNDS && one(a, b, two, 0) == TILE_SHAPE);
        continue;
      }
      int is_whole = fits(up(a, b)), is_multiple = fits(to(a, b));
      CHECK(status == (is_whole && is_multiple ? TILE_OK : TILE_BOUNDS));
      if (is_whole) CHECK(u == (int64_t)up(a, b));
      if (is_multiple) CHECK(t == (int64_t)to(a, b));
      int asks = up(a, b) >= 0 && up(a, b) <= 1000;
      CHECK(one(a, b, two, 0) == (is_whole && (!asks || is_multiple) ? TILE_OK : TILE_SHAPE));
      if (is_whole && !asks) CHECK(two[0] == (int64_t)up(a, b));
      if (asks && is_multiple) CHECK(two[0] == (int64_t)up(a, b) && two[1] == (int64_t)to(a, b));
    }
  for (int i = 0; i < COUNT; i++) {
    int64_t x[4] = {ends[i], ends[i], ends[i], ends[i]}, y[4], a = ends[i];
    CHECK(known(x, y, 4, 0) == TILE_OK);
    CHECK(y[0] == (int64_t)up(a, 3) + (a % 7 + 7) % 7);
    int64_t half = a / 2 - (a % 2 < 0), four = (int64_t)to(half, 4);
    CHECK(y[3] == (int64_t)up(a, -3) + (four % 7 + 7) % 7);
  }
  int64_t w[8];
  CHECK(written(w, 0) == TILE_OK && w[0] == -2 && w[1] == -2 && w[2] == 3 && w[3] == (int64_t)1 << 62 && w[4] == 9 && w[5] == -6 && w[6] == -6 && w[7] == INT64_MAX);
  uint8_t b[64] = {0};
  CHECK(bounded(252, b, 0) == TILE_OK && b[63] == 1 && bounded(253, b, 0) == TILE_SHAPE && bounded(INT64_MAX, b, 0) == TILE_SHAPE && PART("ceildiv(n, 4) < 64"));
  puts("fine");
  return 0;
}
)";

}  // namespace

TEST_CASE("ceildiv and round_up round toward plus infinity for all signs, and fail only where the result does") {
  Folder folder;
  expect_fine(folder, kernels(), kCaller);
}

TEST_CASE("a division by a constant that rounds up is tested nowhere, however far its number") {
  Folder folder;
  folder.write("k.tile", "export kernel k(n: int, inout B: f32[N]) requires n >= 0 { launch (i in ceildiv(n, 64)) { if i < N { B[i] = 1; } } }\n");
  Ran manifest = folder.tilec("k.tile --emit=header");
  CHECK_MESSAGE(!manifest.says("to fit in 64 bits"), manifest.out);
}

TEST_CASE("a number that nobody reads is told of where it has no value") {
  Folder folder;
  expect_fine(folder,
              "export kernel divided(x: i32[N], inout y: i32[N]) { launch (i in N) { y[i] = 1; let z = 1 / x[i]; } }\n"
              "export kernel summed(x: i64[N], inout y: i32[N]) { launch (i in N) { y[i] = 1; let z = (x[i] as int) + 1; } }\n"
              "export kernel host(n: int, m: int, inout y: i32[N]) { let z = n * m + 1; launch (i in N) { y[i] = 1; } }\n",
              R"(int main(void) {
  int32_t x[2] = {1, 0}, y[2] = {0, 0};
  int64_t far[2] = {1, INT64_MAX};
  CHECK(divided(x, y, 1, 0) == TILE_OK && divided(x, y, 2, 0) == TILE_BOUNDS && y[1] == 1);
  CHECK(summed(far, y, 1, 0) == TILE_OK && summed(far, y, 2, 0) == TILE_BOUNDS);
  CHECK(host(3, 1, y, 2, 0) == TILE_OK && host(INT64_MAX, 1, y, 2, 0) == TILE_SHAPE);
  puts("fine");
  return 0;
}
)");
  folder.write("r.tile", "export kernel k(x: i32[N], inout y: i32[N]) { launch (i in N) { y[i] = 1; let z = 1 / (x[i] % 2); } }\n");
  for (const char* form : {"", " --form thread"}) {
    Ran ran = folder.tilec("run r.tile -w" + std::string(form));
    CHECK_MESSAGE(ran.code == 5, form, ": ", ran.out);
  }
}

}  // namespace tilec::command
