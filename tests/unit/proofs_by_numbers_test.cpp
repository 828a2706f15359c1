// Proofs against numbers: whatever the prover says of random sums, products and quotients of few small variables holds for all their values.
#include <doctest/doctest.h>

#include <random>

#include "prove/digits.h"
#include "prove/rules.h"

using namespace tilec::prove;

namespace {

struct Puzzle {
  explicit Puzzle(unsigned seed) : random(seed) {
    for (int i = 0; i < 4; ++i) {
      int64_t low = pick(3) - 1, high = low + 1 + pick(5);
      variables.push_back(terms.variable(std::string(1, char('a' + i)), {low, high}, true));
      pool.push_back(Linear(variables.back()));
    }
    for (int i = 0; i < 7; ++i) pool.push_back(composed());
    for (int i = pick(5); i > 0; --i) given.push_back(claim());
    for (AtomId v : variables)
      if (pick(2)) given.push_back(at_least(Linear(v), 1));
    goal = pick(3) ? claim() : any_of({claim(), claim(), claim()});
  }

  int64_t pick(int64_t n) { return int64_t(random() % uint64_t(n)); }
  const Linear& any() { return pool[size_t(pick(int64_t(pool.size())))]; }
  Linear composed() {
    Linear divisor = pick(4) ? pick(2) ? Linear(variables[size_t(pick(4))]) : terms.product(Linear(variables[size_t(pick(4))]), Linear(variables[size_t(pick(4))])) : Linear(2 + pick(3));
    switch (pick(6)) {
      case 0: return any() + any();
      case 1: return any() - any();
      case 2: return terms.product(any(), Linear(variables[size_t(pick(4))]));
      case 3: case 4: return terms.quotient(any(), divisor);
      default: return terms.remainder(any(), divisor);
    }
  }
  Formula claim() {
    Linear a = any(), b = any();
    return pick(3) ? at_least(a, b + (pick(4) - 2)) : equal(a, b);
  }

  // Calls f for all values of the variables that keep the facts.
  template <class F> void each_model(F&& f, size_t next = 0) {
    if (next == variables.size()) {
      for (const Formula& fact : given)
        if (terms.evaluate(fact, model) != true) return;
      return f();
    }
    Interval range = terms[variables[next]].range;
    for (int64_t x = range.low; x <= range.high; ++x) {
      model.set(variables[next], x);
      each_model(f, next + 1);
    }
  }
  bool is_broken() {
    bool broken = false;
    each_model([&] { broken |= terms.evaluate(goal, model) == false; });
    return broken;
  }

  std::mt19937 random;
  Terms terms;
  std::vector<AtomId> variables;
  std::vector<Linear> pool;
  std::vector<Formula> given;
  Formula goal;
  Model model;
};

}  // namespace

TEST_SUITE("prove") {
  TEST_CASE("no proof speaks against the numbers, whichever way it was found") {
    int by_sums = 0, by_contradiction = 0, by_digits_alone = 0;
    for (unsigned seed = 1; seed <= 4000; ++seed) {
      Puzzle puzzle(seed);
      if (puzzle.goal.is_true() || puzzle.goal.is_false()) continue;
      Question question = question_of(puzzle.terms, connected(puzzle.terms, puzzle.given, puzzle.goal));
      bool sums = follows(question.terms, question.problem, 60, Cases::Split), absurd = is_never_broken(question.terms, question.problem, 400);
      bool digits = false;
      if (auto other = by_digits(question))
        digits = follows(other->question.terms, other->question.problem, 60, Cases::Split) || is_never_broken(other->question.terms, other->question.problem, 400);
      by_sums += sums, by_contradiction += absurd && !sums, by_digits_alone += digits && !sums && !absurd;
      if (sums || absurd || digits) CHECK_MESSAGE(!puzzle.is_broken(), "seed " << seed << ", by sums " << sums << ", by contradiction " << absurd << ", by digits " << digits);
    }
    CHECK(by_sums > 100);
    CHECK(by_contradiction > 20);
    CHECK(by_digits_alone > 0);
    MESSAGE(by_sums << " by sums, " << by_contradiction << " by contradiction, " << by_digits_alone << " by digits alone");
  }

  TEST_CASE("what an equality is split into holds for all its solutions, and what has no solution has none") {
    std::mt19937 random(7);
    auto pick = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
    int split = 0, split_by_unknown = 0, impossible = 0;
    for (int round = 0; round < 3000; ++round) {
      Terms terms;
      std::vector<AtomId> x;
      for (int i = 0; i < 4; ++i) x.push_back(terms.variable(std::string(1, char('a' + i)), {-pick(3), 1 + pick(4)}, true));
      int64_t factors[] = {1, 2, 4, 12};
      const Linear unknown = Linear(terms.variable("f", {2, 2 + pick(4)}, true));
      x.push_back(unknown.parts[0].atom);
      const bool has_unknown = pick(2);
      std::vector<Linear> sums;
      for (int n = 0; n < 3; ++n) {
        Linear sum = pick(5) - 2;
        for (size_t i = 0; i < 4; ++i)
          sum = has_unknown && n == 0 ? terms.product(sum, unknown) + Linear(x[i]) * (pick(4) - 1) : sum + Linear(x[i]) * (factors[pick(4)] * (pick(3) - 1));
        sums.push_back(tightened(sum));
        if (n == 0) sums.push_back(tightened(-sum));
      }
      std::vector<Linear> given = sums;
      split_equalities(terms, sums, [&](const Linear& sum) { return terms.is_never_negative(sum); });
      bool has_none = have_no_solution(terms, given);
      (has_unknown ? split_by_unknown : split) += sums.size() > given.size(), impossible += has_none;
      Model model;
      std::function<void(size_t)> each = [&](size_t next) {
        if (next < x.size()) {
          Interval range = terms[x[next]].range;
          for (int64_t n = range.low; n <= range.high; ++n) model.set(x[next], n), each(next + 1);
          return;
        }
        auto hold = [&](const std::vector<Linear>& all) { return std::ranges::all_of(all, [&](const Linear& f) { return *terms.evaluate(f, model) >= 0; }); };
        if (!hold(given)) return;
        CHECK(hold(sums));
        CHECK_FALSE(has_none);
      };
      each(0);
    }
    CHECK(split > 50);
    CHECK(split_by_unknown > 50);
    CHECK(impossible > 50);
  }
}
