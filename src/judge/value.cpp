#include "judge/value.h"

#include <bit>
#include <cstring>

namespace tilec::judge {

Number integer_of(Wide value) {
  Number n;
  n.i = value;
  return n;
}

Number truth_of(bool value) {
  Number n;
  n.i = value;
  n.type = Scalar::Bool;
  return n;
}

int64_t count_of(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

Padding moved(Padding padding, const Places& places) {
  Padding out = padding & ~(kLost - 1);
  for (size_t d = 0; d < places.size(); ++d)
    if (padding >> d & 1) out |= places[d] ? Padding(1 << *places[d]) : kLost;
  return out;
}

namespace {

uint32_t either(uint32_t a, uint32_t b) { return !a || a == b ? b : !b ? a : kSeveral; }

Owners moved(const Owners& owners, const Places& places) {
  Owners out;
  out.along[kMostAxes] = owners.along[kMostAxes];
  for (size_t d = 0; d < places.size() && d < kMostAxes; ++d) {
    uint32_t& to = out.along[places[d].value_or(kMostAxes)];
    to = either(to, owners.along[d]);
  }
  return out;
}

}  // namespace

void Owners::set(Padding axes, uint32_t owner) {
  for (size_t a = 0; a < along.size(); ++a)
    if (axes >> a & 1) along[a] = owner;
}

void Owners::add(Padding axes, const Owners& others) {
  for (size_t a = 0; a < along.size(); ++a)
    if (axes >> a & 1) along[a] = either(along[a], others.along[a]);
}

Padding Owners::several() const {
  Padding axes = 0;
  for (size_t a = 0; a < along.size(); ++a) axes |= Padding((along[a] == kSeveral) << a);
  return axes;
}

Padding Owners::others_than(uint32_t stamp) const {
  Padding axes = 0;
  for (size_t a = 0; a < along.size(); ++a) axes |= Padding((along[a] && along[a] != stamp) << a);
  return axes;
}

Number moved(Number x, const Places& places) {
  for (size_t d = 0; d < places.size(); ++d) {
    if (places[d]) continue;
    x.padding &= ~(x.scanned & 1 << d);
    // At one place of an axis, what a variable has kept beyond the edge is no element either.
    const Padding kept = x.waiting & ~x.data & 1 << d;
    x.padding |= kept && (x.padding & kPartly) ? kSet : kept, x.waiting &= ~kept;
  }
  x.scanned = moved(x.scanned, places) & (kLost - 1);
  x.padding = moved(x.padding, places);
  x.waiting = moved(x.waiting, places);
  x.data = moved(x.data, places), x.placed = moved(x.placed, places), x.unsaid = moved(x.unsaid, places);
  x.kept = (moved(x.kept, places) & kAllAxes & ~kLost) | (x.kept & kLost), x.read = moved(x.read, places);
  x.keepers = moved(x.keepers, places), x.owners = moved(x.owners, places);
  x.stamps = {};
  return x;
}

namespace {

void add_sources(Number& out, const Number& x) {
  const Padding kept = x.kept & ~x.spread;
  Owners keepers = x.keepers;
  if (x.spread) keepers.set(kept, kSeveral);
  out.kept |= kept, out.keepers.add(kept, keepers);
  out.read |= x.read & ~x.spread;
  out.owners.add(x.data & ~x.spread, x.owners);
}

}  // namespace

void own_sources(Number& x) {
  // Along some axes it may have been given what is of another one's data and of what variables have kept.
  const Padding given = x.kept & x.owners.others_than(x.origin()) & ~x.owners.several(), own = kAllAxes & ~given;
  x.kept = (x.kept & given) | (x.waiting & own);
  x.keepers.set(own, 0), x.keepers.set(x.waiting & own, x.origin());
  x.owners.set(own, 0), x.owners.set(x.data & own, x.origin());
}

Padding left_by_others(const Number& next, const Number& old) {
  if (!next.kept || (next.padding & kLost)) return 0;
  return next.kept & next.keepers.others_than(old.origin()) & ~(next.data & next.owners.others_than(old.origin())) & kAllAxes;
}

Number apart(Number x) {
  if (!x.stamp) x.keepers.set(x.kept, kSeveral);
  return x;
}

bool is_unsure_whether_it_waits(std::span<const Number> from) {
  Padding waiting = 0, sure = 0, set = 0;
  for (const Number& x : from) waiting |= x.waiting & ~x.spread, (x.is_set() ? set : sure) |= x.data & ~x.spread;
  return waiting & set & ~sure;
}

void mark(Number& out, std::span<const Number> from) {
  out.scanned = out.padding & (kLost - 1);
  out.data = out.placed = out.waiting = out.kept = out.read = 0, out.keepers = out.owners = {}, out.stamps = {}, out.stamp = 0, out.is_element = out.is_known = false, out.spread = from.empty() ? Padding(0) : from[0].spread;
  out.padder = out.unsaid = 0;
  for (const Number& x : from) {
    if (x.is_padding()) out.padder = x.padder ? either(out.padder, x.padder) : kSeveral;
    out.scanned &= x.scanned | ~x.padding;
    out.is_element |= x.is_element, out.spread &= x.spread;
    out.data |= x.data & ~x.spread, out.placed |= x.placed & ~x.spread, out.waiting |= x.waiting & ~x.spread, out.unsaid |= x.unsaid & ~x.spread;
    add_sources(out, x);
    if (x.stamp || (x.is_element && !x.spread)) out.stamps.add(x.stamps);
  }
  out.is_known = !from.empty() && std::ranges::all_of(from, &Number::is_known);
  out.data &= ~(out.padding & kAllAxes), out.placed &= ~(out.padding & kAllAxes), out.waiting &= ~out.data, out.unsaid &= ~out.data;
  if (std::ranges::count_if(from, &Number::is_padding) > 1) out.padding |= kMet;
  if (is_unsure_whether_it_waits(from)) out.padding |= kAnything;
}

void decided_by(Number& x, const Number& test) {
  x.data |= test.data & ~test.spread & ~(test.is_element ? Padding(0) : x.waiting);
  x.placed |= test.placed & ~test.spread;
  x.waiting = (x.waiting | (test.waiting & ~test.spread)) & ~x.data, x.unsaid = (x.unsaid | (test.unsaid & ~test.spread)) & ~x.data;
  if (test.stamp || (test.is_element && !test.spread)) x.stamps.add(test.stamps);
  add_sources(x, test);
}

bool may_stand(const Number& x, size_t axis) { return (x.padding & kPartly) && (x.waiting & (kLost | 1 << axis)) && !x.is_padding(); }

bool is_left_out_along(const Number& x, size_t axis) { return (x.padding | x.waiting) & 1 << axis; }

bool is_left_out(const Number& x, size_t axis) { return (x.padding | x.waiting) & (kLost | 1 << axis); }

bool waits(std::span<const Number> from) {
  Padding data = 0, waiting = 0;
  for (const Number& x : from) data |= x.data & ~x.spread, waiting |= x.waiting & ~x.spread;
  return waiting & ~data;
}

Places turned_round(const Places& places) {
  Places out;
  for (size_t d = 0; d < places.size(); ++d) {
    if (!places[d]) continue;
    out.resize(std::max(out.size(), *places[d] + 1));
    out[*places[d]] = d;
  }
  return out;
}

Shape View::extents() const {
  Shape out;
  for (const Axis& axis : axes) out.push_back(axis.extent);
  return out;
}

Shape Region::shape() const {
  Shape out;
  for (size_t d = 0; d < length.size(); ++d)
    if (is_kept[d]) out.push_back(length[d]);
  return out;
}

Memory::Memory(std::string name, interp::Tensor* tensor, bool is_written)
    : element(tensor->element), name(std::move(name)), tensor_(tensor), written_(size_t(std::max<int64_t>(tensor->reach(), 0)), is_written) {}

Memory::Memory(std::string name, Scalar element, const Shape& shape, bool rounds)
    : element(element), name(std::move(name)), shape(shape), own_(size_t(count_of(shape))), written_(own_.size(), false), rounds_(rounds) {}

// Nothing is assigned to it any more.
Memory::~Memory() {
  for (const Number& x : own_) end_stamp(x.stamp);
}

bool Memory::is_written(int64_t offset) const { return written_[size_t(offset)]; }

Number Memory::get(int64_t offset) const {
  if (!tensor_) return own_[size_t(offset)];
  uint64_t bits = 0;
  int bytes = byte_width(element);
  std::memcpy(&bits, &tensor_->bytes[size_t(offset * bytes)], size_t(bytes));
  ir::Number number = ir::from_bits(element, bits);
  Number out;
  out.type = element;
  if (number.is_float) out.f = number.f;
  else out.i = element == Scalar::U64 ? Wide(uint64_t(number.i)) : Wide(number.i);
  return out;
}

void Memory::set(int64_t offset, const Number& value) {
  std::erase_if(lookers_, [](const std::weak_ptr<Old>& old) { return old.expired(); });
  for (const std::weak_ptr<Old>& looker : lookers_) looker.lock()->try_emplace(offset, get(offset));
  written_[size_t(offset)] = true;
  ir::Number number = value.is_real() ? ir::Number::real(value.f) : ir::Number::integer(int64_t(value.i));
  uint64_t bits = rounds_ ? ir::to_bits(element, number) : 0;
  int bytes = byte_width(element);
  if (tensor_) {
    std::memcpy(&tensor_->bytes[size_t(offset * bytes)], &bits, size_t(bytes));
    return;
  }
  Number& own = own_[size_t(offset)];
  own = stamped(value, own.stamp);
  if (rounds_ && is_float(element)) own.f = ir::from_bits(element, bits).f;
}

// Beside a number that the program has set in a part of a line, it is not known which of the others are such.
void Memory::set_in_part(int64_t offset, Padding cut) {
  int64_t inner = 1;
  for (size_t d = shape.size(); d-- > 0; inner *= shape[d]) {
    const int64_t first = offset - offset / inner % shape[d] * inner;
    for (int64_t k = 0; (cut >> d & 1) && k < shape[d]; ++k) {
      Number& x = own_[size_t(first + k * inner)];
      if (!x.is_padding()) x.padding |= kSet;
    }
  }
}

// Beside data that were given to a part of a line, where others have come to nothing is not known.
void Memory::come_in_parts(Padding cut) {
  int64_t inner = 1;
  for (size_t d = shape.size(); d-- > 0; inner *= shape[d]) {
    for (int64_t first = 0; (cut >> d & 1) && first < count(); ++first) {
      if (first / inner % shape[d] != 0) continue;
      bool has_data = false;
      for (int64_t k = 0; k < shape[d]; ++k) has_data |= own_[size_t(first + k * inner)].data >> d & 1;
      for (int64_t k = 0; has_data && k < shape[d]; ++k) {
        Number& x = own_[size_t(first + k * inner)];
        if (x.waiting >> d & 1) x.padding |= kPartly;
      }
    }
  }
}

void Memory::level(Padding cut) {
  come_in_parts(cut);
  for (const Number& x : own_) cut &= ~(x.padding | x.waiting);
  int64_t inner = 1;
  for (size_t d = shape.size(); d-- > 0; inner *= shape[d]) {
    const Padding axis = Padding(1 << d);
    for (int64_t first = 0; first < count(); ++first) {
      if (first / inner % shape[d] != 0) continue;
      Padding has_data = cut & axis, has_read = 0, is_placed = 0;
      auto each = [&](auto&& f) {
        for (int64_t k = 0; k < shape[d]; ++k) f(own_[size_t(first + k * inner)]);
      };
      each([&](const Number& x) { has_data |= x.data & axis, has_read |= x.read & axis, is_placed |= x.placed & axis; });
      each([&](Number& x) { x.placed |= is_placed & ~x.padding; });
      if (has_data) each([&](Number& x) { x.data |= axis & ~x.waiting & ~x.unsaid & ~x.padding, x.read |= has_read & x.data; });
    }
  }
}

void Memory::stamp_anew(bool is_open) {
  for (Number& x : own_) x = stamped(x, x.stamp), x.stamps.is_open |= is_open;
}

void Memory::begin_turn(bool takes_up) {
  stamp_anew(false);
  for (Number& x : own_)
    if (takes_up) x.read = 0;
}

std::shared_ptr<Memory::Old> Memory::look() {
  auto old = std::make_shared<Old>();
  lookers_.push_back(old);
  return old;
}

}  // namespace tilec::judge
