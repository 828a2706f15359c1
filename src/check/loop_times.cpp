#include "check/loop_times.h"

#include <map>

#include "base/check.h"

namespace tilec::check {

using namespace ir;

namespace {

constexpr int64_t kTurns = 8;  // that are walked through

// One piece of work of one group in one turn.
struct Run {
  size_t work;
  int64_t group, turn, begin, end;
};

class Walk {
 public:
  Walk(const LoopProblem& problem, const LoopTimes& times) : problem_(problem), times_(times) {
    for (int64_t turn = 0; turn < kTurns; ++turn)
      for (int64_t group = 0; group < problem.groups; ++group)
        for (size_t work = 0; work < problem.work.size(); ++work) {
          int64_t begin = turn * times.turn + group * times.turn / problem.groups + times.begins[work];
          runs_.push_back({work, group, turn, begin, begin + problem.work[work].clocks});
        }
  }

  std::vector<std::string> flaws() {
    check_order();
    check_units();
    check_registers();
    check_copies();
    return std::move(flaws_);
  }

 private:
  const std::string& name(size_t work) const { return problem_.work[work].name; }
  const Run& run(size_t work, int64_t group, int64_t turn) const {
    return runs_[size_t((turn * problem_.groups + group)) * problem_.work.size() + work];
  }

  void check_order() {
    for (const Run& later : runs_)
      for (const LoopEdge& edge : problem_.edges) {
        if (size_t(edge.to) != later.work || later.turn < edge.distance) continue;
        const Run& earlier = run(size_t(edge.from), later.group, later.turn - edge.distance);
        if (later.begin >= earlier.end) continue;
        flaws_.push_back("`" + name(later.work) + "` begins at " + std::to_string(later.begin) + ", and `" + name(earlier.work) + "`, which it needs, ends at " +
                         std::to_string(earlier.end));
        return;
      }
  }

  void check_units() {
    for (size_t i = 0; i < runs_.size(); ++i)
      for (size_t j = i + 1; j < runs_.size(); ++j) {
        const Run &a = runs_[i], &b = runs_[j];
        bool meets = problem_.work[a.work].unit == problem_.work[b.work].unit && a.begin < b.end && b.begin < a.end;
        if (!meets) continue;
        flaws_.push_back("`" + name(a.work) + "` and `" + name(b.work) + "` run on one unit at " + std::to_string(std::max(a.begin, b.begin)));
        return;
      }
  }

  // Of one group, what begins and ends along the clock.
  void check_registers() {
    if (!problem_.registers) return;
    std::map<int64_t, int64_t> changes;
    for (const Run& made : runs_) {
      const LoopWork& work = problem_.work[made.work];
      if (made.group != 0 || work.registers == 0) continue;
      int64_t last = made.end;
      for (const LoopEdge& edge : problem_.edges) {
        if (size_t(edge.from) != made.work) continue;
        int64_t begin = made.begin - times_.begins[made.work] + times_.begins[size_t(edge.to)] + edge.distance * times_.turn;
        last = std::max(last, begin + (problem_.work[size_t(edge.to)].unit == Unit::Products && !edge.takes_over ? problem_.work[size_t(edge.to)].clocks : 0));
      }
      changes[work.unit == Unit::Products ? made.begin : made.end] += work.registers;
      changes[last] -= work.registers;
    }
    int64_t now = 0;
    for (auto [clock, change] : changes) {
      now += change;
      if (now <= problem_.registers) continue;
      flaws_.push_back(std::to_string(now) + " registers are alive at " + std::to_string(clock) + ", and there are " + std::to_string(problem_.registers));
      return;
    }
  }

  // A slot is filled anew when its last reader has ended, and full when the first one begins.
  void check_copies() {
    int64_t bytes = 0;
    for (size_t r = 0; r < problem_.rings.size(); ++r) {
      const LoopRing& ring = problem_.rings[r];
      bytes += ring.bytes * times_.depths[r];
      int64_t turn = kTurns - 1, before = turn - times_.depths[r], free = 0, wanted = INT64_MAX;
      if (before < 0 || ring.readers.empty()) continue;
      for (int reader : ring.readers) {
        free = std::max(free, run(size_t(reader), 0, before).end);
        wanted = std::min(wanted, run(size_t(reader), 0, turn).begin);
      }
      if (free + ring.latency > wanted) flaws_.push_back("copies of `" + ring.name + "` come at " + std::to_string(free + ring.latency) + ", and are read at " + std::to_string(wanted));
    }
    if (problem_.shared_bytes && bytes > problem_.shared_bytes)
      flaws_.push_back("rings take " + std::to_string(bytes) + " bytes, and there are " + std::to_string(problem_.shared_bytes));
  }

  const LoopProblem& problem_;
  const LoopTimes& times_;
  std::vector<Run> runs_;
  std::vector<std::string> flaws_;
};

}  // namespace

std::vector<std::string> flaws_of(const LoopProblem& problem, const LoopTimes& times) {
  if (times.turn < 1 || times.begins.size() != problem.work.size() || times.depths.size() != problem.rings.size()) return {"parts have no time"};
  std::vector<std::string> flaws;
  for (size_t i = 0; i < problem.work.size(); ++i)
    if (times.begins[i] < 0 || times.stage(i) > problem.work[i].most_stage) flaws.push_back("`" + problem.work[i].name + "` is " + std::to_string(times.stage(i)) + " turns behind");
  if (!flaws.empty()) return flaws;
  return Walk(problem, times).flaws();
}

void check_times(const Kernel& kernel, const Machine&, Diagnostics&) {
  for (const ScheduledLoop& loop : kernel.scheduled_loops) {
    std::vector<std::string> flaws = flaws_of(loop.problem, loop.times);
    INVARIANT(flaws.empty(), flaws.front());
  }
}

}  // namespace tilec::check
