// Part of device_test.c: what the engine that copies boxes is told of tensors, and which of them are copied for it.

static int holds(int a, int b) { return fake->holds[0] == a && fake->holds[1] == b; }

// Two products of 32 x 16 and 16 x 24.
static int32_t multiply(const void *a, int64_t batch, int64_t row, int64_t n) {
  return products((const tile_f16 *)a, (const tile_f16 *)device_y, device_x, 2, 32, 16, batch, row, n, NULL);
}

static void boxes(void) {
  const char *a = (const char *)device_y + 4096;
  fake->reads_descriptors = 1;
  set_current(&fake->primary[0]);
  EXPECT(says(multiply(a, 32 * 16, 16, 24), TILE_OK, "") && holds(1, 1) && fake->blocks == 2);
  // From the last dimension on: elements of two bytes, strides in bytes, lines of 128 bytes.
  fake_descriptor of_a = fake->descriptors[0], of_b = fake->descriptors[1];
  EXPECT(of_a.tensor == (uint64_t)(uintptr_t)a && of_a.rank == 3 && of_a.element == 1 && of_a.swizzle == 3);
  EXPECT(of_a.extents[0] == 16 && of_a.extents[1] == 32 && of_a.extents[2] == 2 && of_a.strides[0] == 32 && of_a.strides[1] == 1024);
  EXPECT(of_a.box[0] == 64 && of_a.box[1] == 64 && of_a.box[2] == 1 && of_b.box[0] == 64 && of_b.box[1] == 64 && of_b.box[2] == 1);
  EXPECT(of_b.extents[0] == 24 && of_b.extents[1] == 16 && of_b.strides[0] == 48 && of_b.strides[1] == 768);
  // A thread keeps what it told of tensors, for as long as all stay where they are and as large as they are.
  int described = fake->described;
  EXPECT(says(multiply(a, 32 * 16, 16, 24), TILE_OK, "") && holds(1, 1) && fake->described == described);
  EXPECT(says(multiply(a + 16, 32 * 16, 16, 24), TILE_OK, "") && holds(1, 1) && fake->described == described + 2);
  EXPECT(says(multiply(a + 16, 32 * 16, 16, 40), TILE_OK, "") && holds(1, 1) && fake->described == described + 4);
  fake->describe_code = 1;
  EXPECT(says(multiply(a, 32 * 24, 24, 32), TILE_DRIVER, "products: A: the driver says"));
  fake->describe_code = fake->reads_descriptors = 0;
  set_current(NULL);
}

// Was one tensor copied for the call, into `bytes` where the engine was told that it is, and given back?
static int packs(int32_t status, int tensor, int64_t bytes) {
  static int packs, launches, allocations, frees;
  const fake_descriptor *told = &fake->descriptors[tensor];
  int is_one = status == TILE_OK && fake->packs == packs + 1 && fake->launches == launches + 2 && fake->allocations == allocations + 1 && fake->frees == frees + 1;
  packs = fake->packs, launches = fake->launches, allocations = fake->allocations, frees = fake->frees;
  return is_one && holds(1, 1) && told->tensor == fake->packed_at && fake->packed_bytes == bytes;
}

// Rows of the copy begin at multiples of 16 bytes; of the tensor, at multiples of `stride` behind `from`.
static int has_packed(const char *from, int rows, size_t bytes, size_t stride) {
  const size_t padded = (bytes + 15) / 16 * 16;
  static const char zeros[16];
  for (int row = 0; row < rows; row++) {
    const char *copy = fake->packed + (size_t)row * padded;
    if (memcmp(copy, from + (size_t)row * stride, bytes) || memcmp(copy + bytes, zeros, padded - bytes)) return 0;
  }
  return 1;
}

// Tensors that do not suit the engine: one matrix for the batch, rows that are no multiple of 16 bytes, a tensor that begins elsewhere.
static void packed_boxes(void) {
  const char *a = (const char *)device_y + 4096;
  for (size_t i = 0; i < sizeof device_y; i++) ((char *)device_y)[i] = (char)(i * 7 + i / 256);
  fake->reads_descriptors = 1;
  set_current(&fake->primary[0]);
  packs(TILE_OK, 0, 0);
  EXPECT(packs(multiply(a, 0, 16, 24), 0, 2 * 32 * 32) && has_packed(a, 32, 32, 32) && !memcmp(fake->packed, fake->packed + 1024, 1024));
  EXPECT(packs(multiply(a, 32 * 17, 17, 24), 0, 2 * 32 * 32) && has_packed(a, 2 * 32, 32, 34));
  EXPECT(fake->descriptors[0].strides[0] == 32 && fake->descriptors[0].strides[1] == 1024 && fake->descriptors[0].extents[0] == 16);
  EXPECT(packs(multiply(a, 32 * 17 + 5, 17, 24), 0, 2 * 32 * 32) && has_packed(a, 32, 32, 34));
  EXPECT(!memcmp(fake->packed + 1024, a + 34 * 32 + 10, 32));
  EXPECT(packs(multiply(a + 2, 32 * 16, 16, 24), 0, 2 * 32 * 32) && has_packed(a + 2, 2 * 32, 32, 32));
  EXPECT(packs(multiply(a, 32 * 16, 16, 23), 1, 2 * 16 * 48) && has_packed((const char *)device_y, 2 * 16, 46, 46));
  EXPECT(fake->descriptors[1].extents[0] == 23 && fake->descriptors[1].strides[0] == 48 && fake->descriptors[1].strides[1] == 768);
  EXPECT(packs(multiply(a, 32 * 16, 16, 23), 1, 2 * 16 * 48));  // what is copied is not kept
  fake->allocate_code = kOutOfMemory;
  EXPECT(says(multiply(a, 32 * 17, 17, 24), TILE_OUT_OF_MEMORY, "no memory on device 0 for 2048 bytes of copies"));
  fake->allocate_code = 0, fake->describe_code = 1;
  int allocations = fake->allocations, frees = fake->frees;
  EXPECT(says(multiply(a, 32 * 17, 17, 24), TILE_DRIVER, "products: A: the driver says") && fake->allocations - allocations == fake->frees - frees);
  fake->describe_code = 0, fake->launch_code = kIllegalAddress, fake->fails_from = 0;
  EXPECT(says(multiply(a, 32 * 17, 17, 24), TILE_LAUNCH_FAILED, "blocks of 256 threads") && fake->allocations - allocations == fake->frees - frees);
  fake->launch_code = fake->reads_descriptors = 0;
  set_current(NULL);
}

static void *multiply_twice(void *described) {
  int32_t status = TILE_OK;
  set_current(&fake->primary[0]);
  for (int i = 0; i < 2; i++) {
    int before = fake->described;
    status |= multiply((const char *)device_y + 4096, 32 * 16, 16, 24);
    ((int *)described)[i] = status ? -1 : fake->described - before;
  }
  return NULL;
}

// Each thread keeps calls of its own, and none of which the driver has refused a descriptor.
static void kept_boxes(void) {
  pthread_t thread;
  int own[2], others[2];
  fake->reads_descriptors = 1;
  multiply_twice(own);
  pthread_create(&thread, NULL, multiply_twice, others);
  pthread_join(thread, NULL);
  EXPECT(others[0] == 2 && others[1] == 0 && holds(1, 1));
  multiply_twice(own);
  EXPECT(own[0] == 0 && own[1] == 0 && holds(1, 1));
  fake->describe_code = 1;
  EXPECT(says(multiply((const char *)device_y + 8192, 32 * 16, 16, 24), TILE_DRIVER, "the driver says"));
  fake->describe_code = 0;
  EXPECT(says(multiply((const char *)device_y + 8192, 32 * 16, 16, 24), TILE_OK, "") && holds(1, 1));
  EXPECT(fake->descriptors[0].tensor == (uint64_t)(uintptr_t)device_y + 8192);
  fake->reads_descriptors = 0;
  set_current(NULL);
}

// Boxes that are added to a tensor are of its floats, those that are moved only of their bits.
static void added_boxes(void) {
  fake->reads_descriptors = 1;
  EXPECT(says(box_sums(device_x, device_y, 64, 64, NULL), TILE_OK, "") && holds(1, 1));
  EXPECT(fake->descriptors[0].tensor == (uint64_t)(uintptr_t)device_y && fake->descriptors[0].element == 7);
  EXPECT(fake->descriptors[1].tensor == (uint64_t)(uintptr_t)device_x && fake->descriptors[1].element == 2);
  EXPECT(says(box_sums(device_x, device_y, 64, 63, NULL), TILE_OK, "") && holds(0, 0));
  fake->reads_descriptors = 0;
}
