// What every generated header and every generated object of this ABI agree on. The text is printed at the head of each
// header, behind one guard, so that any number of headers may be included together; C99, C11, C++11 and later.
#ifndef TILE1_ABI_H
#define TILE1_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TILE_ABI 1

// What a kernel returns. A status other than TILE_OK leaves a sentence in tile1_last_message().
typedef int32_t tile_status;
enum {
  TILE_OK = 0,
  TILE_NULL_ARGUMENT = 1,   // a pointer is NULL whose parameter is not marked `?`
  TILE_SHAPE = 2,           // an extent or a size made of them is out of range, or a `requires` does not hold
  TILE_ALIGNMENT = 3,       // a pointer is not aligned to its element
  TILE_ALIAS = 4,           // a written tensor overlaps another
  TILE_NO_DRIVER = 5,       // this machine has no driver for the target
  TILE_NO_DEVICE_CODE = 6,  // the object holds no code for this device or CPU
  TILE_NO_CONTEXT = 7,      // no context is current and none follows from the arguments
  TILE_OUT_OF_MEMORY = 8,
  TILE_GRID = 9,  // a launch has more blocks than can be numbered
  TILE_LAUNCH_FAILED = 10,
  TILE_BOUNDS = 11,  // the kernel met an index outside its tensor, divided an integer by zero, or left 64 bits with an int
  TILE_ASSERT = 12,  // an assertion in the kernel failed
  TILE_DRIVER = 13,  // the driver reported an error
  TILE_ABI_MISMATCH = 14
};

// Elements that C has no type for: their bit patterns.
typedef uint16_t tile_f16;
typedef uint16_t tile_bf16;
typedef uint8_t tile_f8e4m3;
typedef uint8_t tile_f8e5m2;
typedef uint8_t tile_f8e8m0;
typedef uint8_t tile_f8e4m3fnuz;
typedef uint8_t tile_f8e5m2fnuz;
typedef uint8_t tile_packed;  // elements narrower than a byte, the first in the low bits

// What an object knows of one of its kernels.
typedef struct tile_info {
  uint32_t struct_size;   // of this struct
  uint32_t abi;           // TILE_ABI of the compiler that made the object
  const char *name;       // of the exported function
  const char *signature;  // as written in the source, with what `where` fixed
  const char *source;     // file:line:column of the kernel
  const char *targets;    // machines that the object holds code for, separated by spaces
  const char *compiler;   // name and version
} tile_info;

#ifdef __cplusplus
extern "C" {
#endif

// Runs body(context, begin, end) over disjoint ranges that cover 0 to `blocks`, and returns when all have returned.
typedef void (*tile_body)(void *context, int64_t begin, int64_t end);
// A caller's own parallel loop. A range should hold at least `grain` blocks; fewer are not worth a thread.
typedef void (*tile_parallel_for)(void *hook_context, int64_t blocks, int64_t grain, tile_body body, void *context);

// One a process, however many objects are linked: CPU kernels run their blocks through `hook`, or through the built-in
// pool where it is NULL.
tile_status tile1_set_parallel_for(tile_parallel_for hook, void *hook_context);
// Threads of the built-in pool, the caller included; 0 means as many as the process may run on.
tile_status tile1_set_threads(int32_t threads);
int32_t tile1_threads(void);
// The loop that CPU kernels run through, for the caller's own use. Inside of itself it runs serially.
void tile1_parallel_for(int64_t blocks, int64_t grain, tile_body body, void *context);
// The sentence of the last status other than TILE_OK on this thread.
const char *tile1_last_message(void);

#ifdef __cplusplus
}
#endif

#endif
