#include "sema/keep.h"

#include <map>
#include <set>

#include "ir/sources.h"
#include "sema/elementwise.h"
#include "sema/offsets.h"
#include "sema/parallel.h"

namespace tilec::sema {

namespace {

// The same of what is assigned, where it has the shape and is computed element by element.
MadeOf held_in(Instance& in, const Value& next, const Shape& shape, const std::function<MadeOf(ir::ValueId)>& such) {
  Ancestry ancestry(in, such);
  if (auto* tile = next.as<Tile>()) return in.type(tile->id).shape == shape ? ancestry.of(tile->id) : MadeOf::None;
  auto* e = next.as<Elementwise>();
  MadeOf all = MadeOf::None;
  for (size_t i = 0; e && e->shape == shape && i < e->inputs.size(); ++i)
    if (runs_along_all(e->inputs[i].axes, shape.size())) all = std::max(all, ancestry.of(e->inputs[i].tile));
  return all;
}

// Does a tile hold what one of `held` holds?
auto is_one_of(std::set<ir::ValueId> held) {
  return [held = std::move(held)](ir::ValueId v) { return held.contains(v) ? MadeOf::All : MadeOf::None; };
}

// Is a tile cut out at the place of the part? Some: in some runs, as far as is known.
MadeOf cut_at(const Instance& in, Offsets& offsets, const Selection& part, ir::ValueId v) {
  auto* cut = in.kernel.defined_by<op::Extract>(v);
  if (!cut || cut->axes != part.axes) return MadeOf::None;
  MadeOf place = MadeOf::All;
  for (size_t d = 0; d < part.offsets.size(); ++d) {
    auto first = in.kernel.constant(cut->offsets[d]);
    const auto is_equal = part.offsets[d].valid() ? offsets.are_equal(cut->offsets[d], part.offsets[d]) : first ? std::optional(first->i == 0) : std::nullopt;
    if (is_equal && !*is_equal) return MadeOf::None;
    if (!is_equal) place = MadeOf::Some;
  }
  return place;
}

// What a value is computed of, one step back: through both sides of branches, and the turns of loops that are done.
class Makers {
 public:
  explicit Makers(const Instance& in) : in_(in), kernel_(in.kernel) {}
  std::vector<ir::ValueId> of(ir::ValueId v) {
    std::vector<ir::ValueId> all;
    const ir::Op* made = kernel_.definition(v);
    if (!made) return carried(v);
    const size_t result = size_t(std::ranges::find(made->results, v) - made->results.begin());
    auto yielded = [&](ir::RegionId part, size_t i) { all.push_back(kernel_.terminator(part).as<op::Yield>().values[i]); };
    if (made->is<op::For>() || made->is<op::While>()) ir::each_region(made->data, [&](ir::RegionId part) { loops_[part] = made; });
    if (auto* loop = made->get<op::While>()) return yielded(loop->condition, 0), yielded(loop->condition, result + 1), all;
    if (auto* loop = made->get<op::For>()) return yielded(loop->body, result), all.insert(all.end(), {loop->low, loop->high, loop->step, loop->inits[result]}), all;
    ir::each_maker(*made, [&](ir::ValueId maker) { all.push_back(maker); });
    if (made->is<op::If>()) ir::each_region(made->data, [&](ir::RegionId side) { yielded(side, result); });
    return all;
  }

 private:
  std::vector<ir::ValueId> carried(ir::ValueId argument) const {
    const ir::RegionId region = kernel_.value(argument).region;
    const auto loop = loops_.find(region);
    if (loop == loops_.end()) {
      // Of a loop around this place, which is not done.
      const auto begun = in_.carried.find(argument);
      return begun != in_.carried.end() ? std::vector{begun->second} : std::vector<ir::ValueId>();
    }
    const auto& args = kernel_.region(region).args;
    return ir::carried_sources(kernel_, *loop->second, region, size_t(std::ranges::find(args, argument) - args.begin()));
  }

  const Instance& in_;
  const ir::Kernel& kernel_;
  std::map<ir::RegionId, const ir::Op*> loops_;
};

// Is something that a number is computed of such? `but`: without that.
bool is_made_of(const Instance& in, ir::ValueId number, const std::function<bool(ir::ValueId)>& is_such, ir::ValueId but = {}) {
  Makers makers(in);
  std::set<ir::ValueId> seen{but};
  std::vector<ir::ValueId> open{number};
  while (!open.empty()) {
    const ir::ValueId next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    if (is_such(next)) return true;
    const std::vector<ir::ValueId> from = makers.of(next);
    open.insert(open.end(), from.begin(), from.end());
  }
  return false;
}

// `by`: what tells; none: what is assigned itself. `held`: what is held where it tells, that of the variable itself first.
ir::ValueId asked(Instance& in, ir::ValueId old, ir::ValueId next, ir::ValueId by = {}, bool of_number = false, std::vector<ir::ValueId> held = {}, bool is_partial = false) {
  if (!old.valid() || old == next || in.type(old) != in.type(next)) return next;
  return in.builder.select(in.builder.inside(by.valid() ? by : next, of_number, std::move(held), is_partial), next, old);
}

// May a number, but for what it holds of `old`, be padding: is it made of elements of tiles, or of what a loop carries from turn to turn?
// Places are none.
bool may_be_padding(const Instance& in, ir::ValueId number, ir::ValueId old) {
  return is_made_of(in, number, [&](ir::ValueId v) {
    if (auto* load = in.kernel.defined_by<op::ElementLoad>(v)) return in.type(load->buffer).space == ir::Space::Shared;
    if (in.kernel.definition(v) || in.kernel.value(v).region == in.kernel.body) return false;
    if (in.parallel && in.kernel.value(v).region == in.parallel->region) return std::ranges::find(in.parallel->indices, v) == in.parallel->indices.end();
    return in.type(v).is_scalar() && in.type(v).element != Scalar::Index;
  }, old);
}

// A number that the program has declared, of a block or of an iteration of `parallel`.
bool is_number(Instance& in, VariableId id) {
  return (in.parallel || in.level == Level::Block) && in.variable(id).type.is_scalar() && in.variable(id).span.valid();
}

const Parallel::Cell* cell_of(const Instance& in, VariableId id) {
  if (!in.parallel) return nullptr;
  const auto cell = std::ranges::find(in.parallel->cells, id, &Parallel::Cell::cell);
  return cell != in.parallel->cells.end() ? &*cell : nullptr;
}

bool is_cell(const Instance& in, VariableId id) { return cell_of(in, id) != nullptr; }

// Of how much of `old` a number is computed: of what a statement's branch leaves, in some elements, unless `old` decides. Through loops, in some turns.
class MadeOfOld {
 public:
  MadeOfOld(const Instance& in, ir::ValueId old) : in_(in), old_(old) {}

  MadeOf of(ir::ValueId number) {
    if (number == old_) return MadeOf::All;
    auto [at, is_new] = known_.try_emplace(number, MadeOf::None);
    if (!is_new) return at->second;
    const ir::Op* op = in_.kernel.definition(number);
    const MadeOf found = op && !op->is<op::For>() && !op->is<op::While>() ? made(*op, number) : in_turns(number);
    return known_[number] = found;
  }

 private:
  MadeOf in_turns(ir::ValueId number) const {
    return is_made_of(in_, number, [&](ir::ValueId v) { return v == old_; }) ? MadeOf::Some : MadeOf::None;
  }
  MadeOf chosen(ir::ValueId by, ir::ValueId a, ir::ValueId b) {
    const MadeOf x = of(a), y = of(b), decides = of(by);
    return decides != MadeOf::None ? decides : x == y ? x : MadeOf::Some;
  }
  MadeOf made(const ir::Op& op, ir::ValueId number) {
    MadeOf all = MadeOf::None;
    auto* choice = op.get<op::Select>();
    auto* inside = choice ? in_.kernel.defined_by<op::Inside>(choice->condition) : nullptr;
    if (inside) return chosen(inside->x, choice->a, choice->b);
    ir::each_maker(op, [&](ir::ValueId v) { all = std::max(all, of(v)); });
    auto* branch = op.get<op::If>();
    if (!branch) return all;
    const size_t result = size_t(std::ranges::find(op.results, number) - op.results.begin());
    auto left_by = [&](ir::RegionId side) { return in_.kernel.terminator(side).as<op::Yield>().values[result]; };
    const ir::ValueId a = left_by(branch->then_body), b = left_by(branch->else_body);
    return in_.statements.contains(in_.kernel.value(number).op) ? chosen(branch->condition, a, b) : std::max({all, of(a), of(b)});
  }

  const Instance& in_;
  ir::ValueId old_;
  std::map<ir::ValueId, MadeOf> known_;
};

// What the element was in front of the iteration, where it holds something else now, as what was another tile's.
std::vector<ir::ValueId> own_of(const Instance& in, VariableId id, ir::ValueId old) {
  const Parallel::Cell* cell = cell_of(in, id);
  return cell && cell->before.valid() && cell->before != old ? std::vector{cell->before} : std::vector<ir::ValueId>();
}

// Is a number computed of one of the values that a variable may hold?
MadeOf made_of_one(const Instance& in, ir::ValueId next, const std::set<ir::ValueId>& held) {
  const bool is_so = is_made_of(in, next, [&](ir::ValueId v) { return held.contains(v) && !in.kernel.constant(v); });
  return is_so ? MadeOf::Some : MadeOf::None;
}

// Is it computed of an element of another tile, at the place of the cell, that is itself made of what the fragment holds, or may hold from a loop before?
MadeOf made_by_others(Instance& in, const Parallel::Cell& cell, ir::ValueId next) {
  const ir::ValueId tile = in.variable(cell.fragment).current;
  const ir::ValueId current = in.variable(cell.cell).current;
  if (!tile.valid() || !held_as(in, current).contains(cell.before)) return MadeOf::None;
  const MadeOf held = current == cell.before ? MadeOf::All : MadeOf::Some;
  const std::set<ir::ValueId> left = left_as_they_were(in, tile);
  Ancestry ancestry(in, is_one_of({tile}));
  MadeOf all = MadeOf::None;
  for (const Elementwise::Input& input : in.parallel->inputs) {
    if (input.axes != cell.axes) continue;
    const MadeOf made_of = left.contains(input.tile) ? MadeOf::Some : ancestry.of(input.tile);
    if (made_of != MadeOf::None && is_made_of(in, next, [&](ir::ValueId v) { return v == input.element; })) all = std::max(all, std::min(made_of, held));
  }
  return all;
}

}  // namespace

Value kept(Instance& in, const Operand& old, const Operand& next, Span span, MadeOf made_of) {
  if (old.value.is_poison() || next.value.is_poison()) return next.value;
  return map_elements(in, std::array{next, old}, span, [&](std::span<const Operand> x) -> Value {
    const Value held = number(in, x[1]), made = number(in, x[0]);
    if (held.is_poison() || made.is_poison()) return Poison{};
    return Dynamic{asked(in, emit(in, held), emit(in, made), {}, false, {}, made_of == MadeOf::Some)};
  });
}

Value kept_tile(Instance& in, ir::ValueId old, const Operand& next, Span span) {
  auto* tile = next.value.as<Tile>();
  if (!old.valid() || (tile && tile->id == old)) return next.value;
  const Shape& shape = in.type(old).shape;
  MadeOf made_of = held_in(in, next.value, shape, is_one_of({old}));
  // It may hold what it held before, of which the other is computed.
  const std::set<ir::ValueId> left = made_of == MadeOf::None ? left_as_they_were(in, old) : std::set<ir::ValueId>();
  if (!left.empty() && held_in(in, next.value, shape, is_one_of(left)) != MadeOf::None) made_of = MadeOf::Some;
  return made_of != MadeOf::None ? kept(in, {Tile{old}, next.span}, next, span, made_of) : next.value;
}

Value kept_part(Instance& in, ir::ValueId whole, const Selection& part, const Operand& next, Span span) {
  auto shape = fixed_shape(part.shape);
  if (!whole.valid() || !shape || next.value.is_poison()) return next.value;
  Offsets offsets(in.kernel);
  ir::ValueId read;      // the part, where it is read
  bool has_cut = false;  // of any tile, at this place
  auto of = [&](const std::set<ir::ValueId>& held) {
    return held_in(in, next.value, *shape, [&](ir::ValueId v) {
      const MadeOf place = cut_at(in, offsets, part, v);
      if (place == MadeOf::None) return place;
      const ir::ValueId tile = in.kernel.defined_by<op::Extract>(v)->tile;
      has_cut = true;
      if (place == MadeOf::All && tile == whole && !read.valid()) read = v;
      return std::min(place, Ancestry(in, is_one_of(held)).of(tile));
    });
  };
  MadeOf made_of = of({whole});
  const bool is_all = *shape == in.type(whole).shape && runs_along_all(part.axes, shape->size());
  if (is_all && !read.valid()) return kept_tile(in, whole, next, span);
  if (made_of == MadeOf::None && has_cut && of(left_as_they_were(in, whole)) != MadeOf::None) made_of = MadeOf::Some;
  auto* tile = next.value.as<Tile>();
  if (made_of == MadeOf::None || (tile && tile->id == read)) return next.value;
  const Value old = read.valid() ? Value(Tile{read}) : extract(in, {Tile{whole}, span}, part, span);
  return kept(in, {old, span}, next, span, made_of);
}

ir::ValueId kept_element(Instance& in, VariableId id, ir::ValueId next) {
  const ir::ValueId old = in.variable(id).current;
  const Parallel::Cell* cell = cell_of(in, id);
  if (!old.valid() || (!cell && !is_number(in, id))) return next;
  MadeOf made_of = MadeOfOld(in, old).of(next);
  if (made_of == MadeOf::None) made_of = made_of_one(in, next, held_as(in, old));
  if (cell && made_of == MadeOf::None) made_of = made_by_others(in, *cell, next);
  if (made_of == MadeOf::None) return next;
  if (cell) return asked(in, old, next, {}, false, own_of(in, id, old), made_of == MadeOf::Some);
  return may_be_padding(in, next, old) ? asked(in, old, next, next, true, {}, made_of == MadeOf::Some) : next;
}

void keep_behind(Instance& in, ir::ValueId condition, std::span<const Changed> changed) {
  std::vector<ir::ValueId> held;
  for (const Changed& one : changed)
    if (one.before.valid() && (is_cell(in, one.id) || is_number(in, one.id))) held.push_back(one.before);
  for (const Changed& one : changed) {
    std::vector<ir::ValueId> all = own_of(in, one.id, one.before);
    if (all.empty()) all.push_back(one.before);
    all.insert(all.end(), held.begin(), held.end());
    if (is_cell(in, one.id)) in.set(one.id, asked(in, one.before, one.next, condition, false, all));
    else in.set(one.id, is_number(in, one.id) && may_be_padding(in, condition, {}) ? asked(in, one.before, one.next, condition, true, all) : one.next);
  }
}

}  // namespace tilec::sema
