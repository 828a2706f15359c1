// Takes a kernel through the pass list and runs it after every pass: it has to mean what the Typed form means.
#pragma once
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

namespace tilec::agreement {

inline ir::Kernel kernel_of(const std::string& name) {
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

using Shapes = std::vector<std::vector<int64_t>>;

// Shapes by parameter; an empty one is a scalar: 0.125, or true for a bool.
inline Data data_for(const ir::Kernel& kernel, const Shapes& shapes) {
  Data data;
  data.tensors.resize(shapes.size());
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const ir::Type& type = kernel.type(kernel.params[i].value);
    if (!type.is_buffer()) {
      data.arguments.push_back(is_float(type.element) ? ir::Number::real(0.125) : ir::Number::integer(1));
      continue;
    }
    data.tensors[i] = interp::Tensor(type.element, shapes[i]);
    if (kernel.params[i].access != ir::Access::Out) data.tensors[i].fill([&](int64_t) { return normal(random); });
    data.arguments.push_back(&data.tensors[i]);
  }
  return data;
}

struct Counted {
  ir::Kernel kernel;             // in its last form
  interp::Counters counters;     // of that
  std::map<std::string, interp::Counters> after;  // of each pass
};

// Runs `kernel` and compares with `reference`, with asynchronous operations as late and as early as they may be.
inline interp::Counters run_and_compare(const ir::Kernel& kernel, const Shapes& shapes, const Data& reference, const Machine& machine) {
  interp::RunOptions options;
  options.numeric = interp::Numeric::Wide;
  options.machine = &machine;
  interp::Counters counters;
  for (auto completion : {interp::Completion::Late, interp::Completion::Early}) {
    bool is_asynchronous = kernel.form == ir::Form::Staged || kernel.form == ir::Form::Thread;
    if (completion == interp::Completion::Early && !is_asynchronous) break;
    options.completion = completion;
    Data data = data_for(kernel, shapes);
    interp::RunResult run = interp::run(kernel, data.arguments, options);
    REQUIRE_MESSAGE(run.ok(), run.fault->text);
    for (size_t i = 0; i < shapes.size(); ++i)
      for (int64_t k = 0; !data.tensors[i].bytes.empty() && k < data.tensors[i].size(); ++k) {
        double want = reference.tensors[i].real(k), got = data.tensors[i].real(k);
        REQUIRE(std::fabs(got - want) <= 1e-3 * std::max(1.0, std::fabs(want)));
      }
    counters = run.counters;
  }
  return counters;
}

inline Counted check_agreement(const ir::Kernel& typed, const Shapes& shapes, const Machine& machine) {
  Data reference = data_for(typed, shapes);
  interp::RunOptions options;
  options.numeric = interp::Numeric::Wide;
  interp::RunResult result = interp::run(typed, reference.arguments, options);
  REQUIRE_MESSAGE(result.ok(), result.fault->text);
  Counted counted{typed, {}, {}};
  Diagnostics diagnostics{Policy{}};
  PassOptions passes;
  std::string last;  // that was run; many passes leave a kernel as it was
  passes.after = [&](const Pass& pass, const ir::Kernel& now) {
    CAPTURE(machine.name);
    CAPTURE(pass.name);
    std::string key = interp::run_key(now, &machine);
    INFO(key);
    if (key != last) counted.counters = run_and_compare(now, shapes, reference, machine);
    last = std::move(key);
    counted.after[std::string(pass.name)] = counted.counters;
  };
  REQUIRE(run_passes(counted.kernel, machine, diagnostics, passes));
  return counted;
}

}  // namespace tilec::agreement
