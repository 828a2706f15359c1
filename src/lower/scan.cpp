// Running sums along an axis.
//
// The coordinate along the axis is a number in mixed radix: its digits are registers, lanes and warps, in some order of
// weight. From the highest digit down: registers carry a running value from one to the next; lanes and warps first learn the
// totals of all below them, then each starts with what those before it have in sum.
#include "lower/scan.h"

#include "layout/transform.h"
#include "lower/magnitude.h"

namespace tilec::lower {

using ir::BinaryFn;
using ir::CompareFn;

namespace {

// Lines that exchange their totals between two barriers.
constexpr size_t kLinesAtOnce = 16;

}  // namespace

std::vector<LineScan::Level> LineScan::levels_of(const layout::RegLayout& layout, int axis, std::span<const Digit> digits) {
  std::vector<Level> levels;
  auto bits = [&](const layout::Basis& basis, Place place) {
    for (size_t bit = 0; bit < basis.size(); ++bit) {
      layout::Vec part = layout::axis_part(basis[bit], layout.shape.rank, axis);
      INVARIANT(!part || std::has_single_bit(basis[bit]), "layouts of atoms and memory move along one axis with each bit");
      if (part) levels.push_back({place, int64_t(part), 2, int64_t(1) << bit});
    }
  };
  for (const Digit& d : digits)
    if (d.axis == axis) levels.push_back({Place::Register, d.weight, d.count, d.place});
  bits(layout.lane, Place::Lane);
  bits(layout.warp, Place::Warp);
  int64_t divisor = int64_t(1) << layout.warp.size(), weight = int64_t(1) << layout.bits(axis);
  for (const layout::Grid& grid : layout.grids) {
    bool is_dealt = grid.place == layout::GridPlace::Warp;
    if (is_dealt && grid.axis == axis) levels.push_back({Place::Warp, weight, grid.count, divisor});
    if (is_dealt) divisor *= grid.count;
    if (grid.axis == axis) weight *= grid.count;
  }
  std::sort(levels.begin(), levels.end(), [](const Level& a, const Level& b) { return a.weight < b.weight; });
  for (size_t i = 1; i < levels.size(); ++i)
    INVARIANT(levels[i].weight == levels[i - 1].weight * levels[i - 1].count, "each step along an axis is one digit's");
  return levels;
}

LineScan::LineScan(Lowering& lowering, const ir::op::Scan& scan, const Home& from, Home& to)
    : l_(lowering), b_(lowering.builder_), layout_(lowering.reg_layout(to.layout)), scan_(scan), from_(from), to_(to) {
  digits_ = l_.digits(layout_);
  levels_ = levels_of(layout_, int(scan.axis), digits_);
  Scalar element = l_.source_.type(scan.x).element;
  ValueId identity = b_.constant(element, ir::identity(scan.fn, element));
  identity_ = l_.is_uniform(layout_) ? identity : l_.broadcast(identity);
}

void LineScan::run() {
  std::vector<Digit> kept;
  for (const Digit& d : digits_)
    if (d.axis != int(scan_.axis)) kept.push_back(d);
  // Lines in registers go together, so that they meet at the same barriers; others one after the other.
  nest(b_, kept, unrolls() ? INT64_MAX : 1, {}, [&](const Point& line, const Carried&) -> Carried {
    lines_.push_back(line);
    if (!unrolls()) scan_lines();
    return {};
  });
  if (unrolls()) scan_lines();
}

void LineScan::scan_lines() {
  scan_from(levels_.size(), {}, Carried(lines_.size(), identity_));
  lines_.clear();
}

ValueId LineScan::combined(ValueId a, ValueId b) { return b_.binary(step_of(scan_.fn), a, b); }

Carried LineScan::combined(const Carried& a, const Carried& b) {
  Carried out;
  for (size_t i = 0; i < a.size(); ++i) out.push_back(combined(a[i], b[i]));
  return out;
}

Point LineScan::place(size_t line, const Point& along) const {
  Point point = lines_[line];
  point.digits.insert(point.digits.end(), along.digits.begin(), along.digits.end());
  point.values.insert(point.values.end(), along.values.begin(), along.values.end());
  return point;
}

ValueId LineScan::element(const Point& point) {
  ValueId value = l_.read(from_, point);
  if (scan_.fn == ir::ReduceFn::AbsMax) value = magnitude(b_, value);
  ValueId mask = l_.tile_mask(layout_, point);
  return mask.valid() ? b_.select(mask, value, identity_) : value;
}

// The digits that lanes and warps hold right below the first `count` ones; their lowest's number.
size_t LineScan::exchange_below(size_t count) const {
  while (count > 0 && levels_[count - 1].place != Place::Register) --count;
  return count;
}

Carried LineScan::over_registers(const Level& level, const Point& along, Carried start,
                                 const std::function<Carried(const Point&, const Carried&)>& body) {
  return count_loop(b_, level.count, unrolls(), std::move(start), [&](ValueId i, const Carried& carried) {
    Point at = along;
    at.digits.push_back({level.count, int(scan_.axis), level.weight, level.step});
    at.values.push_back(scan_.reverse ? b_.sub(b_.index(level.count - 1), i) : i);
    return body(at, carried);
  });
}

// Writes the elements of the first `count` digits, `along` being those above them; gives what the next ones start with.
Carried LineScan::scan_from(size_t count, const Point& along, const Carried& start) {
  if (count == 0) {
    Carried out;
    for (size_t line = 0; line < lines_.size(); ++line) {
      Point point = place(line, along);
      out.push_back(combined(start[line], element(point)));
      l_.write(to_, point, out.back());
    }
    return out;
  }
  const Level& top = levels_[count - 1];
  if (top.place == Place::Register)
    return over_registers(top, along, start, [&](const Point& at, const Carried& carried) { return scan_from(count - 1, at, carried); });
  size_t below = exchange_below(count);
  Parts parts = exchanged(below, count, totals(below, along));
  scan_from(below, along, combined(start, parts.before));
  return combined(start, parts.whole);
}

// The sums over the first `count` digits, the same in all lanes and warps that differ only in these.
Carried LineScan::totals(size_t count, const Point& along) {
  if (count == 0) {
    Carried out;
    for (size_t line = 0; line < lines_.size(); ++line) out.push_back(element(place(line, along)));
    return out;
  }
  const Level& top = levels_[count - 1];
  if (top.place == Place::Register)
    return over_registers(top, along, Carried(lines_.size(), identity_), [&](const Point& at, const Carried& carried) {
      return combined(carried, totals(count - 1, at));
    });
  size_t below = exchange_below(count);
  return exchanged(below, count, totals(below, along)).whole;
}

LineScan::Parts LineScan::exchanged(size_t low, size_t high, Carried whole) {
  Parts parts{Carried(whole.size(), identity_), std::move(whole)};
  for (size_t i = low; i < high;) {
    size_t next = i + 1;
    if (levels_[i].place == Place::Lane) {
      exchange_lanes(levels_[i], parts);
    } else {
      while (next < high && levels_[next].place == Place::Warp) ++next;
      exchange_warps(std::span(levels_).subspan(i, next - i), parts);
    }
    i = next;
  }
  return parts;
}

void LineScan::exchange_lanes(const Level& level, Parts& parts) {
  ValueId lane = b_.value(ir::op::LaneIndex{}, ir::scalar_type(Scalar::Index, true));
  ValueId bit = b_.binary(BinaryFn::And, lane, b_.index(level.step));
  ValueId is_after = b_.compare(scan_.reverse ? CompareFn::Eq : CompareFn::Ne, bit, b_.index(0));
  for (size_t line = 0; line < lines_.size(); ++line) {
    ValueId mine = l_.broadcast(parts.whole[line]);
    ValueId other = b_.value(ir::op::Shuffle{ir::ShuffleKind::Xor, mine, b_.index(level.step)},
                             ir::scalar_type(l_.target_.type(mine).element, true));
    parts.before[line] = b_.select(is_after, combined(parts.before[line], other), parts.before[line]);
    parts.whole[line] = combined(mine, other);
  }
}

// Every thread leaves its totals in memory and reads those of the threads that differ from it in these digits alone.
void LineScan::exchange_warps(std::span<const Level> levels, Parts& parts) {
  const int64_t threads = l_.warps_ * l_.machine_.lanes;
  int64_t places = 1;
  ValueId own_place = b_.index(0), first = l_.thread_index();
  for (const Level& level : levels) {
    ValueId digit = b_.binary(BinaryFn::Rem, b_.binary(BinaryFn::Div, l_.warp_index(), b_.index(level.step)), b_.index(level.count));
    own_place = b_.add(own_place, b_.mul(digit, b_.index(places)));
    first = b_.sub(first, b_.mul(digit, b_.index(level.step * l_.machine_.lanes)));
    places *= level.count;
  }
  auto thread_at = [&](int64_t place) {
    int64_t distance = 0;
    for (const Level& level : levels) {
      distance += place % level.count * level.step * l_.machine_.lanes;
      place /= level.count;
    }
    return b_.add(first, b_.index(distance));
  };
  Scalar element = l_.target_.type(identity_).element;
  if (!memory_.valid()) memory_ = l_.scratch(element, int64_t(std::min(lines_.size(), kLinesAtOnce)) * threads, "scan");
  for (size_t from = 0; from < lines_.size(); from += kLinesAtOnce) {
    size_t to = std::min(from + kLinesAtOnce, lines_.size());
    auto index = [&](size_t line, ValueId thread) { return b_.add(b_.index(int64_t(line - from) * threads), thread); };
    l_.barrier("a scan goes from warp to warp");
    for (size_t line = from; line < to; ++line)
      b_.add(ir::op::MemStore{memory_, index(line, l_.thread_index()), l_.broadcast(parts.whole[line]), {}, 1});
    l_.barrier("a scan goes from warp to warp");
    for (size_t line = from; line < to; ++line) {
      ValueId sum;
      for (int64_t place = 0; place < places; ++place) {
        ValueId value = b_.value(ir::op::MemLoad{memory_, index(line, thread_at(place)), {}, 1}, ir::scalar_type(element, true));
        ValueId is_before = b_.compare(scan_.reverse ? CompareFn::Gt : CompareFn::Lt, b_.index(place), own_place);
        parts.before[line] = b_.select(is_before, combined(parts.before[line], value), parts.before[line]);
        sum = sum.valid() ? combined(sum, value) : value;
      }
      parts.whole[line] = sum;
    }
  }
}

void Lowering::lower_scan(const ir::Op& op, const ir::op::Scan& scan) {
  const Home from = home(scan.x);
  Home to = result_home(op, op.result(), std::span(&scan.x, 1));
  LineScan(*this, scan, from, to).run();
  bind_home(op.result(), std::move(to));
}

}  // namespace tilec::lower
