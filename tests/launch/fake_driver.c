#include "fake_driver.h"

#include <stdlib.h>
#include <string.h>

fake_state fake_driver = {.major = {9, 8, 7, 9}, .primary = {{0, 100}, {1, 101}, {2, 102}, {3, 103}}};

enum { kOutOfMemory = 2, kWrongHandle = 400, kNotFound = 500, kWrongCluster = 912, kMajor = 75, kHostMemory = 1, kInvalidValue = 1 };

static _Thread_local fake_context *current;

int cuInit(unsigned flags) {
  (void)flags;
  return fake_driver.init_code;
}
int cuGetErrorString(int code, const char **text) {
  *text = code == kOutOfMemory ? "out of memory" : code == kWrongHandle ? "invalid resource handle" : "a fake failure";
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  int most_shared = 227 << 10;
  if (fake_driver.device_code) return fake_driver.device_code;
  *value = attribute == kMajor ? fake_driver.major[device] : attribute == kMajor + 1 ? fake_driver.minor[device] : attribute == 16 ? FAKE_PROCESSORS : most_shared;
  return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &fake_driver.primary[device];
  fake_driver.retained++;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  fake_driver.released++;
  return 0;
}
int cuCtxGetCurrent(void **context) {
  *context = current;
  return fake_driver.current_code;
}
int cuCtxSetCurrent(void *context) {
  current = context;
  return 0;
}
// One is enough: the launcher pushes once.
static _Thread_local fake_context *below;
int cuCtxPushCurrent_v2(void *context) {
  below = current, current = context;
  return 0;
}
int cuCtxPopCurrent_v2(void **context) {
  *context = current, current = below;
  return 0;
}
int cuCtxGetDevice(int *device) {
  *device = current->device;
  return 0;
}
int cuCtxGetId(void *context, unsigned long long *id) {
  *id = ((fake_context *)context)->id;
  return 0;
}
int cuStreamGetCtx(void *stream, void **context) {
  *context = ((fake_stream *)stream)->context;
  return 0;
}
int cuStreamIsCapturing(void *stream, int *status) {
  *status = stream ? ((fake_stream *)stream)->is_capturing : 0;
  return fake_driver.capture_code;
}
int cuStreamSynchronize(void *stream) {
  (void)stream;
  fake_driver.waits++;
  return fake_driver.wait_code;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
  static _Thread_local int now = 0;
  int before = now;
  now = *mode, *mode = before;
  return 0;
}
int cuPointerGetAttributes(unsigned count, int *attributes, void **values, uint64_t pointer) {
  fake_memory none = {0, 0, NULL, -2, 0, 0}, *found = &none;
  for (int i = 0; i < fake_driver.memories; i++)
    if (pointer >= fake_driver.memory[i].low && pointer < fake_driver.memory[i].high) found = &fake_driver.memory[i];
  for (unsigned i = 0; i < count; i++) switch (attributes[i]) {
      case 1: *(void **)values[i] = found->context; break;
      case 2: *(int *)values[i] = found->kind; break;
      case 8: *(int *)values[i] = found->is_managed; break;
      case 9: *(int *)values[i] = found->device; break;
      default: return 1;
    }
  return 0;
}
int cuLibraryLoadData(void **library, const void *data, int *options, void **values, unsigned count, int *library_options,
                      void **library_values, unsigned library_count) {
  (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
  if (fake_driver.load_code) return fake_driver.load_code;
  fake_driver.loads++;
  fake_driver.loaded_text = memcmp(data, "\177ELF", 4) != 0;
  *library = (void *)(uintptr_t)data;
  return 0;
}
int cuLibraryGetKernel(void **kernel, void *library, const char *name) {
  // Text names its functions; code is not read.
  int is_there = memcmp(library, "\177ELF", 4) == 0 || strstr(library, name);
  *kernel = is_there ? (void *)(uintptr_t)name : NULL;
  return fake_driver.kernel_code ? fake_driver.kernel_code : is_there ? 0 : kNotFound;
}
// A context's own: a new context has others, wherever it lies.
static struct {
  void *kernel;
  unsigned long long context;
} functions[256];
static _Atomic int function_count;
int cuKernelGetFunction(void **function, void *kernel) {
  int next = function_count++;
  if (next >= (int)(sizeof functions / sizeof *functions)) return kOutOfMemory;
  functions[next].kernel = kernel, functions[next].context = current->id;
  *function = &functions[next];
  return 0;
}
static int is_pack(const void *function) {
  for (int i = 0; i < function_count; i++)
    if (function == &functions[i]) return strcmp(functions[i].kernel, "tile_pack") == 0;
  return 0;
}
static int is_of_current_context(const void *function) {
  for (int i = 0; i < function_count; i++)
    if (function == &functions[i]) return functions[i].context == current->id;
  return 0;
}
int cuKernelSetAttribute(int attribute, int value, void *kernel, int device) {
  (void)attribute, (void)kernel, (void)device;
  fake_driver.dynamic_shared = value;
  return fake_driver.attribute_code;
}
int cuDriverGetVersion(int *version) {
  *version = 12040;
  return 0;
}
// A launch and its attributes, as the driver declares them.
typedef struct {
  int what, pad, value[3], rest[13];
} fake_attribute;
typedef struct {
  unsigned x, y, z, block_x, block_y, block_z, shared;
  void *stream;
  const fake_attribute *attributes;
  unsigned attribute_count;
} fake_launch;
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) {
  (void)threads, (void)shared;
  *blocks = FAKE_BLOCKS;
  return is_of_current_context(function) ? fake_driver.occupancy_code : kWrongHandle;
}
// One processor of each has no neighbour.
int cuOccupancyMaxActiveClusters(int *clusters, void *function, const fake_launch *launch) {
  if (launch->attribute_count != 1 || launch->attributes[0].what != 4) return kInvalidValue;
  *clusters = FAKE_BLOCKS * (FAKE_PROCESSORS - 1) / launch->attributes[0].value[0];
  return is_of_current_context(function) ? fake_driver.occupancy_code : kWrongHandle;
}
// What the image's function for copies is told, and what it does: target/abi/boxes.h.
typedef struct {
  char *from, *to;
  int64_t row, padded, units;
  char *low, *high;
  int64_t has_one_axis, extents[4], strides[4];
} fake_pack;
static void pack(const fake_pack *told) {
  const int64_t bytes = told->row, padded = told->padded * 16;
  for (int64_t row = 0; row < told->units / told->padded; row++) {
    const char *from = told->from;
    int64_t rest = row;
    for (int axis = 0; axis < 4 && !told->has_one_axis; rest /= told->extents[axis], axis++) from += rest % told->extents[axis] * told->strides[axis];
    if (told->has_one_axis) from += row * told->strides[0];
    memset(told->to + row * padded, 0, (size_t)padded);
    if (bytes && (from < told->low || from + bytes > told->high)) abort();
    if (bytes) memcpy(told->to + row * padded, from, (size_t)bytes);
  }
  fake_driver.packs++;
  fake_driver.packed_at = (uint64_t)(uintptr_t)told->to, fake_driver.packed_bytes = told->units * 16;
  memcpy(fake_driver.packed, told->to, (size_t)(fake_driver.packed_bytes < FAKE_PACKED ? fake_driver.packed_bytes : FAKE_PACKED));
}

int cuLaunchKernelEx(const fake_launch *launch, void *function, void **parameters, void **extra) {
  const unsigned x = launch->x, block_x = launch->block_x, shared = launch->shared;
  void *stream = launch->stream;
  (void)extra;
  fake_driver.tried++;
  if (launch->y != 1 || launch->z != 1 || launch->block_y != 1 || launch->block_z != 1) return kInvalidValue;
  fake_driver.overlaps = 0, fake_driver.cluster = 1;
  for (unsigned i = 0; i < launch->attribute_count; i++) {
    const int *value = launch->attributes[i].value;
    if (launch->attributes[i].what == 6) fake_driver.overlaps = value[0];
    else if (launch->attributes[i].what == 4 && value[1] == 1 && value[2] == 1 && x % (unsigned)value[0] == 0) fake_driver.cluster = value[0];
    else return kInvalidValue;
  }
  if (fake_driver.cluster > 1 && fake_driver.has_no_clusters) return kWrongCluster;
  if (fake_driver.launch_code && fake_driver.launches >= fake_driver.fails_from) return fake_driver.launch_code;
  if (stream && ((fake_stream *)stream)->context != current) return kWrongHandle;
  if (!is_of_current_context(function)) return kWrongHandle;
  fake_driver.launches++;
  fake_driver.blocks = x, fake_driver.threads = block_x, fake_driver.shared = shared;
  fake_driver.stream = stream, fake_driver.launch_context = current;
  if (is_pack(function)) {
    pack(parameters[0]);
    return 0;
  }
  memcpy(fake_driver.slots, parameters[0], 3 * sizeof(int64_t));
  const char *described = fake_driver.reads_descriptors ? parameters[2] : NULL;
  for (int i = 0; described && i < FAKE_DESCRIPTORS; i++) {
    memcpy(&fake_driver.descriptors[i], described + 128 * i, sizeof fake_driver.descriptors[i]);
    fake_driver.holds[i] = described[128 * FAKE_DESCRIPTORS + i];
  }
  if (fake_driver.reads_counter) {
    memcpy(&fake_driver.counter, parameters[3], sizeof fake_driver.counter);
    fake_driver.counted = fake_driver.counter ? *(uint32_t *)(uintptr_t)fake_driver.counter : UINT32_MAX;
  }
  int64_t *fault = *(int64_t **)parameters[1];
  if (fault && fake_driver.fault_word) *fault = fake_driver.fault_word, fake_driver.fault_word = 0;
  return 0;
}
// The real one is opaque too: 128 bytes at a multiple of 64.
int cuTensorMapEncodeTiled(void *descriptor, int element, unsigned rank, void *tensor, const uint64_t *extents, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
  fake_descriptor told = {.tensor = (uint64_t)(uintptr_t)tensor, .rank = (int)rank, .element = element, .swizzle = swizzle};
  (void)promotion;
  if (fake_driver.describe_code || rank < 1 || rank > FAKE_RANK || (uintptr_t)descriptor % 64 || interleave || fill) return kInvalidValue;
  for (unsigned i = 0; i < rank; i++) {
    if (steps[i] != 1 || !extents[i] || box[i] < 1 || box[i] > 256) return kInvalidValue;
    told.extents[i] = extents[i], told.box[i] = box[i];
    if (i + 1 < rank) told.strides[i] = strides[i];
    if (i + 1 < rank && strides[i] % 16) return kInvalidValue;
  }
  memcpy(descriptor, &told, sizeof told);
  fake_driver.described++;
  return 0;
}
int cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream) {
  (void)stream;
  if (fake_driver.allocate_code) return fake_driver.allocate_code;
  fake_driver.allocations++;
  *pointer = (uint64_t)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
  return 0;
}
int cuMemsetD32Async(uint64_t pointer, unsigned value, size_t count, void *stream) {
  (void)stream;
  if (fake_driver.set_code) return fake_driver.set_code;
  for (size_t i = 0; i < count; i++) ((uint32_t *)(uintptr_t)pointer)[i] = value;
  fake_driver.sets++;
  return 0;
}
int cuMemFreeAsync(uint64_t pointer, void *stream) {
  (void)stream;
  fake_driver.frees++;
  free((void *)(uintptr_t)pointer);
  return 0;
}
int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
  (void)flags;
  if (fake_driver.register_code) return fake_driver.register_code;
  fake_driver.registered++;
  uint64_t low = (uint64_t)(uintptr_t)memory;
  if (fake_driver.memories < FAKE_MEMORIES) fake_driver.memory[fake_driver.memories++] = (fake_memory){low, low + bytes, current, 0, kHostMemory, 0};
  return 0;
}
int cuMemHostGetDevicePointer_v2(uint64_t *pointer, void *memory, unsigned flags) {
  (void)flags;
  *pointer = (uint64_t)(uintptr_t)memory + (uint64_t)fake_driver.map_offset;
  return 0;
}
