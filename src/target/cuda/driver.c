// The driver: its numbers, its functions, and its library, which is opened when it is first needed.

enum {
  TILE_CU_OUT_OF_MEMORY = 2,
  TILE_CU_INVALID_IMAGE = 200,
  TILE_CU_NO_BINARY = 209,
  TILE_CU_INVALID_TEXT = 218,
  TILE_CU_NO_COMPILER = 221,
  TILE_CU_TEXT_VERSION = 222,
  TILE_CU_WRONG_CONTEXT = 201,
  TILE_CU_NOT_MAPPED = 211,
  TILE_CU_WRONG_HANDLE = 400,
  TILE_CU_CAPTURE_RELAXED = 2,
  TILE_CU_POINTER_CONTEXT = 1,
  TILE_CU_POINTER_MEMORY = 2,
  TILE_CU_POINTER_MANAGED = 8,
  TILE_CU_POINTER_ORDINAL = 9,
  TILE_CU_MEMORY_DEVICE = 2,
  TILE_CU_MEMORY_HOST = 1,
  TILE_CU_PROCESSORS = 16,
  TILE_CU_MAJOR = 75,
  TILE_CU_MINOR = 76,
  TILE_CU_MOST_SHARED = 97,  // bytes of a block that asks for more than the usual
  TILE_CU_FUNCTION_SHARED = 8,
  TILE_CU_PORTABLE_MAPPED = 3,
  TILE_CU_WRONG_CLUSTER = 912,
  TILE_CU_LAUNCH_CLUSTER = 4,  // attributes of a launch: blocks that run at once; it waits by itself
  TILE_CU_LAUNCH_OVERLAPS = 6
};
#define TILE_CU_USUAL_SHARED (48 << 10)  // what a block has without asking
#define TILE_CU_DEVICES 64
#define TILE_CU_CAPTURING 1
#define TILE_CU_OLDEST "12.0"
#define TILE_CU_OVERLAPS_IN_GRAPHS 12030  // the version from which captured launches may overlap, too
#define TILE_CU_ELSEWHERE (-1)  // no status: the stream is of another context
#define TILE_CU_FEW_STREAMS 2  // handles up to this are streams that every context has

// As the driver declares them: one attribute of a launch, and a launch.
struct tile_cu_attribute {
  int32_t what;
  char pad[4];
  int32_t value[3];
  char rest[52];
};
struct tile_cu_launch {
  unsigned x, y, z, block_x, block_y, block_z, shared;
  void *stream;
  const struct tile_cu_attribute *attributes;
  unsigned attribute_count;
};
_Static_assert(sizeof(struct tile_cu_attribute) == 72 && sizeof(struct tile_cu_launch) == 56, "the driver's layout");

// Every function: its name, the symbol behind it, its parameters.
#define TILE_CU_FUNCTIONS(F)                                                                                          \
  F(init, "cuInit", (unsigned flags))                                                                                 \
  F(error_string, "cuGetErrorString", (int code, const char **text))                                                  \
  F(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))                                \
  F(primary_context, "cuDevicePrimaryCtxRetain", (void **context, int device))                                        \
  F(current_context, "cuCtxGetCurrent", (void **context))                                                             \
  F(release_primary, "cuDevicePrimaryCtxRelease_v2", (int device))                                                    \
  F(push_context, "cuCtxPushCurrent_v2", (void *context))                                                             \
  F(pop_context, "cuCtxPopCurrent_v2", (void **context))                                                              \
  F(context_device, "cuCtxGetDevice", (int *device))                                                                  \
  F(context_id, "cuCtxGetId", (void *context, unsigned long long *id))                                                \
  F(stream_context, "cuStreamGetCtx", (void *stream, void **context))                                                 \
  F(stream_capture, "cuStreamIsCapturing", (void *stream, int *status))                                               \
  F(stream_wait, "cuStreamSynchronize", (void *stream))                                                               \
  F(capture_mode, "cuThreadExchangeStreamCaptureMode", (int *mode))                                                   \
  F(pointer_attributes, "cuPointerGetAttributes", (unsigned count, int *attributes, void **values, uint64_t pointer)) \
  F(load_library, "cuLibraryLoadData", (void **library, const void *data, int *options, void **values, unsigned count, \
                                        int *library_options, void **library_values, unsigned library_count))         \
  F(library_kernel, "cuLibraryGetKernel", (void **function, void *library, const char *name))                         \
  F(kernel_function, "cuKernelGetFunction", (void **function, void *kernel))                                          \
  F(kernel_attribute, "cuKernelSetAttribute", (int attribute, int value, void *kernel, int device))                   \
  F(launch, "cuLaunchKernelEx", (const struct tile_cu_launch *launch, void *function, void **parameters, void **extra)) \
  F(blocks_of_processor, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int *blocks, void *function, int threads, size_t shared)) \
  F(clusters_at_once, "cuOccupancyMaxActiveClusters", (int *clusters, void *function, const struct tile_cu_launch *launch)) \
  F(driver_version, "cuDriverGetVersion", (int *version))                                                             \
  F(describe, "cuTensorMapEncodeTiled", (void *descriptor, int element, unsigned rank, void *tensor,                   \
                                         const uint64_t *extents, const uint64_t *strides, const uint32_t *box,         \
                                         const uint32_t *steps, int interleave, int swizzle, int promotion, int fill))  \
  F(allocate, "cuMemAllocAsync", (uint64_t *pointer, size_t bytes, void *stream))                                     \
  F(free, "cuMemFreeAsync", (uint64_t pointer, void *stream))                                                         \
  F(set_words, "cuMemsetD32Async", (uint64_t pointer, unsigned value, size_t count, void *stream))                    \
  F(register_memory, "cuMemHostRegister_v2", (void *memory, size_t bytes, unsigned flags))                            \
  F(mapped_pointer, "cuMemHostGetDevicePointer_v2", (uint64_t *pointer, void *memory, unsigned flags))

static struct {
  pthread_once_t once;
  pthread_mutex_t loading;
  int32_t is_there, overlaps;
  char problem[192];
  _Atomic int32_t generation[TILE_CU_DEVICES];  // 0: not asked
#define TILE_CU_MEMBER(name, symbol, parameters) int(*name) parameters;
  TILE_CU_FUNCTIONS(TILE_CU_MEMBER)
#undef TILE_CU_MEMBER
} tile_cu = {.once = PTHREAD_ONCE_INIT, .loading = PTHREAD_MUTEX_INITIALIZER};

static const char *tile_cu_text(int code) {
  const char *text = NULL;
  if (tile_cu.error_string(code, &text) || !text) return "an error without a name";
  return text;
}

static int tile_cu_find(void *library, void *place, const char *symbol) {
  void *found = dlsym(library, symbol);
  if (!found) {
    snprintf(tile_cu.problem, sizeof tile_cu.problem, "its driver is older than CUDA %s: it has no %s", TILE_CU_OLDEST, symbol);
  }
  memcpy(place, &found, sizeof found);
  return found != NULL;
}

static void tile_cu_open(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(tile_cu.problem, sizeof tile_cu.problem, "there is no driver (libcuda.so.1)");
    return;
  }
#define TILE_CU_FIND(name, symbol, parameters) \
  if (!tile_cu_find(library, &tile_cu.name, symbol)) return;
  TILE_CU_FUNCTIONS(TILE_CU_FIND)
#undef TILE_CU_FIND
  int code = tile_cu.init(0);
  if (code) snprintf(tile_cu.problem, sizeof tile_cu.problem, "its driver says: %s", tile_cu_text(code));
  int version = 0;
  tile_cu.overlaps = !code && !tile_cu.driver_version(&version) && version >= TILE_CU_OVERLAPS_IN_GRAPHS;
  tile_cu.is_there = code == 0;
}

static int tile_cu_ready(void) {
  pthread_once(&tile_cu.once, tile_cu_open);
  return tile_cu.is_there;
}

static int32_t tile_cu_no_driver(const struct tile_kernel *kernel) {
  return tile_fail(TILE_NO_DRIVER, "%s: this machine runs no code of NVIDIA's GPUs: %s", kernel->info.name, tile_cu.problem);
}

static int32_t tile_cu_fail(const struct tile_kernel *kernel, const char *what, int code) {
  int32_t status = code == TILE_CU_OUT_OF_MEMORY ? TILE_OUT_OF_MEMORY : TILE_DRIVER;
  return tile_fail(status, "%s: %s: the driver says: %s", kernel->info.name, what, tile_cu_text(code));
}
