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
#include "target/c/machine.h"
#include "target/c/spell.h"
#include "target/cpu/machine.h"
#include "target/launch_support/launch_support.h"
#include "target/native/native.h"

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

// One way to run a kernel: a level of native code, or C through one compiler.
struct Engine {
  std::string name;
  const Machine* machine;
  const char* compiler;  // of C; null: native code
};

inline const std::vector<Engine>& engines() {
  static const std::vector<Engine> all = [] {
    std::vector<Engine> found;
    for (const target::CpuCode& code : target::cpu::x86_64_codes()) {
      bool runs_here = code.level == 4   ? __builtin_cpu_supports("x86-64-v4")
                       : code.level == 3 ? __builtin_cpu_supports("x86-64-v3")
                                         : true;
      if (runs_here) found.push_back({std::string(code.machine->name), code.machine, nullptr});
    }
    for (const char* compiler : {"gcc", "clang-19"}) found.push_back({compiler, &target::c::machines()[0], compiler});
    return found;
  }();
  return all;
}

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

inline target::NativeRequest native_request(std::string_view triple = kTriple) {
  bool is_arm = triple.starts_with("aarch64");
  return {.triple = triple, .codes = is_arm ? target::cpu::aarch64_codes() : target::cpu::x86_64_codes(),
          .support = target::support_bitcode(triple)};
}

// A program as a shared object of its own.
class Linked {
 public:
  Linked(const Engine& engine, const target::Program& program) {
    std::string shared = folder_.file("k.so"), command;
    if (engine.compiler) {
      command = std::string(engine.compiler) + " -std=c11 -Wall -Wextra -Wpedantic -Werror -O1 -fPIC -shared -o " + shared + " " +
                folder_.write("k.c", target::c::spell(program, target::support_text())) + " -lm -lpthread";
    } else {
      std::string object = folder_.write("k.o", target::native_code(program, native_request(), target::NativeForm::Object));
      command = "cc -shared -Wl,-z,defs -nodefaultlibs -o " + shared + " " + object + " -lc";
    }
    if (runs(command)) library_ = std::make_unique<Library>(shared);
  }
  explicit operator bool() const { return library_ && *library_; }
  template <class F> F* function(const std::string& name) const { return library_->function<F>(name); }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<Library> library_;
};

// An argument: a tensor with its extents, or the bits of a scalar.
struct Given {
  int64_t bits = 0;
  std::vector<int64_t> extents;
};
template <class T> Given tensor(std::vector<T>& v, std::vector<int64_t> extents = {}) {
  if (extents.empty()) extents = {int64_t(v.size())};
  return {int64_t(v.data()), std::move(extents)};
}

// Calls by the args struct; the status of the call.
inline int call(const Linked& linked, const target::Export& exported, const std::vector<Given>& given) {
  target::Abi abi = target::abi_of(exported);
  std::vector<char> args(size_t(abi.args_size));
  int64_t size = abi.args_size;
  std::memcpy(args.data(), &size, 8);
  for (size_t i = 0; i < given.size(); ++i) {
    char* member = args.data() + abi.params[i].args_offset;
    std::memcpy(member, &given[i].bits, abi.params[i].is_tensor ? 8 : size_t(byte_width(abi.params[i].element)));
    for (size_t axis = 0; axis < given[i].extents.size(); ++axis) std::memcpy(member + 8 + axis * 8, &given[i].extents[axis], 8);
  }
  auto* entry = linked.function<int(const void*)>(exported.name + "_call");
  return entry ? entry(args.data()) : -1;
}

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
  // Both regions end.
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
