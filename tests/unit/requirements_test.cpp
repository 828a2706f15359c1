// What a schedule requires is found in the program or is an error at the requirement, with the statements that miss it.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>

#include "explain/schedule_text.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/target.h"

using namespace tilec;

namespace {

// One export of an example, with a schedule more.
struct Required {
  SourceMap sources;
  Diagnostics diagnostics{Policy{}};
  Ast ast;
  Program program;
  ir::Kernel staged;
  const ExportInstance* exported = nullptr;

  Required(const std::string& example, std::string_view name, std::string_view machine, const std::string& schedule) {
    std::ifstream file(TILEC_TESTS "/../examples/" + example + "/" + example + ".tile");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    ast = parse(sources.add("example.tile", text + schedule), sources, diagnostics);
    program = analyse(ast, sources, embedded_library(), diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), errors());
    for (const ExportInstance& one : program.exports)
      if (one.name == name) exported = &one;
    REQUIRE(exported);
    const Machine& chosen = *target::machine_named(machine)->machine;
    ir::Kernel kernel = kernel_for(*exported, chosen);
    PassOptions passes;
    passes.after = [&](const Pass& pass, const ir::Kernel& now) {
      if (pass.gives == ir::Form::Staged) staged = now;
    };
    run_passes(kernel, chosen, diagnostics, passes);
  }
  std::string errors() const {
    std::string all;
    for (const Diagnostic& d : diagnostics.all())
      if (d.severity == Severity::Error) all += d.message + "\n";
    return all;
  }
};

std::string missed(const std::string& example, std::string_view name, std::string_view machine, const std::string& needs) {
  std::string kernel = example == "gemm" ? "gemm_relu" : example;
  return Required(example, name, machine, "schedule " + kernel + " for " + std::string(machine) + " { require " + needs + "; }\n").errors();
}

}  // namespace

TEST_SUITE("requirements") {
  TEST_CASE("a product of a machine with everything meets everything, and `explain` keeps what is required") {
    Required gemm("gemm", "gemm_relu_f16", "sm_90a",
                  "schedule gemm_relu[BN = 256, T = f16] for sm_90a { require bulk_copy, group_products, matrix_unit; require overlap, roles, persistent, no_spill; }\n");
    CHECK(gemm.errors() == "");
    std::string text = schedule_text(*gemm.exported, gemm.staged, "sm_90a");
    CHECK_MESSAGE(text.find("    require bulk_copy, group_products, matrix_unit, overlap, roles, persistent, no_spill;\n") != text.npos, text);
    Required plain("gemm", "gemm_relu_f16", "sm_90a", "");
    CHECK(schedule_text(*plain.exported, plain.staged, "sm_90a").find("require") == std::string::npos);
  }

  TEST_CASE("a product whose turns end in another product is open over the next turn") {
    CHECK(missed("attention", "attention_f16", "sm_90a", "bulk_copy, group_products, overlap, roles") == "");
  }

  TEST_CASE("a machine without engines misses what they do") {
    CHECK(missed("gemm", "gemm_relu_f16", "sm_80", "matrix_unit") == "");
    CHECK(missed("gemm", "gemm_relu_f16", "sm_80", "bulk_copy") ==
          "the schedule requires `bulk_copy`, and on `sm_80` lanes copy `a`, as there is no engine that does\n");
    CHECK(missed("gemm", "gemm_relu_f16", "sm_80", "group_products") ==
          "the schedule requires `group_products`, and on `sm_80` there are no products of groups of warps\n");
    CHECK(missed("gemm", "gemm_relu_f16", "sm_80", "overlap") == "the schedule requires `overlap`, and on `sm_80` no product runs beside its threads\n");
    CHECK(missed("gemm", "gemm_relu_f16", "sm_80", "roles") == "the schedule requires `roles`, and on `sm_80` blocks have no roles\n");
  }

  TEST_CASE("what a kernel misses on a machine that could") {
    CHECK(missed("gemm", "gemm_relu_f32", "sm_90a", "matrix_unit") == "the schedule requires `matrix_unit`, and on `sm_90a` this product is made by `outer.f32`\n");
    CHECK(missed("gemm", "gemm_relu_f32", "sm_90a", "group_products") ==
          "the schedule requires `group_products`, and on `sm_90a` this product is made by `outer.f32`\n");
    CHECK(missed("attention", "attention_causal_f32", "sm_90a", "persistent") == "the schedule requires `persistent`, and on `sm_90a` each block of this launch ends with its own work\n");
    CHECK(missed("softmax", "softmax_f32", "sm_90a", "overlap") == "the schedule requires `overlap`, and on `sm_90a` no pipelined loop has a matrix product\n");
    CHECK(missed("softmax", "softmax_f32", "sm_90a", "roles") == "the schedule requires `roles`, and on `sm_90a` no engine fills tiles of this launch ahead of time\n");
    // No product is left open where the schedule says so; one version of a tile is handed over by the role that copies.
    std::string closed = "schedule gemm_relu[BN = 256, T = f16] for sm_90a { pipeline ab: a, b; depth 3, in_flight 0; require overlap; }\n";
    CHECK(Required("gemm", "gemm_relu_f16", "sm_90a", closed).errors() ==
          "the schedule requires `overlap`, and on `sm_90a` each product of this loop is awaited where it stands\n");
    std::string single = "schedule gemm_relu[BN = 256, T = f16] for sm_90a { pipeline ab: a, b; depth 1; require bulk_copy; }\n";
    CHECK(Required("gemm", "gemm_relu_f16", "sm_90a", single).errors() == "");
  }

  TEST_CASE("a schedule that goes before another drops nothing that the other requires") {
    std::string both = "schedule gemm_relu { require overlap, matrix_unit; }\nschedule gemm_relu[BN = 256, T = f16] for sm_80 { require matrix_unit; cluster (1, 1); }\n";
    CHECK(Required("gemm", "gemm_relu_f16", "sm_80", both).errors() == "the schedule requires `overlap`, and on `sm_80` no product runs beside its threads\n");
    Required gemm("gemm", "gemm_relu_f16", "sm_90a", both);
    CHECK(gemm.errors() == "");
    CHECK(schedule_text(*gemm.exported, gemm.staged, "sm_90a").find("    require overlap, matrix_unit;\n") != std::string::npos);
  }

  TEST_CASE("each statement that misses a requirement is marked, and a schedule for all machines is for each of them") {
    Required copies("gemm", "gemm_relu_f16", "x86-64-v3", "schedule gemm_relu[BN = 256] { require bulk_copy; }\n");
    CHECK(copies.errors() == "the schedule requires `bulk_copy`, and on `x86-64-v3` `a` is copied where it stands, not ahead of its use\n");
    REQUIRE(copies.diagnostics.all().size() == 1);
    const Diagnostic& told = copies.diagnostics.all()[0];
    CHECK(copies.sources.text(told.span) == "bulk_copy");
    REQUIRE(told.marks.size() == 2);
    CHECK(told.marks[1].label == "`b` is copied where it stands, not ahead of its use");
  }
}
