// Elementwise code: one loop nest over the registers of the map's layout, the body once a register.
#include <set>

#include "lower/lowering.h"
#include "lower/map_effects.h"
#include "lower/rare_factor.h"

namespace tilec::lower {

// A number that is the same in all lanes, which do not tell so.
ValueId Lowering::alike(ValueId value) {
  if (!is_varying(value)) return value;
  const Scalar element = target_.type(value).element;
  const ValueId array = private_array(element, 1, false), first = builder_.index(0);
  builder_.add(ir::op::MemStore{array, first, value, {}, 0});
  return builder_.value(ir::op::MemLoad{array, first, {}, 0}, ir::scalar_type(element));
}

// What the body yields at one point.
Carried Lowering::map_element(const ir::op::Map& map, const layout::RegLayout& layout, std::span<const Home> inputs, const Point& point) {
  const ir::Region& body = source_.region(map.body);
  size_t rank = map.shape.size();
  for (size_t axis = 0; axis < rank; ++axis) bind(body.args[axis], map_index(layout, point, int(axis)));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Axes& axes = map.input_axes[i];
    Point at = projected(point, [&](int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); });
    for (Digit& d : at.digits) d.axis = int(std::find(axes.begin(), axes.end(), d.axis) - axes.begin());
    bind(body.args[rank + i], read(inputs[i], at));
  }
  // Of a tile that every lane has whole, the lanes compute the same; effects are those of one of them.
  bool were_lanes = std::exchange(in_lanes_, !is_uniform(layout) || is_varying(mask_) || is_varying(owners_));
  lower_region(map.body);
  in_lanes_ = were_lanes;
  return scalars(source_.terminator(map.body).as<ir::op::Yield>().values);
}

// Inputs that are read at the map's own index.
static std::vector<ValueId> whole_inputs(const ir::op::Map& map) {
  std::vector<ValueId> whole;
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    bool is_whole = map.input_axes[i].size() == map.shape.size();
    for (size_t a = 0; a < map.input_axes[i].size(); ++a) is_whole &= map.input_axes[i][a] == int64_t(a);
    if (is_whole) whole.push_back(map.inputs[i]);
  }
  return whole;
}

// A map for its effects alone has no result whose layout it could take: `place` converts what it reads to this one.
layout::RegLayout Lowering::map_layout(const ir::Op& op, const ir::op::Map& map, std::span<const ValueId> whole) {
  if (!op.results.empty()) return reg_layout(source_.type(op.results[0]).layout);
  if (!whole.empty()) return reg_layout(source_.type(whole[0]).layout);
  std::vector<int> extents(map.shape.begin(), map.shape.end());
  return layout::blocked(layout::Shape(extents), machine_.lanes, int(warps_), 1);
}

void Lowering::lower_map(const ir::Op& op, const ir::op::Map& map) {
  std::vector<ValueId> whole = whole_inputs(map);  // their homes may be taken over
  layout::RegLayout layout = map_layout(op, map, whole);
  std::vector<Home> inputs, outputs;
  for (ValueId input : map.inputs) inputs.push_back(home(input));
  if (may_defer_map(op, map)) return defer_map(op, map, std::move(inputs));
  for (ValueId result : op.results) {
    outputs.push_back(result_home(op, result, whole));
    bind_home(result, outputs.back());
  }
  int64_t factor = op.results.size() == 1 ? rare_factor(source_, map) : -1;
  if (factor >= 0 && is_under_product(op)) factor = -1;
  auto compute = [&] { return map_elements(op, map, layout, inputs, outputs); };
  auto keep = [&]() -> Carried { return inputs[size_t(1 - factor)].registers; };
  Carried registers = factor < 0 ? compute() : either(scales(inputs[size_t(factor)], inputs[size_t(1 - factor)], outputs[0]), compute, keep);
  const bool is_of_owners = !outputs.empty() && reads_back(source_, map.body) && owner_mask(layout).valid();
  for (size_t r = 0, next = 0; r < outputs.size(); ++r) {
    for (ValueId& v : outputs[r].registers) v = registers[next++];
    // What one of several lanes that have a copy of an element has computed, all of them get.
    if (is_of_owners) convert_through_memory(layout, layout, Home(outputs[r]), outputs[r], source_.type(op.results[r]).element);
    bind_home(op.results[r], std::move(outputs[r]));
  }
}

// The registers of the outputs.
Carried Lowering::map_elements(const ir::Op& op, const ir::op::Map& map, const layout::RegLayout& layout, std::span<const Home> inputs, std::span<Home> outputs) {
  // Registers are named by constants: axes along which some tile lies in registers are unrolled, the others loop.
  unsigned unrolled = unrolled_axes(map, inputs);
  for (const Home& h : outputs) unrolled |= unrolled_axes(h);
  const bool acts = has_effects(source_, map.body), is_exchanged = reads_back(source_, map.body), only_acts = op.results.empty();
  auto owners = [&] { return has_atomics(source_, map.body) ? owner_mask(layout, Touch::Atomic) : has_stores(source_, map.body) && !only_acts ? owner_mask(layout) : ValueId{}; };
  constexpr int64_t kMapUnroll = 4;
  return inside_or_guarded(guards(inputs), [&] {
    nest(builder_, digits(layout), guarded_ ? 1 : kMapUnroll, {}, [&](const Point& point, const Carried&) -> Carried {
      ValueId outer = std::exchange(mask_, ValueId{});
      if (acts) mask_ = all(tile_mask(layout, point), only_acts || is_exchanged ? owner_mask(layout) : ValueId{});
      owners_ = owners();
      Carried yielded = map_element(map, layout, inputs, point);
      mask_ = outer, owners_ = {};
      for (size_t r = 0; r < outputs.size(); ++r) write(outputs[r], point, is_uniform(reg_layout(outputs[r].layout)) ? alike(yielded[r]) : yielded[r]);
      return {};
    }, unrolled);
    Carried all_registers;
    for (const Home& h : outputs) all_registers.insert(all_registers.end(), h.registers.begin(), h.registers.end());
    return all_registers;
  });
}

// Is a product under way while the operation runs, in the same region?
bool Lowering::is_under_product(const ir::Op& op) const {
  const ir::Region& region = source_.region(region_of_[source_.value(op.results.front()).op.index]);
  std::set<ValueId> flights;
  for (ValueId v : region.args)
    if (source_.type(v).kind == ir::TypeKind::Flight) flights.insert(v);
  for (OpId id : region.ops) {
    if (&source_.op(id) == &op) return !flights.empty();
    each_operand(source_.op(id).data, [&](ValueId v) { flights.erase(v); });
    if (source_.op(id).is<ir::op::GemmAsync>()) flights.insert(source_.op(id).result());
  }
  return false;
}

// Is a factor of the warp's lanes another number than one? None where they multiply in any case: a branch pays where it saves many
// products (attention of d 128, 64 registers: 2 % slower with it; MLA decode, 128: 4 % faster).
ValueId Lowering::scales(const Home& factor, const Home& scaled, const Home& result) {
  constexpr size_t kLeast = 96;  // registers of a lane
  bool is_in_place = scaled.in_registers() && result.in_registers() && scaled.layout == result.layout;
  if (machine_.max_warps == 1 || !is_in_place || !factor.in_registers() || result.registers.size() < kLeast) return {};
  ValueId changes;
  for (ValueId v : factor.registers) {
    ValueId differs = builder_.compare(ir::CompareFn::Ne, v, builder_.constant(target_.type(v).element, ir::Number::real(1)));
    changes = changes.valid() ? builder_.logical_or(changes, differs) : differs;
  }
  return builder_.value(ir::op::Vote{ir::VoteKind::Any, changes}, ir::scalar_type(Scalar::Bool));
}

void Lowering::lower_tile(const ir::Op& op) {
  if (auto* o = op.get<ir::op::Load>()) return lower_load(op, *o);
  if (auto* o = op.get<ir::op::Store>()) return lower_store(op, *o);
  if (auto* o = op.get<ir::op::Copy>()) return lower_copy(op, *o);
  if (auto* o = op.get<ir::op::Splat>()) return lower_splat(op, *o);
  if (auto* o = op.get<ir::op::Map>()) return lower_map(op, *o);
  if (auto* o = op.get<ir::op::Gemm>()) return lower_gemm(op, *o);
  if (auto* o = op.get<ir::op::Reduce>()) return lower_reduce(op, *o);
  if (auto* o = op.get<ir::op::VoteTile>()) return lower_vote_tile(op, *o);
  if (auto* o = op.get<ir::op::Scan>()) return lower_scan(op, *o);
  if (auto* o = op.get<ir::op::ConvertLayout>()) return lower_convert_layout(op, *o);
  if (auto* o = op.get<ir::op::Permute>()) return rename(op, o->x);
  if (auto* o = op.get<ir::op::Reshape>()) return lower_reshape(op, *o);
  if (auto* o = op.get<ir::op::ClusterSum>()) return lower_cluster_sum(op, *o);
  if (auto* o = op.get<ir::op::Extract>()) return lower_extract(op, *o);
  if (auto* o = op.get<ir::op::Insert>()) return lower_insert(op, *o);
  if (auto* o = op.get<ir::op::Simt>()) return lower_simt(op, *o);
  if (auto* o = op.get<ir::op::Alloc>()) return lower_alloc(op, *o);
  if (auto* o = op.get<ir::op::Barrier>()) return barrier(o->why);
  if (op.is<ir::op::Fence>()) return void(builder_.add(ir::op::EngineFence{}));
  if (auto* o = op.get<ir::op::BeginFlight>()) return lower_begin_flight(op, *o);
  if (auto* o = op.get<ir::op::GemmAsync>()) return lower_gemm_async(op, *o);
  if (auto* o = op.get<ir::op::AwaitGemm>()) return lower_await_gemm(op, *o);
  if (auto* o = op.get<ir::op::Roles>()) return lower_roles(*o);
  if (auto* o = op.get<ir::op::Acquire>()) return lower_acquire(*o);
  if (auto* o = op.get<ir::op::CopyAsync>()) return lower_copy_async(op, *o);
  if (auto* o = op.get<ir::op::Commit>()) return lower_commit(*o);
  if (auto* o = op.get<ir::op::Wait>()) return lower_wait(*o);
  if (auto* o = op.get<ir::op::Release>()) return lower_release(*o);
  if (auto* o = op.get<ir::op::TakeTurn>()) return lower_take_turn(*o);
  if (auto* o = op.get<ir::op::PassTurn>()) return lower_pass_turn(*o);
  if (op.is<ir::op::Subview>()) return;  // resolved where it is addressed
  UNREACHABLE("operation '" + std::string(ir::name(op.kind())) + "' is expanded before lowering");
}

// The registers of `x` under other coordinates: a transpose, a reshape.
void Lowering::rename(const ir::Op& op, ValueId x) {
  Home same = home(x);
  same.layout = source_.type(op.result()).layout;
  if (same.in_memory() && !dies_at(x, op)) {
    const Type& array = target_.type(same.memory);
    Home copy{home(x).layout, {}, private_array(array.element, array.shape[0], array.varying)};
    copy_home(home(x), copy);
    same.memory = copy.memory;
  }
  bind_home(op.result(), std::move(same));
}

void Lowering::lower_alloc(const ir::Op& op, const ir::op::Alloc& alloc) {
  const Type& type = source_.type(op.result());
  if (type.space == Space::Workspace) {
    bind(op.result(), builder_.value(ir::op::Alloc{scalars(alloc.extents), alloc.name}, type, source_.value(op.result()).hint));
    return;
  }
  int64_t size = type.layout.valid() ? source_.layouts.mem(type.layout).size() : type.element_count();
  Type flat = ir::buffer_type(type.space, type.element, {size});
  flat.varying = type.space == Space::Private;
  RegionId here = builder_.region();
  // Shared memory stays in the loop whose iterations need it: `pack-shared` sees from there how long.
  if (type.space == Space::Private) builder_.set_region(prelude_);
  bind(op.result(), builder_.value(ir::op::Alloc{{}, alloc.name}, flat, source_.value(op.result()).hint));
  builder_.set_region(here);
}

}  // namespace tilec::lower
