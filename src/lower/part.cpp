// Parts of register tiles. Placing has seen to it that each lane holds of a part what it holds of the tile, so a part is a
// choice of registers: by constants, or, where an offset is only known at run time, by comparing it with each that it may be. Where
// these are too many, or a lane's own memory is as near as its registers, by an index into a private array.
#include "layout/transform.h"
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;

namespace {

// Selections for one part, at most; a private array takes as many accesses as the part and the tile have registers.
constexpr int64_t kMostSelections = 1024;

// The digits that name an element; replicas are left at their first.
std::vector<Digit> without_replicas(std::vector<Digit> digits) {
  std::erase_if(digits, [](const Digit& d) { return d.axis == layout::kReplica; });
  return digits;
}

// The registers that hold an element: one, and its replicas.
std::vector<ValueId> registers_of(Builder& b, std::span<const Digit> digits, std::span<const ValueId> values) {
  std::vector<ValueId> registers{b.index(0)};
  for (size_t i = 0; i < digits.size(); ++i) {
    std::vector<ValueId> once = std::exchange(registers, {});
    int64_t copies = digits[i].axis == layout::kReplica ? digits[i].count : 1;
    for (int64_t copy = 0; copy < copies; ++copy)
      for (ValueId r : once)
        registers.push_back(b.add(r, copies > 1 ? b.index(copy * digits[i].place) : b.mul(values[i], b.index(digits[i].place))));
  }
  return registers;
}

// Calls `f` with each choice of the digits that is possible, and with the condition under which it is the one; none: always.
void each_choice(Builder& b, std::span<const Digit> digits, std::span<const ValueId> values, const std::function<void(std::span<const ValueId>, ValueId)>& f) {
  std::vector<ValueId> chosen(values.begin(), values.end());
  std::function<void(size_t, ValueId)> from = [&](size_t i, ValueId condition) {
    while (i < digits.size() && b.kernel().constant(values[i])) ++i;
    if (i == digits.size()) return f(chosen, condition);
    for (int64_t n = 0; n < digits[i].count; ++n) {
      chosen[i] = b.index(n);
      ValueId is_it = b.compare(ir::CompareFn::Eq, values[i], chosen[i]);
      from(i + 1, condition.valid() ? b.logical_and(condition, is_it) : is_it);
    }
  };
  from(0, {});
}

}  // namespace

// The digits of the tile's register that holds the element which `point` of the part holds; replicas at their first.
std::vector<ValueId> Lowering::part_digits(std::span<const ValueId> offsets, const ir::Axes& axes, const layout::RegLayout& tile,
                                           const layout::RegLayout& part, const Point& point) {
  std::vector<ValueId> at(offsets.begin(), offsets.end()), values;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    size_t of_tile = size_t(axes[axis]);
    bool is_whole = tile.shape[int(of_tile)] == part.shape[int(axis)];
    ValueId own = coordinate(builder_, point, int(axis));
    at[of_tile] = is_whole ? own : builder_.add(at[of_tile], own);
  }
  for (const Digit& d : digits(tile)) {
    bool is_replica = d.axis == layout::kReplica;
    ValueId digit = is_replica ? builder_.index(0) : builder_.binary(BinaryFn::Div, at[size_t(d.axis)], builder_.index(d.weight));
    values.push_back(is_replica ? digit : builder_.binary(BinaryFn::Rem, digit, builder_.index(d.count)));
  }
  return values;
}

// Are the registers of a part at these offsets named by constants, once each that it may be has been compared with?
bool Lowering::selects_part(std::span<const ValueId> offsets, const layout::RegLayout& tile, const layout::RegLayout& part) {
  int64_t selections = part.registers();
  for (const Digit& d : digits(tile))
    if (d.axis != layout::kReplica && !target_.constant(offsets[size_t(d.axis)])) selections *= d.count;
  return selections == part.registers() || (machine_.simd_bytes == 0 && selections <= kMostSelections);
}

void Lowering::lower_extract(const ir::Op& op, const ir::op::Extract& extract) {
  const Type& type = source_.type(extract.tile);
  const layout::RegLayout &tile = reg_layout(type.layout), &part = reg_layout(source_.type(op.result()).layout);
  std::vector<ValueId> offsets = scalars(extract.offsets);
  Home from = home(extract.tile);
  if (from.in_registers() && !selects_part(offsets, tile, part)) {
    Home array{from.layout, {}, private_array(type.element, tile.registers(), !is_uniform(tile))};
    copy_home(from, array);
    from = array;
  }
  Home to = result_home(op, op.result(), {});
  bool unrolls = from.in_registers() || to.in_registers();
  const std::vector<Digit> all = digits(tile);
  nest(builder_, digits(part), unrolls ? INT64_MAX : 1, {}, [&](const Point& point, const Carried&) -> Carried {
    std::vector<ValueId> at = part_digits(offsets, extract.axes, tile, part, point);
    if (from.in_memory()) return write(to, point, register_at(from, registers_of(builder_, all, at)[0])), Carried{};
    ValueId value;
    each_choice(builder_, all, at, [&](std::span<const ValueId> choice, ValueId condition) {
      ValueId here = register_at(from, registers_of(builder_, all, choice)[0]);
      value = value.valid() ? builder_.select(condition, here, value) : here;
    });
    write(to, point, value);
    return {};
  });
  bind_home(op.result(), std::move(to));
}

void Lowering::lower_insert(const ir::Op& op, const ir::op::Insert& insert) {
  const Type& type = source_.type(insert.tile);
  const layout::RegLayout &tile = reg_layout(type.layout), &part = reg_layout(source_.type(insert.part).layout);
  std::vector<ValueId> offsets = scalars(insert.offsets);
  const Home old = home(insert.tile), from = home(insert.part);
  Home to = result_home(op, op.result(), std::span(&insert.tile, 1)), written = to;
  if (to.in_registers() && !selects_part(offsets, tile, part)) written = {to.layout, {}, private_array(type.element, tile.registers(), !is_uniform(tile))};
  if (!written.in_memory() || written.memory != old.memory) copy_home(old, written);
  bool unrolls = from.in_registers() || written.in_registers();
  const std::vector<Digit> all = digits(tile);
  nest(builder_, without_replicas(digits(part)), unrolls ? INT64_MAX : 1, {}, [&](const Point& point, const Carried&) -> Carried {
    ValueId value = read(from, point);
    auto set = [&](std::span<const ValueId> at, ValueId condition) {
      for (ValueId index : registers_of(builder_, all, at))
        set_register(written, index, condition.valid() ? builder_.select(condition, value, register_at(written, index)) : value);
    };
    std::vector<ValueId> at = part_digits(offsets, insert.axes, tile, part, point);
    if (written.in_memory()) set(at, {});
    else each_choice(builder_, all, at, set);
    return {};
  });
  if (to.in_registers() && written.in_memory()) copy_home(written, to);
  else to = written;
  bind_home(op.result(), std::move(to));
}

}  // namespace tilec::lower
