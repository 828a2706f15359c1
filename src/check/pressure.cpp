#include "check/pressure.h"

#include <set>
#include <unordered_set>

#include "diag/diag.h"

namespace tilec::check {

using namespace ir;

namespace {

// Walks backward and keeps what is alive: what an operation behind wants and none in front has made yet. Elements of vectors live and
// die by themselves; one that is taken out of a vector, or put into one, is the same register.
class Liveness {
 public:
  Liveness(const Kernel& kernel, bool is_vector_machine) : kernel_(kernel), is_vector_machine_(is_vector_machine) {}

  void region(RegionId id) {
    const auto& ops = kernel_.region(id).ops;
    for (size_t i = ops.size(); i-- > 0;) op(kernel_.op(ops[i]));
  }
  int64_t most() const { return is_vector_machine_ ? most_ : (most_ + 3) / 4; }

 private:
  void op(const Op& op) {
    if (op.is<op::VectorElement>() || op.is<op::VectorMake>()) return;
    for (ValueId v : op.results) define(v);
    if (op.is<op::For>() || op.is<op::While>()) return loop(op);
    std::vector<RegionId> regions;
    each_region(op.data, [&](RegionId r) { regions.push_back(r); });
    // One of them runs, and what is alive behind all is alive behind each.
    const auto behind = live_;
    auto before = live_;
    for (RegionId r : regions) {
      live_ = behind;
      count();
      region(r);
      for (ValueId arg : kernel_.region(r).args) define(arg);
      before.insert(live_.begin(), live_.end());
    }
    if (!regions.empty()) live_ = before;
    count();
    each_operand(op.data, [&](ValueId v) { use(v); });
  }

  // What an iteration takes from outside is alive in all of the loop. What the loop carries is the same registers as it begins with.
  void loop(const Op& op) {
    std::vector<RegionId> regions;
    each_region(op.data, [&](RegionId r) { regions.push_back(r); });
    std::unordered_set<uint32_t> made;
    for (RegionId r : regions) note_made(r, made);
    for (RegionId r : regions) use_outside(r, made);
    if (auto* counted = op.get<op::For>(); counted)
      for (ValueId v : {counted->high, counted->step}) use(v);
    for (size_t i = regions.size(); i-- > 0;) {
      region(regions[i]);
      for (ValueId arg : kernel_.region(regions[i]).args) define(arg);
    }
    each_operand(op.data, [&](ValueId v) { use(v); });
  }

  void note_made(RegionId id, std::unordered_set<uint32_t>& made) const {
    for (ValueId arg : kernel_.region(id).args) made.insert(arg.index);
    each_op(kernel_, id, [&](OpId inner) {
      for (ValueId v : kernel_.op(inner).results) made.insert(v.index);
      each_region(kernel_.op(inner).data, [&](RegionId r) {
        for (ValueId arg : kernel_.region(r).args) made.insert(arg.index);
      });
    });
  }
  void use_outside(RegionId id, const std::unordered_set<uint32_t>& made) {
    each_op(kernel_, id, [&](OpId inner) {
      each_operand(kernel_.op(inner).data, [&](ValueId v) {
        if (!made.contains(v.index)) use(v);
      });
    });
  }

  struct Element {
    ValueId value;
    int64_t index;
    auto operator<=>(const Element&) const = default;
  };

  void use(ValueId v) {
    if (int64_t size = width(v))
      for (int64_t i = 0; i < elements(v); ++i)
        if (live_.insert(made_first({v, i})).second) now_ += size;
    most_ = std::max(most_, now_);
  }
  // What nobody wants is made all the same.
  void define(ValueId v) {
    use(v);
    if (int64_t size = width(v))
      for (int64_t i = 0; i < elements(v); ++i) now_ -= size * int64_t(live_.erase({v, i}));
  }
  void count() {
    now_ = 0;
    for (const Element& e : live_) now_ += width(e.value);
    most_ = std::max(most_, now_);
  }

  Element made_first(Element e) const {
    while (const Op* op = kernel_.definition(e.value)) {
      if (auto* taken = op->get<op::VectorElement>())
        e = {taken->vector, taken->index};
      else if (auto* made = op->get<op::VectorMake>())
        e = {made->elements[size_t(e.index)], 0};
      else
        break;
    }
    return e;
  }
  int64_t elements(ValueId v) const {
    int64_t count = 1;
    for (int64_t extent : kernel_.type(v).shape) count *= extent;
    return count;
  }
  // Of an element: in bytes, or in vector registers. Constants, predicates and what is the same in all lanes need none of them; a pair of
  // 16-bit numbers shares one.
  int64_t width(ValueId v) const {
    const Type& type = kernel_.type(v);
    if (type.is_buffer() || kernel_.constant(v) || !type.varying) return 0;
    if (is_vector_machine_) return 1;
    if (type.element == Scalar::Bool) return 0;
    return std::max<int64_t>(byte_width(type.element), type.shape.empty() ? 2 : 0);
  }

  const Kernel& kernel_;
  bool is_vector_machine_;
  std::set<Element> live_ = {};
  int64_t now_ = 0, most_ = 0;
};

}  // namespace

int64_t registers_at_once(const Kernel& kernel, RegionId region, const Machine& machine) {
  Liveness liveness(kernel, machine.simd_bytes > 0);
  liveness.region(region);
  return liveness.most();
}

void check_registers(const Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  if (!diagnostics.wants(RemarkGroup::Spill)) return;
  each_op(kernel, kernel.body, [&](OpId id) {
    auto* launch = kernel.op(id).get<op::Launch>();
    int64_t needed = launch ? registers_at_once(kernel, launch->body, machine) : 0;
    if (needed > machine.registers_per_lane)
      diagnostics.at(kernel.op(id).span).remark(diag::RegistersShort, needed, machine.name, machine.registers_per_lane);
  });
}

}  // namespace tilec::check
