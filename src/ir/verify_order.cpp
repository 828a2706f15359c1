// V001 to V006: what names what, and in which order. Nothing else may be looked at where these are broken.
#include "ir/verify_parts.h"

namespace tilec::ir::verifier {

namespace {

// Every id that can be reached from the body exists; no operation and no region is reached twice.
class Ids {
 public:
  explicit Ids(Check& check)
      : check_(check), kernel_(check.kernel), seen_ops_(kernel_.ops.size()), seen_regions_(kernel_.regions.size()) {}

  bool region(RegionId id) {
    if (!check_.require(id.index < kernel_.regions.size(), Code::V001, "a region does not exist")) return false;
    if (!check_.require(!seen_regions_[id.index], Code::V005, "region ", id.index, " is found twice")) return false;
    seen_regions_[id.index] = true;
    bool good = true;
    for (ValueId v : kernel_.region(id).args) good &= value(v, "an argument");
    for (OpId op : kernel_.region(id).ops) good &= operation(op);
    return good;
  }

  bool value(ValueId v, std::string_view what) {
    if (!check_.require(v.index < kernel_.values.size(), Code::V001, what, " does not exist")) return false;
    return check_.require(kernel_.value(v).type.index < kernel_.types.size(), Code::V001, v, " has no type");
  }

 private:
  bool operation(OpId id) {
    OpId outer = check_.id;
    check_.id = id;
    bool good = check_.require(id.index < kernel_.ops.size(), Code::V001, "an operation does not exist") &&
                check_.require(!seen_ops_[id.index], Code::V004, "operation ", id.index, " is found twice") &&
                contents(id);
    check_.id = outer;
    return good;
  }

  bool contents(OpId id) {
    seen_ops_[id.index] = true;
    const Op& op = kernel_.op(id);
    if (!check_.require(op.kind() != kNoOp, Code::V001, "an operation is empty"))
      return false;
    bool good = true;
    for (ValueId v : op.results) good &= value(v, "a result");
    each_operand(op.data, [&](ValueId v) { good &= value(v, "an operand"); });
    visit(op.data, [&](const auto& data) {
      each_field(data, [&](auto kind, std::string_view name, const auto& r) {
        if constexpr (std::is_same_v<decltype(kind), field::Region>) {
          bool may_miss = name == "else_body" && op.results.empty();
          if (r.valid() || !may_miss) good &= region(r);
        }
        if constexpr (std::is_same_v<decltype(kind), field::Regions>)
          for (RegionId inner : r) good &= region(inner);
      });
    });
    return good;
  }

  Check& check_;
  const Kernel& kernel_;
  std::vector<bool> seen_ops_, seen_regions_;
};

class Order {
 public:
  explicit Order(Check& check)
      : check_(check), kernel_(check.kernel), visible_(kernel_.values.size()), defined_(kernel_.values.size()) {}

  void region(RegionId id) {
    std::vector<ValueId> here;
    for (ValueId v : kernel_.region(id).args) {
      bool is_recorded = kernel_.value(v).region == id && !kernel_.value(v).op.valid();
      define(v, is_recorded, here);
    }
    const std::vector<OpId>& ops = kernel_.region(id).ops;
    OpId outer = check_.id;
    for (OpId op : ops) operation(op, op == ops.back(), here);
    if (ops.empty()) check_.report(Code::V006, "a region has no yield");
    for (ValueId v : here) visible_[v.index] = false;
    check_.id = outer;
  }

 private:
  void define(ValueId v, bool is_recorded, std::vector<ValueId>& here) {
    check_.require(!defined_[v.index], Code::V003, v, " is defined twice");
    check_.require(is_recorded, Code::V003, v, " does not know its definition");
    defined_[v.index] = visible_[v.index] = true;
    here.push_back(v);
  }

  void operation(OpId id, bool is_last, std::vector<ValueId>& here) {
    check_.id = id;
    const Op& op = kernel_.op(id);
    each_operand(op.data, [&](ValueId v) {
      check_.require(visible_[v.index], Code::V002, v, " is not defined where `", name(op.kind()), "` uses it");
    });
    check_.require(op.is<op::Yield>() == is_last, Code::V006,
                   is_last ? "a region does not end in a yield" : "a yield stands before the end of its region");
    each_region(op.data, [&](RegionId r) { region(r); });
    check_.id = id;
    for (ValueId v : op.results) define(v, kernel_.value(v).op == id && !kernel_.value(v).region.valid(), here);
  }

  Check& check_;
  const Kernel& kernel_;
  std::vector<bool> visible_, defined_;
};

}  // namespace

bool check_ids(Check& check) {
  Ids ids(check);
  auto all = [&](const std::vector<ValueId>& values) {
    bool good = true;
    for (ValueId v : values) good &= ids.value(v, "a value of the header");
    return good;
  };
  bool good = true;
  for (const Dim& dim : check.kernel.dims) good &= all({dim.value});
  for (const Param& p : check.kernel.params) good &= all({p.value}) && all(p.extents) && all(p.strides);
  for (const Requirement& r : check.kernel.requirements) good &= all({r.condition});
  return ids.region(check.kernel.body) && good;
}

bool check_order(Check& check) {
  size_t before = check.found.size();
  Order(check).region(check.kernel.body);
  return check.found.size() == before;
}

}  // namespace tilec::ir::verifier
