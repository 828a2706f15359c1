// Rows divided by their root mean square, with and without a weight, compared with float64. Arguments: shapes MxN.
#include <math.h>

#include "../common/example.h"
#include "rms_norm.h"

static const char *const kNames[] = {"M", "N"};
static const float kEpsilon = 1e-5f;

// Relative to an element: half of the sum's error, and some roundings of f32; then the result is rounded.
static void judge_row(judge *j, const tensor *x, const double *weight, const tensor *y, int64_t row, int64_t columns) {
  const double *in = x->values + row * columns;
  double squares = 0;
  for (int64_t i = 0; i < columns; ++i) squares += in[i] * in[i];
  double factor = 1 / sqrt(squares / (double)columns + (double)kEpsilon);
  double relative = sum_error(columns) + 16 * element_unit(F32) + element_unit(y->type);
  for (int64_t i = 0; i < columns; ++i) {
    size_t at = (size_t)(row * columns + i);
    double want = in[i] * factor * (weight ? weight[i] : 1);
    judge_element(j, at, y->values[at], want, fabs(want) * relative + element_step(y->type));
  }
}

static void run_one(judge *j, const int64_t *extents, element type, bool has_weight) {
  int64_t rows = extents[0], columns = extents[1];
  tensor x = tensor_random(type, (size_t)(rows * columns), 3), weight = tensor_random(type, (size_t)columns, 1);
  tensor y = tensor_unwritten(type, (size_t)(rows * columns));
  const void *w = has_weight ? weight.bits : NULL;
  judge_begin(j, type == F32 ? (has_weight ? "rms_norm_f32" : "rms_norm_f32, no weight")
                             : (has_weight ? "rms_norm_bf16" : "rms_norm_bf16, no weight"));
  tile_status status = type == F32 ? rms_norm_f32(x.bits, w, y.bits, kEpsilon, rows, columns, NULL)
                                   : rms_norm_bf16(x.bits, w, y.bits, kEpsilon, rows, columns, NULL);
  bool is_intact = tensor_read(&y);
  for (int64_t row = 0; row < rows; ++row) judge_row(j, &x, has_weight ? weight.values : NULL, &y, row, columns);
  judge_end(j, status, is_intact, kNames, extents, 2);
  tensor_free(&x), tensor_free(&weight), tensor_free(&y);
}

static void run(judge *j, const int64_t *extents) {
  for (int has_weight = 0; has_weight < 2; ++has_weight) {
    run_one(j, extents, F32, has_weight);
    run_one(j, extents, BF16, has_weight);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1}}, {{33, 257}}, {{257, 33}}, {{8, 512}}, {{5, 4097}}, {{64, 1000}}};
  judge j = {0};
  each_shape(argc, argv, 2, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "rms_norm");
}
