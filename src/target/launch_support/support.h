// The data that a generated object hands to the support code. A kernel is described by constants and by two kinds of
// pure function: its plan and the bodies of its launches. The support code does everything else.
//
// SLOTS are the arguments of a call, eight bytes each: pointers, the bits of scalars, dims and strides, then the
// addresses of workspaces (written by the support code), then the caller's workspace and its size.
// PLAN values are what the generated plan function computes from the slots; the first two are fixed.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "abi.h"

_Static_assert(sizeof(void *) == 8, "a slot holds a pointer");

// Entry points of the support code: static in emitted C, hidden where the code becomes a module of its own.
#ifndef TILE_ENTRY
#define TILE_ENTRY static __attribute__((unused))
#endif
// One a process: the first of the equal definitions wins.
#define TILE_SHARED __attribute__((weak, visibility("default")))

// tf32 as memory holds it: the caller's floats, of which kernels read the upper bits.
typedef uint32_t tile_tf32_bits __attribute__((__may_alias__));

#define TILE_MAX_RANK 8
#define TILE_FEW 64  // tensors and plan values of a usual kernel: their tables cost a call nothing
#define TILE_MAX_EXTENT INT64_C(2147483647)
#define TILE_WORKSPACE_ALIGNMENT 256

// CPU levels: a level runs the code of every lower one.
enum { TILE_LEVEL_ANY = 1, TILE_LEVEL_X86_64_V2 = 2, TILE_LEVEL_X86_64_V3 = 3, TILE_LEVEL_X86_64_V4 = 4 };

// A number known when the call is made; TILE_ARITHMETIC: of a site that is no access; its
// text says it all.
enum { TILE_NONE = 0, TILE_CONSTANT = 1, TILE_SLOT = 2, TILE_PLAN = 3, TILE_ARITHMETIC = 4 };
struct tile_value {
  int64_t value;  // the constant, or the index of the slot or of the plan value
  int64_t kind;
};

enum { TILE_TENSOR = 0, TILE_SCALAR = 1 };
enum { TILE_READ = 1, TILE_WRITTEN = 2 };
struct tile_param {
  const char *name;
  const char *element;               // "f16"
  const struct tile_value *extents;  // `rank` of them
  const struct tile_value *strides;  // in elements; NULL: row-major and dense
  int32_t kind;                      // TILE_TENSOR or TILE_SCALAR
  int32_t element_bits;
  int32_t alignment;  // bytes that the pointer must be a multiple of
  int32_t access;     // TILE_READ, TILE_WRITTEN or both
  int32_t may_alias;
  int32_t is_nullable;
  int32_t rank;
  int32_t slot;
  int32_t args_offset;  // of the member in the args struct
  int32_t reserved;
};

struct tile_dim {
  const char *name;
  int64_t fixed;  // the value, where there is no slot
  int32_t slot;   // -1: fixed at compile time
  int32_t is_stride;
};

struct tile_requirement {
  const char *text;   // "K % 8 == 0"
  const char *place;  // "gemm.tile:3:14"
};

// A guarded access or an assertion: what the message says when it fails.
struct tile_site {
  const char *place;
  const char *text;          // "A[i, k]"
  struct tile_value extent;  // of the dimension that was left; TILE_NONE: not known
  int64_t status;            // TILE_BOUNDS or TILE_ASSERT
};

struct tile_workspace {
  const char *name;
  int32_t plan_bytes;  // index of the plan value that is its size
  int32_t slot;        // where its address goes
};

// Runs the blocks begin to end of a launch, numbered with the first launch index fastest. `scratch` is this thread's.
// A failed guard puts a word into *fault with tile_fault.
typedef void (*tile_blocks)(const int64_t *slots, const int64_t *plan, int64_t begin, int64_t end, void *scratch,
                            int64_t *fault);

// A box that an engine copies out of a tensor or into it: the launcher describes the tensor to it.
#define TILE_BOX_RANK 5
enum { TILE_BOX_MOVES, TILE_BOX_ADDS_F16, TILE_BOX_ADDS_BF16, TILE_BOX_ADDS_F32 };
struct tile_box {
  int32_t param;
  int32_t swizzle;                 // bytes of the lines in which its 16-byte chunks are permuted; 0: none are
  int32_t extents[TILE_BOX_RANK];  // along the tensor's dimensions
  int32_t adds;                    // TILE_BOX_MOVES, or what its elements are
  int32_t is_packed;               // a tensor that does not suit the engine is copied into rows that do
};

struct tile_launch {
  const char *place;
  const char *const *index_names;  // `rank` of them
  const int32_t *plan_extents;     // `rank` indices of plan values
  tile_blocks body;                // NULL: on a device
  int64_t scratch_bytes;           // of one thread, 64-byte aligned; on a device: shared memory of one block
  int64_t grain;                   // fewest blocks that are worth a thread
  const char *symbol;              // of the function in the instance's image
  struct tile_loaded *loaded;
  const struct tile_box *boxes;  // `box_count` of them
  const int32_t *cluster;        // `rank` numbers of blocks that may run at once, where all divide the grid; NULL: every block is alone
  int32_t rank;
  int32_t threads;  // of a block on a device
  int32_t box_count;
  int32_t waits;    // by itself for what was launched before it, so that it may begin sooner
  int32_t goes_on;  // from block to block: it needs no more blocks than the device holds at once
  int32_t is_dealt;  // by a counter, which is 0 at first, where it goes on
};

// ---- Devices: processors beside the host's. A target adds images and the table of its launcher.

// What the driver has made of an image or of one of its functions; zero at first, filled in once.
enum { TILE_CODE = 0, TILE_TEXT = 1 };
struct tile_loaded {
  _Atomic(void *) handle[2];     // of the compiled code, of what the driver compiles
  _Atomic uint64_t prepared[2];  // bit i: ready on device i
};

struct tile_image {
  const struct tile_device *device;
  const char *machine;  // "sm_80"
  const void *text;     // the driver compiles it
  const void *code;     // compiled; NULL: there is the text alone
  struct tile_loaded *loaded;
  const struct tile_launch *pack;  // of its function that copies tensors for the engine; NULL: there is none
  int32_t generation;  // of devices that run it
  int32_t is_exact;    // it runs on that generation alone
};

// One way to run the kernel. The first instance is taken whose level the CPU has, or whose image the device runs, and
// whose guard holds.
struct tile_instance {
  const char *guard;  // as text, for people
  const struct tile_launch *launches;
  const struct tile_workspace *workspaces;
  const struct tile_image *image;  // NULL: code of the CPU
  int32_t level;
  int32_t launch_count;
  int32_t workspace_count;
  int32_t reserved;
};

// Writes every plan value, those of instances that are not taken included; where a requirement fails, only the first.
typedef void (*tile_plan)(const int64_t *slots, int64_t *plan);
enum {
  TILE_PLAN_FAILED = 0,  // index of the first requirement that does not hold, or -1
  TILE_PLAN_GUARDS = 1,  // bit i: the guard of instance i holds; the last instance's always does
  TILE_PLAN_FIRST = 2
};

struct tile_kernel {
  tile_info info;
  tile_plan plan;
  const struct tile_param *params;
  const struct tile_dim *dims;
  const struct tile_requirement *requirements;
  const struct tile_site *sites;
  const struct tile_instance *instances;
  _Atomic(int64_t *) *fault;  // where devices leave the fault word; NULL: none of them has guards
  int32_t param_count;
  int32_t dim_count;
  int32_t requirement_count;
  int32_t site_count;
  int32_t instance_count;
  int32_t slot_count;
  int32_t plan_count;
  int32_t workspace_slot;         // the caller's workspace, then its size; -1: the kernel has none
  int32_t args_size;              // of the args struct
  int32_t args_workspace_offset;  // of the workspace in it, then its size
  int32_t args_stream_offset;
  int32_t reserved;
};

// The launcher of a kind of device. Each function returns a status but for `takes`: is this call the device's? and `again`: was it one
// that the device has run before, and was run once more?
struct tile_device {
  const char *name;
  int32_t (*takes)(const struct tile_kernel *kernel, const int64_t *slots, void *stream);
  int32_t (*again)(const struct tile_kernel *kernel, const int64_t *slots, void *stream, int32_t *status);  // has not been checked
  int32_t (*run)(const struct tile_kernel *kernel, int64_t *slots, const int64_t *plan, void *stream);  // has been checked
  int32_t (*load)(const struct tile_kernel *kernel);
  int32_t (*check)(const struct tile_kernel *kernel, void *stream);
};

// What launchers of devices use of this code.
TILE_ENTRY int32_t tile_fail(int32_t status, const char *format, ...) __attribute__((format(printf, 2, 3)));
TILE_ENTRY int32_t tile_fault_status(const struct tile_kernel *kernel, const int64_t *slots, const int64_t *plan, int64_t fault);
TILE_ENTRY int64_t tile_number(struct tile_value value, const int64_t *slots, const int64_t *plan);
TILE_ENTRY int64_t tile_grid_blocks(const struct tile_kernel *kernel, const struct tile_launch *launch, const int64_t *plan);
TILE_ENTRY int64_t tile_workspace_bytes(const struct tile_instance *instance, const int64_t *plan);
TILE_ENTRY int32_t tile_check_given_workspace(const struct tile_kernel *kernel, const int64_t *slots, const int64_t *plan,
                                              int64_t needed);
TILE_ENTRY void tile_place_workspaces(const struct tile_instance *instance, int64_t *slots, const int64_t *plan,
                                      int64_t address);
TILE_ENTRY int32_t tile_has_cpu_code(const struct tile_kernel *kernel);

// A fault word: the site plus one in the upper 24 bits, the index in the lower 40, signed. The greatest and the least index
// stand for all beyond.
#define TILE_FAULT_INDEX_BITS 40
#define TILE_FAULT_INDEX_MOST (((int64_t)1 << (TILE_FAULT_INDEX_BITS - 1)) - 1)

// The compiler writes descriptors as constants of these sizes, without a C compiler to ask.
_Static_assert(sizeof(tile_info) == 48 && sizeof(struct tile_value) == 16, "layout of a descriptor");
_Static_assert(sizeof(struct tile_param) == 72 && sizeof(struct tile_dim) == 24, "layout of a descriptor");
_Static_assert(sizeof(struct tile_requirement) == 16 && sizeof(struct tile_site) == 40, "layout of a descriptor");
_Static_assert(sizeof(struct tile_workspace) == 16 && sizeof(struct tile_launch) == 104 && sizeof(struct tile_box) == 36, "layout of a descriptor");
_Static_assert(sizeof(struct tile_loaded) == 32 && sizeof(struct tile_image) == 56, "layout of a descriptor");
_Static_assert(sizeof(struct tile_instance) == 48 && sizeof(struct tile_kernel) == 152, "layout of a descriptor");
