// A generated object as a compiler would write it: descriptors, plans, bodies, exported functions. PREFIX is the
// prefix of its exports.
#include "support.c"

#include "sample.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(name) JOIN(PREFIX, name)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)
#define INFO(kernel)                                                                                     \
  {                                                                                                      \
    sizeof(tile_info), TILE_ABI, kernel, "kernel " kernel, "sample.tile:1:1", "x86-64-v3 cpu", "sample 1" \
  }
#define SLOT(i) {i, TILE_SLOT}
#define CONSTANT(i) {i, TILE_CONSTANT}
#define COUNT(array) ((int32_t)(sizeof(array) / sizeof(array)[0]))

static int32_t used_level;
int NAME(last_level)(void) { return used_level; }

// ---- gemm(A: f16[M, K], B: f16[K, N], out C: f16[M, N]) requires K % 8 == 0, in blocks of 64 x 64; the body marks C.
static void gemm_plan(const int64_t *slots, int64_t *plan) {
  int64_t M = slots[3], K = slots[4], N = slots[5];
  plan[TILE_PLAN_FAILED] = K % 8 == 0 ? -1 : 0;
  plan[TILE_PLAN_GUARDS] = 3;
  plan[2] = (N + 63) / 64;
  plan[3] = (M + 63) / 64;
}
static void gemm_mark(const int64_t *slots, const int64_t *plan, int64_t begin, int64_t end) {
  tile_f16 *C = (tile_f16 *)(intptr_t)slots[2];
  for (int64_t block = begin; block < end; block++) {
    int64_t bx = block % plan[2], by = block / plan[2];
    C[by * 64 * slots[5] + bx * 64] = (tile_f16)(block + 1);
  }
}
static void gemm_blocks(const int64_t *slots, const int64_t *plan, int64_t begin, int64_t end, void *scratch,
                        int64_t *fault) {
  (void)scratch, (void)fault;
  used_level = TILE_LEVEL_ANY;
  gemm_mark(slots, plan, begin, end);
}
static void gemm_blocks_v3(const int64_t *slots, const int64_t *plan, int64_t begin, int64_t end, void *scratch,
                           int64_t *fault) {
  (void)scratch, (void)fault;
  used_level = TILE_LEVEL_X86_64_V3;
  gemm_mark(slots, plan, begin, end);
}
static const char *const gemm_index_names[] = {"bx", "by"};
static const int32_t gemm_grid[] = {2, 3};
// One thread runs it: the level that it notes is not guarded.
static const struct tile_launch gemm_launches_v3[] = {
    {"sample.tile:3:5", gemm_index_names, gemm_grid, gemm_blocks_v3, 0, INT64_MAX, NULL, NULL, NULL, NULL, 2, 0, 0, 0, 0, 0}};
static const struct tile_launch gemm_launches[] = {
    {"sample.tile:3:5", gemm_index_names, gemm_grid, gemm_blocks, 0, INT64_MAX, NULL, NULL, NULL, NULL, 2, 0, 0, 0, 0, 0}};
static const struct tile_instance gemm_instances[] = {
    {"true", gemm_launches_v3, NULL, NULL, TILE_LEVEL_X86_64_V3, 1, 0, 0},
    {"true", gemm_launches, NULL, NULL, TILE_LEVEL_ANY, 1, 0, 0},
};
static const struct tile_value gemm_a[] = {SLOT(3), SLOT(4)}, gemm_b[] = {SLOT(4), SLOT(5)},
                               gemm_c[] = {SLOT(3), SLOT(5)};
static const struct tile_param gemm_params[] = {
    {"A", "f16", gemm_a, NULL, TILE_TENSOR, 16, 2, TILE_READ, 0, 0, 2, 0, offsetof(sample_gemm_args, A), 0},
    {"B", "f16", gemm_b, NULL, TILE_TENSOR, 16, 2, TILE_READ, 0, 0, 2, 1, offsetof(sample_gemm_args, B), 0},
    {"C", "f16", gemm_c, NULL, TILE_TENSOR, 16, 2, TILE_WRITTEN, 0, 0, 2, 2, offsetof(sample_gemm_args, C), 0},
};
static const struct tile_dim gemm_dims[] = {{"M", 0, 3, 0}, {"K", 0, 4, 0}, {"N", 0, 5, 0}};
static const struct tile_requirement gemm_requirements[] = {{"K % 8 == 0", "sample.tile:2:14"}};
static const struct tile_kernel gemm_kernel = {
    .info = INFO("gemm"),
    .plan = gemm_plan,
    .params = gemm_params,
    .dims = gemm_dims,
    .requirements = gemm_requirements,
    .instances = gemm_instances,
    .param_count = COUNT(gemm_params),
    .dim_count = COUNT(gemm_dims),
    .requirement_count = COUNT(gemm_requirements),
    .instance_count = COUNT(gemm_instances),
    .slot_count = 6,
    .plan_count = 4,
    .workspace_slot = -1,
    .args_size = sizeof(sample_gemm_args),
    .args_stream_offset = offsetof(sample_gemm_args, stream),
};
tile_status NAME(gemm)(const tile_f16 *A, const tile_f16 *B, tile_f16 *C, int64_t M, int64_t K, int64_t N,
                       void *stream) {
  int64_t slots[6] = {(int64_t)(intptr_t)A, (int64_t)(intptr_t)B, (int64_t)(intptr_t)C, M, K, N};
  return tile_call(&gemm_kernel, slots, stream);
}
tile_status NAME(gemm_call)(const void *args) { return tile_call_struct(&gemm_kernel, args); }
tile_status NAME(gemm_load)(void) { return tile_load(&gemm_kernel); }
tile_status NAME(gemm_check)(void *stream) { return tile_check(&gemm_kernel, stream); }
const tile_info *NAME(gemm_info)(void) { return &gemm_kernel.info; }

// ---- axpy(x: f32[N], inout y: f32[N], a: f32) requires N % 4 == 0 and a > 0; y may be null: y: f32[N]?
static void axpy_plan(const int64_t *slots, int64_t *plan) {
  float a;
  memcpy(&a, &slots[2], 4);
  plan[TILE_PLAN_FAILED] = slots[3] % 4 ? 0 : a > 0 ? -1 : 1;
  plan[TILE_PLAN_GUARDS] = 1;
  plan[2] = (slots[3] + 255) / 256;
}
static void axpy_blocks(const int64_t *slots, const int64_t *plan, int64_t begin, int64_t end, void *scratch,
                        int64_t *fault) {
  (void)plan, (void)scratch, (void)fault;
  const float *x = (const float *)(intptr_t)slots[0];
  float *y = (float *)(intptr_t)slots[1], a;
  memcpy(&a, &slots[2], 4);
  int64_t last = end * 256 < slots[3] ? end * 256 : slots[3];
  for (int64_t i = begin * 256; y && i < last; i++) y[i] += a * x[i];
}
static const char *const axpy_index_names[] = {"b"};
static const int32_t axpy_grid[] = {2};
static const struct tile_launch axpy_launches[] = {
    {"sample.tile:13:5", axpy_index_names, axpy_grid, axpy_blocks, 0, 1, NULL, NULL, NULL, NULL, 1, 0, 0, 0, 0, 0}};
static const struct tile_instance axpy_instances[] = {{"true", axpy_launches, NULL, NULL, TILE_LEVEL_ANY, 1, 0, 0}};
static const struct tile_value axpy_x[] = {SLOT(3)};
static const struct tile_param axpy_params[] = {
    {"x", "f32", axpy_x, NULL, TILE_TENSOR, 32, 4, TILE_READ, 0, 0, 1, 0, 8, 0},
    {"y", "f32", axpy_x, NULL, TILE_TENSOR, 32, 4, TILE_READ | TILE_WRITTEN, 0, 1, 1, 1, 24, 0},
    {"a", "f32", NULL, NULL, TILE_SCALAR, 32, 4, TILE_READ, 0, 0, 0, 2, 40, 0},
};
static const struct tile_dim axpy_dims[] = {{"N", 0, 3, 0}};
static const struct tile_requirement axpy_requirements[] = {{"N % 4 == 0", "sample.tile:12:9"},
                                                            {"a > 0", "sample.tile:12:22"}};
static const struct tile_kernel axpy_kernel = {
    .info = INFO("axpy"),
    .plan = axpy_plan,
    .params = axpy_params,
    .dims = axpy_dims,
    .requirements = axpy_requirements,
    .instances = axpy_instances,
    .param_count = COUNT(axpy_params),
    .dim_count = COUNT(axpy_dims),
    .requirement_count = COUNT(axpy_requirements),
    .instance_count = COUNT(axpy_instances),
    .slot_count = 4,
    .plan_count = 3,
    .workspace_slot = -1,
};
tile_status NAME(axpy)(const float *x, float *y, float a, int64_t N, void *stream) {
  int64_t slots[4] = {(int64_t)(intptr_t)x, (int64_t)(intptr_t)y, 0, N};
  memcpy(&slots[2], &a, 4);
  return tile_call(&axpy_kernel, slots, stream);
}

// ---- packed(q: f16[S, D; sq, 1], out o: u8[S, D; so, 1]); the body does nothing.
static void packed_plan(const int64_t *slots, int64_t *plan) {
  plan[TILE_PLAN_FAILED] = -1;
  plan[TILE_PLAN_GUARDS] = 1;
  plan[2] = slots[2];
  plan[3] = slots[3];
}
static void packed_blocks(const int64_t *slots, const int64_t *plan, int64_t begin, int64_t end, void *scratch,
                          int64_t *fault) {
  (void)slots, (void)plan, (void)begin, (void)end, (void)scratch, (void)fault;
}
static const char *const packed_index_names[] = {"s", "d"};
static const int32_t packed_grid[] = {2, 3};
static const struct tile_launch packed_launches[] = {
    {"sample.tile:22:5", packed_index_names, packed_grid, packed_blocks, 0, INT64_MAX, NULL, NULL, NULL, NULL, 2, 0, 0, 0, 0, 0}};
static const struct tile_instance packed_instances[] = {{"true", packed_launches, NULL, NULL, TILE_LEVEL_ANY, 1, 0, 0}};
static const struct tile_value packed_extents[] = {SLOT(2), SLOT(3)};
static const struct tile_value packed_q[] = {SLOT(4), CONSTANT(1)}, packed_o[] = {SLOT(5), CONSTANT(1)};
static const struct tile_param packed_params[] = {
    {"q", "f16", packed_extents, packed_q, TILE_TENSOR, 16, 2, TILE_READ, 0, 0, 2, 0, 0, 0},
    {"o", "u8", packed_extents, packed_o, TILE_TENSOR, 8, 1, TILE_WRITTEN, 0, 0, 2, 1, 0, 0},
};
static const struct tile_dim packed_dims[] = {{"S", 0, 2, 0}, {"D", 0, 3, 0}, {"sq", 0, 4, 1}, {"so", 0, 5, 1}};
static const struct tile_kernel packed_kernel = {
    .info = INFO("packed"),
    .plan = packed_plan,
    .params = packed_params,
    .dims = packed_dims,
    .instances = packed_instances,
    .param_count = COUNT(packed_params),
    .dim_count = COUNT(packed_dims),
    .instance_count = COUNT(packed_instances),
    .slot_count = 6,
    .plan_count = 4,
    .workspace_slot = -1,
};
tile_status NAME(packed)(const tile_f16 *q, uint8_t *o, int64_t S, int64_t D, int64_t sq, int64_t so,
                         void *stream) {
  int64_t slots[6] = {(int64_t)(intptr_t)q, (int64_t)(intptr_t)o, S, D, sq, so};
  return tile_call(&packed_kernel, slots, stream);
}

// ---- blur(x: f32[N], out y: f32[N], bad: int) with workspace f32[N]: twice x, turned, plus one; two launches.
// `bad` is an index that the first launch trips over, -2 an assertion, -3 a negative grid.
static void blur_plan(const int64_t *slots, int64_t *plan) {
  plan[TILE_PLAN_FAILED] = -1;
  plan[TILE_PLAN_GUARDS] = 1;
  plan[2] = slots[2] == -3 ? -3 : (slots[3] + 15) / 16;
  plan[3] = slots[3] * 4;
}
static void blur_first(const int64_t *slots, const int64_t *plan, int64_t begin, int64_t end, void *scratch,
                       int64_t *fault) {
  (void)plan;
  const float *x = (const float *)(intptr_t)slots[0];
  float *middle = (float *)(intptr_t)slots[4], *mine = scratch;
  for (int64_t block = begin; block < end; block++) {
    int64_t first = block * 16, count = slots[3] - first < 16 ? slots[3] - first : 16;
    for (int64_t i = 0; i < count; i++) mine[i] = 2 * x[first + i];
    for (int64_t i = 0; i < count; i++) middle[first + i] = mine[i];
    if (slots[2] >= slots[3]) tile_fault(fault, 0, slots[2]);
    if (slots[2] == -1) tile_fault(fault, 0, -1);
    if (slots[2] == -2) tile_fault(fault, 1, 0);
  }
}
static void blur_second(const int64_t *slots, const int64_t *plan, int64_t begin, int64_t end, void *scratch,
                        int64_t *fault) {
  (void)plan, (void)scratch, (void)fault;
  const float *middle = (const float *)(intptr_t)slots[4];
  float *y = (float *)(intptr_t)slots[1];
  int64_t last = end * 16 < slots[3] ? end * 16 : slots[3];
  for (int64_t i = begin * 16; i < last; i++) y[i] = middle[slots[3] - 1 - i] + 1;
}
static const struct tile_launch blur_launches[] = {
    {"sample.tile:33:5", axpy_index_names, axpy_grid, blur_first, 64, 1, NULL, NULL, NULL, NULL, 1, 0, 0, 0, 0, 0},
    {"sample.tile:37:5", axpy_index_names, axpy_grid, blur_second, 0, 1, NULL, NULL, NULL, NULL, 1, 0, 0, 0, 0, 0},
};
static const struct tile_workspace blur_workspaces[] = {{"middle", 3, 4}};
static const struct tile_instance blur_instances[] = {
    {"true", blur_launches, blur_workspaces, NULL, TILE_LEVEL_ANY, COUNT(blur_launches), COUNT(blur_workspaces), 0}};
static const struct tile_param blur_params[] = {
    {"x", "f32", axpy_x, NULL, TILE_TENSOR, 32, 4, TILE_READ, 0, 0, 1, 0, 0, 0},
    {"y", "f32", axpy_x, NULL, TILE_TENSOR, 32, 4, TILE_WRITTEN, 0, 0, 1, 1, 0, 0},
    {"bad", "int", NULL, NULL, TILE_SCALAR, 64, 8, TILE_READ, 0, 0, 0, 2, 0, 0},
};
static const struct tile_site blur_sites[] = {{"sample.tile:35:9", "x[bad]", SLOT(3), TILE_BOUNDS},
                                              {"sample.tile:36:9", "bad != -2", {0, TILE_NONE}, TILE_ASSERT}};
static const struct tile_kernel blur_kernel = {
    .info = INFO("blur"),
    .plan = blur_plan,
    .params = blur_params,
    .dims = axpy_dims,
    .sites = blur_sites,
    .instances = blur_instances,
    .param_count = COUNT(blur_params),
    .dim_count = COUNT(axpy_dims),
    .site_count = COUNT(blur_sites),
    .instance_count = COUNT(blur_instances),
    .slot_count = 7,
    .plan_count = 4,
    .workspace_slot = 5,
};
tile_status NAME(blur)(const float *x, float *y, int64_t bad, int64_t N, void *workspace, size_t workspace_bytes,
                       void *stream) {
  int64_t slots[7] = {(int64_t)(intptr_t)x, (int64_t)(intptr_t)y, bad, N, 0, (int64_t)(intptr_t)workspace,
                      (int64_t)workspace_bytes};
  return tile_call(&blur_kernel, slots, stream);
}
tile_status NAME(blur_workspace_size)(int64_t bad, int64_t N, size_t *bytes) {
  int64_t slots[7] = {0, 0, bad, N, 0, 0, 0};
  return tile_workspace_size(&blur_kernel, slots, bytes);
}
