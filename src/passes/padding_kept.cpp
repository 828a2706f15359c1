// What variables keep: an assignment of padding to what holds something else leaves it as it is, by itself or by a mask.
#include "passes/padding_flow.h"

#include <bit>

#include "ir/sources.h"

namespace tilec::passes {

using namespace ir;

namespace {

// How a combination is called, and what changes nothing in it.
struct Combination {
  BinaryFn fn;
  std::string_view name;
  ReduceFn like;
};
constexpr Combination kCombinations[] = {
    {BinaryFn::Add, "sum", ReduceFn::Sum},      {BinaryFn::Sub, "difference", ReduceFn::Sum}, {BinaryFn::Mul, "product", ReduceFn::Prod},
    {BinaryFn::Max, "maximum", ReduceFn::Max},  {BinaryFn::Maximum, "maximum", ReduceFn::Max}, {BinaryFn::Min, "minimum", ReduceFn::Min},
    {BinaryFn::Minimum, "minimum", ReduceFn::Min}};

}  // namespace

// Is padding that was written, as it was read, combined with what is held, and that assigned?
bool PaddingFlow::is_asked_for(size_t input, const MapAxis& axis, unsigned set, const Assignment& made) const {
  const AxisPadding* along = padding_along(input, axis.axis);
  const Op* by = kernel_.definition(made.by);
  if (!along || !along->is_as_read || !along->origin.pad.valid() || !by || !(by->is<op::Binary>() || by->is<op::Fma>())) return false;
  const unsigned padded = axis.inputs(set);
  bool is_read = false, is_held = false;
  const auto at = std::ranges::find(inputs_, made.old, &MapInput::element);
  const ValueId held = at != inputs_.end() ? at->tile : ValueId();
  each_operand(by->data, [&](ValueId v) {
    if (v == inputs_[input].element) return void(is_read = true);
    const bool is_own = inputs_[input].has_own_place;
    // What other turns have left in what is held was asked for as this is, or is known of it.
    const std::set<ValueId> sources = is_own ? in_turn(v) : sources_of(v, kept_here()), beside = is_own ? sources : sources_of(v, kept_here(), {made.old});
    bool is_padding = false;
    for (size_t i = 0; i < inputs_.size(); ++i)
      is_padding |= is_in(padded, i) && beside.contains(inputs_[i].element) && marks_along(i, axis.axis, true).taint == Taint::Padding;
    // By a name it may be of another statement.
    for (size_t i = 0; held.valid() && i < inputs_.size(); ++i) is_held |= !is_padding && sources.contains(inputs_[i].element) && depends_on(kernel_, inputs_[i].tile, held);
    is_held |= sources.contains(made.old) && !is_padding;
  });
  return is_read && is_held;
}

// The question of an assignment, `select(inside(next), next, old)`; none: it is none.
OpId PaddingFlow::asked_in(const Op& made) const {
  auto* choice = made.get<op::Select>();
  return choice && kernel_.defined_by<op::Inside>(choice->condition) ? kernel_.value(choice->condition).op : OpId();
}

// What it is computed of in one turn of the loops around it: what they carry counts as itself. Behind a mask it is what was held.
std::set<ValueId> PaddingFlow::in_turn(ValueId v) const {
  std::set<ValueId> seen;
  std::vector<ValueId> open{v};
  while (!open.empty()) {
    const ValueId next = open.back();
    open.pop_back();
    const Op* made = seen.insert(next).second ? kernel_.definition(next) : nullptr;
    if (!made) continue;
    if (const OpId inside = asked_in(*made); inside.valid() && (masks_.has_inside(inside) || kept_.contains(inside))) {
      open.push_back(made->as<op::Select>().b);
      continue;
    }
    each_maker(*made, [&](ValueId operand) { open.push_back(operand); });
    if (!made->is<op::If>()) continue;
    const size_t result = size_t(std::ranges::find(made->results, next) - made->results.begin());
    each_region(made->data, [&](RegionId side) { open.push_back(kernel_.terminator(side).as<op::Yield>().values[result]); });
  }
  return seen;
}

// May free elements hold whatever comes, unless somebody looks? In a loop that would mask them in each turn, where they are the same in all.
bool PaddingFlow::may_lapse(const Edges& edges) const {
  return !edges.empty() && !around_.empty() && std::ranges::none_of(around_, [&](RegionId loop) { return hangs_on(edges, Turns{prover_, loop, {}}); });
}

// Does the place of an element within the body tell whether it is padding along the axis? Turns of loops do so of the one behind all others alone.
bool PaddingFlow::has_own_place_along(size_t input, int64_t axis) const {
  const MapInput& of = inputs_[input];
  return of.has_own_place && (!of.is_by_turn || axis == of.axes.back());
}

// Groups of the set whose padding tells whether the assignment takes place.
PaddingFlow::Met PaddingFlow::met_by(const MapAxis& axis, unsigned set, const Assignment& made) {
  const std::set<ValueId> sources = sources_of(made.by, kept_here(), made.untouched), of_held = sources_of(made.old, kept_here(), made.untouched), at_hand = in_turn(made.by);
  const bool has_turned = is_carried(made), is_own = is_of_iteration(axis, made);
  // What the body has kept itself hangs on the padding that was to be assigned.
  const std::set<ValueId> kept_before = made.kept ? sources_of(made.by, {}, made.untouched) : std::set<ValueId>();
  Met met;
  std::vector<const Group*> standing;
  unsigned kept = 0;
  for (size_t g = 0; g < axis.groups.size(); ++g) {
    const Group& group = axis.groups[g];
    bool is_met = false, keeps_all = false, stands = false, is_beside = false;
    for (size_t i = 0; (set >> g & 1) && i < inputs_.size(); ++i) {
      const bool is_source = sources.contains(inputs_[i].element);
      const AxisPadding* along = is_in(group.inputs, i) && (is_source || kept_before.contains(inputs_[i].element)) ? padding_along(i, axis.axis) : nullptr;
      stands |= along && is_source && along->stands();
      is_beside |= along && is_source;
      const bool is_kept = along && (!is_source || (along->kind == PaddingKind::Free && (made.kept & bit_of(i))));
      if (!along || (along->kind != PaddingKind::Read && along->kind != PaddingKind::Mixed && !is_kept)) continue;
      // Where it is padding, what is held is padding as well.
      if (made.held.taint == Taint::Mixed && !group.is_by_turn && of_held.contains(inputs_[i].element)) continue;
      const bool has_own_place = has_own_place_along(i, axis.axis), is_placed = has_own_place && inputs_[i].at_place;
      if (is_own && !has_own_place) continue;
      // What loops have left of it was kept out, or else tells.
      if (is_placed && !at_hand.contains(inputs_[i].element) && !has_turned) continue;
      const bool is_at_place = along->kind == PaddingKind::Read && is_placed && !has_turned;
      met.elements.insert(inputs_[i].element);
      if (is_at_place) {
        unite(met.at_place, *inputs_[i].at_place), met.is_asked &= is_asked_for(i, axis, set, made);
        if (!met.first) met.first = i;
        continue;
      }
      const bool is_told = (along->kind == PaddingKind::Read || (is_kept && !along->uniform.is_lost && along->at_first.empty())) && group.is_filled && !group.edges.empty();
      if (is_kept) kept |= 1u << i;
      (is_kept ? keeps_all : is_met) = true, met.is_known &= is_told, met.is_asked &= is_asked_for(i, axis, set, made);
      if (!met.first || !is_told) met.first = i;
    }
    if (is_met) met.groups.push_back(&group), met.beside.push_back(&group);
    else if (keeps_all) met.kept = met.kept ? beyond_both(*met.kept, group.edges) : group.edges;
    else if (stands) standing.push_back(&group);
    else if (is_beside) met.beside.push_back(&group);
  }
  // Places are nothing beside what is kept, and data within their edges are.
  for (const Group* group : standing)
    if (met.kept) met.kept = beyond_both(*met.kept, group->edges), met.is_known &= group->is_filled;
  // Beside what is kept, a number that has met no padding yet is nothing either.
  if (kept) met.unless = all_uniform(kept, axis.axis);
  return met;
}

// Where what is held is padding, in other sets.
Edges PaddingFlow::held_padding(const MapAxis& axis, unsigned set, const Assignment& made) const {
  Edges padding;
  const std::set<ValueId> sources = sources_of(made.old, [&](OpId inside) { return kept_.contains(inside) || masks_.inside(inside, axis.axis); });
  for (size_t g = 0; g < axis.groups.size(); ++g)
    for (size_t i = 0; !(set >> g & 1) && i < inputs_.size(); ++i) {
      const Group& group = axis.groups[g];
      const AxisPadding* along = is_in(group.inputs, i) && sources.contains(inputs_[i].element) ? padding_along(i, axis.axis) : nullptr;
      if (along && along->kind == PaddingKind::Read && group.is_filled && masks_.can_stand(region_, group.edges)) unite(padding, group.edges);
    }
  return padding;
}

// An iteration that lies beyond an edge itself leaves no number as it was: it is padding as a whole.
bool PaddingFlow::is_of_iteration(const MapAxis& axis, const Assignment& made) const {
  return kernel_.op(made.inside).as<op::Inside>().of_number && axis.axis < int64_t(kernel_.op(op_).as<op::Map>().shape.size());
}

// Is it made of elements that the iteration has, where these are padding?
bool PaddingFlow::is_padding_itself(const MapAxis& axis, unsigned set, const Assignment& made) const {
  if (!is_of_iteration(axis, made)) return false;
  const std::set<ValueId> sources = sources_of(made.by, kept_here());
  const unsigned padded = axis.inputs(set);
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (is_in(padded, i) && !has_own_place_along(i, axis.axis) && sources.contains(inputs_[i].element)) return true;
  return false;
}

// Has what another turn has left to do with it, which is padding, but it is not known where?
bool PaddingFlow::is_carried(const Assignment& made) const {
  const std::set<ValueId> by = in_turn(made.by);
  return std::ranges::any_of(made.carried, [&](ValueId v) { return by.contains(v); });
}

// Padding in some turns of a loop alone?
bool PaddingFlow::is_by_turn(const MapAxis& axis, unsigned set) {
  bool is_all = set != 0;
  for (size_t g = 0; g < axis.groups.size(); ++g) is_all &= !(set >> g & 1) || axis.groups[g].is_by_turn;
  return is_all;
}

// Of what another turn has left it is not known whether it is padding; what the program has set is not kept out without a word.
Keeping PaddingFlow::refuse_unless_same(const MapAxis& axis, unsigned set, const Assignment& made) {
  if (made.may_be_same) return Keeping::Either;
  const size_t input = size_t(std::countr_zero(axis.inputs(set)));
  refuse(*padding_along(input, axis.axis), input, made);
  return Keeping::Either;
}

// What it holds would stay in some elements, or in some turns, and not in others.
Keeping PaddingFlow::refuse_partial(const MapAxis& axis, unsigned set, std::string_view where) {
  const size_t input = size_t(std::countr_zero(axis.inputs(set)));
  AxisPadding told = *padding_along(input, axis.axis);
  told.is_as_read = false;
  report(told, inputs_[input].tile, where, "", kernel_.op(op_));
  return Keeping::Either;
}

// Is what it holds no padding in those runs either?
bool PaddingFlow::counts_in(const prove::Formula& runs, int64_t axis, ValueId old) {
  const size_t input = size_t(std::ranges::find(inputs_, old, &MapInput::element) - inputs_.begin());
  const AxisPadding* along = input < inputs_.size() ? padding_along(input, axis) : nullptr;
  if (runs.is_false() || (input < inputs_.size() && !along)) return true;
  return along && prover_.proves(prover_.facts(region_).with(runs), along->uniform.when, prove::Effort::Quick);
}

// Is it padding in some turns of a loop and none in others?
bool PaddingFlow::is_of_turn(const Met& met) const {
  auto hangs = [&](const Group* group) {
    return group->is_by_turn || std::ranges::any_of(around_, [&](RegionId loop) { return hangs_on(group->edges, Turns{prover_, loop, {}}); });
  };
  return !met.at_place.empty() || std::ranges::any_of(met.groups, hangs);
}

// Beyond which it is padding; none where that is not known.
Edges PaddingFlow::edges_of(const Met& met) {
  Edges edges = met.at_place;
  for (const Group* group : met.groups) unite(edges, group->edges);
  const bool is_known = std::ranges::none_of(met.groups, [](const Group* group) { return group->edges.empty(); });
  return is_known ? edges : Edges();
}

// Was it given nothing but numbers and places since padding beyond these edges may have come or gone, and what `is_padding` says is some? What loops
// carry that move them has met data in other turns.
bool PaddingFlow::is_fresh(ValueId number, const Edges& edges, const std::function<bool(ValueId)>& is_padding) const {
  auto* map = kernel_.op(op_).get<op::Map>();
  const std::span<const ValueId> args = map ? std::span<const ValueId>(kernel_.region(map->body).args) : std::span<const ValueId>();
  auto moves = [&](RegionId loop) { return edges.empty() || hangs_on(edges, Turns{prover_, loop, {}}); };
  std::set<ValueId> seen;
  std::vector<ValueId> open{number};
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    if (!seen.insert(v).second || is_padding(v)) continue;
    if (auto at = std::ranges::find(args, v); at != args.end()) {
      if (size_t(at - args.begin()) >= map->shape.size()) return false;
      continue;
    }
    const Op* made = kernel_.definition(v);
    const RegionId region = kernel_.value(v).region;
    if (!made && (!region.valid() || v == kernel_.region(region).args[0])) continue;
    if (!made && loops_.contains(region) && !moves(region)) {
      const std::vector<ValueId> from = turned(v);
      open.insert(open.end(), from.begin(), from.end());
      continue;
    }
    if (!made && std::ranges::find(around_, region) == around_.end() && !loops_.contains(region)) continue;
    auto* loop = made ? made->get<op::For>() : nullptr;
    if (!made || made->is<op::ElementLoad>() || made->is<op::Atomic>() || made->is<op::While>() || (loop && moves(loop->body))) return false;
    const OpId inside = asked_in(*made);
    if (inside.valid() && (kept_.contains(inside) || masks_.has_inside(inside))) open.push_back(made->as<op::Select>().b);
    else each_maker(*made, [&](ValueId source) { open.push_back(source); });
    const size_t result = size_t(std::ranges::find(made->results, v) - made->results.begin());
    if (loop) open.push_back(loop->inits[result]);
    if (loop || made->is<op::If>()) each_region(made->data, [&](RegionId side) { open.push_back(kernel_.terminator(side).as<op::Yield>().values[result]); });
  }
  return true;
}

void PaddingFlow::refuse_fresh(AxisPadding padding, ValueId tile, OpId inside) {
  padding.is_as_read = false;
  report(padding, tile, kFresh, "", kernel_.op(inside));
}

// Beyond which edges the assignment leaves its place as it is.
Edges PaddingFlow::masked_by(Met& met, const MapAxis& axis, const Assignment& made, const Edges& padding) {
  // Where one of them lies all others lie as well, or else beyond any of them.
  Edges edges;
  for (const Group* group : met.groups)
    if (std::ranges::all_of(met.groups, [&](const Group* other) { return is_beyond(group->edges, other->edges); })) edges = group->edges;
  if (edges.empty())
    for (const Group* group : met.groups) unite(edges, group->edges);
  if (!met.kept) return edges;
  // Within the edges of others it may be made of their data.
  const InsideMask* there = masks_.inside(made.inside, axis.axis);
  auto unless = [&](const Edges& kept) { return met.unless.is_false() ? kept : guarded(kept, negation(met.unless)); };
  for (const Group* group : there && there->covers({unless(*met.kept), padding}) ? std::vector<const Group*>() : met.beside)
    met.kept = beyond_both(*met.kept, group->edges), met.is_known &= group->is_filled;
  met.is_known &= !met.kept->empty();
  unite(edges, unless(*met.kept));
  return edges;
}

// What takes back the masks that are asked for from here on, and what is told.
std::function<void()> PaddingFlow::noting() {
  return [this, masks = masks_.inside_all(), told = told_[op_].size()] {
    masks_.take_back(masks);
    while (told_[op_].size() > told) told_[op_].pop_back();
  };
}

// Of the set at hand.
Keeping PaddingFlow::noted(const Assignment& made, Keeping keeping) {
  if (keeping == Keeping::Next) kept_.erase(made.inside);
  else kept_.insert(made.inside);
  return keeping;
}

Keeping PaddingFlow::keeps(const MapAxis& axis, unsigned set, const Assignment& made) {
  const bool is_late = made.held.is_tainted_late || (made.is_late && made.held.taint != Taint::Padding);
  if (is_late && !made.may_be_same && !is_of_iteration(axis, made)) return refuse_partial(axis, set, kLate);
  if (made.may_be_read) return refuse_unless_same(axis, set, made);
  if (made.is_set) return is_of_iteration(axis, made) || made.may_be_same ? Keeping::Next : refuse_unless_same(axis, set, made);
  if (kernel_.op(made.inside).as<op::Inside>().is_partial && made.held.taint != Taint::Padding) return refuse_partial(axis, set, kPartial);
  if (is_by_turn(axis, set) && is_carried(made)) return refuse_unless_same(axis, set, made);
  if (made.held.taint == Taint::Padding) return masks_.has_inside(made.inside) ? Keeping::Either : Keeping::Next;
  Met met = met_by(axis, set, made);
  const bool may_be_fresh = met.first && kernel_.op(made.inside).as<op::Inside>().of_number && is_of_turn(met);
  if (may_be_fresh && is_fresh(made.old, edges_of(met), [&](ValueId v) { return met.elements.contains(v); }))
    return refuse_fresh(*padding_along(*met.first, axis.axis), inputs_[*met.first].tile, made.inside), Keeping::Either;
  if (made.is_same) return is_padding_itself(axis, set, made) ? Keeping::Next : Keeping::Old;
  if (!met.first) return made.held.taint == Taint::Mixed || is_of_iteration(axis, made) ? Keeping::Next : Keeping::Either;
  // `pad = -inf` of a maximum: it counts where there is a NaN.
  if (met.is_asked && made.may_be_same) return Keeping::Either;
  if (met.is_asked && !kernel_.op(made.inside).as<op::Inside>().of_number) return Keeping::Told;
  if (met.is_asked) return refuse(*padding_along(*met.first, axis.axis), *met.first, made), Keeping::Either;
  if (!met.at_place.empty()) masks_.add(InsideMask{region_, op_, made.inside, int64_t(kernel_.op(op_).as<op::Map>().shape.size()), {{met.at_place, {}, true}}});
  if (met.groups.empty() && !met.kept) return Keeping::Old;
  const Edges padding = held_padding(axis, set, made);
  const InsideMask::Part part{masked_by(met, axis, made, padding), padding};
  const Edges& edges = part.edges;
  if (const InsideMask* there = masks_.inside(made.inside, axis.axis))
    for (const Group* group : met.groups)
      if (there->covers({group->edges, part.padding})) return Keeping::Old;
  const bool may = met.is_known ? may_lapse(edges) : made.kept != 0;
  if (may && made.held.made == Made::Free && !seen_.contains(made.inside)) {
    lapses_.insert(made.inside);
    return Keeping::Either;
  }
  if (met.is_known && masks_.can_stand(region_, edges)) {
    masks_.add(InsideMask{region_, op_, made.inside, axis.axis, {part}});
    return counts_in(met.unless, axis.axis, made.old) ? Keeping::Old : Keeping::Either;
  }
  if (!made.may_be_same) refuse(*padding_along(*met.first, axis.axis), *met.first, made);
  return Keeping::Either;
}

void PaddingFlow::refuse(const AxisPadding& padding, size_t input, const Assignment& made) {
  auto* binary = kernel_.defined_by<op::Binary>(made.next);
  const bool is_direct = binary && (binary->a == inputs_[input].element || binary->b == inputs_[input].element);
  refuse(padding, inputs_[input].tile, made.next, made.old, is_direct);
}

// `is_direct`: padding as it was read is combined there. What is neutral for the combination is not for what comes before it.
void PaddingFlow::refuse(const AxisPadding& padding, ValueId tile, ValueId next, ValueId old, bool is_direct) {
  auto* binary = kernel_.defined_by<op::Binary>(next);
  const Scalar type = kernel_.type(old).element;
  auto known = binary ? std::ranges::find(kCombinations, binary->fn, &Combination::fn) : std::end(kCombinations);
  const bool is_named = known != std::end(kCombinations);
  const std::string neutral = is_named ? text_of(exactly(type, identity(known->like, type))) : binary && binary->fn == BinaryFn::And ? "-1" : "0";
  AxisPadding told = padding;
  told.is_as_read &= is_direct;
  report(told, tile, is_named ? known->name : binary ? "combination" : kChoice, neutral, kernel_.op(op_));
}

// Of more inputs than are looked at nothing is known.
void PaddingFlow::refuse_all(const op::Map& map, const MapAxis& axis) {
  const AxisPadding& sample = *axis.groups[0].sample;
  const std::vector<OpId>& outermost = kernel_.region(map.body).ops;
  each_op(kernel_, map.body, [&](OpId id) {
    const Op& op = kernel_.op(id);
    const bool is_effect = op.is<op::Atomic>() || (op.is<op::ElementStore>() && std::ranges::find(outermost, id) == outermost.end());
    if (is_effect) return report(sample, inputs_[size_t(std::countr_zero(axis.groups[0].inputs))].tile, kEffect, "", op);
    auto* inside = op.get<op::Inside>();
    if (!inside) return;
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (padding_along(i, axis.axis)) return refuse(sample, i, {.inside = id, .by = inside->x, .next = inside->x, .old = inside->x});
  });
}

}  // namespace tilec::passes
