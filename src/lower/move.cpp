// Loads, stores, copies, fills: elements between buffers and registers.
#include <algorithm>

#include "ir/overlap.h"
#include "lower/lowering.h"

namespace tilec::lower {

namespace {

constexpr int64_t kCopyUnroll = 4;
// A deferred load is repeated for every reader; beyond these it is cheaper to keep what it read.
constexpr int kMostReads = 3;

}  // namespace

void Lowering::lower_load(const ir::Op& op, const ir::op::Load& load) {
  const Type& type = source_.type(op.result());
  const layout::RegLayout& layout = reg_layout(type.layout);
  Region region{load.buffer, scalars(load.offsets), load.axes, load.bounds};
  const Guard guard{region, type.shape};
  report_indices(region, op.span);
  auto element = [this, guard, &layout, &load, &type, next = next_block_distance(op.result())](const Point& point) {
    std::vector<Coordinate> coordinates = region_coordinates(guard.region, layout, point);
    if (next.valid() && !guarded_) prefetch(load.buffer, coordinates, next);
    ValueId mask = region_mask(guard.region, layout, coordinates, point, guarded_);
    ValueId value = load_element(load.buffer, address(load.buffer, coordinates), mask, load.pad);
    return builder_.convert(value, type.element);
  };
  if (is_never_written(source_, load.buffer) && may_defer(op, kMostReads))
    return bind_home(op.result(), {type.layout, {}, {}, std::make_shared<Deferred>(Deferred{element, {guard}, 0, {}})});
  Home home = result_home(op, op.result(), {});
  if (load_registers(region, layout, home, type.element, load.pad)) return bind_home(op.result(), std::move(home));
  Wide at_once = home.in_registers() ? wide(region, layout, machine_.vector_bytes) : Wide{};
  auto many = [&] {
    load_wide(region, layout, at_once.count, type.element, load.pad, home, is_read_once(op, load.buffer, load.offsets));
    return home.registers;
  };
  auto one = [&] {
    nest(builder_, digits(layout), home.in_memory() ? kCopyUnroll : INT64_MAX, {}, [&](const Point& point, const Carried&) -> Carried {
      write(home, point, element(point));
      return {};
    });
    return home.registers;
  };
  home.registers = inside_or_guarded(std::span(&guard, 1), [&] {
    if (at_once.count > 1 && !guarded_) return many();
    if (at_once.count > 1) return either(all(at_once.condition, ends_on_multiples(region, at_once.count)), many, one);
    return one();
  }, at_once.condition);
  bind_home(op.result(), std::move(home));
}

// Element by element; `guarded_` says whether edges are looked at.
void Lowering::copy_elements(const Region& from, const Region& to, const layout::Shape& shape, ir::Number pad, bool adds) {
  layout::RegLayout layout = layout::blocked(shape, machine_.lanes, int(warps_), 1);
  nest(builder_, digits(layout), kCopyUnroll, {}, [&](const Point& point, const Carried&) -> Carried {
    std::vector<Coordinate> source = region_coordinates(from, layout, point), target = region_coordinates(to, layout, point);
    ValueId mask = region_mask(from, layout, source, point, guarded_);
    ValueId value = load_element(from.buffer, address(from.buffer, source), mask, pad);
    ValueId target_mask = all(region_mask(to, layout, target, point, guarded_), owner_mask(layout, adds ? Touch::Atomic : Touch::Store));
    ValueId index = address(to.buffer, target);
    if (adds) add_element(to.buffer, index, builder_.convert(value, source_.type(to.buffer).element), target_mask);
    else store_element(to.buffer, index, value, target_mask);
    return {};
  });
}

void Lowering::lower_copy(const ir::Op& op, const ir::op::Copy& copy) {
  if (copy.copy_class == ir::CopyClass::Bulk) return store_by_engine(op, copy);
  copy_by_threads(op, copy);
}

void Lowering::copy_by_threads(const ir::Op& op, const ir::op::Copy& copy) {
  layout::Shape shape(std::vector<int>(copy.shape.begin(), copy.shape.end()));
  Region from{copy.src, scalars(copy.src_offsets), copy.src_axes, copy.src_bounds};
  Region to{copy.dst, scalars(copy.dst_offsets), copy.dst_axes, copy.dst_bounds};
  const std::array guards{Guard{from, copy.shape}, Guard{to, copy.shape}};
  report_indices(from, source_.read_note(op.span).read);
  report_indices(to, op.span);
  WideCopy at_once = wide_copy(from, to, shape, copy.adds);
  inside_or_guarded(guards, [&]() -> Carried {
    if (at_once.count > 1 && !guarded_) copy_wide(from, to, at_once, copy.adds, is_read_once(op, copy.src, copy.src_offsets));
    else copy_elements(from, to, shape, copy.pad, copy.adds);
    return {};
  }, at_once.condition);
}

void Lowering::lower_splat(const ir::Op& op, const ir::op::Splat& splat) {
  const Type& type = source_.type(op.result());
  Home home = result_home(op, op.result(), {});
  ValueId value = builder_.convert(scalar(splat.x), type.element);
  nest(builder_, digits(reg_layout(type.layout)), unroll_limit(home), {}, [&](const Point& point, const Carried&) -> Carried {
    write(home, point, value);
    return {};
  });
  bind_home(op.result(), std::move(home));
}

}  // namespace tilec::lower
