// How elementwise code carries padding.
//
// Along an axis, each set of padded inputs is looked at as if these were padding and the others were not. What is computed of padding
// is padding. Assignments that would put it in the place of something else leave that as it is (padding_kept.cpp).
#include "passes/padding_flow.h"

#include <bit>

#include "ir/sources.h"

namespace tilec::passes {

using namespace ir;

unsigned PaddingFlow::MapAxis::inputs(unsigned set) const {
  unsigned all = 0;
  for (size_t g = 0; g < groups.size(); ++g)
    if (set >> g & 1) all |= groups[g].inputs;
  return all;
}

std::vector<PaddingFlow::Group> PaddingFlow::grouped(int64_t axis) const {
  std::vector<Group> groups;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TileState& input = inputs_[i].state;
    for (size_t a = 0; a < input.axes.size(); ++a) {
      const AxisPadding& padding = input.axes[a];
      if (!reads_along(i, a, axis) || !padding.is_padded) continue;
      if (i >= kMostInputs) groups.resize(kMostGroups + 1, Group{{}, false, 0, &padding});
      if (groups.size() > kMostGroups) return groups;
      const bool is_by_turn = inputs_[i].is_by_turn && a + 1 == input.axes.size();
      auto same = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
        const std::optional<Edges>& place = inputs_[size_t(std::countr_zero(g.inputs))].at_place;
        return (is_by_turn && g.is_by_turn && place && place == inputs_[i].at_place) || (g.is_filled && padding.is_filled && g.edges == padding.edges);
      });
      if (same == groups.end()) same = groups.insert(groups.end(), Group{padding.edges, padding.is_filled, 0, &padding, is_by_turn});
      same->inputs |= 1u << i;
    }
  }
  return groups;
}

// Sets of groups that may be padding at once while the others are not.
std::vector<unsigned> PaddingFlow::possible_sets(std::span<const Group> groups) {
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

// What may be free, at these places.
Made PaddingFlow::made_there(const AxisPadding& along, const prove::Formula* places) const {
  const Made unknown = along.is_placed ? Made::Plain : Made::Maybe;
  if (!places) return unknown;
  const prove::Facts there = prover_.facts(region_).with(*places);
  if (prover_.proves(there, negation(along.free_when.when), prove::Effort::Quick)) return along.made_of();
  return along.free_when.is_exact && prover_.proves(there, along.free_when.when, prove::Effort::Quick) ? Made::Free : unknown;
}

// Along an axis of the map: what elements of an input are, inside or outside of its edges.
Marks PaddingFlow::marks_along(size_t input, int64_t axis, bool is_outside, const prove::Formula* places, unsigned padded, unsigned but) const {
  const uint32_t bit = bit_of(input);
  Marks marks{.is_of_element = true, .variable = bit};
  if (const AxisPadding* along = is_in(but, input) ? padding_along(input, axis) : nullptr) {
    const Uniform& of = along->uniform;
    marks.made = of.may_be_data ? Made::Maybe : of.is_placed ? Made::Placed : of.may_be_placed ? Made::Plain : Made::Free;
    if (of.may_be_data) marks.data = bit;
    return marks;
  }
  const TileState& of = inputs_[input].state;
  for (size_t a = 0; a < of.axes.size(); ++a) {
    const AxisPadding& along = of.axes[a];
    if (!reads_along(input, a, axis)) continue;
    if (along.stands() && is_outside) {
      marks.made = most(marks.made, Made::Placed);
    } else if (along.is_padded && is_outside) {
      if (auto beside = inputs_[input].beside.find(axis); beside != inputs_[input].beside.end() && !is_in(but, beside->second)) {
        if (!is_in(padded, beside->second)) return {.made = Made::Data, .is_of_element = true, .kept = bit, .data = bit_of(beside->second), .variable = bit};
        return {.taint = Taint::Padding, .made = Made::Data, .is_of_element = true, .variable = bit};
      }
      if (along.has_free()) marks.kept = bit;
      if (along.kind == PaddingKind::Free) marks.is_beyond = true;
      if (along.kind == PaddingKind::Free) continue;
      marks.taint = std::max(marks.taint, along.kind == PaddingKind::Set ? Taint::Set : along.kind == PaddingKind::Mixed ? Taint::Mixed : Taint::Padding);
      if (along.has_free()) marks.is_beyond = true;
      else marks.made = Made::Data;
    } else {
      marks.made = most(marks.made, along.is_free ? Made::Free : along.may_be_free ? made_there(along, places) : along.made_of());
    }
  }
  const bool is_data = marks.made == Made::Maybe || marks.made >= Made::Counting;
  if (is_data) marks.data = bit;
  if (axis < 0 ? !of.is_uniform() : is_data) marks.read = of.taken_up == TakenUp::Yes ? 0 : bit;
  if (of.taken_up == TakenUp::InSomeRuns) marks.may_be_taken_up = marks.read;
  return marks;
}

const AxisPadding* PaddingFlow::padding_along(size_t input, int64_t axis) const {
  auto found = padded_.find({input, axis});
  return found != padded_.end() ? found->second : nullptr;
}

// Of an element along an axis of a map; along the one behind all others there is one.
prove::Linear PaddingFlow::coordinate(const op::Map& map, int64_t axis) const {
  return axis < int64_t(map.shape.size()) ? prover_.value(kernel_.region(map.body).args[size_t(axis)]) : prove::Linear(0);
}

// What stands beyond an edge there; beside other padding, in runs in which it is none itself as well.
Known PaddingFlow::padded_at(const AxisPadding& along, const prove::Formula& places, bool is_beside) const {
  if (!is_beside || along.kind != PaddingKind::Free || along.uniform.when.is_false()) return along.numbers;
  const Known any = joined(along.numbers, along.uniform.number);
  const bool is_never = any != along.numbers && prover_.proves(prover_.facts(region_).with(places), negation(along.uniform.when), prove::Effort::Quick);
  return is_never ? along.numbers : any;
}

// What is free may be, there.
Known PaddingFlow::plain_at(const AxisPadding& along, const prove::Formula& places) const {
  if (places.is_true() || along.plain.size() < 2) return any_of(along.plain);
  const prove::Facts there = prover_.facts(region_).with(places);
  Known any;
  for (const Plain& one : along.plain)
    if (!prover_.proves(there, negation(one.when), prove::Effort::Quick)) any = joined(any, one.number);
  return any;
}

// The results of the map where, along its `axis`, the inputs of the set are padding and the others are not (axis -1: where it
// lies inside on every axis). `is_free`: and what may be free is. `but`: in runs in which these inputs are no padding; nothing is asked there.
MapResults PaddingFlow::map_results(const op::Map& map, const MapAxis& along, unsigned set, bool is_free, const std::map<size_t, const Plain*>* plain, unsigned but) {
  const int64_t axis = along.axis;
  const std::span<const Group> groups = along.groups;
  const auto& args = kernel_.region(map.body).args;
  NumbersOf known = scalars_;
  MarksOf marks;
  unsigned padded = 0, beside = 0;  // beside: what is padding whatever is free
  std::vector<prove::Formula> places, unless;
  for (size_t g = 0; g < groups.size(); ++g) {
    bool is_in = set >> g & 1;
    if (is_in) padded |= groups[g].inputs;
    if (groups[g].edges.empty() || (!is_in && !groups[g].is_filled)) continue;
    prove::Formula place = outside(groups[g].edges, coordinate(map, axis));
    places.push_back(is_in ? place : negation(place));
    if (!is_in || !(groups[g].inputs & ~but)) continue;
    unless.push_back(all_uniform(groups[g].inputs & ~but, axis));
    if (unless.back().is_false()) beside |= groups[g].inputs;
  }
  padded &= ~but;
  // Along the other axes it lies inside; what does not is in the corners.
  for (int64_t other = 0; axis >= 0 && other <= int64_t(map.shape.size()); ++other)
    for (const Group& group : other == axis ? std::span<const Group>() : std::span<const Group>(groups_[size_t(other)]))
      if (group.is_filled && !group.edges.empty()) places.push_back(inside_along(group, map, other));
  const prove::Formula all = prove::all_of(std::move(places)), runs = runs_of(axis, all, std::move(unless), but);
  if (axis >= 0 && axis < int64_t(map.shape.size())) marks[args[size_t(axis)]].made = Made::Placed;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TileState& input = inputs_[i].state;
    ValueId arg = inputs_[i].element;
    Known numbers = axis < 0 ? input.inside : ordinary(input.inside);
    for (size_t a = 0; is_free && a < input.axes.size(); ++a)
      if (reads_along(i, a, axis) && input.axes[a].may_be_free) numbers = plain && plain->contains(i) ? plain->at(i)->number : plain_at(input.axes[a], set ? runs : prove::truth(true));
    for (size_t a = 0; a < input.axes.size(); ++a)
      if (is_in(padded, i) && reads_along(i, a, axis) && input.axes[a].is_padded) numbers = padded_at(input.axes[a], runs, is_in(beside, i));
    if (axis >= 0 && !is_in(padded, i)) numbers = met_there(i, axis, groups, set, numbers);
    for (size_t a = 0; set && a < input.axes.size(); ++a) numbers.is_beside |= !is_in(padded, i) && reads_along(i, a, axis) && !input.axes[a].is_free;
    known[arg] = numbers;
    marks[arg] = marks_along(i, axis, is_in(padded, i), set ? &runs : nullptr, padded, but);
    if (const AxisPadding* along = is_in(but, i) ? padding_along(i, axis) : nullptr) known[arg] = along->uniform.number;
  }
  auto keeps = [&](const Assignment& made) {
    if (!set) return Keeping::Next;  // there is no padding, whatever a place has been taken for
    if (but) return is_padding_itself(along, set, made) ? Keeping::Next : Keeping::Old;
    return noted(made, this->keeps(along, set, made));
  };
  if (!but) lapses_.clear(), kept_.clear();
  return with_stores(run_on_numbers(prover_, decisions_, kernel_, map.body, std::move(known), std::move(marks), all, keeps, [this] { return noting(); }));
}

// What an input that has no padding holds where those of the set do: it may be made by the places of its elements.
Known PaddingFlow::met_there(size_t input, int64_t axis, std::span<const Group> groups, unsigned set, const Known& otherwise) {
  const Op* made = kernel_.definition(inputs_[input].tile);
  auto* inner = made ? made->get<op::Map>() : nullptr;
  auto at = std::find(inputs_[input].axes.begin(), inputs_[input].axes.end(), axis);
  if (!inner || at == inputs_[input].axes.end() || inputs_[input].state.is_padded()) return otherwise;
  const auto& args = kernel_.region(inner->body).args;
  std::vector<prove::Formula> places;
  for (size_t g = 0; g < groups.size(); ++g)
    if ((set >> g & 1) && !groups[g].edges.empty()) places.push_back(outside(groups[g].edges, coordinate(*inner, at - inputs_[input].axes.begin())));
  NumbersOf known = scalars_;
  for (size_t i = 0; i < inner->inputs.size(); ++i) known[args[inner->shape.size() + i]] = state(inner->inputs[i]).inside;
  if (places.empty() || std::any_of(inner->inputs.begin(), inner->inputs.end(), [&](ValueId v) { return state(v).is_padded(); })) return otherwise;
  MapResults results = run_on_numbers(prover_, decisions_, kernel_, inner->body, std::move(known), {}, prove::all_of(std::move(places)));
  return results.numbers[size_t(std::find(made->results.begin(), made->results.end(), inputs_[input].tile) - made->results.begin())];
}

// Through both sides of branches, and the turns of loops. What `is_kept` says of an assignment: it leaves what was held. `seen`: these are looked at no further.
// `is_assigned`: what assignments that nothing was kept out of have replaced is none.
std::set<ValueId> PaddingFlow::sources_of(ValueId v, const std::function<bool(OpId)>& is_kept, std::set<ValueId> seen, bool is_assigned) const {
  std::vector<ValueId> open{v};
  while (!open.empty()) {
    ValueId next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    const Op* op = kernel_.definition(next);
    if (!op) {
      const std::vector<ValueId> from = turned(next);
      open.insert(open.end(), from.begin(), from.end());
      continue;
    }
    const OpId inside = asked_in(*op);
    if (is_kept && inside.valid() && is_kept(inside)) {
      open.push_back(op->as<op::Select>().b);
      continue;
    }
    if (is_assigned && inside.valid() && !kept_.contains(inside)) {
      open.push_back(op->as<op::Select>().a), open.push_back(kernel_.op(inside).as<op::Inside>().x);
      continue;
    }
    const size_t result = size_t(std::ranges::find(op->results, next) - op->results.begin());
    if (auto* loop = op->get<op::For>()) {
      // What it begins with is left where it has no turn, or where a turn makes it of that.
      for (ValueId v : {loop->low, loop->high, loop->step}) open.push_back(v);
      if (!turning_.contains(loop->body)) open.push_back(loop->inits[result]);
      open.push_back(kernel_.terminator(loop->body).as<op::Yield>().values[result]);
      continue;
    }
    if (auto* loop = op->get<op::While>(); loop && loops_.contains(loop->condition)) {
      const std::vector<ValueId>& passed = kernel_.terminator(loop->condition).as<op::Yield>().values;
      const std::vector<ValueId>& args = kernel_.region(loop->condition).args;
      const size_t arg = size_t(std::ranges::find(args, passed[result + 1]) - args.begin());
      const bool is_turned = turning_.contains(loop->condition) && arg < args.size();
      open.push_back(passed[0]), open.push_back(is_turned ? kernel_.terminator(loop->body).as<op::Yield>().values[arg] : passed[result + 1]);
      continue;
    }
    each_maker(*op, [&](ValueId operand) { open.push_back(operand); });
    each_region(op->data, [&](RegionId region) {
      if (kernel_.region(region).ops.empty() || !kernel_.terminator(region).is<op::Yield>()) return;
      const std::vector<ValueId>& yielded = kernel_.terminator(region).as<op::Yield>().values;
      if (op->is<op::If>()) return open.push_back(yielded[result]);
      open.insert(open.end(), yielded.begin(), yielded.end());
    });
  }
  return seen;
}

// What an argument of a loop in a map is made of; of others, nothing.
std::vector<ValueId> PaddingFlow::turned(ValueId argument) const {
  const RegionId region = kernel_.value(argument).region;
  auto loop = loops_.find(region);
  if (loop == loops_.end()) return {};
  const std::vector<ValueId>& args = kernel_.region(region).args;
  return carried_sources(kernel_, kernel_.op(loop->second), region, size_t(std::ranges::find(args, argument) - args.begin()));
}

Known PaddingFlow::corner_of(const op::Map& map, size_t r) {
  NumbersOf known = scalars_;
  MarksOf marks;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TileState& input = inputs_[i].state;
    Known numbers = input.corner;
    for (const AxisPadding& axis : input.axes)
      if (axis.is_padded) numbers = joined(numbers, axis.numbers);
    bool is_sure = input.is_padded() && map.shape.size() == 2;
    known[inputs_[i].element] = is_sure ? numbers : joined(numbers, input.inside);
    if (input.is_padded()) marks[inputs_[i].element].taint = Taint::Padding;
  }
  auto either = [](const Assignment&) { return Keeping::Either; };
  return with_stores(run_on_numbers(prover_, decisions_, kernel_, map.body, std::move(known), std::move(marks), prove::truth(true), either)).numbers[r];
}

// Has the map padding along another axis that is none in its result? What is outside there as well is no corner.
bool PaddingFlow::hides_corner(const TileState& result, size_t axis) {
  auto is_shown = [&](const AxisPadding& of, const Group& group) {
    return of.is_padded && (of.kind != PaddingKind::Free || (of.can_be_masked() && is_beyond(group.edges, of.edges)));
  };
  for (size_t a = 0; a < result.axes.size(); ++a)
    for (const Group& group : a == axis ? std::span<const Group>() : std::span<const Group>(groups_[a]))
      if (!is_shown(result.axes[a], group)) return true;
  return false;
}

// Shared tiles that the body writes whole, each element at its own place: like results of it.
void PaddingFlow::find_stores(const op::Map& map) {
  const std::span<const ValueId> places = std::span(kernel_.region(map.body).args).first(map.shape.size());
  std::map<ValueId, size_t> writes;
  each_op(kernel_, map.body, [&](OpId id) {
    const Op& op = kernel_.op(id);
    auto* store = op.get<op::ElementStore>();
    auto* atomic = op.get<op::Atomic>();
    if (store || atomic) ++writes[store ? store->buffer : atomic->buffer];
  });
  for (OpId id : kernel_.region(map.body).ops) {
    auto* store = kernel_.op(id).get<op::ElementStore>();
    if (!store || writes[store->buffer] > 1 || kernel_.defined_by<op::Subview>(store->buffer) || kernel_.type(store->buffer).space != Space::Shared) continue;
    if (!std::ranges::equal(store->indices, places) || kernel_.type(store->buffer).shape != map.shape) continue;
    made_.push_back(store->value), into_.push_back(store->buffer);
  }
}

MapResults PaddingFlow::with_stores(MapResults results) const {
  for (size_t r = results.numbers.size(); r < made_.size(); ++r) {
    auto marks = results.marks_of.find(made_[r]);
    results.numbers.push_back(scalar_numbers(kernel_, made_[r], results.known));
    results.marks.push_back(marks != results.marks_of.end() ? marks->second : Marks{});
  }
  return results;
}

void PaddingFlow::look_at(const op::Map& map, const Op& at) {
  inputs_ = inputs_of(map);
  padded_.clear(), sources_.clear(), reads_elements_.clear(), has_loop_ = false;
  each_op(kernel_, map.body, [&](OpId id) {
    const Op& op = kernel_.op(id);
    if (op.is<op::For>() || op.is<op::While>()) has_loop_ = true, each_region(op.data, [&](RegionId part) { loops_[part] = id; });
  });
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TileState& of = inputs_[i].state;
    for (size_t a = 0; a < of.axes.size(); ++a)
      if (of.axes[a].is_padded) padded_.try_emplace({i, inputs_[i].axes[a]}, &of.axes[a]);
  }
  groups_.clear();
  for (size_t a = 0; a <= map.shape.size(); ++a) groups_.push_back(grouped(int64_t(a)));
  made_ = kernel_.terminator(map.body).as<op::Yield>().values;
  into_ = at.results;
  find_stores(map);
  if (has_loop_) turning_.merge(map_results(map, {-1, {}, {}}, 0).turned);
  for (size_t r = 0; r < made_.size(); ++r) {
    sources_.push_back(sources_of(made_[r]));
    reads_elements_.push_back(std::ranges::any_of(sources_[r], [&](ValueId v) {
      const Op* op = kernel_.definition(v);
      return op && (op->is<op::ElementLoad>() || op->is<op::Atomic>()) && std::ranges::find(inputs_, v, &MapInput::element) == inputs_.end();
    }));
  }
}

// What stands beyond two axes or more of a result; `counts`: in runs in which it is no padding.
void PaddingFlow::note_corner(const op::Map& map, size_t r, bool counts, TileState& state) {
  const auto padded = std::ranges::count_if(state.axes, &AxisPadding::is_padded);
  std::optional<Known> corner;
  if (counts) state.inside = joined(state.inside, corner.emplace(corner_of(map, r)));
  if (padded > 1) state.corner = corner ? *corner : corner.emplace(corner_of(map, r));
  for (size_t a = 0; a < state.axes.size(); ++a) {
    if (!state.axes[a].is_padded || !hides_corner(state, a)) continue;
    if (!corner) corner = corner_of(map, r);
    state.axes[a].numbers = joined(state.axes[a].numbers, *corner);
  }
}

void PaddingFlow::run_map(const op::Map& map, const Op& at) {
  look_at(map, at);
  masks_.forget(op_);
  std::map<ValueId, AxisPadding> stored;
  MapResults inside = map_results(map, {-1, {}, {}}, 0);
  std::vector<TileState> states;
  std::vector<std::set<size_t>> counting(made_.size());  // axes along which some of a result counts where inputs are padding
  for (size_t r = 0; r < made_.size(); ++r) {
    states.push_back(plain_state(inside.numbers[r], map.shape.size()));
    states.back().taken_up = taken_up(inside.marks[r]);
  }
  for (size_t a = 0; a <= map.shape.size(); ++a) {
    MapAxis axis{int64_t(a), groups_[a], {}};
    if (axis.groups.size() > kMostGroups) {
      for (size_t r = 0; r < states.size(); ++r)
        states[r].axes[a] = {.is_padded = true, .kind = PaddingKind::Mixed, .numbers = known_anything(element(into_[r])), .origin = axis.groups[0].sample->origin};
      refuse_all(map, axis);
      continue;
    }
    axis.sets = possible_sets(axis.groups);
    std::vector<std::vector<Outcome>> outcomes(states.size());
    for (unsigned set : axis.sets) {
      MapResults results = map_results(map, axis, set);
      mask_guards(map, axis, set, results);
      mask_effects(map, axis, set, results);
      note_stores(map, axis, results, stored);
      for (size_t r = 0; r < states.size(); ++r) {
        const Outcome& outcome = outcomes[r].emplace_back(outcome_of(map, axis, set, results, r));
        // Of an assignment, what it has left as it was counts.
        if (!outcome.counts()) continue;
        states[r].inside = joined(states[r].inside, results.numbers[r]);
        counting[r].insert(a);
      }
    }
    warn_of_effects(axis);
    for (size_t r = 0; r < states.size(); ++r) states[r].axes[a] = padding_of(map, axis, outcomes[r], r);
  }
  for (size_t r = 0; r < states.size(); ++r) note_corner(map, r, counting[r].size() > 1, states[r]);
  store_elements(map, stored);
  for (size_t r = 0; r < states.size(); ++r) (r < at.results.size() ? tiles_ : buffers_)[into_[r]] = std::move(states[r]);
}

}  // namespace tilec::passes
