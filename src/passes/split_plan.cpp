#include "passes/split_plan.h"

#include <algorithm>
#include <unordered_set>

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int kMostSteps = 256;   // through conditions, for one claim: some may be met on many ways
constexpr int64_t kFewTrips = 4;  // of the loop, before a comparison turns: the main part lies behind

// The operations of a region when some conditions are decided. Constants and yields are none.
int64_t operations(const Kernel& kernel, RegionId region, const Decided& decided) {
  int64_t count = 0;
  for (OpId id : kernel.region(region).ops) {
    const Op& op = kernel.op(id);
    if (op.is<op::Constant>() || op.is<op::Yield>()) continue;
    const auto* branch = op.get<op::If>();
    auto known = branch ? decided.find(branch->condition.index) : decided.end();
    if (known != decided.end()) {
      RegionId taken = known->second ? branch->then_body : branch->else_body;
      if (taken.valid()) count += operations(kernel, taken, decided);
      continue;
    }
    ++count;
    each_region(op.data, [&](RegionId r) { count += operations(kernel, r, decided); });
  }
  return count;
}

// That one condition says one thing follows from premises.
struct Claim {
  std::vector<Premise> premises;
  bool says = true;
  bool is_exact = true;  // and it says the other where one of them is false
  int64_t turns() const { return std::ranges::count_if(premises, [](const Premise& p) { return p.turn.has_value(); }); }
};

const Premise* find(std::span<const Premise> premises, ValueId condition) {
  auto found = std::ranges::find(premises, condition, &Premise::condition);
  return found == premises.end() ? nullptr : &*found;
}

class Planner {
 public:
  Planner(Kernel& kernel, OpId loop) : kernel_(kernel), loop_(kernel.op(loop).as<op::For>()), is_inside_(kernel.values.size()) {
    for (OpId id : kernel_.region(loop_.body).ops) every_iteration_.insert(id.index);
    mark_inside(loop_.body);
  }

  std::optional<SplitPlan> best() {
    if (!may_be_split()) return std::nullopt;
    find_claims();
    std::optional<SplitPlan> best;
    auto consider = [&](const std::function<bool(const Claim&)>& is_chosen) {
      SplitPlan plan = plan_for(is_chosen);
      if (pays(plan) && (!best || plan.guarded - plan.copied > best->guarded - best->copied)) best = std::move(plan);
    };
    auto all_are = [](const Claim& claim, bool is_late) {
      return std::ranges::all_of(claim.premises, [&](const Premise& p) { return !p.turn || p.is_late == is_late; });
    };
    if (claims_.empty()) return std::nullopt;
    consider([](const Claim&) { return true; });
    consider([&](const Claim& claim) { return all_are(claim, false); });
    consider([&](const Claim& claim) { return all_are(claim, true); });
    for (const auto& [condition, claim] : claims_) consider([&, one = &claim](const Claim& c) { return &c == one; });
    return best;
  }

 private:
  Kernel& kernel_;
  const op::For loop_;
  std::vector<bool> is_inside_;                   // by value: the loop makes it
  std::unordered_set<uint32_t> every_iteration_;  // operations of the body itself
  std::vector<std::pair<ValueId, Claim>> claims_;  // by condition, in program order
  bool holds_memory_ = false, has_flights_ = false;
  bool follows_truth_ = true;  // the main part lies where comparisons of unknown numbers are true
  int steps_ = 0;              // of the claim that is sought

  void mark_inside(RegionId region) {
    for (ValueId v : kernel_.region(region).args) is_inside_[v.index] = true;
    for (OpId id : kernel_.region(region).ops) {
      const op::Alloc* alloc = kernel_.op(id).get<op::Alloc>();
      holds_memory_ |= alloc && alloc->offset == kUnplaced;  // parts of a loop share memory that has its place
      has_flights_ |= kernel_.op(id).is<op::GroupWait>();
      for (ValueId v : kernel_.op(id).results) is_inside_[v.index] = true;
      each_region(kernel_.op(id).data, [&](RegionId r) { mark_inside(r); });
    }
  }

  // Steps other than 1 are counted from a low end that is known not to be negative, so that nothing leaves 64 bits.
  bool may_be_split() const {
    auto low = kernel_.constant(loop_.low), high = kernel_.constant(loop_.high), step = kernel_.constant(loop_.step);
    if (holds_memory_ || loop_.loop == LoopKind::Unroll || !step || step->i < 1) return false;
    if (step->i > 1 && (!low || low->i < 0)) return false;
    return !low || !high || (high->i > low->i && (uint64_t(high->i) - uint64_t(low->i) - 1) / uint64_t(step->i) + 1 >= kFewestTrips);
  }

  bool stays(ValueId v) const { return !is_inside_[v.index] && !kernel_.type(v).varying; }

  void find_claims() {
    std::unordered_set<uint32_t> seen;
    each_op(kernel_, loop_.body, [&](OpId id) {
      const auto* branch = kernel_.op(id).get<op::If>();
      if (!branch || kernel_.type(branch->condition).varying || !seen.insert(branch->condition.index).second) return;
      if (auto claim = best_claim(branch->condition)) claims_.push_back({branch->condition, std::move(*claim)});
    });
  }

  // One that tells the other parts as well what the condition says, if there is one.
  std::optional<Claim> best_claim(ValueId condition) {
    std::optional<Claim> best;
    for (bool follows_truth : {true, false})
      for (bool says : {true, false}) {
        follows_truth_ = follows_truth;
        steps_ = 0;
        Claim claim{.says = says};
        bool is_better = assume(condition, says, claim) && claim.turns() > 0 && (!best || (claim.is_exact && !best->is_exact));
        if (is_better) best = std::move(claim);
      }
    return best;
  }

  bool add(Claim& claim, Premise premise) const {
    const Premise* known = find(claim.premises, premise.condition);
    if (known) return known->says == premise.says;
    claim.premises.push_back(std::move(premise));
    return true;
  }

  // Adds what makes `v` say `says` in the main part; false if nothing does.
  bool assume(ValueId v, bool says, Claim& claim) {
    if (++steps_ > kMostSteps) return false;
    if (auto constant = kernel_.constant(v)) return (constant->i != 0) == says;
    if (stays(v)) return add(claim, {v, says});
    if (!kernel_.value(v).op.valid() || !every_iteration_.contains(kernel_.value(v).op.index)) return false;
    if (const auto* negation = kernel_.defined_by<op::Unary>(v)) return negation->fn == UnaryFn::Not && assume(negation->x, !says, claim);
    if (const auto* both = kernel_.defined_by<op::Binary>(v)) return assume_parts(*both, says, claim);
    auto turn = find_turn(kernel_, v, kernel_.region(loop_.body).args[0], [&](ValueId x) { return stays(x); });
    if (!turn) return false;
    bool late = is_late(*turn), is = turn->says_before() != late;
    return add(claim, {v, is, std::move(turn), late}) && is == says;
  }

  bool assume_parts(const op::Binary& binary, bool says, Claim& claim) {
    if (binary.fn != BinaryFn::And && binary.fn != BinaryFn::Or) return false;
    if ((binary.fn == BinaryFn::And) == says) return assume(binary.a, says, claim) && assume(binary.b, says, claim);
    claim.is_exact = false;
    for (ValueId part : {binary.a, binary.b}) {
      Claim attempt = claim;
      if (!assume(part, says, attempt) || attempt.turns() == claim.turns()) continue;
      claim = std::move(attempt);
      return true;
    }
    return false;
  }

  bool is_late(const Turning& turn) {
    auto low = kernel_.constant(loop_.low), high = kernel_.constant(loop_.high);
    for (ValueId v : sources(turn))
      if (!low || !kernel_.constant(v)) return follows_truth_ && !turn.says_before();
    Builder scratch(kernel_, kernel_.new_region());
    auto point = kernel_.constant(turning_point(scratch, turn));
    INVARIANT(point, "what is computed from constants is one");
    if (point->i <= low->i) return true;
    uint64_t before = uint64_t(point->i) - uint64_t(low->i);
    if (high) return point->i < high->i && before < uint64_t(high->i) - uint64_t(point->i);
    return before <= uint64_t(kFewTrips) * uint64_t(kernel_.constant(loop_.step)->i);
  }

  SplitPlan plan_for(const std::function<bool(const Claim&)>& is_chosen) const {
    SplitPlan plan{.has_flights = has_flights_};
    Claim all;
    std::vector<std::pair<ValueId, const Claim*>> decided;
    for (const auto& [condition, claim] : claims_) {
      Claim joined = all;
      bool agrees = is_chosen(claim) && std::ranges::all_of(claim.premises, [&](const Premise& p) { return add(joined, p); });
      if (!agrees) continue;
      all = std::move(joined);
      decided.push_back({condition, &claim});
    }
    plan.premises = std::move(all.premises);
    for (const Premise& p : plan.premises) plan.main[p.condition.index] = p.says, (p.is_late ? plan.has_before : plan.has_after) |= p.turn.has_value();
    for (auto [condition, claim] : decided) {
      plan.main[condition.index] = claim->says;
      if (claim->is_exact && claim->premises.size() == plan.premises.size()) plan.before[condition.index] = plan.after[condition.index] = !claim->says;
    }
    know_single_turns(plan);
    count(plan);
    return plan;
  }

  // In the parts beside the main one a comparison is known if it alone ends that side.
  static void know_single_turns(SplitPlan& plan) {
    if (std::ranges::any_of(plan.premises, [](const Premise& p) { return !p.turn; })) return;
    for (bool is_late : {true, false}) {
      if (std::ranges::count(plan.premises, is_late, &Premise::is_late) != 1) continue;
      const Premise& only = *std::ranges::find(plan.premises, is_late, &Premise::is_late);
      (is_late ? plan.before : plan.after)[only.condition.index] = !only.says;
    }
  }

  void count(SplitPlan& plan) const {
    find_tests(plan, loop_.body);
    plan.copied = operations(kernel_, loop_.body, plan.main) - operations(kernel_, loop_.body, {});
    if (plan.has_before) plan.copied += operations(kernel_, loop_.body, plan.before);
    if (plan.has_after) plan.copied += operations(kernel_, loop_.body, plan.after);
  }

  void find_tests(SplitPlan& plan, RegionId region) const {
    for (OpId id : kernel_.region(region).ops) {
      const auto* branch = kernel_.op(id).get<op::If>();
      bool is_decided = branch && plan.main.contains(branch->condition.index);
      if (is_decided) plan.tests.push_back(id);
      each_region(kernel_.op(id).data, [&](RegionId r) {
        if (is_decided) plan.guarded += operations(kernel_, r, {});
        else find_tests(plan, r);
      });
    }
  }
};

}  // namespace

bool pays(const SplitPlan& plan) {
  if (plan.has_flights && !plan.tests.empty() && plan.copied <= kMostCopiedOfFlights && plan.copied <= plan.guarded * kCopiedPerGuardedOfFlights) return true;
  int64_t weight = plan.copied <= kFewCopied ? 1 : kGuardedPerCopied;
  return !plan.tests.empty() && plan.copied <= kMostCopied && plan.copied * weight <= plan.guarded;
}

std::optional<SplitPlan> plan_split(Kernel& kernel, OpId loop) { return Planner(kernel, loop).best(); }

}  // namespace tilec::passes
