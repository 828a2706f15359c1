#include "passes/boxes.h"

#include <algorithm>

#include "layout/engine_rows.h"
#include "passes/products.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kLine = 128;  // bytes, at whose multiples boxes begin in shared memory; swizzled ones do by their rows

bool is_ascending(const Axes& axes) { return std::ranges::is_sorted(axes); }

// Neighbours along the last axis of the tile are neighbours of the tensor.
bool is_contiguous(const Kernel& kernel, const op::Copy& copy) {
  const Param& param = *kernel.param_of(copy.src);
  if (copy.src_axes.empty() || copy.src_axes.back() + 1 != int64_t(kernel.type(copy.src).rank())) return false;
  if (param.strides.empty()) return true;
  auto step = kernel.constant(param.strides.back());
  return step && step->i == 1;
}

}  // namespace

std::string why_no_box(const Kernel& kernel, const op::Copy& copy, const Machine& machine) {
  const BoxLimits& limits = machine.boxes;
  if (limits.unit == 0) return "";
  const Type& tile = kernel.type(copy.dst);
  int bits = bit_width(tile.element);
  if (bits < 8) return "its elements are narrower than a byte";
  if (kernel.type(copy.src).rank() > limits.rank) return "the tensor has more than " + std::to_string(limits.rank) + " dimensions";
  if (!is_contiguous(kernel, copy)) return "its rows are not contiguous in the tensor";
  if (!is_ascending(copy.src_axes)) return "its axes are not in the tensor's order";
  auto rows = layout::engine_rows(kernel.layouts.mem(tile.layout), bits);
  if (!rows) return "the engine cannot write the tile's layout, which its readers ask for";
  if (rows->width > limits.extent || rows->width * bits / 8 % limits.unit != 0)
    return "its rows are not a multiple of " + std::to_string(limits.unit) + " bytes, of at most " + std::to_string(limits.extent) + " elements";
  int64_t array = int64_t(rows->width) * rows->count * bits / 8;
  if (tile.rank() > 1) array *= tile.shape[size_t(tile.rank()) - 2];
  if (array % kLine != 0) return "one version of it is not a multiple of " + std::to_string(kLine) + " bytes, at which the engine begins";
  return "";
}

}  // namespace tilec::passes
