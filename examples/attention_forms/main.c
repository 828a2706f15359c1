// Attention with heads of many depths, with a window, and over packed sequences, compared with float64. Arguments:
// shapes BxHxGxSxL (batch, heads of queries, heads of keys, queries, keys). Packed are B sequences in S + L rows: they
// grow, and the first ones are short or empty. The window is L / 3 + 1 keys wide.
#include <math.h>

#include "../common/attention.h"
#include "attention_forms.h"

static const char *const kNames[] = {"B", "H", "G", "S", "L"};

typedef struct {
  const char *name;
  element type;
  int64_t depth;
  bool is_causal;
} variant;

enum { D64, D80, D96, D128, D192, D256, WINDOW, DENSE_COUNT };

static const variant kDense[DENSE_COUNT] = {
    [D64] = {"attention_d64_f16", F16, 64, false},      [D80] = {"attention_d80_f16", F16, 80, false},
    [D96] = {"attention_d96_f16", F16, 96, false},      [D128] = {"attention_d128_bf16", BF16, 128, false},
    [D192] = {"attention_d192_f16", F16, 192, false},   [D256] = {"attention_d256_f16", F16, 256, false},
    [WINDOW] = {"attention_window_f16", F16, 64, true},
};

static const variant kPacked[] = {
    {"attention_packed_f16", F16, 64, false},
    {"attention_packed_causal_f16", F16, 64, true},
};

typedef struct {
  tensor q, k, v, o;
} tensors;

static tensors make(element type, int64_t queries, int64_t keys, int64_t depth) {
  return (tensors){tensor_random(type, (size_t)(queries * depth), 1), tensor_random(type, (size_t)(keys * depth), 1),
                   tensor_random(type, (size_t)(keys * depth), 1), tensor_unwritten(type, (size_t)(queries * depth))};
}

static void give_back(tensors *t) { tensor_free(&t->q), tensor_free(&t->k), tensor_free(&t->v), tensor_free(&t->o); }

static tile_status call_dense(size_t which, tensors *t, float scale, int64_t window, const int64_t *e) {
  const void *q = t->q.bits, *k = t->k.bits, *v = t->v.bits;
  void *o = t->o.bits;
  int64_t b = e[0], h = e[1], g = e[2], s = e[3], l = e[4];
  switch (which) {
    case D64: return attention_d64_f16(q, k, v, o, scale, window, b, h, s, g, l, NULL);
    case D80: return attention_d80_f16(q, k, v, o, scale, window, b, h, s, g, l, NULL);
    case D96: return attention_d96_f16(q, k, v, o, scale, window, b, h, s, g, l, NULL);
    case D128: return attention_d128_bf16(q, k, v, o, scale, window, b, h, s, g, l, NULL);
    case D192: return attention_d192_f16(q, k, v, o, scale, window, b, h, s, g, l, NULL);
    case D256: return attention_d256_f16(q, k, v, o, scale, window, b, h, s, g, l, NULL);
    default: return attention_window_f16(q, k, v, o, scale, window, b, h, s, g, l, NULL);
  }
}

// Which keys a query sees.
typedef struct {
  int64_t from, to;
} range;

static range window_of(int64_t query, int64_t keys, int64_t window) {
  int64_t to = query + 1 < keys ? query + 1 : keys, from = query - window + 1 > 0 ? query - window + 1 : 0;
  return (range){from < to ? from : to, to};
}

static void run_dense(judge *j, const int64_t *e, size_t which) {
  const variant *variant = &kDense[which];
  int64_t heads = e[1], groups = e[2], queries = e[3], keys = e[4], depth = variant->depth, window = keys / 3 + 1;
  tensors t = make(variant->type, e[0] * heads * queries, e[0] * groups * keys, depth);
  float scale = (float)(1.4426950408889634 / sqrt((double)depth));
  judge_begin(j, variant->name);
  tile_status status = call_dense(which, &t, scale, window, e);
  bool is_intact = tensor_read(&t.o);
  attention_form form = {variant->type, depth, depth, depth, depth, (double)scale};
  for (int64_t row = 0; row < e[0] * heads * queries; ++row) {
    int64_t h = row / queries % heads, z = row / queries / heads, g = h / (heads / groups);
    range seen = variant->is_causal ? window_of(row % queries, keys, window) : (range){0, keys};
    size_t first = (size_t)(((z * groups + g) * keys + seen.from) * depth), at = (size_t)(row * depth);
    attention_row want =
        attention_row_of(&form, t.q.values + at, t.k.values + first, t.v.values + first, seen.to - seen.from);
    attention_judge(j, &form, &want, &t.o, at);
    attention_row_free(&want);
  }
  judge_end(j, status, is_intact, kNames, e, 5);
  give_back(&t);
}

static tensor growing_offsets(int64_t sequences, int64_t rows) {
  tensor t = tensor_unwritten(I32, (size_t)sequences + 1);
  for (int64_t z = 0; z <= sequences; ++z)
    element_set(I32, t.bits, (size_t)z, (double)(rows * z * z / (sequences * sequences)));
  tensor_read(&t);
  return t;
}

static void judge_packed(judge *j, const variant *v, tensors *t, const tensor *offsets, const int64_t *e, float scale) {
  int64_t heads = e[1], groups = e[2];
  attention_form form = {F16, v->depth, v->depth, groups * v->depth, groups * v->depth, (double)scale};
  for (int64_t z = 0; z < e[0]; ++z) {
    int64_t from = (int64_t)offsets->values[z], end = (int64_t)offsets->values[z + 1];
    for (int64_t row = from * heads; row < end * heads; ++row) {
      int64_t i = row / heads, g = row % heads / (heads / groups), to = v->is_causal ? i + 1 : end;
      size_t first = (size_t)((from * groups + g) * v->depth), at = (size_t)(row * v->depth);
      attention_row want =
          attention_row_of(&form, t->q.values + at, t->k.values + first, t->v.values + first, to - from);
      attention_judge(j, &form, &want, &t->o, at);
      attention_row_free(&want);
    }
  }
}

static void run_packed(judge *j, const int64_t *e, const variant *v) {
  int64_t sequences = e[0], heads = e[1], groups = e[2], rows = e[3] + e[4];
  tensors t = make(F16, rows * heads, rows * groups, v->depth);
  tensor offsets = growing_offsets(sequences, rows);
  float scale = (float)(1.4426950408889634 / sqrt((double)v->depth));
  const void *query = t.q.bits, *keys = t.k.bits, *values = t.v.bits;
  judge_begin(j, v->name);
  tile_status status = v->is_causal ? attention_packed_causal_f16(query, keys, values, offsets.bits, t.o.bits, scale,
                                                                  rows, heads, groups, sequences + 1, NULL)
                                    : attention_packed_f16(query, keys, values, offsets.bits, t.o.bits, scale, rows,
                                                           heads, groups, sequences + 1, NULL);
  bool is_intact = tensor_read(&t.o);
  judge_packed(j, v, &t, &offsets, e, scale);
  judge_end(j, status, is_intact, kNames, e, 5);
  give_back(&t);
  tensor_free(&offsets);
}

static void run(judge *j, const int64_t *e) {
  for (size_t i = 0; i < DENSE_COUNT; ++i) run_dense(j, e, i);
  for (size_t i = 0; i < sizeof kPacked / sizeof *kPacked; ++i) run_packed(j, e, &kPacked[i]);
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1, 1, 1}}, {{1, 3, 1, 33, 33}}, {{2, 1, 1, 129, 65}},
                                  {{1, 2, 2, 64, 128}}, {{1, 4, 2, 20, 20}}, {{3, 1, 1, 5, 257}},
                                  {{1, 1, 1, 131, 17}}, {{1, 5, 5, 65, 7}}, {{2, 2, 2, 0, 9}}, {{3, 1, 1, 3, 0}}};
  judge j = {0};
  each_shape(argc, argv, 5, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "attention_forms");
}
