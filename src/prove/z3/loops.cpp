// Schedules of loops as linear constraints over integers, for one length of the turn at a time.
//   b, k      of each part: its begin, its stage; p = b - k * turn lies within the turn
//   edges     b of the later one >= b of the earlier one + its clocks - distance * turn
//   units     of two parts, with every shift between two groups: one ends before the other begins, round the turn
//   alone     the same with begins of their own and one group, the stages being the same
//   registers at every begin: those whose life holds it, of all turns that are under way
//   shared    depth * turn >= from the first reader's begin to the last one's end + the copies' latency
#include "prove/z3/loops.h"

#include <z3++.h>

#include <algorithm>

namespace tilec::prove {

namespace {

using ir::LoopEdge, ir::LoopProblem, ir::LoopRing, ir::LoopTimes, ir::LoopWork, ir::Unit;

constexpr unsigned kSteps = 1'000'000;  // of one question: some tenths of a second
constexpr int64_t kGrains = 64;         // a turn is cut into so many clocks
constexpr int64_t kTurnsBack = 3;       // that what is alive may have begun before

class Query {
 public:
  Query(z3::context& context, const LoopProblem& problem, int64_t grain) : context_(context), problem_(problem), grain_(grain), solver_(context) {
    solver_.set("rlimit", kSteps);
    for (size_t i = 0; i < problem.work.size(); ++i) {
      stages_.push_back(variable("k", i));
      solver_.add(stages_[i] >= 0 && stages_[i] <= number(problem.work[i].most_stage));
    }
  }

  // In grains.
  bool run(int64_t turn, int64_t alone) {
    if (!add_turn("b", turn, problem_.groups, begins_) || !add_turn("a", alone, 1, begins_alone_)) return false;
    if (problem_.registers) add_registers(turn);
    add_rings(turn);
    if (solver_.check() != z3::sat) return false;
    z3::model model = solver_.get_model();
    times_ = {.turn = turn * grain_, .alone = alone * grain_, .begins = {}, .depths = {}};
    for (const z3::expr& begin : begins_) times_.begins.push_back(value(model, begin) * grain_);
    for (const z3::expr& depth : depths_) times_.depths.push_back(value(model, depth));
    return true;
  }

  const LoopTimes& times() const { return times_; }

 private:
  z3::expr number(int64_t x) { return context_.int_val(x); }
  z3::expr variable(const char* name, size_t i) { return context_.int_const((name + std::to_string(i)).c_str()); }
  static int64_t value(const z3::model& model, const z3::expr& x) { return model.eval(x, true).get_numeral_int64(); }
  int64_t clocks(size_t i) const { return std::max<int64_t>(1, (problem_.work[i].clocks + grain_ - 1) / grain_); }

  bool add_turn(const char* name, int64_t turn, int64_t groups, std::vector<z3::expr>& begins) {
    const size_t count = problem_.work.size();
    for (size_t i = 0; i < count; ++i) {
      begins.push_back(variable(name, i));
      z3::expr place = begins[i] - stages_[i] * number(turn);
      solver_.add(place >= 0 && place < number(turn));
      if (clocks(i) * groups > turn) return false;
    }
    for (const LoopEdge& edge : problem_.edges)
      solver_.add(begins[size_t(edge.to)] >= begins[size_t(edge.from)] + number(clocks(size_t(edge.from)) - edge.distance * turn));
    for (size_t i = 0; i < count; ++i)
      for (size_t j = i + 1; j < count; ++j)
        if (problem_.work[i].unit == problem_.work[j].unit) keep_apart(i, j, turn, groups, begins);
    return true;
  }

  void keep_apart(size_t i, size_t j, int64_t turn, int64_t groups, const std::vector<z3::expr>& begins) {
    z3::expr between = (begins[j] - stages_[j] * number(turn)) - (begins[i] - stages_[i] * number(turn));
    for (int64_t group = 0; group < groups; ++group) {
      z3::expr_vector ways(context_);
      for (int64_t round = -1; round <= 1; ++round) {
        z3::expr behind = between + number(group * turn / groups + round * turn);
        ways.push_back(behind >= number(clocks(i)) && behind <= number(turn - clocks(j)));
      }
      solver_.add(z3::mk_or(ways));
    }
  }

  void add_registers(int64_t turn) {
    const size_t count = problem_.work.size();
    std::vector<z3::expr> from, to;
    for (size_t i = 0; i < count; ++i) {
      z3::expr end = variable("e", i), ended = begins_[i] + number(clocks(i));
      solver_.add(end >= ended);
      for (const LoopEdge& edge : problem_.edges) {
        if (size_t(edge.from) != i) continue;
        size_t user = size_t(edge.to);
        int64_t reads = problem_.work[user].unit == Unit::Products && !edge.takes_over ? clocks(user) : 0;
        solver_.add(end >= begins_[user] + number(edge.distance * turn + reads));
      }
      from.push_back(problem_.work[i].unit == Unit::Products ? begins_[i] : ended);
      to.push_back(end);
    }
    for (size_t at = 0; at < count; ++at) {
      if (problem_.work[at].registers == 0) continue;
      z3::expr all = number(0);
      for (size_t i = 0; i < count; ++i)
        for (int64_t turns = -kTurnsBack; turns <= kTurnsBack && problem_.work[i].registers; ++turns) {
          z3::expr holds = from[i] + number(turns * turn) <= from[at] && from[at] < to[i] + number(turns * turn);
          all = all + z3::ite(holds, number(problem_.work[i].registers), number(0));
        }
      solver_.add(all <= number(problem_.registers));
    }
  }

  void add_rings(int64_t turn) {
    z3::expr bytes = number(0);
    for (size_t r = 0; r < problem_.rings.size(); ++r) {
      const LoopRing& ring = problem_.rings[r];
      depths_.push_back(variable("d", r));
      solver_.add(depths_[r] >= 1);
      for (int first : ring.readers)
        for (int last : ring.readers)
          solver_.add(depths_[r] * number(turn) >= begins_[size_t(last)] - begins_[size_t(first)] + number(clocks(size_t(last)) + (ring.latency + grain_ - 1) / grain_));
      bytes = bytes + depths_[r] * number(ring.bytes);
    }
    if (problem_.shared_bytes) solver_.add(bytes <= number(problem_.shared_bytes));
  }

  z3::context& context_;
  const LoopProblem& problem_;
  const int64_t grain_;
  z3::solver solver_;
  std::vector<z3::expr> stages_, begins_, begins_alone_, depths_;
  LoopTimes times_;
};

int64_t busiest(const LoopProblem& problem, int64_t groups, int64_t grain) {
  int64_t most = 1;
  for (Unit unit : {Unit::Products, Unit::Threads}) {
    int64_t all = 0;
    for (const LoopWork& work : problem.work) all += work.unit == unit ? std::max<int64_t>(1, (work.clocks + grain - 1) / grain) * groups : 0;
    most = std::max(most, all);
  }
  return most;
}

std::optional<LoopTimes> search(const LoopProblem& problem, const LoopTimes& known) {
  const int64_t grain = std::max<int64_t>(1, known.turn / kGrains), groups = problem.groups;
  const int64_t longest = known.turn / grain, slowest = std::max<int64_t>(1, known.alone / grain);
  auto ask = [&](int64_t turn, int64_t alone) -> std::optional<LoopTimes> {
    z3::context context;
    Query query(context, problem, grain);
    if (!query.run(turn, alone)) return std::nullopt;
    return query.times();
  };
  std::optional<LoopTimes> best;
  int64_t turn = (busiest(problem, groups, grain) + groups - 1) / groups * groups;
  for (; turn <= longest && !best; turn += best ? 0 : groups) best = ask(turn, std::max(slowest, longest));
  if (!best) return std::nullopt;
  turn = best->turn / grain;
  for (int64_t alone = busiest(problem, 1, grain); alone < best->alone / grain; ++alone)
    if (std::optional<LoopTimes> faster = ask(turn, alone)) {
      best = faster;
      break;
    }
  bool gains = best->turn < known.turn || (best->turn == known.turn && best->alone < known.alone);
  return gains ? best : std::nullopt;
}

}  // namespace

std::optional<LoopTimes> schedule_loop(const LoopProblem& problem, const LoopTimes& known) {
  try {
    return search(problem, known);
  } catch (const z3::exception&) {
    return std::nullopt;
  }
}

}  // namespace tilec::prove
