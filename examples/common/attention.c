// One query's attention in float64, and what a kernel may be off by.
#include "attention.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double *numbers(int64_t count) {
  double *memory = malloc((size_t)(count + 1) * sizeof *memory);
  if (!memory) {
    fprintf(stderr, "out of memory\n");
    exit(3);
  }
  return memory;
}

// Scores become weights relative to the greatest; gives what a weight may be off by, relatively.
static double weights_of(const attention_form *f, const double *query, const double *keys, int64_t count,
                         double *weights, double *greatest) {
  double worst = 0;
  *greatest = -INFINITY;
  for (int64_t c = 0; c < count; ++c) {
    double sum = 0, magnitude = 0;
    for (int64_t d = 0; d < f->depth; ++d) {
      double product = query[d] * keys[c * f->key_stride + d];
      sum += product;
      magnitude += fabs(product);
    }
    weights[c] = f->scale * sum;
    double error = (sum_error(f->depth) + 4 * element_unit(F32)) * f->scale * magnitude;
    *greatest = weights[c] > *greatest ? weights[c] : *greatest;
    worst = error > worst ? error : worst;
  }
  for (int64_t c = 0; c < count; ++c) weights[c] = exp2(weights[c] - *greatest);
  return worst;
}

// A weight is off by what its score is off by and by some roundings of f32; then it is rounded to the element type, and
// so is the result.
attention_row attention_row_of(const attention_form *f, const double *query, const double *keys, const double *values,
                               int64_t count) {
  attention_row row = {numbers(f->value_depth), numbers(f->value_depth), -INFINITY, 0};
  double *weights = numbers(count), greatest, total = 0, unit = element_unit(f->type), step = element_step(f->type);
  double relative = weights_of(f, query, keys, count, weights, &greatest);
  relative += sum_error(count) + 64 * element_unit(F32);
  for (int64_t c = 0; c < count; ++c) total += weights[c];
  for (int64_t d = 0; d < f->value_depth; ++d) {
    double sum = 0, magnitude = 0, largest = 0;
    for (int64_t c = 0; c < count; ++c) {
      double value = values[c * f->value_stride + d];
      sum += weights[c] * value;
      magnitude += weights[c] * fabs(value);
      largest = fabs(value) > largest ? fabs(value) : largest;
    }
    double error = ((relative + unit) * magnitude + (double)count * step * largest) / total;
    row.want[d] = count ? sum / total : 0;
    row.bound[d] = count ? error + unit * fabs(row.want[d]) + step : 0;
  }
  if (count) row.lse = greatest + log2(total);
  if (count) row.lse_bound = 2 * relative + 4 * element_unit(F32) * (fabs(greatest) + fabs(row.lse));
  free(weights);
  return row;
}

void attention_row_free(attention_row *row) {
  free(row->want);
  free(row->bound);
}

void attention_judge(judge *j, const attention_form *f, const attention_row *row, const tensor *result, size_t at) {
  for (int64_t d = 0; d < f->value_depth; ++d)
    judge_element(j, at + (size_t)d, result->values[at + (size_t)d], row->want[d], row->bound[d]);
}
