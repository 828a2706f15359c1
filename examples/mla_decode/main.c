// Decoding with latent keys, compared with float64. Arguments: shapes BxHxL (sequences, heads, positions). Sequences
// shrink: the first has L positions and the last, of several, none.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/attention.h"
#include "mla_decode.h"

static const char *const kNames[] = {"B", "H", "L"};

typedef struct {
  tensor latent_queries, turned_queries, latent, turned, lengths, o;
} tensors;

// The generated functions take typed pointers; void pointers convert by themselves in C.
static tile_status run_f16(tensors *t, float scale, const int64_t *e) {
  return mla_decode_f16(t->latent_queries.bits, t->turned_queries.bits, t->latent.bits, t->turned.bits, t->lengths.bits,
                        t->o.bits, scale, e[0], e[1], e[2], NULL);
}
static tile_status run_bf16(tensors *t, float scale, const int64_t *e) {
  return mla_decode_bf16(t->latent_queries.bits, t->turned_queries.bits, t->latent.bits, t->turned.bits,
                         t->lengths.bits, t->o.bits, scale, e[0], e[1], e[2], NULL);
}
static tile_status run_small_f16(tensors *t, float scale, const int64_t *e) {
  return mla_decode_small_f16(t->latent_queries.bits, t->turned_queries.bits, t->latent.bits, t->turned.bits,
                              t->lengths.bits, t->o.bits, scale, e[0], e[1], e[2], NULL);
}

typedef struct {
  const char *name;
  element type;
  int64_t latent, turned;
  tile_status (*call)(tensors *, float, const int64_t *);
} variant;

static const variant kVariants[] = {
    {"mla_decode_f16", F16, 512, 64, run_f16},
    {"mla_decode_bf16", BF16, 512, 64, run_bf16},
    {"mla_decode_small_f16", F16, 128, 32, run_small_f16},
};

static tensors make(const variant *v, const int64_t *e) {
  size_t queries = (size_t)(e[0] * e[1]), positions = (size_t)(e[0] * e[2]);
  size_t latent = (size_t)v->latent, turned = (size_t)v->turned;
  tensors t = {tensor_random(v->type, queries * latent, 1),   tensor_random(v->type, queries * turned, 1),
               tensor_random(v->type, positions * latent, 1), tensor_random(v->type, positions * turned, 1),
               tensor_unwritten(I32, (size_t)e[0]),           tensor_unwritten(v->type, queries * latent)};
  for (int64_t z = 0; z < e[0]; ++z)
    element_set(I32, t.lengths.bits, (size_t)z, (double)(e[0] > 1 ? e[2] * (e[0] - 1 - z) / (e[0] - 1) : e[2]));
  tensor_read(&t.lengths);
  return t;
}

// Rows of the latent part, each followed by its turned part: what the scores are products of.
static double *joined(const variant *v, const tensor *latent, const tensor *turned, int64_t rows) {
  int64_t depth = v->latent + v->turned;
  double *all = malloc((size_t)(rows * depth + 1) * sizeof *all);
  if (!all) exit(3);
  for (int64_t row = 0; row < rows; ++row) {
    memcpy(all + row * depth, latent->values + row * v->latent, (size_t)v->latent * sizeof *all);
    memcpy(all + row * depth + v->latent, turned->values + row * v->turned, (size_t)v->turned * sizeof *all);
  }
  return all;
}

static void judge_all(judge *j, const variant *v, tensors *t, const int64_t *e, float scale) {
  int64_t depth = v->latent + v->turned;
  double *queries = joined(v, &t->latent_queries, &t->turned_queries, e[0] * e[1]);
  double *keys = joined(v, &t->latent, &t->turned, e[0] * e[2]);
  attention_form form = {v->type, depth, v->latent, depth, v->latent, (double)scale};
  for (int64_t row = 0; row < e[0] * e[1]; ++row) {
    int64_t z = row / e[1];
    attention_row want = attention_row_of(&form, queries + row * depth, keys + z * e[2] * depth,
                                          t->latent.values + z * e[2] * v->latent, (int64_t)t->lengths.values[z]);
    attention_judge(j, &form, &want, &t->o, (size_t)(row * v->latent));
    attention_row_free(&want);
  }
  free(queries), free(keys);
}

static void run(judge *j, const int64_t *e) {
  for (size_t i = 0; i < sizeof kVariants / sizeof *kVariants; ++i) {
    const variant *v = &kVariants[i];
    tensors t = make(v, e);
    float scale = (float)(1.4426950408889634 / sqrt((double)(v->latent + v->turned)));
    judge_begin(j, v->name);
    tile_status status = v->call(&t, scale, e);
    bool is_intact = tensor_read(&t.o);
    judge_all(j, v, &t, e, scale);
    judge_end(j, status, is_intact, kNames, e, 3);
    tensor_free(&t.latent_queries), tensor_free(&t.turned_queries), tensor_free(&t.latent), tensor_free(&t.turned);
    tensor_free(&t.lengths), tensor_free(&t.o);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1}}, {{3, 5, 33}}, {{1, 17, 257}}, {{2, 65, 31}}, {{1, 64, 128}},
                                  {{5, 3, 7}}, {{3, 1, 129}}, {{1, 16, 64}}, {{2, 9, 0}}, {{0, 4, 5}}};
  judge j = {0};
  each_shape(argc, argv, 3, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "mla_decode");
}
