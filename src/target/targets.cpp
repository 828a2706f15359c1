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

bool is_planned(std::string_view name) {
  constexpr std::string_view kBeginnings[] = {
#define PLANNED(text) text,
#include "target/targets.def"
  };
  return std::any_of(std::begin(kBeginnings), std::end(kBeginnings), [&](std::string_view b) { return name.starts_with(b); });
}

std::span<const std::string_view> planned_emits() {
  static constexpr std::string_view kEmits[] = {
#define PLANNED_EMIT(text) text,
#include "target/targets.def"
  };
  return kEmits;
}

}  // namespace tilec::target
