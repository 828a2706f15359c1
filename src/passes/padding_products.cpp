// How matrix products carry padding: what enters them is 0, and what they are added to stays as it is where an operand is padding.
#include "ir/sources.h"
#include "passes/padding_flow.h"

namespace tilec::passes {

using namespace ir;

namespace {

// A number that is 0 may as well end at the edge.
void end_where_zero(AxisPadding& axis) { axis.end_if(axis.uniform.number.sure.is_within(kZero)); }

}  // namespace

// Is what padding adds along an axis something else than 0, as far as one may hope?
bool PaddingFlow::adds_something(const op::Gemm& gemm, int axis, const AxisPadding& from) const {
  const ValueId other = axis == 0 ? gemm.b : gemm.a;
  return !product(element(gemm.acc), from.numbers, ordinary(inside(other))).hoped.is_within(kZero);
}

void PaddingFlow::keep_product(const op::Gemm& gemm, int axis, const AxisPadding& from, const Op& at) {
  const ValueId operand = axis == 0 ? gemm.a : gemm.b;
  const int64_t line = axis == 0 ? gemm.transpose_a : !gemm.transpose_b;
  if (!adds_something(gemm, axis, from)) return;
  AxisPadding ending = from;
  end_where_zero(ending);
  keep_out({operand, size_t(axis), line, ending, identity(ReduceFn::Sum, element(operand)), "product", "0"}, at);
}

// What a product leaves in what it is added to, along an axis: what an operand has padding along stays as it is.
// In which runs what is made of both is free.
void PaddingFlow::join_free(AxisPadding& out, const AxisPadding& from, const AxisPadding& old) {
  const bool is_one_free = from.is_free || old.is_free, may_be_free = (from.is_free || from.may_be_free) && (old.is_free || old.may_be_free);
  if (!is_one_free || out.is_padded) out.is_free = out.may_be_free = false, out.free_when = {};
  if (may_be_free && !out.is_free) out.may_be_free = true, out.free_when = both(free_runs(from), free_runs(old));
}

// Beyond the edges of both, numbers alone of both.
AxisPadding PaddingFlow::both_free(const AxisPadding& old, const AxisPadding& from, const Known& anything) {
  AxisPadding out = old;
  out.edges = beyond_both(old.edges, from.edges), out.is_filled = old.is_filled && from.is_filled && !out.edges.empty();
  out.lapsed.insert(from.lapsed.begin(), from.lapsed.end());
  out.uniform = both(old.uniform, from.uniform);
  if (!out.uniform.is_never()) out.uniform.number = anything;
  return out;
}

// Places and numbers that a product leaves as they are where it is padding.
AxisPadding PaddingFlow::places_left(const AxisPadding& old, const Known& inside, const AxisPadding& from) {
  AxisPadding out = from;
  if (old.is_padded) out.edges = beyond_both(old.edges, from.edges), out.is_filled &= old.is_filled && !out.edges.empty();
  out.numbers = old.is_padded ? old.numbers : inside, out.is_as_read = false;
  // Where it was a number alone it does not count.
  const Runs none = free_runs(old);
  out.kind = PaddingKind::Free, out.uniform = {negation(none.when), old.is_padded ? !old.stands() : !none.is_exact, true, out.numbers};
  return out.can_be_masked() ? out : standing_anywhere(std::move(out));
}

AxisPadding PaddingFlow::product_axis(const op::Gemm& gemm, const TileState& acc, int axis, const AxisPadding& from, const Op& at) {
  const AxisPadding& old = acc.axes[size_t(axis)];
  const bool is_padding = from.is_padded && from.kind != PaddingKind::Free;
  const bool is_held = !old.is_padded || old.kind == PaddingKind::Free;
  AxisPadding out;
  if (is_padding && gemm.keeps && is_held && (old.is_padded ? old.uniform.has_places() : old.is_placed)) {
    keep_product(gemm, axis, from, at);
    if (old.is_padded && !is_beyond(old.edges, from.edges)) see(old);
    return places_left(old, acc.inside, from);
  }
  if (is_padding && gemm.keeps && is_held) {
    const bool is_within = old.is_padded && is_beyond(from.edges, old.edges), is_free = old.is_free || is_within;
    const bool lapses = adds_something(gemm, axis, from) && is_free && may_lapse(from.edges) && !seen_.contains(op_);
    if (!lapses) keep_product(gemm, axis, from, at);
    out = old;
    if (old.is_free) out = {.is_padded = true, .kind = PaddingKind::Free, .edges = from.edges, .is_filled = from.is_filled, .origin = from.origin};
    if (old.is_padded) out.edges = beyond_both(old.edges, from.edges), out.is_filled &= from.is_filled && !out.edges.empty();
    if (old.may_be_free && !is_within) out = {.is_padded = true, .kind = PaddingKind::Free, .numbers = any_of(old.plain), .origin = from.origin};
    out.uniform = {};
    if (lapses) out.lapsed.insert(op_);
    if (old.is_padded && !is_beyond(old.edges, from.edges)) see(old);
    if (out.is_padded) out.numbers = old.is_padded ? old.numbers : old.may_be_free ? any_of(old.plain) : acc.inside;
  } else if (is_padding && gemm.keeps && old.kind == PaddingKind::Read) {
    // Where it is padding itself it may be anything.
    const bool is_within = is_beyond(from.edges, old.edges);
    if (!is_within) keep_product(gemm, axis, from, at);
    out = old;
    out.numbers = joined(old.numbers, known_anything(element(gemm.acc)));
    // What was free is so beyond the edges of both.
    if (old.may_be_free && !is_within) out.kind = PaddingKind::Mixed, out.may_take_up = true, out.lose_edges();
  } else if (is_padding || (old.is_padded && old.kind != PaddingKind::Free)) {
    const bool is_old = old.is_padded && old.kind != PaddingKind::Free;
    out = is_padding ? from : old;
    if (is_padding && is_old && from.edges != old.edges) out.lose_edges();
    if (is_padding && is_old) out.is_filled &= old.is_filled;
    out.kind = out.kind == PaddingKind::Mixed ? PaddingKind::Mixed : PaddingKind::Read;
  } else if (from.is_free || old.is_free) {
    // Numbers alone, and what the other one is.
    out = from.is_free ? old : from;
  } else if (from.is_padded && old.is_padded) {
    out = both_free(old, from, known_anything(element(gemm.acc)));
  } else {
    see(from), see(old);
  }
  // What is made of places, where it is no padding, does not take up what comes.
  if (from.is_padded && out.uniform.has_places()) out.uniform.is_lost = true;
  join_free(out, from, old);
  out.is_as_read = false;
  return out;
}

// Both sides are 0 there, or one is and the other has a number.
void PaddingFlow::enter_product(const op::Gemm& gemm, const TileState& a, const TileState& b, const Op& at) {
  const AxisPadding &of_a = a.axes[gemm.transpose_a ? 0 : 1], &of_b = b.axes[gemm.transpose_b ? 1 : 0];
  Scalar type = element(gemm.acc);
  bool is_same = of_a.is_padded && of_b.is_padded && !of_a.edges.empty() && of_a.edges == of_b.edges;
  Known for_a = is_same && of_b.is_filled ? of_b.numbers : facing(b, of_b), for_b = is_same && of_a.is_filled ? of_a.numbers : facing(a, of_a);
  bool is_set = of_a.kind == PaddingKind::Set || of_b.kind == PaddingKind::Set;
  auto vanishes = [&](const AxisPadding& axis, const Known& other, Belief belief) {
    return !axis.is_padded || product(type, axis.numbers, other).under(belief).is_within(kZero);
  };
  auto is_nothing = [&](Belief belief) { return vanishes(of_a, for_a, belief) && vanishes(of_b, for_b, belief); };
  if (is_nothing(is_set ? Belief::Finite : Belief::None)) return;
  AxisPadding both = of_a.is_padded ? of_a : of_b;
  both.is_filled = (!of_a.is_padded || of_a.can_be_masked()) && (!of_b.is_padded || of_b.can_be_masked());
  both.edges = both.left_out(), both.uniform = {};
  if (of_a.is_padded && of_b.is_padded) unite(both.edges, of_b.left_out());
  // One is enough where the other is finite there. Of what lies in memory, a copy would have to be made.
  bool b_is_finite = for_a.sure.is_within(kFinite), a_is_finite = for_b.sure.is_within(kFinite);
  bool prefers_b = kernel_.type(gemm.a).is_buffer() && !kernel_.type(gemm.b).is_buffer();
  bool takes_b = a_is_finite && (prefers_b || !b_is_finite), takes_a = !takes_b, takes_both = takes_a && !b_is_finite;
  auto changes_it = [&](const AxisPadding& axis, const Known& other) { return axis.told.is_some() && !product(type, axis.told, other).hoped.is_within(kZero); };
  bool is_meant = is_nothing(Belief::Finite), is_told = changes_it(of_a, for_a) || changes_it(of_b, for_b);
  auto entry = [&](size_t operand, int64_t axis, const AxisPadding& padding) {
    const ValueId tile = operand == 0 ? gemm.a : gemm.b;
    return Entry{tile, operand, axis, padding, identity(ReduceFn::Sum, element(tile)), "product", "0", is_meant, is_told};
  };
  AxisPadding told = both;
  // Of zeros and what is no number, the zeros are not to blame.
  const bool is_of_b = of_b.is_padded && of_a.numbers.sure.is_within(kZero) && !of_b.numbers.sure.is_within(kZero);
  const bool is_of_a = of_a.is_padded && !is_of_b && !vanishes(of_a, for_a, is_meant ? Belief::None : Belief::Finite);
  const AxisPadding& cause = !is_of_a && of_b.is_padded ? of_b : of_a;
  told.origin = cause.origin, told.is_as_read = cause.is_as_read, told.numbers = cause.numbers, told.kind = cause.kind;
  Entry first = entry(&cause == &of_a ? 0 : 1, 0, told);
  if (is_refused(first)) return report(told, first.tile, first.where, first.wanted, at);
  if (takes_a) keep_out(entry(0, gemm.transpose_a ? 0 : 1, both), at);
  if (takes_b || takes_both) keep_out(entry(1, gemm.transpose_b ? 1 : 0, both), at);
}

// An operand that is padding as a whole adds nothing. What has kept a number as a whole takes up a product of data.
void PaddingFlow::enter_whole(const op::Gemm& gemm, const TileState& a, const TileState& b, const TileState& acc, const Op& at, TileState& result) {
  const Scalar type = element(gemm.acc);
  AxisPadding& whole = result.whole() = acc.whole();
  for (size_t operand : {0, 1}) {
    const ValueId tile = operand == 0 ? gemm.a : gemm.b, other = operand == 0 ? gemm.b : gemm.a;
    AxisPadding from = (operand == 0 ? a : b).whole();
    if (!from.is_padded) {
      if (!from.is_free) whole.is_free = false;
      continue;
    }
    end_where_zero(from);
    const bool adds = !product(type, from.numbers, ordinary(inside(other))).hoped.is_within(kZero);
    if (adds) keep_out({tile, operand, 2, from, identity(ReduceFn::Sum, element(tile)), "product", "0"}, at);
    if (gemm.keeps || whole.is_padded) continue;
    whole = from;
    whole.numbers = adds ? known_anything(type) : known_exactly(type, identity(ReduceFn::Sum, type)), whole.told = {}, whole.is_as_read = false;
    if (whole.kind != PaddingKind::Free) whole.kind = PaddingKind::Read;
  }
  const AxisPadding &of_a = a.whole(), &of_b = b.whole();
  if (acc.whole().is_padded && acc.whole().kind == PaddingKind::Free && !of_a.is_padded && !of_b.is_padded && !(of_a.is_free && of_b.is_free)) see(acc.whole()), whole = {};
  if (whole.is_padded || !whole.is_free) whole.count();
}

void PaddingFlow::run_gemm(const op::Gemm& gemm, const Op& at) {
  TileState a = state(gemm.a), b = state(gemm.b), acc = state(gemm.acc);
  Scalar type = element(gemm.acc);
  int row = gemm.transpose_a, column = !gemm.transpose_b;
  // Beyond an edge that what is made of places has left it counts.
  for (TileState* operand : {&a, &b})
    for (AxisPadding& axis : operand->axes) axis = standing_anywhere(std::move(axis));
  end_where_zero(a.axes[1 - row]), end_where_zero(b.axes[1 - column]);
  enter_product(gemm, a, b, at);
  auto sum = [&](const Known& x, const Known& y, const Known& start) {
    Known of_products = total(ReduceFn::Sum, type, product(type, x, y));
    return known([&](Belief belief) { return apply(BinaryFn::Add, type, of_products.under(belief), start.under(belief), belief); });
  };
  TileState result = plain_state(sum(ordinary(a.inside), ordinary(b.inside), ordinary(acc.inside)), 2);
  result.taken_up = gemm.keeps ? TakenUp::Yes : std::min(a.taken_up, b.taken_up);
  for (int axis : {0, 1}) {
    AxisPadding from = axis == 0 ? a.axes[row] : b.axes[column];
    // What a variable has kept beyond an edge leaves another one as it is.
    if (gemm.keeps) is_no_element(from);
    const AxisPadding& old = acc.axes[axis];
    AxisPadding& out = result.axes[axis];
    out = product_axis(gemm, acc, axis, from, at);
    if (!out.is_padded) continue;
    const bool agrees = !from.is_padded || !old.is_padded || from.edges == old.edges;
    const Known inside = ordinary(axis == 0 ? a.inside : b.inside);
    const bool is_all = from.is_filled && !out.edges.empty();
    const Known side = from.is_padded ? (is_all ? from.numbers : joined(from.numbers, inside)) : inside;
    const Known start = old.is_padded && old.is_filled && agrees ? old.numbers : facing(acc, old);
    // Where it is masked it holds what it held.
    const bool is_kept = gemm.keeps && out.kind == PaddingKind::Free && from.is_padded && from.kind != PaddingKind::Free && out.lapsed.empty();
    if (!is_kept) out.numbers = joined(out.numbers, sum(side, ordinary(axis == 0 ? b.inside : a.inside), start));
  }
  enter_whole(gemm, a, b, acc, at, result);
  if (result.axes[0].is_padded && result.axes[1].is_padded)
    result.corner = sum(facing(a, a.axes[row]), facing(b, b.axes[column]), joined(acc.inside, acc.corner));
  tiles_[at.result()] = of_product(std::move(result));
}

}  // namespace tilec::passes
