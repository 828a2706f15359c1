// The parallel loop: a caller's hook, or the built-in pool. Workers are started by the first loop that can use them; an
// idle worker spins for a while, since the next loop is often near, and then sleeps. Several callers may run loops at
// once; a loop inside a loop runs serially.

#define TILE_SPIN_NANOSECONDS 30000
#define TILE_CHUNKS_PER_THREAD 8

static void tile_pause(void) {
#if defined(__x86_64__)
  __asm__ volatile("pause");
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

static int64_t tile_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int32_t tile_cores(void) {
#if defined(__linux__)
  // A set that holds more CPUs than a fixed cpu_set_t; the kernel refuses one that is too small.
  for (int cpus = 1024; cpus <= 1 << 16; cpus *= 8) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (!set) break;
    int failed = sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set);
    int count = failed ? 0 : CPU_COUNT_S(CPU_ALLOC_SIZE(cpus), set);
    CPU_FREE(set);
    if (count > 0) return count;
  }
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int32_t)online : 1;
}

TILE_SHARED int32_t tile1_threads(void) {
  struct tile1_process_state *process = tile1_process();
  int32_t threads = atomic_load_explicit(&process->threads, memory_order_relaxed);
  if (threads) return threads;
  threads = tile_cores();
  if (threads > TILE_MAX_THREADS) threads = TILE_MAX_THREADS;
  atomic_store_explicit(&process->threads, threads, memory_order_relaxed);
  return threads;
}

// Runs one chunk; says whether one was left.
static int tile_job_step(struct tile_job *job) {
  int64_t begin = atomic_fetch_add_explicit(&job->next, job->chunk, memory_order_relaxed);
  if (begin >= job->blocks) return 0;
  int64_t left = job->blocks - begin;
  job->body(job->context, begin, begin + (left < job->chunk ? left : job->chunk));
  return 1;
}

static void tile_job_leave(struct tile1_process_state *process, struct tile_job *job) {
  if (atomic_fetch_sub(&job->users, 1) != 1 || !atomic_load(&job->is_awaited)) return;
  pthread_mutex_lock(&process->sleep);
  pthread_cond_broadcast(&process->done);
  pthread_mutex_unlock(&process->sleep);
}

static int tile_cpu(void) {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

// A worker that sleeps is woken on the caller's CPU where the kernel sees no nearer idle one, and would share it with the
// caller for milliseconds. It moves to any other that it may use, and may go back later.
static void tile_step_aside(int cpu) {
#if defined(__linux__)
  cpu_set_t allowed, others;
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed)) return;
  others = allowed;
  CPU_CLR(cpu, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others)) return;
  sched_setaffinity(0, sizeof allowed, &allowed);
#endif
}

// Helps with every open job, up to the end of the chunk when the pool stops. Says whether there was anything to do.
static int tile_worker_look(struct tile1_process_state *process) {
  int has_worked = 0;
  for (int i = 0; i < TILE_JOBS; i++) {
    struct tile_job *job = &process->jobs[i];
    if (!atomic_load(&job->is_open)) continue;
    atomic_fetch_add(&job->users, 1);
    if (atomic_load(&job->is_open)) {
      int cpu = tile_cpu();
      if (cpu >= 0 && cpu == job->cpu) tile_step_aside(cpu);
      while (!atomic_load(&process->is_stopping) && tile_job_step(job)) has_worked = 1;
    }
    tile_job_leave(process, job);
  }
  return has_worked;
}

static int tile_worker_may_go_on(struct tile1_process_state *process, uint32_t seen) {
  return atomic_load(&process->epoch) != seen || atomic_load(&process->is_stopping);
}

static void tile_worker_wait(struct tile1_process_state *process, uint32_t seen) {
  int64_t deadline = tile_now() + TILE_SPIN_NANOSECONDS;
  do {
    for (int i = 0; i < 64; i++) {
      if (tile_worker_may_go_on(process, seen)) return;
      tile_pause();
    }
  } while (tile_now() < deadline);
  pthread_mutex_lock(&process->sleep);
  atomic_fetch_add(&process->sleepers, 1);
  while (!tile_worker_may_go_on(process, seen)) pthread_cond_wait(&process->wake, &process->sleep);
  atomic_fetch_sub(&process->sleepers, 1);
  pthread_mutex_unlock(&process->sleep);
}

static void *tile_worker(void *unused) {
  struct tile1_process_state *process = tile1_process();
  tile1_thread()->is_inside = 1;
  while (!atomic_load(&process->is_stopping)) {
    uint32_t seen = atomic_load(&process->epoch);
    if (!tile_worker_look(process)) tile_worker_wait(process, seen);
  }
  return unused;
}

// A child has one thread and the parent's memory: it begins with no workers, and starts its own.
static void tile_pool_forget(void) {
  struct tile1_process_state *process = tile1_process();
  pthread_mutex_init(&process->control, NULL);
  pthread_mutex_init(&process->sleep, NULL);
  pthread_cond_init(&process->wake, NULL);
  pthread_cond_init(&process->done, NULL);
  atomic_store(&process->workers, 0);
  atomic_store(&process->sleepers, 0);
  atomic_store(&process->is_stopping, 0);
  memset(process->jobs, 0, sizeof process->jobs);
}

static void tile_pool_start(struct tile1_process_state *process, int32_t wanted) {
  pthread_mutex_lock(&process->control);
  if (!process->knows_fork) process->knows_fork = pthread_atfork(NULL, NULL, tile_pool_forget) == 0;
  // Signals are the program's matter, not the workers'.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int32_t workers = atomic_load(&process->workers);
  while (workers < wanted && pthread_create(&process->handles[workers], NULL, tile_worker, NULL) == 0) workers++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  // Where the system gives no more threads, the count says so, and the loop makes do with fewer.
  if (workers < wanted) atomic_store(&process->threads, workers + 1);
  atomic_store(&process->workers, workers);
  pthread_mutex_unlock(&process->control);
}

static void tile_pool_stop(struct tile1_process_state *process, int32_t threads) {
  pthread_mutex_lock(&process->control);
  pthread_mutex_lock(&process->sleep);
  atomic_store(&process->is_stopping, 1);
  pthread_cond_broadcast(&process->wake);
  pthread_mutex_unlock(&process->sleep);
  int32_t workers = atomic_load(&process->workers);
  for (int32_t i = 0; i < workers; i++) pthread_join(process->handles[i], NULL);
  atomic_store(&process->workers, 0);
  atomic_store(&process->is_stopping, 0);
  atomic_store(&process->threads, threads);
  pthread_mutex_unlock(&process->control);
}

// When the object that holds the pool's code leaves the process, its workers must have left that code.
__attribute__((destructor)) static void tile_pool_unload(void) {
  struct tile1_process_state *process = tile1_process();
  struct tile1_thread_state *thread = tile1_thread();
  if (process != &tile_process_state || thread->is_inside) return;
  if (atomic_load(&process->workers) > 0) tile_pool_stop(process, 1);
  if (!process->has_scratch_key) return;
  process->has_scratch_key = 0;
  pthread_key_delete(process->scratch_key);
  free(thread->scratch);
  thread->scratch = NULL;
  thread->scratch_bytes = 0;
}

TILE_SHARED tile_status tile1_set_threads(int32_t threads) {
  if (threads < 0 || threads > TILE_MAX_THREADS) {
    return tile_fail(TILE_SHAPE, "tile1_set_threads: %d threads; a pool has 1 to %d, or with 0 as many as the process may run on",
                     threads, TILE_MAX_THREADS);
  }
  if (tile1_thread()->is_inside) {
    return tile_fail(TILE_LAUNCH_FAILED, "tile1_set_threads: called inside a parallel loop");
  }
  tile_pool_stop(tile1_process(), threads);
  return TILE_OK;
}

TILE_SHARED tile_status tile1_set_parallel_for(tile_parallel_for hook, void *hook_context) {
  struct tile1_process_state *process = tile1_process();
  struct tile_hook *made = malloc(sizeof *made);
  if (!made) return tile_fail(TILE_OUT_OF_MEMORY, "tile1_set_parallel_for: out of memory");
  made->run = hook;
  made->context = hook_context;
  made->previous = atomic_load(&process->hook);
  while (!atomic_compare_exchange_weak(&process->hook, &made->previous, made)) {
  }
  return TILE_OK;
}

// What the first loop would do before its work. Weak like all that leads to workers, so that they run the code of the
// object that stops them when it is unloaded.
void tile1_start(void);
TILE_SHARED void tile1_start(void) {
  struct tile1_process_state *process = tile1_process();
  struct tile_hook *hook = atomic_load(&process->hook);
  int32_t threads = tile1_threads();
  if ((hook && hook->run) || threads == 1 || tile1_thread()->is_inside) return;
  tile_pool_start(process, threads - 1);
}

static struct tile_job *tile_job_claim(struct tile1_process_state *process) {
  for (int i = 0; i < TILE_JOBS; i++) {
    int32_t free_job = 0;
    if (atomic_compare_exchange_strong(&process->jobs[i].is_claimed, &free_job, 1)) return &process->jobs[i];
  }
  return NULL;
}

static void tile_pool_wake(struct tile1_process_state *process, int64_t helpers) {
  atomic_fetch_add(&process->epoch, 1);
  int32_t sleepers = atomic_load(&process->sleepers);
  if (sleepers == 0) return;
  pthread_mutex_lock(&process->sleep);
  if (helpers >= sleepers) pthread_cond_broadcast(&process->wake);
  for (int64_t i = 0; i < helpers && helpers < sleepers; i++) pthread_cond_signal(&process->wake);
  pthread_mutex_unlock(&process->sleep);
}

static void tile_job_finish(struct tile1_process_state *process, struct tile_job *job) {
  atomic_store(&job->is_open, 0);
  for (int i = 0; i < 2000 && atomic_load(&job->users) != 0; i++) tile_pause();
  if (atomic_load(&job->users) != 0) {
    pthread_mutex_lock(&process->sleep);
    atomic_store(&job->is_awaited, 1);
    while (atomic_load(&job->users) != 0) pthread_cond_wait(&process->done, &process->sleep);
    atomic_store(&job->is_awaited, 0);
    pthread_mutex_unlock(&process->sleep);
  }
  atomic_store(&job->is_claimed, 0);
}

static void tile_pool_run(int64_t blocks, int64_t grain, tile_body body, void *context) {
  struct tile1_thread_state *thread = tile1_thread();
  int32_t threads = tile1_threads();
  if (grain < 1) grain = 1;
  if (threads == 1 || blocks <= grain || thread->is_inside) {
    body(context, 0, blocks);
    return;
  }
  struct tile1_process_state *process = tile1_process();
  if (atomic_load_explicit(&process->workers, memory_order_relaxed) == 0) tile_pool_start(process, threads - 1);
  struct tile_job *job = tile_job_claim(process);
  if (!job) {
    body(context, 0, blocks);
    return;
  }
  int64_t pieces = (int64_t)threads * TILE_CHUNKS_PER_THREAD;
  int64_t chunk = (blocks + pieces - 1) / pieces;
  job->chunk = chunk < grain ? grain : chunk;
  job->blocks = blocks;
  job->cpu = tile_cpu();
  job->body = body;
  job->context = context;
  atomic_store_explicit(&job->next, 0, memory_order_relaxed);
  atomic_store(&job->is_open, 1);
  tile_pool_wake(process, (blocks - 1) / job->chunk);
  thread->is_inside = 1;
  while (tile_job_step(job)) {
  }
  thread->is_inside = 0;
  tile_job_finish(process, job);
}

TILE_SHARED void tile1_parallel_for(int64_t blocks, int64_t grain, tile_body body, void *context) {
  if (blocks <= 0) return;
  struct tile_hook *hook = atomic_load_explicit(&tile1_process()->hook, memory_order_acquire);
  if (hook && hook->run) {
    hook->run(hook->context, blocks, grain, body, context);
  } else {
    tile_pool_run(blocks, grain, body, context);
  }
}
