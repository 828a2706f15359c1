#include "passes/boxes.h"

#include <algorithm>

#include "layout/engine_rows.h"
#include "passes/products.h"

namespace tilec::passes {

using namespace ir;

namespace {

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
  return "";
}

}  // namespace tilec::passes
