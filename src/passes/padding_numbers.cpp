// Numbers of a block, outside of maps. One that is made of an element of a shared tile is padding where that lies beyond an edge: it has no axes, and
// is padding as a whole. What variables hold is kept (padding_kept.cpp says so of elements), and memory is left as it is.
#include <ranges>

#include "passes/padding_flow.h"

namespace tilec::passes {

using namespace ir;
using prove::Linear;

TileState PaddingFlow::number(ValueId v) const {
  auto found = tiles_.find(v);
  return found != tiles_.end() ? found->second : plain_state(scalar(v), 0);
}

const AxisPadding* PaddingFlow::padded_number(ValueId v) const {
  auto found = kernel_.type(v).is_scalar() ? tiles_.find(v) : tiles_.end();
  return found != tiles_.end() && found->second.whole().is_padded ? &found->second.whole() : nullptr;
}

void PaddingFlow::hold_number(ValueId v, TileState state) {
  scalars_[v] = state.inside;
  if (state.is_padded()) tiles_[v] = std::move(state);
  else tiles_.erase(v);
}

// An element at one place, with what is told of that in the region. One at a place that data tell is a number like others.
TileState PaddingFlow::whole_at(const op::ElementLoad& load, RegionId region) {
  const TileState held = state(load.buffer);
  TileState read = plain_state(held.inside, 0);
  if (held.whole().is_padded) read.whole() = held.whole();
  for (size_t d = 0; d < held.rank(); ++d) {
    AxisPadding axis = held.axes[d];
    if (!axis.is_padded) continue;
    const Linear index = prover_.value(load.indices[d]);
    if (axis.is_scanned || index.is_lost || is_of_elements(kernel_, load.indices[d])) {
      read.inside = joined(read.inside, axis.numbers);
      continue;
    }
    axis = moved(std::move(axis), -index);
    drop_inside(axis, region);
    is_no_element(axis);
    if (axis.is_padded) meet(read.whole(), axis);
  }
  return read;
}

// Padding where an operand is.
void PaddingFlow::combine_numbers(const Op& at) {
  AxisPadding whole;
  NumbersOf known = scalars_;
  each_operand(at.data, [&](ValueId v) {
    const AxisPadding* padding = padded_number(v);
    if (!padding) return;
    meet(whole, *padding);
    known[v] = joined(scalar(v), padding->numbers);
  });
  if (!whole.is_padded) return void(tiles_.erase(at.result()));
  if (is_guarded(at) && has_place(whole)) masks_.add(GuardMask{region_, op_, op_, 0, whole.edges});
  known.erase(at.result());
  whole.numbers = scalar_numbers(kernel_, at.result(), known), whole.is_as_read = false;
  if (whole.told.is_some()) whole.told = whole.numbers;
  TileState state = plain_state(scalar(at.result()), 0);
  state.whole() = std::move(whole);
  tiles_[at.result()] = std::move(state);
}

// Does what is assigned leave the number as it is, where padding holds the numbers that are known of it?
bool PaddingFlow::leaves_number(ValueId next, ValueId old, Belief belief) const {
  if (next == old) return true;
  const Op* made = kernel_.definition(next);
  if (!made) return false;
  auto of = [&](ValueId v) {
    const AxisPadding* padding = padded_number(v);
    return (padding ? padding->numbers : scalar(v)).under(belief);
  };
  if (auto* o = made->get<op::Binary>()) {
    const ValueId left = unchanged(o->fn, o->a, o->b, of(o->a), of(o->b));
    return left.valid() && leaves_number(left, old, belief);
  }
  if (auto* o = made->get<op::Fma>()) {
    const Numbers product = apply(BinaryFn::Mul, element(o->a), of(o->a), of(o->b), belief);
    return product.is_within(kZero) && leaves_number(o->c, old, belief);
  }
  if (auto* o = made->get<op::Select>()) return leaves_number(o->a, old, belief) && leaves_number(o->b, old, belief);
  return false;
}

// Padding that was written, as it was read, combined with what is held?
bool PaddingFlow::asks_for_number(const op::Inside& inside, ValueId old) const {
  const Op* by = kernel_.definition(inside.x);
  if (!by || !(by->is<op::Binary>() || by->is<op::Fma>())) return false;
  bool is_read = false, is_held = false;
  each_operand(by->data, [&](ValueId v) {
    const AxisPadding* padding = padded_number(v);
    is_read |= padding && padding->is_as_read && padding->origin.pad.valid();
    is_held |= !padding && in_turn(v).contains(old);
  });
  return is_read && is_held;
}

void PaddingFlow::keep_number(const op::Select& choice, OpId asked, ValueId result) {
  const auto& inside = kernel_.op(asked).as<op::Inside>();
  masks_.forget(op_);
  const AxisPadding* by = padded_number(inside.x);
  const AxisPadding* old = padded_number(choice.b);
  if (!by) return hold_number(result, number(choice.a));
  TileState kept = number(choice.b);
  auto hangs = [&](RegionId loop) { return hangs_on(by->edges, Turns{prover_, loop, {}}); };
  if (!old && std::ranges::any_of(around_, hangs) && is_fresh(choice.b, by->edges, [&](ValueId v) { return padded_number(v) != nullptr; }))
    return refuse_fresh(*by, inside.x, asked), hold_number(result, std::move(kept));
  if (leaves_number(choice.a, choice.b, Belief::None)) return hold_number(result, std::move(kept));
  const bool may_be_same = leaves_number(choice.a, choice.b, Belief::Finite);
  kept.inside = joined(kept.inside, number(choice.a).inside);
  if (old) kept.whole().numbers = joined(old->numbers, by->numbers), kept.whole().is_as_read = false;
  const bool is_asked = asks_for_number(inside, choice.b);
  if (!is_asked && by->kind == PaddingKind::Read && has_place(*by)) {
    const bool is_known = old && has_place(*old);
    masks_.add(InsideMask{region_, op_, asked, 0, {{by->edges, is_known ? old->edges : Edges(), true}}});
    if (old && !is_known) kept.whole().lose_edges();
  } else if (!may_be_same) {
    const bool is_number = table(kernel_.definition(inside.x)->kind()) == OpTable::Scalar;
    ValueId read = inside.x;
    each_operand(kernel_.definition(read)->data, [&](ValueId v) {
      if (is_number && is_asked && padded_number(v)) read = v;
    });
    refuse(*padded_number(read), read, choice.a, choice.b, is_asked);
  }
  hold_number(result, std::move(kept));
}

// Stores, atomics and reads that report: where padding tells whether or where, or what an atomic is given, they are not made.
void PaddingFlow::leave_alone(const Op& at) {
  auto* store = at.get<op::ElementStore>();
  auto* atomic = at.get<op::Atomic>();
  auto* load = at.get<op::ElementLoad>();
  masks_.forget(op_);
  if (load && load->bounds == Bounds::Inside) return;
  AxisPadding told;
  ValueId teller;
  bool is_tested = false;
  auto add = [&](ValueId v) {
    const AxisPadding* padding = padded_number(v);
    if (padding && padding->kind != PaddingKind::Set) meet(told, *padding), teller = v;
    else is_tested |= !load && !kernel_.constant(v) && kernel_.type(v).element == Scalar::Bool;
  };
  if (!load) std::ranges::for_each(conditions_, add);
  std::ranges::for_each(store ? store->indices : atomic ? atomic->indices : load->indices, add);
  if (atomic) std::ranges::for_each(atomic->operands, add);
  if (!told.is_padded) return;
  if (has_place(told)) masks_.add(EffectMask{region_, op_, op_, 0, told.edges});
  else if (!load && !is_tested) report(told, teller, kEffect, "", at);
}

// Of numbers, and what they do to memory.
void PaddingFlow::run_number(const Op& at) {
  auto* load = at.get<op::ElementLoad>();
  if (load || at.is<op::ElementStore>() || at.is<op::Atomic>()) leave_alone(at);
  if (load && kernel_.type(load->buffer).space == Space::Shared) return hold_number(at.result(), whole_at(*load, region_));
  if (table(at.kind()) != OpTable::Scalar || at.results.size() != 1 || load || at.is<op::Atomic>() || at.is<op::Inside>()) return;
  auto* choice = at.get<op::Select>();
  if (choice && kernel_.defined_by<op::Inside>(choice->condition)) return keep_number(*choice, kernel_.value(choice->condition).op, at.result());
  combine_numbers(at);
}

}  // namespace tilec::passes
