// The exported functions of the sample objects. Each object is made from sample.c under its own prefix.
#ifndef SAMPLE_H
#define SAMPLE_H
#include "target/launch_support/abi.h"

#define SAMPLE_FUNCTIONS(PREFIX)                                                                                       \
  tile_status PREFIX##gemm(const tile_f16 *A, const tile_f16 *B, tile_f16 *C, int64_t M, int64_t K, int64_t N,         \
                           void *stream);                                                                              \
  tile_status PREFIX##gemm_call(const void *args);                                                                     \
  tile_status PREFIX##gemm_load(void);                                                                                 \
  tile_status PREFIX##gemm_check(void *stream);                                                                        \
  const tile_info *PREFIX##gemm_info(void);                                                                            \
  tile_status PREFIX##axpy(const float *x, float *y, float a, int64_t N, void *stream);                                \
  tile_status PREFIX##packed(const tile_f16 *q, uint8_t *o, int64_t S, int64_t D, int64_t sq, int64_t so,              \
                             void *stream);                                                                            \
  tile_status PREFIX##blur(const float *x, float *y, int64_t bad, int64_t N, void *workspace, size_t workspace_bytes,  \
                           void *stream);                                                                              \
  tile_status PREFIX##blur_workspace_size(int64_t bad, int64_t N, size_t *bytes);                                      \
  int PREFIX##last_level(void);

SAMPLE_FUNCTIONS(one_)
SAMPLE_FUNCTIONS(two_)

// The args struct of gemm.
typedef struct sample_gemm_args {
  size_t struct_size;
  struct {
    const tile_f16 *data;
    int64_t shape[2];
  } A, B;
  struct {
    tile_f16 *data;
    int64_t shape[2];
  } C;
  void *stream;
} sample_gemm_args;

tile_status tile1_set_cpu_level(int32_t level);
#endif
