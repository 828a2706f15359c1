#include "target/abi/descriptor.h"

#include "base/check.h"
#include "target/abi/boxes.h"
#include "target/abi/c_names.h"
#include "target/abi/deal.h"

namespace tilec::target {

using namespace datum;

namespace {

// No export begins so, and no table of one export is called like one of another's.
std::string table_name(const Export& exported, const std::string& suffix) { return "tile_of_" + exported.name + "_" + suffix; }

}  // namespace

std::string descriptor_name(const Export& exported) { return table_name(exported, "kernel"); }

namespace {

constexpr int kAbi = 1;                             // TILE_ABI
constexpr int kTensor = 0, kScalar = 1;             // TILE_TENSOR ...
constexpr int kRead = 1, kWritten = 2;
constexpr int kBounds = 11;                         // TILE_BOUNDS
constexpr int kInfoBytes = 48;                      // sizeof(tile_info)

// A struct tile_loaded, empty.
Table loaded_table(std::string name) { return {std::move(name), "struct tile_loaded", {{I64{0}, I64{0}, I64{0}, I64{0}}}, false}; }

std::string image_name(const Machine& machine) { return "tile_image_" + std::string(machine.name); }

class DescriptorMaker {
 public:
  DescriptorMaker(const Program& program, const Export& exported, const Abi& abi, const ScratchBytes& scratch,
                  const std::vector<int>& levels)
      : program_(program), exported_(exported), kernel_(*exported.instances.front().kernel), abi_(abi), scratch_(scratch),
        levels_(levels) {}

  std::vector<Table> make() {
    std::string params = add_params(), dims = add_dims(), requirements = add_requirements(), sites = add_sites();
    std::string instances = add_instances();
    std::vector<Datum> row = {Open{}, I32{kInfoBytes}, I32{kAbi}, Text{exported_.name}, Text{exported_.signature},
                              Text{exported_.source}, Text{targets()}, Text{program_.compiler}, Close{}};
    for (const Datum& d : std::vector<Datum>{Function{plan_name(exported_)}, Address{params}, Address{dims}, Address{requirements},
                                             Address{sites}, Address{instances}, Address{add_fault()}})
      row.push_back(d);
    for (int64_t n : {int64_t(abi_.params.size()), int64_t(abi_.dims.size()), int64_t(abi_.requirements.size()),
                      int64_t(abi_.sites.size()), int64_t(exported_.instances.size()), int64_t(abi_.slot_count),
                      int64_t(abi_.plan_count()), int64_t(abi_.workspace_slot), int64_t(abi_.args_size),
                      int64_t(abi_.args_workspace_offset), int64_t(abi_.args_stream_offset), int64_t(0)})
      row.push_back(I32{n});
    tables_.push_back({descriptor_name(exported_), "struct tile_kernel", {row}});
    return std::move(tables_);
  }

 private:
  // Adds a table unless it is empty; returns its name.
  std::string add(const std::string& suffix, std::string type, std::vector<std::vector<Datum>> rows) {
    if (rows.empty()) return "";
    tables_.push_back({table_name(exported_, suffix), std::move(type), std::move(rows)});
    return tables_.back().name;
  }

  static void append(std::vector<Datum>& row, const CallValue& value) {
    for (Datum d : {Datum(Open{}), Datum(I64{value.value}), Datum(I64{int64_t(value.where)}), Datum(Close{})}) row.push_back(d);
  }

  std::string add_values(const std::string& suffix, const std::vector<CallValue>& values) {
    std::vector<std::vector<Datum>> rows;
    for (const CallValue& v : values) rows.push_back({I64{v.value}, I64{int64_t(v.where)}});
    return add(suffix, "struct tile_value", std::move(rows));
  }

  std::string place(Span span) const {
    if (!program_.sources || !span.valid()) return "";
    LineColumn at = program_.sources->place(span);
    return std::string(program_.sources->name(span.file)) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
  }

  std::string targets() const {
    std::string names;
    for (const Instance& instance : exported_.instances) {
      std::string name(instance.machine->name);
      if ((" " + names + " ").find(" " + name + " ") == std::string::npos) names += (names.empty() ? "" : " ") + name;
    }
    return names;
  }

  std::string add_params() {
    std::vector<std::vector<Datum>> rows;
    for (size_t i = 0; i < abi_.params.size(); ++i) {
      const ir::Param& param = kernel_.params[i];
      const ParamAbi& p = abi_.params[i];
      std::string tag = std::to_string(i);
      std::string extents = add_values("extents" + tag, p.extents), strides = add_values("strides" + tag, p.strides);
      int access = (param.access != ir::Access::Out ? kRead : 0) | (param.access != ir::Access::In ? kWritten : 0);
      int64_t alignment = p.is_tensor ? byte_width(p.element) : 1;
      rows.push_back({Text{param.name}, Text{std::string(name(p.element))}, Address{extents}, Address{strides},
                      I32{p.is_tensor ? kTensor : kScalar}, I32{bit_width(p.element)}, I32{alignment}, I32{access},
                      I32{param.may_alias}, I32{param.may_be_null}, I32{int64_t(p.extents.size())}, I32{p.slot},
                      I32{p.args_offset}, I32{0}});
    }
    return add("params", "struct tile_param", std::move(rows));
  }

  std::string add_dims() {
    std::vector<std::vector<Datum>> rows;
    for (size_t i = 0; i < abi_.dims.size(); ++i)
      rows.push_back({Text{kernel_.dims[i].name}, I64{kernel_.dims[i].fixed.value_or(0)}, I32{abi_.dims[i].slot},
                      I32{abi_.dims[i].is_stride}});
    return add("dims", "struct tile_dim", std::move(rows));
  }

  std::string add_requirements() {
    std::vector<std::vector<Datum>> rows;
    for (const RequirementAbi& r : abi_.requirements) rows.push_back({Text{r.requirement->text}, Text{place(r.requirement->span)}});
    return add("requirements", "struct tile_requirement", std::move(rows));
  }

  std::string add_sites() {
    std::vector<std::vector<Datum>> rows;
    for (const Site& site : abi_.sites) {
      bool has_source = program_.sources && site.span.valid();
      std::string text = has_source ? std::string(program_.sources->text(site.span)) : "access";
      if (site.cause == ir::FaultCause::Division) text = "division by zero in " + text;
      if (site.cause == ir::FaultCause::Overflow) text += " leaves 64 bits";
      std::vector<Datum> row = {Text{place(site.span)}, Text{text}};
      append(row, site.cause == ir::FaultCause::Outside ? site.extent : CallValue{Where::Arithmetic});
      row.push_back(I64{kBounds});
      rows.push_back(std::move(row));
    }
    return add("sites", "struct tile_site", std::move(rows));
  }

  std::string add_launches(size_t instance) {
    const ir::Kernel& kernel = *exported_.instances[instance].kernel;
    std::vector<std::vector<Datum>> rows;
    for (size_t k = 0; k < abi_.instances[instance].launches.size(); ++k) {
      const LaunchAbi& launch = abi_.instances[instance].launches[k];
      const ir::Op& op = kernel.op(launch.launch);
      const auto& shape = op.as<ir::op::Launch>();
      std::string tag = std::to_string(instance) + "_" + std::to_string(k);
      std::vector<std::vector<Datum>> names, extents;
      for (ir::ValueId v : kernel.region(shape.body).args) names.push_back({Text{kernel.value(v).hint}});
      for (int index : launch.plan_extents) extents.push_back({I32{index}});
      std::vector<std::vector<Datum>> cluster;
      for (int64_t size : shape.cluster) cluster.push_back({I32{size}});
      std::string name_table = add("index_names" + tag, "char *const", std::move(names));
      std::string extent_table = add("grid" + tag, "int32_t", std::move(extents));
      const Instance& of = exported_.instances[instance];
      std::string symbol = launch_name(exported_, int(instance), int(k));
      std::vector<Datum> row = {Text{place(op.span)}, Address{name_table}, Address{extent_table}};
      bool has_image = image_of(program_, of);
      row.push_back(has_image ? Datum(Address{}) : Datum(Function{symbol}));
      for (Datum d : {Datum(I64{scratch_[instance][k]}), Datum(I64{1})}) row.push_back(d);
      row.push_back(has_image ? Datum(Text{symbol}) : Datum(Address{}));
      row.push_back(Address{has_image ? add_loaded(tag) : ""});
      std::vector<BoxAbi> boxes = has_image ? boxes_of(kernel, shape.body) : std::vector<BoxAbi>{};
      row.push_back(Address{add_boxes(tag, boxes)});
      row.push_back(Address{add("cluster" + tag, "int32_t", std::move(cluster))});
      int64_t threads = has_image ? std::max<int64_t>(shape.warps, 1) * of.machine->lanes : 0;
      for (int64_t n : {int64_t(launch.plan_extents.size()), threads, int64_t(boxes.size()), int64_t(has_image && of.machine->has(Cap::DependentLaunch)), int64_t(has_image && shape.persistent), int64_t(has_image && takes_blocks(kernel, shape.body))}) row.push_back(I32{n});
      rows.push_back(std::move(row));
    }
    return add("launches" + std::to_string(instance), "struct tile_launch", std::move(rows));
  }

  // TILE_BOX_MOVES, or which float the box's elements are.
  static int64_t adding(const BoxAbi& box) {
    if (!box.adds) return 0;
    return *box.adds == Scalar::F16 ? 1 : *box.adds == Scalar::BF16 ? 2 : 3;
  }

  std::string add_boxes(const std::string& tag, const std::vector<BoxAbi>& boxes) {
    constexpr size_t kRank = 5;  // TILE_BOX_RANK
    std::vector<std::vector<Datum>> rows;
    for (const BoxAbi& box : boxes) {
      INVARIANT(box.extents.size() <= kRank, "engines know tensors of few dimensions");
      std::vector<Datum> row = {I32{box.param}, I32{box.swizzle}, Open{}};
      for (size_t axis = 0; axis < kRank; ++axis) row.push_back(I32{axis < box.extents.size() ? box.extents[axis] : 0});
      for (Datum d : {Datum(Close{}), Datum(I32{adding(box)}), Datum(I32{box.is_packed})}) row.push_back(d);
      rows.push_back(std::move(row));
    }
    return add("boxes" + tag, "struct tile_box", std::move(rows));
  }

  // Where devices leave their fault word: the address of one, which the launcher finds.
  std::string add_fault() {
    bool has_image = std::ranges::any_of(exported_.instances, [&](const Instance& i) { return image_of(program_, i); });
    if (!has_image || abi_.sites.empty()) return "";
    tables_.push_back({table_name(exported_, "fault"), "int64_t", {{I64{0}}}, false});
    return tables_.back().name;
  }

  std::string add_loaded(const std::string& tag) {
    tables_.push_back(loaded_table(table_name(exported_, "loaded" + tag)));
    return tables_.back().name;
  }

  std::string add_workspaces(size_t instance) {
    std::vector<std::vector<Datum>> rows;
    for (const WorkspaceAbi& w : abi_.instances[instance].workspaces) rows.push_back({Text{w.name}, I32{w.plan_bytes}, I32{w.slot}});
    return add("workspaces" + std::to_string(instance), "struct tile_workspace", std::move(rows));
  }

  std::string add_instances() {
    std::vector<std::vector<Datum>> rows;
    for (size_t i = 0; i < exported_.instances.size(); ++i) {
      std::string launches = add_launches(i), workspaces = add_workspaces(i);
      const Instance& of = exported_.instances[i];
      std::string image = image_of(program_, of) ? image_name(*of.machine) : "";
      rows.push_back({Text{of.guard_text}, Address{launches}, Address{workspaces}, Address{image}, I32{levels_[i]},
                      I32{int64_t(abi_.instances[i].launches.size())}, I32{int64_t(abi_.instances[i].workspaces.size())}, I32{0}});
    }
    return add("instances", "struct tile_instance", std::move(rows));
  }

  const Program& program_;
  const Export& exported_;
  const ir::Kernel& kernel_;
  const Abi& abi_;
  const ScratchBytes& scratch_;
  const std::vector<int>& levels_;
  std::vector<Table> tables_;
};

}  // namespace

std::vector<Table> descriptor_of(const Program& program, const Export& exported, const Abi& abi,
                                 const ScratchBytes& scratch, const std::vector<int>& levels) {
  return DescriptorMaker(program, exported, abi, scratch, levels).make();
}

namespace {

bool has_packed_boxes(const Program& program, const Image& image) {
  for (const Export& exported : program.exports)
    for (const Instance& instance : exported.instances)
      if (instance.machine == image.machine && target::has_packed_boxes(*instance.kernel)) return true;
  return false;
}

// The launch of the function that packs tensors; returns its name.
std::string add_pack(std::vector<Table>& tables, const std::string& image, const Machine& machine) {
  std::string name = image + "_pack", loaded = name + "_loaded";
  tables.push_back(loaded_table(loaded));
  std::vector<Datum> row = {Text{kPackName}, Address{}, Address{}, Address{}, I64{0}, I64{1}, Text{kPackName}, Address{loaded}, Address{}, Address{}};
  for (int64_t n : {0, kPackThreads, 0, int(machine.has(Cap::DependentLaunch)), 0, 0}) row.push_back(I32{n});
  tables.push_back({name, "struct tile_launch", {std::move(row)}});
  return name;
}

}  // namespace

std::vector<Table> image_tables(const Program& program) {
  std::vector<Table> tables;
  for (const Image& image : program.images) {
    std::string name = image_name(*image.machine), loaded = name + "_loaded";
    tables.push_back(loaded_table(loaded));
    std::string pack = has_packed_boxes(program, image) ? add_pack(tables, name, *image.machine) : "";
    tables.push_back({name, "struct tile_image",
                      {{Foreign{image.launcher}, Text{std::string(image.machine->name)}, Bytes{image.text}, Bytes{image.code}, Address{loaded}, Address{pack},
                        I32{image.generation}, I32{image.is_exact}}}});
  }
  return tables;
}

std::vector<EntryAbi> entries_of(const Export& exported, const Abi& abi) {
  const ir::Kernel& kernel = *exported.instances.front().kernel;
  std::vector<ArgumentAbi> all, shapes;
  std::vector<std::string> names;
  for (const ir::Param& param : kernel.params) names.push_back(param.name);
  for (size_t i = 0; i < abi.dims.size(); ++i)
    if (abi.dims[i].slot >= 0) names.push_back(kernel.dims[i].name);
  names = argument_names(names);
  for (size_t i = 0; i < abi.params.size(); ++i) {
    const ParamAbi& p = abi.params[i];
    ArgumentAbi argument{p.is_tensor ? Argument::Pointer : Argument::Scalar, names[all.size()], p.element, p.slot};
    all.push_back(argument);
    if (!p.is_tensor) shapes.push_back(argument);
  }
  for (size_t i = 0; i < abi.dims.size(); ++i) {
    if (abi.dims[i].slot < 0) continue;
    all.push_back({Argument::Dim, names[all.size()], Scalar::Index, abi.dims[i].slot});
    shapes.push_back(all.back());
  }
  const ArgumentAbi stream{Argument::Stream, "stream"};
  bool has_workspace = abi.workspace_slot >= 0;
  if (has_workspace) {
    all.push_back({Argument::Workspace, "workspace", Scalar::Index, abi.workspace_slot});
    all.push_back({Argument::WorkspaceBytes, "workspace_bytes", Scalar::Index, abi.workspace_slot + 1});
  }
  all.push_back(stream);
  shapes.push_back({Argument::SizeOut, "bytes"});
  std::vector<EntryAbi> entries = {{exported.name, "tile_call", all, true},
                                   {exported.name + "_call", "tile_call_struct", {{Argument::ArgsStruct, "args"}}},
                                   {exported.name + "_load", "tile_load", {}},
                                   {exported.name + "_check", "tile_check", {stream}},
                                   {exported.name + "_info", "", {}},
                                   {exported.name + "_workspace_size", "tile_workspace_size", shapes, true}};
  return entries;
}

}  // namespace tilec::target
