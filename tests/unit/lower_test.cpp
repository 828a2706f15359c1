// Kernels mean the same after every pass, down to the program of one thread, on every CPU machine.
#include "lower/lower.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include "diag/diag.h"
#include "interp/interp.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "pipeline/pipeline.h"
#include "target/cpu/machine.h"

using namespace tilec;

namespace {

ir::Kernel kernel_of(const std::string& name) {
  std::ifstream file(std::string(TILEC_TESTS) + "/ir/" + name + ".ir");
  std::stringstream text;
  text << file.rdbuf();
  std::string error;
  auto kernel = ir::parse(text.str(), &error);
  REQUIRE_MESSAGE(kernel.has_value(), error);
  return *kernel;
}

struct Data {
  std::vector<interp::Tensor> tensors;
  std::vector<interp::Argument> arguments;
};

// Shapes by parameter; an empty one is a scalar of the value 0.125.
Data data_for(const ir::Kernel& kernel, const std::vector<std::vector<int64_t>>& shapes) {
  Data data;
  data.tensors.resize(shapes.size());
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!kernel.type(kernel.params[i].value).is_buffer()) {
      data.arguments.push_back(ir::Number::real(0.125));
      continue;
    }
    data.tensors[i] = interp::Tensor(kernel.type(kernel.params[i].value).element, shapes[i]);
    if (kernel.params[i].access != ir::Access::Out) data.tensors[i].fill([&](int64_t) { return normal(random); });
    data.arguments.push_back(&data.tensors[i]);
  }
  return data;
}

void check_agreement(const std::string& name, const std::vector<std::vector<int64_t>>& shapes) {
  ir::Kernel typed = kernel_of(name);
  Data reference = data_for(typed, shapes);
  interp::RunOptions options;
  options.numeric = interp::Numeric::Wide;
  interp::RunResult result = interp::run(typed, reference.arguments, options);
  REQUIRE_MESSAGE(result.ok(), result.fault->text);
  for (const Machine& machine : target::cpu::x86_64_machines()) {
    options.machine = &machine;
    ir::Kernel kernel = typed;
    Diagnostics diagnostics{Policy{}};
    PassOptions passes;
    passes.after = [&](const Pass& pass, const ir::Kernel& now) {
      CAPTURE(machine.name);
      CAPTURE(pass.name);
      Data data = data_for(typed, shapes);
      interp::RunResult run = interp::run(now, data.arguments, options);
      REQUIRE_MESSAGE(run.ok(), run.fault->text);
      for (size_t i = 0; i < shapes.size(); ++i)
        for (int64_t k = 0; k < data.tensors[i].size() && !data.tensors[i].bytes.empty(); ++k) {
          double want = reference.tensors[i].real(k), got = data.tensors[i].real(k);
          REQUIRE(std::fabs(got - want) <= 1e-3 * std::max(1.0, std::fabs(want)));
        }
    };
    REQUIRE(run_passes(kernel, machine, diagnostics, passes));
  }
}

}  // namespace

TEST_SUITE("lower") {
  TEST_CASE("vector add") {
    for (int64_t n : {1, 255, 256, 1000}) check_agreement("vector_add", {{n}, {n}, {n}});
  }
  TEST_CASE("matrix product") {
    check_agreement("matrix_product", {{64, 64}, {64, 64}, {64, 64}});
    check_agreement("matrix_product", {{33, 96}, {96, 65}, {33, 65}});
    check_agreement("matrix_product", {{1, 32}, {32, 1}, {1, 1}});
  }
  TEST_CASE("empty tensors launch nothing") { check_agreement("matrix_product", {{0, 32}, {32, 5}, {0, 5}}); }
}
