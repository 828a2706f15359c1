// A shared library with kernels is loaded, used on several threads, and unloaded, more often than a process has thread
// keys: argv[1] is its path. Its workers must have left its code by then.
#include <dlfcn.h>
#include <stdint.h>

#include "check.h"

typedef int32_t axpy_function(const float *x, float *y, float a, int64_t N, void *stream);
typedef int32_t blur_function(const float *x, float *y, int64_t bad, int64_t N, void *workspace, size_t bytes,
                              void *stream);
typedef int32_t threads_function(int32_t threads);

static void use_once(const char *path) {
  static float x[40000], y[40000];
  for (int i = 0; i < 40000; i++) x[i] = 1, y[i] = 0;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  EXPECT(library);
  if (!library) return;
  axpy_function *axpy;
  blur_function *blur;
  threads_function *set_threads;
  *(void **)&axpy = dlsym(library, "one_axpy");
  *(void **)&blur = dlsym(library, "one_blur");
  *(void **)&set_threads = dlsym(library, "tile1_set_threads");
  EXPECT(axpy && blur && set_threads);
  EXPECT(set_threads(4) == 0);
  for (int i = 0; i < 3; i++) EXPECT(axpy(x, y, 1, 40000, NULL) == 0);
  EXPECT(y[0] == 3 && y[39999] == 3);
  EXPECT(blur(x, y, 0, 40000, NULL, 0, NULL) == 0 && y[0] == 3);
  EXPECT(dlclose(library) == 0);
  // Gone for good: nothing else holds it.
  EXPECT(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL);
}

int main(int count, char **arguments) {
  for (int i = 0; count == 2 && i < 1100; i++) use_once(arguments[1]);
  EXPECT(count == 2);
  return failures != 0;
}
