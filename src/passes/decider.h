// What is proved of conditions and loops within the body of a map.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "ir/kernel.h"
#include "prove/prover.h"

namespace tilec::passes {

// What conditions were found to be under an assumption, which is asked again in every round of a loop and for every set of padded inputs.
using Decisions = std::map<std::pair<ir::ValueId, std::string>, std::optional<bool>>;

class Decider {
 public:
  Decider(prove::Prover& prover, Decisions& decisions, const ir::Kernel& kernel, const prove::Formula& assumption);
  bool has_assumption() const { return !assumption_.is_true(); }
  // None where it is not known.
  std::optional<bool> under_assumption(ir::ValueId condition, ir::RegionId region) const;
  std::optional<bool> always(ir::ValueId condition, ir::RegionId region) const { return proved(condition, region, prove::truth(true)); }
  bool has_turn(const ir::op::For& loop, ir::RegionId at) const;  // `at`: where it stands

 private:
  std::optional<bool> proved(ir::ValueId condition, ir::RegionId region, const prove::Formula& given) const;
  std::optional<bool> proved(const prove::Facts& facts, const prove::Formula& f) const;

  prove::Prover& prover_;
  Decisions& decisions_;
  const ir::Kernel& kernel_;
  const prove::Formula& assumption_;
  std::string key_;  // of it, in the decisions
};

}  // namespace tilec::passes
