// What loops carry, and padding is added to: it keeps what it held, by itself or by a mask.
#include "passes/padding_flow.h"

namespace tilec::passes {

using namespace ir;

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
  MapResults results = run_on_numbers(prover_, decisions_, kernel_, map.body, std::move(known), {}, {}, prove::truth(true));
  const auto& yielded = kernel_.terminator(map.body).as<op::Yield>().values;
  for (size_t r = 0; r < at.results.size(); ++r)
    for (size_t i = 0; i < map.inputs.size(); ++i)
      if (carries[i] && is_made_of(yielded[r], args[map.shape.size() + i])) first_values_[at.results[r]] = {plain_state(results.numbers[r], int(map.shape.size())), loop};
}

// Is it a value that has nothing to do with the set, but with what a loop carries? What is padded elsewhere does not count: of operands that
// end at different places, what lies beyond either is padding, whatever stands there.
bool PaddingFlow::is_kept(const op::Map& map, const MapAxis& axis, unsigned set, ValueId root) const {
  const auto& args = kernel_.region(map.body).args;
  unsigned padded = axis.inputs(set);
  bool is_data = false;
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    if (!is_made_of(root, args[map.shape.size() + i])) continue;
    if (padded >> i & 1) return false;
    Known first;
    is_data |= begins_with(map, i, axis.axis, &first);
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
  bool keeps_hoped = is_kept(map, axis, outcome.groups, hoped);
  ValueId root = keeps_hoped ? hoped : left;
  bool is_kept_root = keeps_hoped || (may_leave && is_kept(map, axis, outcome.groups, left) && carries(map, axis, outcome.groups, left));
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

}  // namespace tilec::passes
