// What the interpreter computes with: a slot of 8 bytes a lane, and whole tiles as arrays of slots.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/scalar_eval.h"

namespace tilec::interp {

// Integers, bool and `int` in `i` (a u64 as its bits), floats of every width in `f`.
union Slot {
  int64_t i;
  uint64_t u;
  double f;
};

inline ir::Number to_number(Scalar type, Slot s) {
  return is_float(type) ? ir::Number::real(s.f) : ir::Number::integer(s.i);
}
inline Slot to_slot(ir::Number n) {
  Slot s;
  if (n.is_float)
    s.f = n.f;
  else
    s.i = n.i;
  return s;
}
// `n` as a value of `type`, whichever of its two halves was filled.
inline Slot to_slot(Scalar type, ir::Number n) {
  Slot s;
  if (is_float(type))
    s.f = n.is_float ? n.f : double(n.i);
  else
    s.i = n.is_float ? int64_t(n.f) : n.i;
  return s;
}

// One lane's number from memory and back.
Slot load_element(Scalar type, const uint8_t* at);
void store_element(Scalar type, uint8_t* at, Slot value);
// `count` consecutive elements.
void load_elements(Scalar type, const uint8_t* at, int64_t count, Slot* out);
void store_elements(Scalar type, uint8_t* at, int64_t count, const Slot* values);
// Of each lane of a mask, the element at its byte.
void load_lanes(Scalar type, const uint8_t* data, uint64_t lanes, const int64_t* bytes, Slot* out);
void store_lanes(Scalar type, uint8_t* data, uint64_t lanes, const int64_t* bytes, const Slot* values);

// A tile's elements in row-major order. Values are shared until one holder writes.
class Tile {
 public:
  Tile() = default;
  explicit Tile(int64_t count) : data_(std::make_shared<std::vector<Slot>>(size_t(count), Slot{.i = 0})) {}
  bool valid() const { return data_ != nullptr; }
  int64_t size() const { return int64_t(data_->size()); }
  const Slot* data() const { return data_->data(); }
  Slot* writable() {
    if (data_.use_count() > 1) data_ = std::make_shared<std::vector<Slot>>(*data_);
    return data_->data();
  }

 private:
  std::shared_ptr<std::vector<Slot>> data_;
};

}  // namespace tilec::interp
