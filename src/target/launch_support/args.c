// The args struct form of a call. A tensor's member is its pointer, its shape and, where the parameter states strides,
// its strides; so each name is checked wherever it appears.

// One number of a shape: it gives a dim its value, or must be equal to the value that it has, unless the tensor is absent.
static int32_t tile_take(const struct tile_kernel *kernel, const struct tile_param *param, const char *what,
                         int32_t axis, int64_t given, struct tile_value value, int32_t is_absent,
                         int64_t *slots, unsigned char *is_known) {
  int64_t expected = value.value;
  if (value.kind == TILE_PLAN) return TILE_OK;
  if (value.kind == TILE_SLOT) {
    if (!is_known[value.value]) {
      slots[value.value] = given;
      is_known[value.value] = 1;
      return TILE_OK;
    }
    expected = slots[value.value];
  }
  if (given == expected || is_absent) return TILE_OK;
  const char *name = "";
  for (int32_t i = 0; i < kernel->dim_count; i++) {
    if (value.kind == TILE_SLOT && kernel->dims[i].slot == value.value) name = kernel->dims[i].name;
  }
  return tile_fail(TILE_SHAPE, "%s: %s %d of %s is %lld, it must be %s%s%lld", kernel->info.name, what, axis,
                   param->name, (long long)given, name, name[0] ? " = " : "", (long long)expected);
}

// Shape and strides of one tensor member. A stride along an extent of at most one is never used, and so not compared.
static int32_t tile_take_tensor(const struct tile_kernel *kernel, const struct tile_param *param, const char *member,
                                int32_t is_absent, int64_t *slots, unsigned char *is_known) {
  int64_t numbers[2 * TILE_MAX_RANK];
  size_t count = (size_t)(param->strides ? 2 * param->rank : param->rank);
  memcpy(numbers, member + sizeof(void *), count * sizeof(int64_t));
  for (int32_t i = 0; i < param->rank; i++) {
    int32_t status = tile_take(kernel, param, "extent", i, numbers[i], param->extents[i], is_absent, slots, is_known);
    if (status) return status;
  }
  for (int32_t i = 0; param->strides && i < param->rank; i++) {
    struct tile_value stride = param->strides[i];
    int is_free = numbers[i] <= 1 && (stride.kind != TILE_SLOT || is_known[stride.value]);
    if (is_free) continue;
    int32_t status = tile_take(kernel, param, "stride", i, numbers[param->rank + i], stride, is_absent, slots, is_known);
    if (status) return status;
  }
  return TILE_OK;
}

static int32_t tile_compare(const struct tile_kernel *kernel, const struct tile_param *param, const char *what,
                            int32_t axis, int64_t given, int64_t expected) {
  if (given == expected) return TILE_OK;
  return tile_fail(TILE_SHAPE, "%s: %s %d of %s is %lld, it must be %lld", kernel->info.name, what, axis, param->name,
                   (long long)given, (long long)expected);
}

static int32_t tile_compare_tensor(const struct tile_kernel *kernel, const struct tile_param *param, const char *member,
                                   const int64_t *plan) {
  int64_t numbers[2 * TILE_MAX_RANK];
  size_t count = (size_t)(param->strides ? 2 * param->rank : param->rank);
  int32_t status = TILE_OK;
  memcpy(numbers, member + sizeof(void *), count * sizeof(int64_t));
  for (int32_t i = 0; i < param->rank && !status; i++) {
    struct tile_value extent = param->extents[i];
    if (extent.kind == TILE_PLAN) status = tile_compare(kernel, param, "extent", i, numbers[i], plan[extent.value]);
    if (status || !param->strides || numbers[i] <= 1 || param->strides[i].kind != TILE_PLAN) continue;
    status = tile_compare(kernel, param, "stride", i, numbers[param->rank + i], plan[param->strides[i].value]);
  }
  return status;
}

// Shapes that are computed from dims can be compared only once all dims are known.
static int32_t tile_compare_computed(const struct tile_kernel *kernel, const char *args, const int64_t *slots) {
  int64_t plan[kernel->plan_count];
  int32_t status = tile_check_dims(kernel, slots);
  if (status) return status;
  kernel->plan(slots, plan);
  status = tile_check_requirements(kernel, slots, plan);
  for (int32_t i = 0; i < kernel->param_count && !status; i++) {
    const struct tile_param *param = &kernel->params[i];
    if (param->kind != TILE_TENSOR || (param->is_nullable && !slots[param->slot])) continue;
    status = tile_compare_tensor(kernel, param, args + param->args_offset, plan);
  }
  return status;
}

static int32_t tile_unpack(const struct tile_kernel *kernel, const char *args, int64_t *slots) {
  unsigned char is_known[kernel->slot_count + 1];
  int32_t has_computed = 0;
  memset(is_known, 0, sizeof is_known);
  for (int32_t i = 0; i < kernel->param_count; i++) {
    const struct tile_param *param = &kernel->params[i];
    size_t bytes = param->kind == TILE_TENSOR ? sizeof(void *) : (size_t)(param->element_bits + 7) / 8;
    memcpy(&slots[param->slot], args + param->args_offset, bytes);
    for (int32_t axis = 0; axis < param->rank; axis++) {
      has_computed |= param->extents[axis].kind == TILE_PLAN;
      has_computed |= param->strides && param->strides[axis].kind == TILE_PLAN;
    }
  }
  // An absent tensor's shape counts only for names that no other tensor has.
  for (int32_t is_absent = 0; is_absent < 2; is_absent++) {
    for (int32_t i = 0; i < kernel->param_count; i++) {
      const struct tile_param *param = &kernel->params[i];
      if (param->kind != TILE_TENSOR || (param->is_nullable && !slots[param->slot]) != is_absent) continue;
      int32_t status = tile_take_tensor(kernel, param, args + param->args_offset, is_absent, slots, is_known);
      if (status) return status;
    }
  }
  return has_computed ? tile_compare_computed(kernel, args, slots) : TILE_OK;
}

// NAME_call: `args` begins with its size.
TILE_ENTRY int32_t tile_call_struct(const struct tile_kernel *kernel, const void *args) {
  int64_t slots[kernel->slot_count + 1];
  size_t size;
  void *stream;
  if (!args) return tile_fail(TILE_NULL_ARGUMENT, "%s: the args struct is NULL", kernel->info.name);
  memcpy(&size, args, sizeof size);
  if (size != (size_t)kernel->args_size) {
    return tile_fail(TILE_ABI_MISMATCH, "%s: struct_size is %zu, the args struct has %d bytes", kernel->info.name, size,
                     kernel->args_size);
  }
  const char *bytes = args;
  memset(slots, 0, sizeof slots);
  int32_t status = tile_unpack(kernel, bytes, slots);
  if (status) return status;
  if (kernel->workspace_slot >= 0) memcpy(&slots[kernel->workspace_slot], bytes + kernel->args_workspace_offset, 16);
  memcpy(&stream, bytes + kernel->args_stream_offset, sizeof stream);
  return tile_call(kernel, slots, stream);
}
