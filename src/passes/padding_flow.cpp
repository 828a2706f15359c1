// How each operation on tiles carries padding; control flow stands in check_padding.cpp.
#include "passes/padding_flow.h"

#include "diag/diag.h"

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

std::string identity_text(ReduceFn fn, Scalar type) { return text_of(exactly(type, identity(fn, type))); }

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
                            Number pad, Span span) {
  LinearList at = values(offsets);
  if (!is_device_memory(kernel_.type(buffer))) return part_of(state(buffer), at, axes);
  std::vector<Linear> extents = prover_.extents(buffer);
  TileState result = plain_state(data(element(buffer)), int(axes.size()));
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t d = axes[k];
    if (size_t(d) < bounds.size() && bounds[d] == Bounds::Inside) continue;
    Edge edge{-at[d], extents[d] - at[d], prover_.terms().range(at[d]).low < 0};
    result.axes[k] = {true, std::move(edge), exactly(element(buffer), pad), span, true};
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
  TileState part = read(copy.src, copy.src_offsets, copy.src_axes, copy.src_bounds, copy.pad, at.span);
  auto convert = [&](Numbers& x) { x = apply_convert(element(copy.src), element(copy.dst), ConvertMode::Nearest, x); };
  if (element(copy.src) != element(copy.dst)) {
    convert(part.inside);
    for (AxisPadding& axis : part.axes) convert(axis.numbers);
  }
  write(part, copy.dst, copy.dst_offsets, copy.dst_axes, copy.shape);
}

// The results of the map where the map's `axis` lies outside `edge` (axis -1: where it lies inside on every axis).
std::vector<Numbers> PaddingFlow::map_results(const op::Map& map, int64_t axis, const std::optional<Edge>& edge) {
  const auto& args = kernel_.region(map.body).args;
  NumbersOf known = scalars_;
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    TileState input = state(map.inputs[i]);
    Numbers numbers = axis < 0 ? input.inside : ordinary(input.inside);
    for (size_t a = 0; axis >= 0 && a < input.axes.size(); ++a)
      if (map.input_axes[i][a] == axis && input.axes[a].is_padded)
        numbers = edge ? input.axes[a].numbers : joined(numbers, input.axes[a].numbers);
    known[args[map.shape.size() + i]] = numbers;
  }
  prove::Formula assumption = edge ? edge->outside(prover_.value(args[axis])) : prove::truth(true);
  return run_on_numbers(prover_, kernel_, map.body, std::move(known), assumption);
}

void PaddingFlow::run_map(const op::Map& map, const Op& at) {
  std::vector<Numbers> inside = map_results(map, -1, std::nullopt);
  for (size_t r = 0; r < at.results.size(); ++r) tiles_[at.results[r]] = plain_state(inside[r], int(map.shape.size()));
  for (size_t axis = 0; axis < map.shape.size(); ++axis) {
    AxisPadding found;
    for (size_t i = 0; i < map.inputs.size(); ++i) {
      TileState input = state(map.inputs[i]);
      for (size_t a = 0; a < input.axes.size(); ++a) {
        if (map.input_axes[i][a] != int64_t(axis) || !input.axes[a].is_padded) continue;
        if (!found.is_padded) found = input.axes[a];
        else if (found.edge != input.axes[a].edge) found.edge.reset();
      }
    }
    if (!found.is_padded || at.results.empty()) continue;
    std::vector<Numbers> outside = map_results(map, int64_t(axis), found.edge);
    for (size_t r = 0; r < at.results.size(); ++r)
      tiles_[at.results[r]].axes[axis] = {true, found.edge, outside[r], found.origin, false};
  }
  taint_writes(map.body);
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
      result.axes[j] = {true, std::nullopt, joined(old.inside, old.axes[i].numbers), old.axes[i].origin, false};
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

void PaddingFlow::report(const AxisPadding& axis, ValueId tile, std::string_view where, std::string_view identity, const Op& at) {
  if (!reported_.insert(&at).second) return;
  std::string value = text_of(axis.numbers), name = name_of(kernel_, tile);
  auto report = diagnostics_.at(at.span).error(diag::PadInReduction, value, name, where);
  if (axis.origin.valid() && axis.origin != at.span) report.mark(axis.origin, "the padding comes from here");
  std::string wanted(identity);
  // A tile and a region end with the bracket behind their last argument.
  Span end{axis.origin.file, axis.origin.end - 1, axis.origin.end - 1};
  bool is_mendable = axis.is_as_read && axis.origin.valid();
  if (is_mendable) report.fix(end, ", pad = " + wanted, "read it with padding that changes nothing");
  std::string mask = "set the elements of `" + name + "` beyond the edge to " + wanted + " in a `parallel` loop";
  report.help(is_mendable ? "or " + mask : mask);
}

}  // namespace tilec::passes
