// V050 to V055: what must happen once. Flights and tokens are used exactly once on every path; the turns of a ring are
// acquired and committed, waited for and released.
#include "ir/verify_parts.h"

namespace tilec::ir::verifier {

namespace {

// How often something happens on the way through a region. More than once is two: a loop repeats what it holds.
struct Occurrences {
  int most = 0;
  bool is_even = true;  // as often on either side of every `if`
};

template <class F>
Occurrences occurrences(const Kernel& kernel, RegionId region, F&& count) {
  Occurrences all;
  for (OpId id : kernel.region(region).ops) {
    const Op& op = kernel.op(id);
    all.most += count(op);
    if (const auto* branch = op.get<op::If>()) {
      Occurrences a = occurrences(kernel, branch->then_body, count), b;
      if (branch->else_body.valid()) b = occurrences(kernel, branch->else_body, count);
      all.is_even &= a.is_even && b.is_even && a.most == b.most;
      all.most += std::max(a.most, b.most);
      continue;
    }
    bool repeats = op.is<op::For>() || op.is<op::While>();
    each_region(op.data, [&](RegionId r) {
      Occurrences inner = occurrences(kernel, r, count);
      all.most += repeats ? 2 * inner.most : inner.most;
      all.is_even &= inner.is_even;
    });
  }
  return all;
}

int count_operand(const Op& op, ValueId v) {
  int count = 0;
  each_operand(op.data, [&](ValueId used) { count += used == v; });
  return count;
}

// Calls f for every region that can be reached from `region`, itself included.
template <class F>
void each_region_of(const Kernel& kernel, RegionId region, F&& f) {
  f(region);
  each_op(kernel, region, [&](OpId id) { each_region(kernel.op(id).data, f); });
}

void check_once(Check& check, ValueId v, RegionId region) {
  TypeKind kind = check.type(v).kind;
  if (kind != TypeKind::Flight && kind != TypeKind::Token) return;
  Occurrences uses = occurrences(check.kernel, region, [&](const Op& op) { return count_operand(op, v); });
  if (uses.most == 1 && uses.is_even) return;
  check.id = check.kernel.value(v).op;
  std::string_view what = uses.most == 0  ? "is never used"
                          : uses.most > 1 ? "is used more than once"
                                          : "is not used on every path";
  check.report(kind == TypeKind::Flight ? Code::V050 : Code::V051, kind == TypeKind::Flight ? "flight " : "token ", v,
               " ", what);
}

enum class RingStep : uint8_t { Acquire, Commit, Wait, Release };

// One operation on a ring, and the role that does it (none: outside roles).
struct RingUse {
  OpId op;
  RingStep step;
  ValueId ring, turn;
  RegionId role;
};

std::optional<RingUse> ring_use(OpId id, const Op& op, RegionId role) {
  if (const auto* o = op.get<op::Acquire>()) return RingUse{id, RingStep::Acquire, o->ring, o->turn, role};
  if (const auto* o = op.get<op::Commit>()) return RingUse{id, RingStep::Commit, o->ring, o->turn, role};
  if (const auto* o = op.get<op::Wait>()) return RingUse{id, RingStep::Wait, o->ring, o->turn, role};
  if (const auto* o = op.get<op::Release>()) return RingUse{id, RingStep::Release, o->ring, o->turn, role};
  return std::nullopt;
}

class Rings {
 public:
  explicit Rings(Check& check) : check_(check), kernel_(check.kernel) { collect(kernel_.body, {}); }

  void check_all() {
    for (const RingUse& use : uses_) check_turn(use);
    for (ValueId ring : rings_) check_ring(ring);
  }

 private:
  // Uses in program order, and rings.
  void collect(RegionId region, RegionId role) {
    for (OpId id : kernel_.region(region).ops) {
      const Op& op = kernel_.op(id);
      if (auto use = ring_use(id, op, role)) uses_.push_back(*use);
      if (op.is<op::RingAlloc>()) rings_.push_back(op.result());
      check_.id = id;
      bool is_nested = op.is<op::Roles>() && role.valid();
      check_.require(!is_nested, Code::V055, "roles stand inside a role");
      each_region(op.data, [&](RegionId r) { collect(r, op.is<op::Roles>() ? r : role); });
    }
  }

  std::vector<RegionId> roles_that(ValueId ring, RingStep step) const {
    std::vector<RegionId> roles;
    for (const RingUse& use : uses_)
      if (use.ring == ring && use.step == step && std::find(roles.begin(), roles.end(), use.role) == roles.end())
        roles.push_back(use.role);
    return roles;
  }

  void check_ring(ValueId ring) {
    check_.id = kernel_.value(ring).op;
    auto acquiring = roles_that(ring, RingStep::Acquire), committing = roles_that(ring, RingStep::Commit);
    auto waiting = roles_that(ring, RingStep::Wait), releasing = roles_that(ring, RingStep::Release);
    if (acquiring.empty() && committing.empty() && waiting.empty() && releasing.empty()) return;
    auto are_same = [](const std::vector<RegionId>& a, const std::vector<RegionId>& b) {
      return a.size() == b.size() && std::is_permutation(a.begin(), a.end(), b.begin());
    };
    check_.require(are_same(acquiring, committing), Code::V052, "the role that acquires turns of ", ring,
                   " is not the one that commits them");
    check_.require(are_same(waiting, releasing), Code::V053, "a role that waits for ", ring,
                   " does not release it, or the other way round");
    check_.require(acquiring.size() <= 1, Code::V054, acquiring.size(), " roles produce into ", ring);
    int64_t consumers = kernel_.op(check_.id).as<op::RingAlloc>().consumers;
    check_.require(int64_t(waiting.size()) == consumers, Code::V054, waiting.size(), " roles wait for ", ring,
                   ", which has ", consumers, " consumers");
  }

  // A turn is taken once, and passed on after it was taken.
  void check_turn(const RingUse& use) {
    check_.id = use.op;
    bool is_producer = use.step == RingStep::Acquire || use.step == RingStep::Commit;
    Code code = is_producer ? Code::V052 : Code::V053;
    auto is_same = [&](const RingUse& other) {
      return other.ring == use.ring && other.turn == use.turn && other.role == use.role;
    };
    // A turn that a loop makes anew is counted in one round of the loop.
    RegionId home = defining_region(use.turn);
    Occurrences often =
        occurrences(kernel_, use.role.valid() && !contains(use.role, home) ? use.role : home, [&](const Op& op) {
          auto other = ring_use({}, op, use.role);
          return int(other && other->step == use.step && is_same(*other));
        });
    check_.require(often.most <= 1, code, "turn ", use.turn, " of ", use.ring, " is handled more than once");
    if (use.step != RingStep::Commit && use.step != RingStep::Release) return;
    RingStep first = is_producer ? RingStep::Acquire : RingStep::Wait;
    const RingUse* taken = nullptr;
    for (const RingUse& other : uses_)
      if (other.step == first && is_same(other)) taken = &other;
    check_.require(!taken || taken < &use, code, "turn ", use.turn, " of ", use.ring,
                   " is passed on before it is taken");
  }

  bool contains(RegionId outer, RegionId inner) const {
    bool found = false;
    each_region_of(kernel_, outer, [&](RegionId r) { found |= r == inner; });
    return found;
  }

  RegionId defining_region(ValueId v) const {
    if (kernel_.value(v).region.valid()) return kernel_.value(v).region;
    RegionId found = kernel_.body;
    each_region_of(kernel_, kernel_.body, [&](RegionId r) {
      const std::vector<OpId>& ops = kernel_.region(r).ops;
      if (std::find(ops.begin(), ops.end(), kernel_.value(v).op) != ops.end()) found = r;
    });
    return found;
  }

  Check& check_;
  const Kernel& kernel_;
  std::vector<RingUse> uses_;
  std::vector<ValueId> rings_;
};

}  // namespace

void check_linear(Check& check) {
  if (check.form != Form::Staged && check.form != Form::Thread) return;
  const Kernel& kernel = check.kernel;
  each_region_of(kernel, kernel.body, [&](RegionId r) {
    for (ValueId v : kernel.region(r).args) check_once(check, v, r);
    for (OpId op : kernel.region(r).ops)
      for (ValueId v : kernel.op(op).results) check_once(check, v, r);
  });
}

void check_rings(Check& check) {
  if (check.form == Form::Staged) Rings(check).check_all();
}

}  // namespace tilec::ir::verifier
