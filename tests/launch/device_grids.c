// Part of device_test.c: how many blocks a launch asks for, and which of them run at once.

static int32_t share(int64_t m, int64_t n) {
  return shared_rows((const tile_f16 *)(const void *)device_y, (const tile_f16 *)(const void *)(device_y + 2048), device_x, m, 16, n, NULL);
}

static int ran(int64_t m, int64_t n, unsigned blocks, int cluster) {
  int before = fake->launches;
  return says(share(m, n), TILE_OK, "") && fake->launches == before + 1 && fake->blocks == blocks && fake->cluster == cluster;
}

static void clusters(void) {
  set_current(&fake->primary[0]);
  EXPECT(ran(64, 64, 4, 2) && fake->overlaps == 1 && ran(64, 64, 4, 2));
  EXPECT(ran(33, 40, 4, 2));
  // Those that do not cut the grid, though they divide its blocks: the axis counts.
  EXPECT(ran(32, 96, 3, 1) && ran(64, 32, 2, 1) && ran(64, 96, 6, 1));
  EXPECT(says(share(0, 64), TILE_OK, ""));
  EXPECT(says(add_one(device_x, device_y, 2500, NULL), TILE_OK, "") && fake->cluster == 1);
  // A device may have no room for them: then every block is by itself. Other refusals stand.
  fake->has_no_clusters = 1;
  EXPECT(ran(64, 64, 4, 1) && fake->overlaps == 1);
  fake->has_no_clusters = 0, fake->launch_code = kWrongCluster;
  EXPECT(says(share(32, 32), TILE_LAUNCH_FAILED, "are not launched") && says(share(64, 64), TILE_LAUNCH_FAILED, "are not launched"));
  fake->launch_code = kIllegalAddress;
  EXPECT(says(share(64, 64), TILE_LAUNCH_FAILED, "4 blocks of 64 threads") && fake->cluster == 2);
  fake->launch_code = 0;
  // Code of an older generation asks for none.
  fake_stream second = {&fake->primary[1], 0};
  EXPECT(says(shared_rows((const tile_f16 *)(const void *)device_y, (const tile_f16 *)(const void *)(device_y + 2048), device_x, 64, 16, 64, (void *)&second),
              TILE_OK, "") && fake->blocks == 4 && fake->cluster == 1);
}

// Blocks that go on: no more than the device holds at once, and, where the last round is full by half, than need as many; in whole clusters; all, where the driver does not say how many.
static void going_on(void) {
  set_current(&fake->primary[0]);
  const unsigned at_once = FAKE_PROCESSORS * FAKE_BLOCKS, clustered = (FAKE_PROCESSORS - 1) * FAKE_BLOCKS;
  for (int i = 0; i < 2; i++) EXPECT(says(doubled(device_x, device_y, 32 * 2 * at_once, NULL), TILE_OK, "") && fake->blocks == at_once);
  EXPECT(says(doubled(device_x, device_y, 32 * (at_once + at_once / 2), NULL), TILE_OK, "") && fake->blocks == 11);  // 21 in two rounds
  EXPECT(says(doubled(device_x, device_y, 32 * (at_once + at_once / 2 - 1), NULL), TILE_OK, "") && fake->blocks == at_once);  // its last one is nearly empty
  EXPECT(says(doubled(device_x, device_y, 32 * 5 - 1, NULL), TILE_OK, "") && fake->blocks == 5);
  const tile_f16 *a = (const tile_f16 *)(const void *)device_y, *b = (const tile_f16 *)(const void *)(device_y + 2048);
  EXPECT(says(shared_rows_on(a, b, device_x, 40, 8, 32 * 16, NULL), TILE_OK, "") && fake->blocks == clustered && fake->cluster == 2);
  EXPECT(says(shared_rows_on(a, b, device_x, 40, 8, 64, NULL), TILE_OK, "") && fake->blocks == 4 && fake->cluster == 2);
  fake->occupancy_code = kIllegalAddress;
  set_current(&fake->primary[3]);
  EXPECT(says(doubled(device_x, device_y, 32 * 100, NULL), TILE_OK, "") && fake->blocks == 100);
  fake->occupancy_code = 0;
  set_current(NULL);
}

// Was the last launch given a counter that is 0, which was set once more, and given back?
static int counts(int32_t status, int is_counted) {
  static int sets, allocations, frees;
  int is_new = fake->sets == sets + is_counted && fake->allocations == allocations + is_counted && fake->frees == frees + is_counted;
  sets = fake->sets, allocations = fake->allocations, frees = fake->frees;
  return status == TILE_OK && is_new && (is_counted ? fake->counter && !fake->counted : !fake->counter);
}

// Blocks that are dealt out: by a counter of the call's own, also for a call like the one before it; none where all run at once.
static void dealing_out(void) {
  const tile_f16 *a = (const tile_f16 *)0x100000000000, *b = (const tile_f16 *)0x200000000000;
  float *c = (float *)0x300000000000;
  const unsigned at_once = FAKE_PROCESSORS * FAKE_BLOCKS;
  fake_stream newest = {&fake->primary[0], 0}, older = {&fake->primary[1], 0};
  fake->reads_counter = 1;
  counts(TILE_OK, 0);
  for (int i = 0; i < 2; i++) EXPECT(counts(risen(a, b, c, 128 * 1000, 4096, (void *)&newest), 1) && fake->blocks == at_once);
  EXPECT(counts(risen(a, b, c, 128 * at_once, 4096, (void *)&newest), 0) && fake->blocks == at_once);
  EXPECT(counts(risen(a, b, c, 128 * at_once + 1, 4096, (void *)&newest), 1) && fake->blocks == at_once);
  // Nothing is launched without it, and its memory does not stay.
  int launches = fake->launches, frees = fake->frees;
  fake->set_code = kIllegalAddress;
  EXPECT(says(risen(a, b, c, 128 * 1000, 4096, (void *)&newest), TILE_DRIVER, "risen: a counter of blocks: the driver says") && fake->frees == frees + 1);
  fake->set_code = 0, fake->allocate_code = 2;
  EXPECT(says(risen(a, b, c, 128 * 1000, 4096, (void *)&newest), TILE_OUT_OF_MEMORY, "risen: a counter of blocks") && fake->frees == frees + 1);
  fake->allocate_code = 0;
  EXPECT(fake->launches == launches);
  // Code of an older generation has a block for each.
  fake->reads_counter = 0;
  EXPECT(says(risen(a, b, c, 128 * 1000, 4096, (void *)&older), TILE_OK, "") && fake->blocks == 1000);
}

// Instances of one export: small tiles for few of them, large ones where there are enough. Code of an older generation has the first alone.
static void instances(void) {
  const tile_f16 *a = (const tile_f16 *)0x100000000000, *b = (const tile_f16 *)0x200000000000;
  float *c = (float *)0x300000000000;
  fake_stream newest = {&fake->primary[0], 0}, older = {&fake->primary[1], 0};
  EXPECT(says(tiled(a, b, c, 128, 256, 256, (void *)&newest), TILE_OK, "") && fake->blocks == 2 * 4);
  EXPECT(says(tiled(a, b, c, 4096, 64, 4096, (void *)&newest), TILE_OK, "") && fake->blocks < 512);
  EXPECT(says(tiled(a, b, c, 128, 256, 256, (void *)&older), TILE_OK, "") && fake->blocks == 1);
  // No extent is too great to choose by, and none too small.
  EXPECT(says(tiled(a, b, c, 2147483647, 8, 8, (void *)&newest), TILE_OK, ""));
  EXPECT(says(tiled(a, b, c, 0, 64, 64, (void *)&newest), TILE_OK, "") && says(tiled(a, b, c, 1, 0, 1, (void *)&newest), TILE_OK, ""));
}
