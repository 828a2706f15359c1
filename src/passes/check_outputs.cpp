#include "passes/check_outputs.h"

#include "diag/diag.h"
#include "passes/region.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;
using prove::Linear;

namespace {

struct Write {
  RegionId region;
  Span span;
  Box box;
};

struct Check {
  const Kernel& kernel;
  Diagnostics& diagnostics;
  prove::Prover& prover;

  // Every operation that writes the parameter, wherever it stands.
  std::vector<Write> writes_of(const Param& param) const {
    std::vector<Write> writes;
    each_op_in_region(kernel, kernel.body, [&](RegionId region, OpId id) {
      const Op& op = kernel.op(id);
      auto add = [&](ValueId buffer, std::span<const ValueId> offsets, const Axes& axes, std::span<const int64_t> shape) {
        if (buffer == param.value) writes.push_back({region, op.span, box_of(buffer, offsets, axes, shape)});
      };
      if (auto* o = op.get<op::Store>()) add(o->buffer, o->offsets, o->axes, kernel.type(o->tile).shape);
      if (auto* o = op.get<op::Copy>()) add(o->dst, o->dst_offsets, o->dst_axes, o->shape);
      if (auto* o = op.get<op::ElementStore>()) add(o->buffer, o->indices, {}, {});
      if (auto* o = op.get<op::Atomic>()) add(o->buffer, o->indices, {}, {});
    });
    return writes;
  }

  // Where the last block's elements end, along one dimension; none where the blocks do not lie side by side.
  std::optional<Linear> reach(const Op& launch, const Write& write, size_t dimension) {
    const auto& o = launch.as<op::Launch>();
    const std::vector<ValueId>& indices = kernel.region(o.body).args;
    Linear end = prover.value(write.box.offsets[dimension]) + write.box.sizes[dimension];
    bool is_found = false;
    for (size_t i = 0; i < indices.size(); ++i) {
      Linear index = prover.value(indices[i]);
      if (index.parts.size() != 1 || end.factor_of(index.parts[0].atom) == 0) continue;
      if (is_found || end.factor_of(index.parts[0].atom) != write.box.sizes[dimension]) return std::nullopt;
      end = substitute(end, index.parts[0].atom, prover.value(o.extents[i]) - 1);
      is_found = true;
    }
    return is_found && !end.is_lost && !prover.depends_on(end, o.body) ? std::optional(end) : std::nullopt;
  }

  void check(const Param& param, const Op& launch, const Write& write) {
    std::vector<Linear> extents = prover.extents(param.value);
    for (size_t d = 0; d < extents.size(); ++d) {
      if (!write.box.is_axis[d]) continue;
      auto end = reach(launch, write, d);
      if (!end) continue;
      prove::Facts facts = prover.facts(kernel.body);
      for (const Linear& extent : extents) facts = facts.with(at_least(extent, 1));
      prove::Answer answer = prover.prove(facts, at_least(*end, extents[d]), prove::Effort::Quick);
      if (!answer.is_refuted()) continue;
      report(param, launch, write, answer.model, *end, extents[d], d);
      return;
    }
  }

  void report(const Param& param, const Op& launch, const Write& write, const prove::Model& model, const Linear& end,
              const Linear& extent, size_t dimension) {
    int64_t written = std::max<int64_t>(0, prover.evaluate(end, model).value_or(0));
    std::string text = example_text(prover, model) + "the launch writes " + std::to_string(written) + " of " +
                       std::to_string(prover.evaluate(extent, model).value_or(0)) + " along dimension " + std::to_string(dimension);
    diagnostics.at(write.span).warning(diag::PartUnwritten, param.name, text)
        .mark(launch.span, "this launch ends before it")
        .help("launch `ceildiv(...)` blocks, or state in a `requires` that the extent is a multiple of the tile's");
  }

  void run() {
    for (const Param& param : kernel.params) {
      if (param.access != Access::Out || !kernel.type(param.value).is_buffer()) continue;
      std::vector<Write> writes = writes_of(param);
      if (writes.size() != 1) continue;
      for (OpId id : kernel.region(kernel.body).ops)
        if (auto* launch = kernel.op(id).get<op::Launch>(); launch && launch->body == writes[0].region)
          check(param, kernel.op(id), writes[0]);
    }
  }
};

}  // namespace

void check_outputs(const Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics) { Check{kernel, diagnostics, prover}.run(); }

}  // namespace tilec::passes
