// Tiles that loops carry and branches give.
#include "lower/lowering.h"

namespace tilec::lower {

namespace {

// Elements of two bytes that a loop carries travel in pairs: alone each of them would take a register.
int64_t together(const Type& type, size_t registers, const Machine& machine) {
  bool is_narrow = type.is_tile() && bit_width(type.element) == 16 && machine.simd_bytes == 0;
  return is_narrow && registers % 2 == 0 ? 2 : 1;
}

}  // namespace

std::vector<ValueId> Lowering::carried(const Type& type, const Home& home) {
  int64_t count = together(type, home.registers.size(), machine_);
  if (count == 1) return home.registers;
  std::vector<ValueId> words;
  for (size_t r = 0; r < home.registers.size(); r += size_t(count)) {
    std::vector<ValueId> elements;
    for (int64_t i = 0; i < count; ++i) elements.push_back(broadcast(home.registers[r + size_t(i)]));
    words.push_back(packed_word(elements));
  }
  return words;
}

// The registers of a tile of which `values` are what was carried.
std::vector<ValueId> Lowering::arrived(const Type& type, std::span<const ValueId> values) {
  std::vector<ValueId> registers;
  int64_t all = type.is_tile() ? reg_layout(type.layout).registers() : int64_t(values.size());
  for (ValueId v : values) {
    std::vector<ValueId> elements = unpacked_word(v, all / std::max<int64_t>(1, std::ssize(values)), type.element);
    registers.insert(registers.end(), elements.begin(), elements.end());
  }
  return registers;
}

void Lowering::lower_if(const ir::Op& op, const ir::op::If& branch) {
  if (auto known = target_.constant(scalar(branch.condition)); known && op.results.empty()) {
    if (RegionId taken = known->i ? branch.then_body : branch.else_body; taken.valid()) lower_region(taken);
    return;
  }
  if (op.results.empty() && lower_releases(branch)) return;
  ValueId condition = scalar(branch.condition);
  if (is_varying(condition) && !machine_.has(Cap::DivergentBranches)) return lower_varying_if(op, branch);
  std::vector<Home> homes;
  for (ValueId result : op.results) {
    const Type& type = source_.type(result);
    if (has_home(type)) homes.push_back(type.is_tile() ? new_home(type) : Home{type.layout, {}, {}});
  }
  struct Side {
    RegionId region;
    std::vector<ValueId> values;
  };
  auto lower_side = [&](RegionId source) {
    Side side{target_.new_region(), {}};
    builder_.set_region(side.region);
    lower_region(source);
    size_t t = 0;
    for (ValueId v : source_.terminator(source).as<ir::op::Yield>().values) {
      Home* to = has_home(source_.type(v)) ? &homes[t++] : nullptr;
      if (!to) side.values.push_back(scalar(v));
      else if (to->in_memory()) copy_home(home(v), *to);
      if (!to || to->in_memory()) continue;
      to->registers.resize(home(v).registers.size());
      side.values.insert(side.values.end(), home(v).registers.begin(), home(v).registers.end());
    }
    return side;
  };
  RegionId outer = builder_.region();
  Side taken = lower_side(branch.then_body), other = lower_side(branch.else_body);
  std::vector<Type> types;
  for (size_t i = 0; i < taken.values.size(); ++i) {
    types.push_back(target_.type(taken.values[i]));
    types.back().varying |= is_varying(other.values[i]) || is_varying(condition);
  }
  for (Side* side : {&taken, &other}) {
    builder_.set_region(side->region);
    for (size_t i = 0; i < types.size(); ++i)
      if (types[i].varying) side->values[i] = broadcast(side->values[i]);
    builder_.yield(side->values);
  }
  builder_.set_region(outer);
  std::vector<ValueId> results = target_.op(builder_.add(ir::op::If{condition, taken.region, other.region}, types)).results;
  bind_carried(op.results, homes, results);
}

// Both sides run, under masks; results are selected.
void Lowering::lower_varying_if(const ir::Op& op, const ir::op::If& branch) {
  ValueId condition = scalar(branch.condition), outer = mask_;
  auto side = [&](RegionId source, ValueId active) {
    mask_ = all(outer, active);
    lower_region(source);
    return scalars(source_.terminator(source).as<ir::op::Yield>().values);
  };
  std::vector<ValueId> taken = side(branch.then_body, condition);
  std::vector<ValueId> other = side(branch.else_body, builder_.logical_not(condition));
  mask_ = outer;
  for (size_t i = 0; i < op.results.size(); ++i) bind(op.results[i], builder_.select(condition, taken[i], other[i]));
}

}  // namespace tilec::lower
