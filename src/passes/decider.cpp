#include "passes/decider.h"

namespace tilec::passes {

using namespace ir;

Decider::Decider(prove::Prover& prover, Decisions& decisions, const Kernel& kernel, const prove::Formula& assumption)
    : prover_(prover), decisions_(decisions), kernel_(kernel), assumption_(assumption) {
  append_key(key_, assumption);
}

std::optional<bool> Decider::under_assumption(ValueId condition, RegionId region) const {
  return proved(condition, region, assumption_);
}

std::optional<bool> Decider::proved(ValueId condition, RegionId region, const prove::Formula& given) const {
  auto [at, is_new] = decisions_.try_emplace({condition, given.is_true() ? std::string() : key_});
  if (!is_new) return at->second;
  const prove::Facts facts = prover_.facts(region);
  const prove::Formula f = prover_.condition(condition);
  at->second = proved(facts.with(given), f);
  if (at->second) return at->second;
  // In front of a tile and behind it by itself.
  std::optional<bool> all;
  for (const prove::Formula& one : prove::cases_of(given)) {
    const std::optional<bool> side = proved(facts.with(one), f);
    if (!side || (all && all != side)) return std::nullopt;
    all = side;
  }
  return at->second = all;
}

std::optional<bool> Decider::proved(const prove::Facts& facts, const prove::Formula& f) const {
  if (prover_.proves(facts, f, prove::Effort::Quick)) return true;
  return prover_.proves(facts, negation(f), prove::Effort::Quick) ? std::optional(false) : std::nullopt;
}

bool Decider::has_turn(const op::For& loop, RegionId at) const {
  auto [found, is_new] = decisions_.try_emplace({kernel_.region(loop.body).args[0], "turn"});
  const prove::Linear turns = prover_.value(loop.high) - prover_.value(loop.low);
  if (is_new) found->second = prover_.proves(prover_.facts(at), prove::at_least(turns, prove::Linear(1)), prove::Effort::Quick);
  return *found->second;
}

}  // namespace tilec::passes
