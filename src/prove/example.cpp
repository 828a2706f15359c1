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
  // By the place of a variable: the facts that hang on it, and those that bound it by sums. Others say what they said before it had a value.
  std::vector<std::vector<const Formula*>> facts_of = {}, bounds_of = {};

  void sort_facts() {
    facts_of.resize(variables.size()), bounds_of.resize(variables.size());
    std::vector<size_t> places(terms.size(), SIZE_MAX);
    for (size_t i = 0; i < variables.size(); ++i) places[variables[i].index] = i;
    for (const Formula& fact : problem.facts) {
      std::vector<bool> seen;
      std::vector<AtomId> atoms;
      terms.each_atom(fact, seen, atoms);
      for (AtomId id : atoms) {
        if (places[id.index] == SIZE_MAX) continue;
        facts_of[places[id.index]].push_back(&fact);
        if (fact.kind == Formula::Kind::AtLeastZero && fact.linear.factor_of(id) != 0) bounds_of[places[id.index]].push_back(&fact);
      }
    }
  }

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
  Interval bounds(size_t place) const {
    AtomId variable = variables[place];
    Interval range = terms[variable].range;
    for (const Formula* fact : bounds_of[place]) {
      int64_t factor = fact->linear.factor_of(variable);
      auto rest = terms.evaluate_without(variable, fact->linear, model);
      if (!rest) continue;
      // factor * x + rest >= 0
      if (factor > 0) range.low = std::max(range.low, -floor_divide(*rest, factor));
      else range.high = std::min(range.high, floor_divide(*rest, -factor));
    }
    return range;
  }

  std::vector<int64_t> candidates(size_t place) const {
    Interval range = bounds(place);
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

  // As far as the facts hang on this variable.
  bool is_possible(size_t place) const {
    return std::ranges::none_of(facts_of[place], [&](const Formula* fact) { return terms.evaluate(*fact, model) == false; });
  }
  bool is_counterexample() const {
    for (const Formula& fact : problem.facts)
      if (terms.evaluate(fact, model) != true) return false;
    return terms.evaluate(problem.goal, model) == false;
  }

  bool assign(size_t next) {
    if (next == variables.size()) return is_counterexample();
    for (int64_t x : candidates(next)) {
      if (--steps < 0) return false;
      model.set(variables[next], x);
      if (is_possible(next) && terms.evaluate(problem.goal, model) != true && assign(next + 1)) return true;
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
  trial.sort_facts();
  return trial.assign(0) ? std::optional(std::move(trial.model)) : std::nullopt;
}

}  // namespace tilec::prove
