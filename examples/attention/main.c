// Attention, causal and not, with grouped heads, compared with float64. Arguments: shapes BxHxGxSxL (batch, heads of
// queries, heads of keys, queries, keys).
#include <math.h>
#include <stdlib.h>

#include "../common/example.h"
#include "attention.h"

static const char *const kNames[] = {"B", "H", "G", "S", "L"};

typedef struct {
  const char *name;
  element type;
  int64_t depth;  // of a head
  bool is_causal;
  tile_status (*call)(const void *, const void *, const void *, void *, float *, float, const int64_t *);
} variant;

// The generated functions take typed pointers; void pointers convert by themselves in C. `e` is B, H, G, S, L.
static tile_status full_f16(const void *q, const void *k, const void *v, void *o, float *lse, float scale,
                            const int64_t *e) {
  return attention_f16(q, k, v, o, lse, scale, e[0], e[1], e[3], e[2], e[4], NULL);
}
static tile_status causal_f16(const void *q, const void *k, const void *v, void *o, float *lse, float scale,
                              const int64_t *e) {
  return attention_causal_f16(q, k, v, o, lse, scale, e[0], e[1], e[3], e[2], e[4], NULL);
}
static tile_status causal_d64_f16(const void *q, const void *k, const void *v, void *o, float *lse, float scale,
                                  const int64_t *e) {
  return attention_causal_d64_f16(q, k, v, o, lse, scale, e[0], e[1], e[3], e[2], e[4], NULL);
}
static tile_status full_f32(const void *q, const void *k, const void *v, void *o, float *lse, float scale,
                            const int64_t *e) {
  return attention_f32(q, k, v, o, lse, scale, e[0], e[1], e[3], e[2], e[4], NULL);
}
static tile_status causal_f32(const void *q, const void *k, const void *v, void *o, float *lse, float scale,
                              const int64_t *e) {
  return attention_causal_f32(q, k, v, o, lse, scale, e[0], e[1], e[3], e[2], e[4], NULL);
}

static const variant kVariants[] = {
    {"attention_f16", F16, 128, false, full_f16},
    {"attention_causal_f16", F16, 128, true, causal_f16},
    {"attention_causal_d64_f16", F16, 64, true, causal_d64_f16},
    {"attention_f32", F32, 64, false, full_f32},
    {"attention_causal_f32", F32, 64, true, causal_f32},
};

typedef struct {
  tensor q, k, v, o, lse;
} tensors;

// One row of scores: base-2 logarithms of the weights, and what the f32 product may be off by.
typedef struct {
  double *score, greatest, error;
} row_scores;

static double dot(const double *a, const double *b, int64_t count, double *magnitude) {
  double sum = 0;
  *magnitude = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += a[i] * b[i];
    *magnitude += fabs(a[i] * b[i]);
  }
  return sum;
}

static void score_row(row_scores *row, const double *q, const double *keys, int64_t depth, int64_t visible,
                      double scale) {
  row->greatest = -INFINITY;
  row->error = 0;
  for (int64_t c = 0; c < visible; ++c) {
    double magnitude;
    row->score[c] = scale * dot(q, keys + c * depth, depth, &magnitude);
    double error = (sum_error(depth) + 4 * element_unit(F32)) * scale * magnitude;
    row->greatest = row->score[c] > row->greatest ? row->score[c] : row->greatest;
    row->error = error > row->error ? error : row->error;
  }
}

// A weight p is off, relatively, by what its score is off by, and by some roundings of f32; then p is rounded to the
// element type, and so is the result. `row->score` becomes p on the way.
static void judge_row(judge *j, const variant *v, tensors *t, row_scores *row, size_t at, const double *values,
                      int64_t visible) {
  double total = 0, relative = row->error + sum_error(visible) + 64 * element_unit(F32);
  for (int64_t c = 0; c < visible; ++c) total += row->score[c] = exp2(row->score[c] - row->greatest);
  for (int64_t d = 0; d < v->depth; ++d) {
    double sum = 0, magnitude = 0, greatest = 0;
    for (int64_t c = 0; c < visible; ++c) {
      double value = values[c * v->depth + d];
      sum += row->score[c] * value;
      magnitude += row->score[c] * fabs(value);
      greatest = fabs(value) > greatest ? fabs(value) : greatest;
    }
    double want = sum / total, unit = element_unit(v->type), step = element_step(v->type);
    double bound = ((relative + unit) * magnitude + (double)visible * step * greatest) / total;
    size_t element_at = at * (size_t)v->depth + (size_t)d;
    judge_element(j, element_at, t->o.values[element_at], want, bound + unit * fabs(want) + step);
  }
  double lse = row->greatest + log2(total);
  double bound = 2 * relative + 4 * element_unit(F32) * (fabs(row->greatest) + fabs(lse));
  judge_element(j, at, t->lse.values[at], lse, bound);
}

static void judge_all(judge *j, const variant *v, tensors *t, const int64_t *e, double scale) {
  int64_t heads = e[1], groups = e[2], queries = e[3], keys = e[4];
  row_scores row = {malloc((size_t)keys * sizeof(double)), 0, 0};
  if (!row.score) exit(3);
  for (int64_t z = 0; z < e[0]; ++z)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < queries; ++i) {
        int64_t group = h / (heads / groups), visible = v->is_causal && i + 1 < keys ? i + 1 : keys;
        size_t at = (size_t)((z * heads + h) * queries + i), from = (size_t)((z * groups + group) * keys * v->depth);
        score_row(&row, t->q.values + at * (size_t)v->depth, t->k.values + from, v->depth, visible, scale);
        judge_row(j, v, t, &row, at, t->v.values + from, visible);
      }
  free(row.score);
}

static void run(judge *j, const int64_t *e) {
  for (size_t i = 0; i < sizeof kVariants / sizeof *kVariants; ++i) {
    const variant *v = &kVariants[i];
    size_t rows = (size_t)(e[0] * e[1] * e[3]), columns = (size_t)(e[0] * e[2] * e[4]), depth = (size_t)v->depth;
    tensors t = {tensor_random(v->type, rows * depth, 1), tensor_random(v->type, columns * depth, 1),
                 tensor_random(v->type, columns * depth, 1), tensor_unwritten(v->type, rows * depth),
                 tensor_unwritten(F32, rows)};
    float scale = (float)(1.4426950408889634 / sqrt((double)v->depth));
    judge_begin(j, v->name);
    tile_status status = v->call(t.q.bits, t.k.bits, t.v.bits, t.o.bits, t.lse.bits, scale, e);
    bool is_intact = tensor_read(&t.o);
    is_intact = tensor_read(&t.lse) && is_intact;
    judge_all(j, v, &t, e, (double)scale);
    judge_end(j, status, is_intact, kNames, e, 5);
    tensor_free(&t.q), tensor_free(&t.k), tensor_free(&t.v), tensor_free(&t.o), tensor_free(&t.lse);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1, 1, 1}}, {{1, 3, 1, 33, 33}}, {{2, 4, 2, 257, 129}},
                                  {{1, 2, 2, 128, 512}}, {{1, 8, 2, 100, 100}}, {{1, 1, 1, 5, 1000}},
                                  {{3, 3, 1, 7, 65}}, {{1, 5, 5, 129, 31}}, {{1, 1, 1, 131, 257}}};
  judge j = {0};
  each_shape(argc, argv, 5, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "attention");
}
