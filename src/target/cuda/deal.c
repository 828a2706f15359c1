// A counter for a launch whose blocks take the next number when they come for it: 0 before the launch, in memory that the stream has until
// the launch has run. Launches of other streams, and captured ones, have their own.

static int32_t tile_cu_new_counter(const struct tile_kernel *kernel, const struct tile_cu_place *place, void *stream, uint64_t *counter) {
  int code = tile_cu.allocate(counter, sizeof(uint32_t), stream);
  if (code) *counter = 0;
  if ((code == TILE_CU_WRONG_HANDLE || code == TILE_CU_WRONG_CONTEXT) && tile_cu_is_elsewhere(place, stream)) return TILE_CU_ELSEWHERE;
  if (!code) code = tile_cu.set_words(*counter, 0, 1, stream);
  return code ? tile_cu_fail(kernel, "a counter of blocks", code) : TILE_OK;
}
