// Numbers that the host computes under conditions and in loops: where they do not fit, or a divisor is 0, the call says so, and
// says nothing of what control never came by.
#include "compiled_program.h"

namespace tilec::command {

namespace {

const std::string kKernels = R"(
export kernel branch(n: i64, out y: f32[N]) {
    let a = n as int;
    let b = if N > 5 { a * a } else { a };
    launch (i in N) { y[i] = if i < b { 1 } else { 0 }; }
}
export kernel both(n: i64, out y: f32[N]) {
    let a = n as int;
    let b = N > 5 && a * a > 3;
    launch (i in N) { y[i] = if b { 1 } else { 0 }; }
}
export kernel loops(n: i64, m: i64, out y: f32[N]) {
    var b = n as int;
    var c = 100;
    if N > 5 {
        while b < N { b = b * 3 + 4; if b > 50 { c = c + b / (b - 61); } }
        for i in 0..N { c += c * (m as int); }
    }
    launch (i in N) { y[i] = (b + c % 1000) as f32; }
}
)";

constexpr const char* kCaller = R"(
int main(void) {
  float y[64];
  const int64_t far = (int64_t)1 << 40;
  CHECK(branch(3, y, 10, 0) == TILE_OK && y[8] == 1 && y[9] == 0);
  CHECK(branch(far, y, 4, 0) == TILE_OK && y[3] == 1);
  CHECK(branch(far, y, 10, 0) == TILE_SHAPE && PART("n * n to fit in 64 bits"));
  CHECK(both(1, y, 10, 0) == TILE_OK && y[0] == 0 && both(2, y, 10, 0) == TILE_OK && y[0] == 1);
  CHECK(both(far, y, 5, 0) == TILE_OK && both(far, y, 6, 0) == TILE_SHAPE);
  CHECK(loops(1, 0, y, 30, 0) == TILE_OK && y[0] == 79 + 104);
  CHECK(loops(19, 0, y, 60, 0) == TILE_SHAPE && PART("!= 0"));
  CHECK(loops(1, far, y, 30, 0) == TILE_SHAPE && PART("c * m to fit in 64 bits"));
  CHECK(loops(1, far, y, 5, 0) == TILE_OK && y[0] == 1 + 100);
  puts("fine");
  return 0;
}
)";

}  // namespace

TEST_CASE("what the host computes under conditions keeps the contract") {
  Folder folder;
  expect_fine(folder, kKernels, kCaller);
}

}  // namespace tilec::command
