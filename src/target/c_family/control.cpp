// Regions and structured control as C text.
#include "target/c_family/speller.h"

namespace tilec::target {

void CSpeller::spell_ops(ir::RegionId region) {
  for (ir::OpId id : kernel_.region(region).ops) {
    const ir::Op& op = kernel_.op(id);
    bool is_wanted = has_effect(op) || ir::table(op.kind()) == ir::OpTable::Control;
    for (ir::ValueId v : op.results) is_wanted |= demand_.any(v);
    if (is_wanted) spell_op(op);
  }
  end_lanes();
}

void CSpeller::spell_op(const ir::Op& op) {
  ir::visit(op.data, [&](const auto& x) { one(op, x); });
}

// A variable of control flow, in the parts that are demanded.
void CSpeller::declare_variable(ir::ValueId v) {
  const ir::Type& t = type(v);
  name_of(v);
  if (demand_.lanes(v))
    for (int part = 0; part < part_count(t); ++part) line(array_of(t, part_name(v, part)) + ";");
  if (!t.varying || !demand_.first(v)) return;
  line(c_type(t.element) + " " + names_.at(v.index) + "_first;");
  has_first_.insert(v.index);
}

// `prefix` stands before the variable's name.
void CSpeller::assign(ir::ValueId variable, ir::ValueId value, const std::string& prefix) {
  const ir::Type& t = type(variable);
  for (int part = 0; demand_.lanes(variable) && part < part_count(t); ++part) {
    std::string name = prefix + part_name(variable, part);
    if (t.varying) lane_line("", name + "[l] = " + lane_of(value, part));
    else line(name + " = " + part_name(value, part) + ";");
  }
  if (t.varying && demand_.first(variable)) line(prefix + names_.at(variable.index) + "_first = " + first_lane(value) + ";");
}

// All at once: a value that is itself one of the variables is read before any of them changes.
void CSpeller::assign_all(const std::vector<ir::ValueId>& variables, const std::vector<ir::ValueId>& values) {
  bool meets = false;
  for (size_t i = 0; i < variables.size(); ++i)
    for (size_t j = 0; j < variables.size(); ++j)
      meets |= i != j && demand_.any(variables[i]) && names_.contains(values[i].index) &&
               names_.at(values[i].index) == names_.at(variables[j].index);
  if (!meets) {
    for (size_t i = 0; i < variables.size(); ++i)
      if (values[i] != variables[i]) assign(variables[i], values[i], "");
    return;
  }
  open("");
  for (size_t i = 0; i < variables.size(); ++i) {
    const ir::Type& t = type(variables[i]);
    for (int part = 0; demand_.lanes(variables[i]) && part < part_count(t); ++part)
      line(array_of(t, "next_" + part_name(variables[i], part)) + ";");
    if (t.varying && demand_.first(variables[i])) line(c_type(t.element) + " next_" + names_.at(variables[i].index) + "_first;");
    assign(variables[i], values[i], "next_");
  }
  end_lanes();
  for (ir::ValueId v : variables) {
    const ir::Type& t = type(v);
    for (int part = 0; demand_.lanes(v) && part < part_count(t); ++part) {
      std::string name = part_name(v, part);
      if (t.varying) lane_line("", name + "[l] = next_" + name + "[l]");
      else line(name + " = next_" + name + ";");
    }
    if (t.varying && demand_.first(v)) line(names_.at(v.index) + "_first = next_" + names_.at(v.index) + "_first;");
  }
  close();
}

void CSpeller::one(const ir::Op& op, const ir::op::For& x) {
  INVARIANT(!type(x.low).varying && !type(x.high).varying, "the lanes of a CPU loop together");
  const std::vector<ir::ValueId>& args = kernel_.region(x.body).args;
  std::vector<ir::ValueId> carried(args.begin() + 1, args.end());
  for (ir::ValueId v : carried) declare_variable(v);
  for (size_t i = 0; i < carried.size(); ++i) assign(carried[i], x.inits[i], "");
  std::string i = name_of(args[0]);
  std::string step = uniform(x.step), next = i + " += " + step;
  if (x.guarded) next = i + " = " + i + " > INT64_MAX - " + step + " ? INT64_MAX : " + i + " + " + step;
  open("for (int64_t " + i + " = " + uniform(x.low) + "; " + i + " < " + uniform(x.high) + "; " + next + ")");
  spell_ops(x.body);
  assign_all(carried, kernel_.terminator(x.body).as<ir::op::Yield>().values);
  close();
  for (size_t r = 0; r < op.results.size(); ++r) {
    name_of(op.results[r]) = names_.at(carried[r].index);
    if (has_first_.contains(carried[r].index)) has_first_.insert(op.results[r].index);
  }
}

void CSpeller::one(const ir::Op& op, const ir::op::While& x) {
  const std::vector<ir::ValueId>& tested = kernel_.region(x.condition).args;
  const std::vector<ir::ValueId>& args = kernel_.region(x.body).args;
  const std::vector<ir::ValueId>& passed = kernel_.terminator(x.condition).as<ir::op::Yield>().values;
  INVARIANT(!type(passed[0]).varying, "the lanes of a CPU loop together");
  for (ir::ValueId v : tested) declare_variable(v);
  for (ir::ValueId v : args) declare_variable(v);
  for (size_t i = 0; i < tested.size(); ++i) assign(tested[i], x.inits[i], "");
  open("for (;;)");
  spell_ops(x.condition);
  for (size_t i = 0; i < args.size(); ++i) assign(args[i], passed[i + 1], "");
  line("if (!" + uniform(passed[0]) + ") break;");
  spell_ops(x.body);
  assign_all(tested, kernel_.terminator(x.body).as<ir::op::Yield>().values);
  close();
  for (size_t r = 0; r < op.results.size(); ++r) {
    name_of(op.results[r]) = names_.at(args[r].index);
    if (has_first_.contains(args[r].index)) has_first_.insert(op.results[r].index);
  }
}

void CSpeller::one(const ir::Op& op, const ir::op::If& x) {
  INVARIANT(!type(x.condition).varying, "the lanes of a CPU branch together");
  for (ir::ValueId v : op.results) declare_variable(v);
  open("if (" + uniform(x.condition) + ")");
  auto side = [&](ir::RegionId region) {
    if (!region.valid()) return;
    spell_ops(region);
    const std::vector<ir::ValueId>& yields = kernel_.terminator(region).as<ir::op::Yield>().values;
    for (size_t i = 0; i < op.results.size(); ++i) assign(op.results[i], yields[i], "");
  };
  side(x.then_body);
  close();
  if (!x.else_body.valid() || kernel_.region(x.else_body).ops.size() + op.results.size() <= 1) return;
  open("else");
  side(x.else_body);
  close();
}

}  // namespace tilec::target
