// The launcher on a machine with an NVIDIA GPU: contexts, threads, streams, capture, faults, and what a call costs beside the
// driver's own launch. Prints a line for each thing; the exit code tells whether all hold. Needs no toolkit.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launcher.h"

struct launch;
#define DRIVER(F)                                                                                                          \
  F(cuInit, (unsigned))                                                                                                    \
  F(cuDeviceGetCount, (int *))                                                                                             \
  F(cuDevicePrimaryCtxRetain, (void **, int))                                                                              \
  F(cuDevicePrimaryCtxReset_v2, (int))                                                                                     \
  F(cuCtxGetId, (void *, unsigned long long *))                                                                            \
  F(cuKernelGetFunction, (void **, void *))                                                                                \
  F(cuCtxCreate_v2, (void **, unsigned, int))                                                                              \
  F(cuCtxDestroy_v2, (void *))                                                                                             \
  F(cuCtxSetCurrent, (void *))                                                                                             \
  F(cuCtxGetCurrent, (void **))                                                                                            \
  F(cuStreamCreate, (void **, unsigned))                                                                                   \
  F(cuStreamSynchronize, (void *))                                                                                         \
  F(cuStreamBeginCapture_v2, (void *, int))                                                                                \
  F(cuStreamEndCapture, (void *, void **))                                                                                 \
  F(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long))                                                    \
  F(cuGraphLaunch, (void *, void *))                                                                                       \
  F(cuMemAlloc_v2, (uint64_t *, size_t))                                                                                   \
  F(cuMemcpy, (uint64_t, uint64_t, size_t))                                                                                \
  F(cuModuleLoadData, (void **, const void *))                                                                             \
  F(cuModuleGetFunction, (void **, void *, const char *))                                                                  \
  F(cuFuncSetAttribute, (void *, int, int))                                                                                \
  F(cuLibraryLoadData, (void **, const void *, void *, void *, unsigned, void *, void *, unsigned))                        \
  F(cuLibraryGetKernel, (void **, void *, const char *))                                                                   \
  F(cuKernelSetAttribute, (int, int, void *, int))                                                                         \
  F(cuLaunchKernelEx, (const struct launch *, void *, void **, void **))                                                                  \
  F(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))

#define MEMBER(name, parameters) static int(*name) parameters;
DRIVER(MEMBER)

static int failures = 0;
#define EXPECT(what, condition)                                              \
  do {                                                                       \
    int holds = (condition);                                                 \
    printf("%-78s %s\n", what, holds ? "ok" : "FAILED");                     \
    if (!holds) printf("  line %d: %s\n", __LINE__, tile1_last_message());   \
    failures += !holds;                                                      \
  } while (0)

enum { kCount = 100000, kThreads = 16, kFaultPlace = 77 };

static int open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *symbol;
  if (!library) return 0;
#define FIND(name, parameters)              \
  symbol = dlsym(library, #name);           \
  if (!symbol) return 0;                    \
  memcpy(&name, &symbol, sizeof symbol);
  DRIVER(FIND)
  return 1;
}

static float *on_device(const void *from, size_t bytes) {
  uint64_t address = 0;
  if (cuMemAlloc_v2(&address, bytes)) exit(3);
  if (from) cuMemcpy(address, (uint64_t)(uintptr_t)from, bytes);
  return (float *)(uintptr_t)address;
}

static int holds_successors(const float *device) {
  static float host[kCount];
  cuMemcpy((uint64_t)(uintptr_t)host, (uint64_t)(uintptr_t)device, sizeof host);
  for (int i = 0; i < kCount; i++)
    if (host[i] != (float)(i % 1000) + 1) return 0;
  return 1;
}

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e6 + (double)at.tv_nsec * 1e-3;
}

// ---- 16 threads, none of which has a context, make the first call at once.

static pthread_barrier_t start;
static float *threads_x, *threads_y[kThreads];
static int thread_status[kThreads];

static void *first_call(void *number) {
  int i = (int)(intptr_t)number;
  void *current = &current;
  pthread_barrier_wait(&start);
  thread_status[i] = add_one(threads_x, threads_y[i], kCount, NULL);
  cuCtxGetCurrent(&current);
  if (current) thread_status[i] = 1000;  // it was pushed for the call alone
  return NULL;
}

static void race(const float *x) {
  pthread_t threads[kThreads];
  int all_fine = 1, all_right = 1;
  pthread_barrier_init(&start, NULL, kThreads);
  threads_x = on_device(x, kCount * sizeof *x);
  for (int i = 0; i < kThreads; i++) threads_y[i] = on_device(NULL, kCount * sizeof *x);
  for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, first_call, (void *)(intptr_t)i);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  cuStreamSynchronize(NULL);
  for (int i = 0; i < kThreads; i++) all_fine &= thread_status[i] == TILE_OK, all_right &= holds_successors(threads_y[i]);
  EXPECT("16 threads without a context make the first call at once", all_fine);
  EXPECT("  and each has its numbers", all_right);
}

// ---- Streams, capture, workspaces.

static void capture(void *stream, float *x, float *y, float *sum) {
  void *graph = NULL, *runnable = NULL;
  float want = 0, got = 0;
  cuStreamBeginCapture_v2(stream, 0);
  int status = add_one(x, y, kCount, stream), with_workspace = total(x, sum, kCount, NULL, 0, stream);
  int checked = add_one_check(stream);
  int code = cuStreamEndCapture(stream, &graph);
  EXPECT("calls are captured", status == TILE_OK && with_workspace == TILE_OK && checked == TILE_OK && code == 0);
  if (code) return;
  code = cuGraphInstantiateWithFlags(&runnable, graph, 0);
  for (int i = 0; i < 3 && !code; i++) code = cuGraphLaunch(runnable, stream);
  EXPECT("  and run from the graph", code == 0 && add_one_check(stream) == TILE_OK && holds_successors(y));
  for (int i = 0; i < kCount; i++) want += (float)(i % 1000);
  cuMemcpy((uint64_t)(uintptr_t)&got, (uint64_t)(uintptr_t)sum, sizeof got);
  EXPECT("  with a workspace of the stream's", got > want * 0.999f && got < want * 1.001f);
}

// ---- Tensors that do not suit the engine, of which it is handed copies.

enum { kM = 70, kK = 33, kN = 45 };

// A small whole number.
static uint16_t half_of(int i) {
  static const uint16_t bits[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400};
  return bits[i % 5];
}

static int holds_product(const float *device, int m, int k, int n) {
  static float c[kM * kN];
  int is_right = 1;
  cuMemcpy((uint64_t)(uintptr_t)c, (uint64_t)(uintptr_t)device, sizeof(float) * (size_t)(m * n));
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      int sum = 0;
      for (int l = 0; l < k; l++) sum += (i * k + l + 1) * 3 % 5 * ((l * n + j + 1) * 2 % 5);
      is_right &= c[i * n + j] == (float)sum;
    }
  return is_right;
}

static void copies(void *stream, const char *captured) {
  uint16_t a[kM * kK + 1], b[kK * kN + 1];
  void *graph = NULL, *runnable = NULL;
  for (int i = 0; i < kM * kK + 1; i++) a[i] = half_of(i * 3);
  for (int i = 0; i < kK * kN + 1; i++) b[i] = half_of(i * 2);
  const tile_f16 *device_a = (const tile_f16 *)(void *)on_device(a, sizeof a) + 1, *device_b = (const tile_f16 *)(void *)on_device(b, sizeof b) + 1;
  float *c = on_device(NULL, sizeof(float) * kM * kN);
  if (captured) cuStreamBeginCapture_v2(stream, 0);
  int32_t status = multiply(device_a, device_b, c, kM, kK, kN, stream);
  if (captured) {
    int code = cuStreamEndCapture(stream, &graph);
    if (!code) code = cuGraphInstantiateWithFlags(&runnable, graph, 0);
    for (int i = 0; i < 3 && !code; i++) code = cuGraphLaunch(runnable, stream);
    EXPECT(captured, status == TILE_OK && !code && multiply_check(stream) == TILE_OK && holds_product(c, kM, kK, kN));
    return;
  }
  EXPECT("odd rows at odd addresses", status == TILE_OK && multiply_check(stream) == TILE_OK && holds_product(c, kM, kK, kN));
  EXPECT("  once more", multiply(device_a, device_b, c, kM, kK, kN, stream) == TILE_OK && multiply_check(stream) == TILE_OK && holds_product(c, kM, kK, kN));
  EXPECT("  of none", multiply(device_a, device_b, c, kM, 0, kN, stream) == TILE_OK && multiply_check(stream) == TILE_OK && holds_product(c, kM, 0, kN));
}

static void faults(void *stream, float *x, float *y) {
  int32_t index[300];
  for (int i = 0; i < 300; i++) index[i] = i;
  index[kFaultPlace] = 5000;
  int32_t *bad = (int32_t *)(void *)on_device(index, sizeof index);
  EXPECT("a call whose guard will fail is accepted", pick(x, bad, y, 1000, 300, stream) == TILE_OK);
  EXPECT("  and NAME_check tells", pick_check(stream) == TILE_BOUNDS && strstr(tile1_last_message(), "5000"));
  EXPECT("  once", pick_check(stream) == TILE_OK);
  pick(x, bad, y, 1000, 300, stream);
  cuStreamSynchronize(stream);
  EXPECT("without it, the next call tells", pick(x, bad, y, 1000, 300, stream) == TILE_BOUNDS);
  EXPECT("  once", pick(x, bad, y, 6000, 300, stream) == TILE_OK && pick_check(stream) == TILE_OK);
}

// ---- Cost.

// What the driver is told of a launch: its numbers, and an attribute.
struct attribute {
  int what, pad, value, rest[15];
};
struct launch {
  unsigned x, y, z, block_x, block_y, block_z, shared;
  void *stream;
  const struct attribute *attributes;
  unsigned attribute_count;
};

struct call {
  void *stream, *function, *library_kernel, *library_function, **parameters;
  float *x, *y;
  tile_f16 *a;
  unsigned threads, shared;
  int turn, refused;  // launches that the driver did not take
  void *context;
  unsigned long long id;
};
static void by_driver(struct call *c) {
  c->refused += cuLaunchKernel(c->function, 1, 1, 1, c->threads, 1, 1, c->shared, c->stream, c->parameters, NULL) != 0;
}
static void launch_with(struct call *c, void *function, unsigned attributes) {
  const struct attribute overlaps = {.what = 6, .value = 1};
  const struct launch launch = {1, 1, 1, c->threads, 1, 1, c->shared, c->stream, &overlaps, attributes};
  c->refused += cuLaunchKernelEx(&launch, function, c->parameters, NULL) != 0;
}
static void by_configuration(struct call *c) { launch_with(c, c->function, 0); }
static void by_attribute(struct call *c) { launch_with(c, c->function, 1); }
static void by_library(struct call *c) { launch_with(c, c->library_kernel, 1); }
static void by_library_function(struct call *c) { launch_with(c, c->library_function, 1); }
static void by_context(struct call *c) { cuCtxGetCurrent(&c->context), cuCtxGetId(c->context, &c->id); }
static void by_export(struct call *c) { add_one(c->x, c->y, 1000, c->stream); }
static void by_export_alone(struct call *c) { add_one(c->x, c->y, 1000, NULL); }
static void by_export_of_boxes(struct call *c) { multiply(c->a, c->a, c->y, 64, 64, 64, c->stream); }
// More of them than a thread keeps calls.
static void by_export_of_others(struct call *c) {
  const tile_f16 *a = c->a + 64 * c->turn;
  multiply(a, a, c->y, 64, 64, 64, c->stream), c->turn = (c->turn + 1) % 64;
}

struct way {
  const char *name;
  void (*call)(struct call *);
  double best;  // us
};

// In turn, so that all meet the same machine; each once before, so that it meets its own traces in the caches.
static void time_ways(struct call *call, struct way *ways, int count) {
  enum { kRounds = 20000, kBetween = 50 };
  for (int i = 0; i < count; i++) ways[i].best = 1e9;
  for (int round = 0; round < kRounds; round++) {
    if (round % kBetween == 0) cuStreamSynchronize(call->stream), cuStreamSynchronize(NULL);
    for (int i = 0; i < count; i++) {
      ways[i].call(call);
      double begin = now();
      ways[i].call(call);
      double took = now() - begin;
      if (took < ways[i].best) ways[i].best = took;
    }
  }
  for (int i = 0; i < count; i++) printf("  %5.2f us  %s\n", ways[i].best, ways[i].name);
  EXPECT("  and the driver took each launch", call->refused == 0);
}

static int find_launch(struct call *call, void *module, void *library, const char *name) {
  void *kernel;
  if (cuModuleGetFunction(&call->function, module, name) || cuLibraryGetKernel(&kernel, library, name)) return 0;
  call->library_kernel = kernel;
  const int most_shared = 8;  // bytes of a block, by the driver's number for it
  return !cuFuncSetAttribute(call->function, most_shared, (int)call->shared) && !cuKernelSetAttribute(most_shared, (int)call->shared, kernel, 0) &&
         !cuKernelGetFunction(&call->library_function, kernel);
}

static void cost(void *stream, float *x, float *y, const char *image) {
  enum { kDescriptors = 2 * 129, kSharedOfProduct = 64 << 10 };
  void *module, *library, *fault = NULL;
  if (cuModuleLoadData(&module, image) || cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0)) {
    printf("no raw launch to compare with\n");
    return;
  }
  static _Alignas(64) char descriptors[kDescriptors];  // of no tensor: nothing is to be read of them
  tile_f16 *a = (tile_f16 *)(void *)x;
  int64_t one[3] = {(int64_t)(intptr_t)x, (int64_t)(intptr_t)y, 1000}, product[6] = {(int64_t)(intptr_t)a, (int64_t)(intptr_t)a, (int64_t)(intptr_t)y, 64, 0, 64};
  void *of_one[] = {one, &fault}, *of_product[] = {product, &fault, descriptors};
  struct call plain = {.stream = stream, .parameters = of_one, .x = x, .y = y, .threads = 128};
  struct way ways[] = {{"the driver's launch", by_driver, 0}, {"with a configuration", by_configuration, 0}, {"with the attribute that lets it overlap", by_attribute, 0},
                       {"and the kernel of a library", by_library, 0}, {"and its function in this context", by_library_function, 0},
                       {"no launch: the current context and its id", by_context, 0},
                       {"the exported function", by_export, 0}, {"without a stream", by_export_alone, 0}};
  printf("one launch:\n");
  if (find_launch(&plain, module, library, "add_one_0_launch0_sm_90a")) time_ways(&plain, ways, sizeof ways / sizeof *ways);
  struct call boxes = {.stream = stream, .parameters = of_product, .y = y, .a = a, .threads = 128, .shared = kSharedOfProduct};
  struct way of_boxes[] = {{"the driver's launch, with the attribute", by_attribute, 0}, {"and the kernel of a library", by_library, 0},
                           {"and its function in this context", by_library_function, 0}, {"the exported function", by_export_of_boxes, 0},
                           {"with other tensors than in the last 63 calls", by_export_of_others, 0}};
  printf("one launch with two boxes:\n");
  if (find_launch(&boxes, module, library, "multiply_0_launch0_sm_90a")) time_ways(&boxes, of_boxes, sizeof of_boxes / sizeof *of_boxes);
}

// What was loaded and registered in a context goes with it.
static void reset(const float *host) {
  void *context;
  int is_reset = !cuDevicePrimaryCtxReset_v2(0) && !cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxSetCurrent(context);
  EXPECT("a context that was reset", is_reset);
  if (!is_reset) return;
  float *x = on_device(host, kCount * sizeof *x), *y = on_device(NULL, kCount * sizeof *y);
  int32_t index[2] = {1, 9999};
  int32_t *bad = (int32_t *)(void *)on_device(index, sizeof index);
  EXPECT("  runs calls", add_one(x, y, kCount, NULL) == TILE_OK && add_one_check(NULL) == TILE_OK && holds_successors(y));
  EXPECT("  tells faults", pick(x, bad, y, 1000, 2, NULL) == TILE_OK && pick_check(NULL) == TILE_BOUNDS);
}

static char *contents(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = calloc(1, 1 << 24);
  if (file && text) fread(text, 1, (1 << 24) - 1, file);
  if (file) fclose(file);
  return text;
}

int main(int argc, char **argv) {
  static float host[kCount];
  void *context, *stream, *other;
  int count = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!open_driver() || cuInit(0) || cuDeviceGetCount(&count) || !count) {
    fprintf(stderr, "there is no GPU\n");
    return 77;
  }
  for (int i = 0; i < kCount; i++) host[i] = (float)(i % 1000);
  EXPECT("without a context, and pointers of the host, the CPU runs the call", add_one(host, host + kCount / 2, kCount / 2, NULL) == TILE_OK);
  for (int i = 0; i < kCount; i++) host[i] = (float)(i % 1000);
  EXPECT("NAME_check without a context", add_one_check(NULL) == TILE_OK);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  race(host);
  EXPECT("NAME_load", add_one_load() == TILE_OK && pick_load() == TILE_OK && total_load() == TILE_OK);
  float *x = on_device(host, sizeof host), *y = on_device(NULL, sizeof host), *sum = on_device(NULL, 256);
  cuStreamCreate(&stream, 1);
  EXPECT("on a stream", add_one(x, y, kCount, stream) == TILE_OK && add_one_check(stream) == TILE_OK && holds_successors(y));
  EXPECT("nothing to do is no launch", add_one(x, y, 0, stream) == TILE_OK);
  EXPECT("a misaligned pointer", add_one((float *)((char *)x + 2), y, 100, stream) == TILE_ALIGNMENT);
  EXPECT("an overlap", add_one(x, x, 100, stream) == TILE_ALIAS);
  EXPECT("a negative extent", add_one(x, y, -1, stream) == TILE_SHAPE);
  EXPECT("a workspace that is too small", total(x, sum, kCount, y, 8, stream) == TILE_OUT_OF_MEMORY);
  EXPECT("a workspace at a wrong place", total(x, sum, kCount, (char *)y + 4, 4096, stream) == TILE_ALIGNMENT);
  EXPECT("a workspace of the caller's", total(x, sum, kCount, y, 4096, stream) == TILE_OK && total_check(stream) == TILE_OK);
  capture(stream, x, y, sum);
  copies(stream, NULL);
  copies(stream, "  and captured");
  faults(stream, x, y);
  cuCtxSetCurrent(NULL);
  EXPECT("without a current context, on a stream", add_one(x, y, kCount, stream) == TILE_OK && add_one_check(stream) == TILE_OK);
  cuCtxSetCurrent(context);
  cost(stream, x, y, contents(argc > 1 ? argv[1] : "launcher.sm_90a.ptx"));
  // A second context of the same device, in which nothing has been loaded, and one that is gone.
  for (int i = 0; i < 3; i++) {
    if (cuCtxCreate_v2(&other, 0, 0)) break;
    float *other_x = on_device(host, sizeof host), *other_y = on_device(NULL, sizeof host);
    int32_t index[2] = {1, 9999};
    int32_t *bad = (int32_t *)(void *)on_device(index, sizeof index);
    EXPECT("in another context", add_one(other_x, other_y, kCount, NULL) == TILE_OK && add_one_check(NULL) == TILE_OK && holds_successors(other_y));
    EXPECT("  with its fault", pick(other_x, bad, other_y, 1000, 2, NULL) == TILE_OK && pick_check(NULL) == TILE_BOUNDS);
    cuCtxDestroy_v2(other);
    cuCtxSetCurrent(context);
  }
  EXPECT("and in the first one again", add_one(x, y, kCount, stream) == TILE_OK && add_one_check(stream) == TILE_OK && holds_successors(y));
  reset(host);
  printf("%d failed\n", failures);
  return failures != 0;
}
