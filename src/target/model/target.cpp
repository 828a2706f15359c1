#include "target/target.h"

#include "target/model/machine.h"

namespace tilec::target::model {

namespace {

std::string probe() { return "the interpreter, on any computer"; }

}  // namespace

const Target& target() {
  static constexpr Target kTarget = {.name = "model", .machines = machines, .emits = {}, .stream_type = "void *",
                                     .stream_declaration = "", .is_host = false, .spell = nullptr,
                                     .launch = nullptr, .probe = probe};
  return kTarget;
}

}  // namespace tilec::target::model
