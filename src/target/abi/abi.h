// The call of an exported function as numbers: which slot holds which argument, which plan value is computed from them.
// Made once from the export; the spellers, the descriptor and the header all read it.
//
// SLOTS, eight bytes each: parameters as written (pointers; scalars as their bits), dims that `where` has not fixed,
// workspace addresses (instances share them), the caller's workspace and its size.
// PLAN, made by pure code from the slots: [0] the first requirement that fails or -1, [1] bit i: the guard of instance i
// holds, then what is needed of extents, strides, workspace sizes and grids.
#pragma once
#include <string>
#include <vector>

#include "target/abi/export.h"

namespace tilec::target {

constexpr int kPlanFailed = 0, kPlanGuards = 1, kPlanFirst = 2;

// A number known when the call is made; Arithmetic: of a site that is no access.
enum class Where : uint8_t { None, Constant, Slot, Plan, Arithmetic };
struct CallValue {
  Where where = Where::None;
  int64_t value = 0;  // the constant, or the index of the slot or of the plan value
  friend bool operator==(const CallValue&, const CallValue&) = default;
};

struct ParamAbi {
  int slot = 0;
  bool is_tensor = false;
  Scalar element = Scalar::F32;
  std::vector<CallValue> extents, strides;  // strides empty: dense
  int args_offset = 0;                      // of its member in the args struct
};
struct DimAbi {
  int slot = -1;           // -1: fixed at compile time
  bool is_stride = false;  // named by strides alone
};
struct WorkspaceAbi {
  ir::OpId alloc;
  std::string name;
  int slot = 0, plan_bytes = 0;
};
struct LaunchAbi {
  ir::OpId launch;
  std::vector<int> plan_extents;
};
struct InstanceAbi {
  std::vector<WorkspaceAbi> workspaces;
  std::vector<LaunchAbi> launches;
};
// What entry kPlanFirst + i of the plan is: a value of an instance's body, or the size of a workspace.
struct PlanEntry {
  int instance = 0;
  ir::ValueId value;
  ir::OpId alloc;
};
// A place that can fail at run time; the number of a site is its index.
struct Site {
  Span span;
  int64_t line = 0;
  ir::FaultCause cause = ir::FaultCause::Outside;
  CallValue extent;  // that an index has left, where the call knows it
  bool is_at(const Site& other) const { return span == other.span && line == other.line && cause == other.cause; }
};

// What a call must hold, in the order in which it is asked for: those of the first instance, then what the others compute that it does not.
struct RequirementAbi {
  int instance = 0;
  const ir::Requirement* requirement = nullptr;
};

struct Abi {
  std::vector<RequirementAbi> requirements;
  std::vector<ParamAbi> params;
  std::vector<DimAbi> dims;
  std::vector<InstanceAbi> instances;
  std::vector<PlanEntry> plan;
  std::vector<Site> sites;
  int slot_count = 0;
  int workspace_slot = -1;  // the caller's workspace, then its size; -1: the function has none
  int args_workspace_offset = -1, args_stream_offset = 0, args_size = 0;

  int plan_count() const { return kPlanFirst + int(plan.size()); }
  int site_of(const ir::Op& fault) const;
};
Abi abi_of(const Export& exported);
// What a launch on a device is handed: the slots, the place of the fault word, descriptors of its boxes.
int64_t argument_bytes(const Export& exported, const Abi& abi, int instance, int launch);

// The names of the functions that are generated for an export; they do not leave the object.
std::string plan_name(const Export& exported);
std::string launch_name(const Export& exported, int instance, int launch);

// The body values that `roots` are made of, in program order, without arguments.
std::vector<ir::OpId> body_ops_for(const ir::Kernel& kernel, const std::vector<ir::ValueId>& roots);
// The values behind an operation that asks for an extent or a stride.
std::vector<ir::ValueId> shape_operands(const ir::Kernel& kernel, const ir::Op& op);
// The body values that a region reads: captured scalars, extents and strides of the buffers that it asks about.
std::vector<ir::ValueId> captured_values(const ir::Kernel& kernel, ir::RegionId region);
// Extent or stride of a buffer as a product of body values and a constant.
struct Product {
  std::vector<ir::ValueId> factors;
  int64_t constant = 1;
};
Product extent_of(const ir::Kernel& kernel, ir::ValueId buffer, int64_t axis);
Product stride_of(const ir::Kernel& kernel, ir::ValueId buffer, int64_t axis);
// Bytes of a workspace: its extents times its element. Negative where 64 bits do not hold the constant part.
Product bytes_of(const ir::Kernel& kernel, ir::OpId alloc);

}  // namespace tilec::target
