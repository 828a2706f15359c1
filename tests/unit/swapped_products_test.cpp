// Products of groups of warps with their operands in each other's place: tiles of few rows take the instruction's columns for them.
// Every layout that engines read, with roles and without, judged by the interpreter after every pass.
#include "made.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

constexpr std::string_view kProduct = R"(
export kernel product(A: E[ALL_A], B: E[ALL_B], out C: S[M, N]) {
    launch (j in ceildiv(N, BN), i in ceildiv(M, BM)) threads THREADS {
        var a: shared E[TILE_A];
        var b: shared E[TILE_B];
        var acc: fragment S[BM, BN] = 0;
        for k in pipelined(ceildiv(K, BK), stages = 3) {
            a = A.tile(FROM_A);
            b = B.tile(FROM_B);
            acc += LEFT @ RIGHT;
        }
        C.tile(i, j) = acc;
    }
}
)";

// The right operand comes from registers.
constexpr std::string_view kScaled = R"(
export kernel scaled(A: f16[M, K], B: i8[K, N], out C: f32[M, N]) {
    launch (j in ceildiv(N, 64), i in ceildiv(M, 16)) threads 128 {
        var a: shared f16[16, 64];
        var b: shared i8[64, 64];
        var acc: fragment f32[16, 64] = 0;
        for k in pipelined(ceildiv(K, 64), stages = 3) {
            a = A.tile(i, k);
            b = B.tile(k, j);
            acc += a @ (b as f16);
        }
        C.tile(i, j) = acc;
    }
}
)";

constexpr std::string_view kChain = R"(
export kernel chain(A: f16[16, K], B: f16[K, N], G: f16[M, 16], out C: f32[M, N]) {
    launch (j in ceildiv(N, 64), i in ceildiv(M, 8)) threads 128 {
        var a: shared f16[16, 64] = A.tile(0, 0);
        var b: shared f16[64, 64] = B.tile(0, j);
        var g: shared f16[8, 16] = G.tile(i, 0);
        var s: fragment f32[16, 64] = 0;
        s += a @ b;
        var o: fragment f32[8, 64] = 0;
        o += g @ ((s * 0.125) as f16);
        C.tile(i, j) = o;
    }
}
)";

constexpr std::string_view kRows = R"(
export kernel rows(A: f16[M, 64], B: f16[64, 64], out C: f32[M, 64], out R: f32[M]) {
    launch (i in ceildiv(M, 16)) threads 128 {
        var a: shared f16[16, 64] = A.tile(i, 0);
        var b: shared f16[64, 64] = B.tile(0, 0);
        var acc: fragment f32[16, 64] = 0;
        acc += a @ b;
        R.tile(i) = acc.max(axis = 1);
        C.tile(i, 0) = acc.cumsum(axis = 1);
    }
}
)";

// The second product takes no groups' instruction: it is not as deep as one.
constexpr std::string_view kMixed = R"(
export kernel mixed(A: f16[M, 64], D: f16[M, 8], B: f16[64, 64], E: f16[8, 64], out C: f32[M, 64]) {
    launch (i in ceildiv(M, 16)) threads 128 {
        var a: shared f16[16, 64] = A.tile(i, 0);
        var d: shared f16[16, 8] = D.tile(i, 0);
        var b: shared f16[64, 64] = B.tile(0, 0);
        var e: shared f16[8, 64] = E.tile(0, 0);
        var acc: fragment f32[16, 64] = 0;
        acc += a @ b;
        acc += d @ e;
        C.tile(i, 0) = acc;
    }
}
)";

constexpr std::string_view kAttention = R"(
export kernel attention(Q: f16[S, 64], K: f16[L, 64], V: f16[L, 64], out O: f32[S, 64]) {
    launch (i in ceildiv(S, 16)) threads 128 {
        var q: shared f16[16, 64] = Q.tile(i, 0);
        var k: shared f16[64, 64];
        var v: shared f16[64, 64];
        var o: fragment f32[16, 64] = 0;
        for j in pipelined(ceildiv(L, 64), stages = 2) {
            k = K.tile(j, 0);
            v = V.tile(j, 0);
            o += ((q @ k.T * 0.125) as f16) @ v;
        }
        O.tile(i, 0) = o;
    }
}
)";

struct Tiles {
  int64_t m, n, k, threads;
  std::string element, sum;
  bool turn_a = false, turn_b = false;
};

std::string replaced(std::string text, const std::map<std::string, std::string>& words) {
  for (const auto& [from, to] : words) text = testing::replaced(text, "\\b" + from + "\\b", to);
  return text;
}

std::string source_of(const Tiles& t) {
  auto sizes = [](const std::string& rows, const std::string& columns, bool is_turned) { return is_turned ? columns + ", " + rows : rows + ", " + columns; };
  std::string text = replaced(std::string(kProduct),
                              {{"ALL_A", sizes("M", "K", t.turn_a)}, {"ALL_B", sizes("K", "N", t.turn_b)}, {"TILE_A", sizes("BM", "BK", t.turn_a)},
                               {"TILE_B", sizes("BK", "BN", t.turn_b)}, {"FROM_A", sizes("i", "k", t.turn_a)}, {"FROM_B", sizes("k", "j", t.turn_b)},
                               {"LEFT", t.turn_a ? "a.T" : "a"}, {"RIGHT", t.turn_b ? "b.T" : "b"}});
  return replaced(text, {{"E", t.element}, {"S", t.sum}, {"BM", std::to_string(t.m)}, {"BN", std::to_string(t.n)}, {"BK", std::to_string(t.k)},
                         {"THREADS", std::to_string(t.threads)}});
}

// With edges: tiles that the tensors leave.
Shapes shapes_of(const Tiles& t) {
  int64_t m = t.m + 3, n = t.n - 9, k = t.k * 2 + 5;
  auto sizes = [](int64_t rows, int64_t columns, bool is_turned) { return is_turned ? std::vector{columns, rows} : std::vector{rows, columns}; };
  return {sizes(m, k, t.turn_a), sizes(k, n, t.turn_b), {m, n}};
}

std::string refusal_of(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics{Policy{}};
  Ast ast = parse(sources.add("it.tile", text), sources, diagnostics);
  Program program = analyse(ast, sources, embedded_library(), diagnostics);
  REQUIRE(!diagnostics.has_errors());
  ir::Kernel kernel = kernel_for(program.exports.at(0), target::model::asynchronous());
  run_passes(kernel, target::model::asynchronous(), diagnostics);
  for (const Diagnostic& d : diagnostics.all())
    if (d.severity == Severity::Error) return d.message;
  return "";
}

const Machine* const kMachines[] = {&target::model::asynchronous(), &target::model::without_roles(), &target::model::with_lanes()};

void agree(const std::string& text, const Shapes& shapes) {
  for (const Machine* machine : kMachines) check_agreement(Made(text, *machine).typed, shapes, *machine);
}

}  // namespace

TEST_SUITE("swapped products") {
  TEST_CASE("tiles of few rows take the narrow side of the instruction") {
    const struct {
      Tiles tiles;
      const char* row;
    } kRows[] = {{{16, 128, 64, 128, "f16", "f32"}, "group.m64n16k16.f16.swapped"},
                 {{8, 64, 64, 128, "bf16", "f32", false, true}, "group.m64n8k16.bf16.swapped"},
                 {{96, 64, 64, 128, "f16", "f32"}, "group.m64n96k16.f16.swapped"},
                 {{16, 64, 64, 256, "f16", "f32"}, "group.m64n8k16.f16.swapped"},  // two groups, of which each has eight rows
                 {{64, 32, 64, 128, "f16", "f32"}, "group.m64n32k16.f16"},
                 {{64, 64, 64, 128, "f16", "f32"}, "group.m64n64k16.f16"},
                 {{16, 32, 64, 128, "f16", "f32"}, "mma.m16n8k16.f16"},
                 {{8, 64, 64, 128, "f16", "f32", true}, "mma.m16n8k16.f16"}};  // rows of 16 bytes are none that engines read
    for (const auto& [tiles, row] : kRows) {
      CAPTURE(row);
      CHECK(Made(source_of(tiles)).has("select-atoms", "atom=\"" + std::string(row) + "\""));
    }
  }

  TEST_CASE("operands in every layout that engines read") {
    for (const Tiles& tiles : {Tiles{16, 64, 64, 128, "f16", "f32"}, Tiles{8, 64, 64, 128, "f16", "f32"}, Tiles{16, 64, 64, 128, "f16", "f32", false, true},
                               Tiles{8, 64, 32, 128, "bf16", "f32", false, true}, Tiles{16, 64, 64, 128, "bf16", "f32", true, false},
                               Tiles{16, 64, 32, 128, "f16", "f32", true, true}, Tiles{16, 128, 32, 256, "f16", "f32"},
                               Tiles{16, 128, 32, 256, "f16", "f32", true, true}, Tiles{48, 64, 32, 128, "f16", "f32"},
                               Tiles{96, 128, 32, 256, "bf16", "f32", true, true}, Tiles{16, 64, 64, 128, "f8e4m3", "f32", false, true},
                               Tiles{8, 64, 64, 128, "i8", "i32", false, true}, Tiles{32, 64, 32, 128, "i8", "i32", true, false},
                               Tiles{16, 64, 16, 128, "f32", "f32"}, Tiles{16, 64, 32, 128, "tf32", "f32", false, true}}) {
      CAPTURE(tiles.element);
      CAPTURE(tiles.m);
      CAPTURE(tiles.n);
      CAPTURE(tiles.turn_a);
      CAPTURE(tiles.turn_b);
      Made made(source_of(tiles));
      CHECK(made.has("overlap-products", ".swapped"));
      CHECK_FALSE(made.has("lower", ".swapped"));
      CHECK(made.has("lower", "group_product"));
      agree(source_of(tiles), shapes_of(tiles));
    }
  }

  TEST_CASE("the right operand may come from registers") {
    Made made{std::string(kScaled)};
    CHECK(made.has("place", "group.m64n16k16.f16.swapped"));
    CHECK_FALSE(made.has("place", "name=\"operand\""));
    CHECK_FALSE(made.has("place", "convert_layout"));
    agree(std::string(kScaled), {{40, 100}, {100, 150}, {40, 150}});
  }

  TEST_CASE("what one product gives is the right operand of the next as it is") {
    Made made{std::string(kChain)};
    CHECK(made.has("place", "group.m64n8k16.f16.swapped"));
    CHECK_FALSE(made.has("place", "convert_layout"));
    agree(std::string(kChain), {{16, 64}, {64, 100}, {20, 16}, {20, 100}});
  }

  TEST_CASE("rows of swapped accumulators are reduced across warps") { agree(std::string(kRows), {{20, 64}, {64, 64}, {20, 64}, {20}}); }

  TEST_CASE("products of one sum are swapped together, and none where one goes on from registers") {
    CHECK_FALSE(Made{std::string(kMixed)}.has("place", ".swapped"));
    agree(std::string(kMixed), {{20, 64}, {20, 8}, {64, 64}, {8, 64}, {20, 64}});
    CHECK_FALSE(Made{std::string(kAttention)}.has("place", ".swapped"));
    agree(std::string(kAttention), {{20, 64}, {100, 64}, {100, 64}, {20, 64}});
  }

  TEST_CASE("a schedule pins the layouts that it prints, and no other product's") {
    const std::string text = source_of({16, 128, 32, 128, "f16", "f32"});
    const Shapes shapes = {{20, 70}, {70, 200}, {20, 200}};
    const std::string own = "reg(r0 c3 r3 c6) lane(r1 r2 c0 c1 c2) warp(c4 c5)", other = "reg(c6 r0 c3 r3) lane(r1 r2 c0 c1 c2) warp(c4 c5)";
    CHECK(Made(text).has("place", "tile<16x128 f32 @ " + own));
    for (const std::string& layout : {own, other}) {
      const std::string pinned = text + "schedule product for model, \"model-no-roles\", \"model-lanes\" { layout acc: " + layout + "; }\n";
      CHECK(Made(pinned).has("place", "tile<16x128 f32 @ " + layout));
      agree(pinned, shapes);
    }
    CHECK(refusal_of(text + "schedule product for model { layout acc: reg(c0 r3 c3 c6) lane(c1 c2 r0 r1 r2) warp(c4 c5); }\n") ==
          "`acc` cannot have this layout: it is no arrangement of accumulators of group.m64n16k16.f16.swapped");
  }
}
