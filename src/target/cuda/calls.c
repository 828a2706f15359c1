// Calls repeat: a thread calls a kernel with the tensors and extents of a call before, in the same context. Then nothing is checked,
// chosen or described again: all of it follows from the slots.

enum { TILE_CU_CALLS = 8, TILE_CU_CALL_SLOTS = 32, TILE_CU_CALL_WORKS = 4, TILE_CU_CALL_BYTES = 640 };

// A launch with all that the driver is told of it, but for the stream.
struct tile_cu_work {
  const struct tile_launch *launch;
  void *function, *descriptors;
  uint64_t counter;  // of the blocks that were dealt out; 0: all run at once
  int64_t blocks;
  int32_t cluster;  // blocks
};

struct tile_cu_call {
  _Alignas(TILE_CU_DESCRIPTOR_ALIGNMENT) char descriptors[TILE_CU_CALL_BYTES];
  unsigned long long context;  // its id
  int64_t *fault;
  size_t used;  // bytes of `descriptors`
  int32_t work_count, is_whole;
  const struct tile_kernel **kept_as;
  struct tile_cu_work works[TILE_CU_CALL_WORKS];
  int64_t slots[TILE_CU_CALL_SLOTS];
};

struct tile_cu_calls {
  struct tile_cu_call calls[TILE_CU_CALLS];
  const struct tile_kernel *kernels[TILE_CU_CALLS];  // NULL: nothing is kept
  unsigned next;
};

// A thread has them from its first call on a device to its end, whose destructor is of the C library: this code may be gone by then.
static struct {
  pthread_once_t once;
  int32_t is_there;
  pthread_key_t key;
} tile_cu_kept = {.once = PTHREAD_ONCE_INIT};

static void tile_cu_make_key(void) { tile_cu_kept.is_there = pthread_key_create(&tile_cu_kept.key, free) == 0; }

__attribute__((destructor)) static void tile_cu_drop_key(void) {
  if (!tile_cu_kept.is_there) return;
  tile_cu_kept.is_there = 0;
  free(pthread_getspecific(tile_cu_kept.key));
  pthread_key_delete(tile_cu_kept.key);
}

// NULL where there is no memory, or no key left.
static __attribute__((noinline)) struct tile_cu_calls *tile_cu_new_calls(void) {
  struct tile_cu_calls *calls = tile_cu_kept.is_there ? aligned_alloc(TILE_CU_DESCRIPTOR_ALIGNMENT, sizeof *calls) : NULL;
  if (!calls) return NULL;
  memset(calls->kernels, 0, sizeof calls->kernels), calls->next = 0;
  if (!pthread_setspecific(tile_cu_kept.key, calls)) return calls;
  free(calls);
  return NULL;
}

static struct tile_cu_calls *tile_cu_calls_of_thread(void) {
  pthread_once(&tile_cu_kept.once, tile_cu_make_key);
  struct tile_cu_calls *calls = tile_cu_kept.is_there ? pthread_getspecific(tile_cu_kept.key) : NULL;
  return calls ? calls : tile_cu_new_calls();
}

static int tile_cu_launch(const struct tile_cu_work *work, int64_t *slots, int64_t *fault, void *stream) {
  const struct tile_launch *launch = work->launch;
  struct tile_cu_attribute attributes[2];
  uint64_t counter = work->counter;
  void *parameters[] = {slots, &fault, work->descriptors, &counter};
  unsigned count = 0;
  if (!launch->box_count) parameters[2] = &counter;
  if (launch->waits && tile_cu.overlaps) attributes[count++] = (struct tile_cu_attribute){.what = TILE_CU_LAUNCH_OVERLAPS, .value = {1}};
  if (work->cluster > 1) attributes[count++] = (struct tile_cu_attribute){.what = TILE_CU_LAUNCH_CLUSTER, .value = {work->cluster, 1, 1}};
  struct tile_cu_launch config = {(unsigned)work->blocks, 1, 1, (unsigned)launch->threads, 1, 1, (unsigned)launch->scratch_bytes, stream, attributes, count};
  int code = tile_cu.launch(&config, work->function, parameters, NULL);
  if (code != TILE_CU_WRONG_CLUSTER || work->cluster == 1) return code;
  config.attribute_count--;  // a device may have no room for so many blocks at once: the kernel asks whether it has
  return tile_cu.launch(&config, work->function, parameters, NULL);
}

static int32_t tile_cu_refuse_launch(const struct tile_kernel *kernel, const struct tile_cu_work *work, int code) {
  const struct tile_launch *launch = work->launch;
  if (code == TILE_CU_OUT_OF_MEMORY) return tile_cu_fail(kernel, launch->place, code);
  return tile_fail(TILE_LAUNCH_FAILED, "%s: %s: %lld blocks of %d threads and %lld bytes are not launched: %s", kernel->info.name,
                   launch->place, (long long)work->blocks, (int)launch->threads, (long long)launch->scratch_bytes, tile_cu_text(code));
}

static size_t tile_cu_slot_bytes(const struct tile_kernel *kernel) { return (size_t)kernel->slot_count * sizeof(int64_t); }

// Room for a call that is about to run, in the place of the oldest; NULL where it is not kept: where a workspace lies changes.
static struct tile_cu_call *tile_cu_begin_call(const struct tile_kernel *kernel) {
  if (kernel->slot_count > TILE_CU_CALL_SLOTS || kernel->workspace_slot >= 0) return NULL;
  struct tile_cu_calls *kept = tile_cu_calls_of_thread();
  if (!kept) return NULL;
  unsigned at = kept->next++ % TILE_CU_CALLS;
  kept->kernels[at] = NULL;
  kept->calls[at].used = 0, kept->calls[at].work_count = 0, kept->calls[at].is_whole = 1, kept->calls[at].kept_as = &kept->kernels[at];
  return &kept->calls[at];
}

static void tile_cu_add_work(struct tile_cu_call *call, const struct tile_cu_work *work) {
  const size_t mask = TILE_CU_DESCRIPTOR_ALIGNMENT - 1, boxes = (size_t)work->launch->box_count;
  const size_t bytes = boxes * (TILE_CU_DESCRIPTOR_BYTES + 1), free = sizeof call->descriptors - call->used;
  if (call->work_count == TILE_CU_CALL_WORKS || bytes > free) call->is_whole = 0;
  if (!call->is_whole) return;
  struct tile_cu_work *kept = &call->works[call->work_count++];
  *kept = *work;
  if (!boxes) return;
  kept->descriptors = memcpy(call->descriptors + call->used, work->descriptors, bytes);
  call->used += bytes + mask < free ? (bytes + mask) & ~mask : free;
}

static void tile_cu_keep_call(struct tile_cu_call *call, const struct tile_kernel *kernel, unsigned long long context, const int64_t *slots,
                              int64_t *fault) {
  if (!call->is_whole) return;
  call->context = context, call->fault = fault;
  memcpy(call->slots, slots, tile_cu_slot_bytes(kernel));
  *call->kept_as = kernel;
}

static struct tile_cu_call *tile_cu_find_call(const struct tile_kernel *kernel, const int64_t *slots) {
  struct tile_cu_calls *kept = tile_cu_calls_of_thread();
  for (int i = 0; kept && i < TILE_CU_CALLS; i++) {
    struct tile_cu_call *call = &kept->calls[i];
    if (kept->kernels[i] == kernel && !memcmp(call->slots, slots, tile_cu_slot_bytes(kernel))) return call;
  }
  return NULL;
}

// Whether the call was such a one. What goes wrong before anything is launched is left for the usual way to say.
static int32_t tile_cu_again(const struct tile_kernel *kernel, const int64_t *slots, void *stream, int32_t *status) {
  struct tile_cu_call *call = tile_cu_find_call(kernel, slots);
  void *current = NULL;
  unsigned long long id;
  if (!call || (call->fault && __atomic_load_n(call->fault, __ATOMIC_RELAXED))) return 0;
  if (tile_cu.current_context(&current) || !current || tile_cu.context_id(current, &id) || id != call->context) return 0;
  *status = TILE_OK;
  for (int32_t i = 0; i < call->work_count && !*status; i++) {
    int code = tile_cu_launch(&call->works[i], call->slots, call->fault, stream);
    if (code && i == 0) return 0;
    if (code) *status = tile_cu_refuse_launch(kernel, &call->works[i], code);
  }
  return 1;
}
