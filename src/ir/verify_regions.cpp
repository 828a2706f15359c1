// V007 to V009, V016 and V017: results, the arguments and yields of regions, and the operands of control.
#include "ir/verify_parts.h"

namespace tilec::ir::verifier {

namespace {

constexpr OpKind kWithoutResult[] = {
    OpKind::Launch,      OpKind::Yield,     OpKind::ElementStore, OpKind::BlockBarrier, OpKind::Store,
    OpKind::Copy,        OpKind::Simt,      OpKind::Acquire,      OpKind::Commit,       OpKind::Wait,
    OpKind::Release,     OpKind::AwaitCopy, OpKind::Roles,        OpKind::Barrier,      OpKind::MemStore,
    OpKind::Fault,       OpKind::PhaseInit, OpKind::PhaseArrive,  OpKind::PhaseExpect,  OpKind::PhaseWait,
    OpKind::NamedBarrier, OpKind::CopyBox,  OpKind::Fence,        OpKind::EngineFence,  OpKind::GroupCommit,
    OpKind::Prefetch,    OpKind::CopyLanes, OpKind::PhaseFollow,  OpKind::RegisterBudget,
    OpKind::StoreMatrices, OpKind::StoreBox, OpKind::AwaitStores, OpKind::WarpBarrier, OpKind::ClusterBarrier,
    OpKind::TakeTurn,    OpKind::PassTurn};
constexpr OpKind kWithOneOrNone[] = {OpKind::Atomic, OpKind::MemAtomic};
constexpr OpKind kWithAny[] = {OpKind::For, OpKind::While, OpKind::If, OpKind::Map, OpKind::Atom, OpKind::GroupFence,
                               OpKind::GroupWait};

bool is_one_of(std::span<const OpKind> kinds, OpKind kind) { return std::ranges::find(kinds, kind) != kinds.end(); }

struct Counts {
  size_t least = 1, most = 1;
};
Counts counts_of(OpKind kind) {
  if (is_one_of(kWithAny, kind)) return {0, ~size_t(0)};
  if (is_one_of(kWithOneOrNone, kind)) return {0, 1};
  return is_one_of(kWithoutResult, kind) ? Counts{0, 0} : Counts{};
}

bool is_result_count(OpKind kind, size_t n) {
  static const auto kCounts = [] {
    std::array<Counts, kOpKinds> counts;
    for (size_t i = 0; i < kOpKinds; ++i) counts[i] = counts_of(OpKind(i));
    return counts;
  }();
  return kCounts[size_t(kind)].least <= n && n <= kCounts[size_t(kind)].most;
}

using Types = std::vector<Type>;

class Regions {
 public:
  explicit Regions(Check& check) : check_(check), op_(check.op()) {}

  void operator()(const op::Launch& o) {
    enter(o.body, Types(o.extents.size(), scalar_type(Scalar::Index)));
    leave(o.body, {});
  }
  void operator()(const op::For& o) {
    Types given = types(o.inits);
    given.insert(given.begin(), check_.type(o.low));
    if (!enter(o.body, given)) return;
    Types carried = args(o.body);
    carried.erase(carried.begin());
    leave(o.body, carried);
    results(carried);
  }
  void operator()(const op::While& o) {
    if (!enter(o.condition, types(o.inits))) return;
    Types carried = args(o.condition), passed = types(op_.results);
    results(carried);
    if (!enter(o.body, passed)) return;
    leave(o.body, carried);
    Type condition = scalar_type(Scalar::Bool, check_.level == Level::Thread || check_.level == Level::Simt);
    passed.insert(passed.begin(), condition);
    leave(o.condition, passed);
  }
  void operator()(const op::If& o) {
    for (RegionId body : {o.then_body, o.else_body}) {
      if (!body.valid()) continue;
      enter(body, {});
      leave(body, types(op_.results));
    }
  }
  void operator()(const op::Map& o) {
    Types given(o.shape.size(), scalar_type(Scalar::Index)), taken;
    for (ValueId v : o.inputs) given.push_back(scalar_type(check_.type(v).element));
    for (ValueId v : op_.results) taken.push_back(scalar_type(check_.type(v).element));
    enter(o.body, given);
    leave(o.body, taken);
  }
  void operator()(const op::Simt& o) {
    enter(o.body, {scalar_type(Scalar::Index)});
    leave(o.body, {});
  }
  void operator()(const op::Roles& o) {
    for (RegionId body : o.bodies) {
      enter(body, {});
      leave(body, {});
    }
  }
  void operator()(const auto&) {}

 private:
  Types types(const std::vector<ValueId>& values) const {
    Types out;
    for (ValueId v : values) out.push_back(check_.type(v));
    return out;
  }
  Types args(RegionId r) const { return types(check_.kernel.region(r).args); }

  // The arguments of `r` take values of the types `given`.
  bool enter(RegionId r, const Types& given) {
    const std::vector<ValueId>& args = check_.kernel.region(r).args;
    if (!check_.require(args.size() == given.size(), Code::V008, "`", name(op_.kind()), "` gives its region ",
                        given.size(), " arguments, not ", args.size()))
      return false;
    bool good = true;
    for (size_t i = 0; i < args.size(); ++i)
      good &= passes(check_.type(args[i]), given[i], Code::V008, "argument", args[i]);
    return good;
  }

  void leave(RegionId r, const Types& taken) {
    const std::vector<ValueId>& values = check_.kernel.terminator(r).as<op::Yield>().values;
    if (!check_.require(values.size() == taken.size(), Code::V007, "a region of `", name(op_.kind()), "` yields ",
                        values.size(), " values, not ", taken.size()))
      return;
    for (size_t i = 0; i < values.size(); ++i)
      passes(taken[i], check_.type(values[i]), Code::V007, "yielded", values[i]);
  }

  void results(const Types& carried) {
    if (!check_.require(op_.results.size() == carried.size(), Code::V009, "`", name(op_.kind()), "` carries ",
                        carried.size(), " values and has ", op_.results.size(), " results"))
      return;
    for (size_t i = 0; i < carried.size(); ++i)
      passes(check_.type(op_.results[i]), carried[i], Code::V009, "result", op_.results[i]);
  }

  bool passes(const Type& to, const Type& from, Code code, std::string_view what, ValueId v) {
    if (accepts(to, from)) return true;
    bool is_uniformity = equal_but_varying(to, from);
    return check_.report(is_uniformity ? Code::V060 : code, what, " ", v, ": ", from, " is not ", to);
  }

  Check& check_;
  const Op& op_;
};

class Control {
 public:
  explicit Control(Check& check) : check_(check) {}

  void operator()(const op::Launch& o) {
    for (ValueId v : o.extents) check_.require(check_.is_index(v), Code::V017, "the extent ", v, " is not an int");
    bool is_good = o.threads >= 0 && o.raster >= 0 && o.backwards >= kForward && o.backwards <= int64_t(o.extents.size()) && o.warps >= 0;
    for (int64_t size : o.cluster) is_good &= size > 0;
    is_good &= o.cluster.size() <= o.extents.size();
    check_.require(is_good, Code::V017, "a launch has a negative count, or a cluster with more axes");
  }
  void operator()(const op::For& o) {
    for (ValueId v : {o.low, o.high, o.step})
      check_.require(check_.is_index(v) && equal_but_varying(check_.type(v), check_.type(o.low)), Code::V016,
                     "the bound ", v, " of a loop is ", check_.type(v));
    positive(o.step);
    check_.require(o.stages >= 0, Code::V016, "a loop has a negative number of stages");
  }
  void operator()(const op::While& o) {
    const std::vector<ValueId>& values = check_.kernel.terminator(o.condition).as<op::Yield>().values;
    condition(values[0]);
    if (o.step.valid()) counted(o, values);
  }
  void operator()(const op::If& o) { condition(o.condition); }
  void operator()(const op::Yield&) {}

 private:
  void counted(const op::While& o, const std::vector<ValueId>& tested) {
    bool has_index = !o.inits.empty() && tested.size() > 1 && check_.is_index(o.inits[0]) && check_.is_index(o.step);
    check_.require(has_index, Code::V016, "a counted loop has no index");
    if (has_index)
      check_.require(tested[1] == check_.kernel.region(o.condition).args[0], Code::V016, "a condition changes its loop's index");
    positive(o.step);
  }
  void positive(ValueId step) {
    auto known = check_.kernel.constant(step);
    check_.require(!known || known->i > 0, Code::V016, "the step ", step, " of a loop is not positive");
  }
  void condition(ValueId v) {
    bool is_bool = check_.type(v).is_scalar() && check_.type(v).element == Scalar::Bool;
    check_.require(is_bool, Code::V016, "the condition ", v, " is ", check_.type(v));
  }
  Check& check_;
};

}  // namespace

void check_results_and_regions(Check& check) {
  const Op& op = check.op();
  size_t results = op.results.size();
  if (check.require(is_result_count(op.kind(), results), Code::V009, "`", name(op.kind()), "` has ", results,
                    " results"))
    visit(op.data, Regions(check));
}

void check_control(Check& check) {
  visit_control(check.op().data, Control(check), [] {});
}

}  // namespace tilec::ir::verifier
