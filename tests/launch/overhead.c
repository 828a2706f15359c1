// What a call costs beside its work: `launch_overhead` prints nanoseconds, best of several rounds.
#include <time.h>

#include "check.h"
#include "sample.h"

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static void empty(void *context, int64_t begin, int64_t end) { (void)context, (void)begin, (void)end; }

int main(void) {
  static tile_f16 a[4096], b[4096], c[4096];
  static float x[512], y[512];
  double gemm = 1e9, axpy = 1e9, loop = 1e9;
  int32_t threads = tile1_threads();
  tile1_set_threads(1);
  for (int round = 0; round < 20; round++) {
    double start = now();
    for (int i = 0; i < 20000; i++) EXPECT(one_gemm(a, b, c, 64, 64, 64, NULL) == TILE_OK);
    double middle = now();
    for (int i = 0; i < 20000; i++) EXPECT(one_axpy(x, y, 1, 4, NULL) == TILE_OK);
    double end = now();
    if (middle - start < gemm) gemm = middle - start;
    if (end - middle < axpy) axpy = end - middle;
  }
  tile1_set_threads(threads);
  for (int round = 0; round < 20; round++) {
    double start = now();
    for (int i = 0; i < 2000; i++) tile1_parallel_for(1000, 1, empty, NULL);
    double end = now();
    if (end - start < loop) loop = end - start;
  }
  printf("one block, all checks: 3 tensors %.1f ns, 2 tensors %.1f ns; an empty loop on %d threads: %.0f ns\n",
         gemm / 20000, axpy / 20000, threads, loop / 2000);
  return failures != 0;
}
