#include "check/pressure.h"

#include <set>
#include <unordered_map>

#include "diag/diag.h"

namespace tilec::check {

using namespace ir;

namespace {

int64_t width(const Type& type) {
  if (!type.varying || type.is_buffer()) return 0;
  int64_t lanes_of_vector = 1;
  for (int64_t extent : type.shape) lanes_of_vector *= extent;
  return (lanes_of_vector * byte_width(type.element) + 3) / 4;
}

struct Sweep {
  const Kernel& kernel;

  // A value lives from its definition to the last operation of its region that uses it, itself or in a region of its own.
  int64_t region(RegionId id) {
    const Region& r = kernel.region(id);
    std::unordered_map<uint32_t, size_t> last;
    for (size_t i = 0; i < r.ops.size(); ++i) note_uses(r.ops[i], i, last);
    std::vector<int64_t> ending(r.ops.size() + 1);
    int64_t live = 0, most = 0;
    auto begin = [&](ValueId v, size_t from) {
      auto found = last.find(v.index);
      if (found == last.end()) return;
      live += width(kernel.type(v));
      ending[std::max(found->second, from)] += width(kernel.type(v));
    };
    for (ValueId arg : r.args) begin(arg, 0);
    for (size_t i = 0; i < r.ops.size(); ++i) {
      const Op& op = kernel.op(r.ops[i]);
      int64_t inside = 0;
      each_region(op.data, [&](RegionId inner) { inside = std::max(inside, region(inner)); });
      most = std::max(most, live + inside - handed_over(op, i, last));
      live -= ending[i];
      for (ValueId v : op.results) begin(v, i + 1);
      most = std::max(most, live);
    }
    return most;
  }

  // What a loop begins with and nobody else wants is what it carries: it is the same registers.
  int64_t handed_over(const Op& op, size_t at, const std::unordered_map<uint32_t, size_t>& last) const {
    auto* counted = op.get<op::For>();
    auto* tested = op.get<op::While>();
    int64_t sum = 0;
    std::set<ValueId> seen;
    if (counted || tested)
      for (ValueId v : counted ? counted->inits : tested->inits)
        if (last.at(v.index) == at && seen.insert(v).second) sum += width(kernel.type(v));
    return sum;
  }

  void note_uses(OpId id, size_t at, std::unordered_map<uint32_t, size_t>& last) {
    each_operand(kernel.op(id).data, [&](ValueId v) { last[v.index] = at; });
    each_region(kernel.op(id).data, [&](RegionId r) {
      for (OpId inner : kernel.region(r).ops) note_uses(inner, at, last);
    });
  }
};

}  // namespace

int64_t registers_at_once(const Kernel& kernel, RegionId region) { return Sweep{kernel}.region(region); }

void check_registers(const Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  if (!diagnostics.wants(RemarkGroup::Spill)) return;
  each_op(kernel, kernel.body, [&](OpId id) {
    auto* launch = kernel.op(id).get<op::Launch>();
    int64_t needed = launch ? registers_at_once(kernel, launch->body) : 0;
    if (needed > machine.registers_per_lane)
      diagnostics.at(kernel.op(id).span).remark(diag::RegistersShort, needed, machine.name, machine.registers_per_lane);
  });
}

}  // namespace tilec::check
