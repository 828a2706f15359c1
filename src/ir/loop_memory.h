// What the exact search found, kept for the next time that it is asked the same: within a run, where instances share a loop, and from run to
// run, where somebody keeps texts. An answer is a function of the question, so that a memory changes how long a compile takes and nothing else.
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "ir/loop_times.h"

namespace tilec::ir {

class LoopMemory {
 public:
  virtual ~LoopMemory() = default;
  // The answer to this question: times, or that there are none better than those known; `search` is called where it has not been given yet.
  // May be asked by several threads.
  template <class Search>
  std::optional<LoopTimes> answer(const LoopProblem& problem, const LoopTimes& known, Search&& search) {
    std::string question = question_text(problem, known);
    if (auto kept = recall(question, problem)) return *kept;
    std::optional<LoopTimes> found = search();
    remember(question, found);
    return found;
  }

 protected:
  // Texts that outlive the run: none by themselves. What `fetch` gives is read with care: a text that is no answer counts as none.
  virtual std::optional<std::string> fetch(const std::string& question) { return (void)question, std::nullopt; }
  virtual void keep(const std::string& question, const std::string& answer) { (void)question, (void)answer; }

 private:
  using Answer = std::optional<LoopTimes>;
  static std::string question_text(const LoopProblem& problem, const LoopTimes& known);
  std::optional<Answer> recall(const std::string& question, const LoopProblem& problem);
  void remember(const std::string& question, const Answer& answer);

  std::mutex mutex_;
  std::map<std::string, Answer> answers_;
};

}  // namespace tilec::ir
