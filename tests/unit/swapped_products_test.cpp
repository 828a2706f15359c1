// Products of groups of warps with their operands in each other's place: tiles of few rows take the instruction's columns for them.
// Every layout that engines read, with roles and without, judged by the interpreter after every pass.
#include <map>
#include <regex>

#include "agreement.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/model/machine.h"

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

struct Tiles {
  int64_t m, n, k, threads;
  std::string element, sum;
  bool turn_a = false, turn_b = false;
};

std::string replaced(std::string text, const std::map<std::string, std::string>& words) {
  for (const auto& [from, to] : words) text = std::regex_replace(text, std::regex("\\b" + from + "\\b"), to);
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
  int64_t m = t.m + 3, n = t.n * 2 - 9, k = t.k * 2 + 5;
  auto sizes = [](int64_t rows, int64_t columns, bool is_turned) { return is_turned ? std::vector{columns, rows} : std::vector{rows, columns}; };
  return {sizes(m, k, t.turn_a), sizes(k, n, t.turn_b), {m, n}};
}

struct Made {
  ir::Kernel typed, last;
  std::map<std::string, std::string> after;

  explicit Made(const std::string& text, const Machine& machine = target::model::asynchronous()) {
    SourceMap sources;
    Diagnostics diagnostics{Policy{}};
    Ast ast = parse(sources.add("it.tile", text), sources, diagnostics);
    Program program = analyse(ast, sources, embedded_library(), diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), text);
    typed = last = kernel_for(program.exports.at(0), machine);
    PassOptions passes;
    passes.after = [&](const Pass& pass, const ir::Kernel& now) { after[std::string(pass.name)] = ir::print(now); };
    REQUIRE(run_passes(last, machine, diagnostics, passes));
  }
  bool has(const std::string& pass, const std::string& part) const { return after.at(pass).find(part) != std::string::npos; }
};

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

}
