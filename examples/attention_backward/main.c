// The derivatives of attention, compared with float64. Arguments: shapes BxHxGxSxL (batch, heads of queries, heads of
// keys, queries, keys).
//
// What the forward pass left, O and lse, is an input here: float64 takes the same rounded numbers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/attention.h"
#include "attention_backward.h"

static const char *const kNames[] = {"B", "H", "G", "S", "L"};
static const double kLn2 = 0.69314718055994530942;

typedef struct {
  tensor q, k, v, o, d_o, lse, dq, dk, dv;
} tensors;

// The generated functions take typed pointers; void pointers convert by themselves in C. `e` is B, H, G, S, L.
static tile_status run_f16(tensors *t, float scale, const int64_t *e) {
  return attention_backward_f16(t->q.bits, t->k.bits, t->v.bits, t->o.bits, t->d_o.bits, t->lse.bits, t->dq.bits,
                                t->dk.bits, t->dv.bits, scale, e[0], e[1], e[3], e[2], e[4], NULL, 0, NULL);
}
static tile_status run_causal_f16(tensors *t, float scale, const int64_t *e) {
  return attention_backward_causal_f16(t->q.bits, t->k.bits, t->v.bits, t->o.bits, t->d_o.bits, t->lse.bits,
                                       t->dq.bits, t->dk.bits, t->dv.bits, scale, e[0], e[1], e[3], e[2], e[4], NULL, 0,
                                       NULL);
}
static tile_status run_d128_bf16(tensors *t, float scale, const int64_t *e) {
  return attention_backward_d128_bf16(t->q.bits, t->k.bits, t->v.bits, t->o.bits, t->d_o.bits, t->lse.bits, t->dq.bits,
                                      t->dk.bits, t->dv.bits, scale, e[0], e[1], e[3], e[2], e[4], NULL, 0, NULL);
}
static tile_status run_ordered_f16(tensors *t, float scale, const int64_t *e) {
  return attention_backward_ordered_f16(t->q.bits, t->k.bits, t->v.bits, t->o.bits, t->d_o.bits, t->lse.bits,
                                        t->dq.bits, t->dk.bits, t->dv.bits, scale, e[0], e[1], e[3], e[2], e[4], NULL,
                                        0, NULL);
}

typedef struct {
  const char *name;
  element type;
  int64_t depth;
  bool is_causal;
  tile_status (*call)(tensors *, float, const int64_t *);
} variant;

static const variant kVariants[] = {
    {"attention_backward_f16", F16, 64, false, run_f16},
    {"attention_backward_causal_f16", F16, 64, true, run_causal_f16},
    {"attention_backward_d128_bf16", BF16, 128, false, run_d128_bf16},
    {"attention_backward_ordered_f16", F16, 64, false, run_ordered_f16},
};

static double *zeros(int64_t count) {
  double *memory = calloc((size_t)count + 1, sizeof *memory);
  if (!memory) exit(3);
  return memory;
}

typedef struct {
  double sum, magnitude;
} product;

static product dot(const double *a, const double *b, int64_t count) {
  product p = {0, 0};
  for (int64_t i = 0; i < count; ++i) p.sum += a[i] * b[i], p.magnitude += fabs(a[i] * b[i]);
  return p;
}

// A query's own numbers: its row, what comes back to it, the logarithm of its sum, and delta.
typedef struct {
  const double *q, *d_o;
  double lse;
  product delta;
} query;

// What one query and one key give to the sums for dQ, dK and dV and to the bounds of these, in this order. A weight p
// is off, relatively, by what its logarithm is off by and by some roundings; it and its derivative ds are rounded to
// the element type before they are multiplied. `count_error` is what sums over queries or keys are off by.
static void add_pair(const variant *v, double scale, const query *row, const double *k, const double *value,
                     double count_error, double *const at[6]) {
  double unit = element_unit(F32), narrow = element_unit(v->type), step = element_step(v->type);
  double dot_error = sum_error(v->depth) + 4 * unit;
  product s = dot(row->q, k, v->depth), back = dot(row->d_o, value, v->depth);
  double log_error = dot_error * scale * s.magnitude + 4 * unit * (fabs(scale * s.sum) + fabs(row->lse));
  double p = exp2(scale * s.sum - row->lse), p_error = p * (log_error + 16 * unit);
  double ds = p * (back.sum - row->delta.sum);
  double back_error = (dot_error + 4 * unit) * (back.magnitude + row->delta.magnitude);
  double ds_error = (p + p_error) * back_error + p_error * fabs(back.sum - row->delta.sum) + 4 * unit * fabs(ds);
  ds_error += narrow * (fabs(ds) + ds_error) + step + count_error * fabs(ds);
  p_error += narrow * (p + p_error) + step + count_error * p;
  for (int64_t d = 0; d < v->depth; ++d) {
    at[0][d] += ds * k[d], at[3][d] += ds_error * fabs(k[d]);
    at[1][d] += ds * row->q[d], at[4][d] += ds_error * fabs(row->q[d]);
    at[2][d] += p * row->d_o[d], at[5][d] += p_error * fabs(row->d_o[d]);
  }
}

static void judge_rows(judge *j, const tensor *got, size_t at, const double *sum, const double *bound, int64_t count,
                       double factor) {
  double unit = element_unit(got->type) + 4 * element_unit(F32);
  for (int64_t i = 0; i < count; ++i) {
    double want = sum[i] * factor, error = bound[i] * factor;
    judge_element(j, at + (size_t)i, got->values[at + (size_t)i], want,
                  error + unit * (fabs(want) + error) + element_step(got->type));
  }
}

// A head of keys and all heads of queries that share it.
static void judge_group(judge *j, const variant *v, tensors *t, const int64_t *e, int64_t group, double scale) {
  int64_t heads = e[1], groups = e[2], queries = e[3], keys = e[4], depth = v->depth, shared = heads / groups;
  double *dk = zeros(keys * depth), *dv = zeros(keys * depth), *dk_bound = zeros(keys * depth);
  double *dv_bound = zeros(keys * depth), *dq = zeros(depth), *dq_bound = zeros(depth);
  size_t from = (size_t)(group * keys * depth);
  double count_error = sum_error(shared * queries > keys ? shared * queries : keys);
  for (int64_t row = group * shared * queries; row < (group + 1) * shared * queries; ++row) {
    size_t at = (size_t)(row * depth);
    query one = {t->q.values + at, t->d_o.values + at, t->lse.values[row], {0, 0}};
    one.delta = dot(one.d_o, t->o.values + at, depth);
    memset(dq, 0, (size_t)depth * sizeof *dq), memset(dq_bound, 0, (size_t)depth * sizeof *dq);
    for (int64_t c = 0; c < keys && !(v->is_causal && c > row % queries); ++c) {
      size_t key = (size_t)(c * depth);
      double *const places[] = {dq, dk + key, dv + key, dq_bound, dk_bound + key, dv_bound + key};
      add_pair(v, scale, &one, t->k.values + from + key, t->v.values + from + key, count_error, places);
    }
    judge_rows(j, &t->dq, at, dq, dq_bound, depth, scale * kLn2);
  }
  judge_rows(j, &t->dk, from, dk, dk_bound, keys * depth, scale * kLn2);
  judge_rows(j, &t->dv, from, dv, dv_bound, keys * depth, 1);
  free(dk), free(dv), free(dk_bound), free(dv_bound), free(dq), free(dq_bound);
}

// What the forward pass leaves, rounded as it would be.
static void forward(const variant *v, tensors *t, const int64_t *e, double scale) {
  int64_t heads = e[1], queries = e[3], keys = e[4], depth = v->depth;
  attention_form form = {v->type, depth, depth, depth, depth, scale};
  for (int64_t row = 0; row < e[0] * heads * queries; ++row) {
    int64_t i = row % queries, group = row / queries / (heads / e[2]);
    size_t at = (size_t)(row * depth), from = (size_t)(group * keys * depth);
    attention_row want = attention_row_of(&form, t->q.values + at, t->k.values + from, t->v.values + from,
                                          v->is_causal && i + 1 < keys ? i + 1 : keys);
    for (int64_t d = 0; d < depth; ++d) element_set(v->type, t->o.bits, at + (size_t)d, want.want[d]);
    element_set(F32, t->lse.bits, (size_t)row, want.lse);
    attention_row_free(&want);
  }
  tensor_read(&t->o), tensor_read(&t->lse);
}

static void run(judge *j, const int64_t *e) {
  for (size_t i = 0; i < sizeof kVariants / sizeof *kVariants; ++i) {
    const variant *v = &kVariants[i];
    size_t rows = (size_t)(e[0] * e[1] * e[3]), own = rows * (size_t)v->depth;
    size_t shared = (size_t)(e[0] * e[2] * e[4] * v->depth);
    tensors t = {.q = tensor_random(v->type, own, 1),
                 .k = tensor_random(v->type, shared, 1),
                 .v = tensor_random(v->type, shared, 1),
                 .o = tensor_unwritten(v->type, own),
                 .d_o = tensor_random(v->type, own, 1),
                 .lse = tensor_unwritten(F32, rows),
                 .dq = tensor_unwritten(v->type, own),
                 .dk = tensor_unwritten(v->type, shared),
                 .dv = tensor_unwritten(v->type, shared)};
    float scale = (float)(1.4426950408889634 / sqrt((double)v->depth));
    forward(v, &t, e, (double)scale);
    judge_begin(j, v->name);
    tile_status status = v->call(&t, scale, e);
    bool is_intact = tensor_read(&t.dq);
    is_intact = tensor_read(&t.dk) && is_intact;
    is_intact = tensor_read(&t.dv) && is_intact;
    for (int64_t group = 0; group < e[0] * e[2]; ++group) judge_group(j, v, &t, e, group, (double)scale);
    judge_end(j, status, is_intact, kNames, e, 5);
    tensor_free(&t.q), tensor_free(&t.k), tensor_free(&t.v), tensor_free(&t.o), tensor_free(&t.d_o);
    tensor_free(&t.lse), tensor_free(&t.dq), tensor_free(&t.dk), tensor_free(&t.dv);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1, 1, 1}}, {{1, 3, 1, 33, 33}}, {{3, 1, 1, 129, 65}},
                                  {{1, 2, 2, 64, 128}}, {{1, 4, 2, 20, 20}}, {{3, 3, 1, 5, 131}},
                                  {{1, 1, 1, 131, 17}}, {{2, 2, 2, 0, 9}}, {{1, 1, 1, 128, 128}}};
  judge j = {0};
  each_shape(argc, argv, 5, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "attention_backward");
}
