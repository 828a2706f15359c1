// One launch's region as statements. A uniform value is a variable; a varying one an array with an element a lane, worked on
// by loops over the lanes that neighbouring operations share. A value's first lane is a variable of its own where `Demand`
// asks for it. Loop variables and results of control flow are variables that are assigned.
#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "target/abi/abi.h"
#include "target/abi/demand.h"
#include "target/abi/memory.h"
#include "target/c_family/scalar_text.h"

namespace tilec::target {

class CSpeller {
 public:
  struct Context {
    const ir::Kernel& kernel;
    const Abi& abi;
    int instance;
    int lanes;
  };
  CSpeller(const Context& context, ScalarText& scalars, int indent);

  // The values of the body that `roots` need, read from `slots`.
  void open_body(const std::vector<ir::ValueId>& roots);
  // Declares every buffer of the region, in `scratch` or on the stack.
  void open_launch(const ir::op::Launch& launch);
  void spell_block(const ir::op::Launch& launch, const std::vector<std::string>& indices);

  std::string uniform(ir::ValueId v) const;
  std::string product(const Product& product) const;
  // -1 where a factor is negative or 64 bits do not hold it.
  std::string size(const Product& product);
  int64_t scratch_bytes() const { return memory_.scratch_bytes; }
  void line(const std::string& text);  // at the present indentation; ends the loop over lanes
  void open(const std::string& head);
  void close();
  std::string take_text();

 private:
  const ir::Type& type(ir::ValueId v) const { return kernel_.type(v); }
  static int part_count(const ir::Type& type) { return type.kind == ir::TypeKind::Vector ? int(type.shape[0]) : 1; }

  // Names.
  std::string part_name(ir::ValueId v, int part) const;   // the variable, without its lane
  std::string lane_of(ir::ValueId v, int part, const std::string& lane = "l") const;
  std::string first_lane(ir::ValueId v) const;
  std::string& name_of(ir::ValueId v);

  // Statements.
  void lane_line(const std::string& declaration, const std::string& text);
  void end_lanes();
  void early_line(const std::string& text);  // before the loop over lanes that is open
  void define(ir::ValueId v, int part, const std::string& text);
  void define_lanes(ir::ValueId v, int part, const std::string& text);
  void define_first(ir::ValueId v, const std::string& text);
  std::string array_of(const ir::Type& type, const std::string& name) const;
  template <class Make> void elementwise(const ir::Op& op, Make make);

  // Control (control.cpp).
  void spell_ops(ir::RegionId region);
  void spell_op(const ir::Op& op);
  void declare_variable(ir::ValueId v);
  void assign(ir::ValueId variable, ir::ValueId value, const std::string& prefix);
  void assign_all(const std::vector<ir::ValueId>& variables, const std::vector<ir::ValueId>& values);
  void one(const ir::Op& op, const ir::op::For& x);
  void one(const ir::Op& op, const ir::op::While& x);
  void one(const ir::Op& op, const ir::op::If& x);

  // Scalars and lanes (operations.cpp).
  void one(const ir::Op& op, const ir::op::Constant& x);
  void one(const ir::Op& op, const ir::op::Unary& x);
  void one(const ir::Op& op, const ir::op::Binary& x);
  void one(const ir::Op& op, const ir::op::Fma& x);
  void one(const ir::Op& op, const ir::op::Overflows& x);
  void one(const ir::Op& op, const ir::op::Compare& x);
  void one(const ir::Op& op, const ir::op::Select& x);
  void one(const ir::Op& op, const ir::op::Convert& x);
  void one(const ir::Op& op, const ir::op::Extent& x);
  void one(const ir::Op& op, const ir::op::Stride& x);
  void one(const ir::Op& op, const ir::op::Present& x);
  void one(const ir::Op& op, const ir::op::ClusterBlocks& x);
  void one(const ir::Op& op, const ir::op::GridBlocks& x);
  void one(const ir::Op& op, const ir::op::BlockNumber& x);
  void one(const ir::Op& op, const ir::op::BlockIndex& x);
  void one(const ir::Op& op, const ir::op::IsAligned& x);
  void one(const ir::Op& op, const ir::op::ThreadIndex& x);
  void one(const ir::Op& op, const ir::op::LaneIndex& x);
  void one(const ir::Op& op, const ir::op::WarpIndex& x);
  void one(const ir::Op& op, const ir::op::Shuffle& x);
  void one(const ir::Op& op, const ir::op::Vote& x);
  void one(const ir::Op& op, const ir::op::WarpReduce& x);
  void one(const ir::Op& op, const ir::op::VectorMake& x);
  void one(const ir::Op& op, const ir::op::VectorElement& x);
  void one(const ir::Op& op, const ir::op::Fault& x);

  // Memory (memory.cpp).
  void one(const ir::Op& op, const ir::op::MemLoad& x);
  void one(const ir::Op& op, const ir::op::MemStore& x);
  void one(const ir::Op& op, const ir::op::MemAtomic& x);
  std::string address(ir::ValueId buffer, ir::ValueId index, int64_t lane_stride, int64_t element, bool in_lanes);
  std::string mask_test(ir::ValueId mask, bool in_lanes) const;
  std::string parameter_pointer(const ir::Param& param, const std::string& name) const;

  void one(const ir::Op&, const ir::op::Prefetch&) {}      // C has no word for it
  void one(const ir::Op&, const ir::op::BlockBarrier&) {}  // a block is one warp
  void one(const ir::Op&, const ir::op::Alloc&) {}         // declared by open_launch
  void one(const ir::Op&, const ir::op::Yield&) {}
  template <class T> void one(const ir::Op&, const T&) { UNREACHABLE("the operation is not one of a CPU's Thread form"); }

  const ir::Kernel& kernel_;
  const Abi& abi_;
  int instance_, lanes_;
  ScalarText& scalars_;
  int indent_;
  Demand demand_;
  LaunchMemory memory_;
  std::unordered_map<uint32_t, std::string> names_;
  std::unordered_set<uint32_t> has_first_;  // values whose first lane has a variable
  std::string text_, lane_text_;            // what is written; the body of the loop over lanes that is open
};

}  // namespace tilec::target
