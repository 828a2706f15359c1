// Schedules of loops: what modulo scheduling and the exact search give is judged by the checker, which is itself tried with times that
// are wrong in one way each.
#include <doctest/doctest.h>

#include <random>

#include "check/loop_times.h"
#include "passes/modulo.h"
#include "prove/loop_solver.h"

using namespace tilec;
using ir::LoopProblem, ir::LoopTimes, ir::Unit;

namespace {

// Two products with threads between them, which also change what the second adds to: attention.
LoopProblem chain(int64_t product, int64_t threads) {
  LoopProblem problem;
  problem.work = {{"s", Unit::Products, product, 64, 0}, {"softmax", Unit::Threads, threads, 32, 0}, {"rescale", Unit::Threads, threads / 8, 64, 0}, {"o", Unit::Products, product, 64, 1}};
  problem.edges = {{0, 1}, {1, 2}, {1, 3}, {2, 3, 0, true}, {3, 2, 1}, {1, 1, 1}};
  problem.rings = {{"k", {0}, 1000, 900}, {"v", {3}, 1000, 900}};
  problem.groups = 2;
  return problem;
}

std::string first_flaw(const LoopProblem& problem, const LoopTimes& times) {
  std::vector<std::string> flaws = check::flaws_of(problem, times);
  return flaws.empty() ? "" : flaws.front();
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

// Parts of either unit, each needing some before it, some of the turn before.
LoopProblem random_problem(std::mt19937& random) {
  auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  LoopProblem problem;
  int count = number(2, 7);
  for (int i = 0; i < count; ++i)
    problem.work.push_back({"part" + std::to_string(i), number(0, 1) ? Unit::Products : Unit::Threads, number(1, 400), number(0, 2) * 16, 0});
  for (int to = 0; to < count; ++to)
    for (int from = 0; from < count; ++from) {
      if (from < to && number(0, 2) == 0) problem.edges.push_back({from, to});
      if (number(0, 7) == 0) problem.edges.push_back({from, to, number(1, 2)});
    }
  problem.rings = {{"tile", {0, count - 1}, 100, number(0, 2000)}};
  problem.groups = number(1, 3);
  if (number(0, 1)) problem.registers = 120;
  return problem;
}

}  // namespace

TEST_SUITE("loop times") {
  TEST_CASE("the product that ends a turn runs under the next one, where a group has time to lose by it") {
    LoopProblem problem = chain(500, 400);
    std::optional<LoopTimes> times = passes::modulo_schedule(problem);
    REQUIRE(times);
    CHECK(first_flaw(problem, *times) == "");
    CHECK(times->stage(3) == 1);
    CHECK(times->turn >= 2000);
    CHECK(times->turn <= 2100);
    // One product beside the threads, not both in front of them and behind.
    CHECK(times->alone < 1200);
    problem.work[3].most_stage = 0;
    std::optional<LoopTimes> kept = passes::modulo_schedule(problem);
    REQUIRE(kept);
    CHECK(kept->stage(3) == 0);
    CHECK(kept->alone > 1400);
  }

  TEST_CASE("registers and memory are limits") {
    LoopProblem problem = chain(500, 400);
    problem.registers = 170;
    std::optional<LoopTimes> times = passes::modulo_schedule(problem);
    REQUIRE(times);
    CHECK(first_flaw(problem, *times) == "");
    problem.registers = 60;
    CHECK(!passes::modulo_schedule(problem));
    problem.registers = 0, problem.shared_bytes = 1500;
    CHECK(!passes::modulo_schedule(problem));
    problem.shared_bytes = 8000;
    CHECK(passes::modulo_schedule(problem));
  }

  TEST_CASE("copies run as far ahead as they take long") {
    LoopProblem problem = chain(100, 80);
    std::optional<LoopTimes> times = passes::modulo_schedule(problem);
    REQUIRE(times);
    CHECK(times->depths[0] >= 3);
    LoopProblem slow = chain(2000, 80);
    CHECK(passes::modulo_schedule(slow)->depths[0] == 1);
  }

  TEST_CASE("the checker tells what is wrong") {
    LoopProblem problem = chain(500, 400);
    const LoopTimes good = *passes::modulo_schedule(problem);
    auto with = [&](auto&& change) {
      LoopTimes times = good;
      change(times);
      return first_flaw(problem, times);
    };
    CHECK(has(with([](LoopTimes& t) { t.begins[1] = t.begins[0]; }), "which it needs, ends at"));
    CHECK(has(with([](LoopTimes& t) { t.turn = 1000; }), "turns behind"));
    CHECK(has(with([](LoopTimes& t) { t.depths[0] = 0; }), "copies of `k` come at"));
    CHECK(has(with([](LoopTimes& t) { t.begins.pop_back(); }), "no time"));
    problem.work[3].most_stage = 0;
    CHECK(has(with([](LoopTimes&) {}), "`o` is 1 turns behind"));
    problem.work[3].most_stage = 1, problem.registers = 100;
    CHECK(has(with([](LoopTimes&) {}), "registers are alive at"));
    problem.registers = 0, problem.shared_bytes = 1500;
    CHECK(has(with([](LoopTimes&) {}), "rings take"));
    LoopProblem two;
    two.work = {{"a", Unit::Products, 10}, {"b", Unit::Products, 10}};
    CHECK(has(first_flaw(two, {.turn = 20, .alone = 20, .begins = {0, 5}, .depths = {}}), "`a` and `b` run on one unit at 5"));
    CHECK(first_flaw(two, {.turn = 20, .alone = 20, .begins = {0, 10}, .depths = {}}) == "");
    // Round the end of the turn, and of the other group.
    CHECK(has(first_flaw(two, {.turn = 20, .alone = 20, .begins = {5, 15 + 2}, .depths = {}}), "run on one unit"));
    two.groups = 2;
    CHECK(has(first_flaw(two, {.turn = 20, .alone = 20, .begins = {0, 10}, .depths = {}}), "run on one unit"));
    CHECK(first_flaw(two, {.turn = 40, .alone = 20, .begins = {0, 10}, .depths = {}}) == "");
  }

  TEST_CASE("whatever is found is accepted, and the exact search is never behind") {
    std::mt19937 random(7);
    int found = 0, better = 0;
    for (int i = 0; i < 200; ++i) {
      LoopProblem problem = random_problem(random);
      std::optional<LoopTimes> times = passes::modulo_schedule(problem);
      if (!times) continue;
      ++found;
      CHECK(first_flaw(problem, *times) == "");
      if (i >= 40) continue;
      std::optional<LoopTimes> best = prove::best_schedule(problem, *times);
      if (!best) continue;
      ++better;
      CHECK(first_flaw(problem, *best) == "");
      CHECK(std::pair(best->turn, best->alone) < std::pair(times->turn, times->alone));
    }
    CHECK(found > 100);
    CHECK(better > 3);
    MESSAGE(found << " schedules, " << better << " better ones of 40");
  }
}
