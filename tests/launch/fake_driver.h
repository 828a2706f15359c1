// A stand-in for the driver of NVIDIA's GPUs: what a test sets, and what it has seen. Found by dlsym in `libcuda.so.1`.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { FAKE_DEVICES = 4, FAKE_MEMORIES = 16, FAKE_SLOTS = 8, FAKE_RANK = 5, FAKE_DESCRIPTORS = 2, FAKE_PROCESSORS = 7, FAKE_BLOCKS = 2, FAKE_PACKED = 4096 };

typedef struct {
  int device;
  unsigned long long id;
} fake_context;

typedef struct {
  fake_context *context;
  int is_capturing;
} fake_stream;

typedef struct {
  uint64_t low, high;
  fake_context *context;  // NULL: memory of a pool
  int device, kind, is_managed;
} fake_memory;

// What the engine is told of a tensor, and of the boxes that are copied out of it.
typedef struct {
  uint64_t tensor, extents[FAKE_RANK], strides[FAKE_RANK];  // strides: from the second dimension on
  uint32_t box[FAKE_RANK];
  int rank, element, swizzle;
} fake_descriptor;

typedef struct {
  // What the functions answer.
  int describe_code, init_code, load_code, kernel_code, attribute_code, launch_code, allocate_code, set_code, register_code, wait_code, device_code,
      current_code, capture_code, occupancy_code;
  int fails_from;  // launches before `launch_code` is answered
  int64_t map_offset;  // of what a device sees of the host's memory
  int major[FAKE_DEVICES], minor[FAKE_DEVICES];
  fake_context primary[FAKE_DEVICES];
  fake_memory memory[FAKE_MEMORIES];
  int memories;
  int64_t fault_word;  // left by the next launch that has a place for it
  // What they were called for.
  _Atomic int loads, tried, launches, allocations, frees, sets, registered, waits, retained, released, described;
  int loaded_text;  // the last image was text
  unsigned blocks, threads, shared;
  int cluster;             // blocks that the last launch runs at once
  int has_no_clusters;
  int overlaps;  // the last launch may begin before what is ahead of it has ended
  int dynamic_shared;  // asked for by an attribute
  void *stream;
  fake_context *launch_context;
  int64_t slots[FAKE_SLOTS];
  // Of the last launch of two described boxes: each, and whether the kernel was told that it holds.
  int reads_descriptors;
  fake_descriptor descriptors[FAKE_DESCRIPTORS];
  char holds[FAKE_DESCRIPTORS];
  // Of the last launch that has a fourth parameter: the address in it, and the word there.
  int reads_counter;
  uint64_t counter;
  uint32_t counted;
  // Of the last copy of a tensor that was made for the engine: how many there were, where it was, how long it is, and its beginning.
  int packs;
  uint64_t packed_at;
  int64_t packed_bytes;
  char packed[FAKE_PACKED];
} fake_state;
