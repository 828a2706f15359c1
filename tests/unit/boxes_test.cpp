// Copies by an engine that knows boxes of tensors and rows of shared tiles; where a call's tensors do not suit it, it is handed copies,
// or lanes copy.

#include "agreement.h"
#include "patterns.h"
#include "layout/engine_rows.h"
#include "layout/notation.h"
#include "layout/widen.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/abi/boxes.h"
#include "target/cuda/machine.h"

using namespace tilec;
using namespace tilec::agreement;

namespace {

const Machine& with_boxes() { return target::cuda::machines().back(); }

struct Made {
  SourceMap sources;
  Diagnostics diagnostics;
  Ast ast;
  Program program;
  ir::Kernel typed, thread;

  static Policy all_remarks() {
    Policy policy;
    policy.all_remarks = true;
    return policy;
  }
  explicit Made(const std::string& text) : diagnostics(all_remarks()) {
    ast = parse(sources.add("boxes.tile", text), sources, diagnostics);
    program = analyse(ast, sources, embedded_library(), diagnostics);
    REQUIRE(!diagnostics.has_errors());
    typed = thread = kernel_for(program.exports.at(0), with_boxes());
    REQUIRE(run_passes(thread, with_boxes(), diagnostics, {}));
  }
  std::string remark(std::string_view name) const {
    for (const Diagnostic& d : diagnostics.all())
      if (d.name == name) return d.message;
    return "";
  }
};

// `strides`: of A and B, as they are written.
std::string product(const std::string& a_strides, const std::string& b_strides) {
  return "kernel product(A: f16[M, K" + a_strides + "], B: f16[K, N" + b_strides + "], out C: f32[M, N])" + R"({
    launch (i in ceildiv(N, 64), j in ceildiv(M, 64)) threads 128 {
        var a: shared f16[64, 128];
        var b: shared f16[128, 64];
        var acc: fragment f32[64, 64] = 0;
        for k in pipelined(ceildiv(K, 128), stages = 3) {
            a = A.tile(j, k);
            b = B.tile(k, i);
            acc += a @ b;
        }
        C.tile(j, i) = acc;
    }
}
export product;
)";
}

// Of tensors that the kernel may write.
std::string product_of_inouts() { return testing::replaced(product("", ""), "([AB]): f16\\[", "inout $1: f16["); }

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++n;
  return n;
}

}  // namespace

TEST_SUITE("boxes") {
  TEST_CASE("engines know swizzled rows, panels of them and stacks, and rows as they come") {
    using namespace layout;
    for (int bytes : {32, 64, 128}) {
      MemLayout two = *swizzled(Shape{24, 128}, 1, 0, 16, bytes);
      auto rows = engine_rows(stacked(stacked(two, 3), 2), 16);
      REQUIRE(rows);
      CHECK(rows->swizzle == bytes);
      CHECK(rows->width == bytes / 2);
      CHECK(rows->count == 256 / bytes);
      // Element by element: the chunk of 16 bytes is that of the line, flipped by the number of the line's 128-byte neighbour.
      for (int r = 0; r < 24; ++r)
        for (int c = 0; c < 128; ++c) {
          int64_t byte = rows->panel * 2 * (c / rows->width) + int64_t(r) * bytes + c % rows->width * 2;
          int64_t flipped = byte ^ (byte >> 7 & (bytes / 16 - 1)) << 4;
          REQUIRE(two.address({r, c}) * 2 == flipped);
        }
    }
    auto plain = engine_rows(row_major(Shape{3, 5, 40}), 32);
    REQUIRE(plain);
    CHECK(plain->swizzle == 0);
    CHECK(plain->width == 40);
    CHECK(engine_rows(row_major(Shape{100}), 16)->width == 100);
    CHECK(!engine_rows(panels(Shape{64, 64}, 1, 8), 16));
    CHECK(!engine_rows(mem_layout("addr(c0 c1 c2 c3^r0 c4 r0 r1 r2)"), 16));
  }

  // Back through the order and the swaps, the last first.
  const auto check_exchange = [](const layout::RegLayout& before, const layout::Widening& dealt) {
    CHECK(flaw(dealt.layout) == "");
    for (int64_t r = 0; r < before.registers(); ++r)
      for (int lane = 0; lane < 32; ++lane)
        for (int warp = 0; warp < before.warps(); ++warp) {
          int64_t from = r >> dealt.order.size() << dealt.order.size();
          for (size_t bit = 0; bit < dealt.order.size(); ++bit) from |= (r >> bit & 1) << dealt.order[bit];
          int at = lane;
          for (size_t k = dealt.swaps.size(); k-- > 0;) {
            auto [reg_bit, lane_bit] = dealt.swaps[k];
            int64_t of_reg = from >> reg_bit & 1, of_lane = at >> lane_bit & 1;
            from = (from & ~(int64_t(1) << reg_bit)) | of_lane << reg_bit;
            at = int((at & ~(1 << lane_bit)) | of_reg << lane_bit);
          }
          REQUIRE(dealt.layout.coordinate(r, lane, warp) == before.coordinate(from, at, warp));
        }
  };

  TEST_CASE("registers that are dealt anew hold neighbours, and the exchange says where each came from") {
    using namespace layout;
    struct Case { const char* text; int bits; bool is_possible; };
    for (auto [text, bits, is_possible] : {Case{"reg(c0 r3 c3 c4 c5) lane(c1 c2 r0 r1 r2) warp(r4)", 3, true},
                                           Case{"reg(c0 r3 c3 c4) lane(c1 c2 r0 r1 r2) grid(c 3)", 2, true},
                                           Case{"reg(r3 r4) lane(c0 c1 c2 r0 r1) warp(r2)", 2, true},
                                           Case{"reg(c0 r3) lane(c1 r0 r1 r2 _) warp(c2)", 3, false},
                                           Case{"reg(c0) lane(c1 c2 r0 r1 r2)", 3, false}}) {
      CAPTURE(text);
      RegLayout before = reg_layout(text);
      auto dealt = widened(before, 1, bits);
      REQUIRE(dealt.has_value() == is_possible);
      if (!dealt) continue;
      check_exchange(before, *dealt);
      for (int64_t r = 0; r < before.registers(); ++r)
        for (int lane = 0; lane < 32; ++lane)
          for (int warp = 0; warp < before.warps(); ++warp)
            REQUIRE(dealt->layout.coordinate(r, lane, warp)[1] - dealt->layout.coordinate(r & -(1 << bits), lane, warp)[1] == (r & ((1 << bits) - 1)));
    }
  }

  TEST_CASE("lanes side by side hold what lies side by side") {
    using namespace layout;
    struct Case { const char* text; int run; };  // elements of a row that neighbouring lanes hold; 0: nothing is to be done, or can be
    for (auto [text, run] : {Case{"reg(c0 r3 c3 c4 c5) lane(c1 c2 r0 r1 r2) warp(r4)", 32}, Case{"reg(c0 r3 c3) lane(c1 c2 r0 r1 r2) warp(r4)", 16},
                             Case{"reg(c0 r3) lane(c1 c2 r0 r1 r2) grid(c 3)", 8}, Case{"reg(r3 r4) lane(c0 c1 c2 r0 r1) warp(r2)", 0}, Case{"reg(c0 c1) lane(c2 c3 c4 c5 c6) warp(r0)", 0},
                             Case{"reg(c0 r3 c3 c4) lane(c1 c2 r0 r1^c0 _) warp(r2)", 0}}) {
      CAPTURE(text);
      RegLayout before = reg_layout(text);
      auto dealt = spread(before, 1);
      REQUIRE(dealt.has_value() == (run > 0));
      if (!dealt) continue;
      check_exchange(before, *dealt);
      for (int64_t r = 0; r < before.registers(); ++r) {
        std::set<int64_t> columns;
        int64_t row = dealt->layout.coordinate(r, 0, 0)[0];
        for (int lane = 0; lane < 32; ++lane)
          if (dealt->layout.coordinate(r, lane, 0)[0] == row) columns.insert(dealt->layout.coordinate(r, lane, 0)[1]);
        CHECK(int(columns.size()) == run);
        CHECK(*columns.rbegin() - *columns.begin() == run - 1);
      }
    }
  }

  TEST_CASE("tiles are filled by the engine, for which the launcher copies tensors that do not suit it") {
    Made dense(product("", ""));
    std::string text = ir::print(dense.thread);
    CHECK(text.find("has_boxes") == text.npos);
    CHECK(text.find("copy_lanes") == text.npos);
    // Panels of 64 elements: two boxes of A, one of B; ahead of the loop and in it.
    CHECK(count(text, "copy_box") == 6);
    CHECK(dense.remark("CopiedByLanes") == "");
    std::vector<target::BoxAbi> boxes = target::boxes_of(dense.thread, dense.thread.body);
    CHECK(boxes.size() == 2);
    CHECK(std::ranges::all_of(boxes, &target::BoxAbi::is_packed));
    for (auto [m, n, k] : {std::array<int64_t, 3>{70, 65, 130}, {64, 128, 256}, {1, 8, 8}}) check_agreement(dense.typed, {{m, k}, {k, n}, {m, n}}, with_boxes());
  }

  TEST_CASE("tiles of tensors that the kernel may write are filled by the engine where the call's tensors suit it, by lanes elsewhere") {
    Made dense(product_of_inouts());
    std::string text = ir::print(dense.thread);
    CHECK(count(text, "has_boxes") == 2);
    CHECK(count(text, "copy_box") == 6);
    CHECK(text.find("copy_lanes") != text.npos);
    CHECK(!target::has_packed_boxes(dense.thread));
    // Odd rows, and rows that suit the engine.
    for (auto [m, n, k] : {std::array<int64_t, 3>{70, 65, 130}, {64, 128, 256}, {72, 136, 264}, {1, 8, 8}}) {
      Shapes shapes{{m, k}, {k, n}, {m, n}};
      check_agreement(dense.typed, shapes, with_boxes());
      // A launcher may find that it cannot describe a tensor to the engine.
      std::string error, without = testing::replaced(text, "has_boxes %[A-Z]_[0-9]+", "constant 0");
      REQUIRE(without != text);
      auto lanes = ir::parse(without, &error);
      REQUIRE_MESSAGE(lanes, error);
      Data reference = data_for(dense.typed, shapes);
      interp::RunOptions options;
      options.numeric = interp::Numeric::Wide;
      REQUIRE(interp::run(dense.typed, reference.arguments, options).ok());
      run_and_compare(*lanes, shapes, reference, with_boxes());
    }
  }

  TEST_CASE("a role that copies by lanes, or may have to, keeps registers for it") {
    auto large = [](const std::string& text) { return testing::replaced(text, "threads 128", "threads 256"); };
    auto budgets = [](const Made& made) {
      std::vector<int64_t> registers;
      for (const ir::Role& role : made.thread.schedule.roles) registers.push_back(role.registers);
      return registers;
    };
    CHECK(budgets(Made(large(product("", "")))) == std::vector<int64_t>{216, 72});
    CHECK(budgets(Made(large(product_of_inouts()))) == std::vector<int64_t>{200, 104});
  }

  TEST_CASE("what the engine cannot copy is told with the rule") {
    Made turned(product("; 1, lda", ""));
    CHECK(turned.remark("CopiedByLanes") == "the engine does not copy `a`, lanes do: its rows are not contiguous in the tensor");
    CHECK(ir::print(turned.thread).find("copy_box") == std::string::npos);
    Made stepped(product("; lda, step", ""));
    CHECK(stepped.remark("CopiedByLanes").find("not contiguous") != std::string::npos);
    // Rows as they come, of which versions lie one behind the other: 3 x 40 f32 are 480 bytes, 4 x 40 are 640.
    for (int rows : {3, 4}) {
      Made scaled("kernel scaled(X: f32[M, N], out Y: f32[M, N]) { launch (i in ceildiv(M, 3)) threads 32 { for j in pipelined(ceildiv(N, 40), stages = 2) {"
                  " var x: shared f32[" + std::to_string(rows) + ", 40]; x = X.tile(i, j); Y.tile(i, j) = x * 2; } } } export scaled;");
      CAPTURE(rows);
      CHECK((scaled.remark("CopiedByLanes").find("128 bytes") != std::string::npos) == (rows == 3));
    }
    check_agreement(Made(product("; lda, 1", "; ldb, 1")).typed, {{64, 128}, {128, 64}, {64, 64}}, with_boxes());
  }

  TEST_CASE("sums that keep fewer places than their type are told") {
    const std::string bytes = R"(kernel bytes(A: f8e4m3[M, 64], B: f8e4m3[64, 64], out C: f32[M, 64]) {
    launch (i in ceildiv(M, 64)) threads 128 {
        var a: shared f8e4m3[64, 64] = A.tile(i, 0);
        var b: shared f8e4m3[64, 64] = B.tile(0, 0);
        C.tile(i, 0) = a @ b.T;
    }
}
export bytes;
)";
    CHECK(Made(bytes).remark("SumsKeepFewBits") == "`group.m64n64k32.f8e4m3` keeps 13 binary places of its sums beside their greatest term, fewer than `f32` has");
    CHECK(Made(product("", "")).remark("SumsKeepFewBits") == "");
  }

  TEST_CASE("roles of a large block trade registers, and those of a small one do not") {
    CHECK(ir::print(Made(product("", "")).thread).find("register_budget") == std::string::npos);
    std::string large = testing::replaced(product("", ""), "threads 128", "threads 256");
    std::string text = ir::print(Made(large).thread);
    CHECK(count(text, "register_budget registers=") == 2);
  }

  TEST_CASE("what roles need of each other's numbers is computed by both, or the block stays whole") {
    // Arithmetic that is guarded decides how many turns there are; both roles count them.
    const std::string guarded = R"(kernel parts(A: f16[M, 64], B: f16[64, 64], splits: int, out C: f32[M, 64]) requires splits >= 1 {
    launch (i in ceildiv(M, 64)) threads 256 {
        var acc: fragment f32[64, 64] = 0;
        let first = i * splits;
        let turns = clamp(ceildiv(M, 64) - first, 0, 1);
        for k in pipelined(turns, stages = 2) {
            var a: shared f16[64, 64];
            a = A.tile(first + k, 0);
            acc += a @ a.T;
        }
        C.tile(i, 0) = acc;
    }
}
export parts;
)";
    // Where it begins is asked of memory, once.
    const std::string counted = R"(kernel parts(A: f16[M, 64], inout next: i32[1], out C: f32[M, 64]) {
    launch (i in 1) threads 256 {
        var acc: fragment f32[64, 64] = 0;
        let first = atomic_add(next[0], 0) as int;
        for k in pipelined(ceildiv(M, 64), stages = 2) {
            var a: shared f16[64, 64];
            a = A.tile(k + first, 0);
            acc += a @ a.T;
        }
        C.tile(0, 0) = acc;
    }
}
export parts;
)";
    std::string with = ir::print(Made(guarded).thread), without = ir::print(Made(counted).thread);
    CHECK(with.find("warps=12") != with.npos);
    CHECK(without.find("warps=8") != without.npos);
    CHECK(count(with, "copy_box") == 2);
    CHECK(count(without, "copy_box") == 2);
  }

  TEST_CASE("questions about different tensors are different questions") {
    std::string text = ir::print(Made(product_of_inouts()).thread);
    for (const char* question : {"is_aligned", "has_boxes"})
      for (const char* tensor : {"A", "B"}) {
        CAPTURE(question);
        CHECK(testing::is_found(text, std::string(question) + " %" + tensor + "_[0-9]+"));
      }
  }
}
