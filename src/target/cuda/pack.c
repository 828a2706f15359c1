// Tensors that the engine reads, and whose address or strides do not suit it: before the launch they are copied into rows that begin at
// multiples of TILE_CU_BOX_UNIT, in memory that the stream has until the launch has run.

enum { TILE_CU_PACK_AXES = 4, TILE_CU_PACK_STEPS = 2, TILE_CU_PACK_ALIGNMENT = 256 };
#define TILE_CU_PACK_BLOCKS (INT64_C(1) << 20)  // more turn

// What the image's function takes.
struct tile_cu_pack {
  uint64_t from, to;
  int64_t row, padded, units;  // bytes of a row; units of TILE_CU_BOX_UNIT bytes of a row of the copy, and of all
  uint64_t low, high;          // where the tensor's memory begins, and ends
  int64_t has_one_axis;
  int64_t extents[TILE_CU_PACK_AXES], strides[TILE_CU_PACK_AXES];  // of the rows, in bytes; the fastest axis first
};

// The bytes of its copy, -1 where 64 bits do not hold them, and what makes it of the tensor; `tensor` is the copy then, but for its address.
// An empty tensor becomes one of a zero: the engine is told of no others, and fills with zeros what lies outside.
static int64_t tile_cu_plan_pack(struct tile_cu_tensor *tensor, struct tile_cu_pack *pack) {
  const int32_t rank = tensor->param->rank;
  const int64_t width = tensor->param->element_bits / 8, row = tensor->is_empty ? 0 : tensor->extents[0] * width;
  *pack = (struct tile_cu_pack){.from = tensor->address, .row = row, .low = tensor->address, .high = tensor->address + (uint64_t)row};
  int32_t axes = 0;
  int64_t bytes = tile_cu_up_to_multiple(row > 0 ? row : width, TILE_CU_BOX_UNIT);
  pack->padded = bytes / TILE_CU_BOX_UNIT;
  for (int32_t i = 0; i < TILE_CU_PACK_AXES; i++) pack->extents[i] = 1, pack->strides[i] = 0;
  for (int32_t i = 0; i < rank; i++) {
    int64_t extent = tensor->extents[i] > 0 ? tensor->extents[i] : 1, stride = tensor->strides[i];
    tensor->extents[i] = extent;
    if (i == 0) continue;
    tensor->strides[i] = bytes;
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return -1;
    if (extent == 1) continue;
    uint64_t reach = (uint64_t)(extent - 1) * (uint64_t)stride;
    if (stride < 0) pack->low += reach;
    else pack->high += reach;
    int64_t last = axes ? pack->extents[axes - 1] * pack->strides[axes - 1] : 0;
    if (axes && stride == last) pack->extents[axes - 1] *= extent;
    else pack->extents[axes] = extent, pack->strides[axes] = stride, axes++;
  }
  pack->units = bytes / TILE_CU_BOX_UNIT, pack->has_one_axis = axes < 2;
  tensor->is_empty = 0, tensor->is_known = 1;
  if (bytes > INT64_MAX - TILE_CU_PACK_ALIGNMENT) return -1;
  return tile_cu_up_to_multiple(bytes, TILE_CU_PACK_ALIGNMENT);
}

// The first box of the same tensor has it packed for all of them.
static int32_t tile_cu_first_box(const struct tile_launch *launch, int32_t box) {
  int32_t first = 0;
  while (launch->boxes[first].param != launch->boxes[box].param) first++;
  return first;
}

// Finds the tensors of a launch's boxes, and plans the copies: their bytes in `needed`, of each box its own; 0: none, or an earlier one's.
static int32_t tile_cu_find_tensors(const struct tile_kernel *kernel, const struct tile_launch *launch,
                                    const int64_t *slots, const int64_t *plan, struct tile_cu_tensor *tensors, struct tile_cu_pack *packs,
                                    int64_t *needed) {
  for (int32_t i = 0; i < launch->box_count; i++) {
    const struct tile_box *box = &launch->boxes[i];
    const int32_t first = tile_cu_first_box(launch, i);
    needed[i] = 0;
    tensors[i] = first < i ? tensors[first] : tile_cu_find_tensor(kernel, box, slots, plan);
    if (first < i || !box->is_packed || !tensors[i].is_known || tile_cu_suits(&tensors[i])) continue;
    if (tensors[i].is_far) return tile_fail(TILE_SHAPE, "%s: the strides of %s leave 64 bits", kernel->info.name, tensors[i].param->name);
    needed[i] = tile_cu_plan_pack(&tensors[i], &packs[i]);
    if (needed[i] < 0) return tile_fail(TILE_SHAPE, "%s: the size of a copy of %s leaves 64 bits", kernel->info.name, tensors[i].param->name);
  }
  return TILE_OK;
}

// Copies into the memory at `address`, one tensor behind the other.
static int32_t tile_cu_launch_packs(const struct tile_kernel *kernel, const struct tile_instance *instance, const struct tile_launch *launch,
                                    int form, const struct tile_cu_place *place, struct tile_cu_tensor *tensors, struct tile_cu_pack *packs,
                                    const int64_t *needed, uint64_t address, void *stream) {
  struct tile_cu_work work = {.launch = instance->image->pack, .cluster = 1};
  int64_t at_once;
  int32_t status = tile_cu_function(kernel, instance->image, work.launch, form, place, &work.function, &at_once);
  for (int32_t i = 0; i < launch->box_count && !status; i++) {
    if (tile_cu_first_box(launch, i) < i) tensors[i].address = tensors[tile_cu_first_box(launch, i)].address;
    if (!needed[i]) continue;
    tensors[i].address = packs[i].to = address;
    address += (uint64_t)needed[i];
    const int64_t piece = (int64_t)work.launch->threads * TILE_CU_PACK_STEPS, pieces = packs[i].units / piece + (packs[i].units % piece != 0);
    work.blocks = pieces < TILE_CU_PACK_BLOCKS ? pieces : TILE_CU_PACK_BLOCKS;
    int code = tile_cu_launch(&work, (int64_t *)&packs[i], NULL, stream);
    if (code) status = tile_cu_refuse_launch(kernel, &work, code);
  }
  return status;
}

// Makes what is needed; `memory` is to be given back when the launch has been made: 0 where all tensors suit.
static int32_t tile_cu_pack_tensors(const struct tile_kernel *kernel, const struct tile_instance *instance, const struct tile_launch *launch,
                                    int form, const struct tile_cu_place *place, const int64_t *slots, const int64_t *plan, void *stream,
                                    struct tile_cu_tensor *tensors, uint64_t *memory) {
  struct tile_cu_pack packs[launch->box_count];
  int64_t needed[launch->box_count], sum = 0;
  *memory = 0;
  int32_t status = tile_cu_find_tensors(kernel, launch, slots, plan, tensors, packs, needed);
  for (int32_t i = 0; i < launch->box_count && !status; i++)
    if (__builtin_add_overflow(sum, needed[i], &sum)) return tile_fail(TILE_SHAPE, "%s: the size of copies leaves 64 bits", kernel->info.name);
  if (status || !sum) return status;
  int code = tile_cu.allocate(memory, (size_t)sum, stream);
  if ((code == TILE_CU_WRONG_HANDLE || code == TILE_CU_WRONG_CONTEXT) && tile_cu_is_elsewhere(place, stream)) return TILE_CU_ELSEWHERE;
  if (code == TILE_CU_OUT_OF_MEMORY) {
    return tile_fail(TILE_OUT_OF_MEMORY, "%s: no memory on device %d for %lld bytes of copies of tensors that do not begin, or whose rows do not, at "
                     "multiples of %d bytes", kernel->info.name, (int)place->device, (long long)sum, TILE_CU_BOX_UNIT);
  }
  if (code) return tile_cu_fail(kernel, "memory for copies of tensors", code);
  return tile_cu_launch_packs(kernel, instance, launch, form, place, tensors, packs, needed, *memory, stream);
}
