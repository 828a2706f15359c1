// One query's attention in float64, and what a kernel may be off by: shared by the examples of attention.
#ifndef ATTENTION_H
#define ATTENTION_H

#include "example.h"

// Where keys and values lie, and how scores are scaled: base-2 logarithms of weights are `scale` times the products.
typedef struct {
  element type;  // of all operands, of the weights when they are multiplied, and of the result
  int64_t depth, value_depth;
  int64_t key_stride, value_stride;  // elements from one to the next
  double scale;
} attention_form;

// The weighted mean of the values and its bounds, `value_depth` elements each; the base-2 logarithm of the weights'
// sum, and its bound.
typedef struct {
  double *want, *bound;
  double lse, lse_bound;
} attention_row;

attention_row attention_row_of(const attention_form *form, const double *query, const double *keys,
                               const double *values, int64_t count);
void attention_row_free(attention_row *row);
// Judges the elements from `at` on.
void attention_judge(judge *j, const attention_form *form, const attention_row *row, const tensor *result, size_t at);

#endif
