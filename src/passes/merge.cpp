// Merges equal scalar operations and moves what does not change in a loop in front of it.
//
// One walk in program order. A table holds the operations that dominate the place where the walk stands; leaving a
// region takes its entries out again. An operation is put into the outermost region in which its operands exist,
// crossing loops only (constants cross ifs as well), never a launch, a map, a role or a simt region.
#include "ir/scalar_eval.h"
#include "passes/cleanup.h"
#include "passes/effects.h"

namespace tilec::passes {

using namespace ir;

namespace {

struct Frame {
  RegionId region;
  std::vector<OpId> ops;           // what the region holds from now on
  std::vector<std::string> keys;   // that this frame put into the table
  bool is_loop = false, is_branch = false;
};

template <class T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void append_attribute(std::string& key, const Number& n) {
  append(key, n.is_float);
  append(key, n.i);
  append(key, n.f);
}
void append_attribute(std::string& key, const Text& text) {
  append(key, text.size());
  key += text;
}
template <class T>
void append_attribute(std::string& key, const T& value) {
  static_assert(std::is_enum_v<T> || std::is_integral_v<T>, "attributes of pure operations are numbers and names");
  append(key, value);
}

template <class T, class... Ts>
constexpr bool is_one_of = (std::is_same_v<T, Ts> || ...);

class Merger {
 public:
  explicit Merger(Kernel& kernel) : kernel_(kernel), to_(kernel.values.size()), depth_(kernel.values.size(), 0) {}

  void run() {
    walk(kernel_.body, false, false);
    remap_interface(kernel_, [this](ValueId v) { return current(v); });
  }

 private:
  Kernel& kernel_;
  std::vector<ValueId> to_;
  std::vector<int> depth_;  // of the frame that defines a value
  std::vector<Frame> frames_;
  std::unordered_map<std::string, OpId> seen_;

  ValueId current(ValueId v) const { return to_[v.index].valid() ? to_[v.index] : v; }

  void walk(RegionId region, bool is_loop, bool is_branch) {
    std::vector<OpId> ops = std::move(kernel_.region(region).ops);
    frames_.push_back({region, {}, {}, is_loop, is_branch});
    frames_.back().ops.reserve(ops.size());
    for (ValueId arg : kernel_.region(region).args) depth_[arg.index] = int(frames_.size()) - 1;
    for (OpId id : ops) visit_op(id);
    for (const std::string& key : frames_.back().keys) seen_.erase(key);
    kernel_.region(region).ops = std::move(frames_.back().ops);
    frames_.pop_back();
  }

  void visit_op(OpId id) {
    Op& op = kernel_.op(id);
    each_operand(op.data, [&](ValueId& v) { v = current(v); });
    if (is_pure(op)) return place(id, op);
    bool is_loop = op.is<op::For>() || op.is<op::While>(), is_branch = op.is<op::If>();
    std::vector<RegionId> regions;
    each_region(op.data, [&](RegionId r) { regions.push_back(r); });
    for (RegionId r : regions) walk(r, is_loop, is_branch);
    append_to(int(frames_.size()) - 1, id);
  }

  void append_to(int frame, OpId id) {
    frames_[size_t(frame)].ops.push_back(id);
    for (ValueId r : kernel_.op(id).results) depth_[r.index] = frame;
  }

  int home(const Op& op) const {
    int needed = 0, at = int(frames_.size()) - 1;
    each_operand(op.data, [&](ValueId v) { needed = std::max(needed, depth_[v.index]); });
    if (!may_be_hoisted(kernel_, op)) return at;
    while (at > needed && (frames_[size_t(at)].is_loop || (frames_[size_t(at)].is_branch && op.is<op::Constant>())))
      --at;
    return at;
  }

  // What two equal operands, which were not known to be so before, make known.
  bool is_known(const Op& op) {
    auto* b = op.get<op::Binary>();
    if (!b || b->a != b->b || !is_integer(kernel_.type(b->a).element)) return false;
    const bool is_either = b->fn == BinaryFn::Min || b->fn == BinaryFn::Max || b->fn == BinaryFn::And || b->fn == BinaryFn::Or;
    if (is_either) to_[op.result().index] = b->a;
    return is_either;
  }

  void place(OpId id, Op& op) {
    if (is_known(op)) return;
    if (auto* b = op.get<op::Binary>(); b && is_commutative(b->fn) && stands_before(b->b, b->a)) std::swap(b->a, b->b);
    std::string key = key_of(op);
    if (auto found = seen_.find(key); found != seen_.end()) {
      to_[op.result().index] = kernel_.op(found->second).result();
      return;
    }
    int frame = home(op);
    append_to(frame, id);
    seen_.emplace(key, id);
    frames_[size_t(frame)].keys.push_back(std::move(key));
  }

  // The order of commuting operands: by age, constants last, where the builder looks for them.
  bool stands_before(ValueId a, ValueId b) const {
    bool is_a_constant = kernel_.constant(a).has_value(), is_b_constant = kernel_.constant(b).has_value();
    return is_a_constant != is_b_constant ? is_b_constant : a < b;
  }

  std::string key_of(const Op& op) const {
    std::string key;
    append(key, op.kind());
    append(key, kernel_.value(op.result()).type);
    auto fields = [&](const auto& o) {
      using T = std::decay_t<decltype(o)>;
      constexpr bool is_known = T::op_table == OpTable::Scalar || is_one_of<T, op::VectorElement, op::VectorMake, op::IsAligned, op::HasBoxes>;
      if constexpr (!is_known)
        each_field(o, [&](auto, const char* field, const auto&) { UNREACHABLE("`" + std::string(name(op.kind())) + "` is told apart by " + field); });
      else
        each_field(o, [&](auto kind, const char*, const auto& value) {
          using Kind = decltype(kind);
          if constexpr (std::is_same_v<Kind, field::Values>)
            for (ValueId v : value) append(key, v.index);
          else if constexpr (std::is_same_v<Kind, field::Attribute>)
            append_attribute(key, value);
          else
            append(key, value.index);
        });
    };
    visit(op.data, fields);
    return key;
  }
};

}  // namespace

void merge_equal_scalars(Kernel& kernel) { Merger(kernel).run(); }

}  // namespace tilec::passes
