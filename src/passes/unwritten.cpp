#include "passes/unwritten.h"

#include <algorithm>

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

// A guess at when a write reaches an element: its loops and its launch are solved for the turn and the block that would do it,
// the index with the greatest stride first. What hangs on memory is taken to be as the write needs it.
struct Reach {
  prove::Prover& prover;
  const Kernel& kernel;
  const Access& write;
  std::vector<ValueId> indices = {};
  Twin any = {}, found = {};

  // Of the launch and of every loop around the write, outermost first.
  void collect_indices(RegionId region) {
    if (!region.valid() || !prover.holder(region).valid()) return;
    if (region != write.launch) collect_indices(prover.around(region));
    const Op& op = kernel.op(prover.holder(region));
    const auto& args = kernel.region(region).args;
    auto* map = op.get<op::Map>();
    size_t count = op.is<op::Launch>() || op.is<op::Simt>() ? args.size() : op.is<op::For>() ? 1 : map ? map->shape.size() : 0;
    indices.insert(indices.end(), args.begin(), args.begin() + ptrdiff_t(count));
  }
  Linear first_of(ValueId index) {
    auto* loop = kernel.op(prover.holder(kernel.value(index).region)).get<op::For>();
    return loop ? prover.value(loop->low, found) : Linear(0);
  }
  // What is left of the element along a dimension is what other indices have to give.
  void solve(ValueId index, std::span<Linear> left) {
    prove::AtomId atom = prover.value(index, any).parts[0].atom;
    Linear at = first_of(index);
    for (size_t d = 0; d < left.size(); ++d) {
      int64_t factor = prover.value(write.box.offsets[d], any).factor_of(atom);
      if (factor == 0) continue;
      at = factor > 0 ? prover.terms().quotient(left[d], factor) : prover.terms().quotient(-left[d], -factor);
      left[d] = left[d] - at * factor;
      break;
    }
    prover.bind(index, found, at);
  }

  Formula condition(const std::vector<Linear>& element) {
    if (!write.launch.valid()) return prove::truth(true);
    any = prover.new_twin(write.launch), found = prover.new_twin(write.launch);
    collect_indices(write.region);
    std::vector<Linear> left = element;
    for (size_t d = 0; d < element.size(); ++d) left[d] = left[d] - prover.value(write.box.offsets[d], any).constant;
    auto stride = [&](ValueId index) {
      int64_t greatest = 0;
      prove::AtomId atom = prover.value(index, any).parts[0].atom;
      for (ValueId offset : write.box.offsets) greatest = std::max(greatest, std::abs(prover.value(offset, any).factor_of(atom)));
      return greatest;
    };
    std::stable_sort(indices.begin(), indices.end(), [&](ValueId a, ValueId b) { return stride(a) > stride(b); });
    std::vector<Formula> needed;
    for (ValueId index : indices) {
      solve(index, left);
      needed.push_back(at_least(prover.value(index, found), first_of(index)));
    }
    for (const Formula& fact : prover.facts(write.region, found).formulas)
      if (prover.is_free(fact)) needed.push_back(fact);
    for (size_t d = 0; d < element.size(); ++d) {
      Linear low = prover.value(write.box.offsets[d], found);
      needed.push_back(at_least(element[d], low));
      needed.push_back(less(element[d], low + write.box.sizes[d]));
    }
    return all_of(std::move(needed));
  }
};

struct Question {
  prove::Prover& prover;
  const Kernel& kernel;
  const Access& read;
  std::span<const Access> writes;
  std::vector<prove::AtomId> of_element = {};  // variables that are no one's but the example's

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
    Facts both = facts.with(prover.facts(write.region, twin));
    if (prover.proves(both, any_of(std::move(ways)), Effort::Quick)) return true;
    return prover.prove(both, prove::truth(false), Effort::Quick).is_proved();  // no such write comes by
  }

  // "for N = 1, i = 0 nothing has written element [0, 1]", where no write reaches the element and the read does come by.
  std::optional<std::string> missed(const std::vector<Linear>& element, const Facts& facts) {
    for (const Access& write : writes)
      if (!is_outside(element, write, facts)) return std::nullopt;
    prove::Answer answer = prover.prove(facts, prove::truth(false), Effort::Quick);
    if (!answer.is_refuted()) return std::nullopt;
    answer.model.add(answer.others);
    std::string indices;
    for (const Linear& index : element) {
      auto number = prover.evaluate(index, answer.model);
      indices += (indices.empty() ? "" : ", ") + (number ? std::to_string(*number) : "...");
    }
    for (prove::AtomId atom : of_element)
      if (answer.model.find(atom)) answer.model.clear(atom);
    return example_text(prover, answer.model) + "nothing has written element [" + indices + "]";
  }
  std::optional<std::string> missed_corner(Block block, bool is_last) {
    Facts facts = facts_of(block);
    std::vector<Linear> element = corner(is_last, facts);
    return missed(element, facts);
  }

  // Some element of the read, whatever block or turn reads it.
  std::vector<Linear> any_element(Facts& facts) {
    std::vector<Linear> extents = prover.extents(read.box.base), result;
    for (size_t d = 0; d < extents.size(); ++d) {
      Linear low = prover.value(read.box.offsets[d]);
      Linear at = low;
      if (read.box.sizes[d] > 1) at = of_element.emplace_back(prover.terms().variable("element", {0, prove::kLargestExtent}, true));
      for (const Formula& bound : {at_least(at, low), less(at, low + read.box.sizes[d]), at_least(at, 0), less(at, extents[d])})
        if (!bound.is_true()) facts.formulas.push_back(bound);
      result.push_back(at);
    }
    return result;
  }
  // The values that an example has for what the facts speak of, and for what is the same for all blocks.
  Facts fixed(const Facts& facts, std::span<const Formula> ways, const prove::Model& model) {
    Facts result = facts;
    std::vector<bool> seen;
    std::vector<prove::AtomId> atoms, others;
    for (const Formula& fact : facts.formulas) prover.terms().each_atom(fact, seen, atoms);
    for (const Formula& way : ways) prover.terms().each_atom(way, seen, others);
    for (prove::AtomId atom : others) {
      auto is_inside = [&](const Access& write) { return write.launch.valid() && prover.depends_on(Linear(atom), write.launch); };
      if (std::none_of(writes.begin(), writes.end(), is_inside)) atoms.push_back(atom);
    }
    for (prove::AtomId atom : atoms)
      if (const int64_t* value = model.find(atom)) {
        bool is_flag = prover.terms()[atom].kind == prove::AtomKind::Flag;
        result.formulas.push_back(is_flag ? flag(atom, *value == 0) : equal(Linear(atom), *value));
      }
    return result;
  }
  // A run in which no write seems to reach the element; then it is looked at for that run alone.
  std::optional<std::string> missed_example() {
    Facts facts = prover.facts(read.region);
    std::vector<Linear> element = any_element(facts);
    std::vector<Formula> ways;
    for (const Access& write : writes) ways.push_back(Reach{prover, kernel, write}.condition(element));
    prove::Answer answer = prover.prove(facts, any_of(ways), Effort::Glance);
    if (!answer.is_refuted()) return std::nullopt;
    answer.model.add(answer.others);
    return missed(element, fixed(facts, ways, answer.model));
  }
};

}  // namespace

std::optional<std::string> missed_element(prove::Prover& prover, const Kernel& kernel, const Access& read, std::span<const Access> writes) {
  if (writes.size() > kMostWrites) return std::nullopt;
  Question question{prover, kernel, read, writes};
  for (Block block : {Block::Any, Block::First, Block::Last})
    for (bool is_last : {false, true})
      if (auto missed = question.missed_corner(block, is_last)) return missed;
  return question.missed_example();
}

}  // namespace tilec::passes
