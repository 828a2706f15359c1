// Runs Thread kernels as native code: compiles them in process, links a shared object with the system's compiler and calls
// the functions by name.
#pragma once
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "target/abi/abi.h"
#include "target/abi/memory.h"

namespace tilec::testing {

using namespace ir;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tilec-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }

 private:
  std::string path_;
};

inline bool runs(const std::string& command) { return std::system(command.c_str()) == 0; }

// A shared object, opened.
class Library {
 public:
  explicit Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) std::fprintf(stderr, "%s\n", dlerror());
  }
  ~Library() {
    if (handle_) dlclose(handle_);
  }
  Library(const Library&) = delete;
  explicit operator bool() const { return handle_ != nullptr; }
  template <class F> F* function(const std::string& name) const { return reinterpret_cast<F*>(dlsym(handle_, name.c_str())); }

 private:
  void* handle_;
};

using PlanFunction = void(const int64_t*, int64_t*);
using BlocksFunction = void(const int64_t*, const int64_t*, int64_t, int64_t, void*, int64_t*);

// Calls instance `instance` as the launcher does, but on one thread and without checks. Returns the fault word.
inline int64_t call(const Library& library, const target::Export& exported, int instance, int lanes,
                    std::vector<int64_t> slots) {
  target::Abi abi = target::abi_of(exported);
  slots.resize(size_t(abi.slot_count));
  std::vector<int64_t> plan(size_t(abi.plan_count()), -7);
  auto* plan_function = library.function<PlanFunction>(target::plan_name(exported));
  if (!plan_function) return -1;
  plan_function(slots.data(), plan.data());
  std::vector<std::vector<char>> workspaces;
  for (const target::WorkspaceAbi& w : abi.instances[instance].workspaces) {
    workspaces.emplace_back(size_t(plan[w.plan_bytes]));
    slots[w.slot] = int64_t(workspaces.back().data());
  }
  int64_t fault = 0;
  const Kernel& kernel = *exported.instances[instance].kernel;
  for (size_t k = 0; k < abi.instances[instance].launches.size(); ++k) {
    const target::LaunchAbi& launch = abi.instances[instance].launches[k];
    auto memory = target::plan_memory(kernel, kernel.op(launch.launch).as<op::Launch>().body, lanes);
    size_t bytes = size_t(memory.scratch_bytes + target::kScratchAlignment);
    void* scratch = std::aligned_alloc(size_t(target::kScratchAlignment), bytes);
    int64_t blocks = 1;
    for (int index : launch.plan_extents) blocks *= plan[index];
    auto* run = library.function<BlocksFunction>(target::launch_name(exported, instance, int(k)));
    if (!run) return -1;
    run(slots.data(), plan.data(), 0, blocks, scratch, &fault);
    std::free(scratch);
  }
  return fault;
}

inline int64_t slot(const void* pointer) { return int64_t(pointer); }

// Builds a kernel step by step: parameters and dims, then one launch with its region open.
struct KernelMaker {
  Kernel kernel;
  Builder body;

  explicit KernelMaker(std::string name) : body(kernel, RegionId{}) {
    kernel.name = std::move(name);
    kernel.form = Form::Thread;
    kernel.body = kernel.new_region();
    body.set_region(kernel.body);
  }
  ValueId dim(const std::string& name) {
    ValueId v = kernel.new_arg(kernel.body, scalar_type(Scalar::Index), name);
    kernel.dims.push_back({.name = name, .value = v});
    return v;
  }
  ValueId tensor(const std::string& name, Scalar element, std::vector<ValueId> extents, Access access) {
    std::vector<int64_t> shape;
    for (ValueId v : extents) {
      auto known = kernel.constant(v);
      shape.push_back(known ? known->i : kDynamic);
    }
    ValueId v = kernel.new_arg(kernel.body, buffer_type(Space::Global, element, shape), name);
    kernel.params.push_back({.name = name, .access = access, .value = v, .extents = extents});
    return v;
  }
  ValueId scalar(const std::string& name, Scalar element) {
    ValueId v = kernel.new_arg(kernel.body, scalar_type(element), name);
    kernel.params.push_back({.name = name, .value = v});
    return v;
  }
  // Opens a launch; its block indices are args of the region.
  Builder launch(std::vector<ValueId> extents, std::vector<ValueId>& indices) {
    RegionId region = kernel.new_region();
    for (size_t i = 0; i < extents.size(); ++i) indices.push_back(kernel.new_arg(region, scalar_type(Scalar::Index)));
    body.add(op::Launch{.extents = extents, .body = region});
    return Builder(kernel, region);
  }
  // `begin` opened the launch; both regions end.
  void close(Builder& launch) {
    launch.yield({});
    body.yield({});
  }
};

inline ValueId lane(Builder& b) { return b.value(op::LaneIndex{}, scalar_type(Scalar::Index, true)); }
inline ValueId load(Builder& b, ValueId buffer, ValueId index, int64_t stride, bool varying, ValueId mask = {}) {
  return b.value(op::MemLoad{buffer, index, mask, stride}, scalar_type(b.kernel().type(buffer).element, varying));
}
inline void store(Builder& b, ValueId buffer, ValueId index, ValueId value, int64_t stride, ValueId mask = {}) {
  b.add(op::MemStore{buffer, index, value, mask, stride});
}

}  // namespace tilec::testing
