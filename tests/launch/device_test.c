// The launcher for GPUs, with a driver that only pretends: device_test fake|old|none says which one is found.
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "device.h"
#include "fake_driver.h"
#include "only.h"

enum { kCount = 5000, kThreads = 16, kNotFound = 500, kNoBinary = 209, kOutOfMemory = 2, kNoDevice = 100,
       kDeviceMemory = 2, kIllegalAddress = 700, kWrongCluster = 912 };

static fake_state *fake;
static int (*set_current)(void *);
static float host[kCount];
static _Alignas(256) float device_x[kCount], device_y[kCount];  // what the driver is told is a device's

static int says(int32_t status, int32_t expected, const char *words) {
  if (status == expected && (!status || strstr(tile1_last_message(), words))) return 1;
  fprintf(stderr, "  status %d: %s\n", (int)status, tile1_last_message());
  return 0;
}

static void add_memory(const void *low, size_t bytes, int device, int is_of_pool, int is_managed) {
  uint64_t at = (uint64_t)(uintptr_t)low;
  fake->memory[fake->memories++] = (fake_memory){at, at + bytes, is_of_pool ? NULL : &fake->primary[device], device, kDeviceMemory, is_managed};
}

// ---- Which processor a call is for.

static void choice(fake_stream *stream) {
  int before = fake->launches;
  EXPECT(says(add_one(host, host + 2500, 2500, NULL), TILE_OK, "") && fake->launches == before);
  EXPECT(says(only_add_one(host, host + 2500, 2500, NULL), TILE_NO_CONTEXT, "no context is current"));
  EXPECT(says(add_one(device_x, device_y, 2500, NULL), TILE_OK, "") && fake->launches == before + 1);
  EXPECT(fake->launch_context == &fake->primary[0] && fake->blocks == 3 && fake->threads == 128 && fake->stream == NULL);
  EXPECT(fake->slots[0] == (int64_t)(intptr_t)device_x && fake->slots[2] == 2500 && fake->overlaps == 1);
  EXPECT(says(add_one(device_x, device_y, 2500, (void *)stream), TILE_OK, "") && fake->stream == stream);
  // Memory of a pool has a device, no context; what is shared is the device's; the first tensor may be anywhere.
  int memories = fake->memories;
  add_memory(device_x, sizeof device_x, 0, 1, 0), fake->memory[0] = fake->memory[--fake->memories];
  EXPECT(says(add_one(device_x, device_y, 10, NULL), TILE_OK, "") && fake->launch_context == &fake->primary[0]);
  // The primary context is held as long as the call.
  EXPECT(fake->memories == memories && fake->retained == 1 && fake->released == 1);
  before = fake->launches;
  EXPECT(says(add_one(device_x, device_y, 0, NULL), TILE_OK, "") && fake->launches == before);
  set_current(&fake->primary[0]);
  EXPECT(says(only_add_one(device_x, device_y, 10, NULL), TILE_OK, "") && fake->launches == before + 1);
  set_current(NULL);
}

// An absent tensor's shape is no mistake, and nothing is said of it.
static void absent(void) {
  maybe_args args = {.struct_size = sizeof args, .X = {host, {40}}, .W = {NULL, {7, 3}}, .Y = {host + 2500, {40}}};
  host[0] = 1, host[2500] = 0;
  EXPECT(says(maybe_call(&args), TILE_OK, "") && host[2500] == 4 && !strstr(tile1_last_message(), "W is 7"));
  args.X.data = NULL;
  EXPECT(says(maybe_call(&args), TILE_NULL_ARGUMENT, "X is NULL"));
}

// ---- Devices of other generations.

static void generations(void) {
  fake_stream second = {&fake->primary[1], 0}, third = {&fake->primary[2], 0}, first = {&fake->primary[0], 0};
  int loads = fake->loads;
  EXPECT(says(add_one(device_x, device_y, 10, (void *)&second), TILE_OK, "") && fake->loaded_text && fake->loads == loads + 1);
  // Code of the older generation does not wait by itself for what was launched before it.
  EXPECT(fake->launch_context == &fake->primary[1] && fake->overlaps == 0);
  EXPECT(says(add_one(device_x, device_y, 10, (void *)&third), TILE_NO_DEVICE_CODE, "device 2 is of generation 7.0"));
  EXPECT(says(only_add_one(device_x, device_y, 10, (void *)&second), TILE_NO_DEVICE_CODE, "sm_90a; device 1 is of generation 8.0"));
  // A stream of another context than the current one.
  set_current(&fake->primary[1]);
  EXPECT(says(add_one(device_x, device_y, 10, (void *)&first), TILE_OK, "") && fake->launch_context == &fake->primary[0]);
  EXPECT(says(total(device_x, device_y, 10, NULL, 0, (void *)&first), TILE_OK, "") && fake->launch_context == &fake->primary[0]);
  set_current(NULL);
}

// ---- 16 threads, all for the first time: `pick` has not been called yet.

static pthread_barrier_t start;
static int32_t indices[256];

static void *first_call(void *status) {
  pthread_barrier_wait(&start);
  *(int32_t *)status = pick(device_x, indices, device_y, kCount, 256, NULL);
  return NULL;
}

static void race(void) {
  pthread_t threads[kThreads];
  int32_t status[kThreads];
  int loads = fake->loads, launches = fake->launches, registered = fake->registered;
  pthread_barrier_init(&start, NULL, kThreads);
  for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, first_call, &status[i]);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; i++) EXPECT(status[i] == TILE_OK);
  EXPECT(fake->launches == launches + kThreads && fake->loads == loads && fake->registered == registered + 1);
}

// ---- What can go wrong.

static void refusals(fake_stream *stream) {
  void *s = stream;
  EXPECT(says(add_one((float *)((char *)device_x + 2), device_y, 10, s), TILE_ALIGNMENT, "must be a multiple of 4"));
  EXPECT(says(add_one(device_x, device_x + 5, 10, s), TILE_ALIAS, "overlap"));
  EXPECT(says(add_one(NULL, device_y, 10, s), TILE_NULL_ARGUMENT, "X is NULL"));
  EXPECT(says(add_one(device_x, device_y, -1, s), TILE_SHAPE, "an extent must be"));
  EXPECT(says(grid(device_y, 100, 1 << 30, s), TILE_GRID, "more than"));
  fake->launch_code = kIllegalAddress;
  EXPECT(says(add_one(device_x, device_y, 10, s), TILE_LAUNCH_FAILED, "1 blocks of 128 threads and 0 bytes are not launched"));
  fake->launch_code = kOutOfMemory;
  EXPECT(says(add_one(device_x, device_y, 10, s), TILE_OUT_OF_MEMORY, "out of memory"));
  fake->launch_code = 0;
  fake->wait_code = kIllegalAddress;
  EXPECT(says(add_one_check(s), TILE_LAUNCH_FAILED, "what ran on this stream failed"));
  fake->wait_code = 0;
}

static void workspaces(fake_stream *stream) {
  void *s = stream;
  size_t bytes = 0;
  EXPECT(says(total_workspace_size(100000, &bytes), TILE_OK, "") && bytes == 256);
  fake->allocate_code = kOutOfMemory;
  EXPECT(says(total(device_x, device_y, kCount, NULL, 0, s), TILE_OUT_OF_MEMORY, "no memory for 256 bytes of workspace on device 0"));
  fake->allocate_code = kNotFound;
  EXPECT(says(total(device_x, device_y, kCount, NULL, 0, s), TILE_DRIVER, "memory for the workspace"));
  fake->allocate_code = 0;
  int launches = fake->launches, allocations = fake->allocations;
  EXPECT(says(total(device_x, device_y, kCount, NULL, 0, s), TILE_OK, "") && fake->launches == launches + 2);
  EXPECT(fake->allocations == allocations + 1 && fake->frees == fake->allocations && fake->dynamic_shared >= 16384 * 4);
  EXPECT(says(total(device_x, device_y + 1000, 1000, device_y, 8, s), TILE_OUT_OF_MEMORY, "the workspace has 8 bytes"));
  EXPECT(says(total(device_x, device_y + 1000, 1000, device_y + 1, 512, s), TILE_ALIGNMENT, "the workspace is at"));
  EXPECT(says(total(device_x, device_y + 1000, 1000, device_y, 512, s), TILE_OK, "") && fake->allocations == allocations + 1);
  EXPECT(says(total(device_x, device_y, 1000, device_y, 512, s), TILE_ALIAS, "overlap"));
}

static void faults(fake_stream *stream) {
  void *s = stream;
  const int64_t site_and_index = (int64_t)1 << 40 | 5000;
  int waits = fake->waits;
  fake->fault_word = site_and_index;
  EXPECT(says(pick(device_x, indices, device_y, kCount, 256, s), TILE_OK, ""));
  EXPECT(says(pick_check(s), TILE_BOUNDS, "index 5000 is outside") && fake->waits == waits + 1);
  EXPECT(says(pick_check(s), TILE_OK, ""));
  fake->fault_word = site_and_index;
  EXPECT(says(pick(device_x, indices, device_y, kCount, 256, s), TILE_OK, ""));
  EXPECT(says(pick(device_x, indices, device_y, kCount, 256, s), TILE_BOUNDS, "index 5000 is outside"));
  EXPECT(says(pick(device_x, indices, device_y, kCount, 256, s), TILE_OK, ""));
  // A context that is gone takes what it had registered with it.
  fake->primary[0].id = 900, fake->memories = 3;
  int registered = fake->registered;
  EXPECT(says(pick(device_x, indices, device_y, kCount, 256, s), TILE_OK, "") && fake->registered == registered + 1);
  fake->primary[0].id = 901, fake->memories = 3, fake->register_code = kNotFound;
  EXPECT(says(pick(device_x, indices, device_y, kCount, 256, s), TILE_DRIVER, "a page that devices write"));
  fake->register_code = 0, fake->map_offset = 4096;
  EXPECT(says(pick(device_x, indices, device_y, kCount, 256, s), TILE_DRIVER, "a page that devices write"));
  fake->map_offset = 0;
  // Nothing runs on a stream that is captured.
  stream->is_capturing = 1, waits = fake->waits;
  EXPECT(says(pick_check(s), TILE_OK, "") && fake->waits == waits);
  stream->is_capturing = 0, fake->capture_code = kNotFound;
  EXPECT(says(pick_check(s), TILE_DRIVER, "whether this stream is captured"));
  fake->capture_code = 0;
}

// Nothing is loaded before.
static void loading(fake_stream *stream) {
  void *s = stream;
  EXPECT(says(only_add_one_load(), TILE_NO_CONTEXT, "no context is current"));
  EXPECT(says(add_one_load(), TILE_OK, ""));
  fake->current_code = kNotFound;
  EXPECT(says(only_total_load(), TILE_DRIVER, "the current context"));
  fake->current_code = 0;
  set_current(&fake->primary[0]);
  fake->device_code = kNotFound;
  EXPECT(says(only_total_load(), TILE_DRIVER, "the device's generation"));
  EXPECT(says(only_total(device_x, device_y, 10, NULL, 0, s), TILE_DRIVER, "the device's generation"));
  fake->device_code = 0, fake->load_code = kOutOfMemory;
  EXPECT(says(only_total_load(), TILE_OUT_OF_MEMORY, "loading its code"));
  fake->load_code = 0, fake->kernel_code = kNotFound;
  EXPECT(says(only_total_load(), TILE_DRIVER, "loading its code"));
  fake->kernel_code = 0;
  EXPECT(says(only_total_load(), TILE_OK, "") && fake->loads == 1 && !fake->loaded_text);
  EXPECT(says(only_total(device_x, device_y, 10, NULL, 0, s), TILE_OK, "") && fake->loads == 1);
  // Compiled code that the driver does not take gives way to its text, for all functions.
  fake->kernel_code = kNoBinary;
  EXPECT(says(only_add_one_load(), TILE_NO_DEVICE_CODE, "the code for sm_90a is not for device 0") && fake->loads == 2 && fake->loaded_text);
  fake->kernel_code = 0;
  EXPECT(says(only_add_one_load(), TILE_OK, "") && says(only_total(device_x, device_y, 10, NULL, 0, s), TILE_OK, "") && fake->loads == 2);
  set_current(NULL);
}

#include "device_boxes.c"

// ---- Calls that repeat one before.

static int repeats(int32_t (*call)(const float *, float *, int64_t, struct CUstream_st *), void *stream, fake_context *context, int launches) {
  for (int i = 0; i < 3; i++) {
    int before = fake->launches, tried = fake->tried;
    if (!says(call(device_x, device_y, 50, stream), TILE_OK, "")) return 0;
    if (fake->launches != before + launches || fake->launch_context != context || fake->slots[2] != 50) return 0;
    if (!stream && fake->tried != tried + launches) return 0;  // only a stream's context is not known before
  }
  return 1;
}

static void repeated_contexts(void) {
  fake_stream first = {&fake->primary[0], 0}, second = {&fake->primary[1], 0};
  for (int i = 0; i < 2; i++) {
    set_current(&fake->primary[0]);
    EXPECT(repeats(add_one, NULL, &fake->primary[0], 1) && repeats(add_one, &first, &fake->primary[0], 1));
    EXPECT(repeats(add_one, &second, &fake->primary[1], 1) && repeats(often, &first, &fake->primary[0], 5));
    set_current(&fake->primary[1]);
    EXPECT(repeats(add_one, NULL, &fake->primary[1], 1) && repeats(add_one, &first, &fake->primary[0], 1));
  }
  set_current(&fake->primary[0]);
  fake->primary[0].id = 902;  // another one, where the first one was
  EXPECT(repeats(add_one, NULL, &fake->primary[0], 1));
}

static int32_t do_twice(void) { return twice(device_x, device_y, device_y + 2048, 100, NULL); }

static void repeated_faults(void) {
  EXPECT(says(do_twice(), TILE_OK, "") && says(do_twice(), TILE_OK, ""));
  // What has been launched is not launched again.
  int before = fake->launches, tried = fake->tried;
  fake->launch_code = kIllegalAddress, fake->fails_from = before + 1;
  EXPECT(says(do_twice(), TILE_LAUNCH_FAILED, "1 blocks of 128 threads") && fake->launches == before + 1 && fake->tried == tried + 2);
  fake->fails_from = 0;
  EXPECT(says(do_twice(), TILE_LAUNCH_FAILED, "are not launched") && fake->launches == before + 1);
  fake->launch_code = kOutOfMemory;
  EXPECT(says(do_twice(), TILE_OUT_OF_MEMORY, "out of memory") && fake->launches == before + 1);
  fake->launch_code = 0;
  EXPECT(says(do_twice(), TILE_OK, "") && fake->launches == before + 3);
  for (int i = 0; i < 3; i++) {
    fake->fault_word = i == 1 ? (int64_t)1 << 40 | 5000 : 0;
    EXPECT(says(pick(device_x, indices, device_y, kCount, 200, NULL), i == 2 ? TILE_BOUNDS : TILE_OK, "index 5000 is outside"));
  }
  EXPECT(says(add_one(device_x, device_y, 50, NULL), TILE_OK, "") && says(add_one(device_x, device_x + 5, 50, NULL), TILE_ALIAS, "overlap"));
  set_current(NULL);
}

#include "device_grids.c"

static void with_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW), *symbol = library ? dlsym(library, "cuCtxSetCurrent") : NULL;
  fake = library ? dlsym(library, "fake_driver") : NULL;
  EXPECT(fake && symbol);
  if (!fake || !symbol) return;
  memcpy(&set_current, &symbol, sizeof symbol);
  fake_stream stream = {&fake->primary[0], 0};
  add_memory(device_x, sizeof device_x, 0, 0, 0);
  add_memory(device_y, sizeof device_y, 0, 0, 1);
  add_memory(indices, sizeof indices, 0, 0, 0);
  EXPECT(strcmp(add_one_info()->targets, "sm_90a sm_80 x86-64") == 0);
  loading(&stream);
  choice(&stream);
  absent();
  race();
  generations();
  refusals(&stream);
  workspaces(&stream);
  faults(&stream);
  boxes();
  packed_boxes();
  kept_boxes();
  repeated_contexts();
  repeated_faults();
  added_boxes();
  clusters();
  going_on();
  dealing_out();
  instances();
}

static void without_driver(const char *why) {
  struct CUstream_st *stream = (void *)host;
  EXPECT(says(add_one(host, host + 2500, 2500, NULL), TILE_OK, ""));
  EXPECT(says(add_one_load(), TILE_OK, "") && says(add_one_check(NULL), TILE_OK, ""));
  EXPECT(says(add_one(host, host + 2500, 2500, stream), TILE_NO_DRIVER, why));
  EXPECT(says(add_one_check(stream), TILE_NO_DRIVER, why));
  EXPECT(says(only_add_one(host, host + 2500, 2500, NULL), TILE_NO_DRIVER, why));
  EXPECT(says(only_add_one_load(), TILE_NO_DRIVER, why) && says(only_add_one_check(NULL), TILE_NO_DRIVER, why));
}

int main(int argc, char **argv) {
  const char *driver = argc > 1 ? argv[1] : "none";
  if (strcmp(driver, "fake") == 0) {
    with_driver();
  } else if (strcmp(driver, "old") == 0) {
    without_driver("older than CUDA 12.0");
  } else {
    if (dlopen("libcuda.so.1", RTLD_NOW)) return 77;
    without_driver("there is no driver");
  }
  return failures != 0;
}
