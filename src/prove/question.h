// A problem by itself: its atoms alone, numbered as they come. Problems of other kernels that say the same have the same key,
// so what was found for one is known for all: kernels that differ in element types ask the same questions.
//
// What a question is answered with hangs on nothing but its key, so it does not matter which kernel asked first.
#pragma once
#include <mutex>
#include <optional>

#include "prove/problem.h"

namespace tilec::prove {

// Values of some atoms of a problem: of the how many-th in their order.
using Example = std::vector<std::pair<uint32_t, int64_t>>;

struct Finding {
  enum class Kind : uint8_t { Proof, Example, Nothing };
  Kind kind = Kind::Nothing;
  Example example;
};

// The bytes of what `problem` says, whatever its atoms are numbered by.
std::string key_of(const Terms& terms, const Problem& problem);

// The example as values of the problem's own atoms.
Model model_of(const Problem& problem, const Example& example);

struct Question {
  Terms terms;
  Problem problem;  // without others
};
Question question_of(const Terms& terms, const Problem& problem);

// What was found so far; kernels on several cores share one.
class Memory {
 public:
  std::optional<Finding> find(const std::string& key) const {
    std::scoped_lock lock(mutex_);
    auto found = findings_.find(key);
    return found == findings_.end() ? std::nullopt : std::optional(found->second);
  }
  size_t size() const { return findings_.size(); }
  void keep(std::string key, const Finding& finding) {
    std::scoped_lock lock(mutex_);
    findings_.emplace(std::move(key), finding);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Finding> findings_;
};

}  // namespace tilec::prove
