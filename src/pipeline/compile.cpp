#include "pipeline/compile.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "diag/diag.h"
#include "host/manifest.h"
#include "target/abi/abi.h"

namespace tilec {

namespace {

std::string place_of(Span span, const SourceMap& sources) {
  if (!span.valid()) return {};
  LineColumn at = sources.place(span);
  return std::string(sources.name(span.file)) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

// The parameter list as written, and what the export fixed.
std::string signature_of(const ExportInstance& exported) {
  std::string text = exported.kernel.name + "(";
  for (size_t i = 0; i < exported.kernel.params.size(); ++i) {
    const ir::Param& p = exported.kernel.params[i];
    constexpr std::string_view kAccess[] = {"", "out ", "inout "};
    text += (i ? ", " : "") + std::string(p.may_alias ? "alias " : "") + std::string(kAccess[int(p.access)]) + p.name + ": " + p.type_text;
  }
  text += ")";
  const char* separator = " where ";
  for (const ir::Dim& dim : exported.kernel.dims)
    if (dim.fixed) text += separator + dim.name + " = " + std::to_string(*dim.fixed), separator = ", ";
  return text;
}

// Work on kernels, each with a sink of its own; one kernel after the other for who looks on between the passes.
void each_kernel(size_t count, const PassOptions& options, const std::function<void(size_t)>& f) {
  if (!options.after) return parallel_for(count, f);
  for (size_t i = 0; i < count; ++i) f(i);
}

struct Lowering {
  size_t of;  // number of the export
  const Machine* machine;
  ir::Kernel* kernel;
  Diagnostics found;
  bool is_fine = false;
};

// What a machine has too little of is a matter of one instance: a kernel may have several.
void name_export(const ExportInstance& exported, Diagnostics& found) {
  if (!found.has_errors() || exported.name == exported.kernel.name) return;
  std::set<Span> places;
  for (const Diagnostic& d : found.all())
    if (d.severity == Severity::Error) places.insert(d.span);
  for (Span place : places) found.note_at(place, exported.span, diag::InstantiatedHere, exported.name);
}

// A machine that does not say how fast it is takes the first instance of each export.
bool takes(const Machine& machine, const ExportInstance& exported) { return exported.number == 0 || machine.cores > 0; }

std::vector<Lowering> lower_all(const Program& typed, const std::deque<Checked>& checked, const CompileRequest& request,
                                Diagnostics& diagnostics, const PassOptions& options, std::deque<ir::Kernel>& kernels) {
  std::vector<Lowering> lowerings;
  for (size_t i = 0; i < checked.size(); ++i)
    for (const Machine* machine : request.machines) {
      if (!checked[i].is_fine || !takes(*machine, typed.exports[i])) continue;
      ir::Kernel& kernel = kernels.emplace_back(checked[i].kernel);
      kernel.schedule = schedule_for(typed.exports[i], *machine);
      lowerings.push_back({i, machine, &kernel, Diagnostics(diagnostics.policy())});
    }
  each_kernel(lowerings.size(), options, [&](size_t i) {
    Lowering& l = lowerings[i];
    l.is_fine = run_machine_passes(*l.kernel, *l.machine, l.found, options);
  });
  for (Lowering& l : lowerings) {
    name_export(typed.exports[l.of], l.found);
    diagnostics.append(l.found);
  }
  return lowerings;
}

host::Export describe(const target::Export& spelled, std::span<const ExportInstance> instances, const SourceMap& sources) {
  host::Export described = host::export_of(instances[0].kernel, &sources);
  described.name = spelled.name;
  described.doc = instances[0].doc;
  described.signature = spelled.signature;
  described.source = spelled.source;
  for (const ExportInstance& instance : instances) described.has_workspace |= host::export_of(instance.kernel, nullptr).has_workspace;
  return described;
}

ir::Formula clocks_of(const ir::Kernel& kernel) {
  ir::Formula all = 0.0;
  for (const ir::Estimate& estimate : kernel.estimates) all = all + estimate.clocks;
  return all;
}

// The best machine first, as the launcher takes the first instance that runs; of each the instances as the export lists them.
void add_instances(target::Export& spelled, host::Export& described, std::span<const ExportInstance> instances, size_t first,
                   const CompileRequest& request, std::span<const Lowering> lowerings) {
  for (const Machine* machine : request.machines)
    for (const Lowering& lowering : lowerings) {
      if (lowering.machine != machine || lowering.of < first || lowering.of >= first + instances.size()) continue;
      target::Instance instance{.kernel = lowering.kernel, .machine = machine};
      host::Variant variant{.machine = std::string(machine->name)};
      if (instances.size() > 1 && takes(*machine, instances[1])) {
        instance.clocks = clocks_of(*lowering.kernel);
        variant.instance = instances[lowering.of - first].instance;
        variant.clocks = instance.clocks->text(*lowering.kernel);
        instance.guard_text = variant.instance + " is expected to take fewest clocks: " + variant.clocks;
      }
      spelled.instances.push_back(std::move(instance));
      described.variants.push_back(std::move(variant));
    }
}

void check_arguments(const ExportInstance& typed, const target::Export& exported, Diagnostics& diagnostics) {
  bool has_limit = std::ranges::any_of(exported.instances, [](const target::Instance& i) { return i.machine->argument_bytes > 0; });
  if (!has_limit) return;
  const target::Abi abi = target::abi_of(exported);
  for (size_t i = 0; i < exported.instances.size(); ++i) {
    const Machine& machine = *exported.instances[i].machine;
    if (machine.argument_bytes == 0) continue;
    int64_t bytes = 0;
    for (size_t k = 0; k < abi.instances[i].launches.size(); ++k) bytes = std::max(bytes, target::argument_bytes(exported, abi, int(i), int(k)));
    if (bytes <= machine.argument_bytes) continue;
    diagnostics.at(typed.span).error(diag::ArgumentsExceeded, typed.name, bytes, std::string(machine.name), machine.argument_bytes)
        .help("pass fewer tensors, or let them share dims");
  }
}

}  // namespace

void Checks::add(const ir::Kernel& kernel) {
  Checked& checked = checked_.emplace_back(kernel);
  Diagnostics& found = found_.emplace_back(diagnostics_.policy());
  auto task = [this, &checked, &found] { checked.is_fine = run_checks(checked.kernel, found, options_); };
  if (options_.after) task();
  else tasks_.add(task);
}

std::deque<Checked> Checks::finish() {
  tasks_.finish();
  for (const Diagnostics& one : found_) diagnostics_.append(one);
  return std::move(checked_);
}

ir::Schedule schedule_for(const ExportInstance& exported, const Machine& machine) {
  const PinnedSchedule* best = nullptr;
  std::vector<ir::Required> required;
  // A block for named machines before one for all, then the one that says more of the kernel's dims, then of its
  // parameters, then the last.
  auto rank = [](const PinnedSchedule& p) { return std::tuple(!p.targets.empty(), p.dims, p.arguments); };
  for (const PinnedSchedule& pinned : exported.schedules) {
    bool speaks = pinned.targets.empty() || std::ranges::any_of(pinned.targets, [&](const std::string& target) {
      return target == machine.name || target == machine.target;
    });
    if (!speaks) continue;
    if (!best || rank(pinned) >= rank(*best)) best = &pinned;
    for (const ir::Required& one : pinned.schedule.required)
      if (std::ranges::find(required, one) == required.end()) required.push_back(one);
  }
  ir::Schedule schedule = best ? best->schedule : ir::Schedule();
  schedule.required = std::move(required);
  return schedule;
}

ir::Kernel kernel_for(const ExportInstance& exported, const Machine& machine) {
  ir::Kernel kernel = exported.kernel;
  kernel.schedule = schedule_for(exported, machine);
  return kernel;
}

std::optional<Compiled> compile(const Program& typed, const CompileRequest& request, const SourceMap& sources,
                                Diagnostics& diagnostics, const PassOptions& options) {
  Compiled out;
  out.program.sources = &sources;
  out.program.compiler = request.compiler;
  out.library.name = request.library;
  out.library.compiler = request.compiler;
  out.library.stream_struct = request.stream_struct;
  PassOptions for_all = options;
  for (const Machine* machine : request.machines) for_all.lanes.push_back(machine->lanes);
  Checks checks(diagnostics, for_all);
  for (const ExportInstance& exported : typed.exports) checks.add(exported.kernel);
  out.checked = checks.finish();
  std::vector<Lowering> lowerings = lower_all(typed, out.checked, request, diagnostics, options, out.kernels);
  if (diagnostics.has_errors()) return std::nullopt;
  for (const Lowering& l : lowerings) out.lowered.push_back({&typed.exports[l.of], &out.checked[l.of], l.kernel});
  for (size_t first = 0, next = 0; first < typed.exports.size(); first = next) {
    do ++next;
    while (next < typed.exports.size() && typed.exports[next].number > 0);
    std::span<const ExportInstance> instances = std::span(typed.exports).subspan(first, next - first);
    target::Export spelled{request.prefix + instances[0].name, {}, signature_of(instances[0]), place_of(instances[0].span, sources)};
    host::Export described = describe(spelled, instances, sources);
    add_instances(spelled, described, instances, first, request, lowerings);
    check_arguments(instances[0], spelled, diagnostics);
    out.library.exports.push_back(std::move(described));
    out.program.exports.push_back(std::move(spelled));
  }
  if (diagnostics.has_errors()) return std::nullopt;
  out.program.manifest = host::manifest_text(out.library);
  return out;
}

}  // namespace tilec
