// What tilec says of itself before any verb: --print-targets, --print-passes, --version, each with =json; --print-manual,
// --print-completions.
#include "base/text.h"
#include "diag/json.h"
#include "driver/manual.h"
#include "driver/session.h"

namespace tilec {

namespace {

Json targets_json() {
  Json list = Json::array();
  for (const target::Target* target : target::targets()) {
    Json machines = Json::array(), emits = Json::array();
    for (const Machine& machine : target->machines()) machines.push(std::string(machine.name));
    for (std::string_view emit : target->emits) emits.push(std::string(emit));
    Json row = Json::object().set("name", std::string(target->name)).set("machines", machines).set("emits", emits);
    if (target->assemble) row.set("text", std::string(target->emits.front()));  // TEXT:MACHINE is a name too
    list.push(row);
  }
  return list;
}

std::string targets_text() {
  std::string text;
  for (const target::Target* target : target::targets())
    for (const Machine& machine : target->machines()) {
      text += std::string(machine.name) + "\n";
      if (target->assemble) text += std::string(target->emits.front()) + ":" + std::string(machine.name) + "\n";
    }
  return text;
}

Json passes_json() {
  Json list = Json::array();
  for (const Pass& pass : pass_list())
    list.push(Json::object().set("name", std::string(pass.name)).set("gives", std::string(ir::name(pass.gives))).set("purpose", std::string(pass.purpose)));
  return list;
}

std::string passes_text() {
  std::string text;
  for (const Pass& pass : pass_list()) text += std::string(pass.name) + ": " + std::string(pass.purpose) + "\n";
  return text;
}

Json version_json() { return Json::object().set("name", "tilec").set("version", kVersion); }
std::string version_text() { return std::string("tilec ") + kVersion + "\n"; }

struct Row {
  std::string_view word;
  std::string (*text)();
  Json (*json)();
};
constexpr Row kRows[] = {{"--print-targets", targets_text, targets_json},
                         {"--print-passes", passes_text, passes_json},
                         {"--version", version_text, version_json},
                         {"--print-manual", manual_text, nullptr},
                         {"--print-completions", completions_text, nullptr},
                         {"--print-completions=bash", completions_text, nullptr},
                         {"--print-completions=zsh", zsh_completions_text, nullptr},
                         {"--print-completions=fish", fish_completions_text, nullptr}};

// "--print-targets", "--print-targets=json"
std::vector<std::string> spellings(std::string_view stem) {
  std::vector<std::string> all;
  for (const Row& row : kRows) {
    if (row.word.substr(0, row.word.find('=')) != stem) continue;
    all.emplace_back(row.word);
    if (row.json) all.push_back(std::string(row.word) + "=json");
  }
  return all;
}

}  // namespace

std::optional<int> print_command(int argc, const char* const* argv) {
  if (argc < 2) return std::nullopt;
  std::string_view word = argv[1];
  for (const Row& row : kRows) {
    bool is_json = row.json && word == std::string(row.word) + "=json";
    if (argc > 2 || (word != row.word && !is_json)) continue;
    std::fputs(is_json ? row.json().indented_text().c_str() : row.text().c_str(), stdout);
    return kDone;
  }
  std::string_view stem = word.substr(0, word.find('='));
  std::vector<std::string> all = spellings(stem);
  if (all.empty() || word == "--version") return std::nullopt;
  if (argc > 2) std::fprintf(stderr, "tilec: '%s' stands alone\n", std::string(stem).c_str());
  else std::fprintf(stderr, "tilec: there is no '%s'; there are %s\n", argv[1], join(all, ", ").c_str());
  return kUsage;
}

}  // namespace tilec
