// What the body of a map reads: inputs, and elements of shared tiles by their places.
#include "ir/sources.h"
#include "passes/padding_flow.h"

namespace tilec::passes {

using namespace ir;
using prove::Linear;

namespace {

// Is an index made of numbers that are data, not of places alone?
bool is_of_data(const Kernel& kernel, const op::Map& map, ValueId index) {
  const std::vector<ValueId>& args = kernel.region(map.body).args;
  bool found = false;
  each_source(kernel, index, [&](ValueId v) {
    const auto at = std::ranges::find(args, v);
    found |= at != args.end() && size_t(at - args.begin()) >= map.shape.size();
    found |= kernel.defined_by<op::ElementLoad>(v) != nullptr;
  });
  return found;
}

}  // namespace

// What a shared tile holds at places that a map computes. Where an index is a coordinate of the map, moved or turned round, its edges are
// those of the map along it. Of other places that the coordinates tell it is not known which elements they are; an element at a place
// that data tell is a number like others. At a place that is the same for all, all of them lie inside, or beyond an edge.
TileState PaddingFlow::read_by_place(const op::Map& map, const op::ElementLoad& load) {
  const TileState held = state(load.buffer);
  const std::vector<ValueId>& args = kernel_.region(map.body).args;
  TileState result = plain_state(held.inside, map.shape.size());
  result.corner = held.corner, result.whole() = held.whole();
  for (size_t d = 0; d < held.rank(); ++d) {
    AxisPadding axis = held.axes[d];
    if (!axis.is_padded) continue;
    const Linear index = prover_.value(load.indices[d]);
    std::optional<size_t> along;
    int64_t sign = 0;
    for (size_t a = 0; a < map.shape.size() && !along; ++a)
      for (int64_t s : {1, -1})
        if (const Linear rest = index - prover_.value(args[a]) * s; !index.is_lost && !prover_.depends_on(rest, map.body)) along = a, sign = s;
    if (along) {
      const Linear rest = index - prover_.value(args[*along]) * sign, size = map.shape[*along];
      auto seen_from = [&](Edge& edge) {
        if (sign > 0) edge = edge.moved(-rest);
        else edge = {rest - edge.limit + 1, edge.has_low ? rest - edge.first + 1 : size, true};
      };
      each_edge(axis.edges, seen_from), each_edge(axis.at_first, seen_from);
      meet(result.axes[*along], axis);
    } else if (axis.is_scanned) {
      result.inside = joined(result.inside, axis.met());
    } else if (!prover_.depends_on(index, map.body) && !index.is_lost) {
      for (Edges* edges : {&axis.edges, &axis.at_first}) each_edge(*edges, [&](Edge& edge) { edge = edge.moved(-index); });
      drop_inside(axis);
      if (axis.is_padded) meet(result.whole(), axis);
    } else if (index.is_lost || is_of_data(kernel_, map, load.indices[d])) {
      result.inside = joined(result.inside, axis.met());
    } else {
      axis.lose_edges();
      for (size_t a = 0; a < map.shape.size(); ++a) meet(result.axes[a], axis);
    }
  }
  return result;
}

std::vector<PaddingFlow::MapInput> PaddingFlow::inputs_of(const op::Map& map) {
  std::vector<MapInput> all;
  const std::vector<ValueId>& args = kernel_.region(map.body).args;
  for (size_t i = 0; i < map.inputs.size(); ++i) all.push_back({map.inputs[i], args[map.shape.size() + i], map.input_axes[i], {}});
  for (MapInput& input : all) input.axes.push_back(int64_t(map.shape.size()));
  Axes axes;
  for (size_t a = 0; a <= map.shape.size(); ++a) axes.push_back(int64_t(a));
  each_op(kernel_, map.body, [&](OpId id) {
    const Op& op = kernel_.op(id);
    auto* load = op.get<op::ElementLoad>();
    if (load && kernel_.type(load->buffer).space == Space::Shared && state(load->buffer).is_padded())
      all.push_back({load->buffer, op.result(), axes, read_by_place(map, *load)});
  });
  return all;
}

}  // namespace tilec::passes
