#include "target/target.h"

#include "target/model/machine.h"

namespace tilec::target::model {

namespace {

std::string probe() { return "the interpreter, on any computer"; }

}  // namespace

const Target& target() {
  static constexpr Target kTarget = {.name = "model", .machines = machines, .emits = {}, .stream_struct = "", .triple = "", .spell = nullptr,
                                     .launch = nullptr, .probe = probe};
  return kTarget;
}

}  // namespace tilec::target::model
