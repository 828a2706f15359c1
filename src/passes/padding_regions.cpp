// Of the results of elementwise code, along an axis: what comes of each set of padded inputs, and where that lies.
#include "passes/padding_flow.h"

#include <bit>

namespace tilec::passes {

using namespace ir;

// Is all that lies outside of `inner` outside of `outer` as well?
bool PaddingFlow::is_beyond(const Edges& inner, const Edges& outer) {
  if (inner == outer) return true;
  auto goes_further = [&](const Edge& x, const Edge& y) {
    auto proves = [&](const prove::Linear& a, const prove::Linear& b) { return a == b || prover_.proves(prover_.facts(region_), at_least(a, b), prove::Effort::Quick); };
    return proves(x.limit, y.limit) && (!x.has_low || (y.has_low && proves(y.first, x.first)));
  };
  auto is_in = [&](const Beyond& x, const Beyond& y) {
    const bool holds = y.when.is_true() || x.when == y.when || prover_.proves(prover_.facts(region_).with(x.when), y.when, prove::Effort::Quick);
    return holds && std::ranges::all_of(y.edges, [&](const Edge& wide) { return std::ranges::any_of(x.edges, [&](const Edge& narrow) { return goes_further(narrow, wide); }); });
  };
  return !inner.empty() && std::ranges::all_of(inner, [&](const Beyond& x) { return std::ranges::any_of(outer, [&](const Beyond& y) { return is_in(x, y); }); });
}

// What lies outside of both.
Edges PaddingFlow::beyond_both(const Edges& a, const Edges& b) {
  if (is_beyond(a, b)) return a;
  if (is_beyond(b, a)) return b;
  Edges both;
  for (const Beyond& x : a)
    for (const Beyond& y : b) {
      Beyond all = x;
      if (x.when != y.when) all.when = prove::all_of({x.when, y.when});
      for (const Edge& edge : y.edges)
        if (std::ranges::find(all.edges, edge) == all.edges.end()) all.edges.push_back(edge);
      both.push_back(std::move(all));
    }
  return both.size() <= kMostGroups ? both : Edges();
}

PaddingFlow::Outcome::Kind PaddingFlow::kind_of(const Marks& marks) {
  using Kind = Outcome::Kind;
  if (marks.taint >= Taint::Mixed) return Kind::Padding;
  if (marks.taint == Taint::Set) return Kind::Set;
  if (marks.is_left_out() || marks.made == Made::Free) return Kind::Free;
  return marks.made == Made::Maybe || marks.made == Made::Plain ? Kind::Maybe : Kind::Data;
}

PaddingFlow::Outcome PaddingFlow::outcome_of(const op::Map& map, const MapAxis& axis, unsigned set, const MapResults& results, size_t r) {
  using Kind = Outcome::Kind;
  Outcome outcome{.groups = set, .numbers = results.numbers[r]};
  const Marks marks = results.marks[r];
  const unsigned padded = axis.inputs(set);
  outcome.kept = marks.kept, outcome.data = marks.data, outcome.is_placed = marks.made != Made::Free, outcome.is_assigned = marks.is_assigned;
  bool is_touched = false;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const AxisPadding* along = is_in(padded, i) && sources_[r].contains(inputs_[i].element) ? padding_along(i, axis.axis) : nullptr;
    if (!along) continue;
    is_touched = true;
    outcome.lapsed.insert(along->lapsed.begin(), along->lapsed.end());
    outcome.is_told |= along->told.is_some();
  }
  if (!is_touched) return outcome;
  outcome.is_mixed = marks.taint == Taint::Mixed, outcome.is_late = marks.is_late(~0u);
  // Free elements would have taken up what comes, padding would not.
  outcome.is_unsure = outcome.is_mixed && marks.is_beyond && marks.made == Made::Data, outcome.may_take_up = outcome.is_mixed && marks.is_beyond;
  outcome.kind = kind_of(marks);
  // Of numbers alone, which no variable has kept: what was assigned in front of them is gone.
  if (outcome.kind == Kind::Free && !marks.is_beyond && !marks.kept) {
    const std::set<ValueId> sources = sources_of(made_[r], {}, {}, true);
    bool is_left = false;
    for (size_t i = 0; i < inputs_.size(); ++i) is_left |= is_in(padded, i) && sources.contains(inputs_[i].element) && padding_along(i, axis.axis);
    if (!is_left) return {.groups = set, .numbers = results.numbers[r]};
  }
  outcome.stands = outcome.kind == Kind::Data && marks.made == Made::Placed;
  outcome.may_stand = outcome.kind == Kind::Data && marks.made == Made::Counting;
  // In some turns: what is left as it is there has come from others.
  if (is_by_turn(axis, set) && (outcome.kind == Kind::Free || outcome.kind == Kind::Maybe)) outcome.kind = Kind::Data;
  // It has become something that counts.
  if (!outcome.is_left_out() || outcome.kind == Kind::Set || outcome.is_unsure) {
    seen_.insert(outcome.lapsed.begin(), outcome.lapsed.end());
    seen_.insert(lapses_.begin(), lapses_.end());
  }
  outcome.lapsed.insert(lapses_.begin(), lapses_.end());
  if (outcome.kind == Kind::Maybe) outcome.numbers = map_results(map, axis, set, true).numbers[r];
  return outcome;
}

// Where the outcomes are left out: beyond the edges of the groups of a set that makes them so, whatever others are; these must tell of all of it.
PaddingFlow::Group PaddingFlow::region_of(const MapAxis& axis, const std::vector<Outcome>& outcomes) {
  Group region;
  std::vector<unsigned> least;
  for (const Outcome& outcome : outcomes)
    if (outcome.is_left_out() && std::ranges::none_of(least, [&](unsigned s) { return (outcome.groups & s) == s; })) least.push_back(outcome.groups);
  bool is_told = true;
  for (const Outcome& outcome : outcomes)
    is_told &= outcome.is_left_out() || std::ranges::none_of(least, [&](unsigned s) { return (outcome.groups & s) == s; });
  for (const Group& group : axis.groups)
    if (!region.sample || !region.sample->origin.read.valid()) region.sample = group.sample;
  for (unsigned set : least) {
    std::optional<Edges> both;
    bool is_filled = true;
    for (size_t g = 0; g < axis.groups.size(); ++g) {
      const Group& group = axis.groups[g];
      if (!(set >> g & 1)) continue;
      both = both ? beyond_both(*both, group.edges) : group.edges;
      // Where it lies another one that tells of all of it says so as well.
      bool is_said = group.is_filled;
      for (unsigned other : least)
        for (size_t h = 0; h < axis.groups.size(); ++h) is_said |= other == 1u << h && axis.groups[h].is_filled && axis.groups[h].edges == group.edges;
      is_filled &= is_said;
    }
    is_told &= both && !both->empty();
    region.is_filled &= is_filled;
    if (both) unite(region.edges, *both);
  }
  if (!is_told) region.edges.clear(), region.is_filled = false;
  return region;
}

// What a result is made of along an axis, where all its inputs lie inside.
Made PaddingFlow::made_inside(const op::Map& map, int64_t axis, size_t r) {
  const bool is_by_place = axis < int64_t(map.shape.size()) && sources_[r].contains(kernel_.region(map.body).args[size_t(axis)]);
  Made made = reads_elements_[r] ? Made::Data : is_by_place ? Made::Placed : Made::Free;
  for (size_t i = 0; i < inputs_.size() && made != Made::Data; ++i)
    if (sources_[r].contains(inputs_[i].element)) made = most(made, marks_along(i, axis, false).made);
  // A loop of the body may leave it as a turn does not.
  if (made == Made::Free || !has_loop_) return made;
  return map_results(map, {axis, {}, {}}, 0).marks[r].made;
}

// Of data of one tile alone, and of what variables have kept: it may be assigned to that tile. Other padding than that tile's has it none.
void PaddingFlow::note_asides(const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r, AxisPadding& result) {
  if (r >= kernel_.op(op_).results.size()) return;
  for (const Outcome& outcome : outcomes) {
    const size_t of = size_t(std::countr_zero(outcome.data));
    const bool is_one = outcome.is_aside() && !outcome.is_assigned && std::popcount(outcome.data) == 1 && of + 1 < kMostInputs;
    if (!is_one || std::ranges::find(result.asides, inputs_[of].tile, &Aside::of) != result.asides.end()) continue;
    if (std::optional<Edges> edges = edges_aside(axis, outcomes, of)) result.asides.push_back({inputs_[of].tile, std::move(*edges)});
  }
}

// Where it is made of that input, and of what others have kept. None: it is other padding as well; no edges: it is not known.
std::optional<Edges> PaddingFlow::edges_aside(const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t of) {
  Edges edges;
  bool is_told = true;
  for (const Outcome& outcome : outcomes) {
    const unsigned inputs = axis.inputs(outcome.groups);
    if (outcome.kind > Outcome::Kind::Free && !is_in(inputs, of)) return std::nullopt;
    if (!outcome.is_aside() || (outcome.data && outcome.data != bit_of(of))) continue;
    std::optional<Edges> both;
    for (size_t g = 0; g < axis.groups.size(); ++g) {
      const Group& group = axis.groups[g];
      if (!(outcome.groups >> g & 1)) continue;
      is_told &= group.is_filled && !group.edges.empty();
      both = both ? beyond_both(*both, group.edges) : group.edges;
    }
    is_told &= !both->empty();
    // Where all of them are no padding, it is made of numbers alone.
    const prove::Formula none = all_uniform(inputs, axis.axis);
    unite(edges, none.is_false() ? *both : guarded(*both, negation(none)));
  }
  return is_told ? edges : Edges();
}

// Inside it is data, and beyond edges of places and numbers alone; that may be anywhere where these are not known, or others are left out.
AxisPadding PaddingFlow::standing(const op::Map& map, const MapAxis& axis, std::vector<Outcome> outcomes, size_t r) {
  const bool is_alone = std::ranges::none_of(outcomes, [](const Outcome& o) { return o.is_left_out() || o.kind == Outcome::Kind::Maybe; });
  for (Outcome& outcome : outcomes)
    if (std::exchange(outcome.stands, false) && is_alone) outcome.kind = Outcome::Kind::Free;
  AxisPadding padding = padding_of(map, axis, outcomes, r);
  if (is_alone && padding.can_be_masked()) padding.stand();
  else if (is_alone) padding.stand_anywhere();
  else padding.may_be_placed = true;
  return padding;
}

// Two groups whose edges are known, and are not the same, where one is padding and the other is not; `sets`: where it counts no more than padding.
std::optional<Apart> PaddingFlow::apart_in(const MapAxis& axis, std::span<const unsigned> sets) {
  auto is_known = [](const Group& g) {
    return g.is_filled && !g.edges.empty() && g.sample->kind == PaddingKind::Read && std::ranges::all_of(g.edges, [](const Beyond& b) { return b.when.is_true(); });
  };
  unsigned all = 0;
  for (unsigned set : sets) all |= set;
  for (size_t g = 0; g < axis.groups.size(); ++g)
    if ((all >> g & 1) && axis.groups[g].sample->apart) return axis.groups[g].sample->apart;
  for (size_t g = 0; g < axis.groups.size(); ++g)
    for (size_t h = 0; h < axis.groups.size(); ++h) {
      const Group &in = axis.groups[g], &out = axis.groups[h];
      const bool is_met = (all >> g & 1) && (all >> h & 1) && std::ranges::any_of(sets, [&](unsigned set) { return (set >> h & 1) && !(set >> g & 1); });
      if (is_met && is_known(in) && is_known(out) && !is_beyond(out.edges, in.edges)) return Apart{in.sample->origin, out.sample->origin};
    }
  return std::nullopt;
}

// Of what an iteration does to memory, where an element that lies inside tells, and one that does not.
void PaddingFlow::warn_of_effects(const MapAxis& axis) {
  for (const auto& [id, sets] : axis.met) {
    const Op& op = kernel_.op(id);
    const std::optional<Apart> apart = op.is<op::Atomic>() || op.is<op::ElementStore>() ? apart_in(axis, sets) : std::nullopt;
    if (!apart) continue;
    AxisPadding told = *axis.groups[0].sample;
    told.apart = apart;
    report_apart(told, {}, op.is<op::Atomic>() ? "atomic" : "store", op);
  }
}

// Of what may be data, where it is not free: may it be of places instead?
bool PaddingFlow::may_be_of_places(const op::Map& map, int64_t axis, size_t r) const {
  if (axis < int64_t(map.shape.size()) && sources_[r].contains(kernel_.region(map.body).args[size_t(axis)])) return true;
  for (size_t i = 0; i < inputs_.size(); ++i)
    for (size_t a = 0; sources_[r].contains(inputs_[i].element) && a < inputs_[i].state.axes.size(); ++a)
      if (const AxisPadding& along = inputs_[i].state.axes[a]; reads_along(i, a, axis) && (along.is_placed || along.may_be_placed)) return true;
  return false;
}

AxisPadding PaddingFlow::padding_of(const op::Map& map, const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r) {
  using Kind = Outcome::Kind;
  auto has = [&](Kind kind) { return std::ranges::any_of(outcomes, [&](const Outcome& o) { return o.kind == kind; }); };
  const Made made = made_inside(map, axis.axis, r);
  if (made == Made::Data && std::ranges::any_of(outcomes, &Outcome::stands)) return standing(map, axis, outcomes, r);
  const bool is_plain = made == Made::Plain, is_counting = made == Made::Data && std::ranges::any_of(outcomes, &Outcome::may_stand);
  AxisPadding padding{.is_free = made == Made::Free, .may_be_free = made == Made::Maybe || is_plain, .is_placed = made == Made::Placed || is_plain, .may_be_placed = made == Made::Counting || is_counting};
  if (made == Made::Maybe) padding.may_be_placed = may_be_of_places(map, axis.axis, r);
  note_asides(axis, outcomes, r, padding);
  if (padding.may_be_free) padding.plain = plain_of(map, axis, r), padding.free_when = when_free(axis.axis, r);
  if (!has(Kind::Maybe) && std::ranges::none_of(outcomes, &Outcome::is_left_out)) return padding;
  padding.is_padded = true, padding.is_free = false;
  bool is_mixed = false;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.is_left_out() && outcome.kind != Kind::Maybe) continue;
    padding.numbers = joined(padding.numbers, outcome.numbers);
    padding.lapsed.insert(outcome.lapsed.begin(), outcome.lapsed.end());
    is_mixed |= outcome.is_mixed;
  }
  Group region = region_of(axis, outcomes);
  padding.edges = std::move(region.edges), padding.is_filled = region.is_filled, padding.origin = region.sample->origin;
  const bool is_read = has(Kind::Padding), is_set = has(Kind::Set), is_free = has(Kind::Free) || has(Kind::Maybe);
  is_mixed = (is_mixed && is_read) || (is_read && is_set) || (is_free && (is_read || is_set));
  for (const Outcome& outcome : outcomes)
    if (is_mixed && (outcome.kind == Kind::Set || outcome.is_told)) padding.told = joined(padding.told, outcome.numbers);
  padding.kind = is_mixed ? PaddingKind::Mixed : is_free ? PaddingKind::Free : is_read ? PaddingKind::Read : PaddingKind::Set;
  padding.may_take_up = is_mixed && (is_free || std::ranges::any_of(outcomes, &Outcome::may_take_up));
  const bool is_late = std::ranges::any_of(outcomes, [](const Outcome& o) { return o.is_late && o.is_left_out(); });
  if (has(Kind::Maybe) || is_late || std::ranges::any_of(outcomes, &Outcome::is_unsure)) padding.lose_edges();
  padding.is_scanned = padding.kind == PaddingKind::Read;
  for (const auto& [at, along] : padded_)
    if (at.second == axis.axis && sources_[r].contains(inputs_[at.first].element)) padding.is_scanned &= along->is_scanned;
  std::vector<unsigned> sets;
  for (const Outcome& outcome : outcomes)
    if (outcome.kind == Kind::Padding) sets.push_back(outcome.groups);
  padding.apart = apart_in(axis, sets);
  note_first_turn(axis, outcomes, r, padding);
  note_uniform(map, axis, outcomes, r, padding);
  if (is_late && padding.has_free()) padding.uniform = {prove::truth(false), true, padding.uniform.is_placed, known_anything(element(into_[r]))};
  return padding;
}

// The numbers of a result that is made of numbers alone: for each that its inputs may be.
std::vector<Plain> PaddingFlow::plain_of(const op::Map& map, const MapAxis& axis, size_t r) {
  constexpr size_t kMost = 4;
  std::vector<std::map<size_t, const Plain*>> cases{{}};
  for (size_t i = 0; i < inputs_.size(); ++i)
    for (size_t a = 0; sources_[r].contains(inputs_[i].element) && a < inputs_[i].state.axes.size(); ++a) {
      const AxisPadding& along = inputs_[i].state.axes[a];
      if (!reads_along(i, a, axis.axis) || !along.may_be_free || along.plain.size() < 2) continue;
      std::vector<std::map<size_t, const Plain*>> more;
      for (const auto& before : cases)
        for (const Plain& one : along.plain) (more.emplace_back(before))[i] = &one;
      cases = std::move(more);
      if (cases.size() > kMost) return {{map_results(map, axis, 0, true).numbers[r]}};
    }
  std::vector<Plain> all;
  for (const auto& one : cases) {
    std::vector<prove::Formula> when;
    for (const auto& [input, plain] : one) when.push_back(plain->when);
    all.push_back({map_results(map, axis, 0, true, &one).numbers[r], prove::all_of(std::move(when))});
  }
  std::erase_if(all, [](const Plain& one) { return one.when.is_false(); });
  return all;
}

// In which runs a result is made of numbers alone, where its inputs may be.
Runs PaddingFlow::when_free(int64_t axis, size_t r) const {
  Runs all{prove::truth(true), !has_loop_};
  for (size_t i = 0; i < inputs_.size(); ++i)
    for (size_t a = 0; sources_[r].contains(inputs_[i].element) && a < inputs_[i].axes.size(); ++a)
      if (const AxisPadding& along = inputs_[i].state.axes[a]; reads_along(i, a, axis) && along.may_be_free) all = both(all, along.free_when);
  return all;
}

// Is some of what is left out counted in runs in which those inputs are no padding, though others are?
bool PaddingFlow::counts_without(const op::Map& map, const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r, unsigned uniform) {
  return std::ranges::any_of(outcomes, [&](const Outcome& outcome) {
    const unsigned inputs = axis.inputs(outcome.groups);
    if (!outcome.is_left_out() || !(inputs & uniform) || !(inputs & ~uniform)) return false;
    return kind_of(map_results(map, axis, outcome.groups, false, nullptr, uniform).marks[r]) < Outcome::Kind::Free;
  });
}

// In which runs a result that is free beyond edges is the same all along the axis: where all that it is made of is.
// Made of others as well, it is free there where these are padding.
void PaddingFlow::note_uniform(const op::Map& map, const MapAxis& along_axis, const std::vector<Outcome>& outcomes, size_t r, AxisPadding& result) {
  if (!result.is_padded) return;
  const int64_t axis = along_axis.axis;
  std::optional<Uniform> all;
  unsigned uniform = 0;
  int padded = 0;
  bool is_one = true;
  Edges others;
  NumbersOf known = scalars_;
  bool is_alone = result.has_free();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    known[inputs_[i].element] = inputs_[i].state.inside;
    for (size_t a = 0; sources_[r].contains(inputs_[i].element) && a < inputs_[i].axes.size(); ++a) {
      const AxisPadding& along = inputs_[i].state.axes[a];
      if (!reads_along(i, a, axis) || along.is_free || (along.is_placed && !along.may_be_free && !along.is_padded)) continue;
      const bool is_free = along.is_padded && (along.kind == PaddingKind::Free || (along.kind == PaddingKind::Mixed && !along.uniform.is_never()));
      is_alone &= is_free, padded += along.is_padded;
      if (along.is_padded && (!is_free || along.uniform.is_never())) unite(others, along.edges);
      if (!is_free || along.uniform.is_never()) continue;
      is_one &= !all || all->when == along.uniform.when;
      all = all ? both(*all, along.uniform) : along.uniform;
      if (i < kMostInputs) uniform |= 1u << i;
      known[inputs_[i].element] = along.uniform.number;
    }
  }
  if (!all) return;
  // Made of places as well, it is not the same all along.
  const bool is_placed = std::ranges::any_of(outcomes, [](const Outcome& o) { return o.is_placed && o.kind == Outcome::Kind::Free; });
  // Where some of them alone make it free, the others say nothing of the runs in which it is not.
  const bool is_of_all = std::ranges::all_of(outcomes, [&](const Outcome& o) { return !o.is_left_out() || (along_axis.inputs(o.groups) & uniform) == uniform; });
  all->is_placed |= is_placed;
  const bool takes_up = all->is_placed && !all->is_never() && (padded > 1 || !is_alone);
  // Beyond the edges of others, where it is left out in any case.
  const bool is_covered = !others.empty() && is_beyond(result.edges, others) && !counts_without(map, along_axis, outcomes, r, uniform);
  if ((takes_up && !is_covered) || (is_alone && others.empty() && !is_one && !is_of_all)) {
    result.uniform = {prove::truth(false), true, all->is_placed, known_anything(element(into_[r]))};
  } else if (is_alone && others.empty()) {
    result.uniform = *all;
    if (all->is_placed) result.uniform.number = known_anything(element(into_[r]));
    else if (!all->is_never()) result.uniform.number = with_stores(run_on_numbers(prover_, decisions_, kernel_, map.body, std::move(known), {}, prove::truth(true))).numbers[r];
  } else if (!is_covered) {
    result.uniform = {prove::truth(false), true, all->is_placed, known_anything(element(into_[r]))};
  }
  note_others(map, along_axis, outcomes, r, uniform, is_one, result);
}

// In the runs in which it is the same all along it may be made of places instead, or of data.
void PaddingFlow::note_others(const op::Map& map, const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r, unsigned uniform, bool is_one, AxisPadding& result) {
  if (result.uniform.is_never()) return;
  bool has_places = false;
  for (const Outcome& outcome : outcomes) {
    if (outcome.kind != Outcome::Kind::Free) continue;
    // In different runs: others, which lie inside their edges here, are what they are there.
    const unsigned here = is_one ? uniform : uniform & axis.inputs(outcome.groups);
    const Marks there = map_results(map, axis, outcome.groups, false, nullptr, here).marks[r];
    has_places |= there.made != Made::Free && !there.is_left_out();
    result.uniform.may_be_data |= !there.is_left_out() && (there.made == Made::Maybe || there.made >= Made::Counting);
  }
  if (!result.uniform.is_placed && !has_places) return;
  result.uniform.may_be_placed = !result.uniform.is_placed, result.uniform.number = joined(result.uniform.number, known_anything(element(into_[r])));
  result.may_be_placed |= !result.is_placed;
}

// In the first turn of a loop, where an input has other edges: as long as the result has them, too.
void PaddingFlow::note_first_turn(const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r, AxisPadding& result) {
  std::vector<Group> groups;
  for (size_t g = 0; g < axis.groups.size(); ++g)
    for (const auto& [at, along] : padded_) {
      if (!is_in(axis.groups[g].inputs, at.first) || at.second != axis.axis || along->at_first.empty() || !sources_[r].contains(inputs_[at.first].element)) continue;
      if (result.loop.valid() && result.loop != along->loop) return result.lose_edges();
      if (groups.empty()) groups.assign(axis.groups.begin(), axis.groups.end());
      result.loop = along->loop, groups[g].edges = along->at_first;
    }
  const auto counting = result.loop.valid() ? countings_.find(result.loop) : countings_.end();
  if (groups.empty() || !result.is_padded || result.edges.empty() || counting == countings_.end()) return;
  if (!counting->second) return result.lose_edges();
  for (Group& group : groups) put(group.edges, counting->second->index, counting->second->low);
  MapAxis at_first = axis;
  at_first.groups = groups;
  Edges first = region_of(at_first, outcomes).edges, now = result.edges;
  put(now, counting->second->index, counting->second->low);
  if (first == now) return;
  result.at_first = std::move(first);
  if (result.at_first.empty()) result.lose_edges();
}

}  // namespace tilec::passes
