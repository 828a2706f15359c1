// Softmax of rows, compared with float64. Arguments: shapes MxN.
#include <math.h>

#include "../common/example.h"
#include "softmax.h"

static const char *const kNames[] = {"M", "N"};

// Relative to an element: the difference x - max is rounded once and its exponential is within 4 units in the last
// place; the sum of N exponentials has the same errors and its own, the product one more. Then the result is rounded.
static double bound_of(element type, double want, double distance, int64_t columns) {
  double relative = (2 * distance + 64) * element_unit(F32) + sum_error(columns);
  return want * (relative + element_unit(type)) + element_step(type) + 0x1p-126;
}

static void judge_row(judge *j, const tensor *x, const tensor *y, int64_t row, int64_t columns) {
  const double *in = x->values + row * columns;
  double greatest = -INFINITY, total = 0;
  for (int64_t i = 0; i < columns; ++i) greatest = in[i] > greatest ? in[i] : greatest;
  for (int64_t i = 0; i < columns; ++i) total += exp(in[i] - greatest);
  for (int64_t i = 0; i < columns; ++i) {
    size_t at = (size_t)(row * columns + i);
    double want = exp(in[i] - greatest) / total;
    judge_element(j, at, y->values[at], want, bound_of(y->type, want, greatest - in[i], columns));
  }
}

static const struct {
  const char *name;
  element type;
} kVariants[] = {{"softmax_f32", F32}, {"softmax_f16", F16}, {"softmax_long_f32", F32}};

static tile_status call(size_t variant, const void *x, void *y, int64_t rows, int64_t columns) {
  if (variant == 0) return softmax_f32(x, y, rows, columns, NULL);
  return variant == 1 ? softmax_f16(x, y, rows, columns, NULL) : softmax_long_f32(x, y, rows, columns, NULL);
}

static void run(judge *j, const int64_t *extents) {
  int64_t rows = extents[0], columns = extents[1];
  for (size_t i = 0; i < sizeof kVariants / sizeof *kVariants; ++i) {
    element type = kVariants[i].type;
    tensor x = tensor_random(type, (size_t)(rows * columns), 4), y = tensor_unwritten(type, (size_t)(rows * columns));
    judge_begin(j, kVariants[i].name);
    tile_status status = call(i, x.bits, y.bits, rows, columns);
    bool is_intact = tensor_read(&y);
    for (int64_t row = 0; row < rows; ++row) judge_row(j, &x, &y, row, columns);
    judge_end(j, status, is_intact, kNames, extents, 2);
    tensor_free(&x), tensor_free(&y);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1}}, {{33, 257}}, {{257, 33}}, {{8, 512}}, {{5, 4097}}, {{31, 129}},
                                  {{64, 1000}}, {{0, 7}}, {{1, 100003}}};
  judge j = {0};
  each_shape(argc, argv, 2, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "softmax");
}
