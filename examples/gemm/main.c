// relu(A @ B) in six element types, compared with float64. Arguments: shapes MxNxK.
//
// --bench [SIZE]: one f32 product of SIZE (1024) cubed, its error, and its time beside a plain loop in C and, where
// it is installed, OpenBLAS.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/example.h"
#include "gemm.h"

static const char *const kNames[] = {"M", "N", "K"};

typedef struct {
  int64_t m, n, k;
} size;

// The generated functions take typed pointers; void pointers convert by themselves in C.
static tile_status run_f16(const void *a, const void *b, void *c, size s) {
  return gemm_relu_f16(a, b, c, s.m, s.k, s.n, NULL);
}
static tile_status run_bf16(const void *a, const void *b, void *c, size s) {
  return gemm_relu_bf16(a, b, c, s.m, s.k, s.n, NULL);
}
static tile_status run_f32(const void *a, const void *b, void *c, size s) {
  return gemm_relu_f32(a, b, c, s.m, s.k, s.n, NULL);
}
static tile_status run_tf32(const void *a, const void *b, void *c, size s) {
  return gemm_relu_tf32(a, b, c, s.m, s.k, s.n, NULL);
}
static tile_status run_rounded(const void *a, const void *b, void *c, size s) {
  return gemm_relu_rounded_tf32(a, b, c, s.m, s.k, s.n, NULL);
}
static tile_status run_f8e4m3(const void *a, const void *b, void *c, size s) {
  return gemm_relu_f8e4m3(a, b, c, s.m, s.k, s.n, NULL);
}
static tile_status run_i8(const void *a, const void *b, void *c, size s) {
  return gemm_relu_i8(a, b, c, s.m, s.k, s.n, NULL);
}

typedef struct {
  const char *name;
  element operand, multiplied, result;
  tile_status (*call)(const void *, const void *, void *, size);
} variant;

static const variant kVariants[] = {
    {"gemm_relu_f16", F16, F16, F16, run_f16},
    {"gemm_relu_bf16", BF16, BF16, BF16, run_bf16},
    {"gemm_relu_f32", F32, F32, F32, run_f32},
    {"gemm_relu_tf32", TF32, TF32, F32, run_tf32},
    {"gemm_relu_rounded_tf32", F32, TF32, F32, run_rounded},
    {"gemm_relu_f8e4m3", F8E4M3, F8E4M3, F16, run_f8e4m3},
    {"gemm_relu_i8", I8, I8, I32, run_i8},
};

// What is multiplied: the operands as the kernel rounds them.
static void round_values(tensor *t, element type) {
  for (size_t i = 0; t->type != type && i < t->count; ++i) t->values[i] = element_rounded(type, t->values[i]);
}

// An element is off by the roundings of an f32 sum and, once, of the result; relu does not make that more. Sums of
// integers are exact.
static void judge_rows(judge *j, const variant *v, const tensor *a, const tensor *b, const tensor *c, size s) {
  for (int64_t row = 0; row < s.m; ++row) {
    for (int64_t column = 0; column < s.n; ++column) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < s.k; ++k) {
        double product = a->values[row * s.k + k] * b->values[k * s.n + column];
        sum += product;
        magnitude += fabs(product);
      }
      double want = sum > 0 ? sum : 0;
      double bound = element_unit(v->result) * want + element_step(v->result) + sum_error(s.k) * magnitude;
      size_t at = (size_t)(row * s.n + column);
      judge_element(j, at, c->values[at], want, v->result == I32 ? 0 : bound);
    }
  }
}

static void run(judge *j, const int64_t *extents) {
  size s = {extents[0], extents[1], extents[2]};
  for (size_t i = 0; i < sizeof kVariants / sizeof *kVariants; ++i) {
    const variant *v = &kVariants[i];
    tensor a = tensor_random(v->operand, (size_t)(s.m * s.k), 1), b = tensor_random(v->operand, (size_t)(s.k * s.n), 1);
    tensor c = tensor_unwritten(v->result, (size_t)(s.m * s.n));
    judge_begin(j, v->name);
    tile_status status = v->call(a.bits, b.bits, c.bits, s);
    bool is_intact = tensor_read(&c);
    round_values(&a, v->multiplied), round_values(&b, v->multiplied);
    judge_rows(j, v, &a, &b, &c, s);
    judge_end(j, status, is_intact, kNames, extents, 3);
    tensor_free(&a), tensor_free(&b), tensor_free(&c);
  }
}

// ---- --bench

// What one writes without a compiler for tiles: the loop over k outside, so that the inner one runs along rows.
static void plain_product(const float *a, const float *b, float *c, size s) {
  memset(c, 0, (size_t)(s.m * s.n) * sizeof *c);
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t k = 0; k < s.k; ++k)
      for (int64_t j = 0; j < s.n; ++j) c[i * s.n + j] += a[i * s.k + k] * b[k * s.n + j];
    for (int64_t j = 0; j < s.n; ++j) c[i * s.n + j] = c[i * s.n + j] > 0 ? c[i * s.n + j] : 0;
  }
}

typedef void (*sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                      int lda, const float *b, int ldb, float beta, float *c, int ldc);

// The routine of an installed OpenBLAS, or NULL.
static sgemm open_blas(void) {
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "cblas_sgemm") : NULL;
  sgemm routine = NULL;
  if (symbol) memcpy(&routine, &symbol, sizeof routine);
  return routine;
}

// The best of some runs: other work on the machine only makes runs longer.
static double best_time(int which, sgemm blas, const tensor *a, const tensor *b, tensor *c, size s) {
  enum { kRowMajor = 101, kPlain = 111 };
  double best = INFINITY;
  for (int round = 0; round < (which == 1 ? 3 : 10); ++round) {
    double start = seconds();
    if (which == 0) run_f32(a->bits, b->bits, c->bits, s);
    if (which == 1) plain_product(a->bits, b->bits, c->bits, s);
    if (which == 2)
      blas(kRowMajor, kPlain, kPlain, (int)s.m, (int)s.n, (int)s.k, 1, a->bits, (int)s.k, b->bits, (int)s.n, 0, c->bits,
           (int)s.n);
    double taken = seconds() - start;
    best = taken < best ? taken : best;
  }
  return best;
}

static void print_time(const char *what, double time, size s, double own) {
  double gigaflops = 2e-9 * (double)s.m * (double)s.n * (double)s.k / time;
  printf("  %-28s %9.2f ms  %8.1f GFLOP/s  %6.2f of tilec's speed\n", what, time * 1e3, gigaflops, own / time);
}

static int bench(int64_t extent) {
  judge j = {0};
  size s = {extent, extent, extent};
  tensor a = tensor_random(F32, (size_t)(s.m * s.k), 1), b = tensor_random(F32, (size_t)(s.k * s.n), 1);
  tensor c = tensor_unwritten(F32, (size_t)(s.m * s.n));
  judge_begin(&j, "gemm_relu_f32");
  tile_status status = run_f32(a.bits, b.bits, c.bits, s);
  bool is_intact = tensor_read(&c);
  judge_rows(&j, &kVariants[2], &a, &b, &c, s);
  judge_end(&j, status, is_intact, kNames, (int64_t[]){s.m, s.n, s.k}, 3);
  if (j.failed) return judge_exit(&j, "gemm");
  printf("%d threads, best of some runs:\n", (int)tile1_threads());
  double own = best_time(0, NULL, &a, &b, &c, s);
  print_time("tilec, gemm_relu_f32", own, s, own);
  print_time("three loops in C", best_time(1, NULL, &a, &b, &c, s), s, own);
  sgemm blas = open_blas();
  if (blas) print_time("OpenBLAS (without the relu)", best_time(2, blas, &a, &b, &c, s), s, own);
  else printf("  OpenBLAS is not installed (libopenblas.so.0)\n");
  tensor_free(&a), tensor_free(&b), tensor_free(&c);
  return judge_exit(&j, "gemm");
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1}}, {{33, 257, 129}}, {{257, 33, 65}}, {{128, 128, 64}}, {{1, 4097, 33}},
                                  {{4097, 1, 17}}, {{64, 200, 1000}}, {{63, 65, 191}}, {{5, 7, 0}}};
  if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
    int64_t extent = argc > 2 ? strtoll(argv[2], NULL, 10) : 1024;
    if (extent >= 1 && extent <= 16384) return bench(extent);
    fprintf(stderr, "%s: a size from 1 to 16384 follows --bench\n", argv[0]);
    return 2;
  }
  judge j = {0};
  each_shape(argc, argv, 3, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "gemm");
}
