// Conditions of the host's part, as the kernel's contract can have them.
#pragma once
#include <functional>
#include <set>

#include "ir/kernel.h"

namespace tilec::passes {

// What a call is told by is believed step by step: an operation of the body may lean on the contracts and extents of the steps before
// it, which are made of numbers that are known to fit, and on no others. A contract that leaned on itself would prove that its own sum
// does not leave 64 bits, and the sum that left them would keep the contract.
struct HostStep {
  enum class Kind : uint8_t { Operation, Requirement, Extent };
  Kind kind = Kind::Operation;
  ir::OpId op;             // Operation
  size_t requirement = 0;  // Requirement: its number; Operation: of the one that it is computed for, kNoRequirement for none
  ir::ValueId extent;      // Extent: of a parameter
};
constexpr size_t kNoRequirement = SIZE_MAX;
// Every operation of the body once, behind those that it needs. Contracts without operations that `is_risky` come first.
std::vector<HostStep> host_steps(const ir::Kernel& kernel, const std::function<bool(ir::OpId)>& is_risky);

// The regions that the host runs: the body, and those inside it that have no launch around them.
std::set<ir::RegionId> regions_of_host(const ir::Kernel& kernel);

// `condition`, computed in `region` of the host's part, as a value of the kernel's body: whether it held whenever control came by.
// Branches and loops around it hand it on, as one value more.
ir::ValueId in_body(ir::Kernel& kernel, ir::RegionId region, ir::ValueId condition);

}  // namespace tilec::passes
