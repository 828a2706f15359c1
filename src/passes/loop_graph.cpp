#include "passes/loop_graph.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <cmath>

#include "passes/products.h"
#include "passes/touches.h"

namespace tilec::passes {

using namespace ir;

namespace {

using Set = uint64_t;  // of products of the turn, a bit for each
constexpr size_t kMostProducts = 64;

class Reader {
 public:
  Reader(const Kernel& kernel, const op::Launch& launch, const op::For& loop, const Machine& machine)
      : kernel_(kernel), loop_(loop), machine_(machine), ops_(kernel.region(loop.body).ops),
        lanes_(machine.lanes * std::max<int64_t>(1, computing_warps(kernel, launch, machine))) {}

  std::optional<LoopGraph> run() {
    if (!machine_.cores || !machine_.product_rate || !is_known()) return std::nullopt;
    find_neighbours();
    find_work();
    if (products_ == 0) return std::nullopt;
    add_edges();
    add_rings();
    return std::move(graph_);
  }

 private:
  const MatrixAtom* group_atom(OpId id) const {
    const op::Gemm* gemm = kernel_.op(id).get<op::Gemm>();
    const MatrixAtom* atom = gemm ? find_atom(machine_, gemm->atom) : nullptr;
    return atom && atom->kind == AtomKind::Group ? atom : nullptr;
  }

  // All products stand in the body itself, and groups are of one size.
  bool is_known() {
    bool ok = true;
    size_t count = 0;
    for (OpId id : ops_) {
      ok &= !kernel_.op(id).is<op::For>() && !kernel_.op(id).is<op::While>() && !kernel_.op(id).is<op::Simt>();
      if (const MatrixAtom* atom = group_atom(id)) graph_.problem.groups = std::max<int64_t>(1, lanes_ / (machine_.lanes * atom->warps)), ++count;
      each_region(kernel_.op(id).data, [&](RegionId r) { each_op(kernel_, r, [&](OpId inner) { ok &= !kernel_.op(inner).is<op::Gemm>(); }); });
    }
    return ok && count > 0 && count <= kMostProducts;
  }

  bool is_ahead(OpId id) const {
    const op::Copy* copy = kernel_.op(id).get<op::Copy>();
    return copy && kernel_.param_of(copy->src) && kernel_.type(copy->dst).space == Space::Shared;
  }

  // ---- who needs whom

  void find_neighbours() {
    std::map<ValueId, size_t> made;
    std::map<ValueId, std::vector<size_t>> written;
    needs_.resize(ops_.size());
    const std::vector<ValueId>& args = kernel_.region(loop_.body).args;
    const std::vector<ValueId>& yielded = kernel_.op(ops_.back()).as<op::Yield>().values;
    for (size_t at = 0; at < ops_.size(); ++at) {
      auto look = [&](OpId id) {
        each_operand(kernel_.op(id).data, [&](ValueId v) {
          if (auto found = made.find(v); found != made.end()) needs_[at].push_back(found->second);
          auto arg = std::ranges::find(args, v);
          if (arg != args.end() && arg != args.begin()) carried_.push_back({at, yielded[size_t(arg - args.begin()) - 1]});
        });
        for (const MemoryTouch& touch : touches_of(kernel_, id)) {
          if (kernel_.param_of(touch.buffer) || is_ahead(ops_[at])) continue;
          for (size_t writer : written[touch.buffer]) needs_[at].push_back(writer);
          if (touch.writes) written[touch.buffer].push_back(at);
        }
      };
      look(ops_[at]);
      each_region(kernel_.op(ops_[at]).data, [&](RegionId r) { each_op(kernel_, r, look); });
      for (ValueId v : kernel_.op(ops_[at]).results) made[v] = at;
      std::erase(needs_[at], at);
    }
    for (auto& [at, value] : carried_)
      if (auto found = made.find(value); found != made.end()) later_.push_back({found->second, at});
  }

  // ---- parts: each product, and what threads do between the same products of the turn, behind the same ones of the turn before

  void find_work() {
    std::vector<Set> before(ops_.size()), behind(ops_.size()), earlier(ops_.size());
    std::vector<int> number(ops_.size(), -1);
    for (size_t at = 0; at < ops_.size(); ++at) {
      if (group_atom(ops_[at])) number[at] = products_++;
      for (size_t need : needs_[at]) before[at] |= before[need] | bit(number[need]);
    }
    for (auto [from, to] : later_) earlier[to] |= before[from] | bit(number[from]);
    for (size_t at = 0; at < ops_.size(); ++at)
      for (size_t need : needs_[at])
        if (number[need] < 0) earlier[at] |= earlier[need];
    for (size_t at = ops_.size(); at-- > 0;)
      for (size_t need : needs_[at]) behind[need] |= behind[at] | bit(number[at]);
    part_.assign(ops_.size(), -1);
    std::map<std::array<Set, 3>, int> parts;
    for (size_t at = 0; at + 1 < ops_.size(); ++at) {
      if (number[at] >= 0) {
        part_[at] = add_work(product(ops_[at]), ops_[at]);
        continue;
      }
      int64_t clocks = clocks_of_threads(ops_[at]);
      if (clocks == 0) continue;
      auto [found, is_new] = parts.try_emplace({before[at], behind[at], earlier[at]}, int(graph_.problem.work.size()));
      if (is_new) add_work({.name = "threads", .unit = Unit::Threads, .clocks = 0}, {});
      part_[at] = found->second;
      graph_.problem.work[size_t(found->second)].clocks += clocks;
    }
    find_registers();
    find_stages();
  }

  static Set bit(int number) { return number < 0 ? 0 : Set(1) << number; }

  int add_work(LoopWork work, OpId product) {
    graph_.problem.work.push_back(std::move(work));
    graph_.products.push_back(product);
    return int(graph_.problem.work.size()) - 1;
  }

  LoopWork product(OpId id) const {
    const op::Gemm& gemm = kernel_.op(id).as<op::Gemm>();
    const Type &a = kernel_.type(gemm.a), &c = kernel_.type(gemm.acc);
    double multiplications = double(c.shape[0] * c.shape[1] * a.shape[gemm.transpose_a ? 0 : 1]);
    double clocks = multiplications * byte_width(a.element) / double(machine_.product_rate) / double(graph_.problem.groups);
    return {.name = name_of_product(kernel_, id), .unit = Unit::Products, .clocks = std::max<int64_t>(1, int64_t(clocks)),
            .registers = c.element_count() * byte_width(c.element) / 4 / lanes_};
  }

  // Of one group, which has its share of the elements and, while the others wait, all lanes.
  int64_t clocks_of_threads(OpId id) const {
    double elements = 0;
    auto look = [&](OpId one) {
      const Op& op = kernel_.op(one);
      if (const op::Map* map = op.get<op::Map>()) {
        auto count = std::accumulate(map->shape.begin(), map->shape.end(), int64_t(1), std::multiplies<>());
        elements += double(count) * double(kernel_.region(map->body).ops.size());
      }
      if (const op::Reduce* reduce = op.get<op::Reduce>()) elements += double(kernel_.type(reduce->x).element_count());
    };
    look(id);
    if (const op::If* branch = kernel_.op(id).get<op::If>()) each_op(kernel_, branch->then_body, look);
    return int64_t(std::ceil(elements / double(graph_.problem.groups) / machine_.pace.lanes));
  }

  // Of threads: tiles of two axes that other parts read.
  void find_registers() {
    for (size_t at = 0; at < ops_.size(); ++at) {
      if (part_[at] < 0 || group_atom(ops_[at])) continue;
      bool is_read = false;
      for (size_t user = at + 1; user < ops_.size(); ++user)
        is_read |= part_[user] != part_[at] && std::ranges::find(needs_[user], at) != needs_[user].end();
      for (ValueId v : kernel_.op(ops_[at]).results)
        if (const Type& type = kernel_.type(v); is_read && type.is_tile() && type.shape.size() > 1)
          graph_.problem.work[size_t(part_[at])].registers += (type.element_count() * byte_width(type.element) + 3) / 4 / lanes_;
    }
  }

  // A ring that other products read, too, would be held for another turn.
  bool reads_alone(size_t product) const {
    const op::Gemm& gemm = kernel_.op(ops_[product]).as<op::Gemm>();
    bool alone = true;
    for (ValueId operand : {gemm.a, gemm.b}) {
      if (!kernel_.type(operand).is_buffer()) continue;
      ValueId tile = root_buffer(kernel_, operand);
      bool is_filled = false, has_others = false;
      for (size_t at = 0; at < ops_.size(); ++at)
        for (const MemoryTouch& touch : touches_of(kernel_, ops_[at]))
          if (touch.buffer == tile) (touch.writes ? is_filled : has_others) |= at != product;
      alone &= !is_filled || !has_others;
    }
    return alone;
  }

  // The product that ends a turn may run under the next one, with what threads do behind it: what it adds to is read by nothing in front
  // of it but threads.
  void find_stages() {
    size_t last = ops_.size(), first = ops_.size();
    for (size_t at = 0; at < ops_.size(); ++at)
      if (group_atom(ops_[at])) last = at, first = std::min(first, at);
    if (first == last) return;
    ValueId result = kernel_.op(ops_[last]).result();
    const std::vector<ValueId>& yielded = kernel_.op(ops_.back()).as<op::Yield>().values;
    bool is_used_here = false;
    for (size_t at = last + 1; at + 1 < ops_.size(); ++at) is_used_here |= std::ranges::find(needs_[at], last) != needs_[at].end();
    bool feeds_first = std::ranges::any_of(later_, [&](const auto& edge) { return edge.first == last && edge.second <= first; });
    if (is_used_here || feeds_first || !reads_alone(last) || std::ranges::find(yielded, result) == yielded.end()) return;
    graph_.problem.work[size_t(part_[last])].most_stage = 1;
  }

  // ---- edges

  void add_edges() {
    for (size_t at = 0; at < ops_.size(); ++at) {
      if (part_[at] < 0) continue;
      for (size_t from : parts_before(at)) add_edge(int(from), part_[at], 0);
    }
    for (auto [from, to] : later_)
      for (size_t maker : makers(from))
        for (int user : users(to)) add_edge(int(maker), user, 1);
  }

  // The parts that an operation needs, through what costs nothing.
  std::vector<size_t> parts_before(size_t at) const {
    std::vector<size_t> found;
    for (size_t need : needs_[at])
      for (size_t maker : makers(need)) found.push_back(maker);
    return found;
  }
  std::vector<size_t> makers(size_t at) const { return part_[at] >= 0 ? std::vector<size_t>{size_t(part_[at])} : parts_before(at); }

  std::vector<int> users(size_t at) const {
    if (part_[at] >= 0) return {part_[at]};
    std::vector<int> found;
    for (size_t user = at + 1; user < ops_.size(); ++user)
      if (std::ranges::find(needs_[user], at) != needs_[user].end())
        for (int one : users(user)) found.push_back(one);
    return found;
  }

  void add_edge(int from, int to, int64_t distance) {
    if (from == to && distance == 0) return;
    for (const LoopEdge& known : graph_.problem.edges)
      if (known.from == from && known.to == to && known.distance == distance) return;
    graph_.problem.edges.push_back({from, to, distance, goes_on(from, to)});
  }

  // A product adds to what the other made, and reads it in no other way.
  bool goes_on(int from, int to) const {
    OpId product = graph_.products[size_t(to)];
    if (!product.valid()) return false;
    const op::Gemm& gemm = kernel_.op(product).as<op::Gemm>();
    auto makes = [&](ValueId v) {
      const std::vector<ValueId>& args = kernel_.region(loop_.body).args;
      if (auto arg = std::ranges::find(args, v); arg != args.end() && arg != args.begin())
        v = kernel_.op(ops_.back()).as<op::Yield>().values[size_t(arg - args.begin()) - 1];
      auto op = std::ranges::find_if(ops_, [&](OpId id) { return std::ranges::find(kernel_.op(id).results, v) != kernel_.op(id).results.end(); });
      return op != ops_.end() && part_[size_t(op - ops_.begin())] == from;
    };
    return makes(gemm.acc) && !makes(gemm.a) && !makes(gemm.b);
  }

  // Tiles that the same products read go together.
  void add_rings() {
    std::vector<LoopRing>& rings = graph_.problem.rings;
    for (OpId id : ops_) {
      if (!is_ahead(id)) continue;
      ValueId tile = kernel_.op(id).as<op::Copy>().dst;
      LoopRing ring{.name = kernel_.value(tile).hint, .readers = {}, .bytes = kernel_.type(tile).element_count() * byte_width(kernel_.type(tile).element),
                    .latency = int64_t(machine_.pace.latency)};
      for (size_t at = 0; at < ops_.size(); ++at) {
        const op::Gemm* gemm = group_atom(ops_[at]) ? kernel_.op(ops_[at]).get<op::Gemm>() : nullptr;
        if (gemm && (root_buffer(kernel_, gemm->a) == root_buffer(kernel_, tile) || root_buffer(kernel_, gemm->b) == root_buffer(kernel_, tile)))
          ring.readers.push_back(part_[at]);
      }
      auto same = std::ranges::find(rings, ring.readers, &LoopRing::readers);
      if (same == rings.end()) rings.push_back(std::move(ring));
      else same->bytes += ring.bytes, same->name += "_" + ring.name;
    }
  }

  const Kernel& kernel_;
  const op::For& loop_;
  const Machine& machine_;
  const std::vector<OpId>& ops_;
  const int64_t lanes_;
  LoopGraph graph_;
  int products_ = 0;
  std::vector<std::vector<size_t>> needs_;                // by operation: those of the turn that it needs
  std::vector<std::pair<size_t, ValueId>> carried_;       // who reads what the turn before yielded
  std::vector<std::pair<size_t, size_t>> later_;          // from an operation to one of the next turn
  std::vector<int> part_;                                 // by operation: the number of its work, -1: costs nothing
};

}  // namespace

std::optional<LoopGraph> loop_graph(const Kernel& kernel, const op::Launch& launch, const op::For& loop, const Machine& machine) {
  return Reader(kernel, launch, loop, machine).run();
}

std::string name_of_product(const Kernel& kernel, OpId product) {
  const op::Gemm& gemm = kernel.op(product).as<op::Gemm>();
  if (!gemm.label.empty()) return gemm.label;
  if (const std::string& hint = kernel.value(kernel.op(product).result()).hint; !hint.empty()) return hint;
  return kernel.value(gemm.acc).hint;
}

}  // namespace tilec::passes
