// Loops in the body of a map: what they carry, and what is left behind them.
#include "ir/sources.h"
#include "passes/map_run.h"

namespace tilec::passes {

using namespace ir;

bool MapRun::note_late(const Op& op) {
  bool has_new = false;
  each_region(op.data, [&](RegionId part) {
    const std::vector<ValueId>& args = kernel.region(part).args;
    for (size_t i = 0; i < args.size(); ++i) {
      std::vector<Marks> sources;
      for (ValueId v : carried_sources(kernel, op, part, i)) sources.push_back(marks(v));
      const Marks before = marks(args[i]);
      passes::note_late(marks_of[args[i]], sources);
      has_new |= marks_of[args[i]] != before;
    }
  });
  return has_new;
}

bool MapRun::enter(const Op& op, RegionId part, bool is_first) {
  bool grows = false;
  const std::vector<ValueId>& args = kernel.region(part).args;
  for (size_t i = 0; i < args.size(); ++i) {
    const ValueId arg = args[i];
    if (!op.is<op::For>() || i > 0) carried.insert(arg);
    known.insert_or_assign(arg, known_anything(kernel.type(arg).element));
    std::vector<ValueId> sources = carried_sources(kernel, op, part, i);
    if (is_first && sources.size() == 2) sources.pop_back();
    for (ValueId source : sources) {
      const Marks before = marks(arg);
      Marks now = most(before, marks(source));
      now.made = marks_of.contains(arg) ? either(before.made, marks(source).made) : marks(source).made;
      now.is_tainted_late = before.is_tainted_late, now.late = before.late, now.late_data = before.late_data;
      now.variable = marks(source).variable & (marks_of.contains(arg) ? before.variable : ~0u);
      grows |= now != before;
      marks_of[arg] = now;
    }
  }
  const Yielded told = region(part);
  if (op.is<op::While>() && part == op.as<op::While>().condition) path = with_element(path, told.marks[0]);
  return grows;
}

void MapRun::run_turns(const Op& op) {
  if (auto* counted = op.get<op::For>())
    for (ValueId v : {counted->low, counted->high, counted->step}) path = with_element(path, marks(v));
  // What a turn yields is first known behind it. Then what it is in some turns alone, which is known once it is known what it is in all of them.
  const std::function<void()> take_back = noting ? noting() : nullptr;
  bool is_first = true;
  for (bool is_settled : {false, true})
    for (bool grows = !is_settled || note_late(op); grows; is_first = false) {
      grows = is_first;
      if (take_back) take_back();
      each_region(op.data, [&](RegionId part) { grows |= enter(op, part, is_first); });
      if (is_settled) grows |= note_late(op);
    }
}

bool MapRun::has_turn(const Op& op, RegionId at) const {
  if (auto* counted = op.get<op::For>()) return decider.has_turn(*counted, at);
  auto& loop = op.as<op::While>();
  MapRun first = apart();
  for (size_t i = 0; i < loop.inits.size(); ++i) first.known.insert_or_assign(kernel.region(loop.condition).args[i], first.of(loop.inits[i]));
  const auto goes_on = first.region(loop.condition).numbers[0].sure.exact;
  return goes_on && goes_on->i != 0;
}

namespace {

// Behind a loop that need not turn: what turns have set in the place of padding is, in other runs, what counts there.
void note_set_late(Marks& left, const Marks& begun) {
  const bool is_set = left.taint == Taint::Set || (left.taint == Taint::Clean && left.was_beside && !begun.was_beside);
  if (is_set && begun.taint == Taint::Clean && !begun.is_left_out()) left.taint = Taint::Mixed, left.is_tainted_late = true;
}

}  // namespace

std::vector<Marks> MapRun::left_by(const op::For& loop, bool has_turn) {
  Marks ends;
  Made turns = Made::Free;  // how many there are
  for (ValueId v : {loop.low, loop.high, loop.step}) ends = with_element(ends, marks(v)), turns = most(turns, marks(v).made);
  std::vector<Marks> all;
  for (size_t i = 0; i < loop.inits.size(); ++i) {
    const Marks begun = marks(loop.inits[i]), turned = marks(kernel.terminator(loop.body).as<op::Yield>().values[i]);
    Marks left = has_turn ? turned : most(begun, turned);
    if (!has_turn) left.made = either(begun.made, turned.made), passes::note_late(left, std::array{begun, turned});
    left.made = most(left.made, turns);
    if (!has_turn) note_set_late(left, begun);
    all.push_back(most(ends, left));
    all.back().variable = begun.variable & turned.variable;
  }
  return all;
}

std::vector<Marks> MapRun::left_by(const op::While& loop, bool has_turn) const {
  MapRun last = apart();
  for (size_t i = 0; has_turn && i < loop.inits.size(); ++i)
    last.marks_of[kernel.region(loop.condition).args[i]] = marks(kernel.terminator(loop.body).as<op::Yield>().values[i]);
  const Yielded told = last.region(loop.condition);
  std::vector<Marks> all;
  for (size_t i = 0; i < loop.inits.size(); ++i) {
    all.push_back(with_element(told.marks[i + 1], told.marks[0]));
    all.back().made = most(all.back().made, told.marks[0].made);
    if (!has_turn) note_set_late(all.back(), marks(loop.inits[i]));
  }
  return all;
}

void MapRun::run_loop(OpId id, const Op& op, RegionId at) {
  const bool is_turned = has_turn(op, at);
  if (is_turned) turned.insert(op.is<op::For>() ? op.as<op::For>().body : op.as<op::While>().condition);
  MapRun turn = *this;
  turn.run_turns(op);
  known.insert(turn.known.begin(), turn.known.end());
  marks_of.insert(turn.marks_of.begin(), turn.marks_of.end());
  unsure.insert(turn.unsure.begin(), turn.unsure.end()), turned.insert(turn.turned.begin(), turn.turned.end());
  // It ends for data, and need not for what padding holds.
  auto* loop = op.get<op::While>();
  if (loop && effects && taint(kernel.terminator(loop->condition).as<op::Yield>().values[0]) == Taint::Padding) effects->insert_or_assign(id, is_tested);
  const std::vector<Marks> left = loop ? left_by(*loop, is_turned) : left_by(op.as<op::For>(), is_turned);
  for (size_t i = 0; i < op.results.size(); ++i) {
    known.insert_or_assign(op.results[i], known_anything(kernel.type(op.results[i]).element));
    marks_of[op.results[i]] = left[i];
  }
}

}  // namespace tilec::passes
