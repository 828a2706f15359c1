#include "pipeline/compile.h"

#include <algorithm>
#include <set>
#include <utility>

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

// What a machine has too little of is a matter of one instance: a kernel may have several, and so may an export.
void name_export(const Program& typed, const ExportInstance& exported, Diagnostics& found) {
  bool has_others = std::ranges::count(typed.exports, exported.name, &ExportInstance::name) > 1;
  if (!found.has_errors() || (exported.name == exported.kernel.name && !has_others)) return;
  std::set<Span> places;
  for (const Diagnostic& d : found.all())
    if (d.severity == Severity::Error) places.insert(d.span);
  for (Span place : places) found.note_at(place, exported.span, diag::InstantiatedHere, has_others ? exported.instance : exported.name);
}

// A machine that does not say how fast it is takes one instance of each export: the first for which it has the memory.
bool takes_one(const Machine& machine) { return machine.cores == 0; }

// Takes the instances of each export through the passes, for each machine those that it takes.
class LowerAll {
 public:
  LowerAll(const Program& typed, const std::deque<Checked>& checked, const CompileRequest& request, const PassOptions& options, std::deque<ir::Kernel>& kernels)
      : typed_(typed), checked_(checked), request_(request), options_(options), kernels_(kernels) {}

  // Without those that are left out.
  std::vector<Lowering> run(Diagnostics& diagnostics) {
    for (size_t i = 0; i < checked_.size(); ++i)
      for (const Machine* machine : request_.machines)
        if (checked_[i].is_fine && is_for(typed_.exports[i], *machine) && (typed_.exports[i].number == 0 || !takes_one(*machine))) wanted_.push_back({i, machine});
    while (!wanted_.empty()) {
      size_t first = all_.size();
      for (auto [i, machine] : std::exchange(wanted_, {})) add(i, *machine, diagnostics.policy());
      each_kernel(all_.size() - first, options_, [&](size_t i) {
        Lowering& l = all_[first + i];
        l.is_fine = run_machine_passes(*l.kernel, *l.machine, l.found, options_);
      });
      for (size_t i = first; i < all_.size(); ++i) want_next(all_[i]);
    }
    std::ranges::stable_sort(all_, {}, &Lowering::of);
    std::vector<Lowering> left;
    for (Lowering& l : all_) {
      if (is_left_out(l)) continue;
      name_export(typed_, typed_.exports[l.of], l.found);
      bool is_known = name_also(l, diagnostics);
      if (!is_known) diagnostics.append(l.found);
      left.push_back(std::move(l));
    }
    return left;
  }

 private:
  void add(size_t of, const Machine& machine, const Policy& policy) {
    ir::Kernel& kernel = kernels_.emplace_back(checked_[of].kernel);
    kernel.schedule = schedule_for(typed_.exports[of], machine);
    all_.push_back({of, &machine, &kernel, Diagnostics(policy)});
  }

  void want_next(const Lowering& l) {
    size_t next = l.of + 1;
    if (!takes_one(*l.machine) || l.is_fine || !lacks_memory(l.found)) return;
    if (next < typed_.exports.size() && typed_.exports[next].number > 0 && !typed_.exports[next].is_wide && checked_[next].is_fine) wanted_.push_back({next, l.machine});
  }

  bool is_left_out(const Lowering& l) const {
    const std::string& name = typed_.exports[l.of].name;
    if (!l.is_fine && !is_missed(typed_.exports[l.of], l.found)) return true;
    return !l.is_fine && lacks_memory(l.found) && std::ranges::any_of(all_, [&](const Lowering& other) {
      return other.is_fine && other.machine == l.machine && typed_.exports[other.of].name == name;
    });
  }

  // What an instance before it has too little memory for at the same places is told once, and who else has it there beside it.
  bool name_also(const Lowering& l, Diagnostics& diagnostics) const {
    if (l.is_fine || !lacks_memory(l.found) || typed_.exports[l.of].number == 0) return false;
    const Diagnostic& first = *std::ranges::find(l.found.all(), Severity::Error, &Diagnostic::severity);
    bool is_known = std::ranges::any_of(diagnostics.all(), [&](const Diagnostic& d) { return d.code == first.code && d.span == first.span; });
    if (is_known) diagnostics.note_at(first.span, typed_.exports[l.of].span, diag::InstantiatedHere, typed_.exports[l.of].instance);
    return is_known;
  }

  const Program& typed_;
  const std::deque<Checked>& checked_;
  const CompileRequest& request_;
  const PassOptions& options_;
  std::deque<ir::Kernel>& kernels_;
  std::vector<std::pair<size_t, const Machine*>> wanted_;
  std::vector<Lowering> all_;
};

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
  for (const Machine* machine : request.machines) {
    auto is_one = [&](const Lowering& l) { return l.machine == machine && l.of >= first && l.of < first + instances.size(); };
    const bool are_several = std::ranges::count_if(lowerings, is_one) > 1;
    for (const Lowering& lowering : lowerings) {
      if (!is_one(lowering)) continue;
      target::Instance instance{.kernel = lowering.kernel, .machine = machine};
      host::Variant variant{.machine = std::string(machine->name)};
      if (are_several || lowering.of > first) variant.instance = instances[lowering.of - first].instance;
      if (are_several) {
        instance.clocks = clocks_of(*lowering.kernel);
        variant.clocks = instance.clocks->text(*lowering.kernel);
        instance.guard_text = variant.instance + " is expected to take fewest clocks: " + variant.clocks;
      }
      spelled.instances.push_back(std::move(instance));
      described.variants.push_back(std::move(variant));
    }
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

// What holds for an instance holds for its copy in wider clusters.
std::deque<Checked> with_copies(const Program& typed, std::deque<Checked> checked) {
  for (size_t i = 0; i < typed.exports.size(); ++i) {
    if (!typed.exports[i].is_wide) continue;
    Checked copy = checked[i - typed.exports[i].number];
    checked.insert(checked.begin() + ptrdiff_t(i), std::move(copy));
  }
  return checked;
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
  const PinnedSchedule *best = nullptr, *tied = nullptr;
  std::vector<ir::Required> required;
  // A block for the copy in wider clusters before one for both, one for the machine before one for its target before one for all, then the one that
  // says more of the kernel's dims, then of its parameters.
  auto rank = [&](const PinnedSchedule& p) {
    int names = p.targets.empty() ? 0 : std::ranges::find(p.targets, machine.name) == p.targets.end() ? 1 : 2;
    return std::tuple(p.is_wide, names, p.dims, p.arguments);
  };
  for (const PinnedSchedule& pinned : exported.schedules) {
    bool speaks = pinned.targets.empty() || std::ranges::any_of(pinned.targets, [&](const std::string& target) {
      return target == machine.name || target == machine.target;
    });
    if (!speaks) continue;
    bool only_requires = pinned.schedule == ir::Schedule{.required = pinned.schedule.required};
    if (!only_requires && (!best || rank(pinned) >= rank(*best))) {
      tied = best && rank(pinned) == rank(*best) ? best : nullptr;
      best = &pinned;
    }
    for (const ir::Required& one : pinned.schedule.required)
      if (std::ranges::find(required, one) == required.end()) required.push_back(one);
  }
  ir::Schedule schedule = best ? best->schedule : ir::Schedule();
  if (best) schedule.facts.pinned = std::make_shared<const ir::Schedule>(best->schedule);
  if (tied) schedule.facts.tied = tied->schedule.span;
  schedule.facts.is_for_wide = best && best->is_wide;
  schedule.required = std::move(required);
  schedule.facts.widens = exported.is_wide;
  schedule.facts.is_widened = best && best->is_wide && !schedule.cluster.empty();  // as the source has it
  return schedule;
}

ir::Kernel kernel_for(const ExportInstance& exported, const Machine& machine) {
  ir::Kernel kernel = exported.kernel;
  kernel.schedule = schedule_for(exported, machine);
  return kernel;
}

bool is_for(const ExportInstance& exported, const Machine& machine) { return !exported.is_wide || machine.cluster_blocks > 1; }

bool lacks_memory(const Diagnostics& found) {
  constexpr std::string_view kMemory[] = {diag::SharedMemoryExceeded.row.code, diag::LaneMemoryExceeded.row.code};
  return found.has_errors() && std::ranges::all_of(found.all(), [&](const Diagnostic& d) {
    return d.severity != Severity::Error || std::ranges::find(kMemory, d.code) != std::end(kMemory);
  });
}

bool is_missed(const ExportInstance& exported, const Diagnostics& found) {
  return !exported.is_wide || (found.has_errors() && std::ranges::any_of(exported.schedules, &PinnedSchedule::is_wide));
}

std::string first_error(const Diagnostics& found) {
  auto error = std::ranges::find(found.all(), Severity::Error, &Diagnostic::severity);
  return error == found.all().end() ? "" : error->message;
}

bool has_other_instance(const Program& typed, const ExportInstance& exported, const Machine& machine, const PassOptions& options) {
  return std::ranges::any_of(typed.exports, [&](const ExportInstance& other) {
    if (other.name != exported.name || other.number == exported.number) return false;
    ir::Kernel kernel = kernel_for(other, machine);
    Diagnostics unheard;
    return run_passes(kernel, machine, unheard, {.exact = options.exact, .verify = options.verify});
  });
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
  for (const ExportInstance& exported : typed.exports)
    if (!exported.is_wide) checks.add(exported.kernel);
  out.checked = with_copies(typed, checks.finish());
  std::vector<Lowering> lowerings = LowerAll(typed, out.checked, request, options, out.kernels).run(diagnostics);
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
