#include "passes/sum_rows.h"

#include <algorithm>

#include "passes/effects.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

ValueId RowSlicer::first(int64_t rows) {
  ValueId& known = firsts_[rows];
  if (!known.valid()) known = builder_.mul(part_, builder_.index(rows));
  return known;
}

Type RowSlicer::fewer(Type type, int64_t axis) const {
  type.shape[size_t(axis)] /= parts_;
  return type;
}

// What is read of device memory is read anew, for these rows; any other tile is there already.
ValueId RowSlicer::rows_of(ValueId whole, int64_t axis) {
  if (is_sliced(whole)) return sliced_.at(whole.index);
  const Type type = fewer(kernel_.type(whole), axis);
  ValueId begin = first(type.shape[size_t(axis)]);
  if (const op::Splat* splat = kernel_.defined_by<op::Splat>(whole)) return builder_.value(op::Splat{splat->x}, type);
  if (const op::Load* known = kernel_.defined_by<op::Load>(whole); known && kernel_.param_of(known->buffer)) {
    op::Load load = *known;
    ValueId& offset = load.offsets[size_t(load.axes[size_t(axis)])];
    offset = builder_.add(offset, begin);
    return builder_.value(std::move(load), type, kernel_.value(whole).hint);
  }
  op::Extract extract{.tile = whole, .offsets = {}, .axes = {}};
  for (size_t i = 0; i < type.shape.size(); ++i) {
    extract.offsets.push_back(int64_t(i) == axis ? begin : builder_.index(0));
    extract.axes.push_back(int64_t(i));
  }
  return builder_.value(std::move(extract), type);
}

bool RowSlicer::depends(OpId id) const {
  bool found = false;
  auto look = [&](const OpData& data) { each_operand(data, [&](ValueId v) { found |= is_sliced(v); }); };
  look(kernel_.op(id).data);
  each_region(kernel_.op(id).data, [&](RegionId region) { each_op(kernel_, region, [&](OpId inner) { look(kernel_.op(inner).data); }); });
  return found;
}

std::string RowSlicer::emit(OpId id) {
  builder_.set_span(kernel_.op(id).span);
  if (!depends(id)) return keep(id);
  const Op& op = kernel_.op(id);
  if (op.is<op::Store>()) return store(id);
  if (op.is<op::Map>()) return map(id);
  if (op.is<op::Reduce>() || op.is<op::Scan>() || op.is<op::Permute>()) return along(id);
  return "'" + std::string(name(op.kind())) + "' takes all rows of the sum at once";
}

// The same for all blocks: of what others see, each would do it again.
std::string RowSlicer::keep(OpId id) {
  const Op& op = kernel_.op(id);
  const op::Copy* copy = op.get<op::Copy>();
  bool is_own = (copy && kernel_.type(copy->dst).space == Space::Shared) || !has_effect(kernel_, op) || is_pure(op) || op.is<op::ElementLoad>();
  if (!is_own) return "'" + std::string(name(op.kind())) + "' behind the loop does not depend on its sum";
  kernel_.region(builder_.region()).ops.push_back(id);
  return "";
}

std::string RowSlicer::store(OpId id) {
  op::Store store = kernel_.op(id).as<op::Store>();
  if (!kernel_.param_of(store.buffer)) return "the sum is stored to memory that is no parameter";
  int64_t axis = axes_.at(store.tile.index);
  ValueId& offset = store.offsets[size_t(store.axes[size_t(axis)])];
  store.tile = sliced_.at(store.tile.index);
  offset = builder_.add(offset, first(kernel_.type(store.tile).shape[size_t(axis)]));
  builder_.add(std::move(store));
  return "";
}

std::string RowSlicer::map(OpId id) {
  op::Map map = kernel_.op(id).as<op::Map>();
  int64_t axis = -1;
  for (size_t k = 0; k < map.inputs.size(); ++k) {
    if (!is_sliced(map.inputs[k])) continue;
    int64_t own = map.input_axes[k][size_t(axes_.at(map.inputs[k].index))];
    if (axis >= 0 && axis != own) return "elementwise code meets rows of one sum with columns of another";
    axis = own;
  }
  if (axis < 0) return "elementwise code reads the sum of a kind that has no rows";
  for (size_t k = 0; k < map.inputs.size(); ++k) {
    auto found = std::ranges::find(map.input_axes[k], axis);
    if (found == map.input_axes[k].end()) continue;
    map.inputs[k] = rows_of(map.inputs[k], found - map.input_axes[k].begin());
  }
  map.shape[size_t(axis)] /= parts_;
  if (std::string why = shift_indices(map, axis); !why.empty()) return why;
  std::vector<Type> types;
  const std::vector<ValueId> before = kernel_.op(id).results;
  for (ValueId v : before) types.push_back(fewer(kernel_.type(v), axis));
  const std::vector<ValueId> after = kernel_.op(builder_.add(std::move(map), types)).results;
  for (size_t i = 0; i < before.size(); ++i) {
    kernel_.value(after[i]).hint = kernel_.value(before[i]).hint;
    bind(before[i], after[i], axis);
  }
  return "";
}

// The map's body counts the rows of the whole tile.
std::string RowSlicer::shift_indices(const op::Map& map, int64_t axis) {
  ValueId index = kernel_.region(map.body).args[size_t(axis)], begin = first(map.shape[size_t(axis)]), moved;
  bool is_used = false;
  each_op(kernel_, map.body, [&](OpId inner) { each_operand(kernel_.op(inner).data, [&](ValueId v) { is_used |= v == index; }); });
  if (!is_used) return "";
  insert_before(kernel_, map.body, kernel_.region(map.body).ops.front(), [&](Builder& b) { moved = b.add(index, begin); });
  replace_uses(kernel_, map.body, index, moved);
  kernel_.op(kernel_.value(moved).op).data = op::Binary{BinaryFn::Add, index, begin};
  return "";
}

// Operations that go along one axis, or name axes anew.
std::string RowSlicer::along(OpId id) {
  OpData data = kernel_.op(id).data;
  ValueId x;
  each_operand(data, [&](ValueId& v) { x = v, v = sliced_.at(v.index); });
  int64_t axis = axes_.at(x.index), gone = -1;
  if (const op::Reduce* reduce = data.get<op::Reduce>()) gone = reduce->axis;
  if (const op::Scan* scan = data.get<op::Scan>()) gone = scan->axis;
  if (gone == axis) return "'" + std::string(name(data.kind())) + "' goes along the rows that the blocks share";
  int64_t after = axis;
  if (data.is<op::Reduce>() && gone < axis) --after;
  if (const op::Permute* permute = data.get<op::Permute>()) after = std::ranges::find(permute->axes, axis) - permute->axes.begin();
  ValueId result = kernel_.op(id).result();
  bind(result, builder_.value(std::move(data), fewer(kernel_.type(result), after), kernel_.value(result).hint), after);
  return "";
}

}  // namespace tilec::passes
