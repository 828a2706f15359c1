// Counts bytes on top of counts that are there already; the result is exact. Arguments: lengths.
#include <string.h>

#include "../common/example.h"
#include "histogram.h"

static const char *const kNames[] = {"N"};

static void run(judge *j, const int64_t *extents) {
  tensor x = tensor_random(U8, (size_t)extents[0], 1), bins = tensor_random(I32, 256, 1);
  double want[256];
  memcpy(want, bins.values, sizeof want);
  for (size_t i = 0; i < x.count; ++i) ++want[(int)x.values[i]];
  judge_begin(j, "histogram");
  tile_status status = histogram(x.bits, bins.bits, extents[0], NULL);
  bool is_intact = tensor_read(&bins);
  for (size_t i = 0; i < 256; ++i) judge_element(j, i, bins.values[i], want[i], 0);
  judge_end(j, status, is_intact, kNames, extents, 1);
  tensor_free(&x), tensor_free(&bins);
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1}}, {{33}}, {{255}}, {{257}}, {{4097}}, {{65536}}, {{100000}}, {{1000003}},
                                  {{0}}};
  judge j = {0};
  each_shape(argc, argv, 1, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "histogram");
}
