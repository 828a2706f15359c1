#include "base/part.h"
#include "target/native/native.h"

namespace tilec::target {

namespace {

const NativeLibrary& library() {
  static const auto& loaded = load_part_as<NativeLibrary>("native", kNativeLayout);
  return loaded;
}

}  // namespace

std::string native_code(const Program& program, const NativeRequest& request, NativeForm form) {
  return library().code(program, request, form);
}

std::string device_code(const Program& program, const DeviceRequest& request, NativeForm form) {
  return library().device(program, request, form);
}

std::string_view native_version() { return library().version(); }

}  // namespace tilec::target
