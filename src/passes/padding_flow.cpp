// How each operation on tiles carries padding; control flow stands in check_padding.cpp.
#include "passes/padding_flow.h"

#include <limits>

#include "diag/diag.h"
#include "ir/sources.h"

namespace tilec::passes {

using namespace ir;
using prove::Linear;

namespace {

// What the program has set itself is the program's own business: what it does is what it may be hoped to do.
const Numbers& counted(const AxisPadding& axis) { return axis.kind == PaddingKind::Set ? axis.numbers.hoped : axis.numbers.sure; }

std::string text_of(const Numbers& numbers, Scalar type) {
  if (type == Scalar::U64 && numbers.exact) return std::to_string(uint64_t(numbers.exact->i));
  std::string text = text_of(numbers);
  return type != Scalar::Bool ? text : text == "0" ? "false" : text == "1" ? "true" : text;
}
// What the padding is, as far as one may hope, unless that would be no reason.
const Numbers& text_numbers(const AxisPadding& axis) { return axis.numbers.hoped.kinds ? axis.numbers.hoped : axis.numbers.sure; }
std::string identity_text(ReduceFn fn, Scalar type) { return text_of(exactly(type, identity(fn, type)), type); }

}  // namespace

PaddingFlow::LinearList PaddingFlow::values(std::span<const ValueId> offsets) {
  LinearList result;
  for (ValueId v : offsets) result.push_back(prover_.value(v));
  return result;
}

// What an index takes out of a tile, where it is proved to lie inside, is no padding.
TileState PaddingFlow::part(const TileState& of, std::span<const Linear> offsets, const Axes& axes) const {
  TileState result = part_of(of, offsets, axes);
  if (of.whole().is_padded) return result;
  drop_inside(result.whole(), region_);
  is_no_element(result.whole());
  return result;
}

void PaddingFlow::drop_inside(AxisPadding& whole, RegionId region) const {
  if (!whole.is_padded || whole.edges.empty() || !whole.is_filled) return;
  if (prover_.proves(prover_.facts(region), negation(outside(whole.edges, Linear(0))), prove::Effort::Quick)) whole = {};
}

TileState PaddingFlow::state(ValueId v) const {
  if (auto* view = kernel_.defined_by<op::Subview>(v)) {
    LinearList offsets;
    for (ValueId offset : view->offsets) offsets.push_back(prover_.value(offset));
    return part(state(view->buffer), offsets, view->axes);
  }
  const auto& known = kernel_.type(v).is_buffer() ? buffers_ : tiles_;
  auto found = known.find(v);
  return found != known.end() ? found->second : plain_state(known_data(element(v)), size_t(kernel_.type(v).rank()));
}

Known PaddingFlow::inside(ValueId v) const {
  const auto& known = kernel_.type(v).is_buffer() ? buffers_ : tiles_;
  auto found = known.find(v);
  return found != known.end() ? found->second.inside : state(v).inside;
}

TileState PaddingFlow::read(ValueId buffer, std::span<const ValueId> offsets, const Axes& axes, const BoundsList& bounds,
                            Number pad, const ReadNote& note) {
  LinearList at = values(offsets);
  if (!is_device_memory(kernel_.type(buffer))) return part(state(buffer), at, axes);
  std::vector<Linear> extents = prover_.extents(buffer);
  TileState result = plain_state(known_data(element(buffer)), axes.size());
  Known padding = known_exactly(element(buffer), pad);
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t d = axes[k];
    if (size_t(d) < bounds.size() && bounds[d] == Bounds::Inside) continue;
    bool has_low = prover_.terms().range(at[d]).low < 0 && !prover_.proves(prover_.facts(region_), prove::at_least_zero(at[d]), prove::Effort::Quick);
    Edge edge{has_low ? -at[d] : Linear(0), extents[d] - at[d], has_low};
    result.axes[k] = {.is_padded = true, .edges = {Beyond{{std::move(edge)}}}, .is_filled = true, .numbers = padding, .origin = {buffer, note.read, note.pad}, .is_as_read = true};
    result.corner = padding;
  }
  return result;
}

void PaddingFlow::write(const TileState& part, ValueId buffer, std::span<const ValueId> offsets, const Axes& axes,
                        std::span<const int64_t> shape) {
  if (kernel_.type(buffer).space != Space::Shared) return;
  TileState region = placed(part, values(offsets), axes);
  std::vector<int64_t> sizes = sizes_along(kernel_.type(buffer).rank(), axes, shape);
  LinearList at = values(offsets);
  while (auto* view = kernel_.defined_by<op::Subview>(buffer)) {
    region = placed(region, values(view->offsets), view->axes);
    sizes = sizes_along(kernel_.type(view->buffer).rank(), view->axes, sizes);
    buffer = view->buffer, at.clear();
  }
  auto known = buffers_.find(buffer);
  const Place place{std::move(at), std::move(sizes), kernel_.type(buffer).shape};
  if (place.covers_all() || known == buffers_.end()) buffers_[buffer] = std::move(region);
  else known->second = joined_in_parts(known->second, region, place);
}

TileState PaddingFlow::copied(const op::Copy& copy, const Op& at) {
  TileState part = read(copy.src, copy.src_offsets, copy.src_axes, copy.src_bounds, copy.pad, kernel_.read_note(at.span));
  auto convert = [&](Known& x) {
    x = known([&](Belief belief) { return apply_convert(element(copy.src), element(copy.dst), ConvertMode::Nearest, x.under(belief), belief); });
  };
  if (element(copy.src) != element(copy.dst)) {
    convert(part.inside);
    convert(part.corner);
    for (AxisPadding& axis : part.axes) convert(axis.numbers), convert(axis.told), convert(axis.uniform.number), std::ranges::for_each(axis.plain, convert, &Plain::number);
  }
  return part;
}

// Padding along an axis that would enter a reduction is kept out of it. Gives whether it is neutral there.
bool PaddingFlow::enter_reduction(const op::Reduce& reduce, int64_t along, const Op& at) {
  AxisPadding axis = state(reduce.x).axes[size_t(along)];
  const Scalar type = element(reduce.x);
  const bool is_index = reduce.fn == ReduceFn::ArgMax || reduce.fn == ReduceFn::ArgMin;
  auto changes_nothing = [&](const Numbers& n) {
    if (!is_index || !n.kinds) return is_identity(reduce.fn, type, n);
    return is_float(type) ? n.is_within(kNan) : is_identity(reduce.fn, type, n) && !axis.has_low();
  };
  axis.end_if(changes_nothing(axis.uniform.number.sure));
  if (!axis.is_padded || axis.stands() || changes_nothing(counted(axis))) return true;
  // NaN never wins, whichever end is looked for.
  const bool may_be_nan = is_index && is_float(type);
  std::string wanted = may_be_nan ? "nan" : identity_text(reduce.fn, type), where(name(reduce.fn));
  Number neutral = may_be_nan ? Number::real(std::numeric_limits<double>::quiet_NaN()) : identity(reduce.fn, type);
  const bool is_told = axis.told.is_some() && !changes_nothing(axis.told.hoped);
  // Of equal whole numbers the first wins, and no number is below the least: what lies before the start cannot be hidden.
  if (is_index && !is_float(type) && axis.has_low()) report(axis, reduce.x, where, "", at);
  else keep_out({reduce.x, 0, along, axis, neutral, where, wanted, is_identity(reduce.fn, type, axis.numbers.hoped), is_told}, at);
  return false;
}

void PaddingFlow::run_reduce(const op::Reduce& reduce, const Op& at) {
  TileState x = state(reduce.x);
  Scalar type = element(reduce.x);
  const AxisPadding& axis = x.axes[size_t(reduce.axis)];
  const bool is_index = reduce.fn == ReduceFn::ArgMax || reduce.fn == ReduceFn::ArgMin;
  const bool is_neutral = enter_reduction(reduce, reduce.axis, at);
  // What is padding as a whole has nothing that counts.
  enter_reduction(reduce, int64_t(x.rank()), at);
  auto fold = [&](const Known& n) { return is_index ? known_data(element(at.result())) : total(reduce.fn, type, n); };
  TileState result{fold(x.inside), {}, x.axes, x.taken_up};
  result.axes.erase(result.axes.begin() + reduce.axis);
  for (AxisPadding& other : result.axes) {
    if (!other.is_padded) continue;
    // A line that lies beyond both edges holds nothing but the identity, where it is masked.
    const Known corner = is_neutral || is_index ? x.corner : known_exactly(type, identity(reduce.fn, type));
    other.numbers = fold(axis.is_padded ? joined(other.numbers, corner) : other.numbers);
    if (&other == &result.whole() && !is_index) other.numbers = joined(other.numbers, known_exactly(type, identity(reduce.fn, type)));
    other.is_as_read = false, other.told = other.told.is_some() ? other.numbers : Known();
    if (!other.uniform.is_never()) other.uniform.number = fold(other.uniform.number);
    if (x.corner.is_some()) result.corner = fold(x.corner);
  }
  if (x.whole().is_padded && !is_index) result.inside = joined(result.inside, known_exactly(type, identity(reduce.fn, type)));
  if (x.inside.is_of_product) result = of_product(std::move(result));
  if (kernel_.type(at.result()).is_tile()) tiles_[at.result()] = std::move(result);
  else scalars_[at.result()] = result.inside;
}

void PaddingFlow::run_scan(const op::Scan& scan, const Op& at) {
  TileState result = state(scan.x);
  Scalar type = element(scan.x);
  result.axes[scan.axis] = standing_anywhere(result.axes[scan.axis]);
  AxisPadding axis = result.axes[scan.axis];
  axis.end_if(is_identity(scan.fn, type, axis.uniform.number.sure));
  // Padding at the far end is reached when everything inside is done: it holds what the scan has come to, where a mask can stand.
  bool comes_last = !axis.edges.empty() && !axis.has_low() && !scan.reverse;
  bool is_neutral = is_identity(scan.fn, type, counted(axis));
  if (axis.is_padded && !is_neutral && (!comes_last || has_place(axis))) {
    std::string wanted = identity_text(scan.fn, type);
    const bool is_told = axis.told.is_some() && !comes_last && !is_identity(scan.fn, type, axis.told.hoped);
    keep_out({scan.x, 0, scan.axis, axis, identity(scan.fn, type), "scan", wanted, comes_last || is_identity(scan.fn, type, axis.numbers.hoped), is_told}, at);
  }
  const AxisPadding& whole = result.whole();
  if (whole.is_padded && has_place(whole)) keep_out({scan.x, 0, int64_t(result.rank()), whole, identity(scan.fn, type), "scan", identity_text(scan.fn, type), true}, at);
  Known anywhere = joined(result.inside, axis.numbers);
  // Behind a mask that leaves nothing of a line it has come to nothing.
  if (axis.is_padded && !is_neutral) anywhere = joined(anywhere, known_exactly(type, identity(scan.fn, type)));
  result.taken_up = result.without_reads();
  result.axes[size_t(scan.axis)].count(), result.whole().count();
  result.inside = total(scan.fn, type, comes_last || !axis.is_padded ? result.inside : anywhere);
  for (size_t a = 0; a < result.axes.size(); ++a) {
    AxisPadding& other = result.axes[a];
    if (!other.is_padded) continue;
    bool is_own = int64_t(a) == scan.axis;
    other.numbers = total(scan.fn, type, is_own ? anywhere : joined(other.numbers, result.corner));
    if (is_own) is_no_element(other);
    if (is_own && other.kind == PaddingKind::Mixed) other.edges = other.left_out(), other.is_filled &= !other.uniform.is_lost && !other.edges.empty(), other.uniform = {};
    if (is_own && other.kind != PaddingKind::Mixed) other.kind = PaddingKind::Read;
    if (is_own) other.is_scanned = comes_last || is_neutral;
    other.is_as_read = false;
    if (!other.uniform.is_never()) other.uniform.number = total(scan.fn, type, other.uniform.number);
  }
  if (result.corner.is_some()) result.corner = total(scan.fn, type, joined(result.corner, joined(anywhere, axis.numbers)));
  tiles_[at.result()] = std::move(result);
}

namespace {

// An axis keeps its padding where it keeps its extent, or takes up those behind it, and the number of elements before it.
TileState reshaped(const TileState& old, std::span<const int64_t> a, std::span<const int64_t> b) {
  TileState result = plain_state(old.inside, b.size(), old.is_uniform());
  result.corner = old.corner, result.whole() = old.whole(), result.taken_up = old.taken_up;
  for (size_t i = 0; i < a.size(); ++i) {
    auto before = [](std::span<const int64_t> shape, size_t n) {
      int64_t count = 1;
      for (size_t k = 0; k < n; ++k) count *= shape[k];
      return count;
    };
    if (!old.axes[i].is_padded) {
      // What is the same all along it is so where nothing else joins it.
      for (size_t j = 0; j < b.size(); ++j)
        if (a[i] == b[j] && before(a, i) == before(b, j)) result.axes[j] = old.axes[i];
      continue;
    }
    bool is_kept = false;
    for (size_t j = 0; j < b.size() && !is_kept; ++j) {
      int64_t taken = a[i];
      for (size_t k = i + 1; k < a.size() && taken < b[j]; ++k) taken *= a[k];
      is_kept = taken == b[j] && before(a, i) == before(b, j) && !result.axes[j].is_padded;
      if (!is_kept) continue;
      const int64_t times = b[j] / a[i];
      result.axes[j] = old.axes[i], result.axes[j].unwritten.reset();
      for (Edges* edges : {&result.axes[j].edges, &result.axes[j].at_first})
        each_edge(*edges, [&](Edge& edge) { edge.first = edge.first * times, edge.limit = edge.limit * times; });
    }
    if (!is_kept && a[i] == 1) {
      meet(result.whole(), old.axes[i]);
      continue;
    }
    for (size_t j = 0; j < b.size() && !is_kept; ++j)
      result.axes[j] = {.is_padded = true, .kind = PaddingKind::Mixed, .numbers = joined(result.axes[j].numbers, old.axes[i].numbers), .origin = old.axes[i].origin, .is_as_read = old.axes[i].is_as_read};
  }
  return result;
}

TileState permuted(const TileState& x, const Axes& axes) {
  TileState result = plain_state(x.inside, x.rank());
  result.corner = x.corner, result.whole() = x.whole(), result.taken_up = x.taken_up;
  for (size_t i = 0; i < axes.size(); ++i) result.axes[i] = x.axes[axes[i]], result.axes[i].unwritten.reset();
  return result;
}

}  // namespace

void PaddingFlow::run_shape(const Op& op) {
  TileState& made = tiles_[op.result()];
  auto shapes = [&](ValueId v) { return std::span(kernel_.type(v).shape); };
  if (auto* o = op.get<op::Reshape>()) made = reshaped(state(o->x), shapes(o->x), shapes(op.result()));
  if (auto* o = op.get<op::Extract>()) made = part(state(o->tile), values(o->offsets), o->axes);
  if (auto* o = op.get<op::Permute>()) made = permuted(state(o->x), o->axes);
  if (auto* o = op.get<op::Insert>()) {
    const Place place{values(o->offsets), sizes_along(kernel_.type(o->tile).rank(), o->axes, kernel_.type(o->part).shape), kernel_.type(o->tile).shape};
    made = joined_in_parts(state(o->tile), placed(state(o->part), place.offsets, o->axes), place);
  }
}

// Padding that was written as something else, or set to it, is not taken back without a word.
bool PaddingFlow::is_refused(const Entry& entry) const {
  const AxisPadding& axis = entry.padding;
  bool is_asked_for = axis.kind == PaddingKind::Set || entry.is_told || (axis.is_as_read && axis.origin.pad.valid());
  return !entry.is_meant && (is_asked_for || !has_place(axis));
}

bool PaddingFlow::has_place(const AxisPadding& axis) const { return axis.can_be_masked() && masks_.can_stand(region_, axis.left_out()); }

// What is neutral as long as memory holds finite numbers is left where no mask can stand.
bool PaddingFlow::keep_out(const Entry& entry, const Op& at) {
  if (is_refused(entry)) return report(entry.padding, entry.tile, entry.where, entry.wanted, at), false;
  if (entry.padding.apart && !entry.is_meant) report_apart(entry.padding, entry.tile, entry.where, at);
  if (has_place(entry.padding)) masks_.add(OperandMask{region_, op_, entry.operand, entry.axis, entry.padding.left_out(), entry.identity});
  return true;
}

// Where the padding was read, and what to write there or behind it instead.
void PaddingFlow::advise(Report report, const AxisPadding& axis, const std::string& name, std::string_view where, const std::string& wanted, const Op& at,
                         Held held) {
  const PadOrigin& from = axis.origin;
  if (where == kEffect)
    return void(report.help("beyond the edge it would not be made, but which elements lie there is not known here: test the place first, `if c < N { ... }`"));
  if (where == kFresh) {
    if (from.read.valid() && from.read != at.span) report.mark(from.read, "the padding comes from here");
    return void(report.help("beyond the edge it would keep the number that it was declared with in this turn, and count like others: give it its number at once, "
                            "`let b = if t[c] > 0 { 1 } else { 0 };`, or test the place first, `if c < N { ... }`"));
  }
  if (where == kLate) {
    if (from.read.valid() && from.read != at.span) report.mark(from.read, "the padding comes from here");
    return void(report.help("in some turns of a loop, as the first, or behind one without turns, what is assigned here is computed of what padding has not come to, and counts, in others it does not: "
                            "put the loop around `parallel`, or assign to that in front of its use"));
  }
  if (where == kPartial) {
    if (from.read.valid() && from.read != at.span) report.mark(from.read, "the padding comes from here");
    return void(report.help("beyond the edge the variable would stay as it is where this is computed of what it holds, as of a copy that has been written over in part, or in some runs, "
                            "and become padding elsewhere: give the result a name of its own, `let v = ...`"));
  }
  if (wanted.empty())
    return void(report.help("no whole number is beyond the ends of its type, so what lies before the start may be the first of equals: begin inside, or convert to floats"));
  if (from.read.valid() && from.read != at.span) report.mark(from.read, "the padding comes from here");
  if (axis.has_low() && from.buffer.valid()) report.note(from.read, diag::StartUnknown, name_of(kernel_, from.buffer));
  if (where == kChoice)
    return void(report.help("beyond the edge what the loop carries would stay, but which elements lie there is not known here, or it is computed in one side alone: "
                            "test the place first, `if c < N { ... }`, or choose in the turn that reads the tile, between names"));
  bool is_mendable = axis.is_as_read && from.read.valid(), is_everywhere = !axis.can_be_masked() || !masks_.can_stand(region_, axis.left_out());
  if (!is_mendable && is_everywhere)
    return void(report.help("which of its elements lie beyond the edge is not known here: reduce each tile, or set what enters it beyond the edge to " + wanted));
  // What is computed in place has no elements to set, and setting those that it is computed from is another thing.
  // Of a shared tile whose elements are written one by one it is not known which are padding.
  std::string mask = (held == Held::Named     ? "set the elements of `" + name + "` beyond the edge"
                      : held == Held::Shared ? "copy `" + name + "` into a fragment, and set the elements of that beyond the edge"
                                             : "name what enters it with `var`, and set its elements beyond the edge") +
                     " to " + wanted + " in a `parallel` loop";
  if (!is_mendable) return void(report.help(mask));
  // A tile and a region end with the bracket behind their last argument.
  Span end{from.read.file, from.read.end - 1, from.read.end - 1};
  if (from.pad.valid()) report.fix(from.pad, wanted, "read it with padding that changes nothing");
  else report.fix(end, ", pad = " + wanted, "read it with padding that changes nothing");
  if (!is_everywhere) report.help("or " + mask);
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
  told_[op_].push_back({axis, tile, std::string(where), std::string(identity), at, region_});
}

void PaddingFlow::report_apart(const AxisPadding& axis, ValueId tile, std::string_view where, const Op& at) {
  told_[op_].push_back({axis, tile, std::string(where), "", at, region_, true});
}

void PaddingFlow::tell() {
  each_op(kernel_, kernel_.body, [&](OpId id) {
    auto found = told_.find(id);
    if (found == told_.end()) return;
    op_ = id;
    for (const Told& one : found->second) region_ = one.region, tell(one);
  });
}

// Of a read that ends elsewhere than what it is combined with.
void PaddingFlow::tell_apart(const Told& one) {
  const auto& [read, other] = *one.axis.apart;
  if (!warned_.insert(read.read.valid() ? read.read : one.at.span).second) return;
  Report report = diagnostics_.at(one.at.span).warning(diag::LeftOut, one.where, name_of(kernel_, read.buffer));
  for (Span at : std::set{read.read, other.read})
    if (at.valid()) report.mark(at, read.read == other.read ? "elements of this that lie inside meet others of it that do not" : "one of these reads ends, or begins, at another place than the other");
  report.help("padding does not count, and what is computed of it is padding as well. Where it shall count, copy what lies inside into a shared tile of numbers of your own: "
              "`if g >= 0 && g < N { s[c] = x[g]; } else { s[c] = 0; }`");
}

void PaddingFlow::tell(const Told& one) {
  const AxisPadding& axis = one.axis;
  if (one.is_apart) return tell_apart(one);
  // One read is told of once: what mends the first of the operations that it reaches may mend the others.
  Span cause = axis.origin.read.valid() ? axis.origin.read : one.at.span;
  if (!reported_.insert(cause).second) return;
  // What has no name of its own is called by what it was computed from.
  std::string name = padded_name(one.tile);
  auto* load = kernel_.defined_by<op::Load>(one.tile);
  bool is_shared = kernel_.type(load ? load->buffer : one.tile).space == Space::Shared;
  Held held = name_of(kernel_, one.tile) == kNoName ? Held::InPlace : is_shared ? Held::Shared : Held::Named;
  if (name == kNoName && axis.origin.buffer.valid()) name = name_of(kernel_, axis.origin.buffer);
  advise(diagnostics_.at(one.at.span).error(diag::PadInReduction, text_of(text_numbers(axis), element(one.tile)), name, one.where), axis, name, one.where, one.identity, one.at, held);
}

}  // namespace tilec::passes
