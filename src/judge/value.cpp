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

bool Tile::is_uniform() const {
  return !elements.empty() && std::ranges::all_of(elements, [&, first = elements[0]](const Number& x) {
    return !x.is_padding() && (x.is_real() ? x.f == first.f || (std::isnan(x.f) && std::isnan(first.f)) : x.i == first.i);
  });
}

Padding moved(Padding padding, const Places& places) {
  Padding out = padding & ~(kLost - 1);
  for (size_t d = 0; d < places.size(); ++d)
    if (padding >> d & 1) out |= places[d] ? Padding(1 << *places[d]) : kLost;
  return out;
}

Number moved(Number x, const Places& places) {
  x.padding = moved(x.padding, places);
  x.waiting = moved(x.waiting, places);
  x.reached = moved(x.reached, places);
  return x;
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

Memory::Memory(std::string name, Scalar element, int64_t count, bool rounds)
    : element(element), name(std::move(name)), own_(size_t(count)), written_(size_t(count), false), rounds_(rounds) {}

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
  own = value;
  if (rounds_ && is_float(element)) own.f = ir::from_bits(element, bits).f;
}

// One number everywhere says nothing of any element; other numbers are there.
void Memory::begin_loop() {
  auto is_first = [&](const Number& x) { return x.i == own_[0].i && std::bit_cast<uint64_t>(x.f) == std::bit_cast<uint64_t>(own_[0].f); };
  const bool is_one = std::ranges::all_of(own_, is_first) && !is_padded();
  for (Number& x : own_) x.reached = is_one ? Padding(0) : Padding(kAllAxes & ~x.beyond());
}

std::shared_ptr<Memory::Old> Memory::look() {
  auto old = std::make_shared<Old>();
  lookers_.push_back(old);
  return old;
}

}  // namespace tilec::judge
