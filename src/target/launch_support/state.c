// What exists once a process and once a thread, whatever the number of objects. The two accessors are weak: the first
// definition wins, and with it its variables. Layout and meaning of these structs never change under the name tile1; a
// change makes them tile2.

#define TILE_JOBS 16
#define TILE_MAX_THREADS 1024
#define TILE_MESSAGE_BYTES 1024

struct tile_hook {
  tile_parallel_for run;
  void *context;
  struct tile_hook *previous;  // a thread may still be inside of it, so none is freed
};

// A parallel loop under way. A worker counts itself in, then looks whether the job is open; the caller closes the job,
// then waits until nobody is counted in. One of the two always sees the other.
struct tile_job {
  _Alignas(64) _Atomic int64_t next;  // first block that nobody has taken
  _Alignas(64) _Atomic int32_t users;
  _Atomic int32_t is_open;
  _Atomic int32_t is_claimed;
  _Atomic int32_t is_awaited;
  int64_t blocks;
  int64_t chunk;
  int cpu;  // where the caller runs, as far as one can know; negative: unknown
  tile_body body;
  void *context;
};

struct tile1_process_state {
  _Atomic(struct tile_hook *) hook;
  _Atomic int32_t threads;    // of the pool, the caller included; 0: not decided
  _Atomic int32_t cpu_level;  // 0: not looked up
  pthread_mutex_t control;    // held to start and to stop workers
  pthread_mutex_t sleep;      // held to fall asleep and to wake
  pthread_cond_t wake;
  pthread_cond_t done;
  _Atomic uint32_t epoch;  // grows with each job
  _Atomic int32_t sleepers;
  _Atomic int32_t workers;
  _Atomic int32_t is_stopping;
  int32_t knows_fork;
  pthread_once_t scratch_once;
  int32_t has_scratch_key;  // without one, scratch lives on after its thread
  pthread_key_t scratch_key;
  pthread_t handles[TILE_MAX_THREADS];
  struct tile_job jobs[TILE_JOBS];
};

struct tile1_thread_state {
  int32_t is_inside;  // of a range of a parallel loop
  void *scratch;
  int64_t scratch_bytes;
  char message[TILE_MESSAGE_BYTES];
};

struct tile1_process_state *tile1_process(void);
struct tile1_thread_state *tile1_thread(void);

static struct tile1_process_state tile_process_state = {
    .control = PTHREAD_MUTEX_INITIALIZER,
    .sleep = PTHREAD_MUTEX_INITIALIZER,
    .wake = PTHREAD_COND_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
    .scratch_once = PTHREAD_ONCE_INIT,
};
static _Thread_local struct tile1_thread_state tile_thread_state;

TILE_SHARED struct tile1_process_state *tile1_process(void) { return &tile_process_state; }
TILE_SHARED struct tile1_thread_state *tile1_thread(void) { return &tile_thread_state; }
TILE_SHARED const char *tile1_last_message(void) { return tile1_thread()->message; }

// The sentence of a failure, and its status.
TILE_ENTRY int32_t tile_fail(int32_t status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(tile1_thread()->message, TILE_MESSAGE_BYTES, format, arguments);
  va_end(arguments);
  return status;
}

static void tile_scratch_key_make(void) {
  struct tile1_process_state *process = tile1_process();
  process->has_scratch_key = pthread_key_create(&process->scratch_key, free) == 0;
}

// This thread's scratch, at least `bytes` of it, or NULL. It lives until the thread ends or asks for more.
static void *tile_scratch(int64_t bytes) {
  struct tile1_thread_state *thread = tile1_thread();
  if (thread->scratch_bytes >= bytes) return thread->scratch;
  struct tile1_process_state *process = tile1_process();
  pthread_once(&process->scratch_once, tile_scratch_key_make);
  free(thread->scratch);
  size_t rounded = ((size_t)bytes + 4095) / 4096 * 4096;
  thread->scratch = aligned_alloc(64, rounded);
  thread->scratch_bytes = thread->scratch ? (int64_t)rounded : 0;
  if (process->has_scratch_key) pthread_setspecific(process->scratch_key, thread->scratch);
  return thread->scratch;
}
