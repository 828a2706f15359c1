// Parts of register tiles. Placing has seen to it that each lane holds of a part what it holds of the tile, so a part is a
// choice of registers: by constants, or, where an offset is only known at run time, by an index into a private array.
#include "layout/transform.h"
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;

namespace {

// The digits that name an element; replicas are left at their first.
std::vector<Digit> without_replicas(std::vector<Digit> digits) {
  std::erase_if(digits, [](const Digit& d) { return d.axis == layout::kReplica; });
  return digits;
}

}  // namespace

// The registers of the tile that hold the element which `point` of the part holds: one, and its replicas.
std::vector<ValueId> Lowering::part_registers(std::span<const ValueId> offsets, const ir::Axes& axes, const layout::RegLayout& tile,
                                              const layout::RegLayout& part, const Point& point) {
  std::vector<ValueId> at(offsets.begin(), offsets.end());
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    size_t of_tile = size_t(axes[axis]);
    bool is_whole = tile.shape[int(of_tile)] == part.shape[int(axis)];
    ValueId own = coordinate(builder_, point, int(axis));
    at[of_tile] = is_whole ? own : builder_.add(at[of_tile], own);
  }
  std::vector<ValueId> registers{builder_.index(0)};
  for (const Digit& d : digits(tile)) {
    if (d.axis == layout::kReplica) {
      std::vector<ValueId> once = registers;
      for (int64_t copy = 1; copy < d.count; ++copy)
        for (ValueId r : once) registers.push_back(builder_.add(r, builder_.index(copy * d.place)));
      continue;
    }
    ValueId digit = builder_.binary(BinaryFn::Div, at[size_t(d.axis)], builder_.index(d.weight));
    digit = builder_.binary(BinaryFn::Rem, digit, builder_.index(d.count));
    for (ValueId& r : registers) r = builder_.add(r, builder_.mul(digit, builder_.index(d.place)));
  }
  return registers;
}

void Lowering::lower_extract(const ir::Op& op, const ir::op::Extract& extract) {
  const Type& type = source_.type(extract.tile);
  const layout::RegLayout &tile = reg_layout(type.layout), &part = reg_layout(source_.type(op.result()).layout);
  std::vector<ValueId> offsets = scalars(extract.offsets);
  Home from = home(extract.tile);
  if (from.in_registers() && !std::all_of(offsets.begin(), offsets.end(), [&](ValueId v) { return target_.constant(v).has_value(); })) {
    Home array{from.layout, {}, private_array(type.element, tile.registers(), !is_uniform(tile))};
    copy_home(from, array);
    from = array;
  }
  Home to = result_home(op, op.result(), {});
  bool unrolls = from.in_registers() || to.in_registers();
  nest(builder_, digits(part), unrolls ? INT64_MAX : 1, {}, [&](const Point& point, const Carried&) -> Carried {
    ValueId index = part_registers(offsets, extract.axes, tile, part, point)[0];
    write(to, point, register_at(from, index));
    return {};
  });
  bind_home(op.result(), std::move(to));
}

void Lowering::lower_insert(const ir::Op& op, const ir::op::Insert& insert) {
  const Type& type = source_.type(insert.tile);
  const layout::RegLayout &tile = reg_layout(type.layout), &part = reg_layout(source_.type(insert.part).layout);
  std::vector<ValueId> offsets = scalars(insert.offsets);
  bool is_constant = std::all_of(offsets.begin(), offsets.end(), [&](ValueId v) { return target_.constant(v).has_value(); });
  const Home old = home(insert.tile), from = home(insert.part);
  Home to = result_home(op, op.result(), std::span(&insert.tile, 1)), written = to;
  if (to.in_registers() && !is_constant) written = {to.layout, {}, private_array(type.element, tile.registers(), !is_uniform(tile))};
  if (!written.in_memory() || written.memory != old.memory) copy_home(old, written);
  bool unrolls = from.in_registers() || written.in_registers();
  nest(builder_, without_replicas(digits(part)), unrolls ? INT64_MAX : 1, {}, [&](const Point& point, const Carried&) -> Carried {
    ValueId value = read(from, point);
    for (ValueId index : part_registers(offsets, insert.axes, tile, part, point)) set_register(written, index, value);
    return {};
  });
  if (to.in_registers() && written.in_memory()) copy_home(written, to);
  else to = written;
  bind_home(op.result(), std::move(to));
}

}  // namespace tilec::lower
