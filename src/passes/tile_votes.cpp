#include "passes/tile_votes.h"

#include "passes/cleanup.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

// Through conversions, which change no element.
ValueId origin(const Kernel& kernel, ValueId v) {
  while (const op::ConvertLayout* convert = kernel.defined_by<op::ConvertLayout>(v)) v = convert->x;
  return v;
}

// The tile whose elements a chain of reductions by the same function asks for.
ValueId reduced_tile(const Kernel& kernel, const op::Reduce& last) {
  ValueId tile = origin(kernel, last.x);
  for (;;) {
    const op::Reduce* before = kernel.defined_by<op::Reduce>(tile);
    if (!before || before->fn != last.fn) return tile;
    tile = origin(kernel, before->x);
  }
}

}  // namespace

void tile_votes(Kernel& kernel, const Machine& machine, Diagnostics&) {
  if (!machine.has(Cap::VotingBarriers)) return;
  each_op_in_region(kernel, kernel.body, [&](RegionId, OpId id) {
    const op::Reduce* reduce = kernel.op(id).get<op::Reduce>();
    bool is_vote = reduce && (reduce->fn == ReduceFn::Any || reduce->fn == ReduceFn::All) && kernel.type(kernel.op(id).result()).is_scalar();
    if (is_vote) kernel.op(id).data = op::VoteTile{reduce->fn == ReduceFn::Any ? VoteKind::Any : VoteKind::All, reduced_tile(kernel, *reduce)};
  });
  drop_dead_code(kernel);
}

}  // namespace tilec::passes
