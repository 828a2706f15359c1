#include "passes/modulo.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/check.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kGrains = 96;     // a turn is cut into so many clocks, or a few more
constexpr int64_t kTries = 8;       // each part may be placed so often
constexpr int64_t kFree = -1;       // a stage that is not given
constexpr size_t kMostChoices = 6;  // products that may be a turn behind: two to that many schedules

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// One schedule of a given length, in grains.
class Table {
 public:
  Table(const LoopProblem& problem, const std::vector<int64_t>& stages, int64_t groups, int64_t grain, int64_t turn)
      : problem_(problem), stages_(stages), groups_(groups), grain_(grain), turn_(turn), begins_(problem.work.size(), kUnplaced),
        heights_(problem.work.size()), taken_(2, std::vector<int>(size_t(turn), kNobody)) {}

  bool run() {
    if (!find_heights()) return false;
    for (int64_t left = kTries * int64_t(begins_.size()); left > 0; --left) {
      int next = most_urgent();
      if (next < 0) return true;
      if (!place(next)) return false;
    }
    return most_urgent() < 0;
  }

  int64_t begin(size_t work) const { return begins_[work] * grain_; }

 private:
  static constexpr int64_t kUnplaced = -1;
  static constexpr int kNobody = -1;

  int64_t clocks(int work) const { return std::max<int64_t>(1, ceil_div(problem_.work[size_t(work)].clocks, grain_)); }
  int64_t shift(int64_t group) const { return group * turn_ / groups_; }

  // The longest way from a part to an end. False: round a circle it is longer than the turns that the circle takes.
  bool find_heights() {
    for (size_t round = 0; round <= heights_.size(); ++round) {
      bool changed = false;
      for (const LoopEdge& edge : problem_.edges) {
        int64_t height = heights_[size_t(edge.to)] + clocks(edge.from) - edge.distance * turn_;
        if (height > heights_[size_t(edge.from)]) heights_[size_t(edge.from)] = height, changed = true;
      }
      if (!changed) return true;
    }
    return false;
  }

  int most_urgent() const {
    int best = -1;
    for (size_t i = 0; i < begins_.size(); ++i)
      if (begins_[i] == kUnplaced && (best < 0 || heights_[i] > heights_[size_t(best)])) best = int(i);
    return best;
  }

  bool place(int work) {
    int64_t stage = stages_[size_t(work)], from = stage == kFree ? 0 : stage * turn_;
    int64_t last = stage == kFree ? INT64_MAX / 4 : from + turn_ - 1;
    for (const LoopEdge& edge : problem_.edges)
      if (edge.to == work && edge.from != work && begins_[size_t(edge.from)] != kUnplaced)
        from = std::max(from, begins_[size_t(edge.from)] + clocks(edge.from) - edge.distance * turn_);
    if (from > last) return false;
    int64_t at = from;
    while (at < from + turn_ && at <= last && !is_free(work, at)) ++at;
    // Nowhere: later than last time, and others have to go.
    if (at == from + turn_ || at > last) at = std::min(std::max(from, before_.contains(work) ? before_[work] + 1 : from), last);
    push_out(work, at);
    take(work, at, work);
    begins_[size_t(work)] = before_[work] = at;
    return true;
  }

  template <class F>
  void each_slot(int work, int64_t at, F&& f) {
    std::vector<int>& unit = taken_[size_t(problem_.work[size_t(work)].unit)];
    for (int64_t group = 0; group < groups_; ++group)
      for (int64_t clock = 0; clock < std::min(clocks(work), turn_); ++clock) f(unit[size_t((at + shift(group) + clock) % turn_)]);
  }

  bool is_free(int work, int64_t at) {
    bool free = true;
    each_slot(work, at, [&](int& who) { free &= who == kNobody; });
    return free && fits_itself(work);
  }
  // Its own groups do not meet.
  bool fits_itself(int work) const { return clocks(work) * groups_ <= turn_; }

  void take(int work, int64_t at, int who) {
    each_slot(work, at, [&](int& slot) { slot = who; });
  }

  void push_out(int work, int64_t at) {
    std::vector<int> out;
    each_slot(work, at, [&](int& who) {
      if (who != kNobody && std::ranges::find(out, who) == out.end()) out.push_back(who);
    });
    for (const LoopEdge& edge : problem_.edges) {
      int64_t to = begins_[size_t(edge.to)];
      if (edge.from == work && edge.to != work && to != kUnplaced && to < at + clocks(work) - edge.distance * turn_) out.push_back(edge.to);
    }
    for (int other : out) {
      if (begins_[size_t(other)] == kUnplaced) continue;
      take(other, begins_[size_t(other)], kNobody);
      begins_[size_t(other)] = kUnplaced;
    }
  }

  const LoopProblem& problem_;
  const std::vector<int64_t>& stages_;
  const int64_t groups_, grain_, turn_;
  std::vector<int64_t> begins_, heights_;
  std::vector<std::vector<int>> taken_;  // by unit: whose each clock of a turn is
  std::map<int, int64_t> before_;        // where a part was last
};

// The busiest unit, in clocks.
int64_t busiest(const LoopProblem& problem, int64_t groups) {
  int64_t most = 1;
  for (Unit unit : {Unit::Products, Unit::Threads}) {
    int64_t all = 0;
    for (const LoopWork& work : problem.work) all += work.unit == unit ? work.clocks * groups : 0;
    most = std::max(most, all);
  }
  return most;
}

// The shortest turn, and the begins in it.
std::optional<LoopTimes> shortest(const LoopProblem& problem, const std::vector<int64_t>& stages, int64_t groups) {
  int64_t all = std::accumulate(problem.work.begin(), problem.work.end(), int64_t(1), [](int64_t sum, const LoopWork& w) { return sum + w.clocks; });
  int64_t grain = std::max<int64_t>(1, ceil_div(busiest(problem, groups), kGrains)), most = ceil_div(2 * groups * all, grain) + 2 * groups;
  for (int64_t turn = ceil_div(ceil_div(busiest(problem, groups), grain), groups) * groups; turn <= most; turn += groups) {
    Table table(problem, stages, groups, grain, turn);
    if (!table.run()) continue;
    LoopTimes times{.turn = turn * grain, .alone = 0, .begins = {}, .depths = {}};
    for (size_t i = 0; i < problem.work.size(); ++i) times.begins.push_back(table.begin(i));
    return times;
  }
  return std::nullopt;
}

// Registers of a lane at the place of a turn where most are taken.
int64_t registers_of(const LoopProblem& problem, const LoopTimes& times) {
  std::vector<std::pair<int64_t, int64_t>> lives;  // begin, end
  for (size_t i = 0; i < problem.work.size(); ++i) {
    const LoopWork& work = problem.work[i];
    int64_t end = times.begins[i] + work.clocks, begin = work.unit == Unit::Products ? times.begins[i] : end;
    for (const LoopEdge& edge : problem.edges)
      if (edge.from == int(i)) {
        const LoopWork& user = problem.work[size_t(edge.to)];
        int64_t begin = times.begins[size_t(edge.to)] + edge.distance * times.turn;
        end = std::max(end, begin + (user.unit == Unit::Products && !edge.takes_over ? user.clocks : 0));
      }
    lives.push_back({begin, end});
  }
  int64_t most = 0;
  for (const auto& [place, end] : lives) {
    int64_t now = 0;
    for (size_t i = 0; i < lives.size(); ++i) {
      auto [from, to] = lives[i];
      // Of those that begin at from + n * turn: how many live at `place`.
      int64_t begun = (place - from) / times.turn - ((place - from) % times.turn < 0), ended = (place - to) / times.turn - ((place - to) % times.turn < 0);
      now += (begun - ended) * problem.work[i].registers;
    }
    most = std::max(most, now);
  }
  return most;
}

// Copies begin early enough to be there when the first reader is, and their place is taken until the last one has ended.
bool find_depths(const LoopProblem& problem, LoopTimes& times) {
  int64_t bytes = 0;
  for (const LoopRing& ring : problem.rings) {
    int64_t first = INT64_MAX, last = 0;
    for (int reader : ring.readers) {
      first = std::min(first, times.begins[size_t(reader)]);
      last = std::max(last, times.begins[size_t(reader)] + problem.work[size_t(reader)].clocks);
    }
    times.depths.push_back(ring.readers.empty() ? 1 : ceil_div(last - first + ring.latency, times.turn));
    bytes += times.depths.back() * ring.bytes;
  }
  return !problem.shared_bytes || bytes <= problem.shared_bytes;
}

bool is_better(const LoopTimes& a, const LoopTimes& b) {
  if (a.turn * 20 > b.turn * 21 || b.turn * 20 > a.turn * 21) return a.turn < b.turn;
  return std::pair(a.alone, a.turn) < std::pair(b.alone, b.turn);
}

}  // namespace

std::optional<LoopTimes> modulo_schedule(const LoopProblem& problem, const std::vector<int64_t>& stages) {
  INVARIANT(stages.size() == problem.work.size(), "each part has a stage");
  std::optional<LoopTimes> times = shortest(problem, stages, problem.groups), alone = shortest(problem, stages, 1);
  if (!times || !alone) return std::nullopt;
  times->alone = alone->turn;
  if (problem.registers && registers_of(problem, *times) > problem.registers) return std::nullopt;
  if (!find_depths(problem, *times)) return std::nullopt;
  return times;
}

std::optional<LoopTimes> modulo_schedule(const LoopProblem& problem) {
  std::vector<size_t> choices;
  for (size_t i = 0; i < problem.work.size(); ++i)
    if (problem.work[i].unit == Unit::Products && problem.work[i].most_stage > 0 && choices.size() < kMostChoices) choices.push_back(i);
  std::optional<LoopTimes> best;
  for (uint64_t chosen = 0; chosen >> choices.size() == 0; ++chosen) {
    std::vector<int64_t> stages;
    for (const LoopWork& work : problem.work) stages.push_back(work.unit == Unit::Threads && work.most_stage > 0 ? kFree : 0);
    for (size_t i = 0; i < choices.size(); ++i) stages[choices[i]] = chosen >> i & 1;
    std::optional<LoopTimes> times = modulo_schedule(problem, stages);
    if (times && (!best || is_better(*times, *best))) best = times;
  }
  return best;
}

}  // namespace tilec::passes
