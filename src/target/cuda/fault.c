// Fault words. Pages of the host that every context maps; a kernel keeps its word for the life of the process.

#define TILE_CU_PAGE 4096
#define TILE_CU_CONTEXTS 64
#define TILE_CU_WORDS (TILE_CU_PAGE / 8 - TILE_CU_CONTEXTS - 1)
struct tile_cu_page {
  _Atomic uint64_t contexts[TILE_CU_CONTEXTS];  // ids of contexts that map it, one more than the driver's; 0: none
  int64_t used;
  int64_t words[TILE_CU_WORDS];
};
_Static_assert(sizeof(struct tile_cu_page) == TILE_CU_PAGE, "a page of fault words");
static struct tile_cu_page *tile_cu_page;  // the one that has room; guarded by `loading`

static int tile_cu_is_mapped(struct tile_cu_page *page, uint64_t id) {
  for (int i = 0; i < TILE_CU_CONTEXTS; i++) {
    uint64_t known = atomic_load_explicit(&page->contexts[i], memory_order_acquire);
    if (known == id + 1) return 1;
    if (!known) return 0;
  }
  return 0;
}

static int tile_cu_map(struct tile_cu_page *page, uint64_t id) {
  int mode = TILE_CU_CAPTURE_RELAXED;
  uint64_t mapped = 0;
  tile_cu.capture_mode(&mode);
  // What one context has registered for all may be there already.
  int is_registered = tile_cu_memory_at((uint64_t)(uintptr_t)page).kind == TILE_CU_MEMORY_HOST;
  int code = is_registered ? 0 : tile_cu.register_memory(page, sizeof *page, TILE_CU_PORTABLE_MAPPED);
  if (!code) code = tile_cu.mapped_pointer(&mapped, page, 0);
  tile_cu.capture_mode(&mode);
  if (code) return code;
  int place = 0;
  while (place < TILE_CU_CONTEXTS - 1 && atomic_load(&page->contexts[place])) place++;
  // Its address is the host's where both share one space, as on all machines that the driver is for.
  if (mapped != (uint64_t)(uintptr_t)page) return TILE_CU_NOT_MAPPED;
  atomic_store_explicit(&page->contexts[place], id + 1, memory_order_release);
  return 0;
}

static int64_t *tile_cu_new_word(const struct tile_kernel *kernel) {
  int64_t *word = atomic_load(kernel->fault);
  if (word) return word;
  if (!tile_cu_page || tile_cu_page->used == TILE_CU_WORDS) {
    void *page = aligned_alloc(TILE_CU_PAGE, TILE_CU_PAGE);
    if (!page) return NULL;
    tile_cu_page = memset(page, 0, TILE_CU_PAGE);
  }
  word = &tile_cu_page->words[tile_cu_page->used++];
  atomic_store_explicit(kernel->fault, word, memory_order_release);
  return word;
}

// Where the devices of this context leave the kernel's fault word; NULL where it has no guards.
static int32_t tile_cu_fault_word(const struct tile_kernel *kernel, const struct tile_cu_place *place, int64_t **word) {
  *word = kernel->fault ? atomic_load_explicit(kernel->fault, memory_order_acquire) : NULL;
  if (!kernel->fault) return TILE_OK;
  int code = 0;
  struct tile_cu_page *page = (struct tile_cu_page *)((uintptr_t)*word & ~(uintptr_t)(TILE_CU_PAGE - 1));
  if (page && tile_cu_is_mapped(page, place->id)) return TILE_OK;
  pthread_mutex_lock(&tile_cu.loading);
  *word = tile_cu_new_word(kernel);
  page = (struct tile_cu_page *)((uintptr_t)*word & ~(uintptr_t)(TILE_CU_PAGE - 1));
  if (page && !tile_cu_is_mapped(page, place->id)) code = tile_cu_map(page, place->id);
  pthread_mutex_unlock(&tile_cu.loading);
  if (!page) return tile_fail(TILE_OUT_OF_MEMORY, "%s: no memory for a page of fault words", kernel->info.name);
  return code ? tile_cu_fail(kernel, "a page that devices write", code) : TILE_OK;
}

// What an earlier call has left, told once.
static int32_t tile_cu_earlier_fault(const struct tile_kernel *kernel) {
  int64_t *word = kernel->fault ? atomic_load_explicit(kernel->fault, memory_order_acquire) : NULL;
  if (!word || !__atomic_load_n(word, __ATOMIC_RELAXED)) return TILE_OK;
  int64_t fault = __atomic_exchange_n(word, 0, __ATOMIC_RELAXED);
  return fault ? tile_fault_status(kernel, NULL, NULL, fault) : TILE_OK;
}
