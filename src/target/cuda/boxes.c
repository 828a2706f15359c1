// Descriptors of tensors for the engine that copies boxes out of them and into them, handed to the kernel beside its slots; behind them a byte for
// each says whether it holds. Where one of a tensor's does not, lanes copy.

enum {
  TILE_CU_DESCRIPTOR_BYTES = 128,
  TILE_CU_DESCRIPTOR_ALIGNMENT = 64,
  TILE_CU_LINES_OF_128 = 2,  // the second cache fetches so much at once
  TILE_CU_BOX_UNIT = 16      // bytes
};
#define TILE_CU_FARTHEST (INT64_C(1) << 30)  // extents beyond which kernels do not say where a box lies

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

// What a descriptor is made from, beside its box.
struct tile_cu_tensor {
  const struct tile_box *box;
  uint64_t address, extents[TILE_BOX_RANK], strides[TILE_BOX_RANK];  // bytes; the engine counts from the last dimension
};

static int tile_cu_find_tensor(const struct tile_kernel *kernel, const struct tile_box *box, const int64_t *slots, const int64_t *plan,
                               struct tile_cu_tensor *tensor) {
  const struct tile_param *param = &kernel->params[box->param];
  int64_t dense = 1, width = param->element_bits / 8;
  tensor->box = box, tensor->address = (uint64_t)slots[param->slot];
  if (!tensor->address || tensor->address % TILE_CU_BOX_UNIT || param->rank > TILE_BOX_RANK) return 0;
  for (int32_t i = 0; i < param->rank; i++) {
    int32_t axis = param->rank - 1 - i;
    int64_t extent = tile_number(param->extents[axis], slots, plan);
    int64_t stride = param->strides ? tile_number(param->strides[axis], slots, plan) : dense;
    if (extent < 1 || extent > TILE_CU_FARTHEST || (i == 0 && stride != 1)) return 0;
    if (i > 0 && (stride < 1 || stride > INT64_MAX / width || stride * width % TILE_CU_BOX_UNIT)) return 0;
    if (__builtin_mul_overflow(dense, extent, &dense)) return 0;
    tensor->extents[i] = (uint64_t)extent, tensor->strides[i] = (uint64_t)(stride * width);
  }
  return 1;
}

// 0, or what the driver says against it.
static int tile_cu_make_descriptor(const struct tile_param *param, const struct tile_cu_tensor *tensor, void *descriptor) {
  const struct tile_box *box = tensor->box;
  uint32_t shape[TILE_BOX_RANK], steps[TILE_BOX_RANK];
  for (int32_t i = 0; i < param->rank; i++) shape[i] = (uint32_t)box->extents[param->rank - 1 - i], steps[i] = 1;
  return tile_cu.describe(descriptor, tile_cu_box_element(box->adds, param->element_bits), (unsigned)param->rank,
                          (void *)(uintptr_t)tensor->address, tensor->extents, tensor->strides + 1, shape, steps, 0,
                          tile_cu_box_swizzle(box->swizzle), TILE_CU_LINES_OF_128, 0);
}

// `memory` has tile_cu_descriptor_bytes; the kernel's parameter lies somewhere in it. `is_refused` is set where the driver refuses a tensor.
static char *tile_cu_describe(const struct tile_kernel *kernel, const struct tile_launch *launch, const int64_t *slots, const int64_t *plan,
                              char *memory, int *is_refused) {
  const uintptr_t mask = TILE_CU_DESCRIPTOR_ALIGNMENT - 1;
  char *descriptors = (char *)(((uintptr_t)memory + mask) & ~mask);
  char *holds = descriptors + (size_t)launch->box_count * TILE_CU_DESCRIPTOR_BYTES;
  for (int32_t i = 0; i < launch->box_count; i++) {
    struct tile_cu_tensor tensor;
    const struct tile_param *param = &kernel->params[launch->boxes[i].param];
    holds[i] = (char)tile_cu_find_tensor(kernel, &launch->boxes[i], slots, plan, &tensor);
    if (!holds[i] || !tile_cu_make_descriptor(param, &tensor, descriptors + (size_t)i * TILE_CU_DESCRIPTOR_BYTES)) continue;
    holds[i] = 0, *is_refused = 1;
  }
  return descriptors;
}
