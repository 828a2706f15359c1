#include "passes/check_shuffles.h"

#include "diag/diag.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

void check_shuffles(const Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics) {
  each_op_in_region(kernel, kernel.body, [&](RegionId region, OpId id) {
    const Op& op = kernel.op(id);
    auto* shuffle = op.get<op::Shuffle>();
    if (!shuffle) return;
    // The width is a power of two: what is smaller stays inside by `^` as well.
    prove::Linear distance = prover.value(shuffle->lane), lanes = prover.lane_count();
    prove::Answer answer = prover.prove(prover.facts(region), less(distance, lanes), prove::Effort::Quick);
    if (!answer.is_refuted()) return;
    answer.model.add(answer.others);
    auto far = prover.evaluate(distance, answer.model), width = prover.evaluate(lanes, answer.model);
    if (!far || !width) return;
    diagnostics.at(op.span).warning(diag::ShuffleOutside, *far, *width)
        .help("`warp_sum` and its like are for every width; farther threads exchange in a shared tile, with `sync`");
  });
}

}  // namespace tilec::passes
