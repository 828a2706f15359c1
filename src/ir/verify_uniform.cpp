// V062: a barrier of all threads of a block, or of a cluster, stands under control that is uniform over the block, in simt and in Thread
// form. What differs between threads is found by a fixed point: it flows from the queries and loads of a thread through
// operands, branches and loops.
#include "ir/divergence.h"
#include "ir/verify_parts.h"

namespace tilec::ir::verifier {

namespace {

class Divergence {
 public:
  // A block of one warp has threads that differ where types say so.
  Divergence(Check& check, Level level, bool is_one_warp = false)
      : check_(check), kernel_(check.kernel), level_(level), is_one_warp_(is_one_warp), varies_(kernel_.values.size()) {}

  void run(RegionId root) {
    if (level_ == Level::Simt)
      for (ValueId v : kernel_.region(root).args) mark(v, true);
    do {
      changed_ = false;
      spread(root);
    } while (changed_);
    look_for_barriers(root, false);
  }

 private:
  bool varies(ValueId v) const { return varies_[v.index] || check_.type(v).varying; }
  void mark(ValueId v, bool is_varying) {
    if (!is_varying || varies_[v.index]) return;
    varies_[v.index] = changed_ = true;
  }

  // In simt whatever is loaded may differ; in Thread form the type says what differs within a warp.
  bool is_source(const Op& op) const {
    if (is_one_warp_) return false;
    return differs_by_thread(op.kind()) || (level_ == Level::Simt && op.is<op::ElementLoad>());
  }

  const std::vector<ValueId>& yielded(RegionId r) const { return kernel_.terminator(r).as<op::Yield>().values; }
  const std::vector<ValueId>& args(RegionId r) const { return kernel_.region(r).args; }

  bool control_varies(const Op& op) const {
    if (const auto* branch = op.get<op::If>()) return varies(branch->condition);
    if (const auto* loop = op.get<op::For>()) return varies(loop->low) || varies(loop->high) || varies(loop->step);
    if (const auto* loop = op.get<op::While>()) return varies(yielded(loop->condition)[0]);
    return false;
  }

  void spread(RegionId region) {
    for (OpId id : kernel_.region(region).ops) {
      const Op& op = kernel_.op(id);
      bool control = control_varies(op);
      if (const auto* branch = op.get<op::If>()) {
        for (RegionId side : {branch->then_body, branch->else_body})
          if (side.valid()) {
            spread(side);
            for (size_t i = 0; i < op.results.size(); ++i) mark(op.results[i], control || varies(yielded(side)[i]));
          }
      } else if (const auto* loop = op.get<op::For>()) {
        mark(args(loop->body)[0], control);
        carry(loop->inits, args(loop->body), 1, control);
        spread(loop->body);
        carry(yielded(loop->body), args(loop->body), 1, control);
        carry(args(loop->body), op.results, 0, control, 1);
      } else if (const auto* loop = op.get<op::While>()) {
        carry(loop->inits, args(loop->condition), 0, control);
        spread(loop->condition);
        carry(yielded(loop->condition), args(loop->body), 0, control, 1);
        spread(loop->body);
        carry(yielded(loop->body), args(loop->condition), 0, control);
        carry(args(loop->body), op.results, 0, control);
      } else {
        bool is_varying = is_source(op);
        if (!op.is<op::BarrierVote>()) each_operand(op.data, [&](ValueId v) { is_varying |= varies(v); });
        for (ValueId v : op.results) mark(v, is_varying);
      }
    }
  }

  // from[skip + i] flows into to[first + i].
  void carry(const std::vector<ValueId>& from, const std::vector<ValueId>& to, size_t first, bool control,
             size_t skip = 0) {
    for (size_t i = 0; first + i < to.size() && skip + i < from.size(); ++i)
      mark(to[first + i], control || varies(from[skip + i]));
  }

  void look_for_barriers(RegionId region, bool is_divergent) {
    for (OpId id : kernel_.region(region).ops) {
      const Op& op = kernel_.op(id);
      check_.id = id;
      bool is_meeting = op.is<op::BlockBarrier>() || op.is<op::ClusterBarrier>();
      check_.require(!is_divergent || !is_meeting, Code::V062, "a barrier stands under control that differs between the threads that meet there");
      each_region(op.data, [&](RegionId r) { look_for_barriers(r, is_divergent || control_varies(op)); });
    }
  }

  Check& check_;
  const Kernel& kernel_;
  Level level_;
  bool is_one_warp_;
  std::vector<bool> varies_;
  bool changed_ = false;
};

}  // namespace

void check_barriers(Check& check) {
  each_op(check.kernel, check.kernel.body, [&](OpId id) {
    const Op& op = check.kernel.op(id);
    if (const auto* simt = op.get<op::Simt>()) Divergence(check, Level::Simt).run(simt->body);
    const auto* launch = op.get<op::Launch>();
    if (launch && check.form == Form::Thread) Divergence(check, Level::Thread, launch->warps == 1).run(launch->body);
  });
}

}  // namespace tilec::ir::verifier
