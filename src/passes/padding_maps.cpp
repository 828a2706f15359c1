// How elementwise code carries padding.
//
// Along an axis, each set of padded inputs is looked at as if these were padding and the others were not. What is computed of padding
// is padding. Not so where padding leaves another operand as it is, which is padded elsewhere or carried by a loop: x of x + 0.
#include "passes/padding_flow.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr size_t kMostGroups = 4;

bool reads_along(const op::Map& map, size_t input, size_t input_axis, int64_t axis) { return map.input_axes[input][input_axis] == axis; }

}  // namespace

struct PaddingFlow::MapAxis {
  int64_t axis;
  std::vector<Group> groups;
  std::vector<unsigned> sets;
  // The inputs of a set of groups.
  unsigned inputs(unsigned set) const {
    unsigned all = 0;
    for (size_t g = 0; g < groups.size(); ++g)
      if (set >> g & 1) all |= groups[g].inputs;
    return all;
  }
};

std::vector<PaddingFlow::Group> PaddingFlow::groups_along(const op::Map& map, int64_t axis) const {
  std::vector<Group> groups;
  for (size_t i = 0; i < map.inputs.size() && i < 32; ++i) {
    TileState input = state(map.inputs[i]);
    for (size_t a = 0; a < input.axes.size(); ++a) {
      const AxisPadding& padding = input.axes[a];
      if (!reads_along(map, i, a, axis) || !padding.is_padded || padding.kind == PaddingKind::First) continue;
      auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return !g.edges.empty() && g.edges == padding.edges; });
      if (same == groups.end()) same = groups.insert(same, Group{padding.edges, true, 0, padding});
      same->inputs |= 1u << i;
      same->is_filled &= padding.is_filled;
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
  return sets;
}

// What an input holds where no turn of a loop has brought anything: what a loop carries, before the first turn.
bool PaddingFlow::begins_with(const op::Map& map, size_t input, int64_t axis, Known* numbers) const {
  TileState now = state(map.inputs[input]);
  auto first = first_values_.find(map.inputs[input]);
  for (size_t a = 0; a < now.axes.size(); ++a) {
    if (!reads_along(map, input, a, axis)) continue;
    if (now.axes[a].is_padded && now.axes[a].kind == PaddingKind::First) return *numbers = now.axes[a].numbers, true;
    if (now.axes[a].is_padded || first == first_values_.end() || (a < first->second.state.axes.size() && first->second.state.axes[a].is_padded)) continue;
    return *numbers = first->second.state.inside, true;
  }
  return false;
}

// The results of the map where, along its `axis`, the inputs of the set are padding and the others are not (axis -1: where it
// lies inside on every axis); `begins`: and loops have brought nothing to what they carry.
MapResults PaddingFlow::map_results(const op::Map& map, int64_t axis, const std::vector<Group>& groups, unsigned set, bool begins) {
  const auto& args = kernel_.region(map.body).args;
  NumbersOf known = scalars_;
  std::map<ValueId, Taint> taints;
  std::set<ValueId> carried;
  unsigned padded = 0;
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
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    TileState input = state(map.inputs[i]);
    ValueId arg = args[map.shape.size() + i];
    Known numbers = axis < 0 ? input.inside : ordinary(input.inside), first;
    for (size_t a = 0; a < input.axes.size(); ++a) {
      if (!(padded >> i & 1) || !reads_along(map, i, a, axis) || !input.axes[a].is_padded) continue;
      numbers = input.axes[a].numbers;
      taints[arg] = input.axes[a].kind == PaddingKind::Set ? Taint::Set : Taint::Padding;
    }
    bool may_begin = axis >= 0 && !(padded >> i & 1) && begins_with(map, i, axis, &first);
    if (may_begin) numbers = begins ? first : joined(numbers, first);
    if (may_begin && first_values_.contains(map.inputs[i])) carried.insert(arg);
    known[arg] = numbers;
  }
  return run_on_numbers(prover_, kernel_, map.body, std::move(known), std::move(taints), std::move(carried), prove::all_of(std::move(places)));
}

// Through both sides of branches.
bool PaddingFlow::is_made_of(ValueId v, ValueId source) const {
  std::set<ValueId> seen;
  std::vector<ValueId> open{v};
  while (!open.empty()) {
    ValueId next = open.back();
    open.pop_back();
    if (next == source) return true;
    if (!seen.insert(next).second) continue;
    const Op* op = kernel_.definition(next);
    if (!op) continue;
    each_operand(op->data, [&](ValueId operand) { open.push_back(operand); });
    each_region(op->data, [&](RegionId region) {
      if (!kernel_.region(region).ops.empty() && kernel_.terminator(region).is<op::Yield>())
        for (ValueId yielded : kernel_.terminator(region).as<op::Yield>().values) open.push_back(yielded);
    });
  }
  return false;
}

// Is it a value that has nothing to do with the set, but with what is padded elsewhere, or carried by a loop?
bool PaddingFlow::is_kept(const op::Map& map, const MapAxis& axis, unsigned set, ValueId root) const {
  const auto& args = kernel_.region(map.body).args;
  unsigned padded = axis.inputs(set), others = axis.inputs(~set);
  bool is_data = false;
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    if (!is_made_of(root, args[map.shape.size() + i])) continue;
    if (padded >> i & 1) return false;
    Known first;
    is_data |= (others >> i & 1) || begins_with(map, i, axis.axis, &first);
  }
  return is_data;
}

bool PaddingFlow::moves(const Edges& edges, RegionId loop) const {
  return std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) {
    return prover_.depends_on(edge.limit, loop) || (edge.has_low && prover_.depends_on(edge.first, loop));
  });
}

// Is `root` made of what a loop carries, of which other elements meet padding in each turn? Those that meet it always never are anything
// but padding.
bool PaddingFlow::carries(const op::Map& map, const MapAxis& axis, unsigned set, ValueId root) const {
  const auto& args = kernel_.region(map.body).args;
  bool found = false;
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    Known first;
    auto carried = first_values_.find(map.inputs[i]);
    if (carried == first_values_.end() || !begins_with(map, i, axis.axis, &first) || !is_made_of(root, args[map.shape.size() + i])) continue;
    for (size_t g = 0; g < axis.groups.size(); ++g) found |= (set >> g & 1) && moves(axis.groups[g].edges, carried->second.loop);
  }
  return found;
}

PaddingFlow::Outcome PaddingFlow::outcome_of(const op::Map& map, const MapAxis& axis, unsigned set, const MapResults& results, size_t r) {
  const auto& args = kernel_.region(map.body).args;
  ValueId result = kernel_.terminator(map.body).as<op::Yield>().values[r];
  unsigned padded = axis.inputs(set);
  bool is_touched = false;
  for (size_t i = 0; i < map.inputs.size(); ++i) is_touched |= (padded >> i & 1) && is_made_of(result, args[map.shape.size() + i]);
  Outcome outcome{set, Outcome::Kind::None, results.numbers[r]};
  if (!is_touched) return outcome;
  outcome.kind = Outcome::Kind::Kept;
  if (is_kept(map, axis, set, results.sure[r])) return outcome;
  if (results.taints[r] != Taint::Padding) return outcome.kind = Outcome::Kind::Set, outcome;
  outcome.kind = Outcome::Kind::Padding;
  if (axis.groups.size() == 1 && !carries(map, axis, set, results.left[r]) && !carries(map, axis, set, results.hoped[r]))
    return outcome.numbers = map_results(map, axis.axis, axis.groups, set, true).numbers[r], outcome;
  keep(map, axis, outcome, results.hoped[r], results.left[r], r);
  return outcome;
}

// Does the result combine something with padding that was written, and read just so?
bool PaddingFlow::is_asked_for(const op::Map& map, const Group& group, size_t r) const {
  if (!group.sample.is_as_read || !group.sample.origin.pad.valid()) return false;
  const auto& args = kernel_.region(map.body).args;
  auto* combined = kernel_.defined_by<op::Binary>(kernel_.terminator(map.body).as<op::Yield>().values[r]);
  bool is_direct = false;
  for (size_t i = 0; combined && i < map.inputs.size(); ++i) {
    ValueId arg = args[map.shape.size() + i];
    is_direct |= (group.inputs >> i & 1) && (combined->a == arg || combined->b == arg);
  }
  return is_direct;
}

// Hoped to be kept, or what a loop carries and padding is added to that nobody asked for: a mask makes it so.
void PaddingFlow::keep(const op::Map& map, const MapAxis& axis, Outcome& outcome, ValueId hoped, ValueId left, size_t r) {
  const Group* group = nullptr;
  for (size_t g = 0; g < axis.groups.size(); ++g)
    if (outcome.groups >> g & 1) group = &axis.groups[g];
  bool is_one = (outcome.groups & (outcome.groups - 1)) == 0;
  if (!is_one || !group->is_filled || group->edges.empty() || !masks_.can_stand(region_, group->edges)) return;
  const auto& ops = kernel_.region(map.body).ops;
  auto is_at_hand = [&](ValueId root) { return !kernel_.value(root).op.valid() || std::find(ops.begin(), ops.end(), kernel_.value(root).op) != ops.end(); };
  bool may_leave = group->sample.kind == PaddingKind::Read && !is_asked_for(map, *group, r);
  ValueId root = is_kept(map, axis, outcome.groups, hoped) ? hoped : left;
  bool is_kept_root = root == hoped || (may_leave && is_kept(map, axis, outcome.groups, left) && carries(map, axis, outcome.groups, left));
  if (!is_kept_root || !is_at_hand(root)) return;
  masks_.add(ResultMask{region_, op_, r, axis.axis, group->edges, root});
  outcome.kind = Outcome::Kind::Kept;
  outcome.root = root;
}

// Of a result that nothing but what loops carry is left of, where they have not brought anything yet.
AxisPadding PaddingFlow::begun(const op::Map& map, const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r) {
  const auto& args = kernel_.region(map.body).args;
  ValueId result = kernel_.terminator(map.body).as<op::Yield>().values[r];
  AxisPadding padding{};
  bool is_first = true;
  ValueId masked;
  unsigned kept = 0;
  auto meet = [&](const AxisPadding& other) {
    if (is_first) padding = other, padding.is_padded = true, padding.kind = PaddingKind::First, padding.is_as_read = false;
    else if (is_beyond(other.edges, padding.edges)) padding.edges = other.edges;
    else if (!is_beyond(padding.edges, other.edges)) padding.lose_edges();
    padding.is_filled &= other.is_filled;
    is_first = false;
  };
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    TileState input = state(map.inputs[i]);
    for (size_t a = 0; a < input.axes.size(); ++a)
      if (reads_along(map, i, a, axis.axis) && input.axes[a].is_padded && input.axes[a].kind == PaddingKind::First && is_made_of(result, args[map.shape.size() + i]))
        meet(input.axes[a]);
  }
  for (const Outcome& outcome : outcomes) {
    if (outcome.kind != Outcome::Kind::Kept) continue;
    kept |= outcome.groups;
    if (outcome.root.valid()) masked = outcome.root;
    for (size_t g = 0; g < axis.groups.size(); ++g)
      if (outcome.groups >> g & 1) {
        AxisPadding sample = axis.groups[g].sample;
        sample.is_filled = axis.groups[g].is_filled;
        meet(sample);
      }
  }
  if (!padding.is_padded) return padding;
  MapResults results = map_results(map, axis.axis, axis.groups, kept, true);
  auto root = results.known.find(masked);
  padding.numbers = root != results.known.end() ? root->second : results.numbers[r];
  return padding;
}

// The edges of a result are those of the groups that make it padding whatever the others are; they must tell of all of it.
AxisPadding PaddingFlow::padding_of(const op::Map& map, const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r) {
  auto is_padding = [](const Outcome& o) { return o.kind == Outcome::Kind::Set || o.kind == Outcome::Kind::Padding; };
  AxisPadding padding{};
  unsigned deciding = (1u << axis.groups.size()) - 1;
  bool is_set = true;
  for (const Outcome& outcome : outcomes) {
    if (!is_padding(outcome)) {
      deciding &= ~outcome.groups;
      continue;
    }
    padding.is_padded = true;
    padding.numbers = joined(padding.numbers, outcome.numbers);
    is_set &= outcome.kind == Outcome::Kind::Set;
  }
  if (!padding.is_padded) return begun(map, axis, outcomes, r);
  padding.kind = is_set ? PaddingKind::Set : PaddingKind::Read;
  padding.is_filled = true;
  bool is_told = true;
  for (const Outcome& outcome : outcomes) is_told &= !is_padding(outcome) || (outcome.groups & deciding);
  for (size_t g = 0; g < axis.groups.size(); ++g) {
    if (!padding.origin.read.valid()) padding.origin = axis.groups[g].sample.origin;
    if (!(deciding >> g & 1)) continue;
    is_told &= !axis.groups[g].edges.empty();
    padding.is_filled &= axis.groups[g].is_filled;
    for (const Edge& edge : axis.groups[g].edges)
      if (std::find(padding.edges.begin(), padding.edges.end(), edge) == padding.edges.end()) padding.edges.push_back(edge);
  }
  if (!is_told) padding.lose_edges();
  return padding;
}

Known PaddingFlow::corner_of(const op::Map& map, size_t r) {
  const auto& args = kernel_.region(map.body).args;
  NumbersOf known = scalars_;
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    TileState input = state(map.inputs[i]);
    Known numbers = input.corner;
    for (const AxisPadding& axis : input.axes)
      if (axis.is_padded) numbers = joined(numbers, axis.numbers);
    bool is_sure = input.is_padded() && map.shape.size() == 2;
    known[args[map.shape.size() + i]] = is_sure ? numbers : joined(numbers, input.inside);
  }
  return run_on_numbers(prover_, kernel_, map.body, std::move(known), {}, {}, prove::truth(true)).numbers[r];
}

// Has the map padding along another axis, along which its result has none, or other than that of a read? What is outside there as well
// is no corner.
bool PaddingFlow::hides_corner(const op::Map& map, const TileState& result, size_t axis) const {
  bool found = false;
  for (size_t a = 0; a < result.axes.size(); ++a) {
    bool is_own = result.axes[a].is_padded && result.axes[a].kind != PaddingKind::First;
    found |= a != axis && !is_own && !groups_along(map, int64_t(a)).empty();
  }
  return found;
}

// What is computed of what a loop carries, element by element, has a first value as well.
void PaddingFlow::note_first(const op::Map& map, const Op& at) {
  const auto& args = kernel_.region(map.body).args;
  NumbersOf known = scalars_;
  RegionId loop;
  std::vector<bool> carries(map.inputs.size());
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    auto first = first_values_.find(map.inputs[i]);
    carries[i] = first != first_values_.end() && map.input_axes[i].size() == map.shape.size();
    if (carries[i]) loop = first->second.loop;
    known[args[map.shape.size() + i]] = carries[i] ? first->second.state.inside : state(map.inputs[i]).inside;
  }
  if (!loop.valid()) return;
  MapResults results = run_on_numbers(prover_, kernel_, map.body, std::move(known), {}, {}, prove::truth(true));
  const auto& yielded = kernel_.terminator(map.body).as<op::Yield>().values;
  for (size_t r = 0; r < at.results.size(); ++r)
    for (size_t i = 0; i < map.inputs.size(); ++i)
      if (carries[i] && is_made_of(yielded[r], args[map.shape.size() + i])) first_values_[at.results[r]] = {plain_state(results.numbers[r], int(map.shape.size())), loop};
}

void PaddingFlow::run_map(const op::Map& map, const Op& at) {
  note_first(map, at);
  MapResults inside = map_results(map, -1, {}, 0, false);
  std::vector<TileState> states;
  for (size_t r = 0; r < at.results.size(); ++r) states.push_back(plain_state(inside.numbers[r], int(map.shape.size())));
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
      MapResults results = map_results(map, int64_t(a), axis.groups, set, false);
      mask_guards(map, axis, set, results);
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
      for (size_t i = 0; i < map.inputs.size(); ++i)
        is_read |= (group.inputs >> i & 1) && is_made_of(op.result(), kernel_.region(map.body).args[map.shape.size() + i]);
      if (!is_read || !(set >> g & 1)) continue;
      if (!group.is_filled || group.edges.empty() || !masks_.can_stand(region_, group.edges)) unknown = &group;
      edges.insert(edges.end(), group.edges.begin(), group.edges.end());
    }
    if (!unknown) return masks_.add(GuardMask{region_, op_, id, axis.axis, edges});
    if (divides && numbers->second.sure.is_within(kZero)) report(unknown->sample, kernel_.op(op_).as<op::Map>().inputs[size_t(std::countr_zero(unknown->inputs))], "division", "1", op);
  });
}

}  // namespace tilec::passes
