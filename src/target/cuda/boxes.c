// Descriptors of tensors for the engine that copies boxes out of them and into them, handed to the kernel beside its slots; behind them a byte for
// each says whether it holds. Where one of a tensor's does not, lanes copy; but for tensors that no kernel writes: of these, where they do
// not suit the engine, it is handed a copy that does (pack.c).

enum {
  TILE_CU_DESCRIPTOR_BYTES = 128,
  TILE_CU_DESCRIPTOR_ALIGNMENT = 64,
  TILE_CU_LINES_OF_128 = 2,  // the second cache fetches so much at once
  TILE_CU_BOX_UNIT = 16      // bytes
};

// The one byte more is for launches without boxes: C has no array of nothing.
static size_t tile_cu_descriptor_bytes(const struct tile_launch *launch) {
  return 1 + (launch->box_count ? TILE_CU_DESCRIPTOR_ALIGNMENT + (size_t)launch->box_count * (TILE_CU_DESCRIPTOR_BYTES + 1) : 0);
}

// Elements that the engine only moves, by their width: 0 of one byte, 1 of two, 2 of four, 4 of eight. Those that it adds, by their type.
static int tile_cu_box_element(int32_t adds, int32_t bits) {
  if (adds != TILE_BOX_MOVES) return adds == TILE_BOX_ADDS_F16 ? 6 : adds == TILE_BOX_ADDS_BF16 ? 9 : 7;
  return bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 4;
}
static int tile_cu_box_swizzle(int32_t bytes) { return bytes == 32 ? 1 : bytes == 64 ? 2 : bytes == 128 ? 3 : 0; }

static int64_t tile_cu_up_to_multiple(int64_t x, int64_t of) { return (x + of - 1) / of * of; }

// A tensor as the engine is told of it, counted from its last dimension.
struct tile_cu_tensor {
  const struct tile_param *param;
  uint64_t address;
  int64_t extents[TILE_BOX_RANK], strides[TILE_BOX_RANK];  // bytes
  int32_t is_known, is_far, is_empty;  // it has an address, of elements that are next to each other, or is empty; its strides leave 64 bits
};

static struct tile_cu_tensor tile_cu_find_tensor(const struct tile_kernel *kernel, const struct tile_box *box, const int64_t *slots,
                                                 const int64_t *plan) {
  const struct tile_param *param = &kernel->params[box->param];
  int64_t dense = 1, width = param->element_bits / 8;
  struct tile_cu_tensor tensor = {.param = param, .address = (uint64_t)slots[param->slot]};
  if (param->rank > TILE_BOX_RANK) return tensor;
  tensor.is_known = 1;
  for (int32_t i = 0; i < param->rank; i++) {
    int32_t axis = param->rank - 1 - i;
    int64_t extent = tile_number(param->extents[axis], slots, plan);
    int64_t stride = param->strides ? tile_number(param->strides[axis], slots, plan) : dense;
    tensor.extents[i] = extent;
    tensor.is_empty |= extent < 1;
    if (i == 0 && stride != 1) tensor.is_known = 0;
    tensor.is_far |= __builtin_mul_overflow(stride, width, &tensor.strides[i]) || __builtin_mul_overflow(dense, extent, &dense);
    // Along an axis of one element nothing is ever a stride away.
    if (i > 0 && extent == 1) {
      tensor.is_far |= __builtin_mul_overflow(tensor.extents[i - 1], tensor.strides[i - 1], &stride) || stride > INT64_MAX - TILE_CU_BOX_UNIT;
      tensor.strides[i] = tensor.is_far ? 0 : tile_cu_up_to_multiple(stride, TILE_CU_BOX_UNIT);
    }
  }
  tensor.is_known &= tensor.address || tensor.is_empty;
  return tensor;
}

static int tile_cu_suits(const struct tile_cu_tensor *tensor) {
  if (!tensor->is_known || tensor->is_far || tensor->is_empty || tensor->address % TILE_CU_BOX_UNIT) return 0;
  for (int32_t i = 1; i < tensor->param->rank; i++)
    if (tensor->strides[i] < 1 || tensor->strides[i] % TILE_CU_BOX_UNIT) return 0;
  return 1;
}

// 0, or what the driver says against it.
static int tile_cu_make_descriptor(const struct tile_box *box, const struct tile_cu_tensor *tensor, void *descriptor) {
  const struct tile_param *param = tensor->param;
  uint64_t extents[TILE_BOX_RANK], strides[TILE_BOX_RANK];
  uint32_t shape[TILE_BOX_RANK], steps[TILE_BOX_RANK];
  for (int32_t i = 0; i < param->rank; i++) {
    extents[i] = (uint64_t)tensor->extents[i], strides[i] = (uint64_t)tensor->strides[i];
    shape[i] = (uint32_t)box->extents[param->rank - 1 - i], steps[i] = 1;
  }
  return tile_cu.describe(descriptor, tile_cu_box_element(box->adds, param->element_bits), (unsigned)param->rank, (void *)(uintptr_t)tensor->address,
                          extents, strides + 1, shape, steps, 0, tile_cu_box_swizzle(box->swizzle), TILE_CU_LINES_OF_128, 0);
}

// The kernel's parameter, somewhere in `memory`, which has tile_cu_descriptor_bytes.
static char *tile_cu_align_descriptors(char *memory) {
  const uintptr_t mask = TILE_CU_DESCRIPTOR_ALIGNMENT - 1;
  return (char *)(((uintptr_t)memory + mask) & ~mask);
}

// Of each box of a launch its tensor: those that are packed have become copies. `is_refused` is set where the driver refuses a tensor, which lanes copy then.
static int32_t tile_cu_describe(const struct tile_kernel *kernel, const struct tile_launch *launch, const struct tile_cu_tensor *tensors,
                                char *descriptors, int *is_refused) {
  char *holds = descriptors + (size_t)launch->box_count * TILE_CU_DESCRIPTOR_BYTES;
  for (int32_t i = 0; i < launch->box_count; i++) {
    const struct tile_box *box = &launch->boxes[i];
    holds[i] = (char)tile_cu_suits(&tensors[i]);
    int code = holds[i] ? tile_cu_make_descriptor(box, &tensors[i], descriptors + (size_t)i * TILE_CU_DESCRIPTOR_BYTES) : 0;
    if (code && box->is_packed) return tile_cu_fail(kernel, tensors[i].param->name, code);
    if (code) holds[i] = 0, *is_refused = 1;
  }
  return TILE_OK;
}
