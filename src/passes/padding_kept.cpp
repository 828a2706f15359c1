// What loops carry, and padding is added to: it keeps what it held, by itself or by a mask.
#include "passes/padding_flow.h"

namespace tilec::passes {

using namespace ir;

namespace {

// What is padded by operands with different edges is padded, and it is not known where.
void meet_edge(AxisPadding& to, const AxisPadding& from, Scalar type) {
  const bool is_other = to.is_padded && to.edges != from.edges;
  to = from;
  to.numbers = known_anything(type);
  if (is_other) to.lose_edges();
}

}  // namespace

// What is computed of what a loop carries, element by element, has a first value as well.
void PaddingFlow::note_first(const op::Map& map, const Op& at) {
  const auto& args = kernel_.region(map.body).args;
  NumbersOf known = scalars_;
  std::vector<RegionId> loops;
  std::vector<bool> carries(map.inputs.size());
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    auto first = first_values_.find(map.inputs[i]);
    carries[i] = first != first_values_.end() && map.input_axes[i].size() == map.shape.size();
    if (carries[i]) loops = first->second.loops;
    known[args[map.shape.size() + i]] = carries[i] ? first->second.state.inside : state(map.inputs[i]).inside;
  }
  if (loops.empty()) return;
  MapResults results = run_on_numbers(prover_, decisions_, kernel_, map.body, std::move(known), {}, {}, prove::truth(true));
  const auto& yielded = kernel_.terminator(map.body).as<op::Yield>().values;
  for (size_t r = 0; r < at.results.size(); ++r) {
    TileState begins = plain_state(results.numbers[r], int(map.shape.size()));
    bool is_any = false;
    begins.is_uniform = true;
    for (size_t i = 0; i < map.inputs.size(); ++i) {
      if (!carries[i] || !is_made_of(yielded[r], args[map.shape.size() + i])) continue;
      is_any = true;
      // With the edge that a first value has.
      const TileState& from = first_values_.find(map.inputs[i])->second.state;
      begins.is_uniform &= from.is_uniform;
      for (size_t a = 0; a < from.axes.size(); ++a)
        if (from.axes[a].is_padded) meet_edge(begins.axes[size_t(map.input_axes[i][a])], from.axes[a], element(at.results[r]));
    }
    if (is_any) first_values_[at.results[r]] = {std::move(begins), loops};
  }
}

bool PaddingFlow::moves(const Edges& edges, RegionId loop) const {
  return std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) {
    return prover_.depends_on(edge.limit, loop) || (edge.has_low && prover_.depends_on(edge.first, loop));
  });
}

// Is `v` made of what a loop carries, of which other elements meet padding in each turn, or something else has come to those that meet it
// always? Else these never are anything but padding.
bool PaddingFlow::carries(const op::Map& map, const MapAxis& axis, unsigned set, ValueId v) {
  const auto& args = kernel_.region(map.body).args;
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    Known first;
    auto carried = first_values_.find(map.inputs[i]);
    if (carried == first_values_.end() || !begins_with(map, i, axis.axis, &first) || !is_made_of(v, args[map.shape.size() + i])) continue;
    for (size_t g = 0; g < axis.groups.size(); ++g) {
      if (!(set >> g & 1)) continue;
      const Edges& edges = axis.groups[g].edges;
      if (std::ranges::any_of(carried->second.loops, [&](RegionId loop) { return moves(edges, loop); })) return true;
      TileState now = state(map.inputs[i]);
      for (size_t a = 0; a < now.axes.size(); ++a) {
        const AxisPadding& so_far = now.axes[a];
        if (reads_along(map, i, a, axis.axis) && so_far.kind == PaddingKind::First && so_far.is_padded && !is_beyond(edges, so_far.edges)) return true;
      }
    }
  }
  return false;
}

// Is it padding that was written, and is combined as it was read?
bool PaddingFlow::is_asked_for(const op::Map& map, const Group& group, ValueId padding) const {
  if (!group.sample.is_as_read || !group.sample.origin.pad.valid()) return false;
  const auto& args = kernel_.region(map.body).args;
  for (size_t i = 0; i < map.inputs.size(); ++i)
    if ((group.inputs >> i & 1) && padding == args[map.shape.size() + i]) return true;
  return false;
}

// Does what a loop carries keep what it holds where it meets padding? By a mask, where it is known which elements those are.
bool PaddingFlow::keeps(const op::Map& map, const MapAxis& axis, unsigned set, const Meeting& meeting) {
  const auto& args = kernel_.region(map.body).args;
  unsigned met = 0;
  for (size_t g = 0; g < axis.groups.size(); ++g)
    for (size_t i = 0; i < map.inputs.size(); ++i)
      if ((set >> g & 1) && (axis.groups[g].inputs >> i & 1) && is_made_of(meeting.padding, args[map.shape.size() + i])) met |= 1u << g;
  // Elements that meet the only padding there is in every turn are padding themselves.
  bool may_differ = meeting.is_hoped && axis.groups.size() > 1;
  if (!met || (!may_differ && !carries(map, axis, met, meeting.kept))) return false;
  Edges edges;
  for (size_t g = 0; g < axis.groups.size(); ++g) {
    const Group& group = axis.groups[g];
    if (!(met >> g & 1)) continue;
    bool may_stay = meeting.is_hoped || (group.sample.kind == PaddingKind::Read && !is_asked_for(map, group, meeting.padding));
    if (!may_stay || !group.is_filled || group.edges.empty() || !masks_.can_stand(region_, group.edges)) return false;
    edges.insert(edges.end(), group.edges.begin(), group.edges.end());
  }
  masks_.add(ResultMask{region_, op_, meeting.op, axis.axis, std::move(edges), meeting.kept});
  return true;
}

// Is what it begins with one number everywhere? Other numbers are data, also where no turn brings anything.
bool PaddingFlow::begins_alike(const op::Map& map, ValueId v) const {
  const auto& args = kernel_.region(map.body).args;
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    auto first = first_values_.find(map.inputs[i]);
    if (first != first_values_.end() && !first->second.state.is_uniform && is_made_of(v, args[map.shape.size() + i])) return false;
  }
  return true;
}

// Of a result that nothing but what loops carry is left of, where they have not brought anything yet.
AxisPadding PaddingFlow::begun(const op::Map& map, const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r) {
  const auto& args = kernel_.region(map.body).args;
  ValueId result = kernel_.terminator(map.body).as<op::Yield>().values[r];
  AxisPadding padding{};
  bool is_first = true;
  unsigned kept = 0;
  auto meet = [&](const AxisPadding& other) {
    if (is_first) padding = other, padding.is_padded = true, padding.kind = PaddingKind::First, padding.is_as_read = false, padding.plain = {};
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
    if (outcome.kind != Outcome::Kind::Kept || !begins_alike(map, result)) continue;
    kept |= outcome.groups;
    for (size_t g = 0; g < axis.groups.size(); ++g)
      if (outcome.groups >> g & 1) {
        AxisPadding sample = axis.groups[g].sample;
        sample.is_filled = axis.groups[g].is_filled;
        meet(sample);
      }
  }
  if (!padding.is_padded) return padding;
  padding.numbers = map_results(map, axis, kept, true).numbers[r];
  return padding;
}

}  // namespace tilec::passes
