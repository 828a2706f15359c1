// contract: which products go into their sums, judged by what comes out where rounding once and twice differ.
#include "interp/interp.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/cpu/machine.h"
#include "typed_kernel.h"

using namespace tilec;

namespace {

struct Contracted {
  int fmas = 0, products = 0;
  double result = 0;
};

// What `o` becomes of u * v + w and its like, behind the pass: u = 1 + e, v = 1 - e, w = 1, with an e whose square no number beside 1 holds.
Contracted contracted(const std::string& statements, std::string_view type = "f32", bool fuses = true) {
  const Machine& machine = fuses ? target::cpu::x86_64_machines().back() : target::cpu::x86_64_machines().front();
  std::string t(type), text = "export kernel k(x: " + t + "[N], y: " + t + "[N], z: " + t + "[N], out o: " + t + "[N]) {\n launch (i in ceildiv(N, 32)) {\n"
                              " let u = x.tile[32](i);\n let v = y.tile[32](i);\n let w = z.tile[32](i);\n" + statements + "\n }\n}\n";
  CAPTURE(statements);
  SourceMap sources;
  Diagnostics diagnostics{Policy{}};
  Ast ast = parse(sources.add("k.tile", text), sources, diagnostics);
  Program program = analyse(ast, sources, embedded_library(), diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), reports(diagnostics));
  ir::Kernel kernel = kernel_for(program.exports.at(0), machine);
  REQUIRE(run_passes(kernel, machine, diagnostics, {.stop_after = "contract"}));
  Contracted found;
  each_op(kernel, kernel.body, [&](ir::OpId id) {
    found.fmas += kernel.op(id).is<ir::op::Fma>();
    const auto* binary = kernel.op(id).get<ir::op::Binary>();
    found.products += binary && binary->fn == ir::BinaryFn::Mul && kernel.type(kernel.op(id).result()).element != Scalar::Index;
  });
  const double e = type == "f64" ? 0x1p-30 : 0x1p-13;
  const Scalar element = kernel.type(kernel.params[0].value).element;
  std::vector<interp::Tensor> tensors(4, interp::Tensor(element, {32}));
  for (int k = 0; k < 3; ++k) tensors[size_t(k)].fill([&](int64_t) { return k == 0 ? 1 + e : k == 1 ? 1 - e : 1; });
  std::vector<interp::Argument> arguments{&tensors[0], &tensors[1], &tensors[2], &tensors[3]};
  interp::RunResult run = interp::run(kernel, arguments);
  REQUIRE(run.ok());
  found.result = tensors[3].real(5) / (e * e);
  return found;
}

}  // namespace

TEST_SUITE("contract") {
  TEST_CASE("a product and a sum of one expression are rounded once") {
    struct Form {
      const char* statement;
      double errors;  // of e * e
    };
    for (const Form& form : {Form{"o.tile(i) = u * v + -w;", -1}, Form{"o.tile(i) = -w + u * v;", -1}, Form{"o.tile(i) = u * v - w;", -1},
                             Form{"o.tile(i) = w - u * v;", 1}, Form{"o.tile(i) = abs((u * v - w) as f32);", 1}}) {
      Contracted found = contracted(form.statement);
      CHECK(found.fmas == 1);
      CHECK(found.products == 0);
      CHECK(found.result == form.errors);
    }
    CHECK(contracted("o.tile(i) = u * v - w;", "f64").result == -1);
    CHECK(contracted("for k in parallel(32) { if i * 32 + k < N { o[i * 32 + k] = w[k] - u[k] * v[k]; } }").result == 1);
  }

  TEST_CASE("of two products one goes into the sum") {
    Contracted found = contracted("o.tile(i) = u * v - w * w;");
    CHECK(found.fmas == 1);
    CHECK(found.products == 1);
    CHECK(found.result == -1);
  }

  TEST_CASE("what is added in place is one statement") {
    CHECK(contracted("var s = -w;\n s += u * v;\n o.tile(i) = s;").result == -1);
  }

  TEST_CASE("a product with a name is rounded, and so is one that another reads") {
    for (const char* statements : {"let p = u * v;\n o.tile(i) = p - w;", "let p = u * v;\n o.tile(i) = (p - w) + 0 * p;", "o.tile(i) = (u * v - w) + 0 * (u * v);"}) {
      Contracted found = contracted(statements);
      CHECK(found.products >= 1);
      CHECK(found.result == 0);
    }
  }

  TEST_CASE("narrow floats, integers and machines that have it not keep two operations") {
    CHECK(contracted("o.tile(i) = u * v - w;", "f16").fmas == 0);
    CHECK(contracted("o.tile(i) = u * v - w;", "i32").fmas == 0);
    Contracted found = contracted("o.tile(i) = u * v - w;", "f32", false);
    CHECK(found.fmas == 0);
    CHECK(found.result == 0);
  }
}
