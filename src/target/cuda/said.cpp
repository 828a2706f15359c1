#include "target/cuda/said.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace tilec::target::cuda {

namespace {

// Advice on the products of groups of warps has codes of its own, a function in quotes at its end, and no severity beyond "info".
constexpr std::string_view kAdvice = "(C75", kLoss = "Potential Performance Loss: ", kProperties = "Function properties for ";
constexpr std::string_view kIn[] = {" in the function '", " in function '"};
constexpr size_t kMostReasons = 4;  // of one function: a lost wait is told for every place

AssembledFunction& entry_of(std::string_view name, std::vector<AssembledFunction>& functions) {
  auto found = std::ranges::find(functions, name, &AssembledFunction::name);
  if (found != functions.end()) return *found;
  return functions.emplace_back(AssembledFunction{.name = std::string(name)});
}

// "ptxas info    : (C7510) Potential Performance Loss: REASON in the function 'NAME'"; by the code the reason can be looked up.
void read_advice(std::string_view line, std::vector<AssembledFunction>& functions) {
  size_t code = line.find(kAdvice), end = line.find(") ", code);
  if (code == line.npos || end == line.npos) return;
  std::string_view reason = line.substr(end + 2);
  if (reason.starts_with(kLoss)) reason.remove_prefix(kLoss.size());
  std::string_view name;
  for (std::string_view in : kIn) {
    size_t at = reason.rfind(in);
    if (at == reason.npos) continue;
    name = reason.substr(at + in.size());
    name = name.substr(0, name.find('\''));
    reason = reason.substr(0, at);
  }
  std::string told = std::string(reason) + " (" + std::string(line.substr(code + 1, end - code - 1)) + ")";
  std::vector<std::string>& all = entry_of(name, functions).held_up;
  if (all.size() < kMostReasons && std::ranges::find(all, told) == all.end()) all.push_back(std::move(told));
}

// The number before `what`; 0 where there is none.
int64_t number_before(std::string_view line, std::string_view what) {
  size_t end = line.find(what), begin = end;
  while (end != line.npos && begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int64_t number = 0;
  if (end != line.npos) std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

}  // namespace

std::vector<AssembledFunction> slow_functions(std::string_view said) {
  std::vector<AssembledFunction> functions;
  std::string spoken_of;
  for (const std::string& line : split(said, '\n')) {
    read_advice(line, functions);
    if (size_t at = line.find(kProperties); at != line.npos) spoken_of = trim(std::string_view(line).substr(at + kProperties.size()));
    if (line.find(" bytes stack frame") == line.npos || spoken_of.empty()) continue;
    int64_t stack = number_before(line, " bytes stack frame"), stored = number_before(line, " bytes spill stores"),
            loaded = number_before(line, " bytes spill loads");
    if (stack == 0 && stored == 0 && loaded == 0) continue;
    AssembledFunction& function = entry_of(spoken_of, functions);
    function.stack = stack, function.stored = stored, function.loaded = loaded;
  }
  return functions;
}

}  // namespace tilec::target::cuda
