// What is read once: each element of a tensor by one lane of one block. Caches need not keep it.
#include <set>

#include "ir/overlap.h"
#include "lower/lowering.h"

namespace tilec::lower {

namespace {

// All values that `roots` are computed from, themselves included.
std::set<ValueId> sources_of(const ir::Kernel& kernel, std::span<const ValueId> roots) {
  std::set<ValueId> found;
  std::vector<ValueId> work(roots.begin(), roots.end());
  while (!work.empty()) {
    ValueId v = work.back();
    work.pop_back();
    if (!found.insert(v).second) continue;
    if (const ir::Op* op = kernel.definition(v)) ir::each_operand(op->data, [&](ValueId used) { work.push_back(used); });
  }
  return found;
}

bool touches(const ir::Op& op, ValueId buffer) {
  if (op.is<ir::op::Extent>() || op.is<ir::op::Stride>() || op.is<ir::op::Present>()) return false;
  bool found = false;
  ir::each_operand(op.data, [&](ValueId v) { found |= v == buffer; });
  return found;
}

}  // namespace

// No other operation reads it, and every block and every round of the loops around reads elsewhere. That is not proved but taken
// from which indices its place depends on: time hangs on it, not what is read.
bool Lowering::is_read_once(const ir::Op& op, ValueId buffer, std::span<const ValueId> offsets) const {
  if (!machine_.has(Cap::StreamHints) || !is_never_written(source_, buffer)) return false;
  const std::set<ValueId> known = sources_of(source_, offsets);
  int64_t touching = 0;
  bool differs = true;
  each_op(source_, source_.body, [&](OpId id) {
    const ir::Op& other = source_.op(id);
    touching += touches(other, buffer);
    ir::each_region(other.data, [&](RegionId region) {
      bool is_around = false;
      each_op(source_, region, [&](OpId inner) { is_around |= &source_.op(inner) == &op; });
      const std::vector<ValueId>& args = source_.region(region).args;
      if (!is_around) return;
      if (const ir::op::Launch* launch = other.get<ir::op::Launch>()) {
        for (size_t i = 0; i < args.size(); ++i) {
          auto extent = source_.constant(launch->extents[i]);
          differs &= (extent && extent->i == 1) || known.contains(args[i]);
        }
      } else if (other.is<ir::op::For>()) {
        differs &= known.contains(args[0]);
      } else if (other.is<ir::op::While>()) {
        differs = false;
      }
    });
  });
  return touching == 1 && differs;
}

}  // namespace tilec::lower
