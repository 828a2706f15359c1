#include "passes/padding_masks.h"

#include <ranges>

#include "passes/padding_edges.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;
using prove::AtomKind;
using prove::Formula;
using prove::Linear;

bool Masks::can_stand(RegionId region, const Edges& edges) const {
  return std::ranges::all_of(edges, [&](const Beyond& beyond) { return can_stand(region, beyond.when); }) &&
         all_edges(edges, [&](const Edge& edge) { return can_stand(region, edge.limit) && (!edge.has_low || can_stand(region, edge.first)); });
}

bool Masks::can_stand(RegionId region, const Linear& sum) const {
  if (sum.is_lost) return false;
  return std::all_of(sum.parts.begin(), sum.parts.end(), [&](const Linear::Part& part) {
    const prove::Atom& atom = prover_.terms()[part.atom];
    switch (atom.kind) {
      case AtomKind::Variable: return prover_.is_seen_from(region, part.atom);
      case AtomKind::Flag: return false;
      case AtomKind::Product:
        return std::all_of(atom.factors.begin(), atom.factors.end(), [&](prove::AtomId factor) { return can_stand(region, Linear(factor)); });
      case AtomKind::Quotient: return atom.b.is_constant() && atom.b.constant > 0 && can_stand(region, atom.a);
      case AtomKind::Least: return can_stand(region, atom.a) && can_stand(region, atom.b);
      case AtomKind::Choice: return can_stand(region, atom.condition) && can_stand(region, atom.a) && can_stand(region, atom.b);
    }
    return false;
  });
}

bool Masks::can_stand(RegionId region, const Formula& f) const {
  if (f.kind == Formula::Kind::Flag) return prover_.is_seen_from(region, f.flag);
  if (f.kind == Formula::Kind::AtLeastZero && !can_stand(region, f.linear)) return false;
  return std::all_of(f.parts.begin(), f.parts.end(), [&](const Formula& part) { return can_stand(region, part); });
}

namespace {

Axes whole(size_t rank) {
  Axes axes(rank);
  for (size_t a = 0; a < rank; ++a) axes[a] = int64_t(a);
  return axes;
}

// A shared buffer as a tile.
ValueId loaded(Builder& b, ValueId operand) {
  Type type = b.kernel().type(operand);
  if (!type.is_buffer()) return operand;
  size_t rank = type.shape.size();
  op::Load load{.buffer = operand, .offsets = {}, .axes = whole(rank), .bounds = {}};
  for (size_t d = 0; d < rank; ++d) load.offsets.push_back(b.index(0)), load.bounds.push_back(Bounds::Inside);
  return b.value(std::move(load), tile_type(type.element, type.shape));
}

// Its operands, in their order.
std::vector<ValueId> operands_of(const Op& op) {
  std::vector<ValueId> all;
  each_operand(op.data, [&](ValueId v) { all.push_back(v); });
  return all;
}

// Along the axis behind all others there is one element, and a number is one.
ValueId coordinate(Builder& b, const Op& around, int64_t axis) {
  auto* map = around.get<op::Map>();
  return map && axis < int64_t(map->shape.size()) ? b.kernel().region(map->body).args[size_t(axis)] : b.index(0);
}

ValueId masked(prove::Prover& prover, Builder& b, const OperandMask& mask) {
  Kernel& kernel = b.kernel();
  ValueId tile = loaded(b, operands_of(kernel.op(mask.op))[mask.operand]);
  const Type type = kernel.type(tile);
  Outside ends = written(prover, b, mask.edges);
  op::Map map{.inputs = {tile}, .input_axes = {whole(type.shape.size())}, .shape = type.shape, .body = kernel.new_region()};
  for (size_t a = 0; a < type.shape.size(); ++a) kernel.new_arg(map.body, scalar_type(Scalar::Index));
  ValueId element = kernel.new_arg(map.body, scalar_type(type.element));
  RegionId outer = b.region();
  b.set_region(map.body);
  b.yield({b.select(is_outside(b, ends, mask.axis < int64_t(map.shape.size()) ? kernel.region(map.body).args[size_t(mask.axis)] : b.index(0)), b.constant(type.element, mask.identity), element)});
  b.set_region(outer);
  return b.value(std::move(map), type, kernel.value(tile).hint);
}

// A shared tile that nothing but this product reads is masked where it is written: it would have to be copied else.
std::optional<OperandMask> at_its_store(const Kernel& kernel, const OperandMask& mask) {
  const std::vector<ValueId> operands = operands_of(kernel.op(mask.op));
  const ValueId operand = operands[mask.operand];
  const bool has_axis = mask.axis < int64_t(kernel.type(operand).shape.size());
  if (!has_axis || !kernel.type(operand).is_buffer() || std::ranges::count(operands, operand) > 1) return std::nullopt;
  std::vector<OpId> users;
  each_op(kernel, kernel.body, [&](OpId id) {
    bool uses = false;
    each_operand(kernel.op(id).data, [&](ValueId v) { uses |= v == operand; });
    if (uses && id != mask.op) users.push_back(id);
  });
  auto* store = users.size() == 1 ? kernel.op(users[0]).get<op::Store>() : nullptr;
  const auto& ops = kernel.region(mask.region).ops;
  auto before = std::find(ops.begin(), ops.end(), mask.op);
  if (!store || store->buffer != operand || std::find(ops.begin(), before, users[0]) == before) return std::nullopt;
  auto axis = std::find(store->axes.begin(), store->axes.end(), mask.axis);
  auto offset = kernel.constant(store->offsets[size_t(mask.axis)]);
  bool is_whole = axis != store->axes.end() && offset && offset->i == 0 &&
                  kernel.type(store->tile).shape[size_t(axis - store->axes.begin())] == kernel.type(operand).shape[size_t(mask.axis)];
  if (!is_whole) return std::nullopt;
  OperandMask moved = mask;
  const std::vector<ValueId> stored = operands_of(kernel.op(users[0]));
  moved.op = users[0], moved.operand = size_t(std::ranges::find(stored, store->tile) - stored.begin()), moved.axis = axis - store->axes.begin();
  moved.identity = identity(ReduceFn::Sum, kernel.type(store->tile).element);
  return moved;
}

void insert_mask(prove::Prover& prover, Kernel& kernel, const OperandMask& mask) {
  if (auto moved = at_its_store(kernel, mask)) return insert_mask(prover, kernel, *moved);
  ValueId by;
  insert_before(kernel, mask.region, mask.op, [&](Builder& b) { by = masked(prover, b, mask); });
  size_t place = 0;
  each_operand(kernel.op(mask.op).data, [&](ValueId& v) {
    if (place++ == mask.operand) v = by;
  });
}

// Where the operation stands, in the map that the mask names, or by itself.
template <class Mask> RegionId region_of(const Kernel& kernel, const Mask& mask, OpId op) {
  RegionId found = mask.region;
  auto* map = kernel.op(mask.map).template get<op::Map>();
  if (map) each_op_in_region(kernel, map->body, [&](RegionId at, OpId id) {
    if (id == op) found = at;
  });
  return found;
}

// What an assignment asks, in its map.
ValueId is_inside(prove::Prover& prover, Kernel& kernel, const InsideMask& mask) {
  std::vector<std::pair<Outside, Outside>> ends;
  auto write = [&](Builder& b, bool is_at_place) {
    for (const InsideMask::Part& part : mask.parts)
      if (part.is_at_place == is_at_place) ends.emplace_back(written(prover, b, part.edges), written(prover, b, part.padding));
  };
  const RegionId region = region_of(kernel, mask, mask.inside);
  insert_before(kernel, mask.region, mask.map, [&](Builder& b) { write(b, false); });
  insert_before(kernel, region, mask.inside, [&](Builder& b) { write(b, true); });
  ValueId by;
  insert_before(kernel, region, mask.inside, [&](Builder& b) {
    const ValueId along = coordinate(b, kernel.op(mask.map), mask.axis);
    ValueId outside = b.boolean(false);
    for (const auto& [beyond, padding] : ends) {
      ValueId part = is_outside(b, beyond, along);
      if (!padding.empty()) part = b.binary(BinaryFn::And, part, b.logical_not(is_outside(b, padding, along)));
      outside = b.logical_or(outside, part);
    }
    by = b.logical_not(outside);
  });
  return by;
}

// Assignments that nothing keeps out take place.
void answer(Kernel& kernel, const std::map<OpId, ValueId>& inside) {
  std::map<ValueId, ValueId> by;
  std::set<OpId> gone;
  each_op(kernel, kernel.body, [&](OpId id) {
    const Op& op = kernel.op(id);
    auto* choice = op.get<op::Select>();
    if (op.is<op::Inside>()) gone.insert(id);
    if (!choice || !kernel.defined_by<op::Inside>(choice->condition)) return;
    const OpId asked = kernel.value(choice->condition).op;
    if (auto at = inside.find(asked); at != inside.end()) return void(kernel.op(id).as<op::Select>().condition = at->second);
    by[op.result()] = choice->a, gone.insert(id);
  });
  // What is left of a map that only assigned is the tile itself.
  each_op(kernel, kernel.body, [&](OpId id) {
    auto* map = kernel.op(id).get<op::Map>();
    const auto& ops = map ? kernel.region(map->body).ops : std::vector<OpId>();
    if (!map || map->inputs.size() > 2 || kernel.op(id).results.size() != 1 || !std::ranges::all_of(ops, [&](OpId o) { return gone.contains(o) || kernel.op(o).is<op::Yield>(); })) return;
    if (std::ranges::none_of(ops, [&](OpId o) { return gone.contains(o); })) return;
    ValueId yielded = kernel.terminator(map->body).as<op::Yield>().values[0];
    for (auto at = by.find(yielded); at != by.end(); at = by.find(yielded)) yielded = at->second;
    const auto& args = kernel.region(map->body).args;
    const size_t input = size_t(std::ranges::find(args, yielded) - args.begin()) - map->shape.size();
    if (input < map->inputs.size() && map->input_axes[input] == whole(map->shape.size()) && kernel.type(map->inputs[input]) == kernel.type(kernel.op(id).result()))
      by[kernel.op(id).result()] = map->inputs[input], gone.insert(id);
  });
  auto last = [&](ValueId v) {
    for (auto at = by.find(v); at != by.end(); at = by.find(v)) v = at->second;
    return v;
  };
  std::vector<RegionId> regions{kernel.body};
  each_op(kernel, kernel.body, [&](OpId id) {
    each_operand(kernel.op(id).data, [&](ValueId& v) { v = last(v); });
    each_region(kernel.op(id).data, [&](RegionId region) { regions.push_back(region); });
    if (auto* gemm = kernel.op(id).get<op::Gemm>()) gemm->keeps = false;
  });
  for (RegionId region : regions) std::erase_if(kernel.region(region).ops, [&](OpId id) { return gone.contains(id); });
}

bool asks(const Kernel& kernel, const op::Map& map) {
  bool found = false;
  each_op(kernel, map.body, [&](OpId id) { found |= kernel.op(id).is<op::Inside>(); });
  return found;
}

// What maps read to keep it alone.
void drop_unread(Kernel& kernel, const std::vector<OpId>& maps) {
  for (OpId id : maps) {
    auto* map = kernel.op(id).get<op::Map>();
    std::set<ValueId> read;
    each_op(kernel, map->body, [&](OpId inner) { each_operand(kernel.op(inner).data, [&](ValueId v) { read.insert(v); }); });
    std::vector<ValueId>& args = kernel.region(map->body).args;
    for (size_t i = map->inputs.size(); i-- > 0;) {
      const size_t arg = map->shape.size() + i;
      if (read.contains(args[arg])) continue;
      map->inputs.erase(map->inputs.begin() + ptrdiff_t(i)), map->input_axes.erase(map->input_axes.begin() + ptrdiff_t(i));
      args.erase(args.begin() + ptrdiff_t(arg));
    }
  }
}

// Under a condition of its own. What it gives where it is not made is padding; a loop leaves what it began with.
void insert_mask(prove::Prover& prover, Kernel& kernel, const EffectMask& mask) {
  Outside ends;
  insert_before(kernel, mask.region, mask.map, [&](Builder& b) { ends = written(prover, b, mask.edges); });
  const RegionId region = region_of(kernel, mask, mask.op);
  const RegionId taken = kernel.new_region(), other = kernel.new_region();
  const std::vector<ValueId> given = kernel.op(mask.op).results;
  std::vector<Type> types;
  for (ValueId v : given) types.push_back(kernel.type(v));
  OpId branch;
  insert_before(kernel, region, mask.op, [&](Builder& b) {
    branch = b.add(op::If{b.logical_not(is_outside(b, ends, coordinate(b, kernel.op(mask.map), mask.axis))), taken, other}, types);
    b.set_region(other);
    auto* loop = kernel.op(mask.op).get<op::While>();
    std::vector<ValueId> nothing = loop ? loop->inits : std::vector<ValueId>();
    for (const Type& type : loop ? std::vector<Type>() : types) nothing.push_back(b.constant(type.element, is_float(type.element) ? Number::real(0) : Number::integer(0)));
    b.yield(nothing);
  });
  const std::vector<ValueId> told = kernel.op(branch).results;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (id == branch) return;
    each_operand(kernel.op(id).data, [&](ValueId& v) {
      if (auto at = std::ranges::find(given, v); at != given.end()) v = told[size_t(at - given.begin())];
    });
  });
  std::erase(kernel.region(region).ops, mask.op);
  kernel.region(taken).ops.push_back(mask.op);
  Builder(kernel, taken).yield(given);
}

// Would the operation be reported?
ValueId fails(Builder& b, const OpData& data) {
  auto* unary = data.get<op::Unary>();
  if (unary) return b.compare(CompareFn::Eq, unary->x, b.index(INT64_MIN));
  const op::Binary& binary = data.unchecked<op::Binary>();
  if (binary.fn != BinaryFn::Div && binary.fn != BinaryFn::Rem) return b.overflows(binary.fn, binary.a, binary.b);
  auto is = [&](ValueId v, int64_t number) { return b.compare(CompareFn::Eq, v, b.constant(b.kernel().type(v).element, Number::integer(number))); };
  ValueId found = is(binary.b, 0);
  return binary.may_leave ? b.logical_or(found, b.logical_and(is(binary.b, -1), is(binary.a, INT64_MIN))) : found;
}

// 1 divides everything, and 0 adds to, multiplies and shifts everything. Where nothing would be reported padding is computed like everything else:
// loops that look at it end as they do for data.
void insert_mask(prove::Prover& prover, Kernel& kernel, const GuardMask& mask) {
  Outside ends;
  insert_before(kernel, mask.region, mask.map, [&](Builder& b) { ends = written(prover, b, mask.edges); });
  const RegionId region = region_of(kernel, mask, mask.op);
  OpData data = kernel.op(mask.op).data;
  auto* binary = data.get<op::Binary>();
  ValueId operand = binary ? binary->b : data.get<op::Unary>()->x, by;
  bool divides = binary && (binary->fn == BinaryFn::Div || binary->fn == BinaryFn::Rem);
  insert_before(kernel, region, mask.op, [&](Builder& b) {
    ValueId harmless = b.constant(kernel.type(operand).element, Number::integer(divides));
    ValueId outside = is_outside(b, ends, coordinate(b, kernel.op(mask.map), mask.axis));
    by = b.select(b.logical_and(outside, fails(b, data)), harmless, operand);
  });
  if (binary) kernel.op(mask.op).as<op::Binary>().b = by;
  else kernel.op(mask.op).as<op::Unary>().x = by;
}

}  // namespace

bool InsideMask::covers(const Part& part) const {
  return !part.edges.empty() && std::ranges::any_of(parts, [&](const Part& there) {
    return there.padding == part.padding && std::ranges::all_of(part.edges, [&](const Beyond& b) { return std::ranges::find(there.edges, b) != there.edges.end(); });
  });
}

void Masks::add(const InsideMask& mask) {
  auto [at, is_new] = inside_.try_emplace({mask.inside, mask.axis}, mask);
  for (const InsideMask::Part& part : mask.parts)
    if (!is_new && std::ranges::find(at->second.parts, part) == at->second.parts.end()) at->second.parts.push_back(part);
}

const InsideMask* Masks::inside(OpId inside, int64_t axis) const {
  auto at = inside_.find({inside, axis});
  return at != inside_.end() ? &at->second : nullptr;
}

const EffectMask* Masks::effect(OpId op, int64_t axis) const {
  auto at = effects_.find({op, axis});
  return at != effects_.end() ? &at->second : nullptr;
}

bool Masks::has_inside(OpId inside) const {
  auto at = inside_.lower_bound({inside, 0});
  return at != inside_.end() && at->first.first == inside;
}

void Masks::forget_operands(OpId op) {
  guards_.erase({op, 0});
  auto from = operands_.lower_bound({op, 0, 0}), to = from;
  while (to != operands_.end() && std::get<0>(to->first) == op) ++to;
  operands_.erase(from, to);
}

void Masks::forget(OpId map) {
  std::erase_if(guards_, [&](const auto& entry) { return entry.second.map == map; });
  std::erase_if(inside_, [&](const auto& entry) { return entry.second.map == map; });
  std::erase_if(effects_, [&](const auto& entry) { return entry.second.map == map; });
}

void Masks::add(const EffectMask& mask) {
  auto [at, is_new] = effects_.try_emplace({mask.op, mask.axis}, mask);
  if (!is_new) unite(at->second.edges, mask.edges);
}

void Masks::insert(Kernel& kernel) const {
  for (const auto& [key, mask] : guards_) insert_mask(prover_, kernel, mask);
  for (const auto& [key, mask] : effects_) insert_mask(prover_, kernel, mask);
  std::vector<OpId> asking;
  each_op(kernel, kernel.body, [&](OpId id) {
    if (auto* map = kernel.op(id).get<op::Map>(); map && asks(kernel, *map)) asking.push_back(id);
  });
  std::map<OpId, ValueId> inside;
  for (const auto& [key, mask] : inside_) {
    const ValueId along = is_inside(prover_, kernel, mask);
    auto [at, is_new] = inside.try_emplace(mask.inside, along);
    if (is_new) continue;
    RegionId region = region_of(kernel, mask, mask.inside);
    insert_before(kernel, region, mask.inside, [&](Builder& b) { at->second = b.binary(BinaryFn::And, at->second, along); });
  }
  answer(kernel, inside);
  drop_unread(kernel, asking);
  for (const auto& [key, mask] : operands_) insert_mask(prover_, kernel, mask);
}

}  // namespace tilec::passes
