// Scalar operations and what crosses lanes, as C text.
#include "ir/scalar_eval.h"
#include "target/c_family/speller.h"

namespace tilec::target {

using ir::ReduceFn;
using ir::ShuffleKind;
using ir::VoteKind;

// `make(pick)` writes the expression over the operands that `pick` names: each lane's, then the first lane's, as demanded.
template <class Make>
void CSpeller::elementwise(const ir::Op& op, Make make) {
  ir::ValueId v = op.result();
  const ir::Type& t = type(v);
  if (t.varying && demand_.first(v)) define_first(v, make([&](ir::ValueId x) { return first_lane(x); }));
  for (int part = 0; part < part_count(t); ++part) {
    if (!t.varying) define(v, part, make([&](ir::ValueId x) { return lane_of(x, part); }));
    else if (demand_.lanes(v)) define_lanes(v, part, make([&](ir::ValueId x) { return lane_of(x, part); }));
  }
}

void CSpeller::one(const ir::Op& op, const ir::op::Constant& x) {
  std::string literal = c_literal(type(op.result()).element, x.number);
  if (type(op.result()).varying) return elementwise(op, [&](auto) { return literal; });
  name_of(op.result()) = literal;
}

void CSpeller::one(const ir::Op& op, const ir::op::Unary& x) {
  elementwise(op, [&](auto pick) { return scalars_.unary(x.fn, type(x.x).element, pick(x.x)); });
}
void CSpeller::one(const ir::Op& op, const ir::op::Binary& x) {
  elementwise(op, [&](auto pick) { return scalars_.binary(x.fn, type(x.a).element, pick(x.a), pick(x.b)); });
}
void CSpeller::one(const ir::Op& op, const ir::op::Overflows& x) {
  elementwise(op, [&](auto pick) { return scalars_.overflows(x.fn, pick(x.a), pick(x.b)); });
}
void CSpeller::one(const ir::Op& op, const ir::op::Fma& x) {
  elementwise(op, [&](auto pick) { return scalars_.fma(type(op.result()).element, pick(x.a), pick(x.b), pick(x.c)); });
}
void CSpeller::one(const ir::Op& op, const ir::op::Compare& x) {
  elementwise(op, [&](auto pick) { return scalars_.compare(x.fn, pick(x.a), pick(x.b)); });
}
void CSpeller::one(const ir::Op& op, const ir::op::Select& x) {
  elementwise(op, [&](auto pick) { return pick(x.condition) + " ? " + pick(x.a) + " : " + pick(x.b); });
}
void CSpeller::one(const ir::Op& op, const ir::op::Convert& x) {
  Scalar from = type(x.x).element, to = type(op.result()).element;
  elementwise(op, [&](auto pick) { return scalars_.convert(from, to, x.mode, pick(x.x)); });
}
void CSpeller::one(const ir::Op& op, const ir::op::Extent& x) { define(op.result(), 0, product(extent_of(kernel_, x.buffer, x.axis))); }
void CSpeller::one(const ir::Op& op, const ir::op::Stride& x) { define(op.result(), 0, product(stride_of(kernel_, x.buffer, x.axis))); }
void CSpeller::one(const ir::Op& op, const ir::op::IsAligned& x) {
  define(op.result(), 0, "(uintptr_t)" + names_.at(x.buffer.index) + " % " + std::to_string(x.bytes) + " == 0");
}
void CSpeller::one(const ir::Op& op, const ir::op::Present& x) { define(op.result(), 0, names_.at(x.buffer.index) + " != NULL"); }

// Their blocks are tasks: each is one, and ends.
void CSpeller::one(const ir::Op&, const ir::op::ClusterBlocks&) { UNREACHABLE("blocks of this target are on their own"); }
void CSpeller::one(const ir::Op&, const ir::op::GridBlocks&) { UNREACHABLE("blocks of this target do not go on from one to the next"); }
void CSpeller::one(const ir::Op&, const ir::op::BlockNumber&) { UNREACHABLE("blocks of this target do not go on from one to the next"); }
void CSpeller::one(const ir::Op&, const ir::op::BlockIndex&) { UNREACHABLE("blocks of this target do not go on from one to the next"); }

void CSpeller::one(const ir::Op& op, const ir::op::LaneIndex&) {
  if (demand_.first(op.result())) define_first(op.result(), "0");
  if (demand_.lanes(op.result())) define_lanes(op.result(), 0, "l");
}
// A block of a CPU is one warp.
void CSpeller::one(const ir::Op& op, const ir::op::ThreadIndex&) { one(op, ir::op::LaneIndex{}); }
void CSpeller::one(const ir::Op& op, const ir::op::WarpIndex&) { name_of(op.result()) = c_literal(Scalar::Index, ir::Number::integer(0)); }

// Lane l reads lane l ^ d, l - d or l + d; where there is no such lane, its own.
void CSpeller::one(const ir::Op& op, const ir::op::Shuffle& x) {
  constexpr std::string_view kSource[] = {"{d}", "l ^ {d}", "l - {d}", "l + {d}"};
  end_lanes();
  const ir::Type& t = type(op.result());
  std::string source = filled(kSource[int(x.how)], {{"d", lane_of(x.lane, 0)}}), lanes = std::to_string(lanes_);
  for (int part = 0; part < part_count(t); ++part) {
    name_of(op.result());
    if (!t.varying) {
      end_lanes();
      define(op.result(), part, lane_of(x.x, part, "(int)" + lane_of(x.lane, 0, "0")));
      continue;
    }
    std::string name = part_name(op.result(), part), from = name + "_from";
    lane_line(array_of(t, name), "const int64_t " + from + " = " + source);
    lane_line("", name + "[l] = " + lane_of(x.x, part, from + " >= 0 && " + from + " < " + lanes + " ? " + from + " : l"));
  }
}

void CSpeller::one(const ir::Op& op, const ir::op::Vote& x) {
  end_lanes();
  const ir::Type& t = type(op.result());
  std::string name = name_of(op.result()), answer = t.varying ? name + "_all" : name;
  std::string start = x.how == VoteKind::All ? "true" : x.how == VoteKind::Any ? "false" : "0";
  std::string bit = "(uint64_t)" + lane_of(x.x, 0) + " << l";
  std::string step = x.how == VoteKind::All   ? answer + " &= " + lane_of(x.x, 0)
                     : x.how == VoteKind::Any ? answer + " |= " + lane_of(x.x, 0)
                                              : answer + " = (" + c_type(t.element) + ")((uint64_t)" + answer + " | " + bit + ")";
  lane_line(c_type(t.element) + " " + answer + " = " + start, step);
  end_lanes();
  if (t.varying) lane_line(array_of(t, name), name + "[l] = " + answer);
}

// From the identity on, so that all-NaN gives it.
void CSpeller::one(const ir::Op& op, const ir::op::WarpReduce& x) {
  end_lanes();
  const ir::Type& t = type(op.result());
  std::string name = name_of(op.result()), sum = t.varying ? name + "_all" : name;
  lane_line(c_type(t.element) + " " + sum + " = " + c_literal(t.element, ir::identity(x.fn, t.element)),
            sum + " = " + scalars_.reduce_step(x.fn, t.element, sum, lane_of(x.x, 0)));
  end_lanes();
  if (t.varying) lane_line(array_of(t, name), name + "[l] = " + sum);
}

void CSpeller::one(const ir::Op& op, const ir::op::VectorMake& x) {
  for (size_t i = 0; i < x.elements.size(); ++i) {
    if (type(op.result()).varying) define_lanes(op.result(), int(i), lane_of(x.elements[i], 0));
    else define(op.result(), int(i), lane_of(x.elements[i], 0));
  }
}

void CSpeller::one(const ir::Op& op, const ir::op::VectorElement& x) {
  if (type(op.result()).varying) define_lanes(op.result(), 0, lane_of(x.vector, int(x.index)));
  else if (type(x.vector).varying) UNREACHABLE("an element of a varying vector varies");
  else define(op.result(), 0, lane_of(x.vector, int(x.index)));
}

void CSpeller::one(const ir::Op& op, const ir::op::Fault& x) {
  end_lanes();
  std::string site = std::to_string(abi_.site_of(op));
  bool varies = type(x.condition).varying;
  std::string report = "if (" + lane_of(x.condition, 0) + ") tile_fault(fault, " + site + ", " + lane_of(x.index, 0, varies ? "l" : "0") + ")";
  if (varies) lane_line("", report);
  else line(report + ";");
}

}  // namespace tilec::target
