// Attention whose weights fade with the distance, compared with float64. Arguments: shapes BxHxSxN (batch, heads, rows,
// columns of the values).
#include <math.h>
#include <stdlib.h>

#include "../common/example.h"
#include "linear_attention.h"

static const char *const kNames[] = {"B", "H", "S", "N"};

typedef struct {
  tensor q, k, v, rates, state, o;
  double *before;  // the state's numbers before the call
} tensors;

// The generated functions take typed pointers; void pointers convert by themselves in C.
static tile_status run_f16(tensors *t, void *state, const int64_t *e) {
  return linear_attention_f16(t->q.bits, t->k.bits, t->v.bits, t->rates.bits, state, t->o.bits, e[0], e[1], e[2], e[3],
                              NULL);
}
static tile_status run_bf16(tensors *t, void *state, const int64_t *e) {
  return linear_attention_bf16(t->q.bits, t->k.bits, t->v.bits, t->rates.bits, state, t->o.bits, e[0], e[1], e[2], e[3],
                               NULL);
}
static tile_status run_f32(tensors *t, void *state, const int64_t *e) {
  return linear_attention_f32(t->q.bits, t->k.bits, t->v.bits, t->rates.bits, state, t->o.bits, e[0], e[1], e[2], e[3],
                              NULL);
}

typedef struct {
  const char *name;
  element type;
  int64_t depth;
  bool has_state;
  tile_status (*call)(tensors *, void *, const int64_t *);
} variant;

static const variant kVariants[] = {
    {"linear_attention_f16", F16, 64, true, run_f16},
    {"linear_attention_f16, no state", F16, 64, false, run_f16},
    {"linear_attention_bf16", BF16, 128, true, run_bf16},
    {"linear_attention_f32", F32, 32, true, run_f32},
};

// One column of values of one head, row after row: `state` and `bound` have an element for each column of the keys.
typedef struct {
  double state[128], magnitude[128];
} column;

// What an element is off by, relative to the magnitudes of what it is the sum of: the roundings of f32 sums, of powers
// of the rate, and of a state that is multiplied once a chunk; twice that of the element type, for keys that have faded
// and for a state or a weight that is an operand.
static double relative_error(const variant *v, double rate, int64_t rows) {
  double unit = element_unit(F32), distance = (double)rows;
  double chunks = distance / 32 + 2;
  return sum_error(v->depth) + sum_error(rows) + (8 * chunks + 32 + 4 * fabs(rate) * distance) * unit +
         2.01 * element_unit(v->type);
}

static void judge_column(judge *j, const variant *v, tensors *t, const int64_t *e, int64_t head, int64_t n) {
  int64_t rows = e[2], columns = e[3], depth = v->depth;
  double rate = t->rates.values[head % e[1]], factor = exp2(rate), step = element_step(v->type), values = 0;
  double relative = relative_error(v, rate, rows), narrow = element_unit(v->type);
  column c = {{0}, {0}};
  for (int64_t d = 0; d < depth && v->has_state; ++d) {
    c.state[d] = t->before[(head * depth + d) * columns + n];
    c.magnitude[d] = fabs(c.state[d]);
  }
  for (int64_t i = 0; i < rows; ++i) {
    size_t row = (size_t)(head * rows + i);
    double value = t->v.values[row * (size_t)columns + (size_t)n], sum = 0, magnitude = 0, steps = 0;
    values += fabs(value);
    for (int64_t d = 0; d < depth; ++d) {
      double key = t->k.values[row * (size_t)depth + (size_t)d], query = t->q.values[row * (size_t)depth + (size_t)d];
      c.state[d] = c.state[d] * factor + key * value;
      c.magnitude[d] = c.magnitude[d] * factor + fabs(key * value);
      sum += query * c.state[d];
      magnitude += fabs(query) * c.magnitude[d];
      steps += fabs(query);
    }
    // Operands near zero are off by a step: weights, keys that have faded, and the state.
    double bound = relative * magnitude + step * (values * (1 + steps) + steps);
    size_t at = row * (size_t)columns + (size_t)n;
    judge_element(j, at, t->o.values[at], sum, bound + narrow * (fabs(sum) + bound) + step);
  }
  for (int64_t d = 0; d < depth && v->has_state; ++d) {
    size_t at = (size_t)((head * depth + d) * columns + n);
    judge_element(j, at, t->state.values[at], c.state[d], relative * c.magnitude[d] + step * values);
  }
}

static tensors make(const variant *v, const int64_t *e) {
  size_t heads = (size_t)(e[0] * e[1]), keys = heads * (size_t)(e[2] * v->depth);
  size_t values = heads * (size_t)(e[2] * e[3]);
  size_t states = heads * (size_t)(v->depth * e[3]);
  tensors t = {tensor_random(v->type, keys, 0.5), tensor_random(v->type, keys, 0.5), tensor_random(v->type, values, 1),
               tensor_unwritten(F32, (size_t)e[1]), tensor_random(F32, states, 1), tensor_unwritten(v->type, values),
               malloc((states + 1) * sizeof(double))};
  if (!t.before) exit(3);
  for (size_t i = 0; i < states; ++i) t.before[i] = t.state.values[i];
  // The first head does not fade, each other one a little faster than the one before.
  for (int64_t h = 0; h < e[1]; ++h) element_set(F32, t.rates.bits, (size_t)h, -(double)h / 16);
  tensor_read(&t.rates);
  return t;
}

static void run(judge *j, const int64_t *e) {
  for (size_t i = 0; i < sizeof kVariants / sizeof *kVariants; ++i) {
    const variant *v = &kVariants[i];
    tensors t = make(v, e);
    judge_begin(j, v->name);
    tile_status status = v->call(&t, v->has_state ? t.state.bits : NULL, e);
    bool is_intact = tensor_read(&t.o);
    is_intact = tensor_read(&t.state) && is_intact;
    for (int64_t head = 0; head < e[0] * e[1]; ++head)
      for (int64_t n = 0; n < e[3]; ++n) judge_column(j, v, &t, e, head, n);
    judge_end(j, status, is_intact, kNames, e, 4);
    tensor_free(&t.q), tensor_free(&t.k), tensor_free(&t.v), tensor_free(&t.rates);
    tensor_free(&t.state), tensor_free(&t.o), free(t.before);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1, 1}},   {{2, 3, 33, 65}}, {{1, 5, 257, 31}},  {{1, 2, 128, 64}},
                                  {{3, 1, 65, 7}},  {{1, 1, 1001, 3}}, {{1, 2, 64, 128}}, {{2, 2, 0, 5}},
                                  {{1, 7, 129, 17}}};
  judge j = {0};
  each_shape(argc, argv, 4, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "linear_attention");
}
