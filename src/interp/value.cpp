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

template <class T>
void load_integers(const uint8_t* at, int64_t count, Slot* out) {
  for (int64_t k = 0; k < count; ++k) out[k].i = int64_t(read<T>(at + k * int64_t(sizeof(T))));
}
template <class T>
void store_integers(uint8_t* at, int64_t count, const Slot* values) {
  for (int64_t k = 0; k < count; ++k) write<T>(at + k * int64_t(sizeof(T)), T(values[k].i));
}

}  // namespace

void load_elements(Scalar type, const uint8_t* at, int64_t count, Slot* out) {
  switch (type) {
    case Scalar::F32:
      for (int64_t k = 0; k < count; ++k) out[k].f = read<float>(at + 4 * k);
      return;
    case Scalar::F64:
      std::memcpy(out, at, size_t(8 * count));
      return;
    case Scalar::F16:
      for (int64_t k = 0; k < count; ++k) out[k].f = decode_f16(read<uint16_t>(at + 2 * k));
      return;
    case Scalar::BF16:
      for (int64_t k = 0; k < count; ++k) out[k].f = decode_bf16(read<uint16_t>(at + 2 * k));
      return;
    case Scalar::TF32:
      for (int64_t k = 0; k < count; ++k) out[k].f = decode_tf32(read<uint32_t>(at + 4 * k));
      return;
    case Scalar::Bool:
      for (int64_t k = 0; k < count; ++k) out[k].i = at[k] != 0;
      return;
    case Scalar::I8:
      return load_integers<int8_t>(at, count, out);
    case Scalar::I16:
      return load_integers<int16_t>(at, count, out);
    case Scalar::I32:
      return load_integers<int32_t>(at, count, out);
    case Scalar::U8:
      return load_integers<uint8_t>(at, count, out);
    case Scalar::U16:
      return load_integers<uint16_t>(at, count, out);
    case Scalar::U32:
      return load_integers<uint32_t>(at, count, out);
    case Scalar::I64:
    case Scalar::U64:
    case Scalar::Index:
      std::memcpy(out, at, size_t(8 * count));
      return;
    default:
      for (int64_t k = 0; k < count; ++k) out[k] = to_slot(ir::from_bits(type, at[k * byte_width(type)]));
  }
}

void store_elements(Scalar type, uint8_t* at, int64_t count, const Slot* values) {
  switch (type) {
    case Scalar::F32:
      for (int64_t k = 0; k < count; ++k) write<float>(at + 4 * k, float(values[k].f));
      return;
    case Scalar::F64:
      std::memcpy(at, values, size_t(8 * count));
      return;
    case Scalar::F16:
      for (int64_t k = 0; k < count; ++k) write<uint16_t>(at + 2 * k, encode_f16(values[k].f));
      return;
    case Scalar::BF16:
      for (int64_t k = 0; k < count; ++k) write<uint16_t>(at + 2 * k, encode_bf16(values[k].f));
      return;
    case Scalar::TF32:
      for (int64_t k = 0; k < count; ++k) write<uint32_t>(at + 4 * k, encode_tf32(values[k].f));
      return;
    case Scalar::Bool:
      for (int64_t k = 0; k < count; ++k) at[k] = values[k].i != 0;
      return;
    case Scalar::I8:
    case Scalar::U8:
      return store_integers<uint8_t>(at, count, values);
    case Scalar::I16:
    case Scalar::U16:
      return store_integers<uint16_t>(at, count, values);
    case Scalar::I32:
    case Scalar::U32:
      return store_integers<uint32_t>(at, count, values);
    case Scalar::I64:
    case Scalar::U64:
    case Scalar::Index:
      std::memcpy(at, values, size_t(8 * count));
      return;
    default:
      for (int64_t k = 0; k < count; ++k)
        at[k * byte_width(type)] = uint8_t(ir::to_bits(type, to_number(type, values[k])));
  }
}

Slot load_element(Scalar type, const uint8_t* at) {
  Slot s;
  load_elements(type, at, 1, &s);
  return s;
}
void store_element(Scalar type, uint8_t* at, Slot value) { store_elements(type, at, 1, &value); }

}  // namespace tilec::interp
