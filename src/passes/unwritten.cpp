#include "passes/unwritten.h"

namespace tilec::passes {

using namespace ir;
using prove::Effort;
using prove::Facts;
using prove::Formula;
using prove::Linear;
using prove::Twin;

namespace {

constexpr size_t kMostWrites = 32;

enum class Block : uint8_t { Any, First, Last };

struct Question {
  prove::Prover& prover;
  const Kernel& kernel;
  const Access& read;
  std::span<const Access> writes;

  Facts facts_of(Block block) {
    Facts facts = prover.facts(read.region);
    if (!read.launch.valid() || block == Block::Any) return facts;
    for (ValueId index : kernel.region(read.launch).args) {
      Linear x = prover.value(index);
      facts.formulas.push_back(block == Block::First ? equal(x, 0) : equal(x, last_of(index)));
    }
    return facts;
  }
  Linear last_of(ValueId index) {
    const auto& args = kernel.region(read.launch).args;
    size_t at = std::find(args.begin(), args.end(), index) - args.begin();
    const auto& extents = kernel.op(prover.holder(read.launch)).as<op::Launch>().extents;
    return prover.value(extents[at]) - 1;
  }

  // The first or the last element of the read that the buffer has.
  std::vector<Linear> corner(bool is_last, Facts& facts) {
    std::vector<Linear> extents = prover.extents(read.box.base), result;
    for (size_t d = 0; d < extents.size(); ++d) {
      Linear low = prover.value(read.box.offsets[d]);
      facts.formulas.push_back(at_least(low, 0));
      facts.formulas.push_back(less(low, extents[d]));
      result.push_back(is_last ? prover.terms().least(low + read.box.sizes[d] - 1, extents[d] - 1) : low);
    }
    return result;
  }

  bool is_outside(const std::vector<Linear>& element, const Access& write, const Facts& facts) {
    // Other blocks of this launch are no more certain to have written than the block that reads.
    Twin twin = write.launch.valid() ? prover.new_twin(write.launch) : Twin{};
    std::vector<Formula> ways;
    for (size_t d = 0; d < element.size(); ++d) {
      Linear low = prover.value(write.box.offsets[d], twin);
      ways.push_back(less(element[d], low));
      ways.push_back(at_least(element[d], low + write.box.sizes[d]));
    }
    return prover.proves(facts.with(prover.facts(write.region, twin)), any_of(std::move(ways)), Effort::Quick);
  }

  bool holds(Block block, bool is_last) {
    Facts facts = facts_of(block);
    std::vector<Linear> element = corner(is_last, facts);
    for (const Access& write : writes)
      if (!is_outside(element, write, facts)) return false;
    return prover.prove(facts, prove::truth(false)).is_refuted();  // the read does come by
  }
};

}  // namespace

bool misses_an_element(prove::Prover& prover, const Kernel& kernel, const Access& read, std::span<const Access> writes) {
  if (writes.size() > kMostWrites) return false;
  Question question{prover, kernel, read, writes};
  for (Block block : {Block::Any, Block::First, Block::Last})
    for (bool is_last : {false, true})
      if (question.holds(block, is_last)) return true;
  return false;
}

}  // namespace tilec::passes
