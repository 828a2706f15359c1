// How elementwise code carries padding.
//
// Along an axis, each set of padded inputs is looked at as if these were padding and the others were not. What is computed of padding
// is padding. Not so where padding leaves another operand as it is, which is carried by a loop: x of x + 0.
#include "passes/padding_flow.h"

#include <bit>

#include "ir/sources.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr size_t kMostGroups = 4;

}  // namespace

unsigned PaddingFlow::MapAxis::inputs(unsigned set) const {
  unsigned all = 0;
  for (size_t g = 0; g < groups.size(); ++g)
    if (set >> g & 1) all |= groups[g].inputs;
  return all;
}

std::vector<PaddingFlow::Group> PaddingFlow::groups_along(const op::Map& map, int64_t axis) const {
  std::vector<Group> groups;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    TileState input = state(inputs_[i]);
    for (size_t a = 0; a < input.axes.size(); ++a) {
      const AxisPadding& padding = input.axes[a];
      if (!reads_along(i, a, axis) || !padding.is_padded || (padding.is_first() && is_carried(map, i))) continue;
      if (i >= kMostInputs) groups.resize(kMostGroups + 1, Group{{}, false, 0, padding});
      if (groups.size() > kMostGroups) return groups;
      auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.is_filled && padding.is_filled && g.edges == padding.edges; });
      if (same == groups.end()) same = groups.insert(groups.end(), Group{padding.edges, padding.is_filled, 0, padding});
      same->inputs |= 1u << i;
    }
  }
  return groups;
}

// Is all that lies outside of `inner` outside of `outer` as well?
bool PaddingFlow::is_beyond(const Edges& inner, const Edges& outer) {
  if (inner == outer) return true;
  if (inner.size() != 1 || outer.size() != 1 || inner[0].has_low) return false;
  return prover_.proves(prover_.facts(region_), at_least(inner[0].limit, outer[0].limit), prove::Effort::Quick);
}

// Sets of groups that may be padding at once while the others are not.
std::vector<unsigned> PaddingFlow::possible_sets(const std::vector<Group>& groups) {
  std::vector<unsigned> drags(groups.size(), 0);  // what is padding wherever this group is
  for (size_t g = 0; g < groups.size(); ++g)
    for (size_t h = 0; h < groups.size(); ++h)
      if (g != h && groups[h].is_filled && is_beyond(groups[g].edges, groups[h].edges)) drags[g] |= 1u << h;
  std::vector<unsigned> sets;
  for (unsigned set = 1; set < 1u << groups.size(); ++set) {
    bool is_possible = true;
    for (size_t g = 0; g < groups.size(); ++g) is_possible &= !(set >> g & 1) || (drags[g] & ~set) == 0;
    if (is_possible) sets.push_back(set);
  }
  // Masks are found where few are padding, and stand where more are.
  std::ranges::stable_sort(sets, {}, [](unsigned set) { return std::popcount(set); });
  return sets;
}

// Is it what a loop carries, or computed of that, element by element?
bool PaddingFlow::is_carried(const op::Map& map, size_t input) const {
  return first_values_.contains(inputs_[input].tile) && inputs_[input].axes.size() == map.shape.size();
}

// What it holds where no turn of the loop has brought anything.
Known PaddingFlow::begins_with(size_t input, int64_t axis) const {
  const TileState now = state(inputs_[input]);
  for (size_t a = 0; a < now.axes.size(); ++a)
    if (reads_along(input, a, axis) && now.axes[a].is_first()) return now.axes[a].met();
  return first_values_.find(inputs_[input].tile)->second.numbers;
}

// The results of the map where, along its `axis`, the inputs of the set are padding and the others are not (axis -1: where it
// lies inside on every axis); `begins`: and loops have brought nothing to what they carry.
MapResults PaddingFlow::map_results(const op::Map& map, const MapAxis& along, unsigned set, bool begins) {
  const int64_t axis = along.axis;
  const std::vector<Group>& groups = along.groups;
  const auto& args = kernel_.region(map.body).args;
  NumbersOf known = scalars_;
  std::map<ValueId, Taint> taints;
  std::set<ValueId> carried, brought;
  unsigned padded = 0;
  bool is_alone = plain_input(groups).has_value();
  std::vector<prove::Formula> places;
  for (size_t g = 0; g < groups.size(); ++g) {
    bool is_in = set >> g & 1;
    if (is_in) padded |= groups[g].inputs;
    if (groups[g].edges.empty() || (!is_in && !groups[g].is_filled)) continue;
    prove::Formula place = outside(groups[g].edges, prover_.value(args[axis]));
    places.push_back(is_in ? place : negation(place));
  }
  // Along the other axes it lies inside; what does not is in the corners.
  for (int64_t other = 0; axis >= 0 && other < int64_t(map.shape.size()); ++other)
    for (const Group& group : other == axis ? std::vector<Group>() : groups_along(map, other))
      if (group.is_filled && !group.edges.empty()) places.push_back(negation(outside(group.edges, prover_.value(args[other]))));
  for (size_t i = 0; i < inputs_.size(); ++i) {
    TileState input = state(inputs_[i]);
    ValueId arg = inputs_[i].element;
    Known numbers = axis < 0 ? input.inside : ordinary(input.inside);
    for (size_t a = 0; a < input.axes.size(); ++a) {
      if (!is_in(padded, i) || !reads_along(i, a, axis) || !input.axes[a].is_padded) continue;
      numbers = is_alone ? input.axes[a].numbers : input.axes[a].met();
      taints[arg] = input.axes[a].kind == PaddingKind::Set ? Taint::Set : Taint::Padding;
    }
    if (axis >= 0 && !is_in(padded, i)) numbers = met_there(i, axis, groups, set, numbers);
    if (is_carried(map, i)) carried.insert(arg);
    else if (!first_values_.contains(inputs_[i].tile) && !is_in(padded, i) && std::ranges::find(inputs_[i].axes, axis) != inputs_[i].axes.end()) brought.insert(arg);
    if (axis >= 0 && !is_in(padded, i) && is_carried(map, i)) {
      const Known first = begins_with(i, axis);
      numbers = begins ? first : joined(numbers, first);
    }
    known[arg] = numbers;
  }
  auto may_keep = [&](const Meeting& meeting) { return keeps(map, along, set, meeting); };
  return run_on_numbers(prover_, decisions_, kernel_, map.body, std::move(known), std::move(taints), std::move(carried), std::move(brought),
                        prove::all_of(std::move(places)), may_keep);
}

// The only input that has padding along an axis: the result is the same number everywhere where that is.
std::optional<size_t> PaddingFlow::plain_input(const std::vector<Group>& groups) {
  if (groups.size() != 1 || !std::has_single_bit(groups[0].inputs)) return std::nullopt;
  return size_t(std::countr_zero(groups[0].inputs));
}

// Are the results the same number everywhere where the inputs are that, but for `alone`, which is known to be?
bool PaddingFlow::is_uniform(const op::Map& map, std::optional<size_t> alone) const {
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (i != alone && !state(inputs_[i]).is_uniform) return false;
  const std::span<const ValueId> indices = std::span(kernel_.region(map.body).args).first(map.shape.size());
  bool is_same = true;
  each_op(kernel_, map.body, [&](OpId id) {
    const Op& op = kernel_.op(id);
    is_same &= table(op.kind()) == OpTable::Scalar || op.is<op::If>() || op.is<op::Yield>();
    each_operand(op.data, [&](ValueId v) { is_same &= std::find(indices.begin(), indices.end(), v) == indices.end(); });
  });
  return is_same;
}

// What result `r` is where the whole of that input holds the number that stands for none of its padding.
Known PaddingFlow::plain_result(const op::Map& map, size_t padded, int64_t axis, size_t r) {
  NumbersOf known = scalars_;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    TileState input = state(inputs_[i]);
    Known& numbers = known[inputs_[i].element] = input.inside;
    for (size_t a = 0; i == padded && a < input.axes.size(); ++a)
      if (reads_along(i, a, axis)) numbers = input.axes[a].plain;
    if (!numbers.is_some()) return {};
  }
  return run_on_numbers(prover_, decisions_, kernel_, map.body, std::move(known), {}, {}, {}, prove::truth(true)).numbers[r];
}

// What an input that has no padding holds where those of the set do: it may be made by the places of its elements.
Known PaddingFlow::met_there(size_t input, int64_t axis, const std::vector<Group>& groups, unsigned set, const Known& otherwise) {
  const Op* made = kernel_.definition(inputs_[input].tile);
  auto* inner = made ? made->get<op::Map>() : nullptr;
  auto at = std::find(inputs_[input].axes.begin(), inputs_[input].axes.end(), axis);
  if (!inner || at == inputs_[input].axes.end() || state(inputs_[input]).is_padded()) return otherwise;
  const auto& args = kernel_.region(inner->body).args;
  std::vector<prove::Formula> places;
  for (size_t g = 0; g < groups.size(); ++g)
    if ((set >> g & 1) && !groups[g].edges.empty()) places.push_back(outside(groups[g].edges, prover_.value(args[size_t(at - inputs_[input].axes.begin())])));
  NumbersOf known = scalars_;
  for (size_t i = 0; i < inner->inputs.size(); ++i) known[args[inner->shape.size() + i]] = state(inner->inputs[i]).inside;
  if (places.empty() || std::any_of(inner->inputs.begin(), inner->inputs.end(), [&](ValueId v) { return state(v).is_padded(); })) return otherwise;
  MapResults results = run_on_numbers(prover_, decisions_, kernel_, inner->body, std::move(known), {}, {}, {}, prove::all_of(std::move(places)));
  return results.numbers[size_t(std::find(made->results.begin(), made->results.end(), inputs_[input].tile) - made->results.begin())];
}

// Through both sides of branches, and the turns of loops.
bool PaddingFlow::is_made_of(ValueId v, ValueId source) const {
  std::set<ValueId> seen;
  std::vector<ValueId> open{v};
  while (!open.empty()) {
    ValueId next = open.back();
    open.pop_back();
    if (next == source) return true;
    if (!seen.insert(next).second) continue;
    const Op* op = kernel_.definition(next);
    if (!op) {
      const std::vector<ValueId> from = turned(next);
      open.insert(open.end(), from.begin(), from.end());
      continue;
    }
    each_operand(op->data, [&](ValueId operand) { open.push_back(operand); });
    const size_t result = size_t(std::ranges::find(op->results, next) - op->results.begin());
    each_region(op->data, [&](RegionId region) {
      if (kernel_.region(region).ops.empty() || !kernel_.terminator(region).is<op::Yield>()) return;
      const std::vector<ValueId>& yielded = kernel_.terminator(region).as<op::Yield>().values;
      if (op->is<op::If>()) return open.push_back(yielded[result]);
      open.insert(open.end(), yielded.begin(), yielded.end());
    });
  }
  return false;
}

// What an argument of a loop in a map is made of; of others, nothing.
std::vector<ValueId> PaddingFlow::turned(ValueId argument) const {
  const RegionId region = kernel_.value(argument).region;
  auto loop = loops_.find(region);
  if (loop == loops_.end()) return {};
  const std::vector<ValueId>& args = kernel_.region(region).args;
  return carried_sources(kernel_, kernel_.op(loop->second), region, size_t(std::ranges::find(args, argument) - args.begin()));
}

PaddingFlow::Outcome PaddingFlow::outcome_of(const op::Map& map, const MapAxis& axis, unsigned set, const MapResults& results, size_t r) {
  ValueId result = kernel_.terminator(map.body).as<op::Yield>().values[r];
  unsigned padded = axis.inputs(set);
  bool is_touched = false;
  for (size_t i = 0; i < inputs_.size(); ++i) is_touched |= is_in(padded, i) && is_made_of(result, inputs_[i].element);
  Outcome outcome{set, Outcome::Kind::None, results.numbers[r], results.is_brought[r]};
  if (!is_touched) return outcome;
  outcome.kind = results.is_kept[r] ? Outcome::Kind::Kept : results.taints[r] != Taint::Padding ? Outcome::Kind::Set : Outcome::Kind::Padding;
  if (outcome.kind == Outcome::Kind::Padding && axis.groups.size() == 1 && !carries(map, axis, set, result))
    outcome.numbers = map_results(map, axis, set, true).numbers[r];
  return outcome;
}

// Where the outcomes are such: beyond the edges of the groups that make them so whatever the others are; these must tell of all of it.
PaddingFlow::Group PaddingFlow::region_of(const MapAxis& axis, const std::vector<Outcome>& outcomes, bool (*is_such)(const Outcome&)) {
  Group region{{}, true, 0, {}};
  unsigned deciding = (1u << axis.groups.size()) - 1;
  for (const Outcome& outcome : outcomes)
    if (!is_such(outcome)) deciding &= ~outcome.groups;
  bool is_told = true;
  for (const Outcome& outcome : outcomes) is_told &= !is_such(outcome) || (outcome.groups & deciding);
  for (size_t g = 0; g < axis.groups.size(); ++g) {
    if (!region.sample.origin.read.valid()) region.sample.origin = axis.groups[g].sample.origin;
    if (!(deciding >> g & 1)) continue;
    is_told &= !axis.groups[g].edges.empty();
    bool is_said_by_other = false;
    for (size_t h = 0; h < axis.groups.size(); ++h)
      is_said_by_other |= (deciding >> h & 1) && axis.groups[h].is_filled && axis.groups[h].edges == axis.groups[g].edges;
    region.is_filled &= is_said_by_other;
    for (const Edge& edge : axis.groups[g].edges)
      if (std::find(region.edges.begin(), region.edges.end(), edge) == region.edges.end()) region.edges.push_back(edge);
  }
  if (!is_told) region.edges.clear(), region.is_filled = false;
  return region;
}

AxisPadding PaddingFlow::padding_of(const op::Map& map, const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r) {
  auto is_padding = [](const Outcome& o) { return o.kind == Outcome::Kind::Set || o.kind == Outcome::Kind::Padding; };
  AxisPadding padding{};
  bool is_set = true;
  for (const Outcome& outcome : outcomes) {
    if (!is_padding(outcome)) continue;
    padding.is_padded = true;
    padding.numbers = joined(padding.numbers, outcome.numbers);
    if (auto input = plain_input(axis.groups)) {
      Known plain = plain_result(map, *input, axis.axis, r);
      if (plain.is_some() && !plain.sure.exact && !is_uniform(map, *input)) padding.numbers = joined(padding.numbers, plain);
      else padding.plain = plain;
    }
    is_set &= outcome.kind == Outcome::Kind::Set;
  }
  if (!padding.is_padded) return begun(map, axis, outcomes, r);
  Group region = region_of(axis, outcomes, is_padding);
  padding.kind = is_set ? PaddingKind::Set : PaddingKind::Read;
  padding.edges = std::move(region.edges), padding.is_filled = region.is_filled, padding.origin = region.sample.origin;
  return padding;
}

Known PaddingFlow::corner_of(const op::Map& map, size_t r) {
  NumbersOf known = scalars_;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    TileState input = state(inputs_[i]);
    Known numbers = input.corner;
    for (const AxisPadding& axis : input.axes)
      if (axis.is_padded) numbers = joined(numbers, axis.met());
    bool is_sure = input.is_padded() && map.shape.size() == 2;
    known[inputs_[i].element] = is_sure ? numbers : joined(numbers, input.inside);
  }
  return run_on_numbers(prover_, decisions_, kernel_, map.body, std::move(known), {}, {}, {}, prove::truth(true)).numbers[r];
}

// Has the map padding along another axis that is none in its result? What is outside there as well is no corner.
bool PaddingFlow::hides_corner(const op::Map& map, const TileState& result, size_t axis) {
  auto is_shown = [&](const AxisPadding& of, const Group& group) {
    if (!of.is_padded) return false;
    return !of.is_first() || (of.can_be_masked() && is_beyond(group.edges, of.edges));
  };
  for (size_t a = 0; a < result.axes.size(); ++a)
    for (const Group& group : a == axis ? std::vector<Group>() : groups_along(map, int64_t(a)))
      if (!is_shown(result.axes[a], group)) return true;
  return false;
}

void PaddingFlow::run_map(const op::Map& map, const Op& at) {
  inputs_ = inputs_of(map);
  each_op(kernel_, map.body, [&](OpId id) {
    const Op& op = kernel_.op(id);
    if (op.is<op::For>() || op.is<op::While>()) each_region(op.data, [&](RegionId part) { loops_[part] = id; });
  });
  note_first(map, at);
  masks_.forget_results(op_);
  std::map<ValueId, AxisPadding> stored;
  MapResults inside = map_results(map, {-1, {}, {}}, 0, false);
  std::vector<TileState> states;
  for (size_t r = 0; r < at.results.size(); ++r) states.push_back(plain_state(inside.numbers[r], int(map.shape.size()), is_uniform(map, std::nullopt)));
  for (size_t a = 0; a < map.shape.size(); ++a) {
    MapAxis axis{int64_t(a), groups_along(map, int64_t(a)), {}};
    if (axis.groups.size() > kMostGroups) {
      for (size_t r = 0; r < states.size(); ++r)
        states[r].axes[a] = {true, PaddingKind::Read, {}, false, known_anything(element(at.results[r])), axis.groups[0].sample.origin, false};
      continue;
    }
    axis.sets = possible_sets(axis.groups);
    std::vector<std::vector<Outcome>> outcomes(states.size());
    for (unsigned set : axis.sets) {
      MapResults results = map_results(map, axis, set, false);
      mask_guards(map, axis, set, results);
      note_stores(map, axis, results, stored);
      for (size_t r = 0; r < states.size(); ++r) outcomes[r].push_back(outcome_of(map, axis, set, results, r));
    }
    for (size_t r = 0; r < states.size(); ++r) states[r].axes[a] = padding_of(map, axis, outcomes[r], r);
  }
  for (size_t r = 0; r < states.size(); ++r) {
    auto padded = std::count_if(states[r].axes.begin(), states[r].axes.end(), [](const AxisPadding& axis) { return axis.is_padded; });
    if (padded > 1) states[r].corner = corner_of(map, r);
    for (size_t a = 0; a < states[r].axes.size(); ++a)
      if (states[r].axes[a].is_padded && hides_corner(map, states[r], a)) states[r].axes[a].numbers = joined(states[r].axes[a].numbers, corner_of(map, r));
    tiles_[at.results[r]] = std::move(states[r]);
  }
  taint_writes(map.body);
  for (const auto& [buffer, padding] : stored) {
    TileState now = state(buffer);
    now.is_uniform = false;
    for (AxisPadding& axis : now.axes) {
      axis.numbers = axis.is_padded ? joined(axis.met(), padding.numbers) : padding.numbers;
      axis.is_padded = true, axis.kind = PaddingKind::Read, axis.plain = {}, axis.is_as_read = false, axis.origin = padding.origin;
      axis.lose_edges();
    }
    buffers_[buffer] = std::move(now);
  }
}

// Padding that the body stores into shared tiles, element by element: where it lies is not known.
void PaddingFlow::note_stores(const op::Map& map, const MapAxis& axis, const MapResults& results, std::map<ValueId, AxisPadding>& stored) const {
  each_op(kernel_, map.body, [&](OpId id) {
    auto* store = kernel_.op(id).get<op::ElementStore>();
    if (!store) return;
    auto taint = results.taint_of.find(store->value);
    auto numbers = results.known.find(store->value);
    if (taint == results.taint_of.end() || taint->second != Taint::Padding || numbers == results.known.end()) return;
    ValueId buffer = store->buffer;
    while (auto* view = kernel_.defined_by<op::Subview>(buffer)) buffer = view->buffer;
    if (kernel_.type(buffer).space != Space::Shared) return;
    AxisPadding& padding = stored[buffer];
    padding.numbers = joined(padding.numbers, numbers->second);
    padding.origin = axis.groups.front().sample.origin;
  });
}

// Padding that a guard would report, as in a division by zeros of it.
void PaddingFlow::mask_guards(const op::Map& map, const MapAxis& axis, unsigned set, const MapResults& results) {
  each_op(kernel_, map.body, [&](OpId id) {
    const Op& op = kernel_.op(id);
    if (!is_guarded(op)) return;
    auto* binary = op.get<op::Binary>();
    ValueId operand = binary ? binary->b : op.as<op::Unary>().x;
    auto numbers = results.known.find(operand);
    auto taint = results.taint_of.find(op.result());
    if (numbers == results.known.end() || taint == results.taint_of.end() || taint->second == Taint::Clean) return;
    bool divides = binary && (binary->fn == BinaryFn::Div || binary->fn == BinaryFn::Rem);
    if (divides && !(numbers->second.sure.kinds & kZero) && !binary->may_leave) return;
    Edges edges;
    const Group* unknown = nullptr;
    for (size_t g = 0; g < axis.groups.size(); ++g) {
      const Group& group = axis.groups[g];
      bool is_read = false;
      for (size_t i = 0; i < inputs_.size(); ++i)
        is_read |= is_in(group.inputs, i) && is_made_of(op.result(), inputs_[i].element);
      if (!is_read || !(set >> g & 1)) continue;
      if (!group.is_filled || group.edges.empty() || !masks_.can_stand(region_, group.edges)) unknown = &group;
      edges.insert(edges.end(), group.edges.begin(), group.edges.end());
    }
    if (!unknown) return masks_.add(GuardMask{region_, op_, id, axis.axis, edges});
    if (divides && numbers->second.sure.is_within(kZero)) report(unknown->sample, inputs_[size_t(std::countr_zero(unknown->inputs))].tile, "division", "1", op);
  });
}

}  // namespace tilec::passes
