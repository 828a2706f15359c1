// Attention of one query a sequence, compared with float64. Arguments: shapes BxHxGxLxP (sequences, heads of queries,
// heads of keys, keys, parts of a sequence). Sequences shrink: the first has L keys and the last, of several, none.
#include <math.h>

#include "../common/attention.h"
#include "flash_decoding.h"

static const char *const kNames[] = {"B", "H", "G", "L", "P"};

typedef struct {
  const char *name;
  element type;
  int64_t depth;
} variant;

static const variant kF16 = {"flash_decoding_f16", F16, 128}, kBf16 = {"flash_decoding_bf16, own workspace", BF16, 64};

typedef struct {
  tensor q, k, v, lengths, o;
} tensors;

static tensors make(const variant *v, const int64_t *e) {
  size_t queries = (size_t)(e[0] * e[1] * v->depth), keys = (size_t)(e[0] * e[2] * e[3] * v->depth);
  tensors t = {tensor_random(v->type, queries, 1), tensor_random(v->type, keys, 1), tensor_random(v->type, keys, 1),
               tensor_unwritten(I32, (size_t)e[0]), tensor_unwritten(v->type, queries)};
  for (int64_t z = 0; z < e[0]; ++z)
    element_set(I32, t.lengths.bits, (size_t)z, (double)(e[0] > 1 ? e[3] * (e[0] - 1 - z) / (e[0] - 1) : e[3]));
  tensor_read(&t.lengths);
  return t;
}

static void judge_all(judge *j, const variant *v, tensors *t, const int64_t *e, float scale) {
  int64_t heads = e[1], groups = e[2], keys = e[3];
  attention_form form = {v->type, v->depth, v->depth, v->depth, v->depth, (double)scale};
  for (int64_t row = 0; row < e[0] * heads; ++row) {
    int64_t z = row / heads, g = row % heads / (heads / groups);
    size_t at = (size_t)(row * v->depth), first = (size_t)((z * groups + g) * keys * v->depth);
    attention_row want = attention_row_of(&form, t->q.values + at, t->k.values + first, t->v.values + first,
                                          (int64_t)t->lengths.values[z]);
    attention_judge(j, &form, &want, &t->o, at);
    attention_row_free(&want);
  }
}

static void run_one(judge *j, const int64_t *e, const variant *v) {
  tensors t = make(v, e);
  float scale = (float)(1.4426950408889634 / sqrt((double)v->depth));
  const void *q = t.q.bits, *k = t.k.bits, *values = t.v.bits;
  judge_begin(j, v->name);
  tile_status status;
  if (v == &kF16) {
    status = flash_decoding_f16(q, k, values, t.lengths.bits, t.o.bits, scale, e[4], e[0], e[1], e[2], e[3], NULL, 0,
                                NULL);
  } else {
    // A caller that knows its shapes keeps the workspace from word to word.
    size_t bytes = 0;
    status = flash_decoding_bf16_workspace_size(scale, e[4], e[0], e[1], e[2], e[3], &bytes);
    void *workspace = memory_get(bytes);
    if (status == TILE_OK)
      status = flash_decoding_bf16(q, k, values, t.lengths.bits, t.o.bits, scale, e[4], e[0], e[1], e[2], e[3],
                                   workspace, bytes, NULL);
    memory_wait();
    memory_give(workspace);
  }
  bool is_intact = tensor_read(&t.o);
  judge_all(j, v, &t, e, scale);
  judge_end(j, status, is_intact, kNames, e, 5);
  tensor_free(&t.q), tensor_free(&t.k), tensor_free(&t.v), tensor_free(&t.lengths), tensor_free(&t.o);
}

static void run(judge *j, const int64_t *e) {
  run_one(j, e, &kF16);
  run_one(j, e, &kBf16);
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1, 1, 1}}, {{3, 9, 3, 257, 3}}, {{2, 16, 1, 1000, 8}}, {{4, 8, 8, 64, 2}},
                                  {{1, 5, 5, 4097, 7}}, {{5, 3, 1, 33, 15}}, {{1, 32, 2, 511, 4}},
                                  {{7, 1, 1, 129, 1}}, {{3, 9, 3, 0, 5}}, {{0, 4, 2, 5, 3}}};
  judge j = {0};
  each_shape(argc, argv, 5, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "flash_decoding");
}
