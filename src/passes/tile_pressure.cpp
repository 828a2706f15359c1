#include "passes/tile_pressure.h"

#include <algorithm>
#include <map>
#include <set>

namespace tilec::passes {

using namespace ir;

namespace {

class Sweep {
 public:
  explicit Sweep(const Kernel& kernel) : kernel_(kernel) {}

  // A value lives from its definition to the last operation of its region that uses it, itself or in a region of its own. `handed`: what
  // lives outside, and ends with this region.
  int64_t region(RegionId id, const std::vector<ValueId>& handed = {}) const {
    const Region& r = kernel_.region(id);
    Lives lives = lives_of(r);
    int64_t live = 0, most = 0;
    for (ValueId arg : r.args) live += begin(lives, arg, 0);
    for (ValueId v : handed) live += begin(lives, v, 0);
    for (auto [last, registers] : lives.from_before) live += registers, lives.ending[last] += registers;
    for (size_t i = 0; i < r.ops.size(); ++i) {
      const Op& op = kernel_.op(r.ops[i]);
      int64_t inside = 0;
      const std::vector<ValueId> to_branch = op.is<op::If>() ? ending_at(lives, i) : std::vector<ValueId>{};
      each_region(op.data, [&](RegionId inner) { inside = std::max(inside, region(inner, to_branch)); });
      int64_t left = live - handed_in(lives, i, op);
      for (ValueId v : to_branch) left -= width(v);
      most = std::max({most, live, left + inside});
      // An operation may write where what it reads for the last time was, as products do that go on.
      live -= lives.ending[i];
      for (ValueId v : op.results) live += begin(lives, v, i + 1);
      most = std::max(most, live);
    }
    return most;
  }

 private:
  struct Lives {
    std::map<uint32_t, size_t> last;                           // use of a value
    std::map<size_t, int64_t> ending = {};                     // registers that are free behind an operation
    std::set<uint32_t> begun = {};                             // values of the region, so far
    std::vector<std::pair<size_t, int64_t>> from_before = {};  // of products of the turn before: until when, how many
  };

  int64_t width(ValueId v) const {
    const Type& type = kernel_.type(v);
    if (type.is_buffer() || !type.layout.valid()) return 0;
    // One number for all elements is written where it is needed.
    if (kernel_.defined_by<op::Splat>(v)) return 0;
    return (kernel_.layouts.reg(type.layout).registers() * byte_width(type.element) + 3) / 4;
  }

  int64_t begin(Lives& lives, ValueId v, size_t from) const {
    auto found = lives.last.find(v.index);
    if (found == lives.last.end()) return 0;
    lives.begun.insert(v.index);
    lives.ending[std::max(found->second, from)] += width(v);
    return width(v);
  }

  // Values of the region that nothing behind the operation uses.
  static std::vector<ValueId> ending_at(const Lives& lives, size_t at) {
    std::vector<ValueId> found;
    for (auto [v, last] : lives.last)
      if (last == at && lives.begun.contains(v)) found.push_back(ValueId{v});
    return found;
  }

  // What a loop begins with is its own from then on.
  int64_t handed_in(const Lives& lives, size_t at, const Op& op) const {
    const op::For* loop = op.get<op::For>();
    if (!loop) return 0;
    int64_t handed = 0;
    for (ValueId init : loop->inits) {
      bool is_used_inside = false;
      each_op(kernel_, loop->body, [&](OpId id) { each_operand(kernel_.op(id).data, [&](ValueId v) { is_used_inside |= v == init; }); });
      if (lives.last.at(init.index) == at && !is_used_inside) handed += width(init);
    }
    return handed;
  }

  Lives lives_of(const Region& r) const {
    Lives lives;
    for (size_t i = 0; i < r.ops.size(); ++i) note_uses(r.ops[i], i, lives);
    for (size_t i = 0; i < r.ops.size(); ++i) {
      const op::GemmAsync* product = kernel_.op(r.ops[i]).get<op::GemmAsync>();
      if (!product) continue;
      size_t read = i + 1;
      while (read < r.ops.size() && !ends(r.ops[read], kernel_.op(r.ops[i]).result())) ++read;
      for (ValueId operand : {product->a, product->b}) {
        if (kernel_.type(operand).is_buffer()) continue;
        size_t& last = lives.last[operand.index];
        last = std::max(last, std::min(read, r.ops.size() - 1));
        if (read == r.ops.size()) lives.from_before.push_back({first_await(r), width(operand)});
      }
    }
    return lives;
  }

  bool ends(OpId id, ValueId flight) const {
    const op::AwaitGemm* await = kernel_.op(id).get<op::AwaitGemm>();
    return await && await->flight == flight;
  }

  size_t first_await(const Region& r) const {
    auto found = std::ranges::find_if(r.ops, [&](OpId id) { return kernel_.op(id).is<op::AwaitGemm>(); });
    return std::min(size_t(found - r.ops.begin()), r.ops.size() - 1);
  }

  void note_uses(OpId id, size_t at, Lives& lives) const {
    each_operand(kernel_.op(id).data, [&](ValueId v) { lives.last[v.index] = at; });
    each_region(kernel_.op(id).data, [&](RegionId r) {
      for (OpId inner : kernel_.region(r).ops) note_uses(inner, at, lives);
    });
  }

  const Kernel& kernel_;
};

}  // namespace

int64_t tile_pressure(const Kernel& kernel, RegionId launch) { return Sweep(kernel).region(launch); }

}  // namespace tilec::passes
