// distances: which comparisons become 32-bit ones, judged by the interpreter at and around every bound.

#include "made.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

std::string masked(const std::string& mask) {
  return "export kernel k(x: f32[M, N], y: f32[L, N], out z: f32[M, L]) {\n launch (i in ceildiv(M, 64)) threads 32 {\n"
         " for j in 0..ceildiv(L, 64) {\n  var s: fragment f32[64, 64] = x.tile[64, 64](i, 0) @ y.tile[64, 64](j, 0).T;\n"
         "  for (r, c) in parallel(64, 64) { " + mask + " }\n  z.tile(i, j) = s;\n }\n }\n}\n";
}

int long_comparisons(const Made& made, const std::string& pass) {
  int count = 0;
  const std::string& text = made.text(pass);
  std::set<std::string> sums;
  for (const auto& match : testing::matches(text, "(%\\S+) = binary.add [^\n]*: varying int\n")) sums.insert(match[1]);
  for (const auto& match : testing::matches(text, "compare.(?:ge|gt|lt|le) (%\\S+), [^\n]*: varying bool")) count += sums.contains(match[1]);
  return count;
}

const char* kPairs[] = {
    "if j * 64 + c >= L || j * 64 + c > i * 64 + r { s[r, c] = -1; }",
    "if !(j * 64 + c < L && j * 64 + c <= i * 64 + r) { s[r, c] = -1; }",
    "if L <= j * 64 + c || i * 64 + r < j * 64 + c { s[r, c] = -1; }",
    "if j * 64 + c > i * 64 + r || j * 64 + c + 40 <= i * 64 + r { s[r, c] = -1; }",
};

}  // namespace

TEST_SUITE("distances") {
  TEST_CASE("what two bounds decide is asked once, of how far away the nearer one is") {
    for (const char* mask : kPairs) {
      CAPTURE(mask);
      Made made(masked(mask));
      CHECK(long_comparisons(made, "distances") < long_comparisons(made, "cleanup"));
      for (int64_t m : {1, 64, 100})
        for (int64_t l : {63, 65, 130}) check_agreement(made.typed, {{m, 64}, {l, 64}, {m, l}}, target::model::asynchronous());
    }
  }

  TEST_CASE("a bound by itself is asked as it stands") {
    Made made(masked("if j * 64 + c >= L { s[r, c] = -1; }"));
    CHECK(made.text("distances") == made.text("cleanup"));
  }
}
