// skip-masks: which tiles go without their masks, judged by the interpreter: what the pass puts in front of a map is made to give zeros.
#include <cmath>

#include "interp/interp.h"
#include "ir/verify.h"
#include "passes/rewrite.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/cpu/machine.h"
#include "target/model/machine.h"
#include "typed_kernel.h"

using namespace tilec;
using namespace tilec::ir;

namespace {

constexpr int64_t kSide = 16;

// One element: tile i, j; row and column; the columns of the tensor.
struct Place {
  int64_t i, j, r, c, n;
};

struct Mask {
  const char* text;
  bool (*hides)(Place);
};

const Mask kMasks[] = {
    {"if j * 16 + c >= N { s[r, c] = -1; }", [](Place p) { return p.j * 16 + p.c >= p.n; }},
    {"if j * 16 + c > i * 16 + r { s[r, c] = -1; }", [](Place p) { return p.j * 16 + p.c > p.i * 16 + p.r; }},
    {"if i * 16 + r < j * 16 + c { s[r, c] = -1; }", [](Place p) { return p.i * 16 + p.r < p.j * 16 + p.c; }},
    {"if !(j * 16 + c <= i * 16 + r) { s[r, c] = -1; }", [](Place p) { return p.j * 16 + p.c > p.i * 16 + p.r; }},
    {"if N - c <= j * 16 { s[r, c] = -1; }", [](Place p) { return p.n - p.c <= p.j * 16; }},
    {"if 3 * (j * 16 + c) - 2 * r > i * 24 { s[r, c] = -1; }", [](Place p) { return 3 * (p.j * 16 + p.c) - 2 * p.r > p.i * 24; }},
    {"if j * 16 + c >= N || j * 16 + c > i * 16 + r { s[r, c] = -1; }", [](Place p) { return p.j * 16 + p.c >= p.n || p.j * 16 + p.c > p.i * 16 + p.r; }},
    {"if c >= 8 - j * 4 && r - c + i < 40 { s[r, c] = -1; }", [](Place p) { return p.c >= 8 - p.j * 4 && p.r - p.c + p.i < 40; }},
    {"s[r, c] = if j * 16 + c < N { s[r, c] } else { -1 };", [](Place p) { return p.j * 16 + p.c >= p.n; }},
    {"s[r, c] = select(j * 16 + c <= i * 16 + r, s[r, c] * 2, -1);", [](Place p) { return p.j * 16 + p.c > p.i * 16 + p.r; }},
};

const Machine& with_branches() { return target::model::machines().front(); }

Kernel passed(std::string_view mask, const Machine& machine, std::string_view loop = "for j in 0..ceildiv(N, 16)") {
  std::string text = "export kernel k(x: f32[M, N], out y: f32[M, N]) {\n launch (i in ceildiv(M, 16)) {\n " + std::string(loop) +
                     " {\n var s: fragment f32[16, 16] = x.tile(i, j);\n for (r, c) in parallel(16, 16) { " + std::string(mask) +
                     " }\n y.tile(i, j) = s;\n }\n }\n}\n";
  CAPTURE(text);
  SourceMap sources;
  Diagnostics diagnostics{Policy{}};
  Ast ast = parse(sources.add("k.tile", text), sources, diagnostics);
  Program program = analyse(ast, sources, embedded_library(), diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), reports(diagnostics));
  Kernel kernel = kernel_for(program.exports.at(0), machine);
  REQUIRE(run_passes(kernel, machine, diagnostics, {.stop_after = "skip-masks"}));
  return kernel;
}

// The ifs that give tiles.
std::vector<OpId> tests(const Kernel& kernel) {
  std::vector<OpId> found;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (kernel.op(id).is<op::If>() && !kernel.op(id).results.empty() && kernel.type(kernel.op(id).result()).is_tile()) found.push_back(id);
  });
  return found;
}

template <class T>
int count(const Kernel& kernel, RegionId region) {
  int n = 0;
  each_op(kernel, region, [&](OpId id) { n += kernel.op(id).is<T>(); });
  return n;
}

interp::Tensor run(const Kernel& kernel, int64_t m, int64_t n) {
  interp::Tensor x(Scalar::F32, {m, n}), y(Scalar::F32, {m, n});
  x.fill([](int64_t k) { return double(k % 31 + 1); });
  std::vector<interp::Argument> arguments{&x, &y};
  interp::RunOptions options;
  options.machine = &with_branches();
  interp::RunResult result = interp::run(kernel, arguments, options);
  REQUIRE_MESSAGE(result.ok(), result.fault->text);
  return y;
}

// Tiles that skip the masks are zeros.
Kernel with_zeros(Kernel kernel) {
  RegionId taken = kernel.op(tests(kernel).at(0)).as<op::If>().then_body;
  OpId yield = kernel.region(taken).ops.back();
  ValueId zeros;
  passes::insert_before(kernel, taken, yield, [&](Builder& b) {
    zeros = b.value(op::Splat{b.real(Scalar::F32, 0)}, Type(kernel.type(kernel.op(yield).as<op::Yield>().values[0])));
  });
  kernel.op(yield).as<op::Yield>().values[0] = zeros;
  return kernel;
}

bool hides_any(const Mask& mask, int64_t i, int64_t j, int64_t n) {
  for (int64_t r = 0; r < kSide; ++r)
    for (int64_t c = 0; c < kSide; ++c)
      if (mask.hides({i, j, r, c, n})) return true;
  return false;
}

}  // namespace

TEST_SUITE("skip_masks") {
  TEST_CASE("exactly the tiles of which nothing is hidden go without the mask, and all are what they were") {
    for (const Mask& mask : kMasks) {
      CAPTURE(mask.text);
      const Kernel kernel = passed(mask.text, with_branches());
      REQUIRE(tests(kernel).size() == 1);
      const Kernel marked = with_zeros(kernel);
      const bool doubles = std::string_view(mask.text).find("* 2,") != std::string_view::npos;
      for (auto [m, n] : {std::pair<int64_t, int64_t>{16, 16}, {16, 31}, {33, 32}, {40, 33}, {48, 65}}) {
        const interp::Tensor y = run(kernel, m, n), zeros = run(marked, m, n);
        int wrong = 0, misplaced = 0;
        for (int64_t row = 0; row < m; ++row)
          for (int64_t column = 0; column < n; ++column) {
            int64_t at = row * n + column, i = row / kSide, j = column / kSide;
            bool is_hidden = mask.hides({i, j, row % kSide, column % kSide, n});
            wrong += y.real(at) != (is_hidden ? -1 : double(at % 31 + 1) * (doubles ? 2 : 1));
            misplaced += (zeros.real(at) == 0) == hides_any(mask, i, j, n);
          }
        CHECK(wrong == 0);
        CHECK(misplaced == 0);
      }
    }
  }

  TEST_CASE("a map that only hides is not there at all, any other without its mask") {
    for (const Mask& mask : kMasks) {
      CAPTURE(mask.text);
      const Kernel kernel = passed(mask.text, with_branches());
      RegionId taken = kernel.op(tests(kernel).at(0)).as<op::If>().then_body;
      CHECK(count<op::Map>(kernel, taken) == (std::string_view(mask.text).find("* 2,") != std::string_view::npos));
      CHECK(count<op::Compare>(kernel, taken) == 0);
    }
  }

  TEST_CASE("masks of elements, of remainders and of what is not straight stay, as do maps outside of loops") {
    for (const char* mask : {"if (j * 16 + c) % 3 == 0 { s[r, c] = -1; }", "if s[r, c] > 3 { s[r, c] = -1; }", "if r * c > j { s[r, c] = -1; }",
                             "if c == j { s[r, c] = -1; }", "if c > j || s[r, c] > 3 { s[r, c] = -1; }", "s[r, c] = s[r, c] + 1;"})
      CHECK(tests(passed(mask, with_branches())).empty());
    CHECK(tests(passed(kMasks[0].text, with_branches(), "let j = 0; if N > 5")).empty());
  }

  // At a corner that no element asks about, a sum may leave 64 bits.
  TEST_CASE("what is asked of some elements only is not asked at a corner") {
    CHECK(tests(passed("if s[r, c] > 3 { if j * 16 + c >= N { s[r, c] = -1; } else { s[r, c] = s[r, c] * 3; } }", with_branches())).empty());
    CHECK(tests(passed("if s[r, c] > 3 && j * 16 + c >= N { s[r, c] = -1; }", with_branches())).size() == 1);
  }

  TEST_CASE("where lanes go one way, masks stay") {
    for (const Machine& machine : target::cpu::x86_64_machines()) CHECK(tests(passed(kMasks[0].text, machine)).empty());
  }
}
