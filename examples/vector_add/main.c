// Adds vectors and compares every element with the sum in float64. Arguments: lengths.
#include "../common/example.h"
#include "vector_add.h"

static const char *const kNames[] = {"N"};

static void run(judge *j, const int64_t *extents) {
  int64_t count = extents[0];
  for (int is_integer = 0; is_integer < 2; ++is_integer) {
    element type = is_integer ? I32 : F32;
    tensor a = tensor_random(type, (size_t)count, 1), b = tensor_random(type, (size_t)count, 1);
    tensor c = tensor_unwritten(type, (size_t)count);
    judge_begin(j, is_integer ? "vector_add_i32" : "vector_add_f32");
    tile_status status = is_integer ? vector_add_i32(a.bits, b.bits, c.bits, count, NULL)
                                    : vector_add_f32(a.bits, b.bits, c.bits, count, NULL);
    bool is_intact = tensor_read(&c);
    // One rounding.
    for (size_t i = 0; i < c.count; ++i) {
      double want = a.values[i] + b.values[i];
      double magnitude = want < 0 ? -want : want;
      judge_element(j, i, c.values[i], want, magnitude * element_unit(type) + element_step(type));
    }
    judge_end(j, status, is_intact, kNames, extents, 1);
    tensor_free(&a), tensor_free(&b), tensor_free(&c);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1}}, {{31}}, {{33}}, {{257}}, {{4096}}, {{4097}}, {{65537}}, {{1000000}},
                                  {{0}}};
  judge j = {0};
  each_shape(argc, argv, 1, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "vector_add");
}
