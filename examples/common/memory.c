// Memory for tensors: the host's, or, after `--device`, memory that the host and an NVIDIA GPU share. A kernel runs where its
// tensors lie.
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

enum { kAttachGlobal = 1, kAlignment = 256 };

static struct {
  bool is_open;
  int (*allocate)(uint64_t *address, size_t bytes, unsigned flags);
  int (*give_back)(uint64_t address);
  int (*wait)(void);
} device;

static void find(void *library, const char *name, void *place) {
  void *symbol = dlsym(library, name);
  memcpy(place, &symbol, sizeof symbol);
}

bool memory_on_device(void) {
  int (*start)(unsigned) = NULL, (*retain)(void **, int) = NULL, (*make_current)(void *) = NULL;
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *context = NULL;
  if (!library) return false;
  find(library, "cuInit", &start), find(library, "cuDevicePrimaryCtxRetain", &retain);
  find(library, "cuCtxSetCurrent", &make_current), find(library, "cuMemAllocManaged", &device.allocate);
  find(library, "cuMemFree_v2", &device.give_back), find(library, "cuCtxSynchronize", &device.wait);
  if (!start || !retain || !make_current || !device.allocate || !device.give_back || !device.wait) return false;
  device.is_open = !start(0) && !retain(&context, 0) && !make_current(context);
  return device.is_open;
}

bool memory_is_on_device(void) { return device.is_open; }

bool memory_wait(void) { return !device.is_open || device.wait() == 0; }

void *memory_get(size_t bytes) {
  uint64_t address = 0;
  void *memory = NULL;
  size_t rounded = (bytes + kAlignment) / kAlignment * kAlignment;
  if (!device.is_open) memory = aligned_alloc(kAlignment, rounded);
  else if (device.allocate(&address, rounded, kAttachGlobal) == 0) memory = (void *)(uintptr_t)address;
  if (memory) return memory;
  fprintf(stderr, "out of memory: %zu bytes\n", bytes);
  exit(3);
}

void memory_give(void *memory) {
  if (!device.is_open) free(memory);
  else if (memory) device.give_back((uint64_t)(uintptr_t)memory);
}
