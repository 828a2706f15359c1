// A loop that reads again what its block has read before leaves the memory idle. It then asks for what the next block of the
// same thread will read first.
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;

namespace {

// What one block may read ahead and still find in its core's share of the caches when it comes to it.
constexpr int64_t kMostAhead = 256 << 10;
// Indices of more steps than this are followed no further: values may be shared, and be met again on every way.
constexpr int kMostSteps = 8;

// What two loads differ in may be the loops that they stand in, nothing else.
bool equal_but_for_loops(const Kernel& kernel, ValueId a, ValueId b, int steps = kMostSteps) {
  if (a == b) return true;
  if (steps == 0) return false;
  const ir::Op *x = kernel.definition(a), *y = kernel.definition(b);
  if (!x || !y) return !x && !y && kernel.value(a).region != kernel.body && kernel.value(b).region != kernel.body;
  const auto *p = x->get<ir::op::Binary>(), *q = y->get<ir::op::Binary>();
  if (p && q) return p->fn == q->fn && equal_but_for_loops(kernel, p->a, q->a, steps - 1) && equal_but_for_loops(kernel, p->b, q->b, steps - 1);
  auto m = kernel.constant(a), n = kernel.constant(b);
  return m && n && m->i == n->i;
}

// By how much `v` grows with `index`; none where that is not a constant.
std::optional<int64_t> growth(const Kernel& kernel, ValueId v, ValueId index, int steps = kMostSteps) {
  if (v == index) return 1;
  if (steps == 0) return {};
  const ir::Op* op = kernel.definition(v);
  if (!op) return 0;
  const auto* binary = op->get<ir::op::Binary>();
  if (!binary) {
    bool depends = false;
    ir::each_operand(op->data, [&](ValueId x) { depends |= growth(kernel, x, index, steps - 1) != 0; });
    return depends ? std::nullopt : std::optional<int64_t>(0);
  }
  std::optional<int64_t> a = growth(kernel, binary->a, index, steps - 1), b = growth(kernel, binary->b, index, steps - 1);
  if (!a || !b) return {};
  if (*a == 0 && *b == 0) return 0;
  if (std::abs(*a) >= kMostAhead || std::abs(*b) >= kMostAhead) return {};
  auto factor = kernel.constant(*b == 0 ? binary->b : binary->a);
  switch (binary->fn) {
    case BinaryFn::Add: return *a + *b;
    case BinaryFn::Sub: return *a - *b;
    case BinaryFn::Mul: return factor && std::abs(factor->i) < kMostAhead ? std::optional((*a + *b) * factor->i) : std::nullopt;
    default: return {};
  }
}

}  // namespace

// Loads of one launch that repeat an earlier one of another region.
void Lowering::find_repeated_loads(RegionId launch) {
  repeated_loads_.clear();
  if (!machine_.has(Cap::Prefetch)) return;
  std::vector<OpId> before;
  ir::each_op(source_, launch, [&](OpId id) {
    const auto* load = source_.op(id).get<ir::op::Load>();
    if (!load || source_.type(load->buffer).space != Space::Global || !source_.param_of(load->buffer)) return;
    bool is_repeated = std::ranges::any_of(before, [&](OpId earlier) {
      const auto& other = source_.op(earlier).as<ir::op::Load>();
      if (other.buffer != load->buffer || other.axes != load->axes || region_of_[earlier.index] == region_of_[id.index]) return false;
      return std::ranges::equal(other.offsets, load->offsets, [&](ValueId a, ValueId b) { return equal_but_for_loops(source_, a, b); });
    });
    if (is_repeated) repeated_loads_.insert(source_.op(id).result().index);
    before.push_back(id);
  });
  next_block_ = source_.region(launch).args.empty() ? ValueId{} : source_.region(launch).args[0];
}

// How far behind an element of this load lies the next block's; 0 at run time where that is too far to be kept. None where no
// one dimension steps from block to block.
ValueId Lowering::next_block_distance(ValueId loaded) {
  if (!repeated_loads_.contains(loaded.index) || !next_block_.valid()) return {};
  const auto& load = source_.definition(loaded)->as<ir::op::Load>();
  ValueId distance;
  for (size_t axis = 0; axis < load.offsets.size(); ++axis) {
    std::optional<int64_t> step = growth(source_, load.offsets[axis], next_block_);
    if (!step || (*step != 0 && distance.valid())) return {};
    if (*step != 0) distance = builder_.mul(stride(load.buffer, int(axis)), builder_.index(*step));
  }
  if (!distance.valid()) return {};
  int64_t most = kMostAhead / byte_width(source_.type(load.buffer).element);
  ValueId is_near = builder_.compare(ir::CompareFn::Le, distance, builder_.index(most));
  return builder_.select(is_near, distance, builder_.index(0));
}

void Lowering::prefetch(ValueId buffer, std::vector<Coordinate> coordinates, ValueId distance) {
  if (lane_stride(address(buffer, coordinates)) != 1) return;
  for (Coordinate& c : coordinates) c.lane = {};
  builder_.add(ir::op::Prefetch{scalar_buffer(buffer), builder_.add(address(buffer, coordinates), distance)});
}

}  // namespace tilec::lower
