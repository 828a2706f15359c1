// The parallel loop: many callers at once, nesting, hooks, thread counts, fork, two objects.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sample.h"

enum { kCallers = 16, kElements = 40000 };

static pthread_barrier_t gate;
static _Atomic int wrong;

// Odd callers go through one object, even ones through the other.
static void *call_many(void *which) {
  float *x = malloc(kElements * sizeof *x), *y = malloc(kElements * sizeof *y);
  for (int i = 0; i < kElements; i++) x[i] = (float)i, y[i] = 0;
  pthread_barrier_wait(&gate);
  for (int round = 0; round < 50; round++) {
    int status = *(int *)which % 2 ? one_axpy(x, y, 1, kElements, NULL) : two_axpy(x, y, 1, kElements, NULL);
    if (status != TILE_OK) atomic_fetch_add(&wrong, 1);
  }
  for (int i = 0; i < kElements; i++) {
    if (y[i] != 50 * (float)i) atomic_fetch_add(&wrong, 1);
  }
  // A message belongs to its thread.
  int64_t bad = -1 - *(int *)which;
  char expected[128];
  snprintf(expected, sizeof expected, "axpy: argument N is %d, an extent must be 0 to 2147483647", (int)bad);
  pthread_barrier_wait(&gate);
  if (one_axpy(x, y, 1, bad, NULL) != TILE_SHAPE) atomic_fetch_add(&wrong, 1);
  pthread_barrier_wait(&gate);
  if (strcmp(tile1_last_message(), expected) != 0) atomic_fetch_add(&wrong, 1);
  free(x);
  free(y);
  return NULL;
}

static void callers_race_on_the_first_call(void) {
  pthread_t callers[kCallers];
  int which[kCallers];
  pthread_barrier_init(&gate, NULL, kCallers);
  for (int i = 0; i < kCallers; i++) {
    which[i] = i;
    pthread_create(&callers[i], NULL, call_many, &which[i]);
  }
  for (int i = 0; i < kCallers; i++) pthread_join(callers[i], NULL);
  EXPECT(wrong == 0);
}

// Every thread of a loop waits in it until `wanted` threads are there, or for two seconds.
struct Seen {
  pthread_mutex_t lock;
  pthread_t threads[64];
  int count;
  int wanted;
  int64_t blocks;
};

static int note_thread(struct Seen *seen, int64_t blocks) {
  pthread_mutex_lock(&seen->lock);
  int known = 0;
  for (int i = 0; i < seen->count; i++) known |= pthread_equal(seen->threads[i], pthread_self());
  if (!known && seen->count < 64) seen->threads[seen->count++] = pthread_self();
  seen->blocks += blocks;
  int count = seen->count;
  pthread_mutex_unlock(&seen->lock);
  return count;
}

static void see(void *context, int64_t begin, int64_t end) {
  struct Seen *seen = context;
  int count = note_thread(seen, end - begin);
  for (int i = 0; i < 2000 && count < seen->wanted; i++) {
    usleep(1000);
    count = note_thread(seen, 0);
  }
}

static struct Seen threads_that_run(int64_t blocks, int64_t grain, int wanted) {
  struct Seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER, .wanted = wanted};
  tile1_parallel_for(blocks, grain, see, &seen);
  return seen;
}

static void the_thread_count_is_kept(void) {
  EXPECT(tile1_set_threads(4) == TILE_OK && tile1_threads() == 4);
  struct Seen seen = threads_that_run(400, 1, 4);
  EXPECT(seen.blocks == 400 && seen.count == 4);
  seen = threads_that_run(400, 400, 1);
  EXPECT(seen.blocks == 400 && seen.count == 1);
  EXPECT(tile1_set_threads(1) == TILE_OK);
  seen = threads_that_run(100, 1, 1);
  EXPECT(seen.blocks == 100 && seen.count == 1 && pthread_equal(seen.threads[0], pthread_self()));
  EXPECT_FAILS(tile1_set_threads(-1), TILE_SHAPE, "tile1_set_threads: -1 threads; a pool has 1 to 1024, or with 0 as many as the process may run on");
  EXPECT(tile1_set_threads(0) == TILE_OK && tile1_threads() >= 1);
}

static _Atomic int64_t inner_blocks;
static _Atomic int moved;

// Slow enough that an idle worker would come to help.
static void inner(void *context, int64_t begin, int64_t end) {
  usleep(1000);
  if (!pthread_equal(*(pthread_t *)context, pthread_self())) atomic_fetch_add(&moved, 1);
  atomic_fetch_add(&inner_blocks, end - begin);
}

static void outer(void *context, int64_t begin, int64_t end) {
  (void)context;
  for (int64_t i = begin; i < end; i++) {
    pthread_t self = pthread_self();
    tile1_parallel_for(10, 1, inner, &self);
  }
  EXPECT(tile1_set_threads(2) == TILE_LAUNCH_FAILED);
}

static void a_loop_in_a_loop_is_serial(void) {
  EXPECT(tile1_set_threads(4) == TILE_OK);
  tile1_parallel_for(4, 2, outer, NULL);
  EXPECT(inner_blocks == 40 && moved == 0);
}

static int hook_calls;

static void backwards(void *hook_context, int64_t blocks, int64_t grain, tile_body body, void *context) {
  (void)grain;
  *(int *)hook_context += 1;
  for (int64_t i = blocks; i-- > 0;) body(context, i, i + 1);
}

static void a_hook_takes_the_blocks_of_every_object(void) {
  static float x[1000], y[1000];
  for (int i = 0; i < 1000; i++) x[i] = (float)i, y[i] = 0;
  EXPECT(tile1_set_parallel_for(backwards, &hook_calls) == TILE_OK);
  EXPECT(one_axpy(x, y, 1, 1000, NULL) == TILE_OK);
  EXPECT(two_axpy(x, y, 1, 1000, NULL) == TILE_OK);
  EXPECT(hook_calls == 2 && y[999] == 2 * 999);
  EXPECT(tile1_set_parallel_for(NULL, NULL) == TILE_OK);
  EXPECT(one_axpy(x, y, 1, 1000, NULL) == TILE_OK);
  EXPECT(hook_calls == 2 && y[999] == 3 * 999);
}

static int count_threads(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  int threads = 0;
  while (status && fgets(line, sizeof line, status)) sscanf(line, "Threads: %d", &threads);
  if (status) fclose(status);
  return threads;
}

static void two_objects_share_one_pool(void) {
  static float x[40000], y[40000];
  EXPECT(tile1_set_threads(3) == TILE_OK);
  int before = count_threads();
  EXPECT(one_gemm_load() == TILE_OK);
  EXPECT(count_threads() == before + 2);
  EXPECT(one_axpy(x, y, 1, 40000, NULL) == TILE_OK);
  int threads = count_threads();
  EXPECT(two_axpy(x, y, 1, 40000, NULL) == TILE_OK);
  EXPECT(count_threads() <= threads);
}

static void a_child_starts_its_own_workers(void) {
  EXPECT(tile1_set_threads(4) == TILE_OK);
  EXPECT(threads_that_run(400, 1, 4).count == 4);
  pid_t child = fork();
  if (child == 0) _exit(threads_that_run(400, 1, 4).count);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 4);
}

static void *stop_and_go(void *unused) {
  for (int i = 0; i < 30; i++) tile1_set_threads(1 + i % 4);
  return unused;
}

static void the_count_changes_under_running_loops(void) {
  pthread_t changer;
  static float x[40000], y[40000];
  for (int i = 0; i < 40000; i++) x[i] = 1, y[i] = 0;
  pthread_create(&changer, NULL, stop_and_go, NULL);
  for (int i = 0; i < 200; i++) EXPECT(one_axpy(x, y, 1, 40000, NULL) == TILE_OK);
  pthread_join(changer, NULL);
  EXPECT(y[0] == 200 && y[39999] == 200);
}

int main(void) {
  callers_race_on_the_first_call();
  the_thread_count_is_kept();
  a_loop_in_a_loop_is_serial();
  a_hook_takes_the_blocks_of_every_object();
  two_objects_share_one_pool();
  a_child_starts_its_own_workers();
  the_count_changes_under_running_loops();
  if (failures) printf("%d failed\n", failures);
  return failures != 0;
}
