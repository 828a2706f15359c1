// Loads, stores and atomics as C text.
#include "target/c_family/speller.h"

namespace tilec::target {

// The element that lane `l` (or, outside of a loop over lanes, the warp) reaches.
std::string CSpeller::address(ir::ValueId buffer, ir::ValueId index, int64_t lane_stride, int64_t element, bool in_lanes) {
  const ir::Type &memory = type(buffer), &number = type(index);
  std::string at;
  if (starts_at_first_lane(memory, number, lane_stride)) {
    at = first_lane(index);
    if (in_lanes && lane_stride == 1) at += " + l";
    else if (in_lanes && lane_stride != 0) at += " + l * " + std::to_string(lane_stride);
  } else {
    at = lane_of(index, 0);
  }
  if (element) at += " + " + std::to_string(element);
  if (memory.varying) at = "(" + at + ") * " + std::to_string(lanes_) + " + l";
  return names_.at(buffer.index) + "[" + at + "]";
}

std::string CSpeller::mask_test(ir::ValueId mask, bool in_lanes) const {
  if (!mask.valid()) return "";
  if (auto known = kernel_.constant(mask); known && known->i) return "";
  INVARIANT(in_lanes || !type(mask).varying, "an access that lanes mask on their own is made by each lane");
  return lane_of(mask, 0);
}

void CSpeller::one(const ir::Op& op, const ir::op::MemLoad& x) {
  const ir::Type& t = type(op.result());
  for (int part = 0; part < part_count(t); ++part) {
    std::string from = address(x.buffer, x.index, x.lane_stride, part, t.varying), mask = mask_test(x.mask, t.varying);
    if (t.element == Scalar::Bool) from += " != 0";
    if (!mask.empty()) from = mask + " ? " + from + " : 0";
    if (t.varying) define_lanes(op.result(), part, from);
    else define(op.result(), part, from);
  }
}

// A loop over lanes of its own: what other lanes load comes before or after the whole store.
void CSpeller::one(const ir::Op&, const ir::op::MemStore& x) {
  end_lanes();
  bool varies = type(x.value).varying || type(x.index).varying || type(x.buffer).varying || (x.mask.valid() && type(x.mask).varying);
  std::string mask = mask_test(x.mask, varies);
  for (int part = 0; part < part_count(type(x.value)); ++part) {
    std::string text = address(x.buffer, x.index, x.lane_stride, part, varies) + " = " + lane_of(x.value, part);
    if (!mask.empty()) text = "if (" + mask + ") " + text;
    if (varies) lane_line("", text);
    else line(text + ";");
    end_lanes();
  }
}

// Like a store: what lanes load comes before or after all of it.
void CSpeller::one(const ir::Op& op, const ir::op::MemAtomic& x) {
  end_lanes();
  const bool is_bool = type(x.buffer).element == Scalar::Bool;
  const Scalar element = is_bool ? Scalar::U8 : type(x.buffer).element;
  bool has_result = !op.results.empty() && demand_.any(op.result());
  bool varies = type(x.index).varying || (x.mask.valid() && type(x.mask).varying) || type(x.buffer).varying;
  std::vector<std::string> operands;
  for (ir::ValueId v : x.operands) {
    operands.push_back(lane_of(v, 0));
    varies |= type(v).varying;
  }
  if (has_result) varies |= type(op.result()).varying;
  std::string mask = mask_test(x.mask, varies);
  std::string act = scalars_.atomic(x.fn, x.order, element, "&" + address(x.buffer, x.index, ir::kUnknownStride, 0, varies), operands);
  if (!has_result) {
    std::string text = (mask.empty() ? "" : "if (" + mask + ") ") + act;
    if (varies) lane_line("", text);
    else line(text + ";");
    return end_lanes();
  }
  if (is_bool) act += " != 0";
  if (!mask.empty()) act = mask + " ? " + act + " : 0";
  if (type(op.result()).varying) define_lanes(op.result(), 0, act);
  else define(op.result(), 0, act);
  end_lanes();
}

}  // namespace tilec::target
