#include "target/c_family/speller.h"

namespace tilec::target {

CSpeller::CSpeller(const Context& context, ScalarText& scalars, int indent)
    : kernel_(context.kernel), abi_(context.abi), instance_(context.instance), lanes_(context.lanes), scalars_(scalars),
      indent_(indent) {
  demand_.bits.assign(kernel_.values.size(), Demand::kLanes);
}

void CSpeller::line(const std::string& text) {
  end_lanes();
  text_ += std::string(size_t(indent_) * 2, ' ') + text + "\n";
}

void CSpeller::early_line(const std::string& text) { text_ += std::string(size_t(indent_) * 2, ' ') + text + "\n"; }

void CSpeller::open(const std::string& head) {
  line(head + " {");
  ++indent_;
}

void CSpeller::close() {
  end_lanes();
  --indent_;
  line("}");
}

std::string CSpeller::take_text() {
  end_lanes();
  return std::move(text_);
}

// Adds to the loop over lanes; what it declares stands before the loop.
void CSpeller::lane_line(const std::string& declaration, const std::string& text) {
  std::string space(size_t(indent_) * 2, ' ');
  if (!declaration.empty()) text_ += space + declaration + ";\n";
  lane_text_ += space + "  " + text + ";\n";
}

void CSpeller::end_lanes() {
  if (lane_text_.empty()) return;
  std::string space(size_t(indent_) * 2, ' ');
  text_ += space + "for (int l = 0; l < " + std::to_string(lanes_) + "; ++l) {\n" + lane_text_ + space + "}\n";
  lane_text_.clear();
}

std::string& CSpeller::name_of(ir::ValueId v) {
  auto [name, is_new] = names_.try_emplace(v.index);
  if (is_new) name->second = "v" + std::to_string(v.index);
  return name->second;
}

std::string CSpeller::part_name(ir::ValueId v, int part) const {
  auto name = names_.find(v.index);
  INVARIANT(name != names_.end(), "a value is spelled before it is used");
  return part_count(type(v)) == 1 ? name->second : name->second + "_" + std::to_string(part);
}

// The number that a lane holds; a uniform value gives the same to all.
std::string CSpeller::lane_of(ir::ValueId v, int part, const std::string& lane) const {
  std::string name = part_name(v, part_count(type(v)) == 1 ? 0 : part);
  return type(v).varying ? name + "[" + lane + "]" : name;
}

std::string CSpeller::first_lane(ir::ValueId v) const {
  if (has_first_.contains(v.index)) return names_.at(v.index) + "_first";
  return lane_of(v, 0, "0");
}

std::string CSpeller::uniform(ir::ValueId v) const {
  INVARIANT(!type(v).varying, "the value is one for all lanes");
  return part_name(v, 0);
}

std::string CSpeller::product(const Product& product) const {
  std::string text = c_literal(Scalar::Index, ir::Number::integer(product.constant));
  for (ir::ValueId v : product.factors) text += " * " + uniform(v);
  return text;
}

std::string CSpeller::size(const Product& product) {
  std::string text = c_literal(Scalar::Index, ir::Number::integer(product.constant));
  for (ir::ValueId v : product.factors) text = scalars_.size_product(text, uniform(v));
  return text;
}

std::string CSpeller::array_of(const ir::Type& type, const std::string& name) const {
  return c_type(type.element) + " " + name + (type.varying ? "[" + std::to_string(lanes_) + "]" : "");
}

// What is uniform is made of what is uniform, or ended the loop over lanes before.
void CSpeller::define(ir::ValueId v, int part, const std::string& text) {
  name_of(v);
  early_line("const " + c_type(type(v).element) + " " + part_name(v, part) + " = " + text + ";");
}

void CSpeller::define_lanes(ir::ValueId v, int part, const std::string& text) {
  name_of(v);
  std::string name = part_name(v, part);
  lane_line(array_of(type(v), name), name + "[l] = " + text);
}

// Made of first lanes too, unless one of them has to be taken out of an array.
void CSpeller::define_first(ir::ValueId v, const std::string& text) {
  if (text.find("[0]") != std::string::npos) end_lanes();
  early_line("const " + c_type(type(v).element) + " " + name_of(v) + "_first = " + text + ";");
  has_first_.insert(v.index);
}

std::string CSpeller::parameter_pointer(const ir::Param& param, const std::string& name) const {
  // Two pointers that may meet, whichever they are, make `restrict` wrong for all.
  bool any_alias = std::ranges::any_of(kernel_.params, [](const ir::Param& p) { return p.may_alias; });
  std::string pointee = (param.access == ir::Access::In ? "const " : "") + c_memory_type(type(param.value).element);
  return pointee + " *" + (any_alias ? "" : "restrict ") + name;
}

void CSpeller::open_body(const std::vector<ir::ValueId>& roots) {
  std::vector<ir::OpId> ops = body_ops_for(kernel_, roots);
  std::vector<ir::ValueId> wanted = roots;
  for (ir::OpId id : ops)
    for (ir::ValueId v : shape_operands(kernel_, kernel_.op(id))) wanted.push_back(v);
  demand_ = demand_of(kernel_, ops, wanted);
  auto slot = [](int index) { return "slots[" + std::to_string(index) + "]"; };
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const ir::Param& param = kernel_.params[i];
    if (!demand_.any(param.value)) continue;
    const ir::Type& t = type(param.value);
    std::string name = name_of(param.value), from = slot(abi_.params[i].slot);
    if (t.is_buffer()) line(parameter_pointer(param, name) + " = (" + c_memory_type(t.element) + " *)(intptr_t)" + from + ";");
    else if (t.element == Scalar::Bool) line("const bool " + name + " = " + from + " != 0;");
    else if (t.element != Scalar::F32 && t.element != Scalar::F64) line("const " + c_type(t.element) + " " + name + " = (" + c_type(t.element) + ")" + from + ";");
    else {
      line(c_type(t.element) + " " + name + ";");
      line("memcpy(&" + name + ", &" + from + ", sizeof " + name + ");");
    }
  }
  for (size_t i = 0; i < kernel_.dims.size(); ++i) {
    const ir::Dim& dim = kernel_.dims[i];
    if (abi_.dims[i].slot >= 0) name_of(dim.value) = slot(abi_.dims[i].slot);
    else if (!kernel_.definition(dim.value)) name_of(dim.value) = c_literal(Scalar::Index, ir::Number::integer(*dim.fixed));
  }
  for (const WorkspaceAbi& w : abi_.instances[instance_].workspaces) {
    ir::ValueId v = kernel_.op(w.alloc).result();
    if (!demand_.any(v)) continue;
    std::string element = c_memory_type(type(v).element);
    line(element + " *" + name_of(v) + " = (" + element + " *)(intptr_t)" + slot(w.slot) + ";");
  }
  for (ir::OpId id : ops) spell_op(kernel_.op(id));
}

void CSpeller::open_launch(const ir::op::Launch& launch) {
  demand_ = demand_of(kernel_, launch.body);
  memory_ = plan_memory(kernel_, launch.body, lanes_);
  for (const BufferHome& home : memory_.homes) {
    ir::ValueId v = kernel_.op(home.alloc).result();
    std::string element = c_memory_type(type(v).element), name = name_of(v);
    if (home.on_stack) line(element + " " + name + "[" + std::to_string(std::max<int64_t>(home.elements, 1)) + "];");
    else line(element + " *" + name + " = (" + element + " *)(void *)((char *)scratch + " + std::to_string(home.offset) + ");");
  }
}

void CSpeller::spell_block(const ir::op::Launch& launch, const std::vector<std::string>& indices) {
  const std::vector<ir::ValueId>& args = kernel_.region(launch.body).args;
  for (size_t i = 0; i < args.size(); ++i) name_of(args[i]) = indices[i];
  spell_ops(launch.body);
}

}  // namespace tilec::target
