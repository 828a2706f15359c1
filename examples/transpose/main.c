// Transposes matrices of elements of four, two and one bytes; the result is exact. Arguments: shapes MxN.
#include "../common/example.h"
#include "transpose.h"

static const char *const kNames[] = {"M", "N"};

static tile_status call(element type, const void *a, void *b, int64_t rows, int64_t columns) {
  if (type == F32) return transpose_f32(a, b, rows, columns, NULL);
  if (type == F16) return transpose_f16(a, b, rows, columns, NULL);
  return transpose_u8(a, b, rows, columns, NULL);
}

static void run(judge *j, const int64_t *extents) {
  static const element kTypes[] = {F32, F16, U8};
  static const char *const kFunctions[] = {"transpose_f32", "transpose_f16", "transpose_u8"};
  int64_t rows = extents[0], columns = extents[1];
  for (int k = 0; k < 3; ++k) {
    tensor a = tensor_random(kTypes[k], (size_t)(rows * columns), 1);
    tensor b = tensor_unwritten(kTypes[k], (size_t)(rows * columns));
    judge_begin(j, kFunctions[k]);
    tile_status status = call(kTypes[k], a.bits, b.bits, rows, columns);
    bool is_intact = tensor_read(&b);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        size_t at = (size_t)(column * rows + row);
        judge_element(j, at, b.values[at], a.values[row * columns + column], 0);
      }
    judge_end(j, status, is_intact, kNames, extents, 2);
    tensor_free(&a), tensor_free(&b);
  }
}

int main(int argc, char **argv) {
  static const shape kShapes[] = {{{1, 1}}, {{33, 257}}, {{257, 33}}, {{1, 4097}}, {{4097, 5}}, {{31, 63}},
                                  {{512, 512}}, {{64, 1000}}};
  judge j = {0};
  each_shape(argc, argv, 2, kShapes, sizeof kShapes / sizeof *kShapes, run, &j);
  return judge_exit(&j, "transpose");
}
