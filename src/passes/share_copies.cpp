#include "passes/share_copies.h"

#include <algorithm>
#include <functional>
#include <set>

#include "diag/diag.h"
#include "layout/engine_rows.h"
#include "passes/block_axes.h"
#include "passes/schedule.h"

namespace tilec::passes {

using namespace ir;

namespace {

class Sharer {
 public:
  Sharer(Kernel& kernel, Diagnostics& diagnostics, OpId launch)
      : kernel_(kernel), diagnostics_(diagnostics), id_(launch), launch_(kernel.op(launch).as<op::Launch>()), axes_(kernel, launch_) {
    for (size_t axis = 0; axis < launch_.cluster.size(); ++axis)
      if (launch_.cluster[axis] > 1) clustered_ |= 1ull << axis;
  }

  void run() {
    bool found = false;
    visit(launch_.body, [&](OpId id) { found |= kernel_.op(id).is<op::Store>() ? sum(id) : share(id); });
    Ints& cluster = kernel_.op(id_).as<op::Launch>().cluster;
    if (found || (launch_.split && cluster_of(launch_).empty())) return;
    diagnostics_.at(kernel_.op(id_).span).remark(diag::NothingShared, why_.empty() ? "no copy of it runs ahead of what reads it" : why_);
    if (launch_.split) std::fill(cluster.begin(), cluster.end() - 1, 1);
    else cluster.clear();
  }

 private:
  void visit(RegionId region, const std::function<void(OpId)>& f) {
    each_op(kernel_, region, [&](OpId id) {
      const op::Store* store = kernel_.op(id).get<op::Store>();
      if (kernel_.op(id).is<op::CopyAsync>() || (store && store->adds)) f(id);
    });
  }

  bool share(OpId id) {
    op::CopyAsync& copy = kernel_.op(id).as<op::CopyAsync>();
    std::string name = kernel_.value(copy.dst).hint, why;
    int64_t blocks = 1;
    Ints shared = axes_without(copy.src_offsets);
    for (int64_t axis : shared) blocks *= launch_.cluster[size_t(axis)];
    const Type& tile = kernel_.type(copy.dst);
    if (copy.copy_class != CopyClass::Bulk) why = "the engine does not copy `" + name + "`";
    else if (shared.empty()) why = "each of them copies a `" + name + "` of its own";
    else if (!all_turn_alike(id)) why = "how often `" + name + "` is copied depends on the block";
    else if (!layout::split_axis(copy.shape, *layout::engine_rows(kernel_.layouts.mem(tile.layout), bit_width(tile.element)), bit_width(tile.element), blocks))
      why = "`" + name + "` does not fall into " + std::to_string(blocks) + " parts that the engine copies";
    if (!why.empty()) return why_ = std::move(why), false;
    copy.shared_axes = std::move(shared);
    if (told_.insert(copy.dst).second) diagnostics_.at(kernel_.op(id).span).remark(diag::CopyShared, name, blocks);
    return true;
  }

  // Blocks that share the turns of a loop copy nothing together: they come to no turn at once.
  Ints axes_without(const std::vector<ValueId>& offsets) const {
    Ints axes;
    for (size_t axis = 0; axis < launch_.cluster.size() - (launch_.split ? 1 : 0); ++axis)
      if (launch_.cluster[axis] > 1 && !(axes_.of(offsets) >> axis & 1)) axes.push_back(int64_t(axis));
    return axes;
  }

  // Tiles that blocks add to the same elements. All threads of a block come to it: roles would leave some behind.
  bool sum(OpId id) {
    op::Store& store = kernel_.op(id).as<op::Store>();
    const Type& tile = kernel_.type(store.tile);
    Ints summed = axes_without(store.offsets);
    int64_t blocks = 1;
    for (int64_t axis : summed) blocks *= launch_.cluster[size_t(axis)];
    std::string name = "`" + kernel_.value(store.buffer).hint + "`", why;
    bool has_roles = false;
    uint64_t decides = 0;
    visit_regions(launch_.body, [&](RegionId region, const Op& op) {
      has_roles |= op.is<op::Roles>();
      if (&op == &kernel_.op(id)) decides = axes_.control_of(region);
    });
    if (has_roles) why = "what is added to " + name + " is the matter of one role of the block's warps";
    else if (summed.empty()) why = "each of them adds to elements of " + name + " of its own";
    else if (decides & clustered_) why = "whether something is added to " + name + " depends on the block";
    else if (tile.element != Scalar::F32 || tile.shape.empty() || tile.shape[0] % blocks != 0)
      why = "what is added to " + name + " does not fall into " + std::to_string(blocks) + " parts of f32";
    if (!why.empty()) return why_ = std::move(why), false;
    store.summed_axes = std::move(summed);
    diagnostics_.at(kernel_.op(id).span).remark(diag::SumsShared, kernel_.value(store.buffer).hint, blocks);
    return true;
  }

  // Blocks of a cluster wait for each other at every turn of the ring: whatever decides on its turns must be the same for all.
  bool all_turn_alike(OpId copy) const {
    ValueId ring;
    each_op(kernel_, launch_.body, [&](OpId id) {
      const op::Commit* commit = kernel_.op(id).get<op::Commit>();
      if (commit && std::ranges::find(commit->tokens, kernel_.op(copy).result()) != commit->tokens.end()) ring = commit->ring;
    });
    uint64_t decides = 0;
    visit_regions(launch_.body, [&](RegionId region, const Op& op) {
      bool uses = !op.results.empty() && op.results.front() == ring;
      each_operand(op.data, [&](ValueId v) { uses |= v == ring; });
      if (uses) decides |= axes_.control_of(region);
    });
    // Those that have other turns of a loop do not wait for this one.
    uint64_t apart = launch_.split ? 1ull << (launch_.cluster.size() - 1) : 0;
    return !(decides & clustered_ & ~apart);
  }

  void visit_regions(RegionId region, const std::function<void(RegionId, const Op&)>& f) const {
    for (OpId id : kernel_.region(region).ops) {
      f(region, kernel_.op(id));
      each_region(kernel_.op(id).data, [&](RegionId inner) { visit_regions(inner, f); });
    }
  }

  Kernel& kernel_;
  Diagnostics& diagnostics_;
  OpId id_;
  const op::Launch launch_;
  BlockAxes axes_;
  uint64_t clustered_ = 0;
  std::string why_;  // the last copy is not shared
  std::set<ValueId> told_;
};

// What a schedule can say of all launches: the cluster of those that have one, if it is the same.
void write_down(Kernel& kernel, const std::vector<OpId>& launches) {
  std::set<Ints> clusters;
  for (OpId id : launches)
    if (const op::Launch& launch = kernel.op(id).as<op::Launch>(); !cluster_of(launch).empty()) clusters.insert(cluster_of(launch));
  kernel.schedule.cluster = clusters.size() == 1 ? *clusters.begin() : Ints{};
}

}  // namespace

void share_copies(Kernel& kernel, const Machine&, Diagnostics& diagnostics) {
  std::vector<OpId> launches;
  each_op(kernel, kernel.body, [&](OpId id) {
    const op::Launch* launch = kernel.op(id).get<op::Launch>();
    if (launch && !launch->cluster.empty()) launches.push_back(id);
  });
  for (OpId launch : launches) Sharer(kernel, diagnostics, launch).run();
  write_down(kernel, launches);
}

}  // namespace tilec::passes
