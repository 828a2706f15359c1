// What must hold before a kernel may run: extents, contracts, pointers, alignment, overlap, grids.

// A tensor that reaches farther cannot lie in memory; the sums of two do not leave 64 bits.
#define TILE_MAX_REACH_BITS ((int64_t)1 << 60)

// A tensor's bytes: `low` is the first, `high` one past the last; equal where it has none.
struct tile_span {
  uint64_t low;
  uint64_t high;
  int32_t status;
};

TILE_ENTRY int64_t tile_number(struct tile_value value, const int64_t *slots, const int64_t *plan) {
  switch (value.kind) {
    case TILE_SLOT: return slots[value.value];
    case TILE_PLAN: return plan[value.value];
    default: return value.value;
  }
}

static int32_t tile_check_dims(const struct tile_kernel *kernel, const int64_t *slots) {
  for (int32_t i = 0; i < kernel->dim_count; i++) {
    const struct tile_dim *dim = &kernel->dims[i];
    if (dim->slot < 0 || dim->is_stride) continue;
    if ((uint64_t)slots[dim->slot] > (uint64_t)TILE_MAX_EXTENT) {
      return tile_fail(TILE_SHAPE, "%s: argument %s is %lld, an extent must be 0 to %lld", kernel->info.name, dim->name,
                       (long long)slots[dim->slot], (long long)TILE_MAX_EXTENT);
    }
  }
  return TILE_OK;
}

// The value of the dim or the scalar named by the `length` characters at `name`; false where it names neither.
static int tile_print_named(char *text, size_t size, const struct tile_kernel *kernel, const int64_t *slots,
                            const char *name, size_t length) {
  for (int32_t i = 0; i < kernel->dim_count; i++) {
    const struct tile_dim *dim = &kernel->dims[i];
    if (strlen(dim->name) != length || memcmp(dim->name, name, length) != 0) continue;
    snprintf(text, size, "%lld", (long long)(dim->slot < 0 ? dim->fixed : slots[dim->slot]));
    return 1;
  }
  for (int32_t i = 0; i < kernel->param_count; i++) {
    const struct tile_param *param = &kernel->params[i];
    if (param->kind != TILE_SCALAR || strlen(param->name) != length || memcmp(param->name, name, length) != 0) continue;
    tile_print_scalar(text, size, param, slots[param->slot]);
    return 1;
  }
  return 0;
}

static int tile_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// ", where K is 12 and H is 3": the names in a contract and what they are in this call, each once.
static void tile_print_values(char *out, size_t size, const struct tile_kernel *kernel, const int64_t *slots,
                              const char *contract) {
  size_t used = 0;
  out[0] = 0;
  for (const char *at = contract; *at;) {
    size_t length = 0;
    while (tile_is_letter(at[length])) length++;
    char value[32], pair[128];
    if (length && length < 64 && tile_print_named(value, sizeof value, kernel, slots, at, length)) {
      int pair_length = snprintf(pair, sizeof pair, "%.*s is %s", (int)length, at, value);
      if (!strstr(out, pair) && used + (size_t)pair_length + 9 < size) {
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " and " : ", where ", pair);
      }
    }
    at += length ? length : 1;
  }
}

static int32_t tile_check_requirements(const struct tile_kernel *kernel, const int64_t *slots, const int64_t *plan) {
  int64_t failed = plan[TILE_PLAN_FAILED];
  if (failed < 0) return TILE_OK;
  const struct tile_requirement *requirement = &kernel->requirements[failed];
  char values[256];
  tile_print_values(values, sizeof values, kernel, slots, requirement->text);
  return tile_fail(TILE_SHAPE, "%s: requires %s (%s)%s", kernel->info.name, requirement->text, requirement->place,
                   values);
}

static struct tile_span tile_bad_span(int32_t status) { return (struct tile_span){0, 0, status}; }

// Lowest and highest element of a tensor, relative to its pointer, or a failure where 64 bits do not hold them.
struct tile_reach {
  int64_t low, high;
  int32_t has_overflow;
};

static struct tile_reach tile_strided_reach(const struct tile_param *param, const int64_t *slots, const int64_t *plan) {
  struct tile_reach reach = {0, 0, 0};
  for (int32_t i = 0; i < param->rank; i++) {
    int64_t steps = tile_number(param->extents[i], slots, plan) - 1, distance;
    int64_t stride = tile_number(param->strides[i], slots, plan);
    int64_t *end = stride < 0 ? &reach.low : &reach.high;
    reach.has_overflow |= __builtin_mul_overflow(steps, stride, &distance);
    reach.has_overflow |= __builtin_add_overflow(*end, distance, end);
  }
  return reach;
}

// Two index tuples of a written tensor must not name one element.
static int32_t tile_check_written_strides(const struct tile_kernel *kernel, const struct tile_param *param,
                                          const int64_t *slots, const int64_t *plan) {
  for (int32_t i = 0; i < param->rank; i++) {
    int64_t extent = tile_number(param->extents[i], slots, plan);
    if (extent < 2 || tile_number(param->strides[i], slots, plan) != 0) continue;
    return tile_fail(TILE_ALIAS, "%s: %s is written, and its stride along dimension %d, of extent %lld, is 0",
                     kernel->info.name, param->name, i, (long long)extent);
  }
  return TILE_OK;
}

// Elements of a tensor, INT64_MAX where there are more; -1 after a message.
static int64_t tile_elements(const struct tile_kernel *kernel, const struct tile_param *param, const int64_t *slots,
                             const int64_t *plan) {
  int64_t elements = 1;
  int is_empty = 0;
  for (int32_t i = 0; i < param->rank; i++) {
    int64_t extent = tile_number(param->extents[i], slots, plan);
    if ((uint64_t)extent > (uint64_t)TILE_MAX_EXTENT) {
      tile_fail(TILE_SHAPE, "%s: extent %d of %s is %lld, an extent must be 0 to %lld", kernel->info.name, i,
                param->name, (long long)extent, (long long)TILE_MAX_EXTENT);
      return -1;
    }
    is_empty |= extent == 0;
    if (__builtin_mul_overflow(elements, extent, &elements)) elements = INT64_MAX;
  }
  return is_empty ? 0 : elements;
}

// Checks one tensor by itself and measures it.
static struct tile_span tile_check_tensor(const struct tile_kernel *kernel, const struct tile_param *param,
                                          const int64_t *slots, const int64_t *plan) {
  int64_t elements = tile_elements(kernel, param, slots, plan);
  if (elements < 0) return tile_bad_span(TILE_SHAPE);
  uint64_t address = (uint64_t)slots[param->slot];
  if (elements == 0) return (struct tile_span){address, address, TILE_OK};
  if (address == 0) {
    if (param->is_nullable) return tile_bad_span(TILE_OK);
    return tile_bad_span(tile_fail(TILE_NULL_ARGUMENT, "%s: argument %s is NULL, and its parameter is not marked `?`",
                                   kernel->info.name, param->name));
  }
  if (address & (uint64_t)(param->alignment - 1)) {
    return tile_bad_span(tile_fail(
        TILE_ALIGNMENT, "%s: argument %s is at 0x%llx, an address of %s must be a multiple of %d", kernel->info.name,
        param->name, (unsigned long long)address, param->element, param->alignment));
  }
  struct tile_reach reach = {0, elements - 1, 0};
  if (param->strides) {
    reach = tile_strided_reach(param, slots, plan);
    int32_t status = param->access & TILE_WRITTEN ? tile_check_written_strides(kernel, param, slots, plan) : TILE_OK;
    if (status) return tile_bad_span(status);
  }
  int64_t low_bit, high_bit;
  int overflows = reach.has_overflow;
  overflows |= __builtin_mul_overflow(reach.low, (int64_t)param->element_bits, &low_bit);
  overflows |= __builtin_add_overflow(reach.high, 1, &reach.high);
  overflows |= __builtin_mul_overflow(reach.high, (int64_t)param->element_bits, &high_bit);
  if (overflows || low_bit < -TILE_MAX_REACH_BITS || high_bit > TILE_MAX_REACH_BITS) {
    return tile_bad_span(tile_fail(TILE_SHAPE, "%s: %s reaches farther than an address does", kernel->info.name,
                                   param->name));
  }
  // Down to the byte that holds the first bit, up to the one that holds the last.
  uint64_t low, high;
  if (__builtin_sub_overflow(address, (uint64_t)-(low_bit >> 3), &low) || __builtin_add_overflow(address, (uint64_t)((high_bit + 7) >> 3), &high)) {
    return tile_bad_span(tile_fail(TILE_SHAPE, "%s: %s, at 0x%llx, reaches beyond the addresses that there are", kernel->info.name, param->name,
                                   (unsigned long long)address));
  }
  return (struct tile_span){low, high, TILE_OK};
}

// ---- Overlap. Two tensors meet where sum(stride_i * x_i) = distance + sum(stride_j * y_j) has a solution within the
// extents, give or take the width of an element. In bits; each dimension of either tensor is one term.
struct tile_term {
  int64_t stride;     // positive
  int64_t low, high;  // of the index, inclusive
};
struct tile_terms {
  struct tile_term term[2 * TILE_MAX_RANK + 1];
  int64_t low[2 * TILE_MAX_RANK + 2];  // of the sum of this term and all after it
  int64_t high[2 * TILE_MAX_RANK + 2];
  int count;
  int budget;  // of cases to look at; where it runs out, the answer is that they meet
};

static void tile_add_term(struct tile_terms *terms, int64_t stride, int64_t low, int64_t high) {
  if (stride == 0 || low == high) return;
  if (stride < 0) {
    int64_t flipped = -low;
    stride = -stride, low = -high, high = flipped;
  }
  int at = terms->count;
  for (int i = 0; i < terms->count; i++) {
    if (terms->term[i].stride == stride) {
      terms->term[i].low += low, terms->term[i].high += high;
      return;
    }
  }
  // Kept by falling stride.
  for (; at > 0 && terms->term[at - 1].stride < stride; at--) terms->term[at] = terms->term[at - 1];
  terms->term[at] = (struct tile_term){stride, low, high};
  terms->count++;
}

static void tile_add_tensor(struct tile_terms *terms, const struct tile_param *param, const int64_t *slots,
                            const int64_t *plan, int64_t sign) {
  int64_t dense = param->element_bits;
  for (int32_t i = param->rank - 1; i >= 0; i--) {
    // Along an extent of one nothing is a stride away, however far that is.
    int64_t extent = tile_number(param->extents[i], slots, plan);
    if (extent < 2) continue;
    int64_t stride = param->strides ? tile_number(param->strides[i], slots, plan) * param->element_bits : dense;
    tile_add_term(terms, sign * stride, 0, extent - 1);
    if (!param->strides) dense *= extent;
  }
}

static int64_t tile_divide_down(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static int tile_terms_meet(struct tile_terms *terms, int at, int64_t distance) {
  if (distance < terms->low[at] || distance > terms->high[at]) return 0;
  if (at == terms->count) return 1;
  const struct tile_term *term = &terms->term[at];
  int64_t from = -tile_divide_down(terms->high[at + 1] - distance, term->stride);
  int64_t to = tile_divide_down(distance - terms->low[at + 1], term->stride);
  if (from < term->low) from = term->low;
  if (to > term->high) to = term->high;
  for (int64_t i = from; i <= to; i++) {
    if (--terms->budget < 0 || tile_terms_meet(terms, at + 1, distance - i * term->stride)) return 1;
  }
  return 0;
}

static void tile_sum_terms(struct tile_terms *terms) {
  for (int i = terms->count - 1; i >= 0; i--) {
    const struct tile_term *term = &terms->term[i];
    terms->low[i] = terms->low[i + 1] + term->stride * term->low;
    terms->high[i] = terms->high[i + 1] + term->stride * term->high;
  }
}

// Do two index tuples name one element? Their difference is a step other than zero along some first dimension, and any
// along those behind it.
static int tile_meets_itself(const struct tile_param *param, const int64_t *slots, const int64_t *plan) {
  int64_t reach = 0;
  int is_nested = 1;
  for (int32_t i = param->rank - 1; i >= 0; i--) {
    int64_t steps = tile_number(param->extents[i], slots, plan) - 1, stride = tile_number(param->strides[i], slots, plan);
    if (steps < 1) continue;
    if (stride < 0) stride = -stride;
    is_nested &= stride > reach;
    reach += stride * steps;
  }
  for (int32_t i = 0; i < param->rank && !is_nested; i++) {
    struct tile_terms terms = {.budget = 256};
    int64_t first = tile_number(param->extents[i], slots, plan) - 1;
    if (first < 1) continue;
    // The first of its steps is the distance: a term adds only what varies.
    int64_t stride = tile_number(param->strides[i], slots, plan);
    tile_add_term(&terms, stride, 0, first - 1);
    for (int32_t j = i + 1; j < param->rank; j++) {
      int64_t steps = tile_number(param->extents[j], slots, plan) - 1;
      tile_add_term(&terms, tile_number(param->strides[j], slots, plan), -steps, steps);
    }
    terms.low[terms.count] = terms.high[terms.count] = 0;
    tile_sum_terms(&terms);
    if (tile_terms_meet(&terms, 0, -stride)) return 1;
  }
  return 0;
}

static int tile_tensors_meet(const struct tile_param *a, const struct tile_param *b, const int64_t *slots,
                             const int64_t *plan) {
  struct tile_terms terms = {.budget = 256};
  tile_add_tensor(&terms, a, slots, plan, 1);
  tile_add_tensor(&terms, b, slots, plan, -1);
  // What is left after all terms is the distance of two elements that share a bit.
  terms.low[terms.count] = 1 - (int64_t)b->element_bits;
  terms.high[terms.count] = (int64_t)a->element_bits - 1;
  tile_sum_terms(&terms);
  return tile_terms_meet(&terms, 0, (slots[b->slot] - slots[a->slot]) * 8);
}

static int32_t tile_check_pair(const struct tile_kernel *kernel, const struct tile_param *a, const struct tile_param *b,
                               uint64_t meeting, const int64_t *slots, const int64_t *plan) {
  if (!((a->access | b->access) & TILE_WRITTEN) || a->may_alias || b->may_alias) return TILE_OK;
  if (!tile_tensors_meet(a, b, slots, plan)) return TILE_OK;
  return tile_fail(
      TILE_ALIAS, "%s: arguments %s and %s overlap at 0x%llx; %s is written, and neither is marked `alias`",
      kernel->info.name, a->name, b->name, (unsigned long long)meeting, b->access & TILE_WRITTEN ? b->name : a->name);
}

// `spans` and `tensors` have room for every parameter.
static int32_t tile_check_tensors_in(const struct tile_kernel *kernel, const int64_t *slots, const int64_t *plan,
                                     struct tile_span *spans, const struct tile_param **tensors) {
  int count = 0;
  for (int32_t i = 0; i < kernel->param_count; i++) {
    const struct tile_param *param = &kernel->params[i];
    if (param->kind != TILE_TENSOR) continue;
    struct tile_span span = tile_check_tensor(kernel, param, slots, plan);
    if (span.status) return span.status;
    if (span.low == span.high) continue;
    if (param->strides && (param->access & TILE_WRITTEN) && tile_meets_itself(param, slots, plan)) {
      return tile_fail(TILE_ALIAS, "%s: %s is written, and with these strides two of its elements are one",
                       kernel->info.name, param->name);
    }
    for (int j = 0; j < count; j++) {
      if (span.low >= spans[j].high || spans[j].low >= span.high) continue;
      uint64_t meeting = span.low > spans[j].low ? span.low : spans[j].low;
      int32_t status = tile_check_pair(kernel, tensors[j], param, meeting, slots, plan);
      if (status) return status;
    }
    spans[count] = span;
    tensors[count++] = param;
  }
  return TILE_OK;
}

static __attribute__((noinline)) int32_t tile_check_many_tensors(const struct tile_kernel *kernel, const int64_t *slots,
                                                                 const int64_t *plan) {
  struct tile_span spans[kernel->param_count];
  const struct tile_param *tensors[kernel->param_count];
  return tile_check_tensors_in(kernel, slots, plan, spans, tensors);
}

static int32_t tile_check_tensors(const struct tile_kernel *kernel, const int64_t *slots, const int64_t *plan) {
  struct tile_span spans[TILE_FEW];
  const struct tile_param *tensors[TILE_FEW];
  if (kernel->param_count > TILE_FEW) return tile_check_many_tensors(kernel, slots, plan);
  return tile_check_tensors_in(kernel, slots, plan, spans, tensors);
}

// Blocks of a launch, or, below 0, a status after its message.
TILE_ENTRY int64_t tile_grid_blocks(const struct tile_kernel *kernel, const struct tile_launch *launch, const int64_t *plan) {
  int64_t blocks = 1, count;
  int32_t is_empty = 0;
  for (int32_t i = 0; i < launch->rank; i++) {
    int64_t extent = plan[launch->plan_extents[i]];
    if (extent < 0) {
      return -tile_fail(TILE_SHAPE, "%s: launch index %s (%s) counts to %lld", kernel->info.name, launch->index_names[i],
                        launch->place, (long long)extent);
    }
    is_empty |= extent == 0;
  }
  if (is_empty) return 0;
  for (int32_t i = 0; i < launch->rank; i++) {
    int64_t extent = plan[launch->plan_extents[i]];
    if (__builtin_mul_overflow(blocks, extent, &count) || count > TILE_MAX_EXTENT) {
      return -tile_fail(TILE_GRID, "%s: with launch index %s (%s), which counts to %lld, there are more than %lld blocks",
                        kernel->info.name, launch->index_names[i], launch->place, (long long)extent,
                        (long long)TILE_MAX_EXTENT);
    }
    blocks = count;
  }
  return blocks;
}
