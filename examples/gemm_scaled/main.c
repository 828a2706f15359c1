// Products of scaled bytes, compared with float64. Arguments: shapes MxNxK.
#include <math.h>

#include "../common/example.h"
#include "gemm_scaled.h"

static const char *const kNames[] = {"M", "N", "K"};

enum { kGroup = 128 };

typedef struct {
  int64_t m, n, k;
} size;

// The generated functions take typed pointers; void pointers convert by themselves in C.
static tile_status fp8_bf16(const void *a, const void *b, const void *sa, const void *sb, void *c, size s) {
  return gemm_fp8_bf16(a, b, sa, sb, c, s.m, s.k, s.n, NULL);
}
static tile_status fp8_f16(const void *a, const void *b, const void *sa, const void *sb, void *c, size s) {
  return gemm_fp8_f16(a, b, sa, sb, c, s.m, s.k, s.n, NULL);
}
static tile_status blocks_bf16(const void *a, const void *b, const void *sa, const void *sb, void *c, size s) {
  return gemm_fp8_blocks_bf16(a, b, sa, sb, c, s.m, s.k, s.n, NULL);
}
static tile_status blocks_f16(const void *a, const void *b, const void *sa, const void *sb, void *c, size s) {
  return gemm_fp8_blocks_f16(a, b, sa, sb, c, s.m, s.k, s.n, NULL);
}
static tile_status i8_bf16(const void *a, const void *b, const void *sa, const void *sb, void *c, size s) {
  return gemm_i8_bf16(a, b, sa, sb, c, s.m, s.k, s.n, NULL);
}
static tile_status i8_f16(const void *a, const void *b, const void *sa, const void *sb, void *c, size s) {
  return gemm_i8_f16(a, b, sa, sb, c, s.m, s.k, s.n, NULL);
}

// How many rows of A, rows of B and columns of both share a scale; 0: all.
typedef struct {
  int64_t rows_a, rows_b, columns;
} sharing;

typedef struct {
  const char *name;
  element operand, result;
  sharing shared;
  tile_status (*call)(const void *, const void *, const void *, const void *, void *, size);
} variant;

static const variant kVariants[] = {
    {"gemm_fp8_bf16", F8E4M3, BF16, {0, 0, 0}, fp8_bf16},
    {"gemm_fp8_f16", F8E4M3, F16, {0, 0, 0}, fp8_f16},
    {"gemm_fp8_blocks_bf16", F8E4M3, BF16, {1, kGroup, kGroup}, blocks_bf16},
    {"gemm_fp8_blocks_f16", F8E4M3, F16, {1, kGroup, kGroup}, blocks_f16},
    {"gemm_i8_bf16", I8, BF16, {1, 1, 0}, i8_bf16},
    {"gemm_i8_f16", I8, F16, {1, 1, 0}, i8_f16},
};

static int64_t parts(int64_t extent, int64_t shared) { return shared ? (extent + shared - 1) / shared : 1; }
static int64_t part_of(int64_t index, int64_t shared) { return shared ? index / shared : 0; }

typedef struct {
  tensor a, b, scales_a, scales_b, c;
} tensors;

// Scales are applied to sums, in few roundings of f32: an element is off by those of an f32 sum, by some more and,
// once, by that of the result. Sums of integers are exact, those of bytes
// on a GPU less exact than f32.
static void judge_product(judge *j, const variant *v, const tensors *t, size s) {
  int64_t across = parts(s.k, v->shared.columns);
  double sum_bound = (v->operand == I8 ? 0 : sum_error(s.k)) + 8 * element_unit(F32);
  double byte_bound = v->operand == I8 ? 0 : byte_sum_error(s.k);
  for (int64_t row = 0; row < s.m; ++row)
    for (int64_t column = 0; column < s.n; ++column) {
      const double *scales_a = t->scales_a.values + part_of(row, v->shared.rows_a) * across;
      const double *scales_b = t->scales_b.values + part_of(column, v->shared.rows_b) * across;
      double sum = 0, magnitude = 0, greatest = 0;
      for (int64_t k = 0; k < s.k; ++k) {
        int64_t part = part_of(k, v->shared.columns);
        double product = t->a.values[row * s.k + k] * t->b.values[column * s.k + k] * scales_a[part] * scales_b[part];
        sum += product;
        magnitude += fabs(product);
        greatest = fmax(greatest, fmax(fabs(product), fabs(sum)));
      }
      size_t at = (size_t)(row * s.n + column);
      double bound = element_unit(v->result) * fabs(sum) + element_step(v->result) + sum_bound * magnitude;
      bound += byte_bound * greatest;
      judge_element(j, at, t->c.values[at], sum, bound);
    }
}

static void run(judge *j, const int64_t *extents) {
  size s = {extents[0], extents[1], extents[2]};
  for (size_t i = 0; i < sizeof kVariants / sizeof *kVariants; ++i) {
    const variant *v = &kVariants[i];
    int64_t across = parts(s.k, v->shared.columns);
    tensors t = {tensor_random(v->operand, (size_t)(s.m * s.k), 1), tensor_random(v->operand, (size_t)(s.n * s.k), 1),
                 tensor_random(F32, (size_t)(parts(s.m, v->shared.rows_a) * across), 0.3),
                 tensor_random(F32, (size_t)(parts(s.n, v->shared.rows_b) * across), 0.3),
                 tensor_unwritten(v->result, (size_t)(s.m * s.n))};
    judge_begin(j, v->name);
    tile_status status = v->call(t.a.bits, t.b.bits, t.scales_a.bits, t.scales_b.bits, t.c.bits, s);
    bool is_intact = tensor_read(&t.c);
    judge_product(j, v, &t, s);
    judge_end(j, status, is_intact, kNames, extents, 3);
    tensor_free(&t.a), tensor_free(&t.b), tensor_free(&t.scales_a), tensor_free(&t.scales_b), tensor_free(&t.c);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1}},    {{33, 129, 129}}, {{129, 33, 385}}, {{128, 128, 256}},
                                  {{1, 513, 33}}, {{513, 1, 17}},   {{64, 96, 300}},  {{130, 71, 127}},
                                  {{5, 7, 0}},    {{0, 3, 9}}};
  judge j = {0};
  each_shape(argc, argv, 3, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "gemm_scaled");
}
