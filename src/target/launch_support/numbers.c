// Numbers as text, for sentences about a call.

// Floats of 8 and 16 bits: where the mantissa begins and the exponent ends, and whether the greatest exponent has numbers but for one.
struct tile_format {
  const char *element;
  int32_t bits, mantissa;
  int32_t is_finite;
};
static const struct tile_format tile_formats[] = {
    {"f16", 16, 10, 0}, {"bf16", 16, 7, 0}, {"f8e5m2", 8, 2, 0}, {"f8e4m3", 8, 3, 1}};

// The number that the bits of a narrow float are, exactly.
static double tile_widened(const struct tile_format *format, uint64_t bits) {
  uint64_t greatest = ((uint64_t)1 << (format->bits - 1 - format->mantissa)) - 1, bias = greatest >> 1;
  uint64_t all_ones = ((uint64_t)1 << format->mantissa) - 1;
  uint64_t exponent = bits >> format->mantissa & greatest, mantissa = bits & all_ones, wide = mantissa << (52 - format->mantissa);
  double number, unit;
  if (exponent == greatest && (!format->is_finite || mantissa == all_ones)) wide |= (uint64_t)2047 << 52;
  else wide |= (exponent ? exponent - bias + 1023 : 1024 - bias) << 52;
  memcpy(&number, &wide, sizeof number);
  if (!exponent) {  // below the least normal number there is no leading one
    wide = (1024 - bias) << 52;
    memcpy(&unit, &wide, sizeof unit);
    number -= unit;
  }
  return bits >> (format->bits - 1) & 1 ? -number : number;
}

// A scalar's value as text; numbers of fewer bits lie in the low bits of their slot.
static void tile_print_scalar(char *text, size_t size, const struct tile_param *param, int64_t slot) {
  float narrow;
  double wide;
  int unused_bits = 64 - param->element_bits;
  uint64_t bits = (uint64_t)slot << unused_bits >> unused_bits;
  for (size_t i = 0; i < sizeof tile_formats / sizeof *tile_formats; i++) {
    if (strcmp(param->element, tile_formats[i].element) != 0) continue;
    snprintf(text, size, "%g", tile_widened(&tile_formats[i], bits));
    return;
  }
  if (strcmp(param->element, "f32") == 0 || strcmp(param->element, "tf32") == 0) {
    memcpy(&narrow, &slot, sizeof narrow);
    snprintf(text, size, "%g", (double)narrow);
  } else if (strcmp(param->element, "f64") == 0) {
    memcpy(&wide, &slot, sizeof wide);
    snprintf(text, size, "%g", wide);
  } else if (strcmp(param->element, "bool") == 0) {
    snprintf(text, size, "%s", bits ? "true" : "false");
  } else if (param->element[0] == 'i') {
    snprintf(text, size, "%lld", (long long)((int64_t)((uint64_t)slot << unused_bits) >> unused_bits));
  } else {
    snprintf(text, size, "%llu", (unsigned long long)bits);
  }
}
