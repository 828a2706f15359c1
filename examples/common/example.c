// Tensors, the judge and the command line of the examples.
#define _POSIX_C_SOURCE 200809L
#include "example.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Declared in every header that tilec makes.
const char *tile1_last_message(void);

enum { kGuardBytes = 256, kUnwritten = 0xA5, kGuard = 0x5A };

static void *allocated(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory) {
    fprintf(stderr, "out of memory: %zu bytes\n", bytes);
    exit(3);
  }
  return memory;
}

static tensor tensor_of(element type, size_t count) {
  size_t bytes = count * element_bytes(type);
  tensor t = {type, count, memory_get(bytes + kGuardBytes), allocated((count + 1) * sizeof(double))};
  memset(t.bits, kUnwritten, bytes);
  memset((char *)t.bits + bytes, kGuard, kGuardBytes);
  return t;
}

// A sequence of 64 random bits a step: a counter, well mixed.
static uint64_t next_random(void) {
  static uint64_t counter = 0;
  uint64_t x = counter += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

static double uniform(void) { return ((double)(next_random() >> 11) + 0.5) * 0x1p-53; }
static double normal(void) { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()); }

tensor tensor_random(element type, size_t count, double scale) {
  tensor t = tensor_of(type, count);
  for (size_t i = 0; i < count; ++i) {
    double value;
    if (type == U8) value = (double)(next_random() >> 56);
    else if (type == I8 || type == I32) value = (double)(next_random() >> 60) - 8;
    else value = scale * normal();
    element_set(type, t.bits, i, value);
  }
  tensor_read(&t);
  return t;
}

tensor tensor_unwritten(element type, size_t count) {
  tensor t = tensor_of(type, count);
  if (element_unit(type) > 0)
    for (size_t i = 0; i < count; ++i) element_set(type, t.bits, i, NAN);
  return t;
}

bool tensor_read(tensor *t) {
  if (!memory_wait()) return false;
  for (size_t i = 0; i < t->count; ++i) t->values[i] = element_get(t->type, t->bits, i);
  const unsigned char *behind = (const unsigned char *)t->bits + t->count * element_bytes(t->type);
  for (int i = 0; i < kGuardBytes; ++i)
    if (behind[i] != kGuard) return false;
  return true;
}

void tensor_free(tensor *t) {
  memory_give(t->bits);
  free(t->values);
  *t = (tensor){0};
}

double sum_error(int64_t count) { return 4 * sqrt((double)count + 1) * element_unit(F32); }

double byte_sum_error(int64_t count) { return memory_is_on_device() ? 2 * sqrt(1.1 * (double)count + 1) * 0x1p-13 : 0; }

void judge_begin(judge *j, const char *function) {
  j->function = function;
  j->worst = 0;
  j->worst_index = 0;
  j->worst_got = j->worst_want = 0;
}

void judge_element(judge *j, size_t index, double got, double want, double bound) {
  bool is_same = got == want || (isnan(got) && isnan(want));
  double error = is_same ? 0 : fabs(got - want);
  double ratio = error == 0 ? 0 : bound > 0 ? error / bound : INFINITY;
  if (isnan(ratio)) ratio = INFINITY;
  if (ratio <= j->worst) return;
  j->worst = ratio;
  j->worst_index = index;
  j->worst_got = got;
  j->worst_want = want;
}

void judge_end(judge *j, int32_t status, bool is_intact, const char *const *names, const int64_t *extents, int rank) {
  char text[160] = "";
  for (int i = 0; i < rank; ++i) {
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%s=%" PRId64, i ? " " : "", names[i], extents[i]);
  }
  bool is_fine = status == 0 && is_intact && j->worst <= 1;
  printf("%-24s %-36s error %6.3f of its bound  %s\n", j->function, text, j->worst, is_fine ? "ok" : "FAILED");
  if (status != 0) printf("  status %d: %s\n", (int)status, tile1_last_message());
  if (!is_intact) printf("  something was written behind the result\n");
  if (status == 0 && j->worst > 1)
    printf("  element %zu is %.9g, not %.9g\n", j->worst_index, j->worst_got, j->worst_want);
  ++j->cases;
  j->failed += !is_fine;
}

int judge_exit(const judge *j, const char *program) {
  printf("%s: %d passed, %d failed\n", program, j->cases - j->failed, j->failed);
  return j->failed || !j->cases ? 1 : 0;
}

static bool read_shape(const char *text, int rank, shape *out) {
  for (int i = 0; i < rank; ++i) {
    char *end;
    errno = 0;
    long long extent = strtoll(text, &end, 10);
    if (end == text || errno || extent < 0 || extent > INT32_MAX || *end != (i + 1 < rank ? 'x' : '\0')) return false;
    out->extents[i] = extent;
    text = end + 1;
  }
  return true;
}

void each_shape(int argc, char **argv, int rank, const shape *defaults, size_t default_count,
                void (*run)(judge *, const int64_t *), judge *j) {
  int first = argc > 1 && strcmp(argv[1], "--device") == 0 ? 2 : 1;
  if (first == 2 && !memory_on_device()) {
    fprintf(stderr, "%s: there is no device\n", argv[0]);
    exit(77);
  }
  for (size_t i = 0; argc <= first && i < default_count; ++i) run(j, defaults[i].extents);
  for (int i = first; i < argc; ++i) {
    shape s = {{0}};
    if (!read_shape(argv[i], rank, &s)) {
      fprintf(stderr, "%s: '%s' is not a shape of %d extents, such as 257x33\n", argv[0], argv[i], rank);
      exit(2);
    }
    run(j, s.extents);
  }
}

double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
