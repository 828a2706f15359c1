// Batches of products: dense, with padded rows, with one B for the whole batch, and against rows of B. Arguments:
// shapes ZxMxNxK.
#include <math.h>

#include "../common/example.h"
#include "batched_gemm.h"

static const char *const kNames[] = {"Z", "M", "N", "K"};

// Where the elements of a batch of matrices are: [index, row, column] at index * batch + row * row_stride + column.
typedef struct {
  int64_t batch, row;
} strides;

typedef struct {
  int64_t z, m, n, k;
} size;

// An element is off by the roundings of an f32 sum and, once, of the result.
static void judge_batch(judge *j, size s, const tensor *a, strides sa, const tensor *b, strides sb,
                        bool is_b_transposed, const tensor *c, strides sc) {
  for (int64_t z = 0; z < s.z; ++z)
    for (int64_t row = 0; row < s.m; ++row)
      for (int64_t column = 0; column < s.n; ++column) {
        double sum = 0, magnitude = 0;
        for (int64_t k = 0; k < s.k; ++k) {
          int64_t in_b = is_b_transposed ? column * sb.row + k : k * sb.row + column;
          double product = a->values[z * sa.batch + row * sa.row + k] * b->values[z * sb.batch + in_b];
          sum += product;
          magnitude += fabs(product);
        }
        size_t at = (size_t)(z * sc.batch + row * sc.row + column);
        double bound = element_unit(c->type) * fabs(sum) + element_step(c->type) + sum_error(s.k) * magnitude;
        judge_element(j, at, c->values[at], sum, bound);
      }
}

// What lies between the rows of C belongs to the caller.
static bool gaps_are_untouched(const tensor *c, size s, strides sc) {
  for (int64_t z = 0; z < s.z; ++z)
    for (int64_t row = 0; row < s.m; ++row)
      for (int64_t column = s.n; column < sc.row; ++column)
        if (!isnan(c->values[z * sc.batch + row * sc.row + column])) return false;
  return true;
}

static void run_strided(judge *j, const int64_t *extents, element type, int64_t padding, bool shares_b) {
  size s = {extents[0], extents[1], extents[2], extents[3]};
  strides sa = {s.m * (s.k + padding), s.k + padding}, sb = {shares_b ? 0 : s.k * (s.n + padding), s.n + padding};
  strides sc = {s.m * (s.n + padding), s.n + padding};
  tensor a = tensor_random(type, (size_t)(s.z * sa.batch), 1);
  tensor b = tensor_random(type, (size_t)((shares_b ? 1 : s.z) * s.k * sb.row), 1);
  tensor c = tensor_unwritten(type, (size_t)(s.z * sc.batch));
  const char *half = shares_b ? "batched_gemm_f16, one B" : "batched_gemm_f16";
  judge_begin(j, type == F16 ? half : "batched_gemm_f32, padded");
  tile_status status;
  if (type == F16)
    status = batched_gemm_f16(a.bits, b.bits, c.bits, s.z, s.m, s.k, sa.batch, sa.row, s.n, sb.batch, sb.row, sc.batch,
                              sc.row, NULL);
  else
    status = batched_gemm_f32(a.bits, b.bits, c.bits, s.z, s.m, s.k, sa.batch, sa.row, s.n, sb.batch, sb.row, sc.batch,
                              sc.row, NULL);
  bool is_intact = tensor_read(&c);
  judge_batch(j, s, &a, sa, &b, sb, false, &c, sc);
  judge_end(j, status, is_intact && gaps_are_untouched(&c, s, sc), kNames, extents, 4);
  tensor_free(&a), tensor_free(&b), tensor_free(&c);
}

static void run_transposed(judge *j, const int64_t *extents) {
  size s = {extents[0], extents[1], extents[2], extents[3]};
  strides sa = {s.m * s.k, s.k}, sb = {s.n * s.k, s.k}, sc = {s.m * s.n, s.n};
  tensor a = tensor_random(F16, (size_t)(s.z * sa.batch), 1), b = tensor_random(F16, (size_t)(s.z * sb.batch), 1);
  tensor c = tensor_unwritten(F16, (size_t)(s.z * sc.batch));
  judge_begin(j, "batched_gemm_transposed_f16");
  tile_status status = batched_gemm_transposed_f16(a.bits, b.bits, c.bits, s.z, s.m, s.k, s.n, NULL);
  bool is_intact = tensor_read(&c);
  judge_batch(j, s, &a, sa, &b, sb, true, &c, sc);
  judge_end(j, status, is_intact, kNames, extents, 4);
  tensor_free(&a), tensor_free(&b), tensor_free(&c);
}

static void run(judge *j, const int64_t *extents) {
  run_strided(j, extents, F16, 0, false);
  run_strided(j, extents, F32, 5, false);
  run_strided(j, extents, F16, 0, true);
  run_transposed(j, extents);
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1, 1}}, {{3, 33, 65, 17}}, {{2, 257, 33, 129}}, {{5, 64, 64, 64}},
                                  {{7, 96, 96, 96}}, {{1, 1, 4097, 33}}, {{3, 7, 129, 65}}, {{5, 9, 33, 7}},
                                  {{2, 5, 7, 0}}};
  judge j = {0};
  each_shape(argc, argv, 4, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "batched_gemm");
}
