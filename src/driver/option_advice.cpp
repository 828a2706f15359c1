#include "driver/option_advice.h"

#include <vector>

#include "base/text.h"
#include "target/foreign_names.h"

namespace tilec {

const char* const kWithoutInput =
    "tilec: no file is named\n"
    "  tilec k.tile                   makes k.o and k.h\n"
    "  tilec check k.tile             finds mistakes\n"
    "  tilec run k.tile               interprets it on random data\n"
    "tilec --help says more.\n";

std::string help_for_option(std::string_view word, const CLI::App& verb) {
  std::string_view name = word.substr(0, word.find('='));
  const Advice* best = nullptr;
  for (const Advice& a : target::kForeignOptions) {
    bool is_it = name == a.word || (a.word.size() == 2 && a.word[1] != 'c' && a.word[1] != 'g' && a.word[1] != 'v' && name.starts_with(a.word)) || (a.word.size() > 3 && name.starts_with(a.word));
    if (is_it && (!best || a.word.size() > best->word.size())) best = &a;
  }
  std::vector<std::string> known = {"--version"};
  for (const CLI::Option* option : verb.get_options())
    for (const std::string& long_name : option->get_lnames()) known.push_back("--" + long_name);
  std::vector<std::string_view> words(known.begin(), known.end());
  std::string_view near = name.starts_with("--") ? nearest(name, words) : std::string_view();
  if (!near.empty()) return "did you mean '" + std::string(near) + "'?";
  return best ? std::string(best->help) : "";
}

std::string_view help_for_foreign_target(std::string_view name) { return help_on(target::kForeignTargets, name); }

}  // namespace tilec
