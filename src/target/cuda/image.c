// Images are loaded once an object, for every context; functions are made ready once a device.

// 90 is the ninth generation's first; 0 after a message.
static int32_t tile_cu_generation(const struct tile_kernel *kernel, int32_t device) {
  int32_t known = device < TILE_CU_DEVICES ? atomic_load_explicit(&tile_cu.generation[device], memory_order_relaxed) : 0;
  if (known) return known;
  int major = 0, minor = 0;
  int code = tile_cu.device_attribute(&major, TILE_CU_MAJOR, device);
  if (!code) code = tile_cu.device_attribute(&minor, TILE_CU_MINOR, device);
  if (code) {
    tile_cu_fail(kernel, "the device's generation", code);
    return 0;
  }
  if (device < TILE_CU_DEVICES) atomic_store_explicit(&tile_cu.generation[device], major * 10 + minor, memory_order_relaxed);
  return major * 10 + minor;
}

static char tile_cu_refused;  // in the place of a library: the driver does not take the compiled code

static int tile_cu_is_unusable(int code) {
  return code == TILE_CU_INVALID_IMAGE || code == TILE_CU_NO_BINARY || code == TILE_CU_INVALID_TEXT ||
         code == TILE_CU_NO_COMPILER || code == TILE_CU_TEXT_VERSION;
}

// TILE_CODE or TILE_TEXT, or -1 where the device runs neither.
static int tile_cu_form(const struct tile_image *image, int32_t generation) {
  int is_same = generation == image->generation, is_newer = generation > image->generation;
  if (image->is_exact && !is_same) return -1;
  int is_refused = atomic_load_explicit(&image->loaded->handle[TILE_CODE], memory_order_relaxed) == &tile_cu_refused;
  if (image->code && !is_refused && (is_same || (is_newer && generation / 10 == image->generation / 10))) return TILE_CODE;
  return is_same || is_newer ? TILE_TEXT : -1;
}

// Compiled code is the same on all devices that run it, and so is text: a library of each is enough.
static int tile_cu_load_function(const struct tile_image *image, const struct tile_launch *launch, int form, int32_t device) {
  void *library = atomic_load(&image->loaded->handle[form]), *kernel = NULL, *function;
  int code = 0;
  if (library == &tile_cu_refused) return TILE_CU_NO_BINARY;
  if (!library) {
    code = tile_cu.load_library(&library, form == TILE_CODE ? image->code : image->text, NULL, NULL, 0, NULL, NULL, 0);
    if (code) return code;
    atomic_store(&image->loaded->handle[form], library);
  }
  code = tile_cu.library_kernel(&kernel, library, launch->symbol);
  // What a device does not run would load, and fail when it is launched.
  if (!code) code = tile_cu.kernel_function(&function, kernel);
  if (!code && launch->scratch_bytes > TILE_CU_USUAL_SHARED) {
    code = tile_cu.kernel_attribute(TILE_CU_FUNCTION_SHARED, (int)launch->scratch_bytes, kernel, device);
  }
  if (!code) atomic_store(&launch->loaded->handle[form], kernel);
  return code;
}

static int32_t tile_cu_refuse_image(const struct tile_kernel *kernel, const struct tile_image *image, const struct tile_launch *launch,
                                    int code, int32_t device) {
  int most = 0;
  if (tile_cu_is_unusable(code)) {
    return tile_fail(TILE_NO_DEVICE_CODE, "%s: the code for %s is not for device %d and its driver: %s", kernel->info.name,
                     image->machine, (int)device, tile_cu_text(code));
  }
  if (!tile_cu.device_attribute(&most, TILE_CU_MOST_SHARED, device) && launch->scratch_bytes > most) {
    return tile_fail(TILE_OUT_OF_MEMORY, "%s: a block takes %lld bytes of shared memory, device %d has %d", kernel->info.name,
                     (long long)launch->scratch_bytes, (int)device, most);
  }
  return tile_cu_fail(kernel, "loading its code", code);
}

static __attribute__((noinline)) int32_t tile_cu_prepare(const struct tile_kernel *kernel, const struct tile_image *image,
                                                         const struct tile_launch *launch, int *form, int32_t device) {
  int mode = TILE_CU_CAPTURE_RELAXED;  // this is no work of the stream's, which may be captured
  pthread_mutex_lock(&tile_cu.loading);
  tile_cu.capture_mode(&mode);
  int code = tile_cu_load_function(image, launch, *form, device);
  // An older driver may not know what a newer toolkit has made; the text is there for that.
  if (*form == TILE_CODE && tile_cu_is_unusable(code)) {
    atomic_store(&image->loaded->handle[TILE_CODE], (void *)&tile_cu_refused);
    *form = TILE_TEXT;
    code = tile_cu_load_function(image, launch, *form, device);
  }
  tile_cu.capture_mode(&mode);
  if (!code && device < TILE_CU_DEVICES) atomic_fetch_or(&launch->loaded->prepared[*form], (uint64_t)1 << device);
  pthread_mutex_unlock(&tile_cu.loading);
  return code ? tile_cu_refuse_image(kernel, image, launch, code, device) : TILE_OK;
}

// A context's own function is launched in less time than the library's kernel, which the driver looks up in the current context at every launch.
enum { TILE_CU_FUNCTIONS_KEPT = 8 };  // of a thread's last calls
struct tile_cu_function {
  const struct tile_launch *launch;
  uint64_t context;  // its id
  void *function;
  int form;
  int64_t at_once;  // blocks that the device holds; 0: not asked
};

// How many blocks of the launch the device holds at once, in whole clusters; 0 where the driver does not say.
static int64_t tile_cu_at_once(const struct tile_launch *launch, void *function, int32_t device) {
  int each = 0, processors = 0;
  int32_t blocks = 1;
  for (int32_t i = 0; launch->cluster && i < launch->rank; i++) blocks *= launch->cluster[i];
  if (tile_cu.blocks_of_processor(&each, function, (int)launch->threads, (size_t)launch->scratch_bytes)) return 0;
  if (tile_cu.device_attribute(&processors, TILE_CU_PROCESSORS, device)) return 0;
  if (blocks == 1) return (int64_t)each * processors;
  int clusters = 0;
  struct tile_cu_attribute attribute = {.what = TILE_CU_LAUNCH_CLUSTER, .value = {blocks, 1, 1}};
  struct tile_cu_launch config = {(unsigned)(each * processors / blocks * blocks), 1, 1, (unsigned)launch->threads, 1, 1,
                                  (unsigned)launch->scratch_bytes, NULL, &attribute, 1};
  return tile_cu.clusters_at_once(&clusters, function, &config) ? 0 : (int64_t)clusters * blocks;
}

static __attribute__((noinline)) int32_t tile_cu_find_function(const struct tile_kernel *kernel, const struct tile_image *image,
                                                               const struct tile_launch *launch, int form, const struct tile_cu_place *place,
                                                               struct tile_cu_function *kept) {
  uint64_t prepared = atomic_load_explicit(&launch->loaded->prepared[form], memory_order_acquire);
  int32_t device = place->device, status = TILE_OK, mode = TILE_CU_CAPTURE_RELAXED;
  if (device >= TILE_CU_DEVICES || !(prepared >> device & 1)) status = tile_cu_prepare(kernel, image, launch, &form, device);
  if (status) return status;
  kept->launch = NULL;
  tile_cu.capture_mode(&mode);  // another context may load it here
  int code = tile_cu.kernel_function(&kept->function, atomic_load_explicit(&launch->loaded->handle[form], memory_order_relaxed));
  tile_cu.capture_mode(&mode);
  if (code) return tile_cu_refuse_image(kernel, image, launch, code, device);
  kept->launch = launch, kept->context = place->id, kept->form = form;
  kept->at_once = launch->goes_on ? tile_cu_at_once(launch, kept->function, device) : 0;
  return TILE_OK;
}

static int32_t tile_cu_function(const struct tile_kernel *kernel, const struct tile_image *image, const struct tile_launch *launch,
                                int form, const struct tile_cu_place *place, void **function, int64_t *at_once) {
  static _Thread_local struct tile_cu_function all[TILE_CU_FUNCTIONS_KEPT];
  struct tile_cu_function *kept = &all[(uintptr_t)launch / sizeof *launch % TILE_CU_FUNCTIONS_KEPT];
  int is_kept = kept->launch == launch && kept->context == place->id && kept->form == form;
  int32_t status = is_kept ? TILE_OK : tile_cu_find_function(kernel, image, launch, form, place, kept);
  *function = kept->function, *at_once = kept->at_once;
  return status;
}

// The first instance that the device runs and whose guard holds.
static int32_t tile_cu_choose(const struct tile_kernel *kernel, const int64_t *plan, int32_t device, const struct tile_instance **chosen,
                              int *form) {
  int32_t generation = tile_cu_generation(kernel, device);
  if (!generation) return TILE_DRIVER;
  for (int32_t i = 0; i < kernel->instance_count; i++) {
    const struct tile_instance *instance = &kernel->instances[i];
    if (!instance->image || (plan && !(plan[TILE_PLAN_GUARDS] >> i & 1))) continue;
    *form = tile_cu_form(instance->image, generation);
    if (*form < 0) continue;
    *chosen = instance;
    return TILE_OK;
  }
  return tile_fail(TILE_NO_DEVICE_CODE, "%s: the object holds code for %s; device %d is of generation %d.%d", kernel->info.name,
                   kernel->info.targets, (int)device, (int)generation / 10, (int)generation % 10);
}
