// Products of groups of warps on the made-up GPU: in flight, in every layout that engines read, judged after every pass.
#include <map>

#include "agreement.h"
#include "target/model/machine.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

std::map<std::string, std::string> texts_of(ir::Kernel kernel, const Machine& machine = target::model::asynchronous()) {
  std::map<std::string, std::string> texts;
  Diagnostics diagnostics{Policy{}};
  PassOptions passes;
  passes.after = [&](const Pass& pass, const ir::Kernel& now) { texts[std::string(pass.name)] = ir::print(now); };
  REQUIRE(run_passes(kernel, machine, diagnostics, passes));
  return texts;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

struct Tiles {
  int64_t m, n, k, threads;
  std::string element, sum;
  bool transpose_a = false, transpose_b = false;
};

std::string matrix(int64_t rows, int64_t columns, bool is_transposed) {
  return is_transposed ? std::to_string(columns) + "x" + std::to_string(rows) : std::to_string(rows) + "x" + std::to_string(columns);
}

std::string replaced(std::string text, const std::map<std::string, std::string>& words) {
  for (const auto& [from, to] : words)
    for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

// One tile of c = a @ b, the k loop in two turns of `k`; an operand may be stored transposed.
ir::Kernel product(const Tiles& t) {
  const char* text = R"(kernel "product"
  param "a", %a, extents=[%rows, %columns], type="E[2]"
  param "b", %b, extents=[%b_rows, %b_columns], type="E[2]"
  param "c", %c, access=out, extents=[%m, %n], type="S[2]"
{ (%a: buffer<global AALL E>, %b: buffer<global BALL E>, %c: buffer<global CTILE S>)
  %zero = constant 0 : int
  %one = constant 1 : int
  %two = constant 2 : int
  %step = constant KSTEP : int
  %m = constant MSIZE : int
  %n = constant NSIZE : int
  %rows = constant AROWS : int
  %columns = constant ACOLUMNS : int
  %b_rows = constant BROWS : int
  %b_columns = constant BCOLUMNS : int
  launch [%one], threads=THREADS { (%block: int)
    %a_tile = alloc name="a_tile" : buffer<shared ATILE E>
    %b_tile = alloc name="b_tile" : buffer<shared BTILE E>
    %nought = constant ZERO : S
    %acc_0 = splat %nought : tile<CTILE S>
    %acc = for %zero, %two, %one, [%acc_0], loop=pipelined, stages=2 : tile<CTILE S> { (%k: int, %old: tile<CTILE S>)
      %depth = binary.mul %k, %step : int
      copy %a, [AFROM], %a_tile, [%zero, %zero], src_axes=[0, 1], dst_axes=[0, 1], shape=[ASHAPE]
      copy %b, [BFROM], %b_tile, [%zero, %zero], src_axes=[0, 1], dst_axes=[0, 1], shape=[BSHAPE]
      %new = gemm %a_tile, %b_tile, %oldTRANSPOSES : tile<CTILE S>
      yield [%new]
    }
    store %acc, %c, [%zero, %zero], axes=[0, 1]
    yield
  }
  yield
}
)";
  auto comma = [](std::string shape) { return shape.replace(shape.find('x'), 1, ", "); };
  auto first = [](const std::string& shape) { return shape.substr(0, shape.find('x')); };
  auto second = [](const std::string& shape) { return shape.substr(shape.find('x') + 1); };
  std::string a = matrix(t.m, t.k, t.transpose_a), b = matrix(t.k, t.n, t.transpose_b);
  std::string a_all = matrix(t.m, 2 * t.k, t.transpose_a), b_all = matrix(2 * t.k, t.n, t.transpose_b);
  std::string transposes = std::string(t.transpose_a ? ", transpose_a=true" : "") + (t.transpose_b ? ", transpose_b=true" : "");
  std::string error;
  auto kernel = ir::parse(
      replaced(replaced(text, {{"AALL", a_all}, {"BALL", b_all}, {"ATILE", a}, {"BTILE", b}, {"CTILE", matrix(t.m, t.n, false)},
                               {"ASHAPE", comma(a)}, {"BSHAPE", comma(b)}, {"KSTEP", std::to_string(t.k)}, {"MSIZE", std::to_string(t.m)},
                               {"NSIZE", std::to_string(t.n)}, {"AROWS", first(a_all)}, {"ACOLUMNS", second(a_all)}, {"BROWS", first(b_all)},
                               {"BCOLUMNS", second(b_all)}, {"THREADS", std::to_string(t.threads)}, {"ZERO", t.sum == "i32" ? "0" : "0.0"},
                               {"AFROM", t.transpose_a ? "%depth, %zero" : "%zero, %depth"},
                               {"BFROM", t.transpose_b ? "%zero, %depth" : "%depth, %zero"}, {"TRANSPOSES", transposes}}),
               {{" E>", " " + t.element + ">"}, {"\"E[2]", "\"" + t.element + "[2]"}, {" S>", " " + t.sum + ">"}, {" : S\n", " : " + t.sum + "\n"},
                {"\"S[2]", "\"" + t.sum + "[2]"}}),
      &error);
  REQUIRE_MESSAGE(kernel.has_value(), error);
  return *kernel;
}

Shapes shapes_of(const Tiles& t) {
  auto shape = [](int64_t rows, int64_t columns, bool is_transposed) {
    return is_transposed ? std::vector{columns, rows} : std::vector{rows, columns};
  };
  return {shape(t.m, 2 * t.k, t.transpose_a), shape(2 * t.k, t.n, t.transpose_b), {t.m, t.n}};
}

}  // namespace

TEST_SUITE("group products") {
  TEST_CASE("the product of a k loop stays in flight from turn to turn") {
    auto texts = texts_of(kernel_of("matrix_product"));
    const std::string& overlapped = texts.at("overlap-products");
    CHECK(has(overlapped, "begin_flight"));
    CHECK(has(overlapped, "in_flight=1"));
    CHECK(!has(overlapped, " = gemm %"));
    CHECK(has(texts.at("lower"), "group_wait in_flight=1"));
  }

  TEST_CASE("as many products are in flight as the schedule says") {
    ir::Kernel kernel = kernel_of("matrix_product");
    kernel.schedule.pipelines.push_back({"tiles", {"a_tile", "b_tile"}, 4, 2});
    CHECK(has(texts_of(kernel).at("overlap-products"), "in_flight=2"));
    check_agreement(kernel, {{64, 256}, {256, 64}, {64, 64}}, target::model::asynchronous());
  }

  TEST_CASE("a product whose accumulator is touched between turns is awaited at once") {
    auto texts = texts_of(kernel_of("attention"));
    CHECK(has(texts.at("overlap-products"), "gemm_async"));
    CHECK(!has(texts.at("overlap-products"), "begin_flight"));
  }

  TEST_CASE("an operand that threads write is fenced before the barrier") {
    auto texts = texts_of(kernel_of("scaled_product"));
    const std::string& text = texts.at("insert-barriers");
    size_t fence = text.find("    fence\n"), barrier = text.find("barrier why=\"`operand`", fence);
    REQUIRE(fence != text.npos);
    CHECK(barrier != text.npos);
    CHECK(text.find("gemm_async", barrier) != text.npos);
    check_agreement(kernel_of("scaled_product"), {{128, 64}, {64, 64}, {128, 64}}, target::model::asynchronous());
  }

  TEST_CASE("operands in every layout that engines read") {
    for (const Tiles& tiles : {Tiles{64, 64, 64, 128, "f16", "f32"}, Tiles{64, 64, 64, 128, "f16", "f32", true, false},
                               Tiles{64, 64, 64, 128, "f16", "f32", false, true}, Tiles{64, 128, 32, 128, "bf16", "f32", true, true},
                               Tiles{128, 96, 64, 256, "f16", "f32"}, Tiles{128, 96, 64, 256, "f16", "f32", true, true},
                               Tiles{64, 64, 64, 256, "f16", "f32"}, Tiles{64, 64, 64, 256, "f16", "f32", true, true},
                               Tiles{64, 80, 32, 128, "f16", "f32"}, Tiles{256, 64, 32, 256, "f16", "f32", true, false},
                               Tiles{64, 32, 64, 128, "f8e4m3", "f32", false, true}, Tiles{64, 64, 32, 128, "i8", "i32"},
                               Tiles{64, 32, 16, 128, "f32", "f32", true, false}}) {
      CAPTURE(tiles.element);
      CAPTURE(tiles.m);
      CAPTURE(tiles.n);
      CAPTURE(tiles.transpose_a);
      CAPTURE(tiles.transpose_b);
      ir::Kernel kernel = product(tiles);
      CHECK(has(texts_of(kernel).at("lower"), "group_product"));
      check_agreement(kernel, shapes_of(tiles), target::model::asynchronous());
    }
  }

  TEST_CASE("instructions that read rows along k alone get no others") {
    Machine machine = target::model::asynchronous();
    std::vector<MatrixAtom> atoms(machine.matrix_atoms.begin(), machine.matrix_atoms.end());
    for (MatrixAtom& atom : atoms) atom.k_major_only = true;
    machine.matrix_atoms = atoms;
    CHECK(!has(texts_of(product({64, 64, 64, 128, "f16", "f32"}), machine).at("overlap-products"), "gemm_async"));
    CHECK(has(texts_of(product({64, 64, 64, 128, "f16", "f32", false, true}), machine).at("overlap-products"), "gemm_async"));
  }

  TEST_CASE("no block begins inside the rows of a panel") {
    // Two groups share 64 columns: rows of 128 bytes would be cut in the middle.
    CHECK(has(texts_of(product({64, 64, 64, 256, "f16", "f32"})).at("place"), "buffer<shared 64x64 f16 @ addr(c0 c1 c2 c3^r1 c4^r2 r0 r1"));
  }

  TEST_CASE("operands in registers go to shared memory only where there is room") {
    Machine machine = target::model::asynchronous();
    machine.shared_bytes = 1024;
    CHECK(!has(texts_of(kernel_of("scaled_product"), machine).at("overlap-products"), "gemm_async"));
  }
}
