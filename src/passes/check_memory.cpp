#include "passes/check_memory.h"

#include "diag/diag.h"
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

// All of them are alive at once: a block's tiles share no memory.
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

}  // namespace

void check_memory(const Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  each_op(kernel, kernel.body, [&](OpId id) {
    const auto* launch = kernel.op(id).get<op::Launch>();
    if (!launch) return;
    std::vector<Tile> tiles = shared_tiles(kernel, launch->body);
    int64_t total = 0;
    for (const Tile& tile : tiles) total += tile.bytes;
    if (total <= machine.shared_bytes) return;
    auto report = diagnostics.at(tiles.front().span)
                      .error(diag::SharedMemoryExceeded, kernel.name, total, std::string(machine.name), machine.shared_bytes);
    for (const Tile& tile : tiles) report.note(tile.span, diag::TakesBytes, tile.name, tile.bytes);
    report.help("use smaller tiles or fewer stages");
  });
}

}  // namespace tilec::passes
