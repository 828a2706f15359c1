#include "passes/check_memory.h"

#include "diag/diag.h"
#include "ir/packed.h"
#include "passes/region.h"

namespace tilec::passes {

using namespace ir;

namespace {

struct Tile {
  std::string name;
  Span span;
  int64_t bytes;
};

int64_t bytes_of(const Kernel& kernel, const Type& type) {
  int64_t elements = type.layout.valid() ? kernel.layouts.mem(type.layout).size() : type.element_count();
  return (elements * bit_width(type.element) + 7) / 8;
}

// The largest first.
std::vector<Tile> shared_tiles(const Kernel& kernel, RegionId launch) {
  std::vector<Tile> tiles;
  each_op(kernel, launch, [&](OpId id) {
    const Op& op = kernel.op(id);
    if (!op.is<op::Alloc>() || kernel.type(op.result()).space != Space::Shared) return;
    tiles.push_back({name_of(kernel, op.result()), op.span, bytes_of(kernel, kernel.type(op.result()))});
  });
  std::stable_sort(tiles.begin(), tiles.end(), [](const Tile& a, const Tile& b) { return a.bytes > b.bytes; });
  return tiles;
}

void report(const Kernel& kernel, const Machine& machine, const std::vector<Tile>& tiles, int64_t bytes, Diagnostics& diagnostics) {
  auto report = diagnostics.at(tiles.front().span)
                    .error(diag::SharedMemoryExceeded, kernel.name, bytes, std::string(machine.name), machine.shared_bytes);
  for (const Tile& tile : tiles) report.note(tile.span, diag::TakesBytes, tile.name, tile.bytes);
  report.help("use smaller tiles or fewer stages");
}

// An array of a lane's own that no register can hold.
void check_lanes(const Kernel& kernel, const Machine& machine, RegionId launch, Diagnostics& diagnostics) {
  each_op(kernel, launch, [&](OpId id) {
    const Op& op = kernel.op(id);
    if (!op.is<op::Alloc>() || kernel.type(op.result()).space != Space::Private) return;
    int64_t bytes = bytes_of(kernel, kernel.type(op.result()));
    if (bytes <= machine.lane_bytes) return;
    diagnostics.at(op.span)
        .error(diag::LaneMemoryExceeded, name_of(kernel, op.result()), bytes, std::string(machine.name), machine.lane_bytes)
        .help("use smaller tiles, or more threads for each");
  });
}

void each_launch(const Kernel& kernel, const std::function<void(RegionId)>& f) {
  each_op(kernel, kernel.body, [&](OpId id) {
    if (auto* launch = kernel.op(id).get<op::Launch>()) f(launch->body);
  });
}

}  // namespace

int64_t missing_bytes(const Kernel& kernel, const Machine& machine) {
  int64_t missing = 0;
  each_launch(kernel, [&](RegionId launch) { missing = std::max(missing, packed_bytes(kernel, launch) - machine.shared_bytes); });
  return missing;
}

void check_tiles(const Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  each_launch(kernel, [&](RegionId launch) {
    std::vector<Tile> tiles = shared_tiles(kernel, launch);
    if (!tiles.empty() && tiles.front().bytes > machine.shared_bytes)
      report(kernel, machine, tiles, tiles.front().bytes, diagnostics);  // at least: others may take its place
  });
}

void check_memory(const Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  each_launch(kernel, [&](RegionId launch) {
    int64_t bytes = packed_bytes(kernel, launch);
    if (bytes > machine.shared_bytes) report(kernel, machine, shared_tiles(kernel, launch), bytes, diagnostics);
    if (machine.lane_bytes) check_lanes(kernel, machine, launch, diagnostics);
  });
}

}  // namespace tilec::passes
