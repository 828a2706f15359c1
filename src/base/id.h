// Strong ids: indices into a table that cannot be mixed up. A default-made id is "none".
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tilec {

template <class Tag>
struct Id {
  static constexpr uint32_t kNone = ~0u;
  uint32_t index = kNone;
  constexpr bool valid() const { return index != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace tilec

template <class Tag>
struct std::hash<tilec::Id<Tag>> {
  size_t operator()(tilec::Id<Tag> id) const { return std::hash<uint32_t>{}(id.index); }
};
