#include "target/target.h"

#include "target/c/machine.h"
#include "target/c/spell.h"
#include "target/launch_support/launch_support.h"

namespace tilec::target::c {

namespace {

constexpr std::string_view kEmits[] = {"c"};

std::string spell_text(const Program& program, std::string_view) { return spell(program, support_text()); }
std::string probe() { return "any C11 compiler"; }

}  // namespace

const Target& target() {
  static constexpr Target kTarget = {.name = "c", .machines = machines, .emits = kEmits, .stream_struct = "", .triple = "", .spell = spell_text,
                                     .launch = support_text, .probe = probe};
  return kTarget;
}

}  // namespace tilec::target::c
