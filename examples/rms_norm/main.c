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

// The generated functions take typed pointers; void pointers convert by themselves in C.
static tile_status run_f32(const void *x, const void *w, void *y, const int64_t *e) {
  return rms_norm_f32(x, w, y, kEpsilon, e[0], e[1], NULL);
}
static tile_status run_bf16(const void *x, const void *w, void *y, const int64_t *e) {
  return rms_norm_bf16(x, w, y, kEpsilon, e[0], e[1], NULL);
}
static tile_status run_long_f32(const void *x, const void *w, void *y, const int64_t *e) {
  return rms_norm_long_f32(x, w, y, kEpsilon, e[0], e[1], NULL);
}

typedef struct {
  const char *name;
  element type;
  bool has_weight;
  tile_status (*call)(const void *, const void *, void *, const int64_t *);
} variant;

static const variant kVariants[] = {
    {"rms_norm_f32, no weight", F32, false, run_f32}, {"rms_norm_bf16, no weight", BF16, false, run_bf16},
    {"rms_norm_f32", F32, true, run_f32},             {"rms_norm_bf16", BF16, true, run_bf16},
    {"rms_norm_long_f32", F32, true, run_long_f32},
};

static void run(judge *j, const int64_t *extents) {
  int64_t rows = extents[0], columns = extents[1];
  for (size_t i = 0; i < sizeof kVariants / sizeof *kVariants; ++i) {
    const variant *v = &kVariants[i];
    tensor x = tensor_random(v->type, (size_t)(rows * columns), 3), weight = tensor_random(v->type, (size_t)columns, 1);
    tensor y = tensor_unwritten(v->type, (size_t)(rows * columns));
    judge_begin(j, v->name);
    tile_status status = v->call(x.bits, v->has_weight ? weight.bits : NULL, y.bits, extents);
    bool is_intact = tensor_read(&y);
    for (int64_t row = 0; row < rows; ++row)
      judge_row(j, &x, v->has_weight ? weight.values : NULL, &y, row, columns);
    judge_end(j, status, is_intact, kNames, extents, 2);
    tensor_free(&x), tensor_free(&weight), tensor_free(&y);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1}}, {{33, 257}}, {{257, 33}}, {{8, 512}}, {{5, 4097}}, {{31, 129}},
                                  {{64, 1000}}, {{0, 7}}, {{1, 100003}}};
  judge j = {0};
  each_shape(argc, argv, 2, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "rms_norm");
}
