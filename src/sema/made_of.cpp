#include "sema/made_of.h"

#include "ir/sources.h"

namespace tilec::sema {

namespace {

MadeOf most(MadeOf a, MadeOf b) { return std::max(a, b); }
// Of one or the other.
MadeOf either(MadeOf a, MadeOf b) { return a == b ? a : MadeOf::Some; }

size_t place_of(const ir::Op& op, ir::ValueId result) { return size_t(std::ranges::find(op.results, result) - op.results.begin()); }

const std::vector<ir::ValueId>& yielded(const ir::Kernel& kernel, ir::RegionId region) { return kernel.terminator(region).as<op::Yield>().values; }

}  // namespace

bool runs_along_all(const ir::Axes& axes, size_t rank) {
  if (axes.size() != rank) return false;
  for (size_t a = 0; a < rank; ++a)
    if (axes[a] != int64_t(a)) return false;
  return true;
}

MadeOf Ancestry::of(ir::ValueId tile) {
  if (const MadeOf found = such_(tile); found != MadeOf::None) return found;
  if (auto at = known_.find(tile); at != known_.end()) return at->second;
  known_[tile] = MadeOf::None;
  const MadeOf found = made(tile);
  return known_[tile] = found;
}

MadeOf Ancestry::made(ir::ValueId tile) {
  const ir::Op* op = in_.kernel.definition(tile);
  if (!op) return MadeOf::None;
  const size_t result = place_of(*op, tile);
  if (auto* map = op->get<op::Map>()) return by_map(*op, *map, result);
  if (auto* loop = op->get<op::For>()) return by_loop(*loop, result);
  // What a product is added to.
  if (auto* gemm = op->get<op::Gemm>()) return of(gemm->acc);
  // A cut of all of it.
  if (auto* cut = op->get<op::Extract>()) return in_.type(tile).shape == in_.type(cut->tile).shape && runs_along_all(cut->axes, cut->axes.size()) ? of(cut->tile) : MadeOf::None;
  // A part that is written leaves the rest.
  if (auto* insert = op->get<op::Insert>()) return std::min(of(insert->tile), MadeOf::Some);
  auto* branch = op->get<op::If>();
  if (!branch) return MadeOf::None;
  const MadeOf a = of(yielded(in_.kernel, branch->then_body)[result]), b = of(yielded(in_.kernel, branch->else_body)[result]);
  // A value `if` is computed of what one side is computed of; a statement leaves one or the other.
  return in_.statements.contains(in_.kernel.value(tile).op) ? either(a, b) : most(a, b);
}

MadeOf Ancestry::by_map(const ir::Op& op, const op::Map& map, size_t result) {
  const bool is_statement = in_.statements.contains(in_.kernel.value(op.results[result]).op);
  const std::vector<ir::ValueId>& args = in_.kernel.region(map.body).args;
  std::map<ir::ValueId, MadeOf> elements;
  MadeOf all = MadeOf::None;
  for (size_t i = 0; i < map.inputs.size(); ++i) {
    const MadeOf input = runs_along_all(map.input_axes[i], map.shape.size()) ? of(map.inputs[i]) : MadeOf::None;
    elements[args[map.shape.size() + i]] = input, all = most(all, input);
  }
  return is_statement && all != MadeOf::None ? element(yielded(in_.kernel, map.body)[result], elements) : all;
}

// What a turn leaves is taken for what it begins with.
MadeOf Ancestry::by_loop(const op::For& loop, size_t result) {
  const std::vector<ir::ValueId>& args = in_.kernel.region(loop.body).args;
  for (size_t i = 0; i < loop.inits.size(); ++i)
    if (in_.kernel.type(loop.inits[i]).is_tile()) known_[args[i + 1]] = of(loop.inits[i]);
  return either(of(loop.inits[result]), of(yielded(in_.kernel, loop.body)[result]));
}

MadeOf Ancestry::element(ir::ValueId v, std::map<ir::ValueId, MadeOf>& known) const {
  if (auto at = known.find(v); at != known.end()) return at->second;
  const ir::Op* made = in_.kernel.definition(v);
  const MadeOf found = made ? element_made(*made, v, known) : MadeOf::None;
  return known[v] = found;
}

MadeOf Ancestry::element_made(const ir::Op& made, ir::ValueId v, std::map<ir::ValueId, MadeOf>& known) const {
  auto chosen = [&](MadeOf by, MadeOf a, MadeOf b) { return by == MadeOf::All ? by : by == MadeOf::Some ? MadeOf::Some : either(a, b); };
  if (auto* choice = made.get<op::Select>()) {
    const MadeOf by = in_.kernel.defined_by<op::Inside>(choice->condition) ? MadeOf::None : element(choice->condition, known);
    return chosen(by, element(choice->a, known), element(choice->b, known));
  }
  if (auto* branch = made.get<op::If>()) {
    const size_t result = place_of(made, v);
    auto side = [&](ir::RegionId code) { return element(yielded(in_.kernel, code)[result], known); };
    return chosen(element(branch->condition, known), side(branch->then_body), side(branch->else_body));
  }
  MadeOf all = MadeOf::None;
  ir::each_maker(made, [&](ir::ValueId operand) { all = most(all, element(operand, known)); });
  ir::each_region(made.data, [&](ir::RegionId part) {
    for (ir::ValueId value : yielded(in_.kernel, part))
      if (element(value, known) != MadeOf::None) all = MadeOf::Some;
  });
  return made.is<op::For>() || made.is<op::While>() ? std::min(all, MadeOf::Some) : all;
}

std::set<ir::ValueId> held_as(const Instance& in, ir::ValueId v) {
  std::set<ir::ValueId> found;
  std::vector<ir::ValueId> open{v};
  while (!open.empty()) {
    const ir::ValueId next = open.back();
    open.pop_back();
    if (!found.insert(next).second) continue;
    const ir::Op* made = in.kernel.definition(next);
    const auto carried = in.carried.find(next);
    if (!made && carried != in.carried.end()) open.push_back(carried->second);
    if (!made) continue;
    const size_t result = place_of(*made, next);
    auto left_by = [&](ir::RegionId part, size_t i) { open.push_back(yielded(in.kernel, part)[i]); };
    if (auto* choice = made->get<op::Select>()) open.insert(open.end(), {choice->a, choice->b});
    else if (made->is<op::If>()) ir::each_region(made->data, [&](ir::RegionId side) { left_by(side, result); });
    else if (auto* loop = made->get<op::For>()) open.push_back(loop->inits[result]), left_by(loop->body, result);
    else if (auto* turns = made->get<op::While>()) left_by(turns->condition, result + 1), left_by(turns->body, result);
  }
  return found;
}

std::set<ir::ValueId> left_as_they_were(const Instance& in, ir::ValueId held) {
  const ir::Kernel& kernel = in.kernel;
  std::set<ir::ValueId> found;
  std::vector<ir::ValueId> open{held};
  while (!open.empty()) {
    const ir::ValueId next = open.back();
    open.pop_back();
    const ir::Op* made = found.insert(next).second ? kernel.definition(next) : nullptr;
    if (!made) continue;
    const size_t result = place_of(*made, next);
    if (auto* loop = made->get<op::For>()) open.push_back(loop->inits[result]);
    if (auto* insert = made->get<op::Insert>()) open.push_back(insert->tile);
    if (!in.statements.contains(kernel.value(next).op)) continue;
    if (made->is<op::If>()) ir::each_region(made->data, [&](ir::RegionId side) { open.push_back(yielded(kernel, side)[result]); });
    auto* map = made->get<op::Map>();
    if (!map) continue;
    const std::vector<ir::ValueId>& args = kernel.region(map->body).args;
    for (ir::ValueId leaf : held_as(in, yielded(kernel, map->body)[result])) {
      const size_t input = size_t(std::ranges::find(args, leaf) - args.begin()) - map->shape.size();
      if (input < map->inputs.size() && runs_along_all(map->input_axes[input], map->shape.size())) open.push_back(map->inputs[input]);
    }
  }
  found.erase(held);
  return found;
}

}  // namespace tilec::sema
