// Rows less their mean, divided by their standard deviation, with and without a weight and a bias, compared with
// float64. Arguments: shapes MxN.
#include <math.h>

#include "../common/example.h"
#include "layer_norm.h"

static const char *const kNames[] = {"M", "N"};
static const float kEpsilon = 1e-5f;

// The generated functions take typed pointers; void pointers convert by themselves in C.
static tile_status run_f32(const void *x, const void *w, const void *b, void *y, const int64_t *e) {
  return layer_norm_f32(x, w, b, y, kEpsilon, e[0], e[1], NULL);
}
static tile_status run_f16(const void *x, const void *w, const void *b, void *y, const int64_t *e) {
  return layer_norm_f16(x, w, b, y, kEpsilon, e[0], e[1], NULL);
}
static tile_status run_bf16(const void *x, const void *w, const void *b, void *y, const int64_t *e) {
  return layer_norm_bf16(x, w, b, y, kEpsilon, e[0], e[1], NULL);
}

static tile_status run_long_f32(const void *x, const void *w, const void *b, void *y, const int64_t *e) {
  return layer_norm_long_f32(x, w, b, y, kEpsilon, e[0], e[1], NULL);
}

typedef struct {
  const char *name;
  element type;
  bool has_weight, has_bias;
  tile_status (*call)(const void *, const void *, const void *, void *, const int64_t *);
} variant;

static const variant kVariants[] = {
    {"layer_norm_f32", F32, true, true, run_f32},
    {"layer_norm_f32, no bias", F32, true, false, run_f32},
    {"layer_norm_f32, bias alone", F32, false, true, run_f32},
    {"layer_norm_f16", F16, true, true, run_f16},
    {"layer_norm_f16, plain", F16, false, false, run_f16},
    {"layer_norm_bf16", BF16, true, true, run_bf16},
    {"layer_norm_long_f32", F32, true, true, run_long_f32},
};

// The mean is off by the roundings of a sum. An error e of the mean changes the sum of squares about it by its square
// alone, N e e; that, the sum's own error and some roundings of f32 make the relative error of the factor.
static void judge_row(judge *j, const variant *v, const tensor *x, const double *weight, const double *bias,
                      const tensor *y, int64_t row, int64_t columns) {
  const double *in = x->values + row * columns;
  double sum = 0, magnitude = 0, squares = 0, unit = element_unit(F32);
  for (int64_t i = 0; i < columns; ++i) sum += in[i], magnitude += fabs(in[i]);
  double mean = sum / (double)columns;
  for (int64_t i = 0; i < columns; ++i) squares += (in[i] - mean) * (in[i] - mean);
  double variance = squares / (double)columns + (double)kEpsilon, factor = 1 / sqrt(variance);
  double mean_error = (sum_error(columns) + 8 * unit) * magnitude / (double)columns;
  double relative = sum_error(columns) + 16 * unit + mean_error * mean_error / variance;
  for (int64_t i = 0; i < columns; ++i) {
    size_t at = (size_t)(row * columns + i);
    double w = weight ? weight[i] : 1, b = bias ? bias[i] : 0, product = (in[i] - mean) * factor * w;
    double error = fabs(product) * relative + fabs(factor * w) * mean_error + unit * fabs(product + b);
    double bound = error + element_unit(v->type) * (fabs(product + b) + error) + element_step(v->type);
    judge_element(j, at, y->values[at], product + b, bound);
  }
}

static void run(judge *j, const int64_t *extents) {
  int64_t rows = extents[0], columns = extents[1];
  for (size_t i = 0; i < sizeof kVariants / sizeof *kVariants; ++i) {
    const variant *v = &kVariants[i];
    tensor x = tensor_random(v->type, (size_t)(rows * columns), 3), weight = tensor_random(v->type, (size_t)columns, 1);
    tensor bias = tensor_random(v->type, (size_t)columns, 1), y = tensor_unwritten(v->type, (size_t)(rows * columns));
    judge_begin(j, v->name);
    tile_status status =
        v->call(x.bits, v->has_weight ? weight.bits : NULL, v->has_bias ? bias.bits : NULL, y.bits, extents);
    bool is_intact = tensor_read(&y);
    for (int64_t row = 0; row < rows; ++row)
      judge_row(j, v, &x, v->has_weight ? weight.values : NULL, v->has_bias ? bias.values : NULL, &y, row, columns);
    judge_end(j, status, is_intact, kNames, extents, 2);
    tensor_free(&x), tensor_free(&weight), tensor_free(&bias), tensor_free(&y);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1}}, {{33, 257}}, {{257, 33}}, {{8, 512}}, {{5, 4097}}, {{31, 129}},
                                  {{64, 1000}}, {{0, 7}}, {{1, 100003}}};
  judge j = {0};
  each_shape(argc, argv, 2, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "layer_norm");
}
