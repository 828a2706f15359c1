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
  size_t colon = name.find(':');
  bool is_text = colon != name.npos;
  for (const Target* target : targets())
    for (const Machine& machine : target->machines()) {
      if (!is_text && machine.name == name) return MachineChoice{target, &machine};
      bool is_its_text = is_text && target->assemble && target->emits.front() == name.substr(0, colon);
      if (is_its_text && machine.name == name.substr(colon + 1)) return MachineChoice{target, &machine, true};
    }
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
