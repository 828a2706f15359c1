// What the body of a map reads: inputs, and elements of shared tiles by their places.
#include "ir/sources.h"
#include "passes/padding_flow.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;
using prove::Linear;

namespace {

// Is an index made of numbers that are data, not of places alone?
bool is_of_data(const Kernel& kernel, const op::Map& map, ValueId index) {
  const std::vector<ValueId>& args = kernel.region(map.body).args;
  bool found = is_of_elements(kernel, index);
  each_source(kernel, index, [&](ValueId v) {
    const auto at = std::ranges::find(args, v);
    found |= at != args.end() && size_t(at - args.begin()) >= map.shape.size();
  });
  return found;
}

}  // namespace

void PaddingFlow::is_no_element(AxisPadding& axis) {
  if (axis.stands()) return axis.stand_anywhere();
  if (axis.kind != PaddingKind::Free) return;
  axis.kind = PaddingKind::Read, axis.is_as_read = false;
  axis.edges = axis.left_out();
  if (axis.uniform.is_lost || axis.edges.empty()) axis.is_filled = false;
  axis.uniform = {};
}

bool is_of_elements(const Kernel& kernel, ValueId index) {
  bool found = false;
  each_source(kernel, index, [&](ValueId v) { found |= kernel.defined_by<op::ElementLoad>(v) != nullptr; });
  return found;
}

// The axis of the map along which an index runs, moved or turned round; the edges are those seen from it then.
std::optional<size_t> PaddingFlow::seen_along(const op::Map& map, const Linear& index, AxisPadding& axis) {
  for (size_t a = 0; a < map.shape.size() && !index.is_lost; ++a)
    for (int64_t sign : {1, -1}) {
      const Linear rest = index - prover_.value(kernel_.region(map.body).args[a]) * sign, size = map.shape[a];
      if (prover_.depends_on(rest, map.body)) continue;
      auto seen_from = [&](Edge& edge) {
        if (sign > 0) edge = edge.moved(-rest);
        else edge = {rest - edge.limit + 1, edge.has_low ? rest - edge.first + 1 : size, true};
      };
      each_edge(axis.edges, seen_from), each_edge(axis.at_first, seen_from);
      return a;
    }
  return std::nullopt;
}

// What a shared tile holds at a place that a map computes. Where an index is a coordinate of the map, moved or turned round, its edges are
// those of the map along it. At a place that is the same for all, all of them lie inside, or beyond an edge; so they do in a turn of a loop of
// the body whose index it is. Of other places that the coordinates tell it is not known which elements they are; an element at a place that data
// tell is a number like others.
PaddingFlow::MapInput PaddingFlow::read_by_place(const op::Map& map, const Op& at, RegionId region) {
  const auto& load = at.as<op::ElementLoad>();
  const TileState held = state(load.buffer);
  const std::span<const ValueId> places = std::span(kernel_.region(map.body).args).first(map.shape.size());
  MapInput input{load.buffer, at.result(), {}, plain_state(held.inside, map.shape.size()), false, Edges()};
  input.state.taken_up = held.taken_up;
  for (size_t a = 0; a <= map.shape.size(); ++a) input.axes.push_back(int64_t(a));
  TileState& result = input.state;
  auto stands = [&](const AxisPadding& axis) {
    if (!axis.can_be_masked() || !masks_.can_stand(region, axis.edges)) input.at_place.reset();
    else if (input.at_place) unite(*input.at_place, axis.edges);
  };
  result.corner = held.corner, result.whole() = held.whole();
  for (size_t d = 0; d < held.rank(); ++d) {
    AxisPadding axis = held.axes[d];
    if (!axis.is_padded) continue;
    const Linear index = prover_.value(load.indices[d]);
    if (const std::optional<size_t> along = seen_along(map, index, axis)) {
      meet(result.axes[*along], axis);
    } else if (axis.is_scanned) {
      result.inside = joined(result.inside, axis.numbers);
    } else if (!prover_.depends_on(index, map.body) && !index.is_lost) {
      axis = moved(std::move(axis), -index);
      drop_inside(axis, region_);
      if (!axis.is_padded) continue;
      is_no_element(axis);
      if (!axis.is_padded) continue;
      stands(axis);
      meet(result.whole(), axis);
    } else if (index.is_lost || is_of_data(kernel_, map, load.indices[d])) {
      result.inside = joined(result.inside, axis.numbers);
    } else {
      axis = moved(std::move(axis), -index);
      drop_inside(axis, region);
      if (!axis.is_padded) continue;
      is_no_element(axis);
      if (!axis.is_padded) continue;
      stands(axis);
      axis.lose_edges(), input.has_own_place = true;
      input.is_by_turn = std::ranges::none_of(places, [&](ValueId place) { return depends_on(kernel_, load.indices[d], place); });
      if (input.is_by_turn) meet(result.whole(), axis);
      else
        for (size_t a = 0; a < map.shape.size(); ++a) meet(result.axes[a], axis);
    }
  }
  if (!input.has_own_place) input.at_place.reset();
  return input;
}

// Where a tile is assigned to, what is made of that tile and of what variables have kept beyond an edge is told apart there.
void PaddingFlow::take_asides(const op::Map& map, std::vector<MapInput>& all) {
  if (std::ranges::all_of(all, [](const MapInput& input) { return std::ranges::all_of(input.state.axes, [](const AxisPadding& axis) { return axis.asides.empty(); }); })) return;
  std::set<ValueId> assigned;
  each_op(kernel_, map.body, [&](OpId id) {
    auto* choice = kernel_.op(id).get<op::Select>();
    auto* inside = choice ? kernel_.defined_by<op::Inside>(choice->condition) : nullptr;
    if (inside) assigned.insert(choice->b), assigned.insert(inside->held.begin(), inside->held.end());
  });
  for (MapInput& input : all)
    for (size_t a = 0; a < input.state.axes.size(); ++a)
      for (const Aside& aside : input.state.axes[a].asides) {
        const size_t of = size_t(std::ranges::find(all, aside.of, &MapInput::tile) - all.begin());
        if (of < std::min(all.size(), kMostInputs) && all[of].axes == input.axes && assigned.contains(all[of].element)) take_aside(input, a, aside, all[of].state.axes[a], of);
      }
}

void PaddingFlow::take_aside(MapInput& input, size_t a, const Aside& aside, const AxisPadding& held, size_t of) {
  AxisPadding& axis = input.state.axes[a];
  const bool is_free = !axis.is_padded || axis.kind == PaddingKind::Free, is_other = input.beside.contains(input.axes[a]);
  const bool is_known = !aside.edges.empty() && !is_other && (is_free || (axis.kind == PaddingKind::Read && axis.is_filled && axis.edges == held.edges));
  axis.numbers = axis.is_padded && !is_free ? joined(axis.numbers, input.state.inside) : input.state.inside;
  Edges edges = aside.edges;
  if (is_known && !is_free && !is_beyond(axis.edges, edges)) unite(edges, axis.edges);
  axis.kind = is_known ? PaddingKind::Free : PaddingKind::Mixed;
  axis.is_padded = true, axis.is_filled = true, axis.is_as_read = false, axis.edges = std::move(edges);
  axis.count();
  if (!is_known) axis.may_take_up = true, axis.lose_edges();
  else input.beside[input.axes[a]] = of;
}

std::vector<PaddingFlow::MapInput> PaddingFlow::inputs_of(const op::Map& map) {
  std::vector<MapInput> all;
  const std::vector<ValueId>& args = kernel_.region(map.body).args;
  for (size_t i = 0; i < map.inputs.size(); ++i) all.push_back({map.inputs[i], args[map.shape.size() + i], map.input_axes[i], state(map.inputs[i])});
  for (MapInput& input : all) input.axes.push_back(int64_t(map.shape.size()));
  take_asides(map, all);
  each_op_in_region(kernel_, map.body, [&](RegionId region, OpId id) {
    const Op& op = kernel_.op(id);
    auto* load = op.get<op::ElementLoad>();
    if (load && kernel_.type(load->buffer).space == Space::Shared && state(load->buffer).is_padded()) all.push_back(read_by_place(map, op, region));
  });
  // Numbers of the block that are padding.
  std::set<ValueId> numbers;
  each_op(kernel_, map.body, [&](OpId id) {
    each_operand(kernel_.op(id).data, [&](ValueId v) {
      if (padded_number(v)) numbers.insert(v);
    });
  });
  for (ValueId v : numbers) {
    TileState state = plain_state(scalar(v), map.shape.size());
    state.whole() = *padded_number(v);
    MapInput input{v, v, {}, std::move(state)};
    for (size_t a = 0; a <= map.shape.size(); ++a) input.axes.push_back(int64_t(a));
    all.push_back(std::move(input));
  }
  return all;
}

// The runs in which all of them are the same all along the axis, and no padding.
prove::Formula PaddingFlow::all_uniform(unsigned inputs, int64_t axis) const {
  std::vector<prove::Formula> runs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const AxisPadding* along = is_in(inputs, i) ? padding_along(i, axis) : nullptr;
    if (along) runs.push_back(along->kind == PaddingKind::Free ? along->uniform.when : prove::truth(false));
  }
  return prove::all_of(std::move(runs));
}

// Where a group is no padding along that axis: within its edges, or in runs in which it is the same all along it.
prove::Formula PaddingFlow::inside_along(const Group& group, const op::Map& map, int64_t axis) const {
  std::vector<prove::Formula> any{negation(outside(group.edges, coordinate(map, axis)))};
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const AxisPadding* along = is_in(group.inputs, i) ? padding_along(i, axis) : nullptr;
    if (!along || along->kind != PaddingKind::Free) continue;
    if (along->uniform.is_lost) return prove::truth(true);
    if (!along->uniform.when.is_false()) any.push_back(along->uniform.when);
  }
  return any.size() == 1 ? std::move(any[0]) : prove::any_of(std::move(any));
}

// At these places, in runs in which not all that is padding there is the same all along the axis, and in which those inputs are.
prove::Formula PaddingFlow::runs_of(int64_t axis, const prove::Formula& places, std::vector<prove::Formula> unless, unsigned but) const {
  const prove::Formula none = prove::any_of(std::move(unless));
  std::vector<prove::Formula> all;
  if (!none.is_false()) all.push_back(negation(none));
  for (size_t i = 0; but && i < inputs_.size(); ++i)
    if (const AxisPadding* along = is_in(but, i) ? padding_along(i, axis) : nullptr; along && !along->uniform.is_lost) all.push_back(along->uniform.when);
  if (all.empty()) return places;
  all.insert(all.begin(), places);
  return prove::all_of(std::move(all));
}

}  // namespace tilec::passes
