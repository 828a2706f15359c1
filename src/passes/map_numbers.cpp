#include "ir/sources.h"
#include "passes/effects.h"
#include "passes/map_run.h"

namespace tilec::passes {

using namespace ir;

Marks MapRun::marks(ValueId v) const {
  auto found = marks_of.find(v);
  return found != marks_of.end() ? found->second : Marks{};
}

void MapRun::equate(ValueId v, ValueId to) {
  known.insert_or_assign(v, of(to));
  for (auto& known_same : same) known_same.insert_or_assign(v, to);
}

ValueId MapRun::first_of(ValueId v, Belief belief, const std::set<ValueId>& but) const {
  const auto& known_same = same[size_t(belief)];
  for (auto at = known_same.find(v); at != known_same.end() && !but.contains(v); at = known_same.find(v)) v = at->second;
  return v;
}

std::optional<MapRun::Decision> MapRun::decided(ValueId condition, RegionId region) {
  Known n = of(condition);
  Taint from = taint(condition);
  if (n.sure.exact && from == Taint::Clean) return Decision{n.sure.exact->i != 0, from, !marks(condition).is_of_element};
  if (auto side = decider.has_assumption() ? decider.under_assumption(condition, region) : std::nullopt) {
    const bool is_of_element = from != Taint::Clean || marks(condition).is_of_element;
    const bool is_always = is_of_element && decider.always(condition, region);
    return Decision{*side, is_always ? from : Taint::Clean, !is_always};
  }
  return n.sure.exact ? std::optional(Decision{n.sure.exact->i != 0, from, from == Taint::Clean}) : std::nullopt;
}

bool MapRun::takes_one(const Decision& decision, ValueId condition, RegionId region) {
  return decision.taint != Taint::Clean || decider.under_assumption(condition, region);
}

MapRun::Yielded MapRun::region(RegionId id) {
  for (OpId o : kernel.region(id).ops) {
    const Op& op = kernel.op(o);
    if (auto* yield = op.get<op::Yield>()) {
      Yielded result;
      result.values = yield->values;
      for (ValueId v : yield->values) result.numbers.push_back(of(v)), result.marks.push_back(marks(v));
      return result;
    }
    note_effect(o, op);
    const bool is_loop = op.is<op::For>() || op.is<op::While>();
    if (is_loop) {
      run_loop(o, op, id), carried.insert(op.results.begin(), op.results.end());
      continue;
    }
    if (!op.results.empty() || op.is<op::If>()) run(op, id);
  }
  return {};
}

void MapRun::note_effect(OpId id, const Op& op) {
  auto* store = op.get<op::ElementStore>();
  auto* atomic = op.get<op::Atomic>();
  auto* load = op.get<op::ElementLoad>();
  if (load && load->bounds == Bounds::Inside) load = nullptr;
  if (!effects || (!store && !atomic && !load)) return;
  Marks all = load ? Marks{} : path;
  for (ValueId v : store ? store->indices : atomic ? atomic->indices : load->indices) all = with_element(all, marks(v));
  for (ValueId v : atomic ? atomic->operands : std::vector<ValueId>()) all = with_element(all, marks(v));
  // Beside what a variable has kept: in some runs it is made of numbers alone, in others of data. Beside padding it is told of in any case.
  const bool is_unsure = all.is_beyond && (all.is_left_out() ? all.taint == Taint::Mixed && all.made >= Made::Counting && all.read : all.made == Made::Maybe);
  const bool is_late = all.is_left_out() && all.is_late(~0u);
  if (!load && (is_late || (is_unsure && !is_tested))) unsure.insert(id);
  else if (all.is_left_out()) effects->insert_or_assign(id, is_tested);
}

void MapRun::note_untaken(RegionId code) {
  each_op(kernel, code, [&](OpId id) {
    if (kernel.op(id).is<op::ElementStore>() || kernel.op(id).is<op::Atomic>()) effects->insert_or_assign(id, is_tested);
  });
}

void MapRun::run(const Op& op, RegionId id) {
  if (auto* branch = op.get<op::If>()) return run_branch(*branch, op, id);
  if (auto* select = op.get<op::Select>()) {
    if (auto* inside = kernel.defined_by<op::Inside>(select->condition)) return run_assignment(*select, kernel.value(select->condition).op, inside->x, op.result());
    return run_select(*select, op, id);
  }
  // Of an element of a shared tile that is padded, it is known.
  if (op.is<op::ElementLoad>() && known.contains(op.result())) return;
  Marks all;
  each_maker(op, [&](ValueId v) { all = most(all, marks(v)); });
  // Of `&&` and `||` one side may decide alone: the place, whatever elements say.
  auto* both = op.get<op::Binary>();
  const bool is_truth = both && (both->fn == BinaryFn::And || both->fn == BinaryFn::Or) && kernel.type(op.result()).element == Scalar::Bool;
  if (is_truth && all.made >= Made::Counting && (is_by_some_place(marks(both->a)) || is_by_some_place(marks(both->b)))) all.made = Made::Maybe;
  // At a place that padding tells, what is read is padding.
  if (op.is<op::ElementLoad>()) all = {all.is_left_out() ? std::max(all.taint, Taint::Padding) : all.taint, Made::Data, true, all.is_beyond, 0, kOtherData, kOtherData};
  const bool is_simple = table(op.kind()) == OpTable::Scalar;
  if (!is_simple) all.taint = Taint::Padding;
  for (ValueId v : op.results) {
    known.insert_or_assign(v, is_simple ? of(v) : known_anything(kernel.type(v).element));
    marks_of[v] = all;
  }
  if (is_simple && all.taint != Taint::Clean) note_same(op);
}

void MapRun::note_same(const Op& op) {
  for (Belief belief : {Belief::None, Belief::Finite}) {
    ValueId left;
    if (auto* o = op.get<op::Binary>()) left = unchanged(o->fn, o->a, o->b, of(o->a).under(belief), of(o->b).under(belief));
    if (auto* o = op.get<op::Fma>()) {
      const Numbers product = apply(BinaryFn::Mul, kernel.type(o->a).element, of(o->a).under(belief), of(o->b).under(belief), belief);
      if (product.is_within(kZero)) left = o->c;
    }
    if (!left.valid()) continue;
    same[size_t(belief)].insert_or_assign(op.result(), left);
    if (belief == Belief::None && taint(op.result()) == Taint::Set) known.insert_or_assign(op.result(), of(left)), marks_of[op.result()] = marks(left);
  }
}

uint32_t MapRun::variable_of(OpId inside, ValueId old) const {
  const std::vector<ValueId>& held = kernel.op(inside).as<op::Inside>().held;
  return marks(held.empty() ? old : held.front()).variable;
}

uint32_t MapRun::held_under(OpId inside, ValueId old) const {
  uint32_t own = marks(old).kept | marks(old).data;
  for (ValueId v : kernel.op(inside).as<op::Inside>().held) own |= marks(v).kept | marks(v).data;
  return own;
}

void MapRun::run_assignment(const op::Select& choice, OpId inside, ValueId by, ValueId v) {
  assign(choice, inside, by, v);
  marks_of[v].variable = variable_of(inside, choice.b);
}

// Assigned to a variable, data are its own, and beside them it has kept nothing.
void MapRun::take_up(Marks& marks, uint32_t variable) {
  const uint32_t own = variable ? variable : kOtherData;
  if (!marks.data) return;
  if (!(marks.data & ~marks.late_data)) return void((marks.data = marks.late_data = own, marks.late |= marks.kept));
  marks.late_data = 0, marks.kept = marks.late = marks.read = marks.may_be_taken_up = 0, marks.data = own;
}

void MapRun::assign(const op::Select& choice, OpId inside, ValueId by, ValueId v) {
  const ValueId next = choice.a, old = choice.b;
  Assignment made{inside, by, next, old, marks(old)};
  made.is_same = is_same_number(next, old, Belief::None), made.may_be_same = is_same_number(next, old, Belief::Finite);
  marks_of[v] = most(marks(next), {.taint = taint(by), .is_tainted_late = marks(by).is_tainted_late});
  const uint32_t own = held_under(inside, old);
  // Of a condition, what variables have taken up is no data either.
  const uint32_t data = by == next ? marks(by).data : marks(by).read & ~marks(by).may_be_taken_up;
  // In some turns of a loop it is made of data.
  const bool is_late = by == next && !kernel.op(inside).as<op::Inside>().of_number && (data & ~own) && !(data & ~own & ~marks(by).late_data);
  if (!(data & ~own) || is_late) made.kept = marks(by).kept & ~own;
  made.may_be_read = made.kept && by != next && (marks(by).read & ~own);
  marks_of[v].is_assigned = true;
  made.is_set = taint(by) == Taint::Set, made.is_late = marks(by).is_late(made.kept) || (is_late && made.kept);
  const bool is_padding = keeps && (taint(by) >= Taint::Mixed || made.kept || (made.is_set && kernel.op(inside).as<op::Inside>().of_number));
  if (!is_padding) {
    if (made.is_same && taint(next) == Taint::Set) marks_of[v].taint = taint(old), marks_of[v].was_beside = true;
    if (!kernel.op(inside).as<op::Inside>().of_number) take_up(marks_of[v], variable_of(inside, old));
    return equate(v, next);
  }
  for (ValueId arg : carried)
    if (taint(arg) >= Taint::Mixed) made.carried.insert(arg);
    else if (taint(arg) == Taint::Clean && !marks(arg).kept && !marks(arg).is_beyond) made.untouched.insert(arg);
  const Keeping keeping = keeps(made);
  if (keeping == Keeping::Told) marks_of[v] = {.taint = Taint::Set, .made = Made::Data, .is_of_element = true, .is_assigned = true};
  // Nothing is set where what variables have kept tells: padding stays padding.
  if (keeping == Keeping::Next && made.kept && made.held.taint == Taint::Padding) marks_of[v].taint = Taint::Padding;
  if (keeping == Keeping::Next || keeping == Keeping::Told) return equate(v, next);
  Marks left = marks(old);
  left.variable = variable_of(inside, old);
  if (taint(old) != Taint::Padding) marks_of[v] = kept(left, kernel.op(inside).as<op::Inside>().of_number);
  const Known both = joined(of(old), of(next));
  equate(v, old);
  if (keeping == Keeping::Either) known.insert_or_assign(v, both), other_numbers.insert(v);
}

void MapRun::run_select(const op::Select& select, const Op& op, RegionId id) {
  ValueId v = op.result();
  auto decision = decided(select.condition, id);
  ValueId side = decision && decision->side ? select.a : select.b;
  const Marks of_condition = marks(select.condition), sides = most(marks(select.a), marks(select.b));
  const Made least = std::min(marks(select.a).made, marks(select.b).made);
  Marks all = most(of_condition, sides);
  known.insert_or_assign(v, decision ? of(side) : joined(of(select.a), of(select.b)));
  if (decision)
    for (auto& known_same : same) known_same.insert_or_assign(v, side);
  const bool is_one = decision && (taint(select.a) == taint(select.b) || takes_one(*decision, select.condition, id));
  all.taint = is_one ? std::max(decision->taint, taint(side)) : std::max(of_condition.taint, sides.taint);
  if (decision && decision->is_by_place) all.taint = beside({std::max(decision->taint, taint(side)), {}, marks(side).is_of_element}, sides);
  const bool is_by_place = decision && decision->is_by_place;
  const Made chosen = is_by_place ? marks(side).made : sides.made;
  all.made = is_by_place ? chosen : most(chosen, of_condition.made);
  if (is_by_place) all.kept = marks(side).kept, all.data = marks(side).data, all.read = marks(side).read, all.may_be_taken_up = marks(side).may_be_taken_up;
  if (!decision && is_by_some_place(of_condition) && !counts(least)) all.made = Made::Maybe;
  if (!decision) is_either(v, select.a, select.b, of_condition, all);
  marks_of[v] = all;
}

Taint MapRun::beside(const Marks& chosen, const Marks& either) {
  const bool is_number = !chosen.is_of_element && either.is_of_element;
  return chosen.taint == Taint::Clean && (either.taint >= Taint::Mixed || is_number) ? Taint::Set : chosen.taint;
}

void MapRun::is_either(ValueId v, ValueId side, ValueId other, const Marks& condition, Marks& of) {
  if (first_of(side, Belief::None) != first_of(other, Belief::None)) return;
  if (!condition.is_of_element) of.made = marks(side).made;
  for (auto& known_same : same) known_same.insert_or_assign(v, side);
  // But for what was left as it is, and may hold another number.
  if (!is_same_number(side, other, Belief::None)) other_numbers.insert(v);
}

MapRun::Yielded MapRun::untaken(RegionId code) const {
  MapRun other = apart();
  other.body = body;
  return other.region(code);
}

// What a condition says of the effects under it. Of what variables have kept and taken up alone: they are not made.
Marks MapRun::tested(Marks test, Taint taint) {
  const bool is_by_kept = test.kept && !test.is_read() && taint < Taint::Mixed;
  if (is_by_kept) test.is_tainted_late = test.is_late(~0u);
  test.taint = is_by_kept ? Taint::Mixed : taint, test.is_assigned = false, test.variable = 0;
  return test;
}

void MapRun::run_branch(const op::If& branch, const Op& op, RegionId at) {
  auto decision = decided(branch.condition, at);
  const bool is_by_place = decision && decision->is_by_place;
  std::vector<Known> result(op.results.size());
  Marks first = marks(branch.condition);
  if (decision) first.taint = decision->taint;
  if (is_by_place) first.made = Made::Free, first.kept = first.data = first.read = first.may_be_taken_up = 0, first.is_tainted_late = false, first.late = 0;
  std::vector<Marks> all(op.results.size(), first);
  std::array<std::vector<ValueId>, 2> yields;
  std::vector<Made> sides(op.results.size(), Made::Data);
  std::vector<Marks> others(op.results.size());  // of a side that the place does not take
  for (bool side : {true, false}) {
    const bool is_taken = !decision || decision->side == side;
    const RegionId code = side ? branch.then_body : branch.else_body;
    const Marks test = marks(branch.condition), around = path;
    if (!is_by_place) path = with_element(path, tested(test, first.taint));
    const bool was_tested = std::exchange(is_tested, is_tested || is_by_place || (!test.is_of_element && test.made == Made::Placed));
    const Yielded yielded = is_taken ? region(code) : untaken(code);
    if (!is_taken && !is_by_place && effects) note_untaken(code);
    path = around, is_tested = was_tested;
    yields[side] = yielded.values;
    for (size_t i = 0; !is_taken && i < result.size(); ++i) {
      others[i] = yielded.marks[i];
      if (!is_by_place) all[i] = most(all[i], untold(yielded.marks[i]));
    }
    if (!is_taken) continue;
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = joined(result[i], yielded.numbers[i]);
      const bool is_of_element = yielded.marks[i].is_of_element || (!is_by_place && all[i].is_of_element);
      all[i] = most(all[i], yielded.marks[i]), all[i].is_of_element = is_of_element;
      sides[i] = std::min(sides[i], yielded.marks[i].made);
      if (decision)
        for (auto& known_same : same) known_same.insert_or_assign(op.results[i], yielded.values[i]);
    }
  }
  for (size_t i = 0; decision && i < result.size(); ++i) {
    if (is_by_place) all[i].was_beside |= others[i].has_met_padding(), all[i].taint = beside(all[i], others[i]);
    else if (others[i].taint > all[i].taint && !takes_one(*decision, branch.condition, at)) all[i].taint = others[i].taint;
  }
  for (size_t i = 0; !decision && i < result.size(); ++i) {
    if (is_by_some_place(marks(branch.condition)) && !counts(sides[i])) all[i].made = Made::Maybe;
    is_either(op.results[i], yields[true][i], yields[false][i], marks(branch.condition), all[i]);
  }
  for (size_t i = 0; i < result.size(); ++i) {
    all[i].variable = marks(yields[true][i]).variable & marks(yields[false][i]).variable;
    known[op.results[i]] = result[i], marks_of[op.results[i]] = all[i];
  }
}

MapResults run_on_numbers(prove::Prover& prover, Decisions& decisions, const Kernel& kernel, RegionId body, NumbersOf known, MarksOf marks,
                          const prove::Formula& assumption, const Keeps& keeps, const Noting& noting) {
  std::map<OpId, bool> effects;
  const Decider decider(prover, decisions, kernel, assumption);
  MapRun run{decider, kernel, std::move(known), std::move(marks), keeps, noting};
  run.effects = &effects, run.body = body;
  MapRun::Yielded yielded = run.region(body);
  return {std::move(yielded.numbers), std::move(yielded.marks), std::move(run.known), std::move(run.marks_of), std::move(effects), std::move(run.unsure), std::move(run.turned)};
}

}  // namespace tilec::passes
