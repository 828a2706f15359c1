// The CPU kernels beside named references, in one process: f32 products beside OpenBLAS and oneDNN, softmax and RMS norm
// beside a copy of the same bytes. Rounds are interleaved, so that what disturbs one disturbs all; the figure of each is
// the median of its rounds, the ratio the median of the rounds' ratios. Every result is first compared with float64.
//   cpu [--clock=wall|cpu] [--threads=N] [--rounds=N] [--quick]
// --clock=cpu counts the process's processor time: for a busy machine, with one thread only.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../examples/common/example.h"
#include "gemm.h"
#include "rms_norm.h"
#include "softmax.h"

enum { kMostRounds = 101 };

static clockid_t clock_used = CLOCK_MONOTONIC;
static int threads = 1, rounds = 11;

static double now(void) {
  struct timespec t;
  clock_gettime(clock_used, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- libraries, where they are installed

typedef void (*cblas_sgemm_type)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef int (*dnnl_sgemm_type)(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k, float alpha,
                               const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                               int64_t ldc);
typedef void (*set_threads_type)(int);

// Object and function pointers convert through their bytes; C11 has no cast for it.
static void load(const char *library, const char *name, void *routine) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  void *symbol = handle ? dlsym(handle, name) : NULL;
  memcpy(routine, &symbol, sizeof symbol);
}

static cblas_sgemm_type open_blas;
static dnnl_sgemm_type one_dnn;

static void load_libraries(void) {
  set_threads_type set = NULL;
  load("libopenblas.so.0", "cblas_sgemm", &open_blas);
  load("libopenblas.so.0", "openblas_set_num_threads", &set);
  if (set) set(threads);
  load("libdnnl.so.2", "dnnl_sgemm", &one_dnn);
  load("libgomp.so.1", "omp_set_num_threads", &set);
  if (set) set(threads);
}

// ---- what is timed

typedef struct {
  int64_t m, n, k;
  tensor a, b, c;
  float *other;  // where references write
} problem;

typedef struct {
  const char *name;
  void (*call)(problem *);
} contender;

static void check(tile_status status) {
  if (status == TILE_OK) return;
  fprintf(stderr, "cpu: %s\n", tile1_last_message());
  exit(1);
}

static void call_gemm_f32(problem *p) { check(gemm_relu_f32(p->a.bits, p->b.bits, p->c.bits, p->m, p->k, p->n, NULL)); }
static void call_gemm_bf16(problem *p) { check(gemm_relu_bf16(p->a.bits, p->b.bits, p->c.bits, p->m, p->k, p->n, NULL)); }
static void call_softmax(problem *p) { check(softmax_f32(p->a.bits, p->c.bits, p->m, p->n, NULL)); }
static void call_rms_norm(problem *p) { check(rms_norm_f32(p->a.bits, p->b.bits, p->c.bits, 1e-5f, p->m, p->n, NULL)); }

static void call_open_blas(problem *p) {
  enum { kRowMajor = 101, kPlain = 111 };
  open_blas(kRowMajor, kPlain, kPlain, (int)p->m, (int)p->n, (int)p->k, 1, p->a.bits, (int)p->k, p->b.bits, (int)p->n, 0,
            p->other, (int)p->n);
}

static void call_one_dnn(problem *p) {
  one_dnn('N', 'N', p->m, p->n, p->k, 1, p->a.bits, p->k, p->b.bits, p->n, 0, p->other, p->n);
}

static void copy_rows(void *context, int64_t begin, int64_t end) {
  problem *p = context;
  memcpy(p->other + begin * p->n, (float *)p->a.bits + begin * p->n, (size_t)((end - begin) * p->n) * sizeof(float));
}
static void call_copy(problem *p) { tile1_parallel_for(p->m, (p->m + threads - 1) / threads, copy_rows, p); }

// ---- timing

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(const double *times) {
  double sorted[kMostRounds];
  memcpy(sorted, times, (size_t)rounds * sizeof *sorted);
  qsort(sorted, (size_t)rounds, sizeof *sorted, by_size);
  return sorted[rounds / 2];
}

// Workers of several threads' libraries go on spinning when their call has ended, and would take the cores from the next.
static void let_workers_sleep(void) {
  struct timespec rest = {0, 60000000};
  if (threads > 1) nanosleep(&rest, NULL);
}

// The first contender is ours; `work` is in operations or bytes, `unit` names 10^9 of them a second.
static void race(const char *kernel, problem *p, const contender *all, int count, double work, const char *unit) {
  static double times[4][kMostRounds];
  int calls = 1;
  for (int i = 0; i < count; ++i) all[i].call(p);
  double start = now();
  all[0].call(p);
  // A round takes 20 ms at least, so that the clock's step does not matter.
  double once = now() - start;
  if (once < 0.02) calls = once > 1e-5 ? (int)(0.02 / once) + 1 : 2000;
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < count; ++i) {
      let_workers_sleep();
      all[i].call(p);
      start = now();
      for (int call = 0; call < calls; ++call) all[i].call(p);
      times[i][round] = (now() - start) / calls;
    }
  double own = median(times[0]);
  printf("| %s | %d | %.3f ms | %.1f %s |", kernel, threads, own * 1e3, work / own * 1e-9, unit);
  for (int i = 1; i < count; ++i) {
    double ratios[kMostRounds];
    for (int round = 0; round < rounds; ++round) ratios[round] = times[i][round] / times[0][round];
    printf(" %s %.2f |", all[i].name, median(ratios));
  }
  fflush(stdout);
}

// ---- the rows of the table

static problem problem_of(element type, int64_t m, int64_t n, int64_t k) {
  problem p = {.m = m, .n = n, .k = k};
  p.a = tensor_random(type, (size_t)(m * (k ? k : n)), 1);
  p.b = tensor_random(type, (size_t)(k ? k * n : n), 1);
  p.c = tensor_unwritten(type, (size_t)(m * n));
  p.other = malloc((size_t)(m * n) * sizeof *p.other);
  if (!p.other) exit(1);
  return p;
}

static void problem_free(problem *p) {
  tensor_free(&p->a), tensor_free(&p->b), tensor_free(&p->c);
  free(p->other);
}

static double greatest_error(problem *p, double (*want)(const problem *, int64_t row, int64_t column)) {
  double worst = 0;
  if (!tensor_read(&p->c)) exit(1);
  for (int i = 0; i < 1000; ++i) {
    int64_t row = (int64_t)(i * 7919) % p->m, column = (int64_t)(i * 104729) % p->n;
    double exact = want(p, row, column), error = fabs(p->c.values[row * p->n + column] - exact);
    worst = fmax(worst, error);
  }
  return worst;
}

static double want_product(const problem *p, int64_t row, int64_t column) {
  double sum = 0;
  for (int64_t k = 0; k < p->k; ++k) sum += p->a.values[row * p->k + k] * p->b.values[k * p->n + column];
  return fmax(sum, 0);
}

static double want_softmax(const problem *p, int64_t row, int64_t column) {
  const double *x = p->a.values + row * p->n;
  double greatest = -INFINITY, sum = 0;
  for (int64_t i = 0; i < p->n; ++i) greatest = fmax(greatest, x[i]);
  for (int64_t i = 0; i < p->n; ++i) sum += exp(x[i] - greatest);
  return exp(x[column] - greatest) / sum;
}

static double want_rms_norm(const problem *p, int64_t row, int64_t column) {
  const double *x = p->a.values + row * p->n;
  double sum = 0;
  for (int64_t i = 0; i < p->n; ++i) sum += x[i] * x[i];
  return x[column] / sqrt(sum / (double)p->n + 1e-5) * p->b.values[column];
}

static void gemm(element type, int64_t size) {
  problem p = problem_of(type, size, size, size);
  contender all[4] = {{"tilec", type == F32 ? call_gemm_f32 : call_gemm_bf16}};
  int count = 1;
  if (type == F32 && open_blas) all[count++] = (contender){"OpenBLAS", call_open_blas};
  if (type == F32 && one_dnn) all[count++] = (contender){"oneDNN", call_one_dnn};
  char name[64];
  snprintf(name, sizeof name, "relu-gemm %s %d^3", element_name(type), (int)size);
  race(name, &p, all, count, 2.0 * (double)size * (double)size * (double)size, "GFLOP/s");
  printf(" %.1e |\n", greatest_error(&p, want_product));
  problem_free(&p);
}

static void rows(const char *kernel, void (*call)(problem *), double (*want)(const problem *, int64_t, int64_t),
                 int64_t m, int64_t n) {
  problem p = problem_of(F32, m, n, 0);
  contender all[] = {{"tilec", call}, {"memcpy", call_copy}};
  char name[64];
  snprintf(name, sizeof name, "%s f32 %dx%d", kernel, (int)m, (int)n);
  race(name, &p, all, 2, 8.0 * (double)m * (double)n, "GB/s");
  printf(" %.1e |\n", greatest_error(&p, want));
  problem_free(&p);
}

int main(int argc, char **argv) {
  bool is_quick = false;
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "--clock=cpu")) clock_used = CLOCK_PROCESS_CPUTIME_ID;
    else if (!strcmp(argv[i], "--quick")) is_quick = true;
    else if (sscanf(argv[i], "--threads=%d", &threads) != 1 && sscanf(argv[i], "--rounds=%d", &rounds) != 1 &&
             strcmp(argv[i], "--clock=wall") != 0)
      return fprintf(stderr, "usage: %s [--clock=wall|cpu] [--threads=N] [--rounds=N] [--quick]\n", argv[0]), 2;
  }
  if (rounds < 1 || rounds > kMostRounds || threads < 1) return fprintf(stderr, "%s: out of range\n", argv[0]), 2;
  check(tile1_set_threads(threads));
  load_libraries();
  printf("| kernel | threads | tilec, median | | reference's time / tilec's | greatest error, 1000 elements |\n");
  printf("| --- | --- | --- | --- | --- | --- |\n");
  for (int64_t size = 512; size <= (is_quick ? 1024 : 2048); size *= 2) gemm(F32, size);
  gemm(BF16, 1024);
  rows("softmax", call_softmax, want_softmax, is_quick ? 1024 : 4096, 4096);
  rows("rms_norm", call_rms_norm, want_rms_norm, is_quick ? 1024 : 4096, 4096);
  return 0;
}
