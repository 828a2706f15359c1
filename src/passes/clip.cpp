#include "passes/clip.h"

#include "diag/diag.h"
#include "passes/region.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;
using prove::Answer;
using prove::Linear;

namespace {

struct Clip {
  Kernel& kernel;
  Diagnostics& diagnostics;
  prove::Prover& prover;
  std::optional<prove::Prover> wrapping = {};  // where an `int` may leave 64 bits: what holds even then
  RegionId region = {};  // of the operation at hand
  Span span = {};

  // One dimension of a box.
  struct Side {
    Linear offset, extent;
    int64_t size;
    prove::Formula inside() const { return prove::all_of({at_least(offset, 0), at_least(extent, offset + size)}); }
    prove::Formula outside() const { return prove::any_of({at_least(offset, extent), at_least(Linear(0), offset + size)}); }
  };

  std::vector<Side> sides(prove::Prover& prover, const Box& box) {
    std::vector<Linear> extents;
    const Type& type = kernel.type(box.base);
    if (type.is_buffer()) extents = prover.extents(box.base);
    else extents.assign(type.shape.begin(), type.shape.end());
    std::vector<Side> result;
    for (size_t d = 0; d < box.offsets.size(); ++d)
      result.push_back({prover.value(box.offsets[d]), extents[d], box.sizes[d]});
    return result;
  }

  // A proof that takes `int`s for exact is none for a run in which one has left 64 bits and been reported.
  bool holds_when_wrapping(const Box& box, size_t dimension) {
    return !wrapping || wrapping->proves(wrapping->facts(region), sides(*wrapping, box)[dimension].inside());
  }
  Answer inside(const Box& box, const Side& side, size_t dimension) {
    Answer answer = prover.prove(prover.facts(region), side.inside());
    if (answer.is_proved() && !holds_when_wrapping(box, dimension)) answer.verdict = prove::Verdict::Unknown;
    return answer;
  }
  bool is_inside(const Box& box, const Side& side, size_t dimension) {
    return prover.proves(prover.facts(region), side.inside()) && holds_when_wrapping(box, dimension);
  }

  // What is wrong with the side under the counterexample.
  std::string fault(const Side& side, const prove::Model& model) const {
    std::string text = example_text(prover, model) + "the ";
    // As in `x[N]`, whatever the extent is.
    const auto first = prover.evaluate(side.offset, model), extent = prover.evaluate(side.extent, model);
    if (!first || !extent) return text + (side.size == 1 ? "index lies outside" : "elements do not lie inside");
    auto number = [&](const Linear& x) { return std::to_string(prover.evaluate(x, model).value_or(0)); };
    const bool is_low = *first < 0;
    if (side.size == 1) return text + "index " + number(side.offset) + (is_low ? " is below 0" : " is not below " + number(side.extent));
    return text + "elements " + number(side.offset) + " to " + number(side.offset + side.size - 1) + " are not within " +
           number(side.extent);
  }

  void report_outside(const Box& box, const Side& side, const Answer& answer) {
    bool is_parameter = kernel.param_of(box.base), is_element = side.size == 1;
    diagnostics.at(span).error(diag::OutOfBounds, name_of(kernel, box.base), fault(side, answer.model))
        .help(!is_element     ? "only a part of a tensor in device memory may hang over; take less of this tile"
              : is_parameter  ? "put it under an `if`, or say in `requires` what is known of the dims; a part, `[i +: n]`, may hang over"
                              : "put it under an `if`, or correct the index");
  }
  void remark_guard(const Box& box, size_t dimension) {
    std::string why = "its index along dimension " + std::to_string(dimension) + " is not shown to stay inside";
    diagnostics.at(span).remark(diag::GuardKept, name_of(kernel, box.base), why);
  }

  BoundsList region_bounds(const Box& box) {
    BoundsList bounds(box.offsets.size(), Bounds::Inside);
    bool may_hang_over = is_device_memory(kernel.type(box.base)) && kernel.type(box.base).is_buffer();
    std::vector<Side> all = sides(prover, box);
    for (size_t d = 0; d < all.size(); ++d) {
      bool is_region = may_hang_over && box.is_axis[d];
      Answer answer;
      if (is_region ? is_inside(box, all[d], d) : (answer = inside(box, all[d], d)).is_proved()) continue;
      bounds[d] = Bounds::Guarded;
      if (!is_region && answer.is_refuted()) report_outside(box, all[d], answer);
      else if (!is_region) remark_guard(box, d);
      else if (prover.proves(prover.facts(region), all[d].outside(), prove::Effort::Quick))
        diagnostics.at(span).warning(diag::TileOutside, name_of(kernel, box.base));
    }
    return bounds;
  }

  // Where no guard can stand, only a proof will do.
  void require_inside(const Box& box) {
    std::vector<Side> all = sides(prover, box);
    for (size_t d = 0; d < all.size(); ++d) {
      Answer answer = inside(box, all[d], d);
      if (answer.is_refuted()) report_outside(box, all[d], answer);
      else if (!answer.is_proved()) diagnostics.at(span).error(diag::PartUnproved, name_of(kernel, box.base), int64_t(d));
    }
  }

  Bounds element_bounds(ValueId buffer, std::span<const ValueId> indices) {
    Box box = box_of(buffer, indices, {}, {});
    Bounds bounds = Bounds::Inside;
    std::vector<Side> all = sides(prover, box);
    for (size_t d = 0; d < all.size(); ++d) {
      Answer answer = inside(box, all[d], d);
      if (answer.is_proved()) continue;
      if (answer.is_refuted()) report_outside(box, all[d], answer);
      else remark_guard(box, d);
      bounds = Bounds::Guarded;
    }
    return bounds;
  }

  void clip(Op& op) {
    if (auto* o = op.get<op::Load>())
      o->bounds = region_bounds(box_of(o->buffer, o->offsets, o->axes, kernel.type(op.result()).shape));
    if (auto* o = op.get<op::Store>()) o->bounds = region_bounds(box_of(o->buffer, o->offsets, o->axes, kernel.type(o->tile).shape));
    if (auto* o = op.get<op::Copy>()) {
      Span target = std::exchange(span, kernel.read_note(span).read);
      o->src_bounds = region_bounds(box_of(o->src, o->src_offsets, o->src_axes, o->shape));
      span = target;
      o->dst_bounds = region_bounds(box_of(o->dst, o->dst_offsets, o->dst_axes, o->shape));
    }
    if (auto* o = op.get<op::Subview>()) {
      require_inside(box_of(o->buffer, o->offsets, o->axes, kernel.type(op.result()).shape));
      o->bounds.assign(o->offsets.size(), Bounds::Inside);
    }
    if (auto* o = op.get<op::Extract>()) require_inside(box_of(o->tile, o->offsets, o->axes, kernel.type(op.result()).shape));
    if (auto* o = op.get<op::Insert>()) require_inside(box_of(o->tile, o->offsets, o->axes, kernel.type(o->part).shape));
    if (auto* o = op.get<op::ElementLoad>()) o->bounds = element_bounds(o->buffer, o->indices);
    if (auto* o = op.get<op::ElementStore>()) o->bounds = element_bounds(o->buffer, o->indices);
    if (auto* o = op.get<op::Atomic>()) o->bounds = element_bounds(o->buffer, o->indices);
  }
};

bool may_wrap(const Kernel& kernel) {
  bool found = false;
  each_op(kernel, kernel.body, [&](OpId id) {
    const Op& op = kernel.op(id);
    found |= is_guarded(op) && kernel.type(op.result()).element == Scalar::Index;
  });
  return found;
}

}  // namespace

void clip(Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics) {
  Clip pass{kernel, diagnostics, prover};
  if (may_wrap(kernel)) pass.wrapping.emplace(kernel, prover.memory(), prove::Reading{prover.reading().lanes, prove::Integers::Wrapping});
  each_op_in_region(kernel, kernel.body, [&](RegionId region, OpId id) {
    pass.region = region;
    pass.span = kernel.op(id).span;
    pass.clip(kernel.op(id));
  });
}

}  // namespace tilec::passes
