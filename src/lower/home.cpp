// Homes of tiles: registers while they fit, private arrays otherwise. Arrays are reused once the tile in them is dead.
#include "lower/lowering.h"

namespace tilec::lower {

namespace {

// More registers than this are not unrolled, even where the machine has them.
constexpr int64_t kMostUnrolled = 128;
constexpr int64_t kMostUniform = 2;
// Elements a loop over a private array handles at once.
constexpr int64_t kUnroll = 4;

// Do any of these operations stand in the regions of `op`, as in the turns of a loop?
bool holds_any(const ir::Kernel& kernel, const ir::Op& op, std::span<const OpId> ops) {
  bool holds = false;
  ir::each_region(op.data, [&](RegionId region) {
    each_op(kernel, region, [&](OpId id) { holds |= std::ranges::find(ops, id) != ops.end(); });
  });
  return holds;
}

}  // namespace

bool Lowering::is_uniform(const layout::RegLayout& layout) const {
  return machine_.simd_bytes > 0 && std::all_of(layout.lane.begin(), layout.lane.end(), [](layout::Vec v) { return v == 0; });
}

bool Lowering::fits_registers(const Type& tile) const {
  const layout::RegLayout& layout = reg_layout(tile.layout);
  int64_t bytes = layout.registers() * byte_width(tile.element);
  if (machine_.simd_bytes == 0) return bytes <= int64_t(machine_.registers_per_lane) * 4 * 3 / 4;
  // On a CPU a register holds one number of every lane; half of the file is left to the code around. One number for all
  // lanes is as well read from memory, and code that loops over them is shorter.
  if (is_uniform(layout)) return layout.registers() <= kMostUniform && digits_of(layout).has_value();
  // Floats of 8 bits come and go as f32, in many operations: they are unrolled no further than those of 16.
  if (is_float(tile.element) && byte_width(tile.element) == 1) bytes *= 2;
  int64_t registers = (bytes * machine_.lanes + machine_.simd_bytes - 1) / machine_.simd_bytes;
  return registers <= machine_.registers_per_lane / 2 && layout.registers() <= kMostUnrolled && digits_of(layout).has_value();
}

int64_t Lowering::unroll_limit(const Home& home) const { return home.in_memory() ? kUnroll : INT64_MAX; }

std::vector<Digit> Lowering::digits(const layout::RegLayout& layout) const {
  auto found = digits_of(layout);
  INVARIANT(found.has_value(), "the registers of a lowered tile step evenly along its axes");
  return *found;
}

ValueId Lowering::private_array(Scalar element, int64_t count, bool varying) {
  auto free = free_arrays_.find({element, count, varying});
  if (free != free_arrays_.end()) {
    ValueId array = free->second;
    free_arrays_.erase(free);
    return array;
  }
  Type type = ir::buffer_type(Space::Private, element, {count});
  type.varying = varying;
  RegionId here = builder_.region();
  builder_.set_region(prelude_);
  ValueId array = builder_.value(ir::op::Alloc{}, type, "home");
  builder_.set_region(here);
  return array;
}

Home Lowering::new_home(const Type& tile) {
  const layout::RegLayout& layout = reg_layout(tile.layout);
  if (fits_registers(tile)) return {tile.layout, std::vector<ValueId>(layout.registers()), {}};
  return {tile.layout, {}, private_array(tile.element, layout.registers(), !is_uniform(layout))};
}

const Home& Lowering::home(ValueId tile) const {
  auto found = homes_.find(tile.index);
  INVARIANT(found != homes_.end(), "a tile is lowered before its use");
  return found->second;
}

void Lowering::bind_home(ValueId tile, Home home) { homes_[tile.index] = std::move(home); }

ValueId Lowering::read(const Home& home, const Point& point) {
  return home.deferred ? home.deferred->element(point) : register_at(home, register_index(builder_, point));
}

void Lowering::write(Home& home, const Point& point, ValueId value) { set_register(home, register_index(builder_, point), value); }

ValueId Lowering::register_at(const Home& home, ValueId index) {
  if (!home.in_memory()) {
    auto constant = target_.constant(index);
    INVARIANT(constant.has_value(), "a register is named by a constant");
    return home.registers[constant->i];
  }
  const Type& array = target_.type(home.memory);
  return builder_.value(ir::op::MemLoad{home.memory, index, {}, 0}, ir::scalar_type(array.element, array.varying));
}

void Lowering::set_register(Home& home, ValueId index, ValueId value) {
  if (home.in_memory()) {
    if (target_.type(home.memory).varying) value = broadcast(value);
    builder_.add(ir::op::MemStore{home.memory, index, value, {}, 0});
    return;
  }
  auto constant = target_.constant(index);
  INVARIANT(constant.has_value(), "a register is named by a constant");
  home.registers[constant->i] = is_uniform(reg_layout(home.layout)) ? value : broadcast(value);
}

void Lowering::copy_home(const Home& from, Home& to) {
  nest(builder_, digits(reg_layout(to.layout)), to.in_memory() && from.in_memory() ? kUnroll : INT64_MAX, {},
       [&](const Point& point, const Carried&) -> Carried {
         write(to, point, read(from, point));
         return {};
       });
}

bool Lowering::dies_at(ValueId value, const ir::Op& op) const {
  RegionId region = home_region_[value.index];
  const std::vector<OpId>& ops = source_.region(region).ops;
  // Walk up from each use to the operation of `region` that holds it; `op` must be the last of these.
  auto holds = [&](OpId outer, OpId inner) {
    if (outer == inner) return true;
    bool found = false;
    ir::each_region(source_.op(outer).data, [&](RegionId r) {
      if (!found) each_op(source_, r, [&](OpId id) { found |= id == inner; });
    });
    return found;
  };
  size_t here = 0;
  while (here < ops.size() && &source_.op(ops[here]) != &op) ++here;
  if (here == ops.size()) return false;
  for (OpId use : uses_[value.index]) {
    bool is_covered = false;
    for (size_t i = 0; i <= here && !is_covered; ++i) is_covered = holds(ops[i], use);
    if (!is_covered) return false;
  }
  // Used twice by `op` itself (as input and as init, say): not free to be overwritten.
  int here_count = 0;
  for (OpId use : uses_[value.index]) here_count += use == ops[here];
  return here_count == 1;
}

Home Lowering::result_home(const ir::Op& op, ValueId result, std::span<const ValueId> reusable) {
  const Type& type = source_.type(result);
  Home fresh{type.layout, {}, {}};
  if (fits_registers(type)) {
    fresh.registers.resize(reg_layout(type.layout).registers());
    return fresh;
  }
  for (ValueId v : reusable) {
    const Type& t = source_.type(v);
    if (!t.is_tile() || t.layout != type.layout || t.element != type.element || !home(v).in_memory() || !dies_at(v, op)) continue;
    // The turns of a loop that begins with it may read it again.
    if (holds_any(source_, op, uses_[v.index])) continue;
    // Taken only once: a second result of the same operation needs another home.
    bool is_taken = false;
    for (ValueId other : op.results)
      if (other != result && homes_.contains(other.index)) is_taken |= home(other).memory == home(v).memory;
    if (!is_taken) return home(v);
  }
  return new_home(type);
}

void Lowering::release_dead(const ir::Op& op) {
  std::vector<ValueId> operands;
  ir::each_operand(op.data, [&](ValueId v) {
    if (source_.type(v).is_tile() && homes_.contains(v.index)) operands.push_back(v);
  });
  for (ValueId v : operands) {
    const Home& dead = home(v);
    if (!dead.in_memory() || source_.value(v).region.valid() || !dies_at(v, op)) continue;
    bool is_passed_on = false;
    for (ValueId result : op.results)
      if (homes_.contains(result.index)) is_passed_on |= home(result).memory == dead.memory;
    if (is_passed_on || std::ranges::find(carried_arrays_, dead.memory) != carried_arrays_.end()) continue;
    const Type& array = target_.type(dead.memory);
    bool is_free = false;
    for (const auto& [key, memory] : free_arrays_) is_free |= memory == dead.memory;
    if (!is_free) free_arrays_.insert({{array.element, array.shape[0], array.varying}, dead.memory});
  }
}

}  // namespace tilec::lower
