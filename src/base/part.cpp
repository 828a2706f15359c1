#include "base/part.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace tilec {

namespace {

constexpr int kBrokenEnvironment = 3;  // as the command's exit codes have it

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  std::fprintf(stderr, "tilec: cannot load %s: %s\n", path.c_str(), why.c_str());
  std::fflush(nullptr);
  std::_Exit(kBrokenEnvironment);  // other threads may be at work on what `exit` would take down
}

// Beside the folder of the program, in the build folder as in an installed tree.
std::string path_of(const std::string& name) {
  std::string self(4096, '\0');
  ssize_t length = readlink("/proc/self/exe", self.data(), self.size());
  self.resize(length > 0 ? size_t(length) : 0);
  return self.substr(0, self.rfind('/') + 1) + "../lib/tilec/libtilec-" + name + ".so";
}

}  // namespace

const PartHeader& load_part(const std::string& name, size_t layout) {
  std::string path = path_of(name);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail(path, dlerror());
  auto* header = static_cast<const PartHeader*>(dlsym(handle, ("tilec_" + name).c_str()));
  if (!header) fail(path, "it is no part of tilec");
  if (header->version != TILEC_VERSION || header->layout != layout) fail(path, "it is of another build than this program");
  return *header;
}

}  // namespace tilec
