// Contracts, extents, strides, grids and workspaces at the ends of 64 bits: exact, or the call is refused. What a kernel believes of
// its arguments is what the host has checked.
#include "compiled_program.h"

namespace tilec::command {

namespace {

const std::string kEnds = R"(
export kernel sum(N: int, inout B: u8[64]) requires N + 1 < 64, N >= 0 { launch (i in 1) { B[N] = 1; } }
export kernel product(N: int, inout B: u8[64]) requires 4 * N < 64, N >= 0 { launch (i in 1) { B[N] = 1; } }
export kernel size(n: int, inout B: u8[64]) requires abs(n) < 64 { launch (i in 1) { B[abs(n)] = 1; } }
export kernel minus(n: int, inout B: u8[64]) requires -n > -64, n >= 0 { launch (i in 1) { B[n] = 1; } }
export kernel shifted(n: int, inout B: u8[64]) requires n << 4 < 1024, n >= 0 { launch (i in 1) { B[n] = 1; } }
export kernel two(n: int, m: int, inout B: u8[64]) requires n + m < 64, n >= 0, m >= 0 { launch (i in 1) { B[n + m] = 1; } }
export kernel not_below(n: int, inout B: u8[64]) requires !(n + 1 >= 64), n >= 0 { launch (i in 1) { B[n] = 1; } }
export kernel leaning(n: int, m: int, inout B: u8[64]) requires n * m < 64, n * m >= 0, n > 0, n < 8, m < 9 { launch (i in 1) { B[n * m] = 1; } }
export kernel area(n: int, inout B: u8[n * n]) { launch (i in 1) { if n > 2 { B[n] = 1; } } }
export kernel blocks(n: int, inout B: u8[64]) { launch (i in n * n) { if i == 0 { B[0] = 1; } } }
export kernel step(A: f32[N, M; s, 1], inout B: u8[64]) requires s < 64, s >= -3 { launch (i in 1) { if s >= 0 { B[s] = 1; } else { B[0] = 2; } } }
export kernel tested(n: u8, A: f32[N, M; s, 1]?, inout B: u8[64]) requires n < n * n * n { launch (i in 2) { if i == 0 { if s >= -5 && s < 64 { B[s] = 4; } } } }
export kernel turned(n: int, A: f32[N, M; 1, if n > 2 { N } else { n }]?, inout B: u8[64]) requires n > 0, n < 9 { launch (i in 1) { B[n] = 3; } }
export kernel far_off(s: int, t: int, A: f32[N, M; s * t, 1], inout B: u8[64]) { launch (i in 1) { B[0] = 1; } }
)";

constexpr const char* kEndsCaller = R"c(
int main(void) {
  static uint8_t room[3 * 64], *b = room + 64;
  float a[4] = {0};
  const int64_t least = INT64_MIN, most = INT64_MAX, half = (int64_t)1 << 62, root = (int64_t)1 << 32;
  CHECK(sum(62, b, 0) == TILE_OK && b[62] == 1 && sum(63, b, 0) == TILE_SHAPE && sum(most, b, 0) == TILE_SHAPE);
  CHECK(PART("N + 1 to fit in 64 bits in N + 1 < 64 (k.tile:2:53), where N is 9223372036854775807"));
  CHECK(product(15, b, 0) == TILE_OK && product(16, b, 0) == TILE_SHAPE && product(half, b, 0) == TILE_SHAPE && PART("4 * N < 64"));
  CHECK(size(-63, b, 0) == TILE_OK && size(64, b, 0) == TILE_SHAPE && size(least, b, 0) == TILE_SHAPE && PART("abs(n) < 64"));
  CHECK(minus(63, b, 0) == TILE_OK && minus(most, b, 0) == TILE_SHAPE && minus(least, b, 0) == TILE_SHAPE);
  CHECK(shifted(63, b, 0) == TILE_OK && shifted(64, b, 0) == TILE_SHAPE && shifted((int64_t)1 << 60, b, 0) == TILE_SHAPE);
  CHECK(two(31, 32, b, 0) == TILE_OK && two(most, most, b, 0) == TILE_SHAPE && two(most, 1, b, 0) == TILE_SHAPE);
  CHECK(not_below(62, b, 0) == TILE_OK && not_below(most, b, 0) == TILE_SHAPE && PART("!(n + 1 >= 64)"));
  CHECK(leaning(7, 8, b, 0) == TILE_OK && leaning(2, least, b, 0) == TILE_SHAPE && leaning(2, half + half / 2, b, 0) == TILE_SHAPE);
  CHECK(area(3, b, 0) == TILE_OK && area(root, b, 0) == TILE_SHAPE && PART("n * n to fit in 64 bits") && area(50000, b, 0) == TILE_SHAPE);
  CHECK(blocks(3, b, 0) == TILE_OK && blocks(root, b, 0) == TILE_SHAPE && blocks(-root * 2, b, 0) == TILE_SHAPE && blocks(50000, b, 0) == TILE_GRID);
  CHECK(step(a, b, 1, 1, 63, 0) == TILE_OK && step(a, b, 1, 1, -3, 0) == TILE_OK && b[0] == 2 && step(a, b, 1, 1, -4, 0) == TILE_SHAPE);
  CHECK(tested(3, NULL, b, 1, 1, 4, 0) == TILE_OK && b[4] == 4 && tested(3, NULL, b, 1, 1, -1, 0) == TILE_BOUNDS && room[63] == 0);
  CHECK(turned(3, NULL, b, 2, 2, 0) == TILE_OK && b[3] == 3 && turned(0, NULL, b, 2, 2, 0) == TILE_SHAPE);
  CHECK(far_off(2, 1, a, b, 2, 1, 0) == TILE_OK && far_off(root, root, a, b, 2, 1, 0) == TILE_SHAPE && PART("s * t to fit in 64 bits"));
  CHECK(far_off(half, 1, a, b, 2, 1, 0) == TILE_SHAPE && far_off(-half, 1, a, b, 2, 1, 0) == TILE_SHAPE && PART("reaches"));
  CHECK(far_off(-((int64_t)1 << 48), 1, a, b, 2, 1, 0) == TILE_SHAPE && PART("reaches beyond the addresses that there are"));
  for (int i = 0; i < 64; i++) CHECK(room[i] == 0 && room[128 + i] == 0);
  puts("fine");
  return 0;
}
)c";

const std::string kSkipped = R"(
export kernel left(n: int, inout B: u8[64]) requires n == 0 || 100 / n > 3, n >= 0 { launch (i in 1) { if n == 0 { B[0] = 1; } else { B[1] = 1; } } }
export kernel volume(A: f32[N]?, inout B: u8[64]) requires N == 0 || N > 1000000 || N * N * N * N < 20000 { launch (i in 1) { B[0] = 1; } }
export kernel chosen(n: int, inout B: u8[64]) requires (if n > 100 { true } else { n * n < 64 }) { launch (i in 1) { if n <= 7 && n >= 0 { B[n * n] = 1; } } }
export kernel eager(n: int, inout B: u8[64]) requires select(n == 0, 5, 100 / n) > 3 { launch (i in 1) { B[0] = 1; } }
export kernel unread(n: int, inout B: u8[64]) requires 100 / n > 3 || 3 >= 100 / n { launch (i in 1) { B[0] = 1; } }
export kernel order(n: int, inout B: u8[64]) requires 100 / n > 3, n != 0 { launch (i in 1) { B[0] = 1; } }
)";

constexpr const char* kSkippedCaller = R"(
int main(void) {
  uint8_t b[64] = {0};
  CHECK(left(0, b, 0) == TILE_OK && b[0] == 1 && left(25, b, 0) == TILE_OK && b[1] == 1 && left(26, b, 0) == TILE_SHAPE);
  CHECK(volume(NULL, b, 0, 0) == TILE_OK && volume(NULL, b, 11, 0) == TILE_OK && volume(NULL, b, 12, 0) == TILE_SHAPE);
  CHECK(volume(NULL, b, 2147483647, 0) == TILE_OK && volume(NULL, b, 60000, 0) == TILE_SHAPE);
  CHECK(chosen(INT64_MAX, b, 0) == TILE_OK && chosen(7, b, 0) == TILE_OK && b[49] == 1 && chosen(INT64_MIN, b, 0) == TILE_SHAPE);
  CHECK(eager(0, b, 0) == TILE_SHAPE && eager(25, b, 0) == TILE_OK && unread(0, b, 0) == TILE_SHAPE && unread(3, b, 0) == TILE_OK);
  CHECK(order(0, b, 0) == TILE_SHAPE && PART("order: requires") && order(3, b, 0) == TILE_OK);
  puts("fine");
  return 0;
}
)";

// Stored integers wrap in contracts, and so does what is believed.
const std::string kWrapping = R"(
export kernel signed_sum(a: i64, inout B: u8[64]) requires a + 1 < 64, a >= 0 { launch (i in 1) { B[a] = 1; } }
export kernel byte_sum(a: i8, inout B: u8[64]) requires a + 100 < 64, a >= 0, a < 50 || a > 120 { launch (i in 1) { B[if a > 120 { a - 120 } else { a }] = 1; } }
export kernel least(a: i32, inout B: u8[64]) requires abs(a) < 64 { launch (i in 1) { B[abs(a)] = 1; } }
export kernel unsigned_sum(a: u64, inout B: u8[64]) requires a + 8 < 64 { launch (i in 1) { B[a as int] = 1; } }
export kernel beyond(a: u64, inout B: u8[64]) requires a >= 9223372036854775808 { launch (i in 1) { B[(a - 9223372036854775808) as int % 64] = 1; } }
export kernel saturated(n: int, inout B: u8[64]) requires n as i8 < 64, n >= 0 { launch (i in 1) { B[n] = 1; } }
export kernel number(x: f32, inout B: u8[64]) requires !(x > 3.0) { launch (i in 1) { B[if x <= 3.0 { 1 } else { 2 }] = 1; } }
)";

constexpr const char* kWrappingCaller = R"(#include <math.h>
int main(void) {
  static uint8_t room[3 * 64], *b = room + 64;
  CHECK(signed_sum(62, b, 0) == TILE_OK && signed_sum(63, b, 0) == TILE_SHAPE && signed_sum(INT64_MAX, b, 0) == TILE_BOUNDS);
  CHECK(byte_sum(27, b, 0) == TILE_SHAPE && byte_sum(28, b, 0) == TILE_OK && b[28] == 1 && byte_sum(127, b, 0) == TILE_OK && b[7] == 1);
  CHECK(least(-63, b, 0) == TILE_OK && least(INT32_MIN, b, 0) == TILE_BOUNDS);
  CHECK(unsigned_sum(55, b, 0) == TILE_OK && unsigned_sum(UINT64_MAX, b, 0) == TILE_BOUNDS && unsigned_sum(UINT64_MAX - 8, b, 0) == TILE_SHAPE);
  CHECK(beyond(5, b, 0) == TILE_SHAPE && beyond(((uint64_t)1 << 63) + 5, b, 0) == TILE_OK && b[5] == 1 && beyond(UINT64_MAX, b, 0) == TILE_OK);
  CHECK(saturated(63, b, 0) == TILE_OK && saturated(INT64_MAX, b, 0) == TILE_SHAPE);
  CHECK(number(3, b, 0) == TILE_OK && b[1] == 1 && number(NAN, b, 0) == TILE_OK && b[2] == 1 && number(4, b, 0) == TILE_SHAPE);
  for (int i = 0; i < 64; i++) CHECK(room[i] == 0 && room[128 + i] == 0);
  puts("fine");
  return 0;
}
)";

}  // namespace

TEST_CASE("contracts, extents, grids and strides at the ends of 64 bits are exact or refused") {
  Folder folder;
  expect_fine(folder, kEnds, kEndsCaller);
}

TEST_CASE("a contract is refused for what it evaluates, and for nothing else") {
  Folder folder;
  expect_fine(folder, kSkipped, kSkippedCaller);
}

TEST_CASE("stored integers wrap in contracts, and what is believed of them wraps too") {
  Folder folder;
  expect_fine(folder, kWrapping, kWrappingCaller);
}

TEST_CASE("a dim that is a stride alone may be negative") {
  Folder folder;
  folder.write("k.tile", "export kernel k(A: f32[N, M; s, 1], inout B: u8[64]) requires s < 64 { launch (i in 1) { B[s] = 1; } }\n");
  Ran ran = folder.tilec("check k.tile");
  CHECK_MESSAGE((ran.code == 1 && ran.says("for s = -1 the index -1 is below 0")), ran.out);
}

TEST_CASE("the interpreter refuses by the contract what the host cannot compute") {
  Folder folder;
  folder.write("k.tile", kEnds + kSkipped);
  for (const char* call : {"sum --dim N=9223372036854775807", "product --dim N=4611686018427387904", "size --dim n=-9223372036854775808",
                           "blocks --dim n=4294967296", "blocks --dim n=100000", "left --dim n=26", "eager --dim n=0", "unread --dim n=0"})
    for (const char* form : {"", " --form thread"}) {
      Ran ran = folder.tilec("run k.tile --kernel " + std::string(call) + form);
      CHECK_MESSAGE((ran.code == 5 && ran.says("[contract]")), call, form, ": ", ran.out);
    }
  for (const char* call : {"sum --dim N=62", "left --dim n=0", "chosen --dim n=9223372036854775807"})
    CHECK(folder.tilec("run k.tile --kernel " + std::string(call)).code == 0);
}

}  // namespace tilec::command
