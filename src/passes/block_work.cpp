#include "passes/block_work.h"

#include "passes/demand.h"

#include <algorithm>
#include <numeric>

#include "passes/products.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr double kUnknownLanes = 64;   // registers of a lane beside its sums
constexpr double kSharedOfBlock = 1024;  // bytes that the system keeps of each block's shared memory
constexpr double kLine = 128;          // bytes of the caches
constexpr double kRowWidth = 64;       // rows of a product that four warps compute at once

Formula rest(const Formula& x, double n) { return x - floor(x / n) * n; }

}  // namespace

Work& Work::operator+=(const Work& other) {
  products = products + other.products, caches = caches + other.caches, lanes = lanes + other.lanes, waits = waits + other.waits;
  moved = moved + other.moved, first = first + other.first;
  return *this;
}

BlockWork::BlockWork(const Kernel& kernel, const op::Launch& launch, const Machine& machine)
    : kernel_(kernel), launch_(launch), machine_(machine), pace_(machine.pace), dims_(kernel, launch), axes_(kernel, launch),
      warps_(double(std::max<int64_t>(1, computing_warps(kernel, launch, machine)))) {}

double BlockWork::bytes(ValueId v) const { return elements(v) * byte_width(kernel_.type(v).element); }

Work BlockWork::of(OpId id) {
  const Op& op = kernel_.op(id);
  Work work;
  if (const op::Gemm* gemm = op.get<op::Gemm>()) work.products = clocks_of(*gemm);
  if (const op::Copy* copy = op.get<op::Copy>(); copy && is_far(copy->src)) {
    fill(work, bytes_of(kernel_, *copy), axes_.of(copy->src_offsets));
    work.first = work.first + straddling(*copy);
  }
  if (const op::Load* load = op.get<op::Load>(); load && is_far(load->buffer)) fill(work, bytes(op.result()), ~0ull);
  if (const op::Map* map = op.get<op::Map>()) {
    auto count = std::accumulate(map->shape.begin(), map->shape.end(), int64_t(1), std::multiplies<>());
    work.lanes = double(count) * double(kernel_.region(map->body).ops.size()) / lanes_at_work();
  }
  if (const op::Reduce* reduce = op.get<op::Reduce>()) work.lanes = elements(reduce->x) / lanes_at_work();
  return work;
}
// Warps wait for numbers that they have asked for themselves: the fewer take turns, the more turns are empty.
double BlockWork::lanes_at_work() const {
  double warps = warps_ * blocks_of_a_core() / pace_.schedulers;
  return pace_.lanes * warps * warps / (warps * warps + pace_.waiting);
}
// Blocks of a cluster copy what does not depend on the axes that they differ along for each other. Where a launch has one block along
// such an axis there is nobody to share with, but cores without blocks, too, which leave their part of the caches to the others.
void BlockWork::fill(Work& work, double size, uint64_t depends) {
  double sharers = 1;
  Formula present = 1.0;
  for (size_t axis = 0; axis < launch_.cluster.size(); ++axis) {
    if (depends >> axis & 1 || launch_.cluster[axis] <= 1) continue;
    sharers *= double(launch_.cluster[axis]);
    present = present * max(min(dims_.of(launch_.extents[axis]), double(launch_.cluster[axis])), 1.0);
  }
  work.caches = size / sharers / pace_.cache_bytes;
  work.moved = size / double(machine_.far_bytes) / present;
  work.first = size * pace_.first_read / readers(depends);
  work.waits = pace_.latency;
}

// Rows that do not begin at multiples of a line: of what a block copies itself, the engine asks for most lines twice. Blocks of a cluster
// share only where clusters cut the grid.
Formula BlockWork::straddling(const op::Copy& copy) {
  if (!machine_.has(Cap::BulkCopy) || pace_.straddled == 0) return 0.0;
  const Param& tensor = *kernel_.param_of(copy.src);
  if (tensor.extents.size() < 2) return 0.0;
  const uint64_t depends = axes_.of(copy.src_offsets);
  Formula sharers = 1.0, whole = 1.0;
  for (size_t axis = 0; axis < launch_.cluster.size(); ++axis) {
    const double blocks = double(launch_.cluster[axis]);
    if (blocks <= 1) continue;
    whole = whole * (1.0 - min(rest(dims_.of(launch_.extents[axis]), blocks), 1.0));
    if (!(depends >> axis & 1)) sharers = sharers * blocks;
  }
  const ValueId step = tensor.strides.empty() ? tensor.extents.back() : tensor.strides[tensor.strides.size() - 2];
  Formula row = dims_.of(step) * double(byte_width(kernel_.type(copy.src).element));
  return min(rest(row, kLine), 1.0) * (bytes_of(kernel_, copy) * pace_.straddled) / (whole * (sharers - 1.0) + 1.0);
}

// Blocks of the launch that read the same.
Formula BlockWork::readers(uint64_t depends) {
  Formula all = 1.0;
  for (size_t axis = 0; axis < launch_.extents.size(); ++axis)
    if (!(depends >> axis & 1)) all = all * max(dims_.of(launch_.extents[axis]), 1.0);
  return all;
}

// The matrix units wait for shared memory where tiles are small: each four warps read what they multiply.
double BlockWork::clocks_of(const op::Gemm& gemm) const {
  const Type &a = kernel_.type(gemm.a), &c = kernel_.type(gemm.acc);
  double k = double(a.shape[gemm.transpose_a ? 0 : 1]), m = double(c.shape[0]), n = double(c.shape[1]), width = byte_width(a.element);
  double groups = std::max(1.0, warps_ / 4), along_m = std::min(groups, std::max(1.0, m / kRowWidth)), along_n = groups / along_m;
  double read = (m * k * along_n + n * k * along_m) * width;
  return std::max(m * n * k * width / double(machine_.product_rate), read / pace_.shared_bytes);
}

double BlockWork::blocks_of_a_core() const {
  double shared = 0, sums = 0;
  each_op(kernel_, launch_.body, [&](OpId id) {
    const Op& op = kernel_.op(id);
    if (op.is<op::Alloc>() && kernel_.type(op.result()).space == Space::Shared) shared += bytes(op.result()) * versions_of(op.result());
    if (const op::ClusterSum* sum = op.get<op::ClusterSum>()) shared += bytes(sum->tile);
    if (const op::Gemm* gemm = op.get<op::Gemm>()) sums += elements(gemm->acc);
  });
  double lanes = warps_ * machine_.lanes, registers = sums + lanes * kUnknownLanes;
  if (!kernel_.schedule.roles.empty()) return 1;
  double by_shared = double(machine_.shared_bytes + kSharedOfBlock) / (shared + kSharedOfBlock);
  double by_registers = double(machine_.block_registers) / registers, by_warps = pace_.warps / warps_;
  return std::max(1.0, std::floor(std::min({by_shared, by_registers, by_warps})));
}

// A tile that a pipelined loop fills stands there as often as the loop runs ahead.
double BlockWork::versions_of(ValueId tile) const {
  double versions = 1;
  each_op(kernel_, launch_.body, [&](OpId id) {
    const op::For* loop = kernel_.op(id).get<op::For>();
    if (!loop || loop->loop != LoopKind::Pipelined) return;
    for (OpId inner : kernel_.region(loop->body).ops)
      if (const op::Copy* copy = kernel_.op(inner).get<op::Copy>(); copy && copy->dst == tile && is_far(copy->src))
        versions = double(std::max<int64_t>(loop->stages, 2));
  });
  return versions;
}

}  // namespace tilec::passes
