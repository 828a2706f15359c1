// How each operation on tiles carries padding; control flow stands in check_padding.cpp.
#include "passes/padding_flow.h"

#include "diag/diag.h"
#include "ir/sources.h"

namespace tilec::passes {

using namespace ir;
using prove::Linear;

namespace {

Numbers product(Scalar type, const Numbers& a, const Numbers& b) { return apply(BinaryFn::Mul, type, a, b); }

// Outside of it, as the other operand is there: padding where that is padded as well, else what it holds.
Numbers facing(const TileState& other, const AxisPadding& axis) {
  Numbers numbers = ordinary(other.inside);
  return axis.is_padded ? joined(numbers, axis.numbers) : numbers;
}

std::string text_of(const Numbers& numbers, Scalar type) {
  std::string text = text_of(numbers);
  return type != Scalar::Bool ? text : text == "0" ? "false" : text == "1" ? "true" : text;
}
std::string identity_text(ReduceFn fn, Scalar type) { return text_of(exactly(type, identity(fn, type)), type); }

}  // namespace

PaddingFlow::LinearList PaddingFlow::values(std::span<const ValueId> offsets) {
  LinearList result;
  for (ValueId v : offsets) result.push_back(prover_.value(v));
  return result;
}

TileState PaddingFlow::state(ValueId v) const {
  if (auto* view = kernel_.defined_by<op::Subview>(v)) {
    LinearList offsets;
    for (ValueId offset : view->offsets) offsets.push_back(prover_.value(offset));
    return part_of(state(view->buffer), offsets, view->axes);
  }
  const auto& known = kernel_.type(v).is_buffer() ? buffers_ : tiles_;
  auto found = known.find(v);
  return found != known.end() ? found->second : plain_state(data(element(v)), kernel_.type(v).rank());
}

TileState PaddingFlow::read(ValueId buffer, std::span<const ValueId> offsets, const Axes& axes, const BoundsList& bounds,
                            Number pad, const ReadNote& note) {
  LinearList at = values(offsets);
  if (!is_device_memory(kernel_.type(buffer))) return part_of(state(buffer), at, axes);
  std::vector<Linear> extents = prover_.extents(buffer);
  TileState result = plain_state(data(element(buffer)), int(axes.size()));
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t d = axes[k];
    if (size_t(d) < bounds.size() && bounds[d] == Bounds::Inside) continue;
    bool has_low = prover_.terms().range(at[d]).low < 0 && !prover_.proves(prover_.facts(region_), prove::at_least_zero(at[d]), prove::Effort::Quick);
    Edge edge{-at[d], extents[d] - at[d], has_low};
    result.axes[k] = {true, std::move(edge), exactly(element(buffer), pad), {buffer, note.read, note.pad}, true};
  }
  return result;
}

void PaddingFlow::write(const TileState& part, ValueId buffer, std::span<const ValueId> offsets, const Axes& axes,
                        std::span<const int64_t> shape) {
  if (kernel_.type(buffer).space != Space::Shared) return;
  TileState region = placed(part, values(offsets), axes);
  bool is_whole = !kernel_.defined_by<op::Subview>(buffer);
  const auto& extents = kernel_.type(buffer).shape;
  std::vector<int64_t> sizes(extents.size(), 1);
  for (size_t k = 0; k < axes.size(); ++k) sizes[axes[k]] = shape[k];
  is_whole &= sizes == extents;
  while (auto* view = kernel_.defined_by<op::Subview>(buffer)) {
    region = placed(region, values(view->offsets), view->axes);
    buffer = view->buffer;
  }
  auto known = buffers_.find(buffer);
  if (is_whole || known == buffers_.end()) buffers_[buffer] = std::move(region);
  else known->second = joined(known->second, region);
}

void PaddingFlow::run_copy(const op::Copy& copy, const Op& at) {
  TileState part = read(copy.src, copy.src_offsets, copy.src_axes, copy.src_bounds, copy.pad, kernel_.read_note(at.span));
  auto convert = [&](Numbers& x) { x = apply_convert(element(copy.src), element(copy.dst), ConvertMode::Nearest, x); };
  if (element(copy.src) != element(copy.dst)) {
    convert(part.inside);
    for (AxisPadding& axis : part.axes) convert(axis.numbers);
  }
  write(part, copy.dst, copy.dst_offsets, copy.dst_axes, copy.shape);
}

// The inputs that carry padding along the map's axis, as a set.
unsigned PaddingFlow::padded_inputs(const op::Map& map, int64_t axis, AxisPadding& common) {
  unsigned set = 0;
  for (size_t i = 0; i < map.inputs.size() && i < 32; ++i) {
    TileState input = state(map.inputs[i]);
    for (size_t a = 0; a < input.axes.size(); ++a) {
      if (map.input_axes[i][a] != axis || !input.axes[a].is_padded) continue;
      if (!set) common = input.axes[a];
      else if (common.edge != input.axes[a].edge) common.edge.reset();
      set |= 1u << i;
    }
  }
  return set;
}

// The results of the map where, along its `axis`, the inputs of the set are padding and the others are not (axis -1: where it
// lies inside on every axis).
MapResults PaddingFlow::map_results(const op::Map& map, int64_t axis, unsigned padded, const std::optional<Edge>& edge) {
  const auto& args = kernel_.region(map.body).args;
  NumbersOf known = scalars_;
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    TileState input = state(map.inputs[i]);
    Numbers numbers = axis < 0 ? input.inside : ordinary(input.inside);
    for (size_t a = 0; a < input.axes.size(); ++a)
      if ((padded >> i & 1) && map.input_axes[i][a] == axis && input.axes[a].is_padded) numbers = input.axes[a].numbers;
    known[args[map.shape.size() + i]] = numbers;
  }
  prove::Formula assumption = edge ? edge->outside(prover_.value(args[axis])) : prove::truth(true);
  return run_on_numbers(prover_, kernel_, map.body, std::move(known), assumption);
}

// What stands in result r where the inputs of the set are padding. Nothing where that padding changes nothing about what is
// computed of another input that has an edge of its own: such an element is that input's. Before a loop has added anything to
// what it carries, that is the first value.
Numbers PaddingFlow::outside_result(const op::Map& map, int64_t axis, unsigned padded, const MapResults& results, size_t r) {
  const auto& args = kernel_.region(map.body).args;
  bool is_inside = false;  // of something that has an edge of its own along the axis
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    ValueId arg = args[map.shape.size() + i];
    if (!depends_on(kernel_, results.same[r], arg)) continue;
    if (padded >> i & 1) return results.numbers[r];
    TileState input = state(map.inputs[i]);
    for (size_t a = 0; a < input.axes.size(); ++a) {
      if (map.input_axes[i][a] != axis) continue;
      is_inside |= input.axes[a].is_padded;
      auto first = first_values_.find(map.inputs[i]);
      if (results.same[r] == arg && !input.axes[a].is_padded && first != first_values_.end()) return first->second;
    }
  }
  return is_inside ? Numbers{} : results.numbers[r];
}

void PaddingFlow::run_map(const op::Map& map, const Op& at) {
  constexpr unsigned kMostSets = 16;
  MapResults inside = map_results(map, -1, 0, std::nullopt);
  for (size_t r = 0; r < at.results.size(); ++r) tiles_[at.results[r]] = plain_state(inside.numbers[r], int(map.shape.size()));
  for (size_t axis = 0; axis < map.shape.size(); ++axis) {
    AxisPadding common;
    unsigned all = padded_inputs(map, int64_t(axis), common);
    if (!all) continue;
    std::vector<Numbers> outside(at.results.size());
    // With one edge all are padding at once, else any of them may be.
    unsigned sets = 0;
    for (unsigned set = all; set; set = (set - 1) & all) {
      if (common.edge ? set != all : ++sets > kMostSets) break;
      MapResults results = map_results(map, int64_t(axis), set, common.edge);
      check_divisors(map, set, results.known);
      for (size_t r = 0; r < outside.size(); ++r)
        outside[r] = joined(outside[r], outside_result(map, int64_t(axis), set, results, r));
    }
    for (size_t r = 0; r < outside.size(); ++r) {
      if (sets > kMostSets) outside[r] = anything(element(at.results[r]));
      if (outside[r].kinds) tiles_[at.results[r]].axes[axis] = {true, common.edge, outside[r], common.origin, false};
    }
  }
  taint_writes(map.body);
}

// Padding that would divide an integer.
void PaddingFlow::check_divisors(const op::Map& map, unsigned padded, const NumbersOf& known) {
  const auto& args = kernel_.region(map.body).args;
  each_op(kernel_, map.body, [&](OpId id) {
    const auto* binary = kernel_.op(id).get<op::Binary>();
    if (!binary || (binary->fn != BinaryFn::Div && binary->fn != BinaryFn::Rem) || !is_integer(element(binary->b))) return;
    auto divisor = known.find(binary->b);
    if (divisor == known.end() || !divisor->second.kinds || !divisor->second.is_within(kZero)) return;
    for (size_t i = 0; i < map.inputs.size(); ++i) {
      if (!(padded >> i & 1) || !depends_on(kernel_, binary->b, args[map.shape.size() + i])) continue;
      for (const AxisPadding& axis : state(map.inputs[i]).axes)
        if (axis.is_padded && axis.numbers.is_within(kZero)) return report(axis, map.inputs[i], "division", "1", kernel_.op(id));
    }
  });
}

void PaddingFlow::run_gemm(const op::Gemm& gemm, const Op& at) {
  TileState a = state(gemm.a), b = state(gemm.b), acc = state(gemm.acc);
  Scalar type = element(gemm.acc);
  int row = gemm.transpose_a, column = !gemm.transpose_b;
  const AxisPadding &a_inner = a.axes[1 - row], &b_inner = b.axes[1 - column];
  bool is_same = a_inner.is_padded && b_inner.is_padded && a_inner.edge && a_inner.edge == b_inner.edge;
  Numbers for_a = is_same ? b_inner.numbers : facing(b, b_inner), for_b = is_same ? a_inner.numbers : facing(a, a_inner);
  if (a_inner.is_padded && !product(type, a_inner.numbers, for_a).is_within(kZero)) report(a_inner, gemm.a, "product", "0", at);
  else if (b_inner.is_padded && !product(type, b_inner.numbers, for_b).is_within(kZero)) report(b_inner, gemm.b, "product", "0", at);

  auto sum = [&](const Numbers& x, const Numbers& y, const Numbers& start) {
    return apply(BinaryFn::Add, type, folded(ReduceFn::Sum, type, product(type, x, y)), start);
  };
  TileState result = plain_state(sum(ordinary(a.inside), ordinary(b.inside), ordinary(acc.inside)), 2);
  for (int axis : {0, 1}) {
    const AxisPadding& from = axis == 0 ? a.axes[row] : b.axes[column];
    const AxisPadding& old = acc.axes[axis];
    if (!from.is_padded && !old.is_padded) continue;
    AxisPadding& out = result.axes[axis];
    out = from.is_padded ? from : old;
    bool agrees = !from.is_padded || !old.is_padded || from.edge == old.edge;
    if (!agrees) out.edge.reset();
    Numbers side = from.is_padded ? (out.edge ? from.numbers : joined(from.numbers, ordinary(axis == 0 ? a.inside : b.inside)))
                                  : ordinary(axis == 0 ? a.inside : b.inside);
    Numbers start = old.is_padded && agrees ? old.numbers : facing(acc, old);
    out.is_as_read = false;
    out.numbers = sum(side, ordinary(axis == 0 ? b.inside : a.inside), start);
  }
  tiles_[at.result()] = std::move(result);
}

void PaddingFlow::run_reduce(const op::Reduce& reduce, const Op& at) {
  TileState x = state(reduce.x);
  Scalar type = element(reduce.x);
  const AxisPadding& axis = x.axes[reduce.axis];
  if (axis.is_padded && !is_identity(reduce.fn, type, axis.numbers))
    report(axis, reduce.x, std::string(name(reduce.fn)), identity_text(reduce.fn, type), at);
  bool is_index = reduce.fn == ReduceFn::ArgMax || reduce.fn == ReduceFn::ArgMin;
  auto fold = [&](const Numbers& n) { return is_index ? data(element(at.result())) : folded(reduce.fn, type, n); };
  TileState result{fold(x.inside), x.axes};
  result.axes.erase(result.axes.begin() + reduce.axis);
  for (AxisPadding& other : result.axes) other.numbers = fold(other.numbers), other.is_as_read = false;
  if (kernel_.type(at.result()).is_tile()) tiles_[at.result()] = std::move(result);
  else scalars_[at.result()] = result.inside;
}

void PaddingFlow::run_scan(const op::Scan& scan, const Op& at) {
  TileState result = state(scan.x);
  Scalar type = element(scan.x);
  AxisPadding& axis = result.axes[scan.axis];
  // Padding at the far end is reached when everything inside is done.
  bool comes_last = axis.edge && !axis.edge->has_low && !scan.reverse;
  if (axis.is_padded && !comes_last && !is_identity(scan.fn, type, axis.numbers))
    report(axis, scan.x, "scan", identity_text(scan.fn, type), at);
  result.inside = folded(scan.fn, type, result.inside);
  for (AxisPadding& other : result.axes) {
    other.numbers = folded(scan.fn, type, joined(result.inside, other.numbers));
    other.is_as_read = false;
  }
  tiles_[at.result()] = std::move(result);
}

// An axis keeps its padding where it keeps its extent and the number of elements before it.
TileState PaddingFlow::reshaped(ValueId from, ValueId to) const {
  TileState old = state(from), result = plain_state(old.inside, kernel_.type(to).rank());
  const auto &a = kernel_.type(from).shape, &b = kernel_.type(to).shape;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!old.axes[i].is_padded) continue;
    auto before = [](const std::vector<int64_t>& shape, size_t n) {
      int64_t count = 1;
      for (size_t k = 0; k < n; ++k) count *= shape[k];
      return count;
    };
    bool is_kept = false;
    for (size_t j = 0; j < b.size() && !is_kept; ++j) {
      is_kept = a[i] == b[j] && before(a, i) == before(b, j);
      if (is_kept) result.axes[j] = old.axes[i];
    }
    for (size_t j = 0; j < b.size() && !is_kept; ++j)
      result.axes[j] = {true, std::nullopt, old.axes[i].numbers, old.axes[i].origin, false};
  }
  return result;
}

void PaddingFlow::run_shape(const Op& op) {
  TileState& result = tiles_[op.result()];
  if (auto* o = op.get<op::Reshape>()) result = reshaped(o->x, op.result());
  if (auto* o = op.get<op::Extract>()) result = part_of(state(o->tile), values(o->offsets), o->axes);
  if (auto* o = op.get<op::Insert>()) result = joined(state(o->tile), placed(state(o->part), values(o->offsets), o->axes));
  if (auto* o = op.get<op::Permute>()) {
    TileState x = state(o->x);
    result = plain_state(x.inside, int(x.axes.size()));
    for (size_t i = 0; i < o->axes.size(); ++i) result.axes[i] = x.axes[o->axes[i]];
  }
}

// Where the padding was read, and what to write there or behind it instead.
void PaddingFlow::advise(Report report, const AxisPadding& axis, const std::string& name, const std::string& wanted, const Op& at, bool is_named) {
  const PadOrigin& from = axis.origin;
  if (from.read.valid() && from.read != at.span) report.mark(from.read, "the padding comes from here");
  if (axis.edge && axis.edge->has_low && from.buffer.valid()) report.note(from.read, diag::StartUnknown, name_of(kernel_, from.buffer));
  bool is_mendable = axis.is_as_read && from.read.valid();
  if (!is_mendable && !axis.edge)
    return void(report.help("which of its elements lie beyond the edge is not known here: reduce each tile, or set what it has beyond the edge to " + wanted +
                            ", where it is read"));
  // What is computed in place has no elements to set, and setting those that it is computed from is another thing.
  std::string mask = (is_named ? "set the elements of `" + name + "` beyond the edge" : "name what enters it with `var`, and set its elements beyond the edge") +
                     " to " + wanted + " in a `parallel` loop";
  if (!is_mendable) return void(report.help(mask));
  // A tile and a region end with the bracket behind their last argument.
  Span end{from.read.file, from.read.end - 1, from.read.end - 1};
  if (from.pad.valid()) report.fix(from.pad, wanted, "read it with padding that changes nothing");
  else report.fix(end, ", pad = " + wanted, "read it with padding that changes nothing");
  report.help("or " + mask);
}

// What is computed in place, as in `(d * d).sum(...)`, is called by the operand that brings the padding.
std::string PaddingFlow::padded_name(ValueId tile) const {
  std::string name = name_of(kernel_, tile);
  auto* map = kernel_.defined_by<op::Map>(tile);
  if (name != kNoName || !map) return name;
  for (ValueId input : map->inputs) {
    const TileState from = state(input);
    bool is_padded = std::any_of(from.axes.begin(), from.axes.end(), [](const AxisPadding& axis) { return axis.is_padded; });
    if (std::string found = is_padded ? padded_name(input) : std::string(kNoName); found != kNoName) return found;
  }
  return name;
}

void PaddingFlow::report(const AxisPadding& axis, ValueId tile, std::string_view where, std::string_view identity, const Op& at) {
  // One read is told of once: what mends the first of the operations that it reaches may mend the others.
  Span cause = axis.origin.read.valid() ? axis.origin.read : at.span;
  if (!reported_.insert(cause).second) return;
  // What has no name of its own is called by what it was computed from.
  std::string name = padded_name(tile);
  bool is_named = name_of(kernel_, tile) != kNoName;
  if (name == kNoName && axis.origin.buffer.valid()) name = name_of(kernel_, axis.origin.buffer);
  advise(diagnostics_.at(at.span).error(diag::PadInReduction, text_of(axis.numbers, element(tile)), name, where), axis, name, std::string(identity), at, is_named);
}

}  // namespace tilec::passes
