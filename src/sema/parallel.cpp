#include "sema/parallel.h"

#include "sema/assign.h"
#include "sema/names.h"
#include "sema/parallel_writes.h"
#include "sema/stmt.h"
#include "sema/types.h"

namespace tilec::sema {
namespace {

// The tile that a subscripted name means, or none.
struct Base {
  std::optional<VariableId> variable;
  ir::ValueId tile;
};

std::optional<Base> base_of(Instance& in, const ast::Index& index) {
  auto* name = index.base->as<ast::NameRef>();
  const Binding* binding = name ? in.find(name->name.text) : nullptr;
  if (!binding) return std::nullopt;
  if (auto* id = std::get_if<VariableId>(&binding->what))
    return in.variable(*id).type.is_tile() ? std::optional(Base{*id, {}}) : std::nullopt;
  auto* tile = std::get<Value>(binding->what).as<Tile>();
  return tile ? std::optional(Base{{}, tile->id}) : std::nullopt;
}

// For each axis of a fragment the loop index that stands there, each once; nothing and a report for anything else.
std::optional<ir::Axes> projection(Instance& in, const ast::Index& index, int rank, Span span) {
  if (int(index.subscripts.size()) != rank) {
    in.at(span).error(diag::RankMismatch, in.text(index.base->span), int64_t(rank), int64_t(index.subscripts.size()));
    return std::nullopt;
  }
  ir::Axes axes;
  for (const ast::Subscript& s : index.subscripts) {
    Value value = s.kind == ast::SubscriptKind::Index ? evaluate(in, *s.lo) : Value(Nothing{});
    if (value.is_poison()) return std::nullopt;
    auto* d = value.as<Dynamic>();
    auto at = d ? std::find(in.parallel->indices.begin(), in.parallel->indices.end(), d->id)
        : in.parallel->indices.end();
    if (at == in.parallel->indices.end()) {
      in.at(s.span).error(diag::FragmentElement)
          .help("a fragment is read at the indices of the loop; put it in a `shared` tile to read it elsewhere");
      return std::nullopt;
    }
    // Which threads hold the elements of a diagonal no layout of the loop tells.
    const int64_t axis = at - in.parallel->indices.begin();
    if (std::ranges::find(axes, axis) != axes.end()) {
      in.at(s.span).error(diag::FragmentElement)
          .help("each axis of a fragment is read at an index of its own; put it in a `shared` tile to read a diagonal");
      return std::nullopt;
    }
    axes.push_back(axis);
  }
  return axes;
}

bool have_loop_extents(Instance& in, const ir::Type& type, const ir::Axes& axes, Span span) {
  Shape wanted;
  for (int64_t axis : axes) wanted.push_back(in.parallel->extents[axis]);
  if (wanted == type.shape) return true;
  in.at(span).error(diag::ShapeMismatch, shape_text(type.shape), shape_text(wanted));
  return false;
}

Parallel::Cell* cell_of(Instance& in, VariableId id) {
  for (auto& cell : in.parallel->cells)
    if (cell.fragment == id) return &cell;
  return nullptr;
}

ir::ValueId input(Instance& in, ir::ValueId tile, const ir::Axes& axes) {
  for (const auto& known : in.parallel->inputs)
    if (known.tile == tile && known.axes == axes) return known.element;
  ir::ValueId element = in.kernel.new_arg(in.parallel->region, ir::scalar_type(in.type(tile).element),
                                          in.kernel.value(tile).hint);
  in.parallel->inputs.push_back({tile, element, axes});
  return element;
}

}  // namespace

std::optional<Value> fragment_element(Instance& in, const ast::Index& index, Span span) {
  auto base = base_of(in, index);
  if (!base) return std::nullopt;
  if (base->variable && in.variable(*base->variable).is_poison) return Value(Poison{});
  const ir::Type type = base->variable ? in.variable(*base->variable).type : in.type(base->tile);
  auto axes = projection(in, index, type.rank(), span);
  if (!axes) return Value(Poison{});
  if (auto* cell = base->variable ? cell_of(in, *base->variable) : nullptr) {
    if (cell->axes == *axes) return read_variable(in, cell->cell, span);
    in.at(span).error(diag::IterationDependence, in.variable(*base->variable).name,
                      "it is written at other indices than it is read at");
    return Value(Poison{});
  }
  if (!have_loop_extents(in, type, *axes, span)) return Value(Poison{});
  if (base->variable) {
    Value whole = read_variable(in, *base->variable, span);
    if (whole.is_poison()) return whole;
    base->tile = whole.as<Tile>()->id;
  }
  return Value(Dynamic{input(in, base->tile, *axes)});
}

std::optional<VariableId> cell_named(Instance& in, const ast::Expr& expr) {
  auto* index = expr.as<ast::Index>();
  auto base = in.parallel && index ? base_of(in, *index) : std::nullopt;
  auto* cell = base && base->variable ? cell_of(in, *base->variable) : nullptr;
  if (!cell) return std::nullopt;
  auto axes = projection(in, *index, in.variable(*base->variable).type.rank(), expr.span);
  return axes && *axes == cell->axes ? std::optional(cell->cell) : std::nullopt;
}

bool assign_fragment_element(Instance& in, const ast::Index& index, const ast::Assign& node, Span span) {
  auto base = base_of(in, index);
  if (!base) return false;
  if (!base->variable) {
    in.at(node.target->span).error(diag::AssignToImmutable, in.text(index.base->span), "a `let`")
        .help("declare it with `var`");
    return true;
  }
  Parallel::Cell* cell = cell_of(in, *base->variable);
  if (!cell) return operand(in, *node.value), true;  // its indices have been reported
  VariableId id = cell->cell;
  Value old = node.op ? read_variable(in, id, node.target->span) : Value(Nothing{});
  Operand value = operand(in, *node.value);
  if (node.op) {
    bool is_fine = !old.is_poison() && !value.value.is_poison();
    value.value = is_fine ? binary(in, *node.op, {old, node.target->span}, value, span) : Value(Poison{});
  }
  set_variable(in, id, value, node.target->span);
  return true;
}

namespace {

// The loop indices that a fragment is written at: every one once.
std::optional<ir::Axes> written_axes(const Parallel& parallel, const ast::Index& index) {
  ir::Axes axes;
  for (const ast::Subscript& s : index.subscripts) {
    auto* name = s.kind == ast::SubscriptKind::Index && s.lo ? s.lo->as<ast::NameRef>() : nullptr;
    auto at = name ? std::find(parallel.names.begin(), parallel.names.end(), name->name.text) : parallel.names.end();
    if (at == parallel.names.end()) return std::nullopt;
    axes.push_back(at - parallel.names.begin());
  }
  ir::Axes sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != int64_t(i)) return std::nullopt;
  return axes.size() == parallel.names.size() ? std::optional(axes) : std::nullopt;
}

void add_cell(Instance& in, const ast::Index& index, Span span) {
  auto base = base_of(in, index);
  if (!base || !base->variable || in.variable(*base->variable).is_poison) return;
  const Variable fragment = in.variable(*base->variable);
  auto axes = written_axes(*in.parallel, index);
  if (!axes) {
    in.at(span).error(diag::FragmentWriteIndex, fragment.name).help("what comes of a row is a reduction, `t.max(axis = 1)`, outside of the loop; elements at other indices are written in a `shared` tile");
    in.variable(*base->variable).is_poison = true;
    return;
  }
  if (auto* known = cell_of(in, *base->variable)) {
    if (known->axes != *axes) in.at(span).error(diag::IterationDependence,
                                                fragment.name, "two places write it at different indices");
    return;
  }
  if (!have_loop_extents(in, fragment.type, *axes, span)) return;
  ir::ValueId before = fragment.current.valid() ? input(in, fragment.current, *axes) : ir::ValueId{};
  VariableId cell = in.new_variable(fragment.name, fragment.span, ir::scalar_type(fragment.type.element), {});
  in.variable(cell).current = before;
  in.parallel->cells.push_back({*base->variable, cell, *axes, before});
}

bool open(Instance& in, Parallel& parallel, const ast::Stmt& stmt, const ast::For& node) {
  if (in.level == Level::Element) return not_allowed(in, stmt.span, "a `parallel` loop", "inside another one"), false;
  if (!require_block(in, node.domain_span, "a `parallel` loop")) return false;
  for (const ast::Argument& a : node.arguments) {
    if (a.is_named()) return in.at(a.name.span).error(diag::UnknownParameter, "parallel", a.name.text), false;
    auto n = known_int(in, operand(in, *a.value), "the extent of a `parallel` loop");
    if (!n) return false;
    if (*n < 1) return in.at(a.span).error(diag::BadExtent, *n), false;
    parallel.extents.push_back(*n);
  }
  if (!has_few_elements(in, parallel.extents, node.domain_span)) return false;
  if (parallel.extents.empty() || parallel.extents.size() != node.pattern.names.size()) {
    in.at(node.pattern.span).error(diag::ArgumentCount, "parallel", int64_t(node.pattern.names.size()),
                                   int64_t(parallel.extents.size()));
    return false;
  }
  parallel.region = in.kernel.new_region();
  for (const ast::Name& name : node.pattern.names) {
    parallel.names.push_back(name.text);
    parallel.indices.push_back(in.kernel.new_arg(parallel.region, ir::scalar_type(Scalar::Index),
                                                 std::string(name.text)));
    in.near_indices[parallel.indices.back()] = kNearBits;
  }
  return true;
}

void emit_map(Instance& in, const Parallel& parallel, const std::vector<Parallel::Cell>& written,
              const std::vector<ir::ValueId>& yields, Span span) {
  op::Map map{.inputs = {}, .input_axes = {}, .shape = parallel.extents, .body = parallel.region};
  for (const auto& i : parallel.inputs) {
    map.inputs.push_back(i.tile);
    map.input_axes.push_back(i.axes);
  }
  std::vector<ir::Type> types;
  for (const auto& cell : written)
    types.push_back(ir::tile_type(in.variable(cell.fragment).type.element, parallel.extents));
  {
    RegionGuard region(in, parallel.region);
    in.builder.yield(yields);
  }
  in.builder.set_span(span);
  ir::OpId id = in.builder.add(std::move(map), types);
  in.statements.insert(id);
  for (size_t i = 0; i < written.size(); ++i) {
    const ir::Type type = in.variable(written[i].fragment).type;
    // A copy of all of a tile is that tile, and variables that are given one value hold one tile.
    size_t first = 0;
    while (yields[first] != yields[i] || written[first].axes != written[i].axes || in.variable(written[first].fragment).type != type) ++first;
    ir::ValueId tile = in.kernel.op(id).results[first];
    auto is_copied = [&](const Elementwise::Input& x) { return x.element == yields[i] && x.axes == written[i].axes && in.type(x.tile) == type; };
    if (auto copied = std::ranges::find_if(parallel.inputs, is_copied); copied != parallel.inputs.end()) {
      in.set(written[i].fragment, copied->tile);
      continue;
    }
    if (!std::is_sorted(written[i].axes.begin(), written[i].axes.end()))
      tile = in.builder.value(op::Permute{tile, written[i].axes}, type);
    in.set(written[i].fragment, tile);
  }
}

}  // namespace

void run_parallel(Instance& in, const ast::Stmt& stmt, const ast::For& node) {
  Parallel parallel;
  if (!open(in, parallel, stmt, node)) return;
  std::vector<Parallel::Cell> written;
  std::vector<ir::ValueId> yields;
  {
    RegionGuard region(in, parallel.region);
    Restore<Parallel*> here(in.parallel, &parallel);
    Restore<Level> level(in.level, Level::Element);
    Restore<int> depth(in.depth, in.depth + 1);
    ScopeGuard scope(in);
    for (size_t i = 0; i < parallel.names.size(); ++i)
      in.declare(node.pattern.names[i], Dynamic{parallel.indices[i]}, "a loop index");
    each_written_element(in, node.body.statements, [&](const ast::Index& index, Span span) { add_cell(in, index, span); });
    Loop loop{.goes_on = {}, .in_turn = {}, .allows_exits = false};
    in.loops.push_back(loop);
    run_scoped(in, node.body);
    in.loops.pop_back();
    for (const auto& cell : parallel.cells) {
      const Variable& v = in.variable(cell.cell);
      if (v.is_poison) in.variable(cell.fragment).is_poison = true;
      if (v.is_poison || !v.current.valid() || v.current == cell.before) continue;
      written.push_back(cell);
      yields.push_back(v.current);
    }
  }
  check_independence(in, parallel.region, parallel.extents);
  for (const auto& cell : written)
    if (in.variable(cell.fragment).depth != in.depth) return void(is_in_reach(in, cell.fragment, stmt.span));
  emit_map(in, parallel, written, yields, stmt.span);
  check_atomics(in, parallel.region);
}

}  // namespace tilec::sema
