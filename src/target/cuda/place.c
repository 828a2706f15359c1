// Where a call runs: in the current context, else the stream's, else that of the first pointer.

struct tile_cu_place {
  int32_t is_pushed;
  int32_t retained;  // a device whose primary context the call holds, or -1
  int32_t device;
  void *context;
  unsigned long long id;  // of the context: a new one may lie where another one was
};

struct tile_cu_memory {
  void *context;  // NULL: of none, or of memory that belongs to a device
  int32_t kind;   // 0: the driver does not know it
  int32_t is_managed;
  int32_t device;
};

static struct tile_cu_memory tile_cu_memory_at(uint64_t pointer) {
  struct tile_cu_memory memory = {NULL, 0, 0, -1};
  int attributes[] = {TILE_CU_POINTER_CONTEXT, TILE_CU_POINTER_MEMORY, TILE_CU_POINTER_MANAGED, TILE_CU_POINTER_ORDINAL};
  void *values[] = {&memory.context, &memory.kind, &memory.is_managed, &memory.device};
  // Unlike the function for one attribute, this is no error for memory of the host.
  if (tile_cu.pointer_attributes(4, attributes, values, pointer)) memory.kind = 0;
  return memory;
}

static void *tile_cu_context_of_tensors(const struct tile_kernel *kernel, const int64_t *slots, int32_t *retained) {
  for (int32_t i = 0; slots && i < kernel->param_count; i++) {
    const struct tile_param *param = &kernel->params[i];
    if (param->kind != TILE_TENSOR || !slots[param->slot]) continue;
    struct tile_cu_memory memory = tile_cu_memory_at((uint64_t)slots[param->slot]);
    if (memory.kind == 0) continue;
    if (memory.context) return memory.context;
    void *context = NULL;
    if (memory.device < 0 || tile_cu.primary_context(&context, memory.device)) continue;
    *retained = memory.device;
    return context;
  }
  return NULL;
}

static void tile_cu_leave(const struct tile_cu_place *place) {
  void *popped;
  if (place->is_pushed) tile_cu.pop_context(&popped);
  if (place->retained >= 0) tile_cu.release_primary(place->retained);
}

// The current context's id and device; the device is asked for once for as long as a thread stays in a context.
static int tile_cu_identify(struct tile_cu_place *place) {
  static _Thread_local struct {
    unsigned long long id;
    int32_t is_known, device;
  } last;
  int code = tile_cu.context_id(place->context, &place->id);
  if (!code && !(last.is_known && last.id == place->id)) {
    last.is_known = 0;
    code = tile_cu.context_device(&last.device);
    last.is_known = !code, last.id = place->id;
  }
  place->device = last.device;
  return code;
}

// `by_stream`: the stream's comes before the current one.
static int32_t tile_cu_enter(const struct tile_kernel *kernel, const int64_t *slots, void *stream, int32_t by_stream,
                             struct tile_cu_place *place) {
  void *current = NULL, *wanted = NULL;
  int32_t retained = -1;
  int code = tile_cu.current_context(&current);
  if (code) return tile_cu_fail(kernel, "the current context", code);
  if ((by_stream || !current) && (uintptr_t)stream > TILE_CU_FEW_STREAMS) {
    code = tile_cu.stream_context(stream, &wanted);
    if (code) return tile_cu_fail(kernel, "the context of the stream", code);
  }
  if (!wanted) wanted = current;
  if (!wanted) wanted = tile_cu_context_of_tensors(kernel, slots, &retained);
  if (!wanted) {
    return tile_fail(TILE_NO_CONTEXT, "%s: no context is current, none is the stream's, and no argument is memory of a device",
                     kernel->info.name);
  }
  *place = (struct tile_cu_place){.retained = retained, .context = wanted};
  if (wanted != current) code = tile_cu.push_context(wanted);
  place->is_pushed = wanted != current && !code;
  if (!code) code = tile_cu_identify(place);
  if (!code) return TILE_OK;
  tile_cu_leave(place);
  return tile_cu_fail(kernel, "the context of the call", code);
}

// A stream of another context than the current one cannot be launched on from there.
static int32_t tile_cu_is_elsewhere(const struct tile_cu_place *place, void *stream) {
  void *context = NULL;
  if ((uintptr_t)stream <= TILE_CU_FEW_STREAMS || place->is_pushed) return 0;
  return !tile_cu.stream_context(stream, &context) && context && context != place->context;
}
