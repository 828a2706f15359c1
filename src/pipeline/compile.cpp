#include "pipeline/compile.h"

#include <algorithm>

#include "base/check.h"
#include "host/manifest.h"

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
    text += (i ? ", " : "") + std::string(kAccess[int(p.access)]) + p.name + ": " + p.type_text;
  }
  text += ")";
  const char* separator = " where ";
  for (const ir::Dim& dim : exported.kernel.dims)
    if (dim.fixed) text += separator + dim.name + " = " + std::to_string(*dim.fixed), separator = ", ";
  return text;
}

}  // namespace

const ir::Schedule& schedule_for(const ExportInstance& exported, const Machine& machine) {
  static const ir::Schedule kNothingPinned;
  const PinnedSchedule* best = nullptr;
  // A block for named machines before one for all, then the one that says more of the kernel's parameters, then the last.
  auto rank = [](const PinnedSchedule& p) { return std::pair(!p.targets.empty(), p.arguments); };
  for (const PinnedSchedule& pinned : exported.schedules) {
    bool speaks = pinned.targets.empty() || std::ranges::any_of(pinned.targets, [&](const std::string& target) {
      return target == machine.name || target == machine.target;
    });
    if (speaks && (!best || rank(pinned) >= rank(*best))) best = &pinned;
  }
  return best ? best->schedule : kNothingPinned;
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
  for (const ExportInstance& exported : typed.exports) {
    target::Export spelled{request.prefix + exported.name, {}, signature_of(exported), place_of(exported.span, sources)};
    ir::Kernel checked = exported.kernel;
    if (!run_checks(checked, diagnostics, options)) continue;
    for (const Machine* machine : request.machines) {
      ir::Kernel& kernel = out.kernels.emplace_back(checked);
      kernel.schedule = schedule_for(exported, *machine);
      if (!run_machine_passes(kernel, *machine, diagnostics, options)) continue;
      spelled.instances.push_back({&kernel, machine, {}, {}});
    }
    host::Export described = host::export_of(exported.kernel, &sources);
    described.name = spelled.name;
    described.doc = exported.doc;
    described.signature = spelled.signature;
    described.source = spelled.source;
    for (const target::Instance& instance : spelled.instances)
      described.variants.push_back({std::string(instance.machine->name), instance.guard_text});
    out.library.exports.push_back(std::move(described));
    out.program.exports.push_back(std::move(spelled));
  }
  if (diagnostics.has_errors()) return std::nullopt;
  out.program.manifest = host::manifest_text(out.library);
  return out;
}

}  // namespace tilec
