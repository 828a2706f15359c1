// What loops carry, and padding is added to: it keeps what it held, by itself or by a mask.
#include "passes/padding_flow.h"

#include <bit>

namespace tilec::passes {

using namespace ir;

// What is computed of what a loop carries, element by element, has a first value as well.
void PaddingFlow::note_first(const op::Map& map, const Op& at) {
  NumbersOf known = scalars_;
  std::vector<RegionId> loops;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    auto first = first_values_.find(inputs_[i].tile);
    if (is_carried(map, i)) loops = first->second.loops;
    known[inputs_[i].element] = first != first_values_.end() ? first->second.numbers : state(inputs_[i]).inside;
  }
  if (loops.empty()) return;
  MapResults results = run_on_numbers(prover_, decisions_, kernel_, map.body, std::move(known), {}, {}, {}, prove::truth(true));
  const auto& yielded = kernel_.terminator(map.body).as<op::Yield>().values;
  for (size_t r = 0; r < at.results.size(); ++r)
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (is_carried(map, i) && is_made_of(yielded[r], inputs_[i].element)) first_values_[at.results[r]] = {results.numbers[r], loops};
}

// Is `v` made of what a loop carries, of which other elements meet padding in each turn, or something else has come to those that meet it
// always? Else these never are anything but padding.
bool PaddingFlow::carries(const op::Map& map, const MapAxis& axis, unsigned set, ValueId v) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!is_carried(map, i) || !is_made_of(v, inputs_[i].element)) continue;
    const TileState now = state(inputs_[i]);
    for (size_t g = 0; g < axis.groups.size(); ++g) {
      if (!(set >> g & 1)) continue;
      const Edges& edges = axis.groups[g].edges;
      if (std::ranges::any_of(first_values_.find(inputs_[i].tile)->second.loops, [&](RegionId loop) { return hangs_on(edges, prover_, loop); })) return true;
      for (size_t a = 0; a < now.axes.size(); ++a) {
        const AxisPadding& so_far = now.axes[a];
        if (!reads_along(i, a, axis.axis)) continue;
        const bool is_padding = so_far.is_padded ? so_far.can_be_masked() && is_beyond(edges, so_far.edges) : so_far.reach == Reach::Untouched;
        if (!is_padding) return true;
      }
    }
  }
  return false;
}

// Is it padding that was written, and is combined as it was read? A condition is combined with nothing.
bool PaddingFlow::is_asked_for(const Group& group, ValueId padding) const {
  if (!group.sample.is_as_read || !group.sample.origin.pad.valid() || kernel_.type(padding).element == Scalar::Bool) return false;
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (is_in(group.inputs, i) && padding == inputs_[i].element) return true;
  return false;
}

namespace {

// Is what a branch is to keep something else than what it has made itself?
bool is_seen_behind(const Kernel& kernel, const Meeting& meeting) {
  bool is_inside = false;
  each_region(kernel.op(meeting.op).data, [&](RegionId side) {
    each_op(kernel, side, [&](OpId id) { is_inside |= std::ranges::find(kernel.op(id).results, meeting.kept) != kernel.op(id).results.end(); });
  });
  return !is_inside;
}

}  // namespace

// Does what a loop carries keep what it holds where it meets padding? By a mask, where it is known which elements those are.
Keeping PaddingFlow::keeps(const op::Map& map, const MapAxis& axis, unsigned set, const Meeting& meeting) {
  if (meeting.is_padding) return masks_.has_result(op_, meeting.op, meeting.result, axis.axis) ? Keeping::Stays : Keeping::Not;
  unsigned met = 0;
  for (size_t g = 0; g < axis.groups.size(); ++g)
    for (size_t i = 0; i < inputs_.size(); ++i)
      if ((set >> g & 1) && is_in(axis.groups[g].inputs, i) && is_made_of(meeting.padding, inputs_[i].element)) met |= 1u << g;
  if (!met) return Keeping::Not;
  Edges edges;
  const Group* unknown = nullptr;
  for (size_t g = 0; g < axis.groups.size(); ++g) {
    const Group& group = axis.groups[g];
    if (!(met >> g & 1)) continue;
    const bool is_asked = is_asked_for(group, meeting.padding);
    if (!meeting.is_hoped && (group.sample.kind == PaddingKind::Set || is_asked)) return Keeping::Not;
    // `pad = -inf` of a maximum: it counts where there is a NaN.
    if (is_asked) continue;
    if (!group.is_filled || group.edges.empty() || !masks_.can_stand(region_, group.edges)) unknown = &group;
    edges.insert(edges.end(), group.edges.begin(), group.edges.end());
  }
  // Elements that meet the only padding there is in every turn are padding themselves.
  const bool may_differ = meeting.is_hoped && axis.groups.size() > 1;
  if (!may_differ && !carries(map, axis, met, meeting.kept)) return Keeping::Waits;
  if (edges.empty() && !unknown) return Keeping::Stays;
  ResultMask mask{region_, op_, meeting.op, meeting.result, axis.axis, std::move(edges), meeting.kept};
  // One mask of a branch is for all its results. What a side has made itself is not there behind it.
  if (meeting.side) mask.side = meeting.side, mask.result = 0;
  const bool is_there = meeting.side || is_seen_behind(kernel_, meeting);
  if (!unknown && is_there) {
    masks_.add(mask);
    return Keeping::Stays;
  }
  if (!meeting.is_hoped) refuse(unknown ? unknown->sample : axis.groups[size_t(std::countr_zero(met))].sample, meeting);
  return Keeping::Not;
}

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

void PaddingFlow::refuse(const AxisPadding& padding, const Meeting& meeting) {
  auto* binary = kernel_.op(meeting.op).get<op::Binary>();
  const Scalar type = kernel_.type(meeting.kept).element;
  auto known = binary ? std::ranges::find(kCombinations, binary->fn, &Combination::fn) : std::end(kCombinations);
  const bool is_named = known != std::end(kCombinations);
  const std::string neutral = is_named ? text_of(exactly(type, identity(known->like, type))) : binary && binary->fn == BinaryFn::And ? "-1" : "0";
  const std::string_view where = is_named ? known->name : binary ? "combination" : kChoice;
  // What is neutral for the combination is not for what comes before it.
  AxisPadding told = padding;
  for (const MapInput& input : inputs_) {
    if (!is_made_of(meeting.padding, input.element) || !state(input).is_padded()) continue;
    told.is_as_read &= meeting.padding == input.element;
    return report(told, input.tile, where, neutral, kernel_.op(op_));
  }
}

// Are these edges, in the first turn of all loops, the others?
bool PaddingFlow::begin_at(const Edges& edges, const Edges& others, std::span<const RegionId> loops) {
  TileState at{{}, {}, false, {AxisPadding{.is_padded = true, .kind = PaddingKind::First, .edges = edges}}};
  for (RegionId loop : loops) {
    auto counting = countings_.find(loop);
    if (counting != countings_.end()) at = outlasting(std::move(at), prover_, loop, counting->second);
  }
  return at.axes[0].edges == others;
}

namespace {

struct Carried {
  AxisPadding padding = {};  // First, where there is any
  Reach reach = Reach::Untouched;
  // Where one operand waits for a turn to bring something, the result does.
  void add(const AxisPadding& from) {
    if (!from.is_padded) {
      reach = reach == Reach::Untouched ? from.reach : from.reach == Reach::Untouched ? reach : std::min(reach, from.reach);
    } else if (!padding.is_padded) {
      padding = from;
    } else {
      meet(from);
    }
  }
  void meet(const AxisPadding& from) {
    padding.is_filled &= from.is_filled && (padding.edges == from.edges || (padding.reach == Reach::Touched && from.reach == Reach::Touched));
    padding.reach = std::max(padding.reach, from.reach);
    if (padding.edges.empty() || from.edges.empty()) return padding.lose_edges();
    for (const Edge& edge : from.edges)
      if (std::ranges::find(padding.edges, edge) == padding.edges.end()) padding.edges.push_back(edge);
  }
};

}  // namespace

// Of a result made of what loops carry, where no padding is left: elements to which no turn has brought anything wait.
AxisPadding PaddingFlow::begun(const op::Map& map, const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r) {
  ValueId result = kernel_.terminator(map.body).as<op::Yield>().values[r];
  Carried carried;
  std::vector<RegionId> loops;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    auto first = first_values_.find(inputs_[i].tile);
    if (first == first_values_.end() || !is_made_of(result, inputs_[i].element)) continue;
    if (is_carried(map, i)) loops = first->second.loops;
    const TileState input = state(inputs_[i]);
    for (size_t a = 0; a < input.axes.size(); ++a)
      if (reads_along(i, a, axis.axis) && (!input.axes[a].is_padded || input.axes[a].is_first())) carried.add(input.axes[a]);
  }
  AxisPadding padding = carried.padding;
  if (loops.empty() || (!padding.is_padded && carried.reach == Reach::Touched)) return {};
  // Where nothing has been brought to the one operand, something may have been brought to the other.
  if (padding.reach != Reach::Touched && carried.reach != Reach::Untouched) padding.is_filled = false;
  unsigned kept = 0;
  if (map_results(map, axis, 0, false).is_brought[r]) {
    auto waits = [](const Outcome& o) { return o.kind == Outcome::Kind::Kept && !o.is_brought; };
    for (const Outcome& outcome : outcomes)
      if (waits(outcome)) kept |= outcome.groups;
    if (!kept) return {};
    reached(padding, region_of(axis, outcomes, waits), carried.reach, loops);
  }
  if (!padding.is_padded) {
    padding.reach = carried.reach;
    return padding;
  }
  padding.is_as_read = false, padding.plain = {};
  padding.numbers = map_results(map, axis, kept, true).numbers[r];
  return padding;
}

// What lay beyond the edges, if there were any, lies beyond those of what a turn has brought as well.
void PaddingFlow::reached(AxisPadding& padding, const Group& by, Reach reach, std::span<const RegionId> loops) {
  if (!padding.is_padded) {
    padding.is_padded = true, padding.kind = PaddingKind::First, padding.reach = Reach::Touched;
    padding.edges = by.edges, padding.is_filled = by.is_filled && reach == Reach::Untouched, padding.origin = by.sample.origin;
    return;
  }
  // Where nothing may have been brought before, all beyond these edges waits.
  if (padding.reach != Reach::Touched && padding.edges != by.edges && !begin_at(by.edges, padding.edges, loops)) padding.is_filled = false;
  if (is_beyond(by.edges, padding.edges)) padding.edges = by.edges;
  else if (!is_beyond(padding.edges, by.edges)) padding.lose_edges();
  padding.is_filled &= by.is_filled, padding.reach = Reach::Touched;
}

// What an accumulator that a loop carries is along an axis, behind a product: it keeps what it holds where the product adds padding.
AxisPadding PaddingFlow::accumulated(const op::Gemm& gemm, int axis, const AxisPadding& from, const Op& at) {
  const AxisPadding old = state(gemm.acc).axes[size_t(axis)];
  if (!from.is_padded) return {};
  const std::vector<RegionId>& loops = first_values_.find(gemm.acc)->second.loops;
  const bool waits = old.is_padded ? old.can_be_masked() && is_beyond(from.edges, old.edges) : old.reach == Reach::Untouched;
  if (!waits || std::ranges::any_of(loops, [&](RegionId loop) { return hangs_on(from.edges, prover_, loop); })) {
    const ValueId operand = axis == 0 ? gemm.a : gemm.b, other = axis == 0 ? gemm.b : gemm.a;
    const int64_t line = axis == 0 ? gemm.transpose_a : !gemm.transpose_b;
    const Known added = product(element(gemm.acc), from.met(), ordinary(state(other).inside));
    if (!added.hoped.is_within(kZero)) keep_out({operand, size_t(axis), line, from, identity(ReduceFn::Sum, element(operand)), "product", "0"}, at);
  }
  AxisPadding padding = old;
  if (old.is_padded || old.reach != Reach::Touched) reached(padding, Group{from.edges, from.is_filled, 0, from}, old.reach, loops);
  return padding;
}

}  // namespace tilec::passes
