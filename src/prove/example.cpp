// Counterexamples by trying: variables in order, each at the ends of the range that the facts leave it and at a few numbers
// near those of the question. Cheap, and its examples are small ones that people like to read.
#include "prove/problem.h"

namespace tilec::prove {

namespace {

constexpr int64_t kLargestTried = 1 << 20;
constexpr size_t kMostNumbers = 10;

struct Trial {
  const Terms& terms;
  const Problem& problem;
  int steps;
  std::vector<AtomId> variables = {};
  std::vector<int64_t> numbers = {};
  Model model = {};

  void collect_numbers(const Formula& f) {
    auto add = [&](int64_t x) {
      x = std::abs(x);
      if (x < 3 || x > kLargestTried || numbers.size() >= kMostNumbers) return;
      if (std::find(numbers.begin(), numbers.end(), x) == numbers.end()) numbers.push_back(x), numbers.push_back(x + 1);
    };
    for (const Linear::Part& part : f.linear.parts) add(part.factor);
    if (f.kind == Formula::Kind::AtLeastZero) add(f.linear.constant);
    for (const Formula& part : f.parts) collect_numbers(part);
  }

  // What the facts leave to a variable, given the values of those before it.
  Interval bounds(AtomId variable) const {
    Interval range = terms[variable].range;
    for (const Formula& fact : problem.facts) {
      int64_t factor = fact.linear.factor_of(variable);
      if (fact.kind != Formula::Kind::AtLeastZero || factor == 0) continue;
      auto rest = terms.evaluate_without(variable, fact.linear, model);
      if (!rest) continue;
      // factor * x + rest >= 0
      if (factor > 0) range.low = std::max(range.low, -floor_divide(*rest, factor));
      else range.high = std::min(range.high, floor_divide(*rest, -factor));
    }
    return range;
  }

  std::vector<int64_t> candidates(AtomId variable) const {
    Interval range = bounds(variable);
    std::vector<int64_t> values;
    auto add = [&](int64_t x) {
      if (range.holds(x) && std::find(values.begin(), values.end(), x) == values.end()) values.push_back(x);
    };
    bool is_index = range.low != kMinusInfinity && range.high < kLargestTried;
    if (is_index) add(range.low), add(range.high), add(range.low + 1);
    add(1), add(2);
    for (int64_t x : numbers) add(x);
    add(0);
    if (!is_index && range.low != kMinusInfinity) add(range.low), add(range.low + 1);
    if (!is_index && range.high != kPlusInfinity) add(range.high);
    add(-1);
    return values;
  }

  bool is_possible() const {
    for (const Formula& fact : problem.facts)
      if (terms.evaluate(fact, model) == false) return false;
    return true;
  }
  bool is_counterexample() const {
    for (const Formula& fact : problem.facts)
      if (terms.evaluate(fact, model) != true) return false;
    return terms.evaluate(problem.goal, model) == false;
  }

  bool assign(size_t next) {
    if (next == variables.size()) return is_counterexample();
    for (int64_t x : candidates(variables[next])) {
      if (--steps < 0) return false;
      model.set(variables[next], x);
      if (is_possible() && terms.evaluate(problem.goal, model) != true && assign(next + 1)) return true;
      model.clear(variables[next]);
    }
    return false;
  }
};

}  // namespace

std::optional<Model> counterexample(const Terms& terms, const Problem& problem, int steps) {
  Trial trial{terms, problem, steps};
  for (AtomId id : problem.atoms)
    if (terms[id].kind == AtomKind::Variable || terms[id].kind == AtomKind::Flag) trial.variables.push_back(id);
  std::sort(trial.variables.begin(), trial.variables.end());
  trial.collect_numbers(problem.goal);
  for (const Formula& fact : problem.facts) trial.collect_numbers(fact);
  return trial.assign(0) ? std::optional(std::move(trial.model)) : std::nullopt;
}

}  // namespace tilec::prove
