#include "passes/coverage.h"

namespace tilec::passes {

using namespace ir;
using prove::Linear;

namespace {

struct Ends {
  std::vector<int64_t> low, high;  // half-open
};

std::optional<Ends> constant_ends(const Area& area) {
  Ends ends;
  for (size_t d = 0; d < area.low.size(); ++d) {
    if (!area.low[d].is_constant()) return std::nullopt;
    ends.low.push_back(area.low[d].constant);
    ends.high.push_back(area.low[d].constant + area.size[d]);
  }
  return ends;
}

// Cuts what the first box covers out of `needed`; the pieces left beside it are for the others.
bool is_covered(Ends needed, std::span<const Ends> boxes) {
  for (size_t d = 0; d < needed.low.size(); ++d)
    if (needed.low[d] >= needed.high[d]) return true;
  if (boxes.empty()) return false;
  const Ends& box = boxes.front();
  auto others = boxes.subspan(1);
  for (size_t d = 0; d < needed.low.size(); ++d)
    if (box.high[d] <= needed.low[d] || needed.high[d] <= box.low[d]) return is_covered(std::move(needed), others);
  for (size_t d = 0; d < needed.low.size(); ++d) {
    Ends before = needed, behind = needed;
    before.high[d] = std::min(needed.high[d], box.low[d]);
    behind.low[d] = std::max(needed.low[d], box.high[d]);
    if (!is_covered(std::move(before), others) || !is_covered(std::move(behind), others)) return false;
    needed.low[d] = std::max(needed.low[d], box.low[d]);
    needed.high[d] = std::min(needed.high[d], box.high[d]);
  }
  return true;
}

}  // namespace

Area whole_area(const Type& buffer) { return {std::vector<Linear>(buffer.shape.size(), Linear(0)), buffer.shape}; }

Area in_buffer(prove::Prover& prover, const Kernel& kernel, ValueId& buffer, Area area) {
  while (auto* view = kernel.defined_by<op::Subview>(buffer)) {
    Area outer;
    for (ValueId offset : view->offsets) outer.low.push_back(prover.value(offset)), outer.size.push_back(1);
    for (size_t k = 0; k < view->axes.size(); ++k) {
      outer.low[view->axes[k]] = outer.low[view->axes[k]] + area.low[k];
      outer.size[view->axes[k]] = area.size[k];
    }
    area = std::move(outer);
    buffer = view->buffer;
  }
  return area;
}

bool covers(prove::Prover& prover, const prove::Facts& facts, std::span<const int64_t> extents, std::span<const Area> areas,
            const Area& needed) {
  std::vector<Ends> boxes;
  for (const Area& area : areas)
    if (auto ends = constant_ends(area)) boxes.push_back(std::move(*ends));
  Ends ends;
  for (size_t d = 0; d < needed.low.size(); ++d) {
    prove::Interval range = prover.terms().range(needed.low[d] + needed.size[d]);
    ends.low.push_back(std::max<int64_t>(prover.terms().range(needed.low[d]).low, 0));
    ends.high.push_back(std::min(range.high, extents[d]));
  }
  if (is_covered(ends, boxes)) return true;
  return std::any_of(areas.begin(), areas.end(), [&](const Area& area) {
    std::vector<prove::Formula> inside;
    for (size_t d = 0; d < needed.low.size(); ++d) {
      inside.push_back(at_least(needed.low[d], area.low[d]));
      inside.push_back(at_least(area.low[d] + area.size[d], needed.low[d] + needed.size[d]));
    }
    return prover.proves(facts, all_of(std::move(inside)), prove::Effort::Quick);
  });
}

std::optional<Area> over_turns(const Area& area, const Turns& turns) {
  if (turns.index.parts.size() != 1) return area;  // a constant
  prove::AtomId atom = turns.index.parts[0].atom;
  Area result = area;
  bool is_used = false;
  for (size_t d = 0; d < area.low.size(); ++d) {
    int64_t factor = area.low[d].factor_of(atom);
    if (factor == 0) continue;
    // Along a diagonal or in strides that leave gaps: no box.
    int64_t stride = std::abs(factor);
    if (is_used || stride * turns.step > area.size[d]) return std::nullopt;
    is_used = true;
    result.low[d] = substitute(area.low[d], atom, factor < 0 ? turns.last : turns.first);
    result.size[d] = stride * (turns.last - turns.first) + area.size[d];
  }
  return result;
}

}  // namespace tilec::passes
