// Loops that are left, and loops that end near the end of 64 bits, by numbers.
#include <doctest/doctest.h>

#include "diag/diag.h"
#include "interp/interp.h"
#include "sema/sema.h"
#include "syntax/parse.h"

using namespace tilec;

namespace {

// What `y`, an i64[4], holds behind the statements of a block with 4 threads.
std::vector<int64_t> after(const std::string& statements) {
  SourceMap sources;
  Diagnostics diagnostics;
  std::string text = "export kernel k(inout y: i64[4]) {\n    launch (b in 1) threads 32 {\n" + statements + "\n    }\n}\n";
  Ast ast = parse(sources.add("k.tile", std::move(text)), sources, diagnostics);
  Program program = analyse(ast, sources, embedded_library(), diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.all()[0].message);
  interp::Tensor y(Scalar::I64, {4});
  y.fill([](int64_t) { return 0; });
  std::vector<interp::Argument> arguments{&y};
  interp::RunResult result = interp::run(program.exports[0].kernel, arguments, {});
  REQUIRE_MESSAGE(result.ok(), result.fault->text);
  std::vector<int64_t> numbers;
  for (int64_t k = 0; k < 4; ++k) numbers.push_back(int64_t(y.real(k)));
  return numbers;
}

using Numbers = std::vector<int64_t>;

}  // namespace

TEST_CASE("a loop that is left takes no further turn") {
  CHECK(after("for i in 0..10000000000 { if i == 5 { break; } y[0] += i as i64; y[1] += 1; }") == Numbers{10, 5, 0, 0});
  CHECK(after("simt (t) { for i in 0..10000000000 { if i == t { break; } if i == 1 { continue; } if t < 4 { y[t] += i as i64; } } }") ==
        Numbers{0, 0, 0, 2});
  CHECK(after("for i in range(1, 10000000000, 3) { for j in 0..10000000000 { if j > i { break; } y[0] += 1; } y[1] = i as i64; if i > 4 { break; } }") ==
        Numbers{2 + 5 + 8, 7, 0, 0});
  CHECK(after("for i in 0..10000000000 { y[0] += 1; if i == 3 { return; } } y[1] = 1;") == Numbers{4, 0, 0, 0});
}

TEST_CASE("a loop that may be left counts as others do up to the end of 64 bits") {
  for (const char* exit : {"", "if y[3] > 0 { break; }"}) {
    std::string leave = exit;
    CHECK(after("for i in 9223372036854775800..9223372036854775807 { y[0] += 1; y[1] = (9223372036854775807 - i) as i64; " + leave + " }") ==
          Numbers{7, 1, 0, 0});
    CHECK(after("for i in range(9223372036854775800, 9223372036854775807, 3) { y[0] += 1; y[1] = (9223372036854775807 - i) as i64; " + leave +
                " }") == Numbers{3, 1, 0, 0});
    CHECK(after("for i in range(0, 9223372036854775807, 4611686018427387904) { y[0] += 1; " + leave + " }") == Numbers{2, 0, 0, 0});
    CHECK(after("for i in range(7, 3, 2) { y[0] += 1; " + leave + " }") == Numbers{0, 0, 0, 0});
  }
}
