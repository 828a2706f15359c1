// A call of a kernel: check, choose who runs it; on the CPU choose the instance, get workspaces, run the launches, look for
// faults.

struct tile_run {
  const struct tile_launch *launch;
  const int64_t *slots;
  const int64_t *plan;
  int64_t *fault;
  _Atomic int32_t status;
};

// Called by a guard that fails; the first one of a call is kept.
TILE_ENTRY void tile_fault(int64_t *fault, int64_t site, int64_t index) {
  const int64_t most = TILE_FAULT_INDEX_MOST;
  int64_t none = 0, kept = index > most ? most : index < -most ? -most : index;
  uint64_t word = (uint64_t)(site + 1) << TILE_FAULT_INDEX_BITS;
  word |= (uint64_t)kept & (((uint64_t)1 << TILE_FAULT_INDEX_BITS) - 1);
  __atomic_compare_exchange_n(fault, &none, (int64_t)word, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

TILE_ENTRY int32_t tile_fault_status(const struct tile_kernel *kernel, const int64_t *slots, const int64_t *plan,
                                     int64_t fault) {
  const struct tile_site *site = &kernel->sites[(int64_t)((uint64_t)fault >> TILE_FAULT_INDEX_BITS) - 1];
  int64_t index = (int64_t)((uint64_t)fault << (64 - TILE_FAULT_INDEX_BITS)) >> (64 - TILE_FAULT_INDEX_BITS);
  int32_t status = (int32_t)site->status;
  const char *name = kernel->info.name;
  if (status == TILE_ASSERT) return tile_fail(status, "%s: %s: assertion failed: %s", name, site->place, site->text);
  if (site->extent.kind == TILE_ARITHMETIC) return tile_fail(status, "%s: %s: %s", name, site->place, site->text);
  const char *cut = index == TILE_FAULT_INDEX_MOST ? " or more" : index == -TILE_FAULT_INDEX_MOST ? " or less" : "";
  // Of an earlier call the numbers are gone.
  if (site->extent.kind == TILE_NONE || (site->extent.kind != TILE_CONSTANT && !slots)) {
    return tile_fail(status, "%s: %s: %s: index %lld%s is outside", name, site->place, site->text, (long long)index, cut);
  }
  return tile_fail(status, "%s: %s: %s: index %lld%s, the extent is %lld", name, site->place, site->text,
                   (long long)index, cut, (long long)tile_number(site->extent, slots, plan));
}

static void tile_run_blocks(void *context, int64_t begin, int64_t end) {
  struct tile_run *run = context;
  void *scratch = NULL;
  if (run->launch->scratch_bytes > 0) {
    scratch = tile_scratch(run->launch->scratch_bytes);
    if (!scratch) {
      atomic_store(&run->status, TILE_OUT_OF_MEMORY);
      return;
    }
  }
  run->launch->body(run->slots, run->plan, begin, end, scratch, run->fault);
}

static int32_t tile_check_abi(const struct tile_kernel *kernel) {
  if (kernel->info.abi == TILE_ABI) return TILE_OK;
  return tile_fail(TILE_ABI_MISMATCH, "%s: made for ABI %u, called with ABI %u", kernel->info.name, kernel->info.abi, (unsigned)TILE_ABI);
}

// Everything that can be said against a call from its slots alone; fills the plan.
TILE_ENTRY int32_t tile_check_call(const struct tile_kernel *kernel, const int64_t *slots, int64_t *plan) {
  int32_t status = tile_check_dims(kernel, slots);
  if (status) return status;
  kernel->plan(slots, plan);
  status = tile_check_requirements(kernel, slots, plan);
  return status ? status : tile_check_tensors(kernel, slots, plan);
}

// The first instance that this CPU can run and whose guard holds, or NULL after a message.
static const struct tile_instance *tile_choose(const struct tile_kernel *kernel, const int64_t *plan) {
  int32_t level = tile_cpu_level();
  for (int32_t i = 0; i < kernel->instance_count; i++) {
    const struct tile_instance *instance = &kernel->instances[i];
    if (!instance->image && instance->level <= level && (plan[TILE_PLAN_GUARDS] >> i & 1)) return instance;
  }
  tile_fail(TILE_NO_DEVICE_CODE, "%s: the object holds code for %s, which this CPU does not run", kernel->info.name,
            kernel->info.targets);
  return NULL;
}

// Bytes of all workspaces of an instance, each aligned; -1 where 64 bits do not hold them.
TILE_ENTRY int64_t tile_workspace_bytes(const struct tile_instance *instance, const int64_t *plan) {
  int64_t total = 0;
  for (int32_t i = 0; i < instance->workspace_count; i++) {
    int64_t bytes = plan[instance->workspaces[i].plan_bytes];
    if (bytes < 0 || __builtin_add_overflow(total, bytes, &total) ||
        __builtin_add_overflow(total, TILE_WORKSPACE_ALIGNMENT - 1, &total)) {
      return -1;
    }
    total &= ~(int64_t)(TILE_WORKSPACE_ALIGNMENT - 1);
  }
  return total;
}

// The workspace is written: none of the bytes that the call takes of it may be a tensor's.
static int32_t tile_check_workspace_apart(const struct tile_kernel *kernel, const int64_t *slots, const int64_t *plan,
                                          uint64_t given, uint64_t needed) {
  for (int32_t i = 0; i < kernel->param_count; i++) {
    const struct tile_param *param = &kernel->params[i];
    if (param->kind != TILE_TENSOR) continue;
    struct tile_span span = tile_check_tensor(kernel, param, slots, plan);
    if (span.status) return span.status;
    if (span.low == span.high || span.low >= given + needed || given >= span.high) continue;
    return tile_fail(TILE_ALIAS, "%s: the workspace at 0x%llx, of which this call takes %llu bytes, and argument %s overlap",
                     kernel->info.name, (unsigned long long)given, (unsigned long long)needed, param->name);
  }
  return TILE_OK;
}

TILE_ENTRY int32_t tile_check_given_workspace(const struct tile_kernel *kernel, const int64_t *slots, const int64_t *plan,
                                              int64_t needed) {
  uint64_t given = (uint64_t)slots[kernel->workspace_slot];
  uint64_t bytes = (uint64_t)slots[kernel->workspace_slot + 1];
  if (given % TILE_WORKSPACE_ALIGNMENT) {
    return tile_fail(TILE_ALIGNMENT, "%s: the workspace is at 0x%llx, its address must be a multiple of %d",
                     kernel->info.name, (unsigned long long)given, TILE_WORKSPACE_ALIGNMENT);
  }
  if (bytes < (uint64_t)needed) {
    return tile_fail(TILE_OUT_OF_MEMORY, "%s: the workspace has %llu bytes, this call needs %lld", kernel->info.name,
                     (unsigned long long)bytes, (long long)needed);
  }
  return tile_check_workspace_apart(kernel, slots, plan, given, (uint64_t)needed);
}

TILE_ENTRY void tile_place_workspaces(const struct tile_instance *instance, int64_t *slots, const int64_t *plan,
                                      int64_t address) {
  for (int32_t i = 0; i < instance->workspace_count; i++) {
    int64_t bytes = plan[instance->workspaces[i].plan_bytes];
    slots[instance->workspaces[i].slot] = address;
    address += (bytes + TILE_WORKSPACE_ALIGNMENT - 1) & ~(int64_t)(TILE_WORKSPACE_ALIGNMENT - 1);
  }
}

static int32_t tile_run_instance(const struct tile_kernel *kernel, const struct tile_instance *instance,
                                 const int64_t *slots, const int64_t *plan) {
  int64_t fault = 0;
  for (int32_t i = 0; i < instance->launch_count; i++) {
    struct tile_run run = {&instance->launches[i], slots, plan, &fault, TILE_OK};
    int64_t blocks = tile_grid_blocks(kernel, run.launch, plan);
    if (blocks == 1) {
      tile_run_blocks(&run, 0, 1);
    } else if (blocks > 1) {
      tile1_parallel_for(blocks, run.launch->grain, tile_run_blocks, &run);
    }
    if (atomic_load_explicit(&run.status, memory_order_relaxed)) {
      return tile_fail(TILE_OUT_OF_MEMORY, "%s: no memory for %lld bytes of scratch a thread", kernel->info.name,
                       (long long)run.launch->scratch_bytes);
    }
  }
  return fault ? tile_fault_status(kernel, slots, plan, fault) : TILE_OK;
}

static int32_t tile_run_with_workspace(const struct tile_kernel *kernel, const struct tile_instance *instance,
                                       int64_t *slots, const int64_t *plan) {
  int64_t needed = tile_workspace_bytes(instance, plan);
  if (needed < 0) return tile_fail(TILE_SHAPE, "%s: the size of a workspace is negative or leaves 64 bits", kernel->info.name);
  if (slots[kernel->workspace_slot]) {
    int32_t status = tile_check_given_workspace(kernel, slots, plan, needed);
    if (status) return status;
    tile_place_workspaces(instance, slots, plan, slots[kernel->workspace_slot]);
    return tile_run_instance(kernel, instance, slots, plan);
  }
  void *memory = needed ? aligned_alloc(TILE_WORKSPACE_ALIGNMENT, (size_t)needed) : NULL;
  if (needed && !memory) {
    return tile_fail(TILE_OUT_OF_MEMORY, "%s: no memory for %lld bytes of workspace", kernel->info.name,
                     (long long)needed);
  }
  tile_place_workspaces(instance, slots, plan, (int64_t)(intptr_t)memory);
  int32_t status = tile_run_instance(kernel, instance, slots, plan);
  free(memory);
  return status;
}

static int32_t tile_refuse_stream(const struct tile_kernel *kernel) {
  return tile_fail(TILE_NO_DEVICE_CODE, "%s: a stream is given, and the object holds code for %s only",
                   kernel->info.name, kernel->info.targets);
}

TILE_ENTRY int32_t tile_has_cpu_code(const struct tile_kernel *kernel) {
  for (int32_t i = 0; i < kernel->instance_count; i++) {
    if (!kernel->instances[i].image) return 1;
  }
  return 0;
}

// The kind of device of instance i where no earlier instance has it; NULL elsewhere.
static const struct tile_device *tile_new_device(const struct tile_kernel *kernel, int32_t i) {
  const struct tile_image *image = kernel->instances[i].image;
  for (int32_t j = 0; image && j < i; j++) {
    const struct tile_image *before = kernel->instances[j].image;
    if (before && before->device == image->device) return NULL;
  }
  return image ? image->device : NULL;
}

// Who runs this call: a device that takes it, else the CPU (NULL) where there is code for it, else some device, which will say why
// it cannot.
static const struct tile_device *tile_device_for(const struct tile_kernel *kernel, const int64_t *slots, void *stream) {
  const struct tile_device *last = NULL;
  for (int32_t i = 0; i < kernel->instance_count; i++) {
    const struct tile_device *device = tile_new_device(kernel, i);
    if (device && device->takes(kernel, slots, stream)) return device;
    if (device) last = device;
  }
  return last && (stream || !tile_has_cpu_code(kernel)) ? last : NULL;
}

static int32_t tile_launch_planned(const struct tile_kernel *kernel, int64_t *slots, int64_t *plan, void *stream) {
  int32_t status = tile_check_abi(kernel);
  if (status) return status;
  const struct tile_device *device = tile_device_for(kernel, slots, stream);
  if (device && device->again(kernel, slots, stream, &status)) return status;
  status = tile_check_call(kernel, slots, plan);
  if (status) return status;
  if (device) return device->run(kernel, slots, plan, stream);
  if (stream) return tile_refuse_stream(kernel);
  const struct tile_instance *instance = tile_choose(kernel, plan);
  if (!instance) return TILE_NO_DEVICE_CODE;
  for (int32_t i = 0; i < instance->launch_count; i++) {
    int64_t blocks = tile_grid_blocks(kernel, &instance->launches[i], plan);
    if (blocks < 0) return (int32_t)-blocks;
  }
  if (instance->workspace_count) return tile_run_with_workspace(kernel, instance, slots, plan);
  return tile_run_instance(kernel, instance, slots, plan);
}

static __attribute__((noinline)) int32_t tile_launch_large(const struct tile_kernel *kernel, int64_t *slots, void *stream) {
  int64_t plan[kernel->plan_count];
  return tile_launch_planned(kernel, slots, plan, stream);
}

// The exported function: a call with its arguments in slots.
TILE_ENTRY int32_t tile_call(const struct tile_kernel *kernel, int64_t *slots, void *stream) {
  int64_t plan[TILE_FEW];
  if (kernel->plan_count > TILE_FEW) return tile_launch_large(kernel, slots, stream);
  return tile_launch_planned(kernel, slots, plan, stream);
}

// NAME_workspace_size: enough for whichever instance a call with these dims takes.
TILE_ENTRY int32_t tile_workspace_size(const struct tile_kernel *kernel, const int64_t *slots, size_t *bytes) {
  int64_t plan[kernel->plan_count];
  int64_t most = 0;
  if (!bytes) return tile_fail(TILE_NULL_ARGUMENT, "%s: the place for the workspace size is NULL", kernel->info.name);
  int32_t status = tile_check_dims(kernel, slots);
  if (status) return status;
  kernel->plan(slots, plan);
  status = tile_check_requirements(kernel, slots, plan);
  if (status) return status;
  for (int32_t i = 0; i < kernel->instance_count; i++) {
    int64_t needed = tile_workspace_bytes(&kernel->instances[i], plan);
    if (needed < 0) return tile_fail(TILE_SHAPE, "%s: the size of a workspace is negative or leaves 64 bits", kernel->info.name);
    if (needed > most) most = needed;
  }
  *bytes = (size_t)most;
  return TILE_OK;
}

static int32_t tile_load_cpu(const struct tile_kernel *kernel) {
  const int32_t level = tile_cpu_level();
  for (int32_t i = 0; i < kernel->instance_count; i++) {
    if (kernel->instances[i].image || kernel->instances[i].level > level) continue;
    tile1_start();
    return TILE_OK;
  }
  return tile_fail(TILE_NO_DEVICE_CODE, "%s: the object holds code for %s, which this CPU does not run",
                   kernel->info.name, kernel->info.targets);
}

// NAME_load: what the first call would do besides its work.
TILE_ENTRY int32_t tile_load(const struct tile_kernel *kernel) {
  int32_t status = tile_has_cpu_code(kernel) ? tile_load_cpu(kernel) : TILE_OK;
  for (int32_t i = 0; i < kernel->instance_count && !status; i++) {
    const struct tile_device *device = tile_new_device(kernel, i);
    if (device) status = device->load(kernel);
  }
  return status;
}

// NAME_check: of a CPU a call has already said what there is to say.
TILE_ENTRY int32_t tile_check(const struct tile_kernel *kernel, void *stream) {
  int32_t status = TILE_OK, has_device = 0;
  for (int32_t i = 0; i < kernel->instance_count && !status; i++) {
    const struct tile_device *device = tile_new_device(kernel, i);
    if (device) has_device = 1, status = device->check(kernel, stream);
  }
  return stream && !has_device ? tile_refuse_stream(kernel) : status;
}
