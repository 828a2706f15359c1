// tilec run: interprets an exported kernel on generated data, at one form or after every pass.
#include <cmath>
#include <filesystem>

#include "base/text.h"
#include "driver/files.h"
#include "driver/run_data.h"
#include "driver/run_dims.h"
#include "driver/run_source.h"
#include "driver/session.h"
#include "interp/interp.h"
#include "ir/attribute_text.h"

namespace tilec {

namespace {

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
      const bool is_truth = kernel.type(kernel.params[i].value).element == Scalar::Bool;
      values.push_back(word + " is " + (is_truth ? number->i ? "true" : "false" : ir::attribute_text(*number)));
    }
    if (auto dim = dims.find(word); dim != dims.end() && !is_parameter) values.push_back(word + " is " + std::to_string(dim->second));
  }
  return values.empty() ? "" : ", where " + join(values, " and ");
}

std::string place_of(const Session& session, Span span) {
  if (!span.valid() || span.file.index >= session.sources.size()) return "<generated>";
  const LineColumn at = session.sources.place(span);
  return std::string(session.sources.name(span.file)) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

void print_fault(const Session& session, const interp::Fault& fault, const std::string& more = "") {
  std::printf("%s: fault: %s%s [%s]\n", place_of(session, fault.span).c_str(), fault.text.c_str(), more.c_str(), std::string(interp::name(fault.kind)).c_str());
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
  Run run{{}, copy_of(given)};
  interp::RunOptions ro;
  ro.numeric = numeric;
  ro.completion = completion;
  ro.machine = machine;
  ro.seed = options.seed;
  ro.dims = dims;
  run.result = interp::run(kernel, run.data.arguments, ro);
  return run;
}

Json fault_json(const Session& session, std::string_view kind, Span span, const std::string& text) {
  Json fault = Json::object().set("kind", kind);
  bool is_placed = span.valid() && span.file.index < session.sources.size();
  LineColumn at = is_placed ? session.sources.place(span) : LineColumn{};
  return fault.set("line", is_placed ? Json(at.line) : Json()).set("column", is_placed ? Json(at.column) : Json()).set("text", text);
}

// One run as an object on a line of its own.
void print_json(const Session& session, const std::string& label, std::string_view form, const ir::Kernel& kernel, const Run& run) {
  const auto& [fault, guard] = std::tie(run.result.fault, run.result.guard);
  Json line = Json::object().set("kernel", label).set("form", form);
  line.set("fault", fault ? fault_json(session, interp::name(fault->kind), fault->span, fault->text) : Json());
  line.set("guard", guard ? fault_json(session, "guard", guard->span, "a guard was met") : Json());
  line.set("outputs", fault ? Json::object() : outputs_of(kernel, run.data));
  std::printf("%s\n", line.text().c_str());
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

// Is there a guard that failed? The run went on behind it, as a call does.
bool tell_guard(const Session& session, const interp::RunResult& result) {
  if (result.guard) std::printf("%s: a guard failed: here a call returns TILE_BOUNDS\n", place_of(session, result.guard->span).c_str());
  return result.guard.has_value();
}

// What the command line asks of every kernel.
struct Asked {
  Dims dims;
  std::optional<Json> file;  // of --data
};

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

// What a kernel is given: of the file or generated.
struct Given {
  RunDims dims;
  Data data;
};

// Nothing where it cannot be had: that has been said.
std::optional<Given> given_to(const ExportInstance& exported, const std::string& label, const Asked& asked, const Options& o) {
  if (asked.file) {
    GivenData own = data_of(*asked.file, exported.kernel, asked.dims);
    if (own.problem.empty()) return Given{{own.dims, {}, {}}, copy_of(own.data)};
    std::fprintf(stderr, "tilec: --data %s: %s: %s\n", o.data.c_str(), label.c_str(), own.problem.c_str());
    return std::nullopt;
  }
  RunDims chosen = dims_of(asked.dims, exported.kernel);
  if (!o.prints_json) print_moved(label, chosen);
  if (auto data = make_data(exported.kernel, chosen.dims, o.seed)) return Given{chosen, copy_of(*data)};
  std::fprintf(stderr, "tilec: the extents of %s cannot be computed from the dims, or they or its tiles are too large to be interpreted, or strides are negative\n", exported.name.c_str());
  return std::nullopt;
}

constexpr uint64_t kMostSourceSteps = 1ull << 36, kMostComparedSteps = 1ull << 22;
constexpr int kSourceLanes = 32;  // of a machine that does not say

void print_not_judged(const Session& session, const std::string& label, const std::string& what) {
  if (session.options.prints_json) std::printf("%s\n", Json::object().set("kernel", label).set("form", "source").set("not_judged", what).text().c_str());
  else std::printf("%s: not judged: %s\n", label.c_str(), what.c_str());
}

// --form=source: what the text itself means.
int run_text(Session& session, const ExportInstance& exported, const std::string& label, const RunDims& dims, const Data& given, const Machine& machine) {
  const Options& o = session.options;
  interp::Numeric numeric = o.numeric == "wide" ? interp::Numeric::Wide : interp::Numeric::Typed;
  SourceRun source = run_source(session, exported, given, dims.dims, numeric, machine.lanes ? machine.lanes : kSourceLanes, kMostSourceSteps);
  if (!source.not_judged.empty()) return print_not_judged(session, label, source.not_judged), kDone;
  Run run{{source.fault, {}, {}}, copy_of(source.data)};
  if (o.prints_json) print_json(session, label, "source", exported.kernel, run);
  else if (run.result.fault) tell_fault(session, exported.kernel, dims, run);
  else std::printf("%s: done\n", label.c_str());
  return run.result.fault ? kSaidNo : kDone;
}

// --after-each begins here: does what analysis made of the text mean what the text says?
bool agrees_with_text(Session& session, const ExportInstance& exported, const std::string& label, const Dims& dims, const Data& given, const Run& typed,
                      interp::Numeric numeric, const Machine& machine) {
  SourceRun source = run_source(session, exported, given, dims, numeric, machine.lanes ? machine.lanes : kSourceLanes, kMostComparedSteps);
  bool is_too_long = source.fault && source.fault->kind == interp::FaultKind::StepLimit;
  if (is_too_long) source.not_judged = "it takes too many steps; `--form=source` runs it all";
  if (!source.not_judged.empty()) return print_not_judged(session, label, source.not_judged), true;
  if (source.fault) {
    const bool is_guarded = typed.result.guard && place_of(session, typed.result.guard->span) == place_of(session, source.fault->span);
    std::printf("%s: %s: ", label.c_str(), is_guarded ? "the text has a fault where a guard fails" : "DIFFERS from the text, which has a fault");
    print_fault(session, *source.fault);
    return false;
  }
  return tell_agreement(session, exported.kernel, label + " after analysis", typed, Run{{}, copy_of(source.data)}, numeric);
}

// With the masks that keep padding out; that there are none in a kernel that is refused for it is said.
ir::Kernel masked(const ir::Kernel& kernel, const std::string& label) {
  bool is_refused = false;
  ir::Kernel meant = with_masks(kernel, is_refused);
  if (is_refused) std::fprintf(stderr, "tilec: %s: `check` refuses it: padding is not kept out of reductions here, as `--form=source` does\n", label.c_str());
  return meant;
}

int run_export(Session& session, const ExportInstance& exported, const Machine& machine, const Asked& asked) {
  const Options& o = session.options;
  // Of several instances, the first goes by the name of the export.
  const std::string label = exported.number ? exported.name + " (" + exported.instance + ")" : exported.name;
  const std::optional<Given> all_given = given_to(exported, label, asked, o);
  if (!all_given) return kUsage;
  const Dims& dims = all_given->dims.dims;
  if (o.form == "source" && !o.after_each) return run_text(session, exported, label, all_given->dims, all_given->data, machine);
  interp::Numeric numeric = o.numeric == "typed" || (o.numeric.empty() && !o.after_each) ? interp::Numeric::Typed : interp::Numeric::Wide;
  const ir::Kernel meant = masked(exported.kernel, label);
  Run reference = execute(meant, all_given->data, dims, o, numeric, &machine, completions(o, exported.kernel.form)[0]);
  if (reference.result.fault) {
    if (o.prints_json) print_json(session, label, o.form.empty() ? "typed" : o.form, exported.kernel, reference);
    else tell_fault(session, exported.kernel, all_given->dims, reference);
    return kSaidNo;
  }
  int code = kDone;
  if (o.after_each && o.form != "typed" && !agrees_with_text(session, exported, label, dims, all_given->data, reference, numeric, machine)) return kSaidNo;
  std::string last_key;
  auto judge = [&](std::string_view what, const ir::Kernel& kernel) {
    if (is_as_before(last_key, kernel, machine) && !o.counters && !o.prints_json) return void(std::printf("%s after %s: agrees, as it is unchanged\n", label.c_str(), std::string(what).c_str()));
    for (interp::Completion completion : completions(o, kernel.form)) {
      Run run = execute(kernel, all_given->data, dims, o, numeric, &machine, completion);
      if (o.prints_json) {
        print_json(session, label, ir::name(kernel.form), exported.kernel, run);
        if (run.result.fault) code = kSaidNo;
        continue;
      }
      bool is_second = o.completion == "both" && completion == interp::Completion::Early;
      const std::string title = label + " after " + std::string(what) + (is_second ? ", completed early" : "");
      if (!tell_agreement(session, exported.kernel, title, run, reference, numeric) || (!o.after_each && tell_guard(session, run.result))) code = kSaidNo;
    }
  };
  if ((o.form.empty() || o.form == "typed") && !o.after_each) {
    if (o.prints_json) print_json(session, label, "typed", exported.kernel, reference);
    else std::printf("%s: done\n", label.c_str());
    if (o.counters) print_counters(reference.result.counters);
    return !o.prints_json && tell_guard(session, reference.result) ? kSaidNo : kDone;
  }
  ir::Kernel kernel = kernel_for(exported, machine);
  PassOptions passes = session.passes();
  bool is_meant = meant.ops.size() == exported.kernel.ops.size();  // it means what it does with its masks
  passes.after = [&](const Pass& pass, const ir::Kernel& now) {
    is_meant = is_meant || pass.name == "check-padding";
    if (!is_meant || (code != kDone && o.after_each)) return;
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

// What --dim and --data, whose text this is, say of all kernels; nothing where that cannot be: it has been said.
std::optional<Asked> asked_for(const Session& session, const std::vector<const ir::Kernel*>& kernels, const std::string& text) {
  const Options& options = session.options;
  auto dims = given_dims(options, session.program);
  if (!dims || options.data.empty()) return dims ? std::optional(Asked{*dims, {}}) : std::nullopt;
  std::string mistake = Json::mistake_in(text);
  auto file = mistake.empty() ? Json::parse(text) : std::nullopt;
  std::string problem = !file ? mistake : !file->as_object() ? "an object of names and numbers is expected" : "";
  if (std::string name = problem.empty() ? unknown_name(*file, kernels) : ""; !name.empty()) problem = "no kernel has a parameter or a dim `" + name + "`";
  if (problem.empty()) return Asked{*dims, file};
  std::fprintf(stderr, "tilec: --data %s: %s\n", options.data.c_str(), problem.c_str());
  return std::nullopt;
}

// One source is run; a word too many is told, and what it was meant for.
bool is_one_input(const std::vector<std::string>& inputs) {
  for (const std::string& word : inputs)
    if (inputs.size() > 1 && word.find('=') != word.npos && !std::filesystem::exists(word)) {
      std::fprintf(stderr, "tilec: `%s` is no source file; a dim or a number is set by `--dim %s`\n", word.c_str(), word.c_str());
      return false;
    }
  if (inputs.size() == 1) return true;
  std::fprintf(stderr, "tilec: one source file is run; %zu were given\n", inputs.size());
  return false;
}

}  // namespace

int run_command(const Options& options) {
  if (!is_one_input(options.inputs)) return kUsage;
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
  std::vector<const ir::Kernel*> kernels;
  for (const ExportInstance& e : session.program.exports)
    if (is_asked(e)) kernels.push_back(&e.kernel);
  std::string error;
  auto data = options.data.empty() ? std::string() : read_file(options.data, error);
  if (!data) {
    std::fprintf(stderr, "tilec: --data %s: %s\n", options.data.c_str(), error.c_str());
    return kEnvironment;
  }
  auto asked = asked_for(session, kernels, *data);
  if (!asked) return kUsage;
  int code = kDone;
  const Machine& machine = *machines->machines.front();
  for (const ExportInstance& e : session.program.exports)
    if (is_asked(e) && is_made(session, e, machine)) code = std::max(code, run_export(session, e, machine, *asked));
  return code;
}

}  // namespace tilec
