// The memory of the exact search: a question is searched once, an answer comes back as it was, and texts that are no answers count for nothing.
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "driver/schedule_cache.h"

using namespace tilec;
using ir::LoopProblem, ir::LoopTimes, ir::Unit;

namespace {

LoopProblem problem_of(int64_t clocks) {
  LoopProblem problem;
  problem.work = {{"s", Unit::Products, clocks, 64, 0}, {"softmax", Unit::Threads, 40, 32, 1}};
  problem.edges = {{0, 1}, {1, 0, 1, true}};
  problem.rings = {{"k", {0}, 1000, 900}};
  return problem;
}

const LoopTimes kKnown{.turn = 200, .alone = 190, .begins = {0, 100}, .depths = {3}};
const LoopTimes kBetter{.turn = 150, .alone = 120, .begins = {0, 105}, .depths = {2}};

bool is_same(const std::optional<LoopTimes>& a, const LoopTimes& b) {
  return a && a->turn == b.turn && a->alone == b.alone && a->begins == b.begins && a->depths == b.depths;
}

struct Counted {
  std::unique_ptr<ir::LoopMemory> memory;
  int searches = 0;
  std::optional<LoopTimes> ask(const LoopProblem& problem, const LoopTimes& known, std::optional<LoopTimes> found) {
    return memory->answer(problem, known, [&] { return ++searches, found; });
  }
};

struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / ("tilec_schedules_" + std::to_string(getpid()))).string();
  Folder() { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    if (std::filesystem::exists(path))
      for (const auto& entry : std::filesystem::directory_iterator(path)) out.push_back(entry.path().string());
    return out;
  }
};

std::string content_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

}  // namespace

TEST_SUITE("schedule cache") {
  TEST_CASE("a question is searched once in a run, whatever its parts are called") {
    Counted counted{schedule_memory("")};
    CHECK(is_same(counted.ask(problem_of(100), kKnown, kBetter), kBetter));
    LoopProblem renamed = problem_of(100);
    renamed.work[0].name = "t", renamed.rings[0].name = "v";
    CHECK(is_same(counted.ask(renamed, kKnown, std::nullopt), kBetter));
    CHECK(counted.searches == 1);
    CHECK_FALSE(counted.ask(problem_of(101), kKnown, std::nullopt));
    CHECK_FALSE(counted.ask(problem_of(101), kKnown, kBetter));
    CHECK(counted.searches == 2);
  }

  TEST_CASE("all that the search is told makes a question") {
    Counted counted{schedule_memory("")};
    std::vector<LoopProblem> problems(9, problem_of(100));
    problems[1].work[0].unit = Unit::Threads;
    problems[2].work[1].registers = 33;
    problems[3].work[1].most_stage = 0;
    problems[4].edges[1].distance = 2;
    problems[5].edges[1].takes_over = false;
    problems[6].rings[0].readers = {0, 1};
    problems[7].groups = 2;
    problems[8].shared_bytes = 1000;
    for (const LoopProblem& problem : problems) counted.ask(problem, kKnown, kBetter);
    LoopTimes other = kKnown;
    other.alone = 191;
    counted.ask(problems[0], other, kBetter);
    CHECK(counted.searches == 10);
  }

  TEST_CASE("answers are there in the next run, the missing ones too") {
    Folder folder;
    Counted first{schedule_memory(folder.path)};
    CHECK(is_same(first.ask(problem_of(100), kKnown, kBetter), kBetter));
    CHECK_FALSE(first.ask(problem_of(101), kKnown, std::nullopt));
    CHECK(folder.files().size() == 2);
    Counted second{schedule_memory(folder.path)};
    CHECK(is_same(second.ask(problem_of(100), kKnown, std::nullopt), kBetter));
    CHECK_FALSE(second.ask(problem_of(101), kKnown, kBetter));
    CHECK(second.searches == 0);
  }

  TEST_CASE("a damaged file is searched anew and written anew, wherever the damage is") {
    Folder folder;
    Counted{schedule_memory(folder.path)}.ask(problem_of(100), kKnown, kBetter);
    REQUIRE(folder.files().size() == 1);
    const std::string path = folder.files()[0], whole = content_of(path);
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = at % 2 ? whole.substr(0, at) : whole;
      if (at % 2 == 0) damaged[at] ^= 1;
      std::ofstream(path) << damaged;
      Counted counted{schedule_memory(folder.path)};
      CHECK(is_same(counted.ask(problem_of(100), kKnown, kBetter), kBetter));
      CHECK(counted.searches == 1);
      CHECK(content_of(path) == whole);
    }
  }

  TEST_CASE("a folder that cannot be written costs nothing but the search") {
    Counted counted{schedule_memory("/dev/null/nowhere")};
    CHECK(is_same(counted.ask(problem_of(100), kKnown, kBetter), kBetter));
    CHECK(counted.searches == 1);
  }
}
