// Tiles that a loop writes part by part, from end to end: behind it nothing is left of what they held before, and what is padding ends
// where it does in each part.
#include "passes/padding_flow.h"

namespace tilec::passes {

using namespace ir;
using prove::Linear;

// Parts of these sizes at these offsets, one in each turn: do they make up the whole?
bool PaddingFlow::sweeps(const op::For& loop, std::span<const Linear> offsets, std::span<const int64_t> sizes, std::span<const int64_t> shape) {
  auto counting = countings_.find(loop.body);
  const Linear step = prover_.value(loop.step);
  if (counting == countings_.end() || !counting->second || !step.is_constant() || step.constant != 1) return false;
  const prove::AtomId index = counting->second->index;
  std::optional<size_t> along;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (sizes[d] == shape[d] && offsets[d].is_constant() && offsets[d].constant == 0) continue;
    if (along) return false;
    along = d;
  }
  if (!along) return false;
  const Linear &offset = offsets[*along], first = prove::substitute(offset, index, prover_.value(loop.low)),
               last = prove::substitute(offset, index, prover_.value(loop.high) - 1);
  const int64_t stride = offset.factor_of(index), size = sizes[*along];
  const bool is_known = first.is_constant() && last.is_constant() && stride > 0 && stride <= size;
  return is_known && first.constant == 0 && last.constant + size >= shape[*along] && last.constant >= 0;
}

void PaddingFlow::sweep(const op::For& loop, std::span<TileState> turned) {
  const auto& args = kernel_.region(loop.body).args;
  const auto& yielded = kernel_.terminator(loop.body).as<op::Yield>().values;
  Turns turns{prover_, loop.body, countings_[loop.body]};
  for (size_t i = 0; i < yielded.size(); ++i) {
    auto* insert = kernel_.defined_by<op::Insert>(yielded[i]);
    if (!insert || insert->tile != args[i + 1]) continue;
    const LinearList offsets = values(insert->offsets);
    const std::vector<int64_t>& shape = kernel_.type(insert->tile).shape;
    if (!sweeps(loop, offsets, sizes_along(int(shape.size()), insert->axes, kernel_.type(insert->part).shape), shape)) continue;
    turned[i] = behind_loop(placed(state(insert->part), offsets, insert->axes), turns);
  }
}

// The only write to a shared buffer in the loop.
void PaddingFlow::sweep_buffers(const op::For& loop) {
  Turns turns{prover_, loop.body, countings_[loop.body]};
  std::map<ValueId, int> writes;
  auto note = [&](ValueId buffer) {
    while (auto* view = kernel_.defined_by<op::Subview>(buffer)) buffer = view->buffer;
    ++writes[buffer];
  };
  each_op(kernel_, loop.body, [&](OpId id) {
    const Op& op = kernel_.op(id);
    if (auto* o = op.get<op::Store>()) note(o->buffer);
    if (auto* o = op.get<op::Copy>()) note(o->dst);
    if (auto* o = op.get<op::ElementStore>()) note(o->buffer);
    if (auto* o = op.get<op::Atomic>()) note(o->buffer);
  });
  for (OpId id : kernel_.region(loop.body).ops) {
    const Op& op = kernel_.op(id);
    auto* store = op.get<op::Store>();
    auto* copy = op.get<op::Copy>();
    auto* number = op.get<op::ElementStore>();
    if (!store && !copy && !number) continue;
    const ValueId buffer = store ? store->buffer : copy ? copy->dst : number->buffer;
    const Type& type = kernel_.type(buffer);
    if (type.space != Space::Shared || kernel_.defined_by<op::Subview>(buffer) || writes[buffer] != 1) continue;
    const LinearList offsets = values(store ? store->offsets : copy ? copy->dst_offsets : number->indices);
    const Axes axes = store ? store->axes : copy ? copy->dst_axes : Axes();
    const std::vector<int64_t> shape = store ? kernel_.type(store->tile).shape : copy ? copy->shape : std::vector<int64_t>();
    if (!sweeps(loop, offsets, sizes_along(type.rank(), axes, shape), type.shape)) continue;
    const TileState part = store ? state(store->tile) : copy ? copied(*copy, op) : this->number(number->value);
    buffers_[buffer] = behind_loop(placed(part, offsets, axes), turns);
  }
}

}  // namespace tilec::passes
