#include "target/abi/abi.h"

#include <algorithm>

#include "base/check.h"
#include "target/abi/boxes.h"

namespace tilec::target {

namespace {

constexpr int kSlotBytes = 8;

Site site_at(const ir::Op& op) {
  const auto& fault = op.as<ir::op::Fault>();
  return {op.span, fault.line, fault.cause};
}

// Fills an Abi step by step: slots in the order of the call, then plan values in the order of their need.
class AbiMaker {
 public:
  explicit AbiMaker(const Export& exported) : exported_(exported), kernel_(*exported.instances.front().kernel) {}

  Abi make() {
    add_requirements();
    add_params();
    add_dims();
    add_shapes();
    int first_workspace = abi_.slot_count, slots = 0;
    for (size_t i = 0; i < exported_.instances.size(); ++i) slots = std::max(slots, add_instance(int(i), first_workspace));
    abi_.slot_count += slots;
    finish_args(slots > 0);
    return std::move(abi_);
  }

 private:
  void add_requirements() {
    for (size_t i = 0; i < exported_.instances.size(); ++i)
      for (const ir::Requirement& r : exported_.instances[i].kernel->requirements)
        if (!is_asked(r)) abi_.requirements.push_back({int(i), &r});
  }
  // Equal words at one place are one formula over names of the caller's, but for what is too long to be spelled.
  bool is_asked(const ir::Requirement& r) const {
    return r.text.find("...") == std::string::npos && std::ranges::any_of(abi_.requirements, [&](const RequirementAbi& known) {
      return known.requirement->text == r.text && known.requirement->span == r.span;
    });
  }

  void add_params() {
    for (const ir::Param& param : kernel_.params) {
      const ir::Type& type = kernel_.type(param.value);
      slot_of_.emplace(param.value.index, abi_.slot_count);
      abi_.params.push_back({.slot = abi_.slot_count++, .is_tensor = type.is_buffer(), .element = type.element,
                             .args_offset = type.is_buffer() ? tensor_member(param) : next_argument(byte_width(type.element))});
    }
  }

  // A tensor's member is its pointer, its shape and, where the parameter states them, its strides.
  int tensor_member(const ir::Param& param) {
    int offset = next_argument();
    for (size_t i = 0; i < param.extents.size() + param.strides.size(); ++i) next_argument();
    return offset;
  }

  void add_dims() {
    for (const ir::Dim& dim : kernel_.dims) {
      DimAbi out{.is_stride = is_stride(dim.value)};
      if (!dim.fixed) {
        out.slot = abi_.slot_count++;
        slot_of_.emplace(dim.value.index, out.slot);
      }
      abi_.dims.push_back(out);
    }
  }

  bool is_stride(ir::ValueId value) const {
    auto holds = [&](const std::vector<ir::ValueId>& values) { return std::ranges::find(values, value) != values.end(); };
    bool named_by_stride = false;
    for (const ir::Param& param : kernel_.params) {
      if (holds(param.extents)) return false;
      named_by_stride |= holds(param.strides);
    }
    return named_by_stride;
  }

  void add_shapes() {
    for (size_t i = 0; i < kernel_.params.size(); ++i) {
      for (ir::ValueId v : kernel_.params[i].extents) abi_.params[i].extents.push_back(call_value(v));
      for (ir::ValueId v : kernel_.params[i].strides) abi_.params[i].strides.push_back(call_value(v));
    }
  }

  // Workspaces and grids of one instance; returns how many workspace slots it uses.
  int add_instance(int index, int first_workspace) {
    const ir::Kernel& kernel = *exported_.instances[index].kernel;
    InstanceAbi out;
    for (ir::OpId id : kernel.region(kernel.body).ops) {
      const ir::Op& op = kernel.op(id);
      if (const auto* alloc = op.get<ir::op::Alloc>()) {
        int slot = first_workspace + int(out.workspaces.size());
        out.workspaces.push_back({id, alloc->name, slot, add_plan({.instance = index, .alloc = id})});
      } else if (const auto* launch = op.get<ir::op::Launch>()) {
        LaunchAbi launch_abi{.launch = id};
        for (ir::ValueId v : launch->extents) launch_abi.plan_extents.push_back(add_plan({.instance = index, .value = v}));
        out.launches.push_back(std::move(launch_abi));
        add_sites(kernel, launch->body);
      }
    }
    abi_.instances.push_back(std::move(out));
    return int(abi_.instances.back().workspaces.size());
  }

  void add_sites(const ir::Kernel& kernel, ir::RegionId region) {
    ir::each_op(kernel, region, [&](ir::OpId id) {
      const ir::Op& op = kernel.op(id);
      if (!op.is<ir::op::Fault>()) return;
      Site site = site_at(op);
      site.extent = dim_value(kernel, op.as<ir::op::Fault>().extent);
      if (std::ranges::none_of(abi_.sites, [&](const Site& s) { return s.is_at(site); })) abi_.sites.push_back(site);
    });
  }

  // A constant or a dim, in any instance's kernel: they have the same dims.
  CallValue dim_value(const ir::Kernel& kernel, ir::ValueId v) const {
    if (!v.valid()) return {};
    if (auto constant = kernel.constant(v)) return {Where::Constant, constant->i};
    for (size_t i = 0; i < kernel.dims.size(); ++i)
      if (kernel.dims[i].value == v && abi_.dims[i].slot >= 0) return {Where::Slot, abi_.dims[i].slot};
    return {};
  }

  void finish_args(bool has_workspace) {
    if (has_workspace) {
      abi_.workspace_slot = abi_.slot_count;
      abi_.slot_count += 2;
      abi_.args_workspace_offset = next_argument();
      next_argument();
    }
    abi_.args_stream_offset = next_argument();
    abi_.args_size = (next_offset_ + kSlotBytes - 1) / kSlotBytes * kSlotBytes;
  }

  // The next member of the args struct, laid out as C does; its first member is its size.
  int next_argument(int bytes = kSlotBytes) {
    int offset = (next_offset_ + bytes - 1) / bytes * bytes;
    next_offset_ = offset + bytes;
    return offset;
  }

  CallValue call_value(ir::ValueId v) {
    if (auto constant = kernel_.constant(v)) return {Where::Constant, constant->i};
    if (auto slot = slot_of_.find(v.index); slot != slot_of_.end()) return {Where::Slot, slot->second};
    return {Where::Plan, add_plan({.instance = 0, .value = v})};
  }

  int add_plan(PlanEntry entry) {
    for (size_t i = 0; i < abi_.plan.size(); ++i)
      if (abi_.plan[i].instance == entry.instance && entry.value.valid() && abi_.plan[i].value == entry.value)
        return kPlanFirst + int(i);
    abi_.plan.push_back(entry);
    return abi_.plan_count() - 1;
  }

  const Export& exported_;
  const ir::Kernel& kernel_;
  std::unordered_map<uint32_t, int> slot_of_;
  int next_offset_ = kSlotBytes;
  Abi abi_;
};

}  // namespace

Abi abi_of(const Export& exported) {
  INVARIANT(!exported.instances.empty(), "an exported function has an instance");
  return AbiMaker(exported).make();
}

int64_t argument_bytes(const Export& exported, const Abi& abi, int instance, int launch) {
  const ir::Kernel& kernel = *exported.instances[size_t(instance)].kernel;
  size_t boxes = boxes_of(kernel, kernel.op(abi.instances[size_t(instance)].launches[size_t(launch)].launch).as<ir::op::Launch>().body).size();
  int64_t bytes = (std::max(abi.slot_count, 1) + 1) * kSlotBytes;
  if (boxes) bytes = (bytes + kDescriptorAlignment - 1) / kDescriptorAlignment * kDescriptorAlignment + described_bytes(boxes);
  return bytes;
}

std::string plan_name(const Export& exported) { return "tile_of_" + exported.name + "_plan"; }

std::string launch_name(const Export& exported, int instance, int launch) {
  std::string name = exported.name + "_" + std::to_string(instance) + "_launch" + std::to_string(launch) + "_";
  for (char c : exported.instances[instance].machine->name) name += std::isalnum(uint8_t(c)) ? c : '_';
  return name;
}

int Abi::site_of(const ir::Op& fault) const {
  Site site = site_at(fault);
  auto found = std::ranges::find_if(sites, [&](const Site& s) { return s.is_at(site); });
  INVARIANT(found != sites.end(), "every fault of a launch is a site");
  return int(found - sites.begin());
}

}  // namespace tilec::target
