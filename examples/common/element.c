// Elements: the bits of narrow floats and the numbers that they stand for.
#include <math.h>
#include <string.h>

#include "example.h"

typedef struct {
  const char *name;
  size_t bytes;
  bool is_float;
  int exponent_bits, mantissa_bits, bias;
  bool saturates;  // has no infinity; all ones are the only NaN
} format;

static const format kFormats[] = {
    [F16] = {"f16", 2, true, 5, 10, 15, false},     [BF16] = {"bf16", 2, true, 8, 7, 127, false},
    [F8E4M3] = {"f8e4m3", 1, true, 4, 3, 7, true},  [F32] = {"f32", 4, true, 8, 23, 127, false},
    [TF32] = {"tf32", 4, true, 8, 10, 127, false},  // a float whose lower bits nobody reads
    [I8] = {"i8", 1, false, 0, 0, 0, true},         [U8] = {"u8", 1, false, 0, 0, 0, true},
    [I32] = {"i32", 4, false, 0, 0, 0, true},
};

enum { TF32_SPARE = 13 };

const char *element_name(element type) { return kFormats[type].name; }
size_t element_bytes(element type) { return kFormats[type].bytes; }

double element_unit(element type) {
  return kFormats[type].is_float ? ldexp(1, -kFormats[type].mantissa_bits - 1) : 0;
}

double element_step(element type) {
  const format *f = &kFormats[type];
  return f->is_float ? ldexp(1, -f->bias - f->mantissa_bits) : 0;
}

static double decode(const format *f, uint32_t bits) {
  uint32_t mantissa = bits & ((1u << f->mantissa_bits) - 1);
  int exponent = (int)(bits >> f->mantissa_bits & ((1u << f->exponent_bits) - 1));
  int top = (1 << f->exponent_bits) - 1;
  double sign = bits >> (f->exponent_bits + f->mantissa_bits) & 1 ? -1 : 1;
  if (f->saturates && exponent == top && mantissa == (1u << f->mantissa_bits) - 1) return NAN;
  if (!f->saturates && exponent == top) return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * ldexp(mantissa, 1 - f->bias - f->mantissa_bits);
  return sign * ldexp(mantissa + ldexp(1, f->mantissa_bits), exponent - f->bias - f->mantissa_bits);
}

static uint32_t encode(const format *f, double value) {
  uint32_t sign = (uint32_t)(signbit(value) != 0) << (f->exponent_bits + f->mantissa_bits);
  uint32_t top = ((1u << f->exponent_bits) - 1) << f->mantissa_bits;  // the bits of infinity
  uint32_t nan = top | ((1u << f->mantissa_bits) - 1);
  if (isnan(value)) return nan;
  double magnitude = fabs(value);
  if (magnitude == 0) return sign;
  uint32_t greatest = f->saturates ? nan - 1 : top - 1;
  if (isinf(value)) return sign | (f->saturates ? greatest : top);
  int exponent;
  frexp(magnitude, &exponent);
  int step = exponent - 1 < 1 - f->bias ? 1 - f->bias : exponent - 1;
  // The bits of positive floats count up with their value, so a carry out of the mantissa is the next exponent.
  double units = nearbyint(ldexp(magnitude, f->mantissa_bits - step));
  double bits = units + ldexp(step + f->bias - 1, f->mantissa_bits);
  if (bits > greatest) return sign | (f->saturates ? greatest : top);
  return sign | (uint32_t)bits;
}

static double clamped(double value, double low, double high) {
  return value < low ? low : value > high ? high : nearbyint(value);
}

double element_get(element type, const void *data, size_t index) {
  const unsigned char *at = (const unsigned char *)data + index * element_bytes(type);
  if (type == I8) return *(const signed char *)at;
  if (type == U8) return *at;
  uint32_t word = 0;
  if (element_bytes(type) == 1) word = *at;
  if (element_bytes(type) == 2) {
    uint16_t half;
    memcpy(&half, at, 2);
    word = half;
  }
  if (element_bytes(type) == 4) memcpy(&word, at, 4);
  if (type == I32) return (int32_t)word;
  return decode(&kFormats[type], type == TF32 ? word >> TF32_SPARE : word);
}

void element_set(element type, void *data, size_t index, double value) {
  unsigned char *at = (unsigned char *)data + index * element_bytes(type);
  uint32_t word;
  if (type == I8) word = (uint32_t)(int32_t)clamped(value, -128, 127);
  else if (type == U8) word = (uint32_t)clamped(value, 0, 255);
  else if (type == I32) word = (uint32_t)(int32_t)clamped(value, -2147483648.0, 2147483647.0);
  else word = encode(&kFormats[type], value) << (type == TF32 ? TF32_SPARE : 0);
  unsigned char byte = (unsigned char)word;
  uint16_t half = (uint16_t)word;
  if (element_bytes(type) == 1) memcpy(at, &byte, 1);
  if (element_bytes(type) == 2) memcpy(at, &half, 2);
  if (element_bytes(type) == 4) memcpy(at, &word, 4);
}

double element_rounded(element type, double value) {
  unsigned char bits[sizeof(double)];
  element_set(type, bits, 0, value);
  return element_get(type, bits, 0);
}
