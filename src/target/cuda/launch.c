// A call on an NVIDIA GPU.
#include <dlfcn.h>

#include "support.h"

#include "driver.c"
#include "place.c"
#include "image.c"
#include "fault.c"
#include "boxes.c"
#include "calls.c"
#include "pack.c"
#include "deal.c"

// Blocks of a cluster, 1 where clusters do not cut the grid.
static int32_t tile_cu_cluster_blocks(const struct tile_launch *launch, const int64_t *plan) {
  int32_t blocks = 1;
  for (int32_t i = 0; launch->cluster && i < launch->rank; i++) {
    if (plan[launch->plan_extents[i]] % launch->cluster[i]) return 1;
    blocks *= launch->cluster[i];
  }
  return blocks;
}

// Where the last round is full by half or more, so few that they go through all blocks in as many rounds as `at_once` would, in whole clusters: those
// that are left out would only have shared caches and power with the others. Where it is nearly empty, most blocks are spared it.
static int64_t tile_cu_even_blocks(int64_t blocks, int64_t at_once, int64_t cluster) {
  int64_t rounds = (blocks + at_once - 1) / at_once, even = (blocks + rounds - 1) / rounds;
  if (2 * (rounds * at_once - blocks) > at_once) return at_once;
  return (even + cluster - 1) / cluster * cluster;
}

// One launch, kept as part of `call` where the next one may be made as it is.
static int32_t tile_cu_run_launch(const struct tile_kernel *kernel, const struct tile_instance *instance, const struct tile_launch *launch,
                                  int form, const struct tile_cu_place *place, int64_t *slots, const int64_t *plan, int64_t *fault, void *stream,
                                  struct tile_cu_call **call) {
  struct tile_cu_work work = {.launch = launch, .blocks = tile_grid_blocks(kernel, launch, plan), .cluster = tile_cu_cluster_blocks(launch, plan)};
  char memory[tile_cu_descriptor_bytes(launch)];
  uint64_t packed = 0;
  int is_refused = 0;
  int64_t at_once;
  int32_t status = TILE_OK;
  if (work.blocks == 0) return TILE_OK;
  if (launch->box_count) {
    struct tile_cu_tensor tensors[launch->box_count];
    work.descriptors = tile_cu_align_descriptors(memory);
    status = tile_cu_pack_tensors(kernel, instance, launch, form, place, slots, plan, stream, tensors, &packed);
    if (!status) status = tile_cu_describe(kernel, launch, tensors, work.descriptors, &is_refused);
  }
  if (!status) status = tile_cu_function(kernel, instance->image, launch, form, place, &work.function, &at_once);
  if (!status && at_once && at_once < work.blocks) {
    work.blocks = launch->is_dealt ? at_once : tile_cu_even_blocks(work.blocks, at_once, work.cluster);
    if (launch->is_dealt) status = tile_cu_new_counter(kernel, place, stream, &work.counter);
  }
  if (!status) {
    int code = tile_cu_launch(&work, slots, fault, stream);
    int is_elsewhere = (code == TILE_CU_WRONG_HANDLE || code == TILE_CU_WRONG_CONTEXT) && tile_cu_is_elsewhere(place, stream);
    if (code) status = is_elsewhere ? TILE_CU_ELSEWHERE : tile_cu_refuse_launch(kernel, &work, code);
  }
  if (is_refused || packed || work.counter) *call = NULL;  // the driver may think otherwise the next time; copies and counters are made anew
  if (*call && !status) tile_cu_add_work(*call, &work);
  int code = packed ? tile_cu.free(packed, stream) : 0;
  if (work.counter && !code) code = tile_cu.free(work.counter, stream);
  return status || !code ? status : tile_cu_fail(kernel, "giving memory of copies and counters back", code);
}

static int32_t tile_cu_run_launches(const struct tile_kernel *kernel, const struct tile_instance *instance, int form,
                                    const struct tile_cu_place *place, int64_t *slots, const int64_t *plan, void *stream) {
  int64_t *fault;
  int32_t status = tile_cu_fault_word(kernel, place, &fault);
  struct tile_cu_call *call = tile_cu_begin_call(kernel);
  for (int32_t i = 0; i < instance->launch_count && !status; i++)
    status = tile_cu_run_launch(kernel, instance, &instance->launches[i], form, place, slots, plan, fault, stream, &call);
  if (call && !status) tile_cu_keep_call(call, kernel, place->id, slots, fault);
  return status;
}

static int32_t tile_cu_run_with_workspace(const struct tile_kernel *kernel, const struct tile_instance *instance, int form,
                                          const struct tile_cu_place *place, int64_t *slots, const int64_t *plan, void *stream) {
  int64_t needed = tile_workspace_bytes(instance, plan);
  uint64_t memory = 0;
  if (needed < 0) return tile_fail(TILE_SHAPE, "%s: the size of a workspace is negative or leaves 64 bits", kernel->info.name);
  if (slots[kernel->workspace_slot]) {
    int32_t status = tile_check_given_workspace(kernel, slots, plan, needed);
    if (status) return status;
    tile_place_workspaces(instance, slots, plan, slots[kernel->workspace_slot]);
    return tile_cu_run_launches(kernel, instance, form, place, slots, plan, stream);
  }
  int code = needed ? tile_cu.allocate(&memory, (size_t)needed, stream) : 0;
  if ((code == TILE_CU_WRONG_HANDLE || code == TILE_CU_WRONG_CONTEXT) && tile_cu_is_elsewhere(place, stream)) return TILE_CU_ELSEWHERE;
  if (code == TILE_CU_OUT_OF_MEMORY) {
    return tile_fail(TILE_OUT_OF_MEMORY, "%s: no memory for %lld bytes of workspace on device %d", kernel->info.name,
                     (long long)needed, (int)place->device);
  }
  if (code) return tile_cu_fail(kernel, "memory for the workspace", code);
  tile_place_workspaces(instance, slots, plan, (int64_t)memory);
  int32_t status = tile_cu_run_launches(kernel, instance, form, place, slots, plan, stream);
  code = memory ? tile_cu.free(memory, stream) : 0;
  return status || !code ? status : tile_cu_fail(kernel, "giving the workspace back", code);
}

static int32_t tile_cu_run_in(const struct tile_kernel *kernel, const struct tile_cu_place *place, int64_t *slots, const int64_t *plan,
                              void *stream) {
  int form = TILE_TEXT;
  const struct tile_instance *instance = NULL;
  int32_t status = tile_cu_choose(kernel, plan, place->device, &instance, &form);
  if (status) return status;
  for (int32_t i = 0; i < instance->launch_count; i++) {
    int64_t blocks = tile_grid_blocks(kernel, &instance->launches[i], plan);
    if (blocks < 0) return (int32_t)-blocks;
  }
  if (instance->workspace_count) return tile_cu_run_with_workspace(kernel, instance, form, place, slots, plan, stream);
  return tile_cu_run_launches(kernel, instance, form, place, slots, plan, stream);
}

static int32_t tile_cu_run(const struct tile_kernel *kernel, int64_t *slots, const int64_t *plan, void *stream) {
  struct tile_cu_place place;
  if (!tile_cu_ready()) return tile_cu_no_driver(kernel);
  int32_t status = tile_cu_earlier_fault(kernel);
  if (!status) status = tile_cu_enter(kernel, slots, stream, 0, &place);
  if (status) return status;
  status = tile_cu_run_in(kernel, &place, slots, plan, stream);
  // The driver is asked for the stream's context only when the launch was refused: it is a tenth of what a launch takes.
  if (status == TILE_CU_ELSEWHERE) {
    status = tile_cu_enter(kernel, slots, stream, 1, &place);
    if (!status) status = tile_cu_run_in(kernel, &place, slots, plan, stream);
    else return status;
  }
  tile_cu_leave(&place);
  return status;
}

// A stream says it; without one, where the tensors lie.
static int32_t tile_cu_takes(const struct tile_kernel *kernel, const int64_t *slots, void *stream) {
  if (stream) return 1;
  if (!tile_cu_ready()) return 0;
  if (!tile_has_cpu_code(kernel)) return 1;
  for (int32_t i = 0; i < kernel->param_count; i++) {
    const struct tile_param *param = &kernel->params[i];
    if (param->kind != TILE_TENSOR || !slots[param->slot]) continue;
    struct tile_cu_memory memory = tile_cu_memory_at((uint64_t)slots[param->slot]);
    if (memory.kind == TILE_CU_MEMORY_DEVICE || (memory.kind && memory.is_managed)) return 1;
  }
  return 0;
}

// The instances of the first image that the device runs; calls take others only where no guard of these holds.
static int32_t tile_cu_load_in(const struct tile_kernel *kernel, const struct tile_cu_place *place) {
  int form = TILE_TEXT;
  const struct tile_instance *first = NULL;
  int64_t *fault, at_once;
  void *function;
  int32_t status = tile_cu_choose(kernel, NULL, place->device, &first, &form);
  if (!status) status = tile_cu_fault_word(kernel, place, &fault);
  for (int32_t i = 0; i < kernel->instance_count && !status; i++) {
    const struct tile_instance *instance = &kernel->instances[i];
    for (int32_t k = 0; instance->image == first->image && k < instance->launch_count && !status; k++) {
      status = tile_cu_function(kernel, instance->image, &instance->launches[k], form, place, &function, &at_once);
    }
  }
  return status;
}

// Into the current context. Where there is code of the CPU too, a machine without a device has nothing to load.
static int32_t tile_cu_load(const struct tile_kernel *kernel) {
  struct tile_cu_place place;
  void *current = NULL;
  int has_other = tile_has_cpu_code(kernel);
  if (!tile_cu_ready()) return has_other ? TILE_OK : tile_cu_no_driver(kernel);
  if (has_other && (tile_cu.current_context(&current) || !current)) return TILE_OK;
  int32_t status = tile_cu_enter(kernel, NULL, NULL, 0, &place);
  if (status) return status;
  status = tile_cu_load_in(kernel, &place);
  tile_cu_leave(&place);
  return status;
}

// Waits for the stream, unless it is captured: then nothing runs on it yet.
static int32_t tile_cu_check(const struct tile_kernel *kernel, void *stream) {
  struct tile_cu_place place;
  void *current = NULL;
  int capture = 0;
  if (!tile_cu_ready()) return tile_has_cpu_code(kernel) && !stream ? TILE_OK : tile_cu_no_driver(kernel);
  if (!stream && (tile_cu.current_context(&current) || !current)) return tile_cu_earlier_fault(kernel);
  int32_t status = tile_cu_enter(kernel, NULL, stream, 1, &place);
  if (status) return status;
  int is_asked = tile_cu.stream_capture(stream, &capture);
  int code = !is_asked && capture != TILE_CU_CAPTURING ? tile_cu.stream_wait(stream) : 0;
  tile_cu_leave(&place);
  if (is_asked) return tile_cu_fail(kernel, "whether this stream is captured", is_asked);
  if (code) return tile_fail(TILE_LAUNCH_FAILED, "%s: what ran on this stream failed: %s", kernel->info.name, tile_cu_text(code));
  return tile_cu_earlier_fault(kernel);
}

TILE_ENTRY const struct tile_device tile_device_cuda = {"cuda", tile_cu_takes, tile_cu_again, tile_cu_run, tile_cu_load, tile_cu_check};
