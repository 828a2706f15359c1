#include "passes/deal_vectors.h"

#include <algorithm>
#include <bit>

#include "layout/convert.h"
#include "passes/rewrite.h"
#include "passes/uses.h"

namespace tilec::passes {

using namespace ir;

namespace {

constexpr int64_t kLeastSaved = 4;  // times fewer registers

// Neighbours in neighbouring lanes, every warp all of them. None where lanes do not hold equal parts.
std::optional<layout::RegLayout> dealt(const layout::RegLayout& own, const Machine& machine) {
  const auto extent = uint64_t(own.shape[0]);
  if (own.lanes() != machine.lanes || !own.grids.empty() || !std::has_single_bit(extent) || extent < uint64_t(machine.lanes)) return std::nullopt;
  layout::RegLayout each{.shape = own.shape};
  each.warp.assign(own.warp.size(), 0);
  for (int bit = 0; bit < std::countr_zero(extent); ++bit)
    (each.lane.size() < own.lane.size() ? each.lane : each.reg).push_back(layout::coordinate_bit(1, 0, bit));
  bool pays = each.registers() * kLeastSaved <= own.registers() && layout::move_tier(each, own) == layout::Tier::Lane;
  return pays ? std::optional(layout::normalized(std::move(each))) : std::nullopt;
}

void deal(Kernel& kernel, const Machine& machine, RegionId region, OpId id) {
  const op::Load* load = kernel.op(id).get<op::Load>();
  if (!load || kernel.type(load->buffer).space == Space::Shared) return;
  ValueId vector = kernel.op(id).result();
  const Type own = kernel.type(vector);
  // What may lie over an edge is masked element by element, which takes registers of its own.
  bool is_inside = std::ranges::all_of(load->bounds, [](Bounds b) { return b == Bounds::Inside; });
  if (own.shape.size() != 1 || !is_inside) return;
  auto layout = dealt(kernel.layouts.reg(own.layout), machine);
  const std::vector<OpId>& ops = kernel.region(region).ops;
  auto reader = std::ranges::find_if(ops, [&](OpId other) { return uses(kernel, other, vector); });
  if (!layout || reader == ops.end()) return;
  Type whole = own;
  whole.layout = kernel.layouts.intern(*layout);
  retype(kernel, vector, whole);
  ValueId out;
  insert_before(kernel, region, *reader, [&](Builder& b) { out = b.value(op::ConvertLayout{vector}, own); });
  replace_uses(kernel, kernel.body, vector, out);
  kernel.op(kernel.value(out).op).as<op::ConvertLayout>().x = vector;
  for (LayoutNote& note : kernel.layout_notes)
    if (note.value == vector) note.value = out;
}

bool holds_product(const Kernel& kernel, RegionId region) {
  return std::ranges::any_of(kernel.region(region).ops, [&](OpId id) { return kernel.op(id).is<op::Gemm>(); });
}

}  // namespace

void deal_vectors(Kernel& kernel, const Machine& machine, Diagnostics&) {
  if (!machine.has(Cap::AsyncMatrix) || !machine.has(Cap::Shuffles)) return;
  each_op_in_region(kernel, kernel.body, [&](RegionId, OpId id) {
    const op::For* loop = kernel.op(id).get<op::For>();
    if (!loop || loop->loop != LoopKind::Pipelined || !holds_product(kernel, loop->body)) return;
    const RegionId body = loop->body;
    for (OpId inner : std::vector<OpId>(kernel.region(body).ops)) deal(kernel, machine, body, inner);
  });
}

}  // namespace tilec::passes
