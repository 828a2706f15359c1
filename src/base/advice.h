// Words of other languages and tools, with what is written here instead.
#pragma once
#include <algorithm>
#include <span>
#include <string_view>

namespace tilec {

struct Advice {
  std::string_view word, help;
};

inline std::string_view help_on(std::span<const Advice> list, std::string_view word, std::string_view otherwise = {}) {
  auto found = std::ranges::find(list, word, &Advice::word);
  return found != list.end() ? found->help : otherwise;
}

}  // namespace tilec
