// What every example's program needs beside the header that tilec made: elements and their rounding, random tensors,
// a judge that compares with float64, shapes from the command line. Plain C11.
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- elements

typedef enum { F16, BF16, F8E4M3, TF32, F32, I8, U8, I32 } element;

const char *element_name(element type);
size_t element_bytes(element type);
// The greatest relative error of rounding to the nearest value, and half of the smallest step, which is the greatest
// error near zero. Both are 0 for integers.
double element_unit(element type);
double element_step(element type);
double element_get(element type, const void *data, size_t index);
// Rounds to the nearest value, ties to the even one; what is too great becomes infinite, or the greatest value of types
// that saturate.
void element_set(element type, void *data, size_t index, double value);
double element_rounded(element type, double value);

// ---- tensors: bits for the kernel, and the numbers that they stand for

typedef struct {
  element type;
  size_t count;
  void *bits;
  double *values;
} tensor;

// Normally distributed floats times `scale`; integers between -8 and 7, or 0 and 255 for unsigned ones.
tensor tensor_random(element type, size_t count, double scale);
// Every element is set to a value that a kernel does not produce, with room behind it that a kernel must not touch.
tensor tensor_unwritten(element type, size_t count);
// Reads the bits into the numbers; false when something was written outside the tensor.
bool tensor_read(tensor *t);
void tensor_free(tensor *t);

// ---- memory: of the host, at a multiple of 256 bytes

void *memory_get(size_t bytes);
void memory_give(void *memory);
// From here on memory is shared with a GPU, on which kernels then run; false where there is none.
bool memory_on_device(void);
bool memory_is_on_device(void);
// Until the GPU has done what it was given; false when something failed there.
bool memory_wait(void);

// ---- judging: the bound of an element's error is the program's to state

typedef struct {
  const char *function;
  int cases, failed;
  // Of the case under way: the greatest error divided by its bound, and where it was.
  double worst;
  size_t worst_index;
  double worst_got, worst_want;
} judge;

// A function's next case; `status` is what its call returned.
void judge_begin(judge *j, const char *function);
void judge_element(judge *j, size_t index, double got, double want, double bound);
// Prints the case's line. `extents` and `names` hold `rank` entries.
void judge_end(judge *j, int32_t status, bool is_intact, const char *const *names, const int64_t *extents, int rank);
// Prints the last line and gives the program's exit code.
int judge_exit(const judge *j, const char *program);

// An f32 sum of `count` products: what its roundings may add up to, relative to the sum of the products' magnitudes.
double sum_error(int64_t count);
// A sum of products of 8-bit floats on a GPU, whose matrix units may keep 13 binary places of each of the products and
// of the sum so far beside the greatest of them (T0809): in units of the latter. What is cut off is as often above as
// below.
double byte_sum_error(int64_t count);

// ---- shapes: "257x33x129" for each case, the defaults when the command line has none

typedef struct {
  int64_t extents[6];
} shape;

// Calls run(judge, shape) for every shape; with `--device` before them, on a GPU, or the program ends with exit code 77 where
// there is none. A shape that cannot be read ends the program with exit code 2.
void each_shape(int argc, char **argv, int rank, const shape *defaults, size_t default_count,
                void (*run)(judge *, const int64_t *), judge *j);

double seconds(void);

#endif
