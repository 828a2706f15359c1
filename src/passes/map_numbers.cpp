#include "passes/map_numbers.h"

#include <array>
#include <limits>

#include "ir/sources.h"
#include "passes/effects.h"

namespace tilec::passes {

using namespace ir;

namespace {

// `x > 0` and the like among the contracts, for a parameter: a kind stays when its least or greatest number keeps them all.
Numbers by_contract(const Kernel& kernel, ValueId v, Belief belief) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::pair<uint8_t, double> kEnds[] = {
      {kNegativeInfinity, -kInfinity}, {kNegative, -1e-30}, {kNegative, -1e30}, {kZero, 0.0}, {kPositive, 1e-30}, {kPositive, 1e30},
      {kPositiveInfinity, kInfinity},  {kNan, std::numeric_limits<double>::quiet_NaN()}};
  Scalar type = kernel.type(v).element;
  Numbers numbers = data(type, belief);
  for (const Requirement& r : kernel.requirements) {
    auto* compare = kernel.defined_by<op::Compare>(r.condition);
    if (!compare || !is_float(type) || (compare->a != v && compare->b != v)) continue;
    auto number = kernel.constant(compare->a == v ? compare->b : compare->a);
    if (!number) continue;
    auto holds = [&](double x) {
      Number n = Number::real(x);
      return compare->a == v ? evaluate(compare->fn, type, n, *number) : evaluate(compare->fn, type, *number, n);
    };
    uint8_t possible = 0;
    for (auto [kind, end] : kEnds)
      if (holds(end)) possible |= kind;
    numbers.kinds &= possible;
  }
  return numbers;
}

// The operand of a sum and the like that the other one, as far as it is known, leaves as it is.
ValueId unchanged(BinaryFn fn, ValueId left, ValueId right, const Numbers& a, const Numbers& b) {
  auto is_one = [](const Numbers& x) { return x.exact && (x.exact->is_float ? x.exact->f == 1 : x.exact->i == 1); };
  // NaN gives way to whatever is no NaN.
  auto changes_nothing = [&](const Numbers& x, const Numbers& of) {
    const bool may_give_way = (of.kinds & kNan) && (x.kinds & ~kNan);
    switch (fn) {
      case BinaryFn::Add: return x.is_within(kZero);
      case BinaryFn::Mul: return is_one(x);
      case BinaryFn::Max: return x.is_within(kNegativeInfinity | kNan) && !may_give_way;
      case BinaryFn::Maximum: return x.is_within(kNegativeInfinity);
      case BinaryFn::Min: return x.is_within(kPositiveInfinity | kNan) && !may_give_way;
      case BinaryFn::Minimum: return x.is_within(kPositiveInfinity);
      case BinaryFn::Or: return x.exact && x.exact->i == 0;
      default: return false;
    }
  };
  bool takes_right_away = fn == BinaryFn::Sub && b.is_within(kZero), divides_by_one = fn == BinaryFn::Div && is_one(b);
  if (takes_right_away || divides_by_one) return left;
  return changes_nothing(b, a) ? left : changes_nothing(a, b) ? right : ValueId{};
}

struct Run {
  prove::Prover& prover;
  Decisions& decisions;
  const Kernel& kernel;
  NumbersOf known;
  std::map<ValueId, Taint> taint_of;
  std::set<ValueId> carried, brought;
  const prove::Formula& assumption;
  const MayKeep& may_keep;

  Known of(ValueId v) { return scalar_numbers(kernel, v, known); }
  Taint taint(ValueId v) const {
    auto found = taint_of.find(v);
    return found != taint_of.end() ? found->second : Taint::Clean;
  }
  bool is_held(ValueId v) const { return taint(v) == Taint::Clean && carried.contains(v); }
  void equate(ValueId v, ValueId to) {
    known.insert_or_assign(v, of(to));
    is_left(v, to);
  }
  // Nothing but `to` is left in it, as far as padding goes.
  void is_left(ValueId v, ValueId to) {
    taint_of[v] = Taint::Clean;
    carried.insert(v);
    if (!brought.contains(to)) brought.erase(v);
  }

  // What a loop carries stays as it is where the other operand is padding that changes nothing, or that nobody asked to count.
  void keep(OpId id, const Op& op) {
    ValueId a, b, kept[2];
    if (auto* o = op.get<op::Binary>()) {
      a = o->a, b = o->b;
      for (Belief belief : {Belief::None, Belief::Finite}) kept[int(belief)] = unchanged(o->fn, a, b, of(a).under(belief), of(b).under(belief));
    } else if (auto* o = op.get<op::Fma>()) {
      a = o->c, b = taint(o->a) == Taint::Clean ? o->b : o->a;
      for (Belief belief : {Belief::None, Belief::Finite}) {
        Numbers product = apply(BinaryFn::Mul, kernel.type(o->a).element, of(o->a).under(belief), of(o->b).under(belief), belief);
        if (product.is_within(kZero)) kept[int(belief)] = o->c;
      }
    }
    if (!a.valid()) return;
    if (is_held(a) != is_held(b)) return keep(id, op, is_held(a) ? a : b, is_held(a) ? b : a, kept);
    if (carried.contains(a) == carried.contains(b) || !may_keep) return;
    const ValueId mine = carried.contains(a) ? a : b;
    if (may_keep({id, mine, mine == a ? b : a, false, true}) == Keeping::Stays) join(op.result(), mine);
  }
  void join(ValueId v, ValueId other) { known.insert_or_assign(v, joined(of(v), of(other))); }
  void keep(OpId id, const Op& op, ValueId mine, ValueId other, const ValueId (&kept)[2]) {
    if (taint(other) == Taint::Clean) return;
    auto* binary = op.get<op::Binary>();
    const bool is_sure = kept[int(Belief::None)] == mine, is_hoped = kept[int(Belief::Finite)] == mine;
    const bool is_combined = binary && combines(binary->fn, mine == binary->a) && taint(other) == Taint::Padding;
    Keeping keeping = is_sure ? Keeping::Stays : Keeping::Not;
    if (!is_sure && may_keep && (is_hoped || is_combined)) keeping = may_keep({id, mine, other, is_hoped});
    if (keeping == Keeping::Stays) equate(op.result(), mine);
    if (keeping == Keeping::Waits) join(op.result(), mine), is_left(op.result(), mine);
  }

  // Of a difference the first operand is what is kept.
  static bool combines(BinaryFn fn, bool is_first) {
    switch (fn) {
      case BinaryFn::Add: case BinaryFn::Mul: case BinaryFn::And: case BinaryFn::Or: case BinaryFn::Xor:
      case BinaryFn::Min: case BinaryFn::Max: case BinaryFn::Minimum: case BinaryFn::Maximum: return true;
      case BinaryFn::Sub: return is_first;
      default: return false;
    }
  }

  // Which side is taken, and whether the place alone decides that. What always holds of an element, wherever it lies, is no place's doing.
  struct Decision {
    bool side;
    Taint taint;
    bool is_by_place;
  };
  // What padding chooses is padding, but for what a loop carries.
  std::optional<Decision> decided(ValueId condition, RegionId region) {
    Known n = of(condition);
    Taint from = taint(condition);
    if (n.sure.exact && from == Taint::Clean) return Decision{n.sure.exact->i != 0, from, true};
    if (auto side = assumption.is_true() ? std::nullopt : proved(condition, region, assumption)) {
      const bool is_of_element = from != Taint::Clean || brought.contains(condition) || carried.contains(condition);
      const bool is_always = is_of_element && proved(condition, region, prove::truth(true));
      return Decision{*side, is_always ? from : Taint::Clean, !is_always};
    }
    return n.sure.exact ? std::optional(Decision{n.sure.exact->i != 0, from, from == Taint::Clean}) : std::nullopt;
  }
  std::optional<bool> proved(ValueId condition, RegionId region, const prove::Formula& given) {
    std::string key;
    append_key(key, given);
    auto [at, is_new] = decisions.try_emplace({condition, std::move(key)});
    if (!is_new) return at->second;
    prove::Facts facts = prover.facts(region).with(given);
    prove::Formula f = prover.condition(condition);
    if (prover.proves(facts, f, prove::Effort::Quick)) at->second = true;
    else if (prover.proves(facts, negation(f), prove::Effort::Quick)) at->second = false;
    return at->second;
  }
  struct Yielded {
    std::vector<Known> numbers;
    std::vector<Taint> taints;
    std::vector<ValueId> values;
  };
  Yielded region(RegionId id) {
    for (OpId o : kernel.region(id).ops) {
      const Op& op = kernel.op(o);
      if (auto* yield = op.get<op::Yield>()) {
        Yielded result;
        result.values = yield->values;
        for (ValueId v : yield->values) result.numbers.push_back(of(v)), result.taints.push_back(taint(v));
        return result;
      }
      const bool is_loop = op.is<op::For>() || op.is<op::While>();
      if (is_loop) run_loop(op);
      if (!op.results.empty() || op.is<op::If>()) run(o, op, id);
    }
    return {};
  }

  // What a loop carries may be any number, and is padding where a turn makes it of padding. What is met in its turns is noted; nothing is
  // kept there by masks.
  void run_loop(const Op& op) {
    const MayKeep nothing;
    Run turn{prover, decisions, kernel, known, taint_of, carried, brought, assumption, nothing};
    auto enter = [&](RegionId part) {
      bool grows = false;
      const std::vector<ValueId>& args = kernel.region(part).args;
      for (size_t i = 0; i < args.size(); ++i) {
        const ValueId arg = args[i];
        turn.known.insert_or_assign(arg, known_anything(kernel.type(arg).element));
        for (ValueId source : carried_sources(kernel, op, part, i)) {
          grows |= turn.taint(source) > turn.taint(arg);
          turn.taint_of[arg] = std::max(turn.taint(arg), turn.taint(source));
          if (turn.carried.contains(source)) grows |= turn.carried.insert(arg).second;
          if (turn.brought.contains(source)) grows |= turn.brought.insert(arg).second;
        }
      }
      turn.region(part);
      return grows;
    };
    for (bool grows = true; grows;) {
      grows = false;
      each_region(op.data, [&](RegionId part) { grows |= enter(part); });
    }
    known.insert(turn.known.begin(), turn.known.end());
    taint_of.insert(turn.taint_of.begin(), turn.taint_of.end());
  }

  void run(OpId at, const Op& op, RegionId id) {
    if (auto* branch = op.get<op::If>()) return run_branch(*branch, at, op, id);
    if (auto* select = op.get<op::Select>()) {
      run_select(*select, op, id);
      return keep_choice(*select, at, op.result());
    }
    // Of an element of a shared tile that is padded, it is known.
    if (op.is<op::ElementLoad>() && known.contains(op.result())) return brought.insert(op.result()), void();
    Taint most = Taint::Clean;
    bool is_carried = false, is_brought = op.is<op::ElementLoad>();
    each_operand(op.data, [&](ValueId v) {
      most = std::max(most, taint(v));
      is_carried |= carried.contains(v), is_brought |= brought.contains(v);
    });
    if (is_carried) carried.insert(op.results.begin(), op.results.end());
    if (is_brought) brought.insert(op.results.begin(), op.results.end());
    bool is_simple = table(op.kind()) == OpTable::Scalar;
    for (ValueId v : op.results) {
      known.insert_or_assign(v, is_simple ? of(v) : known_anything(kernel.type(v).element));
      taint_of[v] = is_simple ? most : Taint::Padding;
    }
    if (is_simple) keep(at, op);
  }

  void run_select(const op::Select& select, const Op& op, RegionId id) {
    ValueId v = op.result();
    auto decision = decided(select.condition, id);
    ValueId side = decision && decision->side ? select.a : select.b;
    known.insert_or_assign(v, decision ? of(side) : joined(of(select.a), of(select.b)));
    // What numbers decide, and no place, has to do with both sides.
    const bool is_one = decision && (decision->taint != Taint::Clean || taint(select.a) == taint(select.b) || proved(select.condition, id, assumption));
    taint_of[v] = is_one ? std::max(decision->taint, taint(side)) : std::max({taint(select.condition), taint(select.a), taint(select.b)});
    if (carried.contains(select.a) || carried.contains(select.b)) carried.insert(v);
    const bool is_by_place = decision && decision->is_by_place;
    if (decision ? brought.contains(side) : brought.contains(select.a) || brought.contains(select.b)) brought.insert(v);
    if (!is_by_place && brought.contains(select.condition)) brought.insert(v);
    if (is_one && taint(side) == Taint::Clean && carried.contains(side)) taint_of[v] = Taint::Clean;
  }

  // Where padding decides between what a loop carries and something of the turn, the former stays.
  void keep_choice(const op::Select& select, OpId id, ValueId v) {
    if (taint(select.condition) != Taint::Padding || taint(v) != Taint::Padding || !may_keep) return;
    if (is_held(select.a) == is_held(select.b)) return may_stay(v, select.a, select.b, {id, {}, select.condition});
    const ValueId mine = is_held(select.a) ? select.a : select.b;
    stay(v, mine, may_keep({id, mine, select.condition}));
  }
  // What a loop carries is padding itself, and stays where a mask has it stay.
  void may_stay(ValueId v, ValueId a, ValueId b, Meeting meeting) {
    if (carried.contains(a) == carried.contains(b)) return;
    meeting.kept = carried.contains(a) ? a : b, meeting.is_padding = true;
    if (may_keep(meeting) == Keeping::Stays) join(v, meeting.kept);
  }
  void stay(ValueId v, ValueId mine, Keeping keeping) {
    if (keeping == Keeping::Stays) equate(v, mine);
    if (keeping == Keeping::Waits) join(v, mine), is_left(v, mine);
  }

  using Sides = std::array<Yielded, 2>;  // by what the condition is
  void run_branch(const op::If& branch, OpId id, const Op& op, RegionId at) {
    auto decision = decided(branch.condition, at);
    const bool is_by_place = decision && decision->is_by_place;
    const bool may_stay = may_keep && !is_by_place && taint(branch.condition) == Taint::Padding && !carried.empty();
    std::vector<Known> result(op.results.size());
    std::vector<Taint> taints(op.results.size(), decision ? decision->taint : taint(branch.condition));
    Sides sides;
    for (bool side : {true, false}) {
      const bool is_taken = !decision || decision->side == side;
      if (is_taken || may_stay) sides[side] = region(side ? branch.then_body : branch.else_body);
      for (size_t i = 0; is_taken && i < result.size(); ++i) {
        result[i] = joined(result[i], sides[side].numbers[i]);
        taints[i] = std::max(taints[i], sides[side].taints[i]);
        const ValueId v = sides[side].values[i];
        if (carried.contains(v)) carried.insert(op.results[i]);
        if (brought.contains(v) || (!is_by_place && brought.contains(branch.condition))) brought.insert(op.results[i]);
        if (decision && carried.contains(v) && sides[side].taints[i] == Taint::Clean) taints[i] = Taint::Clean;
      }
    }
    for (size_t i = 0; i < result.size(); ++i) known[op.results[i]] = result[i], taint_of[op.results[i]] = taints[i];
    if (may_stay) keep_choices(branch, id, op, sides);
  }
  void keep_choices(const op::If& branch, OpId id, const Op& op, const Sides& sides) {
    auto held = [&](size_t i) -> std::optional<bool> {  // on which side
      const bool first = is_held(sides[true].values[i]), second = is_held(sides[false].values[i]);
      return first != second ? std::optional(first) : std::nullopt;
    };
    std::optional<bool> all = op.results.empty() ? std::nullopt : held(0);
    for (size_t i = 0; i < op.results.size(); ++i)
      if (held(i) != all) all.reset();
    if (has_effect(kernel, op)) all.reset();
    for (size_t i = 0; i < op.results.size(); ++i) {
      const std::optional<bool> side = held(i);
      if (!side) {
        may_stay(op.results[i], sides[true].values[i], sides[false].values[i], {id, {}, branch.condition, false, true, i, {}});
        continue;
      }
      const ValueId mine = sides[*side].values[i];
      stay(op.results[i], mine, may_keep({id, mine, branch.condition, false, false, i, all}));
    }
  }
};

}  // namespace

namespace {

struct ScalarNumbers {
  const Kernel& kernel;
  const NumbersOf& given;
  NumbersOf found = {};

  Known of(ValueId v) {
    if (auto at = given.find(v); at != given.end()) return at->second;
    if (auto at = found.find(v); at != found.end()) return at->second;
    Known made = known([&](Belief belief) { return derive(v, belief); });
    return found.insert_or_assign(v, is_made_of_product(v) ? of_product(made) : made).first->second;
  }

  bool is_made_of_product(ValueId v) {
    const Op* op = kernel.definition(v);
    bool found_one = false;
    if (op && table(op->kind()) == OpTable::Scalar) each_operand(op->data, [&](ValueId x) { found_one = found_one || of(x).is_of_product; });
    return found_one;
  }

  Numbers derive(ValueId v, Belief belief) {
    const Type& type = kernel.type(v);
    auto element = [&](ValueId x) { return kernel.type(x).element; };
    auto number = [&](ValueId x) { return of(x).under(belief); };
    const Op* op = kernel.definition(v);
    if (!op) return kernel.value(v).region == kernel.body ? by_contract(kernel, v, belief) : anything(type.element);
    if (auto* o = op->get<op::Constant>()) return exactly(type.element, o->number);
    if (auto* o = op->get<op::Unary>()) return apply(o->fn, element(o->x), number(o->x), belief);
    if (auto* o = op->get<op::Binary>()) return apply(o->fn, element(o->a), number(o->a), number(o->b), belief);
    if (auto* o = op->get<op::Fma>())
      return apply(BinaryFn::Add, type.element, apply(BinaryFn::Mul, type.element, number(o->a), number(o->b), belief), number(o->c), belief);
    if (auto* o = op->get<op::Compare>()) return apply(o->fn, element(o->a), number(o->a), number(o->b), belief);
    if (auto* o = op->get<op::Convert>()) return apply_convert(element(o->x), type.element, o->mode, number(o->x), belief);
    if (auto* o = op->get<op::Select>()) return joined(number(o->a), number(o->b));
    if (op->is<op::ElementLoad>()) return data(type.element, belief);
    return anything(type.element);
  }
};

}  // namespace

Known scalar_numbers(const Kernel& kernel, ValueId v, const NumbersOf& known) { return ScalarNumbers{kernel, known}.of(v); }

MapResults run_on_numbers(prove::Prover& prover, Decisions& decisions, const Kernel& kernel, RegionId body, NumbersOf known,
                          std::map<ValueId, Taint> taints, std::set<ValueId> carried, std::set<ValueId> brought, const prove::Formula& assumption,
                          const MayKeep& may_keep) {
  Run run{prover, decisions, kernel, std::move(known), std::move(taints), std::move(carried), std::move(brought), assumption, may_keep};
  Run::Yielded yielded = run.region(body);
  std::vector<bool> is_kept, is_brought;
  for (size_t r = 0; r < yielded.values.size(); ++r) {
    is_kept.push_back(yielded.taints[r] == Taint::Clean && run.carried.contains(yielded.values[r]));
    // What is not made of what a loop carries, where the place tells, is new.
    is_brought.push_back(run.brought.contains(yielded.values[r]) || !run.carried.contains(yielded.values[r]));
  }
  return {std::move(yielded.numbers), std::move(yielded.taints), std::move(is_kept), std::move(is_brought), std::move(run.known), std::move(run.taint_of)};
}

}  // namespace tilec::passes
