// Products with a long contraction, with the kernel's own workspace and with one that the program gives. Arguments:
// shapes MxNxK.
#include <math.h>
#include <stdlib.h>

#include "../common/example.h"
#include "split_k.h"

static const char *const kNames[] = {"M", "N", "K"};

// An element is off by the roundings of f32 sums.
static void judge_product(judge *j, const int64_t *extents, const tensor *a, const tensor *b, const tensor *c) {
  int64_t m = extents[0], n = extents[1], k = extents[2];
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; ++column) {
      double sum = 0, magnitude = 0;
      for (int64_t i = 0; i < k; ++i) {
        double product = a->values[row * k + i] * b->values[i * n + column];
        sum += product;
        magnitude += fabs(product);
      }
      size_t at = (size_t)(row * n + column);
      judge_element(j, at, c->values[at], sum, sum_error(k) * magnitude + element_step(F32));
    }
}

static void run_f16(judge *j, const int64_t *extents) {
  int64_t m = extents[0], n = extents[1], k = extents[2];
  tensor a = tensor_random(F16, (size_t)(m * k), 1), b = tensor_random(F16, (size_t)(k * n), 1);
  tensor c = tensor_unwritten(F32, (size_t)(m * n));
  judge_begin(j, "split_k_f16");
  tile_status status = split_k_f16(a.bits, b.bits, c.bits, m, k, n, NULL, 0, NULL);
  bool is_intact = tensor_read(&c);
  judge_product(j, extents, &a, &b, &c);
  judge_end(j, status, is_intact, kNames, extents, 3);
  tensor_free(&a), tensor_free(&b), tensor_free(&c);
}

// A caller that knows its shapes may keep the workspace from call to call.
static void run_f32(judge *j, const int64_t *extents) {
  int64_t m = extents[0], n = extents[1], k = extents[2];
  tensor a = tensor_random(F32, (size_t)(m * k), 1), b = tensor_random(F32, (size_t)(k * n), 1);
  tensor c = tensor_unwritten(F32, (size_t)(m * n));
  judge_begin(j, "split_k_f32, own workspace");
  size_t bytes = 0;
  tile_status status = split_k_f32_workspace_size(m, k, n, &bytes);
  void *workspace = memory_get(bytes);
  if (status == TILE_OK) status = split_k_f32(a.bits, b.bits, c.bits, m, k, n, workspace, bytes, NULL);
  bool is_intact = tensor_read(&c);
  judge_product(j, extents, &a, &b, &c);
  judge_end(j, status, is_intact, kNames, extents, 3);
  memory_give(workspace);
  tensor_free(&a), tensor_free(&b), tensor_free(&c);
}

static void run(judge *j, const int64_t *extents) {
  run_f16(j, extents);
  run_f32(j, extents);
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1, 1}}, {{33, 65, 4097}}, {{64, 64, 16384}}, {{1, 257, 3001}},
                                  {{100, 7, 129}}, {{128, 128, 512}}, {{7, 9, 1025}}, {{129, 1, 33}}, {{5, 7, 0}}};
  judge j = {0};
  each_shape(argc, argv, 3, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "split_k");
}
