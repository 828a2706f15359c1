#include "explain/explain.h"

#include "check/pressure.h"
#include "explain/proofs.h"
#include "explain/schedule_text.h"
#include "ir/packed.h"
#include "layout/notation.h"

namespace tilec {

namespace {

std::string shape_text(const ir::Type& type) {
  std::string text = std::string(name(type.element)) + "[";
  for (size_t i = 0; i < type.shape.size(); ++i) text += (i ? ", " : "") + std::to_string(type.shape[i]);
  return text + "]";
}

std::string bytes_text(int64_t bytes) {
  if (bytes < 1024 || bytes % 1024 != 0) return std::to_string(bytes) + " bytes";
  return std::to_string(bytes / 1024) + " KB";
}

// A variable's tiles all have its name; the first says it for all of the same layout.
void add_layouts(const ir::Kernel& kernel, const SourceMap& sources, std::string& out) {
  std::set<std::pair<std::string, uint32_t>> seen;
  out += "layouts:\n";
  for (const ir::LayoutNote& note : kernel.layout_notes) {
    const ir::Value& value = kernel.value(note.value);
    const ir::Type& type = kernel.type(note.value);
    if (value.hint.empty() || !type.layout.valid() || !seen.insert({value.hint, type.layout.index}).second) continue;
    out += "  " + value.hint + ": " + (type.is_buffer() ? "shared " : "fragment ") + shape_text(type) + "\n    " + layout_text(kernel, type.layout) + "\n    decided at " +
           place_of(note.span, sources) + ": " + note.reason + "\n";
  }
}

// Every buffer with its place; some lie where others are done.
void add_shared(const ir::Kernel& lowered, ir::RegionId launch, const Machine& machine, std::string& out) {
  int64_t all = 0;
  std::set<std::pair<std::string, int64_t>> seen;  // the parts of a loop that was split name the same bytes
  out += "shared memory:\n";
  each_op(lowered, launch, [&](ir::OpId id) {
    auto* alloc = lowered.op(id).get<ir::op::Alloc>();
    if (!alloc || alloc->offset == ir::kUnplaced || !seen.insert({alloc->name, alloc->offset}).second) return;
    const ir::Type& type = lowered.type(lowered.op(id).result());
    int64_t bytes = type.element_count() * byte_width(type.element);
    all += bytes;
    out += "  " + (alloc->name.empty() ? "(made by the compiler)" : alloc->name) + ": " + bytes_text(bytes) + " at " + std::to_string(alloc->offset) + "\n";
  });
  int64_t packed = ir::packed_bytes(lowered, launch);
  out += "  in all " + bytes_text(packed) + " of " + bytes_text(machine.shared_bytes) + (all > packed ? ", for tiles of " + bytes_text(all) : "") + "\n";
}

void add_memory(const ir::Kernel& lowered, const Machine& machine, std::string& out) {
  int64_t homes = 0;
  each_op(lowered, lowered.body, [&](ir::OpId id) {
    if (auto* launch = lowered.op(id).get<ir::op::Launch>()) add_shared(lowered, launch->body, machine, out);
    if (!lowered.op(id).is<ir::op::Alloc>()) return;
    const ir::Type& type = lowered.type(lowered.op(id).result());
    if (type.space == ir::Space::Private) homes += type.element_count() * byte_width(type.element) * (type.varying ? machine.lanes : 1);
  });
  out += "fragments too large for registers: " + bytes_text(homes) + "\n";
}

void add_products(const ir::Kernel& placed, const SourceMap& sources, std::string& out) {
  each_op(placed, placed.body, [&](ir::OpId id) {
    if (auto* gemm = placed.op(id).get<ir::op::Gemm>())
      out += "product at " + place_of(placed.op(id).span, sources) + ": " + gemm->atom + "\n";
  });
}

// Those that the program of a thread has, in its order; equal ones that follow each other in one line.
void add_barriers(const ir::Kernel& lowered, const SourceMap& sources, std::string& out) {
  std::vector<std::pair<std::string, int>> lines;
  each_op(lowered, lowered.body, [&](ir::OpId id) {
    const ir::Op& op = lowered.op(id);
    auto* whole = op.get<ir::op::BlockBarrier>();
    auto* part = op.get<ir::op::NamedBarrier>();
    auto* vote = op.get<ir::op::BarrierVote>();
    if (!whole && !part && !vote) return;
    std::string line = "  " + place_of(op.span, sources) + ": " + (whole ? whole->why : part ? part->why : vote->why);
    if (!whole) line += ", among " + std::to_string(part ? part->warps : vote->warps) + " warps";
    if (lines.empty() || lines.back().first != line) lines.push_back({line, 0});
    ++lines.back().second;
  });
  out += lines.empty() ? "barriers: none\n" : "barriers:\n";
  for (const auto& [line, count] : lines) out += line + (count > 1 ? ", " + std::to_string(count) + " times" : "") + "\n";
}

void add_roles(const ir::Kernel& staged, std::string& out) {
  each_op(staged, staged.body, [&](ir::OpId id) {
    const ir::op::Roles* roles = staged.op(id).get<ir::op::Roles>();
    for (size_t i = 0; roles && i < roles->names.size(); ++i) {
      out += (i ? "" : "roles:\n") + ("  " + roles->names[i]) + ": " + std::to_string(roles->warps[i]) + " warps, runs";
      for (const ir::Placement& p : staged.schedule.placements)
        if (p.role == roles->names[i]) out += " " + p.label;
      out += "\n";
    }
  });
}

// A ring's slots hold the versions of the tiles that are filled together.
void add_stages(const ir::Kernel& staged, std::string& out) {
  int count = 0;
  each_op(staged, staged.body, [&](ir::OpId id) {
    const ir::op::RingAlloc* ring = staged.op(id).get<ir::op::RingAlloc>();
    if (!ring) return;
    if (!count++) out += "stages:\n";
    const int64_t versions = staged.type(staged.op(id).result()).shape[0];
    out += "  " + ring->name + ": " +
           (versions == 1 ? "one version, filled again as soon as it has been read\n" : std::to_string(versions) + " versions, each filled while those before it are read\n");
  });
  if (!count) out += "stages: none, every tile is filled where it is read\n";
}

std::string percent(int64_t part, int64_t whole) { return std::to_string((200 * part + whole) / (2 * whole)) + " %"; }

// What the scheduler of loops expects of their turns.
void add_loops(const ir::Kernel& staged, const SourceMap& sources, std::string& out) {
  for (const ir::ScheduledLoop& loop : staged.scheduled_loops) {
    const ir::LoopTimes& times = loop.times;
    int64_t busy[2] = {};
    std::string late;
    for (size_t i = 0; i < loop.problem.work.size(); ++i) {
      const ir::LoopWork& work = loop.problem.work[i];
      busy[int(work.unit)] += work.clocks * loop.problem.groups;
      if (work.unit == ir::Unit::Products && times.stage(i) > 0) late += (late.empty() ? "" : ", ") + work.name;
    }
    if (&loop == &staged.scheduled_loops.front()) out += "turns of loops, in clocks:\n";
    out += "  " + place_of(loop.span, sources) + ": " + std::to_string(times.turn) + " with " + std::to_string(loop.problem.groups) +
           (loop.problem.groups == 1 ? " group" : " groups") + ", products busy for " + percent(busy[0], times.turn) + ", threads for " + percent(busy[1], times.turn) + "; " +
           std::to_string(times.alone) + " of a group by itself" + (late.empty() ? "" : "; a turn behind: " + late) + "\n";
  }
}

void add_registers(const ir::Kernel& lowered, const Machine& machine, std::string& out) {
  out += "registers: about " + std::to_string(check::registers_at_once(lowered, lowered.body, machine)) + " of " +
         std::to_string(machine.registers_per_lane) + (machine.simd_bytes ? " vectors\n" : " a lane\n");
}

}  // namespace

std::string kernel_line(std::span<const ExportInstance* const> exports, const Machine& machine) {
  const ExportInstance& first = *exports.front();
  bool has_own_name = exports.size() == 1 && first.name == first.instance;
  std::string out = "kernel " + first.instance;
  for (size_t i = 0; !has_own_name && i < exports.size(); ++i) out += (i ? ", " : " as ") + exports[i]->name;
  return out + " on " + std::string(machine.name) + "\n";
}

std::string explain(std::span<const ExportInstance* const> exports, const ir::Kernel& placed, const ir::Kernel& lowered, const Machine& machine,
                    const SourceMap& sources) {
  const ExportInstance& first = *exports.front();
  std::string out = kernel_line(exports, machine);
  each_op(placed, placed.body, [&](ir::OpId id) {
    if (auto* launch = placed.op(id).get<ir::op::Launch>())
      out += "launch at " + place_of(placed.op(id).span, sources) + ": " + std::to_string(launch->warps ? launch->warps : 1) +
             " computing warps of " + std::to_string(machine.lanes) + " lanes a block\n";
  });
  add_layouts(placed, sources, out);
  add_products(placed, sources, out);
  add_roles(placed, out);
  add_stages(placed, out);
  add_loops(placed, sources, out);
  add_memory(lowered, machine, out);
  add_registers(lowered, machine, out);
  add_barriers(lowered, sources, out);
  out += proofs_text(placed, sources);
  return out + schedule_text(first, placed, machine.name);
}

}  // namespace tilec
