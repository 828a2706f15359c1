// Products of operands that lie as they are or turned, compared with float64. Arguments: shapes MxNxK.
#include <math.h>

#include "../common/example.h"
#include "gemm_layouts.h"

static const char *const kNames[] = {"M", "N", "K"};

typedef struct {
  int64_t m, n, k;
} size;

// The generated functions take typed pointers; void pointers convert by themselves in C. Dims come in the order of
// their first appearance, so those of a turned A begin with K.
static tile_status nn_f16(const void *a, const void *b, void *c, size s) {
  return gemm_nn_f16(a, b, c, s.m, s.k, s.n, NULL);
}
static tile_status nt_f16(const void *a, const void *b, void *c, size s) {
  return gemm_nt_f16(a, b, c, s.m, s.k, s.n, NULL);
}
static tile_status tn_f16(const void *a, const void *b, void *c, size s) {
  return gemm_tn_f16(a, b, c, s.k, s.m, s.n, NULL);
}
static tile_status tt_f16(const void *a, const void *b, void *c, size s) {
  return gemm_tt_f16(a, b, c, s.k, s.m, s.n, NULL);
}
static tile_status nn_bf16(const void *a, const void *b, void *c, size s) {
  return gemm_nn_bf16(a, b, c, s.m, s.k, s.n, NULL);
}
static tile_status nt_bf16(const void *a, const void *b, void *c, size s) {
  return gemm_nt_bf16(a, b, c, s.m, s.k, s.n, NULL);
}
static tile_status tn_bf16(const void *a, const void *b, void *c, size s) {
  return gemm_tn_bf16(a, b, c, s.k, s.m, s.n, NULL);
}
static tile_status tt_bf16(const void *a, const void *b, void *c, size s) {
  return gemm_tt_bf16(a, b, c, s.k, s.m, s.n, NULL);
}
static tile_status nt_f32(const void *a, const void *b, void *c, size s) {
  return gemm_nt_f32(a, b, c, s.m, s.k, s.n, NULL);
}
static tile_status nt_tf32(const void *a, const void *b, void *c, size s) {
  return gemm_nt_tf32(a, b, c, s.m, s.k, s.n, NULL);
}
static tile_status tn_f32(const void *a, const void *b, void *c, size s) {
  return gemm_tn_f32(a, b, c, s.k, s.m, s.n, NULL);
}

typedef struct {
  const char *name;
  element type, result;
  bool is_a_turned, is_b_turned;
  tile_status (*call)(const void *, const void *, void *, size);
} variant;

static const variant kVariants[] = {
    {"gemm_nn_f16", F16, F16, false, false, nn_f16},     {"gemm_nt_f16", F16, F16, false, true, nt_f16},
    {"gemm_tn_f16", F16, F16, true, false, tn_f16},      {"gemm_tt_f16", F16, F16, true, true, tt_f16},
    {"gemm_nn_bf16", BF16, BF16, false, false, nn_bf16}, {"gemm_nt_bf16", BF16, BF16, false, true, nt_bf16},
    {"gemm_tn_bf16", BF16, BF16, true, false, tn_bf16},  {"gemm_tt_bf16", BF16, BF16, true, true, tt_bf16},
    {"gemm_nt_f32", F32, F32, false, true, nt_f32},      {"gemm_nt_tf32", TF32, F32, false, true, nt_tf32},
    {"gemm_tn_f32", F32, F32, true, false, tn_f32},
};

// An element is off by the roundings of an f32 sum and, once, of the result.
static void judge_product(judge *j, const variant *v, const tensor *a, const tensor *b, const tensor *c, size s) {
  for (int64_t row = 0; row < s.m; ++row)
    for (int64_t column = 0; column < s.n; ++column) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < s.k; ++k) {
        double left = a->values[v->is_a_turned ? k * s.m + row : row * s.k + k];
        double right = b->values[v->is_b_turned ? column * s.k + k : k * s.n + column];
        sum += left * right;
        magnitude += fabs(left * right);
      }
      size_t at = (size_t)(row * s.n + column);
      double bound = element_unit(c->type) * fabs(sum) + element_step(c->type) + sum_error(s.k) * magnitude;
      judge_element(j, at, c->values[at], sum, bound);
    }
}

static void run(judge *j, const int64_t *extents) {
  size s = {extents[0], extents[1], extents[2]};
  for (size_t i = 0; i < sizeof kVariants / sizeof *kVariants; ++i) {
    const variant *v = &kVariants[i];
    tensor a = tensor_random(v->type, (size_t)(s.m * s.k), 1), b = tensor_random(v->type, (size_t)(s.k * s.n), 1);
    tensor c = tensor_unwritten(v->result, (size_t)(s.m * s.n));
    judge_begin(j, v->name);
    tile_status status = v->call(a.bits, b.bits, c.bits, s);
    bool is_intact = tensor_read(&c);
    judge_product(j, v, &a, &b, &c, s);
    judge_end(j, status, is_intact, kNames, extents, 3);
    tensor_free(&a), tensor_free(&b), tensor_free(&c);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1}}, {{33, 257, 129}}, {{257, 33, 65}}, {{128, 128, 64}}, {{1, 1025, 33}},
                                  {{1025, 1, 17}}, {{64, 200, 500}}, {{63, 65, 191}}, {{5, 7, 0}}, {{0, 3, 9}}};
  judge j = {0};
  each_shape(argc, argv, 3, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "gemm_layouts");
}
