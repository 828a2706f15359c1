// Every kernel of tests/kernels means the same in the interpreter after every pass on every machine, as native code of every
// level that runs here, and as C text through two compilers. A file says in its first lines what it is run on:
//
//   //! dims: M=1 N=1; M=9 N=64      once each
//   //! values: nan -inf 1 1         what tensors are filled with, by chance; integers take the finite ones
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "diag/diag.h"
#include "driver/run_dims.h"
#include "interp/interp.h"
#include "native_kit.h"
#include "pipeline/compile.h"
#include "syntax/parse.h"
#include "target/cuda/machine.h"
#include "target/model/machine.h"

using namespace tilec;
using tilec::testing::Engine;

namespace {

struct KernelFile {
  std::string name;
  SourceMap sources;
  Diagnostics diagnostics;
  Ast ast;
  Program program;
  std::vector<Dims> dims;
  std::vector<double> values;

  explicit KernelFile(const std::filesystem::path& path) : name(path.stem()) {
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) read_line(line);
    ast = parse(sources.add(path.filename(), std::move(text)), sources, diagnostics);
    program = analyse(ast, sources, embedded_library(), diagnostics);
    REQUIRE_MESSAGE(mistakes().empty(), mistakes());
  }
  std::string mistakes() const {
    std::string text;
    for (const Diagnostic& d : diagnostics.all())
      if (d.severity == Severity::Error) text += d.message + "\n";
    return text;
  }

 private:
  void read_line(const std::string& line) {
    std::istringstream words(line);
    std::string start, what, word;
    words >> start >> what;
    if (start != "//!") return;
    if (what == "dims:") dims.emplace_back();
    while (words >> word) {
      if (what == "values:") values.push_back(std::strtod(word.c_str(), nullptr));
      size_t equal = word.find('=');
      if (what == "dims:") dims.back()[word.substr(0, equal)] = std::strtoll(word.c_str() + equal + 1, nullptr, 10);
      if (what == "dims:" && word.ends_with(';')) dims.emplace_back();
    }
  }
};

struct Data {
  std::vector<interp::Tensor> tensors;
  std::vector<interp::Argument> arguments() {
    std::vector<interp::Argument> all;
    for (interp::Tensor& t : tensors) all.push_back(&t);
    return all;
  }
};

// tf32 comes as the caller's floats, whose lower bits it has not.
void fill_lower_bits(interp::Tensor& tensor, const std::function<double()>& value) {
  for (size_t at = 0; at < tensor.bytes.size(); at += sizeof(float)) {
    float number = float(value());
    std::memcpy(&tensor.bytes[at], &number, sizeof number);
  }
}

bool has_lower_bits(const interp::Tensor& tensor) {
  for (size_t at = 0; at < tensor.bytes.size(); at += sizeof(uint32_t)) {
    uint32_t bits;
    std::memcpy(&bits, &tensor.bytes[at], sizeof bits);
    if (bits & ((1u << float_format(Scalar::TF32).spare_bits) - 1)) return true;
  }
  return false;
}

// Outputs hold what no kernel writes.
Data data_for(const ir::Kernel& kernel, const Dims& dims, const std::vector<double>& values) {
  REQUIRE(!values.empty());
  Dims known = dims;  // and those that the export fixes
  for (const ir::Dim& dim : kernel.dims)
    if (auto fixed = kernel.constant(dim.value)) known[dim.name] = fixed->i;
  Data data;
  std::mt19937 random(11);
  for (const ir::Param& p : kernel.params) {
    std::vector<int64_t> extents;
    for (ir::ValueId v : p.extents) {
      std::optional<int64_t> extent = host_value(kernel, v, known);
      REQUIRE_MESSAGE(extent.has_value(), kernel.name << ": an extent of " << p.name << " does not follow from the dims");
      extents.push_back(*extent);
    }
    interp::Tensor& tensor = data.tensors.emplace_back(kernel.type(p.value).element, extents);
    auto value = [&] {
      double any = p.access == ir::Access::Out ? 77 : values[random() % values.size()];
      return is_float(tensor.element) || std::isfinite(any) ? any : 3.0;
    };
    tensor.fill([&](int64_t) { return value(); });
    if (tensor.element == Scalar::TF32) fill_lower_bits(tensor, value);
  }
  return data;
}

// The first element that is too far from the reference; none: "".
std::string difference(const ir::Kernel& kernel, const Data& got, const Data& want) {
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    double scale = 1;
    const interp::Tensor &a = got.tensors[i], &b = want.tensors[i];
    if (a.element == Scalar::TF32 && kernel.params[i].access == ir::Access::Out && has_lower_bits(a)) return kernel.params[i].name + " has bits that tf32 has not";
    if (a.bytes == b.bytes) continue;
    for (int64_t k = 0; k < b.size(); ++k)
      if (std::isfinite(b.real(k))) scale = std::max(scale, std::fabs(b.real(k)));
    double tolerance = !is_float(a.element) ? 0 : scale * (a.element == Scalar::TF32 ? 2e-3 : is_narrow_float(a.element) ? 2e-2 : 1e-4);
    for (int64_t k = 0; k < b.size(); ++k) {
      double x = a.real(k), y = b.real(k);
      if (x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= tolerance) continue;
      return kernel.params[i].name + "[" + std::to_string(k) + "] is " + std::to_string(x) + ", not " + std::to_string(y);
    }
  }
  return "";
}

Data interpreted(const ir::Kernel& kernel, Data data, const Dims& dims, interp::RunOptions options) {
  options.dims = dims;
  interp::RunResult result = interp::run(kernel, data.arguments(), options);
  REQUIRE_MESSAGE(result.ok(), result.fault->text);
  return data;
}

// What an export means, by the way numbers are rounded and the dims: found once for all machines and engines.
class Meaning {
 public:
  Meaning(const KernelFile& file, const ExportInstance& exported) : file_(file), exported_(exported) {}

  const Data& given(const Dims& dims) {
    auto [at, is_new] = given_.try_emplace(dims);
    if (is_new) at->second = data_for(exported_.kernel, dims, file_.values);
    return at->second;
  }
  const Data& wanted(const Dims& dims, interp::Numeric numeric) {
    auto [at, is_new] = wanted_.try_emplace({numeric, dims});
    if (is_new) at->second = interpreted(*meant_, given(dims), dims, {.numeric = numeric});
    return at->second;
  }
  // The kernel with its masks is what the export means.
  void mean(const ir::Kernel& kernel) {
    if (!meant_) meant_ = kernel;
  }
  // Was it not run yet? Passes leave many kernels as they were, and machines get many alike.
  bool is_new(const ir::Kernel& kernel, const Machine& machine, interp::Numeric numeric) { return judged_.insert({numeric, interp::run_key(kernel, &machine)}).second; }

 private:
  const KernelFile& file_;
  const ExportInstance& exported_;
  std::optional<ir::Kernel> meant_;
  std::map<Dims, Data> given_;
  std::map<std::pair<interp::Numeric, Dims>, Data> wanted_;
  std::set<std::pair<interp::Numeric, std::string>> judged_;
};

void check_passes(KernelFile& file, const Machine& machine, std::vector<Meaning>& meanings) {
  for (size_t e = 0; e < meanings.size(); ++e) {
    const ExportInstance& exported = file.program.exports[e];
    ir::Kernel kernel = exported.kernel;
    PassOptions passes;
    passes.after = [&](const Pass& pass, const ir::Kernel& now) {
      if (pass.name == "check-padding") meanings[e].mean(now);
      // The passes up to here see what the examples show them.
      bool is_judged = now.form != ir::Form::Typed || pass.name == "expand";
      // Passes of one form leave rounding where it was: what the last of them gives is enough with numbers that are not rounded.
      const bool ends_form = &pass == &pass_list().back() || (&pass + 1)->gives != now.form;
      for (interp::Numeric numeric : {interp::Numeric::Typed, interp::Numeric::Wide}) {
        if (!is_judged || (numeric == interp::Numeric::Wide && !ends_form) || !meanings[e].is_new(now, machine, numeric)) continue;
        for (const Dims& dims : file.dims) {
          CAPTURE(exported.name);
          CAPTURE(machine.name);
          CAPTURE(pass.name);
          CAPTURE(dims);
          const Data& want = meanings[e].wanted(dims, numeric);
          Data got = interpreted(now, meanings[e].given(dims), dims, {.numeric = numeric, .machine = &machine});
          std::string found = difference(exported.kernel, got, want);
          REQUIRE_MESSAGE(found.empty(), found);
        }
      }
    };
    bool is_done = run_passes(kernel, machine, file.diagnostics, passes);
    REQUIRE_MESSAGE(is_done, file.mistakes());
  }
}

void check_engine(KernelFile& file, const Engine& engine, std::vector<Meaning>& meanings) {
  auto compiled = compile(file.program, {{engine.machine}, "", "tilec", file.name}, file.sources, file.diagnostics);
  REQUIRE_MESSAGE(compiled.has_value(), file.mistakes());
  testing::Linked linked(engine, compiled->program);
  REQUIRE(bool(linked));
  for (size_t e = 0; e < meanings.size(); ++e) {
    const ExportInstance& exported = file.program.exports[e];
    for (const Dims& dims : file.dims) {
      CAPTURE(engine.name);
      CAPTURE(exported.name);
      CAPTURE(dims);
      Data got = meanings[e].given(dims);
      std::vector<testing::Given> given;
      for (interp::Tensor& t : got.tensors) given.push_back(testing::tensor(t.bytes, t.extents));
      REQUIRE(testing::call(linked, compiled->program.exports[e], given) == 0);
      std::string found = difference(exported.kernel, got, meanings[e].wanted(dims, interp::Numeric::Typed));
      REQUIRE_MESSAGE(found.empty(), found);
    }
  }
}

void check_file(const std::string& name) {
  KernelFile file(std::string(TILEC_TESTS) + "/kernels/" + name + ".tile");
  std::vector<Meaning> meanings;
  for (const ExportInstance& exported : file.program.exports) meanings.emplace_back(file, exported);
  for (const Machine& machine : target::cpu::x86_64_machines()) check_passes(file, machine, meanings);
  for (const Machine& machine : target::model::machines()) check_passes(file, machine, meanings);
  for (const Machine& machine : target::cuda::machines()) check_passes(file, machine, meanings);
  for (const Engine& engine : testing::engines()) check_engine(file, engine, meanings);
}

}  // namespace

// Compiles and links for a while: run by a test of its own.
TEST_SUITE("kernel files" * doctest::skip()) {
  TEST_CASE("every file of tests/kernels") {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(TILEC_TESTS) + "/kernels"))
      if (entry.path().extension() == ".tile") names.insert(entry.path().stem());
    CHECK(!names.empty());
    for (const std::string& name : names) {
      CAPTURE(name);
      check_file(name);
    }
  }
}
