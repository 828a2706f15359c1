// A matrix times a vector, and times up to 16 rows, compared with float64. Arguments: shapes MxNxK; the matrix has N
// rows of K elements, and the vector's product is judged where M is 1.
#include <math.h>

#include "../common/example.h"
#include "gemv.h"

static const char *const kNames[] = {"M", "N", "K"};

typedef struct {
  int64_t m, n, k;
} size;

// The generated functions take typed pointers; void pointers convert by themselves in C.
static tile_status vector_f16(const void *x, const void *w, void *y, size s) {
  return gemv_f16(w, x, y, s.n, s.k, NULL);
}
static tile_status vector_bf16(const void *x, const void *w, void *y, size s) {
  return gemv_bf16(w, x, y, s.n, s.k, NULL);
}
static tile_status vector_f32(const void *x, const void *w, void *y, size s) {
  return gemv_f32(w, x, y, s.n, s.k, NULL);
}
static tile_status rows_f16(const void *x, const void *w, void *y, size s) {
  return skinny_gemm_f16(x, w, y, s.m, s.k, s.n, NULL);
}
static tile_status rows_bf16(const void *x, const void *w, void *y, size s) {
  return skinny_gemm_bf16(x, w, y, s.m, s.k, s.n, NULL);
}

typedef struct {
  const char *name;
  element type;
  int64_t most_rows;
  tile_status (*call)(const void *, const void *, void *, size);
} variant;

static const variant kVariants[] = {
    {"gemv_f16", F16, 1, vector_f16},          {"gemv_bf16", BF16, 1, vector_bf16},
    {"gemv_f32", F32, 1, vector_f32},          {"skinny_gemm_f16", F16, 16, rows_f16},
    {"skinny_gemm_bf16", BF16, 16, rows_bf16},
};

// An element is off by the roundings of an f32 sum and, once, of the result.
static void judge_product(judge *j, const tensor *x, const tensor *w, const tensor *y, size s) {
  for (int64_t row = 0; row < s.m; ++row)
    for (int64_t column = 0; column < s.n; ++column) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < s.k; ++k) {
        double product = x->values[row * s.k + k] * w->values[column * s.k + k];
        sum += product;
        magnitude += fabs(product);
      }
      size_t at = (size_t)(row * s.n + column);
      double bound = element_unit(y->type) * fabs(sum) + element_step(y->type) + sum_error(s.k) * magnitude;
      judge_element(j, at, y->values[at], sum, bound);
    }
}

static void run(judge *j, const int64_t *extents) {
  size s = {extents[0], extents[1], extents[2]};
  for (size_t i = 0; i < sizeof kVariants / sizeof *kVariants; ++i) {
    const variant *v = &kVariants[i];
    if (s.m > v->most_rows || (s.m == 0 && v->most_rows == 1)) continue;
    tensor x = tensor_random(v->type, (size_t)(s.m * s.k), 1), w = tensor_random(v->type, (size_t)(s.n * s.k), 1);
    tensor y = tensor_unwritten(v->type, (size_t)(s.m * s.n));
    judge_begin(j, v->name);
    tile_status status = v->call(x.bits, w.bits, y.bits, s);
    bool is_intact = tensor_read(&y);
    judge_product(j, &x, &w, &y, s);
    judge_end(j, status, is_intact, kNames, extents, 3);
    tensor_free(&x), tensor_free(&w), tensor_free(&y);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1}}, {{1, 257, 4097}}, {{1, 1000, 512}}, {{1, 7, 100003}}, {{1, 33, 65}},
                                  {{1, 129, 1}}, {{1, 64, 4096}}, {{1, 1, 1023}}, {{3, 65, 1025}}, {{16, 512, 768}},
                                  {{15, 33, 129}}, {{7, 1, 255}}, {{1, 5, 0}}, {{0, 3, 9}}};
  judge j = {0};
  each_shape(argc, argv, 3, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "gemv");
}
