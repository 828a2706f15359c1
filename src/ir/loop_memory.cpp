#include "ir/loop_memory.h"

#include <sstream>

namespace tilec::ir {

namespace {

// To be raised where the search would answer otherwise than before.
constexpr int kSearch = 1;

void add_numbers(std::ostream& out, const std::vector<int64_t>& numbers) {
  out << ' ' << numbers.size();
  for (int64_t number : numbers) out << ' ' << number;
}

void add_times(std::ostream& out, const LoopTimes& times) {
  out << times.turn << ' ' << times.alone;
  add_numbers(out, times.begins), add_numbers(out, times.depths);
}

std::string text_of(const std::optional<LoopTimes>& answer) {
  std::ostringstream out;
  if (answer) add_times(out, *answer);
  else out << "none";
  out << '\n';
  return out.str();
}

std::optional<std::vector<int64_t>> read_numbers(std::istream& in, size_t count) {
  size_t told = 0;
  if (!(in >> told) || told != count) return std::nullopt;
  std::vector<int64_t> numbers(count);
  for (int64_t& number : numbers)
    if (!(in >> number) || number < 0) return std::nullopt;
  return numbers;
}

// Whole and of this problem's sizes, or nothing; whether the times hold is the checker's to say (`check/loop_times.h`).
std::optional<std::optional<LoopTimes>> read_answer(const std::string& text, const LoopProblem& problem) {
  if (text == text_of(std::nullopt)) return std::optional<LoopTimes>();
  std::istringstream in(text);
  LoopTimes times;
  if (!(in >> times.turn >> times.alone) || times.turn <= 0 || times.alone <= 0) return std::nullopt;
  auto begins = read_numbers(in, problem.work.size()), depths = read_numbers(in, problem.rings.size());
  if (!begins || !depths) return std::nullopt;
  times.begins = *begins, times.depths = *depths;
  if (text != text_of(times)) return std::nullopt;
  return std::optional(times);
}

}  // namespace

// Names are no part of it: kernels that differ in nothing else ask the same.
std::string LoopMemory::question_text(const LoopProblem& problem, const LoopTimes& known) {
  std::ostringstream out;
  out << "search " << kSearch << "\ngroups " << problem.groups << " registers " << problem.registers << " shared " << problem.shared_bytes << '\n';
  for (const LoopWork& work : problem.work) out << "work " << int(work.unit) << ' ' << work.clocks << ' ' << work.registers << ' ' << work.most_stage << '\n';
  for (const LoopEdge& edge : problem.edges) out << "edge " << edge.from << ' ' << edge.to << ' ' << edge.distance << ' ' << edge.takes_over << '\n';
  for (const LoopRing& ring : problem.rings) {
    out << "ring " << ring.bytes << ' ' << ring.latency;
    add_numbers(out, {ring.readers.begin(), ring.readers.end()});
    out << '\n';
  }
  out << "known ";
  add_times(out, known);
  out << '\n';
  return out.str();
}

std::optional<LoopMemory::Answer> LoopMemory::recall(const std::string& question, const LoopProblem& problem) {
  {
    std::lock_guard lock(mutex_);
    if (auto found = answers_.find(question); found != answers_.end()) return found->second;
  }
  std::optional<std::string> text = fetch(question);
  std::optional<Answer> answer = text ? read_answer(*text, problem) : std::nullopt;
  if (!answer) return std::nullopt;
  std::lock_guard lock(mutex_);
  return answers_.emplace(question, *answer).first->second;
}

void LoopMemory::remember(const std::string& question, const Answer& answer) {
  keep(question, text_of(answer));
  std::lock_guard lock(mutex_);
  answers_.emplace(question, answer);
}

}  // namespace tilec::ir
