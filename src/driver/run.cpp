// tilec run: interprets an exported kernel on generated data, at one form or after every pass.
#include <cmath>
#include <random>

#include "base/text.h"
#include "driver/run_dims.h"
#include "driver/session.h"
#include "interp/interp.h"
#include "ir/attribute_text.h"

namespace tilec {

namespace {

struct Data {
  std::vector<interp::Tensor> tensors;      // one a parameter, empty for scalars
  std::vector<interp::Argument> arguments;  // point into `tensors`
};

constexpr double kMostElements = 1 << 28;  // of a tensor, in the memory of the interpreter

// Random data of the parameters' types; integers small, so that products stay exact. Outputs hold a pattern that no kernel
// writes, to show what stays unwritten.
std::optional<Data> make_data(const ir::Kernel& kernel, const Dims& dims, uint64_t seed) {
  Data data;
  data.tensors.resize(kernel.params.size());
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const ir::Param& p = kernel.params[i];
    const ir::Type& type = kernel.type(p.value);
    auto number = [&]() { return is_float(type.element) ? normal(random) : double(random() % 8); };
    if (auto given = dims.find(p.name); !type.is_buffer() && given != dims.end()) {
      data.arguments.push_back(ir::Number::integer(wrap(type.element, given->second)));
      continue;
    }
    if (!type.is_buffer()) {
      data.arguments.push_back(is_float(type.element) ? ir::Number::real(std::fabs(number()) + 0.1) : ir::Number::integer(int64_t(number())));
      continue;
    }
    std::vector<int64_t> extents, strides;
    for (ir::ValueId v : p.extents) {
      auto extent = host_value(kernel, v, dims);
      if (!extent || *extent < 0) return std::nullopt;
      extents.push_back(*extent);
    }
    for (ir::ValueId v : p.strides) strides.push_back(host_value(kernel, v, dims).value_or(1));
    double elements = 1, reach = 1;
    for (int64_t extent : extents) elements *= double(extent);
    for (size_t axis = 0; axis < strides.size(); ++axis) reach += double(extents[axis]) * double(std::abs(strides[axis]));
    if (std::max(elements, reach) > kMostElements) return std::nullopt;
    data.tensors[i] = strides.empty() ? interp::Tensor(type.element, extents) : interp::Tensor(type.element, extents, strides);
    if (p.access != ir::Access::Out) data.tensors[i].fill([&](int64_t) { return number(); });
    data.arguments.push_back(&data.tensors[i]);
  }
  return data;
}

struct Difference {
  double greatest = 0;   // relative to the greatest magnitude of the reference
  std::string where;
};

// Numbers of the tensor's type from one to the next, at `x`: results that lie between two of them may be rounded to either.
double step_at(Scalar type, double x) {
  if (!is_float(type)) return 0;
  FloatFormat format = float_format(type);
  int exponent = x == 0 ? 1 - format.bias : std::max(std::ilogb(x), 1 - format.bias);
  return std::ldexp(1.0, exponent - format.mantissa_bits);
}

Difference compare(const ir::Kernel& kernel, const Data& got, const Data& want) {
  Difference out;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (kernel.params[i].access == ir::Access::In || got.tensors[i].bytes.empty()) continue;
    double scale = 1e-30;
    for (int64_t k = 0; k < want.tensors[i].size(); ++k)
      if (std::isfinite(want.tensors[i].real(k))) scale = std::max(scale, std::fabs(want.tensors[i].real(k)));
    for (int64_t k = 0; k < want.tensors[i].size(); ++k) {
      double a = got.tensors[i].real(k), b = want.tensors[i].real(k);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      bool are_finite = std::isfinite(a) && std::isfinite(b);
      if (are_finite && std::fabs(a - b) <= step_at(kernel.type(kernel.params[i].value).element, std::max(std::fabs(a), std::fabs(b)))) continue;
      double error = are_finite ? std::fabs(a - b) / scale : INFINITY;
      if (error > out.greatest) out = {error, kernel.params[i].name + "[" + std::to_string(k) + "]"};
    }
  }
  return out;
}

// ", where K is 12 and H is 3": the dims and numbers that a contract names, in its order.
std::string named_values(const std::string& contract, const ir::Kernel& kernel, const Dims& dims, const Data& data) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (size_t at = 0; at < contract.size();) {
    size_t end = at;
    while (end < contract.size() && (std::isalnum(uint8_t(contract[end])) || contract[end] == '_')) ++end;
    std::string word = contract.substr(at, end - at);
    at = std::max(end, at + 1);
    if (word.empty() || !seen.insert(word).second) continue;
    bool is_parameter = false;
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      auto* number = std::get_if<ir::Number>(&data.arguments[i]);
      if (kernel.params[i].name != word || !number) continue;
      is_parameter = true;
      values.push_back(word + " is " + ir::attribute_text(*number));
    }
    if (auto dim = dims.find(word); dim != dims.end() && !is_parameter) values.push_back(word + " is " + std::to_string(dim->second));
  }
  return values.empty() ? "" : ", where " + join(values, " and ");
}

void print_fault(const Session& session, const interp::Fault& fault, const std::string& more = "") {
  std::string place = "<generated>";
  if (fault.span.valid() && fault.span.file.index < session.sources.size()) {
    LineColumn at = session.sources.place(fault.span);
    place = std::string(session.sources.name(fault.span.file)) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
  }
  std::printf("%s: fault: %s%s [%s]\n", place.c_str(), fault.text.c_str(), more.c_str(), std::string(interp::name(fault.kind)).c_str());
}

struct Run {
  interp::RunResult result;
  Data data;
};

// Which of `--completion` tell runs of this form apart: nothing of tile forms is asynchronous.
std::vector<interp::Completion> completions(const Options& options, ir::Form form) {
  using interp::Completion;
  if (options.completion == "both" && (form == ir::Form::Staged || form == ir::Form::Thread)) return {Completion::Late, Completion::Early};
  return {options.completion == "early" ? Completion::Early : Completion::Late};
}

Run execute(const ir::Kernel& kernel, const Data& given, const Dims& dims, const Options& options,
            interp::Numeric numeric, const Machine* machine, interp::Completion completion) {
  Run run{{}, given};
  for (size_t i = 0; i < run.data.arguments.size(); ++i)
    if (auto* tensor = std::get_if<interp::Tensor*>(&run.data.arguments[i])) *tensor = &run.data.tensors[i];
  interp::RunOptions ro;
  ro.numeric = numeric;
  ro.completion = completion;
  ro.machine = machine;
  ro.seed = options.seed;
  ro.dims = dims;
  run.result = interp::run(kernel, run.data.arguments, ro);
  return run;
}

struct Counter {
  std::string_view words;
  uint64_t interp::Counters::*count;
};
constexpr Counter kCounters[] = {{"lane operations", &interp::Counters::lane_operations},
                                 {"bank conflicts", &interp::Counters::bank_conflicts},
                                 {"shuffles", &interp::Counters::shuffles},
                                 {"barriers", &interp::Counters::barriers},
                                 {"atoms", &interp::Counters::atoms},
                                 {"converted in registers", &interp::Counters::registers_converted},
                                 {"converted between lanes", &interp::Counters::lanes_converted},
                                 {"converted between warps", &interp::Counters::warps_converted}};

void print_counters(const interp::Counters& counters) {
  std::string line;
  for (const Counter& c : kCounters) line += (line.empty() ? "" : ", ") + std::string(c.words) + " " + std::to_string(counters.*c.count);
  std::printf("%s\n", line.c_str());
}

void print_defaults(const RunDims& dims) {
  if (!dims.failed.empty())
    std::printf("help: no values up to %lld were found that meet the contract; give them: `--dim %s=VALUE`\n", (long long)kMostDim,
                join(dims.failed, "=VALUE,").c_str());
  std::printf("help: `--dim NAME=VALUE` sets dims and integer parameters; a dim that is not set is %lld, or %lld where it counts matrices, "
              "or what the contract asks for\n",
              (long long)kDefaultDim, (long long)kDefaultBatch);
}

// "k: N = 36, as its contract asks"
void print_moved(const std::string& kernel, const RunDims& dims) {
  std::string line;
  for (const std::string& name : dims.moved) line += (line.empty() ? "" : ", ") + name + " = " + std::to_string(dims.dims.at(name));
  if (!line.empty()) std::printf("%s: %s, as its contract asks\n", kernel.c_str(), line.c_str());
}

// With every number in f64 a lost element is far above what the order of a sum can do.
double tolerance_of(interp::Numeric numeric) { return numeric == interp::Numeric::Wide ? 1e-3 : 2e-2; }

// An instance that is left out on the machine is fine, too, and said to be.
bool run_through(Session& session, const ExportInstance& exported, ir::Kernel& kernel, const Machine& machine, const PassOptions& passes, const std::string& label) {
  Diagnostics found(session.diagnostics.policy());
  bool is_fine = run_passes(kernel, machine, found, passes);
  bool is_left_out = !is_fine && lacks_memory(found) && has_other_instance(session.program, exported, machine, passes);
  if (is_left_out) std::printf("%s: left out: %s\n", label.c_str(), first_error(found).c_str());
  else session.diagnostics.append(found);
  return is_fine || is_left_out;
}

// Of the kernel as it was written.
void tell_fault(const Session& session, const ir::Kernel& kernel, const RunDims& dims, const Run& run) {
  const interp::Fault& fault = *run.result.fault;
  bool is_contract = fault.kind == interp::FaultKind::Contract;
  print_fault(session, fault, is_contract ? named_values(fault.text, kernel, dims.dims, run.data) : "");
  if (is_contract) print_defaults(dims);
}

// Says under `title` whether the run gives what the reference does.
bool tell_agreement(const Session& session, const ir::Kernel& kernel, const std::string& title, const Run& run, const Run& reference, interp::Numeric numeric) {
  std::printf("%s: ", title.c_str());
  if (run.result.fault) {
    print_fault(session, *run.result.fault);
    return false;
  }
  Difference d = compare(kernel, run.data, reference.data);
  bool is_same = d.greatest <= tolerance_of(numeric);
  std::printf("%s, greatest difference %.3g%s%s\n", is_same ? "agrees" : "DIFFERS", d.greatest, d.where.empty() ? "" : " at ", d.where.c_str());
  if (session.options.counters) print_counters(run.result.counters);
  return is_same;
}

// Is it what was run last? Many passes leave a kernel as it was.
bool is_as_before(std::string& last_key, const ir::Kernel& kernel, const Machine& machine) {
  std::string key = interp::run_key(kernel, &machine);
  bool is_same = key == last_key;
  last_key = std::move(key);
  return is_same;
}

int run_export(Session& session, const ExportInstance& exported, const Machine& machine, const Dims& said) {
  const Options& o = session.options;
  RunDims chosen = dims_of(said, exported.kernel);
  const Dims& dims = chosen.dims;
  // Of several instances, the first goes by the name of the export.
  const std::string label = exported.number ? exported.name + " (" + exported.instance + ")" : exported.name;
  print_moved(label, chosen);
  const std::optional<Data> given = make_data(exported.kernel, dims, o.seed);
  if (!given) {
    std::fprintf(stderr, "tilec: the extents of %s cannot be computed from the dims, or are too large to be interpreted\n", exported.name.c_str());
    return kUsage;
  }
  interp::Numeric numeric = o.numeric == "typed" || (o.numeric.empty() && !o.after_each) ? interp::Numeric::Typed : interp::Numeric::Wide;
  const ir::Kernel meant = with_masks(exported.kernel);
  Run reference = execute(meant, *given, dims, o, numeric, &machine, completions(o, exported.kernel.form)[0]);
  if (reference.result.fault) {
    tell_fault(session, exported.kernel, chosen, reference);
    return kSaidNo;
  }
  int code = kDone;
  std::string last_key;
  auto judge = [&](std::string_view what, const ir::Kernel& kernel) {
    if (is_as_before(last_key, kernel, machine) && !o.counters) return void(std::printf("%s after %s: agrees, as it is unchanged\n", label.c_str(), std::string(what).c_str()));
    for (interp::Completion completion : completions(o, kernel.form)) {
      Run run = execute(kernel, *given, dims, o, numeric, &machine, completion);
      bool is_second = o.completion == "both" && completion == interp::Completion::Early;
      if (!tell_agreement(session, exported.kernel, label + " after " + std::string(what) + (is_second ? ", completed early" : ""), run, reference, numeric)) code = kSaidNo;
    }
  };
  if (o.form == "typed" && !o.after_each) {
    std::printf("%s: done\n", label.c_str());
    if (o.counters) print_counters(reference.result.counters);
    return kDone;
  }
  ir::Kernel kernel = meant;
  kernel.schedule = schedule_for(exported, machine);
  PassOptions passes = session.passes();
  passes.after = [&](const Pass& pass, const ir::Kernel& now) {
    if (code != kDone && o.after_each) return;
    bool is_last_of_form = ir::name(now.form) == o.form && (&pass == &pass_list().back() || (&pass + 1)->gives != now.form);
    if (o.after_each || is_last_of_form) judge(pass.name, now);
  };
  return run_through(session, exported, kernel, machine, passes, label) ? code : session.tell();
}

// A copy in wider clusters, where the machine makes one.
bool is_made(const Session& session, const ExportInstance& exported, const Machine& machine) {
  if (!exported.is_wide || !is_for(exported, machine)) return !exported.is_wide;
  ir::Kernel kernel = kernel_for(exported, machine);
  Diagnostics own(session.diagnostics.policy());
  return run_passes(kernel, machine, own, session.passes()) || is_missed(exported, own);
}

}  // namespace

int run_command(const Options& options) {
  Session session(options);
  auto machines = session.machines();
  if (!machines) return kNoTarget;
  if (int code = session.load(options.inputs[0])) return code;
  if (int code = session.tell()) return code;
  auto is_asked = [&](const ExportInstance& e) { return options.kernel.empty() || e.name == options.kernel; };
  if (std::ranges::none_of(session.program.exports, is_asked)) {
    std::fprintf(stderr, options.kernel.empty() ? "tilec: the file exports nothing\n" : "tilec: no export is named '%s'\n", options.kernel.c_str());
    return kUsage;
  }
  auto said = given_dims(options, session.program);
  if (!said) return kUsage;
  int code = kDone;
  const Machine& machine = *machines->machines.front();
  for (const ExportInstance& e : session.program.exports)
    if (is_asked(e) && is_made(session, e, machine)) code = std::max(code, run_export(session, e, machine, *said));
  return code;
}

}  // namespace tilec
