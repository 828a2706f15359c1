// Puts a map into the map that alone reads it: the element is worked out where it is used, and the tile between them is
// gone.
//   in:  Typed
//   out: Typed; chains of maps over one shape are one map, splats are scalars, dead results and inputs dropped
//
// A producer goes into its consumer when both stand in one region over one shape, every use of its results is an input
// of the consumer read at the map's own index, and moving its reads of memory down to the consumer passes no write.
#include "passes/cleanup.h"
#include "passes/effects.h"
#include "passes/passes.h"

namespace tilec::passes {

using namespace ir;

namespace {

class Fuser {
 public:
  explicit Fuser(Kernel& kernel)
      : kernel_(kernel), uses_(use_counts(kernel)), to_(kernel.values.size()), position_(kernel.ops.size()),
        region_of_(kernel.ops.size()), is_gone_(kernel.ops.size()) {
    uses_.resize(kernel.values.size());
  }

  void run() {
    fuse_region(kernel_.body);
    each_op(kernel_, kernel_.body, [&](OpId id) {
      each_operand(kernel_.op(id).data, [&](ValueId& v) { v = current(v); });
    });
  }

 private:
  Kernel& kernel_;
  std::vector<int> uses_;
  std::vector<ValueId> to_;
  std::vector<size_t> position_;     // of an operation in its region
  std::vector<RegionId> region_of_;
  std::vector<bool> is_gone_;
  // What a map does to memory, all that it took in counted: bodies grow long, and are asked about again and again.
  struct Touch {
    bool reads = false, has_effect = false;
  };
  std::unordered_map<OpId, Touch> touches_;
  std::vector<size_t> writes_;       // positions in the present region of what writes memory or orders it

  // Chains of replacements are followed to their end, and are half as long the next time.
  ValueId current(ValueId v) {
    auto next = [&](ValueId x) { return x.index < to_.size() ? to_[x.index] : ValueId{}; };
    for (ValueId to = next(v); to.valid(); to = next(v)) {
      if (ValueId further = next(to); further.valid()) to_[v.index] = further;
      v = to;
    }
    return v;
  }
  void replace(ValueId from, ValueId to) {
    if (from.index >= to_.size()) to_.resize(kernel_.values.size());
    to_[from.index] = to;
  }

  void fuse_region(RegionId region) {
    std::vector<OpId> ops = kernel_.region(region).ops;
    std::vector<size_t> outer = std::move(writes_);
    writes_.clear();
    for (size_t i = 0; i < ops.size(); ++i) {
      position_[ops[i].index] = i;
      region_of_[ops[i].index] = region;
      std::vector<RegionId> inner;
      each_region(kernel_.op(ops[i]).data, [&](RegionId r) { inner.push_back(r); });
      if (kernel_.op(ops[i]).is<op::Map>()) {
        touches_[ops[i]] = {reads_any(ops[i]), has_effect(kernel_, kernel_.op(ops[i]))};
        absorb(ops[i]);
        if (touches_[ops[i]].has_effect) writes_.push_back(i);
      } else {
        for (RegionId r : inner) fuse_region(r);
        if (has_effect(kernel_, kernel_.op(ops[i]))) writes_.push_back(i);
      }
    }
    std::erase_if(ops, [&](OpId id) { return bool(is_gone_[id.index]); });
    kernel_.region(region).ops = std::move(ops);
    writes_ = std::move(outer);
  }

  // Takes in every producer that may come, and theirs, until none is left.
  void absorb(OpId consumer) {
    for (size_t k = 0; k < map(consumer).inputs.size();) {
      ValueId input = current(map(consumer).inputs[k]);
      if (const auto* splat = kernel_.defined_by<op::Splat>(input)) {
        replace(argument(consumer, k), splat->x);
        --uses_[input.index];
        drop_input(consumer, k);
      } else if (size_t twin = twin_of(consumer, k); twin < k) {
        replace(argument(consumer, k), argument(consumer, twin));
        --uses_[input.index];
        drop_input(consumer, k);
      } else if (may_absorb(consumer, input)) {
        inline_producer(kernel_.value(input).op, consumer);
        k = 0;
      } else {
        ++k;
      }
    }
  }

  op::Map& map(OpId id) { return kernel_.op(id).as<op::Map>(); }
  ValueId argument(OpId id, size_t input) { return kernel_.region(map(id).body).args[map(id).shape.size() + input]; }

  // The first input that is the same element as the k-th.
  size_t twin_of(OpId id, size_t k) {
    const op::Map& m = map(id);
    size_t first = 0;
    while (m.inputs[first] != m.inputs[k] || m.input_axes[first] != m.input_axes[k]) ++first;
    return first;
  }

  void drop_input(OpId id, size_t k) {
    op::Map& m = map(id);
    auto& args = kernel_.region(m.body).args;
    args.erase(args.begin() + int64_t(m.shape.size() + k));
    m.inputs.erase(m.inputs.begin() + int64_t(k));
    m.input_axes.erase(m.input_axes.begin() + int64_t(k));
  }

  static bool is_identity(const Axes& axes, size_t rank) {
    if (axes.size() != rank) return false;
    for (size_t i = 0; i < rank; ++i)
      if (axes[i] != int64_t(i)) return false;
    return true;
  }

  bool may_absorb(OpId consumer, ValueId input) {
    OpId producer = kernel_.value(input).op;
    if (!producer.valid() || !kernel_.op(producer).is<op::Map>() ||
        region_of_[producer.index] != region_of_[consumer.index])
      return false;
    if (map(producer).shape != map(consumer).shape || touches_[producer].has_effect) return false;
    const op::Map& m = map(consumer);
    int all_uses = 0, own_uses = 0;
    for (ValueId r : kernel_.op(producer).results) all_uses += uses_[r.index];
    for (size_t k = 0; k < m.inputs.size(); ++k) {
      if (kernel_.value(current(m.inputs[k])).op != producer) continue;
      if (!is_identity(m.input_axes[k], m.shape.size())) return false;
      ++own_uses;
    }
    return own_uses == all_uses && (!touches_[producer].reads || no_write_since(producer, consumer));
  }

  bool reads_any(OpId producer) const {
    bool found = false;
    each_op(kernel_, kernel_.op(producer).as<op::Map>().body, [&](OpId id) { found |= reads_memory(kernel_.op(id)); });
    return found;
  }

  // Also the consumer's own writes count: its iterations would write between the producer's reads.
  bool no_write_since(OpId producer, OpId consumer) {
    if (touches_[consumer].has_effect) return false;
    auto next = std::upper_bound(writes_.begin(), writes_.end(), position_[producer.index]);
    return next == writes_.end();
  }

  void inline_producer(OpId producer, OpId consumer) {
    RegionId from = map(producer).body, into = map(consumer).body;
    size_t rank = map(consumer).shape.size();
    for (size_t axis = 0; axis < rank; ++axis)
      replace(kernel_.region(from).args[axis], kernel_.region(into).args[axis]);
    std::vector<OpId> body = std::move(kernel_.region(from).ops);
    std::vector<ValueId> yielded = kernel_.op(body.back()).as<op::Yield>().values;
    body.pop_back();
    const std::vector<ValueId> results = kernel_.op(producer).results;
    for (size_t k = map(consumer).inputs.size(); k-- > 0;) {
      ValueId input = current(map(consumer).inputs[k]);
      if (kernel_.value(input).op != producer) continue;
      size_t which = size_t(std::find(results.begin(), results.end(), input) - results.begin());
      replace(argument(consumer, k), yielded[which]);
      drop_input(consumer, k);
    }
    // The producer's inputs, and the arguments that stand for them, are the consumer's now.
    op::Map& m = map(consumer);
    const op::Map& p = map(producer);
    m.inputs.insert(m.inputs.end(), p.inputs.begin(), p.inputs.end());
    m.input_axes.insert(m.input_axes.end(), p.input_axes.begin(), p.input_axes.end());
    Region &source = kernel_.region(from), &target = kernel_.region(into);
    for (size_t k = rank; k < source.args.size(); ++k) {
      target.args.push_back(source.args[k]);
      kernel_.value(source.args[k]).region = into;
    }
    body.insert(body.end(), target.ops.begin(), target.ops.end());
    target.ops = std::move(body);
    touches_[consumer].reads |= touches_[producer].reads;
    is_gone_[producer.index] = true;
  }
};

}  // namespace

void fuse_elementwise(Kernel& kernel, const Machine&, Diagnostics&) {
  INVARIANT(kernel.form == Form::Typed, "maps are fused before layouts are known");
  Fuser(kernel).run();
  merge_equal_scalars(kernel);
  drop_dead_code(kernel);
}

}  // namespace tilec::passes
