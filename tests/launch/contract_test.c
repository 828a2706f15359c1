// Every status that a call can have without a device, and the sentence that goes with it.
#include <stdlib.h>

#include "check.h"
#include "sample.h"

static tile_f16 a[4096], b[4096], c[4096];

static void a_good_call_marks_every_block(void) {
  memset(c, 0, sizeof c);
  EXPECT(one_gemm(a, b, c, 65, 8, 63, NULL) == TILE_OK);
  EXPECT(c[0] == 1 && c[64 * 63] == 2);
  EXPECT(one_gemm_check(NULL) == TILE_OK);
  EXPECT(one_gemm_load() == TILE_OK);
  EXPECT(one_gemm_info()->abi == TILE_ABI && strcmp(one_gemm_info()->name, "gemm") == 0);
}

static void extents_are_checked(void) {
  EXPECT_FAILS(one_gemm(a, b, c, 1, -1, 1, NULL), TILE_SHAPE,
               "gemm: argument K is -1, an extent must be 0 to 2147483647");
  EXPECT_FAILS(one_gemm(a, b, c, INT64_C(2147483648), 8, 1, NULL), TILE_SHAPE,
               "gemm: argument M is 2147483648, an extent must be 0 to 2147483647");
  EXPECT_FAILS(one_gemm(a, b, c, 1, INT64_C(2147483640), INT64_C(2147483647), NULL), TILE_SHAPE,
               "gemm: B reaches farther than an address does");
}

static void contracts_are_checked(void) {
  EXPECT_FAILS(one_gemm(a, b, c, 1, 12, 1, NULL), TILE_SHAPE,
               "gemm: requires K % 8 == 0 (sample.tile:2:14), where K is 12");
  float x[8] = {0}, y[8] = {0};
  EXPECT_FAILS(one_axpy(x, y, -1.5f, 8, NULL), TILE_SHAPE, "axpy: requires a > 0 (sample.tile:12:22), where a is -1.5");
}

static void pointers_are_checked(void) {
  EXPECT_FAILS(one_gemm(a, NULL, c, 1, 8, 1, NULL), TILE_NULL_ARGUMENT,
               "gemm: argument B is NULL, and its parameter is not marked `?`");
  float x[8] = {0};
  EXPECT(one_axpy(x, NULL, 1, 8, NULL) == TILE_OK);
  EXPECT_FAILS(one_axpy(NULL, x, 1, 8, NULL), TILE_NULL_ARGUMENT,
               "axpy: argument x is NULL, and its parameter is not marked `?`");
  EXPECT(one_axpy(NULL, NULL, 1, 0, NULL) == TILE_OK);
  EXPECT(one_gemm((tile_f16 *)((char *)a + 1), b, c, 1, 8, 1, NULL) == TILE_ALIGNMENT);
  EXPECT(strstr(tile1_last_message(), "gemm: argument A is at 0x") &&
         strstr(tile1_last_message(), "1, an address of f16 must be a multiple of 2"));
}

static void an_empty_launch_runs_nothing(void) {
  c[0] = 77;
  EXPECT(one_gemm(a, b, c, 0, 8, 64, NULL) == TILE_OK);
  EXPECT(one_gemm(NULL, NULL, NULL, 0, 0, 0, NULL) == TILE_OK);
  EXPECT(c[0] == 77);
}

static void overlap_is_refused_where_one_is_written(void) {
  EXPECT(one_gemm(a, a, c, 8, 8, 8, NULL) == TILE_OK);
  EXPECT(one_gemm(a, b, a, 8, 8, 8, NULL) == TILE_ALIAS);
  EXPECT(strstr(tile1_last_message(), "gemm: arguments A and C overlap at 0x"));
  EXPECT(strstr(tile1_last_message(), "; C is written, and neither is marked `alias`"));
  EXPECT(one_gemm(a, b, a + 63, 8, 8, 8, NULL) == TILE_ALIAS);
  EXPECT(one_gemm(a, b, a + 64, 8, 8, 8, NULL) == TILE_OK);
  EXPECT(one_gemm(a + 64, b, a, 8, 8, 8, NULL) == TILE_OK);
  // An empty tensor lies nowhere.
  EXPECT(one_gemm(a, b, a, 8, 0, 8, NULL) == TILE_OK);
}

// `q` and `o` in one memory: two bytes an element and one, `o_at` bytes after `q_at`.
static int packed(int64_t q_at, int64_t o_at, int64_t S, int64_t D, int64_t sq, int64_t so) {
  uint8_t *bytes = (uint8_t *)a;
  return one_packed((tile_f16 *)(bytes + q_at), bytes + o_at, S, D, sq, so, NULL);
}

static void strides_separate_packed_tensors(void) {
  EXPECT(packed(0, 32, 8, 16, 24, 48) == TILE_OK);
  EXPECT(packed(16, 0, 8, 16, 24, 48) == TILE_OK);
  EXPECT(packed(0, 31, 8, 16, 24, 48) == TILE_ALIAS);
  EXPECT(packed(0, 32, 8, 17, 24, 48) == TILE_ALIAS);
  // Rows that go down, rows of different lengths that never meet, and rows that do in the end.
  EXPECT(packed(7 * 48, 32, 8, 16, -24, 48) == TILE_OK);
  EXPECT(packed(0, 32, 8, 16, 24, 96) == TILE_OK);
  EXPECT(packed(0, 32, 8, 16, 24, 40) == TILE_ALIAS);
  EXPECT_FAILS(packed(0, 2048, 8, 16, 16, 0), TILE_ALIAS,
               "packed: o is written, and its stride along dimension 0, of extent 8, is 0");
  EXPECT(packed(0, 2048, 8, 16, 0, 16) == TILE_OK);
}

static int has_equal_offsets(int64_t S, int64_t D, int64_t so) {
  unsigned char seen[300] = {0};
  for (int64_t s = 0; s < S; s++) {
    for (int64_t d = 0; d < D; d++) {
      if (seen[150 + s * so + d]++) return 1;
    }
  }
  return 0;
}

// A written tensor whose strides fold it onto itself, against enumeration.
static void written_elements_are_apart(void) {
  EXPECT_FAILS(packed(0, 2048, 8, 16, 16, 15), TILE_ALIAS,
               "packed: o is written, and with these strides two of its elements are one");
  EXPECT(packed(0, 2048, 8, 16, 15, 16) == TILE_OK);
  int met = 0, apart = 0;
  for (int64_t S = 1; S < 7; S++) {
    for (int64_t D = 1; D < 7; D++) {
      for (int64_t so = -12; so < 13; so++) {
        int expected = has_equal_offsets(S, D, so);
        EXPECT(packed(0, 2048, S, D, 16, so) == (expected ? TILE_ALIAS : TILE_OK));
        *(expected ? &met : &apart) += 1;
      }
    }
  }
  EXPECT(met > 100 && apart > 100);
}

static int meet_by_marking(int64_t S, int64_t D, int64_t sq, int64_t so, int64_t at) {
  unsigned char read[600] = {0};
  int met = 0;
  for (int64_t s = 0; s < S; s++) {
    for (int64_t d = 0; d < 2 * D; d++) read[300 + 2 * s * sq + d] = 1;
  }
  for (int64_t s = 0; s < S; s++) {
    for (int64_t d = 0; d < D; d++) met |= read[300 + at + s * so + d];
  }
  return met;
}

// The overlap of small strided tensors, against marking their bytes one by one.
static void overlap_agrees_with_enumeration(void) {
  int met = 0, apart = 0;
  for (int round = 0; round < 20000; round++) {
    unsigned int seed = (unsigned int)round * 2654435761u;
    int64_t S = 1 + seed % 5, D = 1 + (seed >> 4) % 5, sq = (int64_t)((seed >> 8) % 25) - 12;
    int64_t so = (int64_t)((seed >> 13) % 25) - 12, at = (int64_t)((seed >> 18) % 41) - 20;
    if (so == 0 && S > 1) continue;
    int expected = meet_by_marking(S, D, sq, so, at) || has_equal_offsets(S, D, so);
    EXPECT(packed(1024, 1024 + at, S, D, sq, so) == (expected ? TILE_ALIAS : TILE_OK));
    *(expected ? &met : &apart) += 1;
  }
  EXPECT(met > 2000 && apart > 2000);
}

static void grids_are_checked(void) {
  EXPECT_FAILS(one_packed(a, (uint8_t *)(UINT64_C(1) << 40), 65536, 32768, 0, 32768, NULL), TILE_GRID,
               "packed: with launch index d (sample.tile:22:5), which counts to 32768, there are more than 2147483647 "
               "blocks");
  float x[8] = {0}, y[8];
  EXPECT_FAILS(one_blur(x, y, -3, 8, NULL, 0, NULL), TILE_SHAPE,
               "blur: launch index b (sample.tile:33:5) counts to -3");
}

static void workspaces_are_allocated_or_checked(void) {
  float x[100], y[100];
  for (int i = 0; i < 100; i++) x[i] = (float)i;
  EXPECT(one_blur(x, y, 0, 100, NULL, 0, NULL) == TILE_OK);
  EXPECT(y[0] == 199 && y[99] == 1);
  size_t bytes = 0;
  EXPECT(one_blur_workspace_size(0, 100, &bytes) == TILE_OK && bytes == 512);
  EXPECT_FAILS(one_blur_workspace_size(0, -5, &bytes), TILE_SHAPE,
               "blur: argument N is -5, an extent must be 0 to 2147483647");
  char *memory = aligned_alloc(256, 1024);
  memset(y, 0, sizeof y);
  EXPECT(one_blur(x, y, 0, 100, memory, bytes, NULL) == TILE_OK && y[0] == 199);
  EXPECT_FAILS(one_blur(x, y, 0, 100, memory, 511, NULL), TILE_OUT_OF_MEMORY,
               "blur: the workspace has 511 bytes, this call needs 512");
  EXPECT(one_blur(x, y, 0, 100, memory + 64, bytes, NULL) == TILE_ALIGNMENT);
  EXPECT(one_blur((float *)(memory + 400), y, 0, 100, memory, bytes, NULL) == TILE_ALIAS);
  EXPECT(strstr(tile1_last_message(), "of which this call takes 512 bytes, and argument x overlap"));
  EXPECT(one_blur((float *)(memory + 512), y, 0, 100, memory, bytes, NULL) == TILE_OK);
  free(memory);
}

static void faults_are_reported(void) {
  float x[100] = {0}, y[100];
  EXPECT_FAILS(one_blur(x, y, 130, 100, NULL, 0, NULL), TILE_BOUNDS,
               "blur: sample.tile:35:9: x[bad]: index 130, the extent is 100");
  EXPECT_FAILS(one_blur(x, y, -1, 100, NULL, 0, NULL), TILE_BOUNDS,
               "blur: sample.tile:35:9: x[bad]: index -1, the extent is 100");
  EXPECT_FAILS(one_blur(x, y, -2, 100, NULL, 0, NULL), TILE_ASSERT,
               "blur: sample.tile:36:9: assertion failed: bad != -2");
  EXPECT(one_blur(x, y, 0, 100, NULL, 0, NULL) == TILE_OK);
}

static void the_args_struct_is_checked(void) {
  sample_gemm_args args = {sizeof args, {a, {8, 16}}, {b, {16, 24}}, {c, {8, 24}}, NULL};
  EXPECT(one_gemm_call(&args) == TILE_OK);
  args.B.shape[0] = 15;
  EXPECT_FAILS(one_gemm_call(&args), TILE_SHAPE, "gemm: extent 0 of B is 15, it must be K = 16");
  args.struct_size = 8;
  EXPECT_FAILS(one_gemm_call(&args), TILE_ABI_MISMATCH, "gemm: struct_size is 8, the args struct has 88 bytes");
  EXPECT_FAILS(one_gemm_call(NULL), TILE_NULL_ARGUMENT, "gemm: the args struct is NULL");
}

static void a_stream_needs_a_device(void) {
  EXPECT_FAILS(one_gemm(a, b, c, 8, 8, 8, &failures), TILE_NO_DEVICE_CODE,
               "gemm: a stream is given, and the object holds code for x86-64-v3 cpu only");
  EXPECT(one_gemm_check(&failures) == TILE_NO_DEVICE_CODE);
}

static void the_cpu_level_chooses_the_instance(void) {
  EXPECT(tile1_set_cpu_level(1) == TILE_OK);
  EXPECT(one_gemm(a, b, c, 8, 8, 8, NULL) == TILE_OK && one_last_level() == 1);
  if (tile1_set_cpu_level(3) == TILE_OK) {
    EXPECT(one_gemm(a, b, c, 8, 8, 8, NULL) == TILE_OK && one_last_level() == 3);
    // The other object asks the same process.
    EXPECT(two_gemm(a, b, c, 8, 8, 8, NULL) == TILE_OK && two_last_level() == 3);
    EXPECT(tile1_set_cpu_level(1) == TILE_OK);
    EXPECT(two_gemm(a, b, c, 8, 8, 8, NULL) == TILE_OK && two_last_level() == 1);
  }
  EXPECT(tile1_set_cpu_level(9) == TILE_NO_DEVICE_CODE);
  EXPECT(tile1_set_cpu_level(0) == TILE_OK);
}

int main(void) {
  a_good_call_marks_every_block();
  extents_are_checked();
  contracts_are_checked();
  pointers_are_checked();
  an_empty_launch_runs_nothing();
  overlap_is_refused_where_one_is_written();
  strides_separate_packed_tensors();
  written_elements_are_apart();
  overlap_agrees_with_enumeration();
  grids_are_checked();
  workspaces_are_allocated_or_checked();
  faults_are_reported();
  the_args_struct_is_checked();
  a_stream_needs_a_device();
  the_cpu_level_chooses_the_instance();
  if (failures) printf("%d failed\n", failures);
  return failures != 0;
}
