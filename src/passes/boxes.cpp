#include "passes/boxes.h"

#include <algorithm>
#include <functional>

#include "diag/diag.h"
#include "ir/overlap.h"
#include "layout/engine_rows.h"
#include "passes/products.h"
#include "passes/touches.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kLine = 128;  // bytes, at whose multiples boxes begin in shared memory; swizzled ones do by their rows

bool is_ascending(const Axes& axes) { return std::ranges::is_sorted(axes); }

struct Move {
  ValueId tensor;
  const Axes& axes;  // of the tensor, along which those of the tile run
  ValueId tile;
};

// Neighbours along the last axis of the tile are neighbours of the tensor.
bool is_contiguous(const Kernel& kernel, const Move& move) {
  const Param& param = *kernel.param_of(move.tensor);
  if (move.axes.empty() || move.axes.back() + 1 != int64_t(kernel.type(move.tensor).rank())) return false;
  if (param.strides.empty()) return true;
  auto step = kernel.constant(param.strides.back());
  return step && step->i == 1;
}

std::string why_no_box(const Kernel& kernel, const Move& move, const Machine& machine) {
  const BoxLimits& limits = machine.boxes;
  if (limits.unit == 0) return "";
  const Type& tile = kernel.type(move.tile);
  int bits = bit_width(tile.element);
  if (bits < 8) return "its elements are narrower than a byte";
  if (kernel.type(move.tensor).rank() > limits.rank) return "the tensor has more than " + std::to_string(limits.rank) + " dimensions";
  if (!is_contiguous(kernel, move)) return "its rows are not contiguous in the tensor";
  if (!is_ascending(move.axes)) return "its axes are not in the tensor's order";
  auto rows = layout::engine_rows(kernel.layouts.mem(tile.layout), bits);
  if (!rows) return "the engine does not know the tile's layout, which threads ask for";
  if (rows->width > limits.extent || rows->width * bits / 8 % limits.unit != 0)
    return "its rows are not a multiple of " + std::to_string(limits.unit) + " bytes, of at most " + std::to_string(limits.extent) + " elements";
  int64_t array = int64_t(rows->width) * rows->count * bits / 8;
  if (tile.rank() > 1) array *= tile.shape[size_t(tile.rank()) - 2];
  if (array % kLine != 0) return "one version of it is not a multiple of " + std::to_string(kLine) + " bytes, at which the engine begins";
  return "";
}

// What of the launch touches the tensor beside the copy, or is the copy run again, which may write the same once more.
bool is_alone(const Kernel& kernel, RegionId launch, OpId id, const op::Copy& copy, int loops) {
  bool is_alone = loops == 0 || copy.adds;
  each_op(kernel, launch, [&](OpId other) {
    if (other == id) return;
    const op::Copy* also = kernel.op(other).get<op::Copy>();
    const op::Store* store = kernel.op(other).get<op::Store>();
    bool adds = (also && also->adds) || (store && store->adds);
    if (adds && copy.adds) return;
    for (const MemoryTouch& touch : touches_of(kernel, other)) is_alone &= !may_overlap(kernel, touch.buffer, root_buffer(kernel, copy.dst));
  });
  return is_alone;
}

std::string why_no_store(const Kernel& kernel, RegionId launch, OpId id, const op::Copy& copy, int loops, const Machine& machine) {
  if (!kernel.param_of(copy.dst)) return "it is no parameter's memory";
  if (kernel.type(copy.src).element != kernel.type(copy.dst).element) return "its elements are converted";
  if (!is_ascending(copy.src_axes)) return "its axes are turned on the way";
  if (copy.shape != kernel.type(copy.src).shape) return "it is part of a tile";
  Scalar element = kernel.type(copy.dst).element;
  if (element == Scalar::TF32) return "its elements may have more places in the tile than they stand for";
  bool is_added = element == Scalar::F32 || (machine.adds.narrow && (element == Scalar::F16 || element == Scalar::BF16));
  if (copy.adds && !is_added) return "the engine does not add its elements";
  if (!is_alone(kernel, launch, id, copy, loops)) return "more of the launch touches the tensor, or the copy does once more";
  return why_no_box(kernel, Move{copy.dst, copy.dst_axes, copy.src}, machine);
}

}  // namespace

std::string why_no_box(const Kernel& kernel, const op::Copy& copy, const Machine& machine) {
  return why_no_box(kernel, Move{copy.src, copy.src_axes, copy.dst}, machine);
}

std::string why_no_box(const Kernel& kernel, ValueId tensor, const Axes& axes, ValueId tile, const Machine& machine) {
  return why_no_box(kernel, Move{tensor, axes, tile}, machine);
}

void choose_stores(Kernel& kernel, RegionId launch, const Machine& machine, Diagnostics& diagnostics) {
  if (!machine.has(Cap::BulkCopy)) return;
  std::function<void(RegionId, int)> visit = [&](RegionId region, int loops) {
    for (OpId id : std::vector<OpId>(kernel.region(region).ops)) {
      bool repeats = kernel.op(id).is<op::For>() || kernel.op(id).is<op::While>();
      each_region(kernel.op(id).data, [&](RegionId inner) { visit(inner, loops + repeats); });
      op::Copy* copy = kernel.op(id).get<op::Copy>();
      if (!copy || kernel.type(copy->src).space != Space::Shared || kernel.type(copy->dst).space == Space::Shared) continue;
      std::string why = why_no_store(kernel, launch, id, *copy, loops, machine);
      if (why.empty()) copy->copy_class = CopyClass::Bulk;
      else diagnostics.at(kernel.op(id).span).remark(diag::CopiedByLanes, kernel.value(copy->src).hint, why);
    }
  };
  visit(launch, 0);
}

}  // namespace tilec::passes
