#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "target/native/native.h"

namespace tilec::target {

namespace {

constexpr int kBrokenEnvironment = 3;  // as the command's exit codes have it

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  std::fprintf(stderr, "tilec: cannot load %s: %s\n", path.c_str(), why.c_str());
  std::exit(kBrokenEnvironment);
}

// Beside the folder of the program, in the build folder as in an installed tree.
std::string library_path() {
  std::string self(4096, '\0');
  ssize_t length = readlink("/proc/self/exe", self.data(), self.size());
  self.resize(length > 0 ? size_t(length) : 0);
  return self.substr(0, self.rfind('/') + 1) + "../lib/tilec/libtilec-native.so";
}

const NativeLibrary& load() {
  std::string path = library_path();
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail(path, dlerror());
  auto* library = static_cast<const NativeLibrary*>(dlsym(handle, "tilec_native"));
  if (!library) fail(path, "it is no part of tilec");
  if (library->tilec != TILEC_VERSION || library->layout != kNativeLayout) fail(path, "it is of another build than this program");
  return *library;
}

const NativeLibrary& library() {
  static const NativeLibrary& loaded = load();
  return loaded;
}

}  // namespace

std::string native_code(const Program& program, const NativeRequest& request, NativeForm form) {
  return library().code(program, request, form);
}

std::string_view native_version() { return library().version(); }

}  // namespace tilec::target
