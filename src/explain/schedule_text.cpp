#include "explain/schedule_text.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "layout/notation.h"

namespace tilec {

namespace {

using ir::Schedule;

void add_launch_options(const Schedule& schedule, std::string& out) {
  if (!schedule.cluster.empty()) {
    out += "    cluster (";
    for (size_t i = 0; i < schedule.cluster.size(); ++i) out += (i ? ", " : "") + std::to_string(schedule.cluster[i]);
    out += ");\n";
  }
  if (schedule.split) out += "    split " + std::to_string(schedule.split) + ";\n";
  if (schedule.raster) out += "    raster column(" + std::to_string(schedule.raster) + ");\n";
  if (schedule.backwards > 0) out += "    raster reversed(" + std::to_string(schedule.backwards - 1) + ");\n";
  if (schedule.backwards == ir::kForward) out += "    raster forward;\n";
  if (schedule.persistent) out += "    persistent;\n";
}

void add_pipelines(const Schedule& schedule, std::string& out) {
  for (const ir::Pipeline& pipeline : schedule.pipelines) {
    out += "    pipeline " + pipeline.name + ": " + join(pipeline.tiles, ", ") + "; depth " + std::to_string(pipeline.depth);
    if (pipeline.in_flight >= 0) out += ", in_flight " + std::to_string(pipeline.in_flight);
    out += ";\n";
  }
}

void add_roles(const Schedule& schedule, std::string& out) {
  for (const ir::Role& role : schedule.roles) {
    out += "    role " + role.name + ": warps " + std::to_string(role.warps) +
           (role.registers ? ", registers " + std::to_string(role.registers) : "") + " {";
    for (const ir::Placement& p : schedule.placements)
      if (p.role == role.name) out += " " + p.label + ";";
    out += " }\n";
  }
  for (const ir::Placement& p : schedule.placements)
    if (p.role.empty()) out += "    place " + p.label + ": stage " + std::to_string(p.stage) + ";\n";
}

void add_requirements(const Schedule& schedule, std::string& out) {
  std::vector<std::string> names;
  for (const ir::Required& required : schedule.required) names.emplace_back(name(required.need));
  if (!names.empty()) out += "    require " + join(names, ", ") + ";\n";
}

// By name: a variable all of whose values have one layout. Another cannot be told by its name, and is inferred again.
void add_layouts(const ExportInstance& exported, const ir::Kernel& kernel, std::string& out) {
  std::map<std::string, std::string> layouts;
  for (const ir::LayoutNote& note : kernel.layout_notes) {
    const std::string& name = kernel.value(note.value).hint;
    const ir::Type& type = kernel.type(note.value);
    if (std::ranges::find(exported.variables, name) == exported.variables.end() || !type.layout.valid()) continue;
    std::string text = layout_text(kernel, type.layout);
    auto [found, is_new] = layouts.try_emplace(name, text);
    if (!is_new && found->second != text) found->second.clear();
  }
  for (const auto& [name, text] : layouts)
    if (!text.empty()) out += "    layout " + name + ": " + text + ";\n";
}

}  // namespace

std::string layout_text(const ir::Kernel& kernel, layout::LayoutId id) {
  return kernel.layouts.is_reg(id) ? layout::print(kernel.layouts.reg(id)) : layout::print(kernel.layouts.mem(id));
}

std::string schedule_text(const ExportInstance& exported, const ir::Kernel& kernel, std::string_view machine) {
  bool is_word = machine.find_first_of("-.:") == machine.npos;
  std::string out = "schedule " + exported.instance + " for " + (is_word ? std::string(machine) : '"' + std::string(machine) + '"') + " {\n";
  add_launch_options(kernel.schedule, out);
  add_pipelines(kernel.schedule, out);
  add_roles(kernel.schedule, out);
  add_layouts(exported, kernel, out);
  add_requirements(kernel.schedule, out);
  return out + "}\n";
}

}  // namespace tilec
