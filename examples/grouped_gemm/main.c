// A product for each group of rows, compared with float64. Arguments: shapes MxNxKxG. Groups grow, so that the first
// ones are small or empty, and up to two rows before them belong to none.
#include <math.h>

#include "../common/example.h"
#include "grouped_gemm.h"

static const char *const kNames[] = {"M", "N", "K", "G"};

typedef struct {
  int64_t m, n, k, groups;
} size;

// The generated functions take typed pointers; void pointers convert by themselves in C.
static tile_status run_f16(const void *a, const void *b, const int32_t *offsets, void *c, size s) {
  return grouped_gemm_f16(a, b, offsets, c, s.m, s.k, s.groups, s.n, NULL);
}
static tile_status run_bf16(const void *a, const void *b, const int32_t *offsets, void *c, size s) {
  return grouped_gemm_bf16(a, b, offsets, c, s.m, s.k, s.groups, s.n, NULL);
}
static tile_status run_f32(const void *a, const void *b, const int32_t *offsets, void *c, size s) {
  return grouped_gemm_f32(a, b, offsets, c, s.m, s.k, s.groups, s.n, NULL);
}

typedef struct {
  const char *name;
  element type;
  tile_status (*call)(const void *, const void *, const int32_t *, void *, size);
} variant;

static const variant kVariants[] = {
    {"grouped_gemm_f16", F16, run_f16},
    {"grouped_gemm_bf16", BF16, run_bf16},
    {"grouped_gemm_f32", F32, run_f32},
};

static tensor growing_offsets(size s) {
  tensor t = tensor_unwritten(I32, (size_t)s.groups + 1);
  int64_t first = s.m % 3;
  for (int64_t g = 0; g <= s.groups; ++g) {
    int64_t offset = first + (s.groups ? (s.m - first) * g * g / (s.groups * s.groups) : 0);
    element_set(I32, t.bits, (size_t)g, (double)offset);
  }
  tensor_read(&t);
  return t;
}

// An element is off by the roundings of an f32 sum and, once, of the result.
static void judge_row(judge *j, const double *a, const double *b, const tensor *c, int64_t row, size s) {
  for (int64_t column = 0; column < s.n; ++column) {
    double sum = 0, magnitude = 0;
    for (int64_t k = 0; k < s.k; ++k) {
      double product = a[k] * b[k * s.n + column];
      sum += product;
      magnitude += fabs(product);
    }
    size_t at = (size_t)(row * s.n + column);
    double bound = element_unit(c->type) * fabs(sum) + element_step(c->type) + sum_error(s.k) * magnitude;
    judge_element(j, at, c->values[at], sum, bound);
  }
}

static void judge_groups(judge *j, const tensor *a, const tensor *b, const tensor *offsets, const tensor *c, size s) {
  for (int64_t g = 0; g < s.groups; ++g)
    for (int64_t row = (int64_t)offsets->values[g]; row < (int64_t)offsets->values[g + 1]; ++row)
      judge_row(j, a->values + row * s.k, b->values + g * s.k * s.n, c, row, s);
  // Rows of no group keep what they had.
  int64_t first = s.groups ? (int64_t)offsets->values[0] : s.m;
  for (size_t at = 0; at < (size_t)(first * s.n); ++at) judge_element(j, at, c->values[at], NAN, 0);
}

static void run(judge *j, const int64_t *extents) {
  size s = {extents[0], extents[1], extents[2], extents[3]};
  for (size_t i = 0; i < sizeof kVariants / sizeof *kVariants; ++i) {
    const variant *v = &kVariants[i];
    tensor a = tensor_random(v->type, (size_t)(s.m * s.k), 1);
    tensor b = tensor_random(v->type, (size_t)(s.groups * s.k * s.n), 1);
    tensor offsets = growing_offsets(s), c = tensor_unwritten(v->type, (size_t)(s.m * s.n));
    judge_begin(j, v->name);
    tile_status status = v->call(a.bits, b.bits, offsets.bits, c.bits, s);
    bool is_intact = tensor_read(&c);
    judge_groups(j, &a, &b, &offsets, &c, s);
    judge_end(j, status, is_intact, kNames, extents, 4);
    tensor_free(&a), tensor_free(&b), tensor_free(&offsets), tensor_free(&c);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1, 1}}, {{33, 257, 129, 3}}, {{257, 33, 65, 9}}, {{128, 128, 64, 2}},
                                  {{5, 129, 33, 7}}, {{1025, 5, 17, 31}}, {{200, 64, 300, 4}}, {{65, 31, 7, 5}},
                                  {{7, 9, 0, 3}}, {{0, 3, 9, 5}}, {{65, 3, 11, 0}}};
  judge j = {0};
  each_shape(argc, argv, 4, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "grouped_gemm");
}
