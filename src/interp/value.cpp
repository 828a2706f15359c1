// Elements between memory and slots.
#include "interp/value.h"

#include <bit>
#include <cstring>

#include "interp/rounding.h"

namespace tilec::interp {

namespace {

template <class T>
T read(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}
template <class T>
void write(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

// Elements of a type between memory and a slot.
template <class T>
struct Integers {
  static constexpr int64_t kBytes = sizeof(T);
  static Slot load(const uint8_t* at) { return {.i = int64_t(read<T>(at))}; }
  static void store(uint8_t* at, Slot v) { write<T>(at, T(v.i)); }
};
struct Bools {
  static constexpr int64_t kBytes = 1;
  static Slot load(const uint8_t* at) { return {.i = *at != 0}; }
  static void store(uint8_t* at, Slot v) { *at = v.i != 0; }
};
struct F32s {
  static constexpr int64_t kBytes = 4;
  static Slot load(const uint8_t* at) { return {.f = read<float>(at)}; }
  static void store(uint8_t* at, Slot v) { write<float>(at, float(v.f)); }
};
// Of floats that `kDecode` makes doubles of.
template <class T, double (*kDecode)(T), T (*kEncode)(double)>
struct Floats {
  static constexpr int64_t kBytes = sizeof(T);
  static Slot load(const uint8_t* at) { return {.f = kDecode(read<T>(at))}; }
  static void store(uint8_t* at, Slot v) { write<T>(at, kEncode(v.f)); }
};
struct Others {
  Scalar type;
  int64_t kBytes = byte_width(type);
  Slot load(const uint8_t* at) const { return to_slot(ir::from_bits(type, *at)); }
  void store(uint8_t* at, Slot v) const { *at = uint8_t(ir::to_bits(type, to_number(type, v))); }
};

// Calls f(elements of the type): the choice is made once for many elements.
template <class F>
void with_elements(Scalar type, F&& f) {
  switch (type) {
    case Scalar::F32:
      return f(F32s{});
    case Scalar::F16:
      return f(Floats<uint16_t, decode_f16, encode_f16>{});
    case Scalar::BF16:
      return f(Floats<uint16_t, decode_bf16, encode_bf16>{});
    case Scalar::TF32:
      return f(Floats<uint32_t, decode_tf32, encode_tf32>{});
    case Scalar::Bool:
      return f(Bools{});
    case Scalar::I8:
      return f(Integers<int8_t>{});
    case Scalar::I16:
      return f(Integers<int16_t>{});
    case Scalar::I32:
      return f(Integers<int32_t>{});
    case Scalar::U8:
      return f(Integers<uint8_t>{});
    case Scalar::U16:
      return f(Integers<uint16_t>{});
    case Scalar::U32:
      return f(Integers<uint32_t>{});
    case Scalar::F64:  // the slot's own bits
    case Scalar::I64:
    case Scalar::U64:
    case Scalar::Index:
      return f(Integers<int64_t>{});
    default:
      return f(Others{type});
  }
}

}  // namespace

void load_elements(Scalar type, const uint8_t* at, int64_t count, Slot* out) {
  with_elements(type, [&](auto elements) {
    for (int64_t k = 0; k < count; ++k) out[k] = elements.load(at + k * elements.kBytes);
  });
}

void store_elements(Scalar type, uint8_t* at, int64_t count, const Slot* values) {
  with_elements(type, [&](auto elements) {
    for (int64_t k = 0; k < count; ++k) elements.store(at + k * elements.kBytes, values[k]);
  });
}

namespace {

// f(lane) for the lanes of the mask, which most often has the first ones.
template <class F>
void each_of(uint64_t lanes, F&& f) {
  if ((lanes & (lanes + 1)) == 0)
    for (int lane = 0, end = std::countr_one(lanes); lane < end; ++lane) f(lane);
  else
    for (; lanes; lanes &= lanes - 1) f(std::countr_zero(lanes));
}

}  // namespace

void load_lanes(Scalar type, const uint8_t* data, uint64_t lanes, const int64_t* bytes, Slot* out) {
  with_elements(type, [&](auto elements) {
    each_of(lanes, [&](int lane) { out[lane] = elements.load(data + bytes[lane]); });
  });
}

void store_lanes(Scalar type, uint8_t* data, uint64_t lanes, const int64_t* bytes, const Slot* values) {
  with_elements(type, [&](auto elements) {
    each_of(lanes, [&](int lane) { elements.store(data + bytes[lane], values[lane]); });
  });
}

Slot load_element(Scalar type, const uint8_t* at) {
  Slot s;
  load_elements(type, at, 1, &s);
  return s;
}
void store_element(Scalar type, uint8_t* at, Slot value) { store_elements(type, at, 1, &value); }

}  // namespace tilec::interp
