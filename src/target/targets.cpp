#include "target/target.h"

namespace tilec::target {

#define TARGET(name) \
  namespace name {   \
  const Target& target(); \
  }
#include "target/targets.def"

std::span<const Target* const> targets() {
  static const Target* const all[] = {
#define TARGET(name) &name::target(),
#include "target/targets.def"
  };
  return all;
}

const Target* target_named(std::string_view name) {
  for (const Target* target : targets())
    if (target->name == name) return target;
  return nullptr;
}

std::optional<MachineChoice> machine_named(std::string_view name) {
  for (const Target* target : targets())
    for (const Machine& machine : target->machines())
      if (machine.name == name) return MachineChoice{target, &machine};
  return std::nullopt;
}

}  // namespace tilec::target
