#include "passes/place.h"

#include <set>

#include "diag/diag.h"
#include "layout/build.h"
#include "layout/convert.h"
#include "layout/notation.h"
#include "layout/transform.h"
#include "passes/place_buffers.h"
#include "passes/place_groups.h"
#include "passes/place_maps.h"
#include "passes/place_parts.h"
#include "passes/place_pins.h"
#include "passes/products.h"
#include "passes/region.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;
using layout::RegLayout;

namespace {

class Placer {
 public:
  Placer(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics)
      : kernel_(kernel), machine_(machine), diagnostics_(diagnostics), groups_(kernel.values.size()) {}

  void run() {
    each_op(kernel_, kernel_.body, [&](OpId id) {
      if (auto* launch = kernel_.op(id).get<op::Launch>()) run_launch(*launch);
    });
    kernel_.form = Form::Placed;
  }

 private:
  void run_launch(op::Launch& launch) {
    launch.warps = warps_ = launch.warps ? launch.warps : computing_warps(kernel_, launch, machine_);
    divisors_.emplace(kernel_, kernel_.body);
    RegionId body = launch.body;
    collect(body);
    keeps_rows_ = std::ranges::any_of(ops_, [&](OpId id) { return keeps_rows(kernel_, kernel_.op(id)); });
    groups_.unite_all(kernel_, ops_);
    for (OpId id : ops_)
      if (auto* scan = kernel_.op(id).get<op::Scan>()) scanned_.insert(groups_.root(scan->x));
    demand_of_schedule();
    demand_of_products();
    settle();
    write_types();
    insert_conversions(body);
    place_buffers(kernel_, body, machine_, warps_, diagnostics_);
  }

  void collect(RegionId region) {
    ops_.clear();
    tiles_.clear();
    std::function<void(RegionId)> walk = [&](RegionId r) {
      for (ValueId v : kernel_.region(r).args)
        if (kernel_.type(v).is_tile()) tiles_.push_back(v);
      for (OpId id : kernel_.region(r).ops) {
        ops_.push_back(id);
        for (ValueId v : kernel_.op(id).results)
          if (kernel_.type(v).is_tile()) tiles_.push_back(v);
        each_region(std::as_const(kernel_.op(id).data), walk);
      }
    };
    walk(region);
  }

  layout::Shape shape_of(ValueId v) { return passes::shape_of(kernel_.type(v)); }

  const RegLayout& typed_layout(ValueId v) { return kernel_.layouts.reg(kernel_.type(v).layout); }  // once types are written
  bool is_placed(ValueId v) { return layouts_.contains(groups_.root(v)); }
  const RegLayout& layout_of(ValueId v) { return layouts_.at(groups_.root(v)); }
  bool is_scanned(ValueId v) { return scanned_.contains(groups_.root(v)); }
  // `by` is the operation whose demand this is.
  void give(ValueId v, RegLayout layout, Span by, std::string reason) {
    if (is_scanned(v) && flips_bits(layout)) layout = blocked(v);
    layout.shape = shape_of(v);
    layouts_.emplace(groups_.root(v), layout::normalized(std::move(layout)));
    reasons_.emplace(groups_.root(v), LayoutNote{v, by, std::move(reason)});
  }

  const MatrixAtom& atom_of(const op::Gemm& gemm) {
    const MatrixAtom* atom = find_atom(machine_, gemm.atom);
    INVARIANT(atom != nullptr, "select-atoms runs before place");
    return *atom;
  }

  // What the schedule pins comes before all else, if the machine can have it.
  void demand_of_schedule() {
    for (const PinnedLayout& pinned : kernel_.schedule.layouts)
      for (ValueId v : tiles_) {
        if (kernel_.value(v).hint != pinned.name) continue;
        auto parsed = layout::parse_reg_layout(pinned.layout, shape_of(v));
        std::string flaw = parsed ? flaw_of(v, *parsed) : parsed.error;
        if (!flaw.empty()) {
          diagnostics_.at(pinned.span).error(diag::LayoutRefused, pinned.name, flaw);
          break;
        }
        give(v, *parsed, pinned.span, "the schedule pins it");
      }
  }

  RegLayout accumulator(const MatrixAtom& atom, const layout::Shape& shape) {
    return layout::accumulator(layout::reg_layout(atom.c_layout, "mn"), shape, deal_of(atom, shape[0], shape[1], warps_, keeps_rows_));
  }

  std::string flaw_of(ValueId v, RegLayout layout) {
    layout = layout::normalized(std::move(layout));
    int64_t lanes = layout.lanes(), warps = layout.warps();
    if (lanes != machine_.lanes || warps != warps_)
      return "it spreads over " + std::to_string(warps) + " warps of " + std::to_string(lanes) + " lanes, and the launch has " +
             std::to_string(warps_) + " of " + std::to_string(machine_.lanes);
    if (std::string flaw = flaw_of_fragment(layout); !flaw.empty()) return flaw;
    if (is_scanned(v) && flips_bits(layout)) return "a scan goes along lanes and warps that move along one bit each";
    if (is_placed(v) && layout_of(v) != layout) return "another variable that shares its layout has a different one pinned";
    for (OpId id : ops_) {
      const op::Gemm* gemm = kernel_.op(id).get<op::Gemm>();
      if (!gemm || groups_.root(gemm->acc) != groups_.root(v)) continue;
      const MatrixAtom& atom = atom_of(*gemm);
      if (std::string flaw = flaw_of_accumulator(kernel_, *gemm, atom, layout, accumulator(atom, layout.shape)); !flaw.empty()) return flaw;
    }
    return "";
  }

  // Accumulators first: they fix how the warps share a product, and with that what each warp wants of its operands.
  void demand_of_products() {
    // Fragments of groups of warps are made of those of warps, so that either can go on from the former.
    for (bool is_of_group : {true, false})
      for (OpId id : ops_) {
        const op::Gemm* gemm = kernel_.op(id).get<op::Gemm>();
        if (!gemm || is_placed(gemm->acc)) continue;
        const MatrixAtom& atom = atom_of(*gemm);
        if ((atom.kind == AtomKind::Group) != is_of_group) continue;
        layout::Shape shape = shape_of(gemm->acc);
        give(gemm->acc, accumulator(atom, shape), kernel_.op(id).span, "the accumulator of " + std::string(atom.name));
      }
    for (OpId id : ops_) {
      if (!kernel_.op(id).is<op::Gemm>()) continue;
      op::Gemm gemm = kernel_.op(id).as<op::Gemm>();
      const MatrixAtom& atom = atom_of(gemm);
      for (layout::Side side : kSides) {
        ValueId operand = operand_of(gemm, side);
        if (!kernel_.type(operand).is_tile() || is_placed(operand)) continue;
        give(operand, operand_layout(kernel_, gemm, atom, side, layout_of(gemm.acc)), kernel_.op(id).span, "an operand of " + std::string(atom.name));
      }
    }
  }

  static constexpr layout::Side kSides[] = {layout::Side::Left, layout::Side::Right};
  static ValueId& operand_of(op::Gemm& gemm, layout::Side side) { return side == layout::Side::Left ? gemm.a : gemm.b; }

  // Demands travel along reductions, broadcasts and transposes; where none arrives, the largest tile left gets the layout
  // that memory likes, and demands travel on from there.
  void settle() {
    for (;;) {
      while (travel()) {}
      ValueId largest;
      for (ValueId v : tiles_)
        if (!is_placed(v) && (!largest.valid() || kernel_.type(v).element_count() > kernel_.type(largest).element_count())) largest = v;
      if (!largest.valid()) return;
      give(largest, blocked(largest), span_of(largest), "no product asks for another: lanes along the last axis, as memory likes it");
    }
  }

  RegLayout blocked(ValueId v) {
    int vector = machine_.simd_bytes ? 1 : std::max(1, std::min<int>(machine_.vector_bytes / byte_width(kernel_.type(v).element), 8));
    // Every thread gets something before any gets a longer vector.
    while (vector > 1 && kernel_.type(v).element_count() < int64_t(machine_.lanes) * warps_ * vector) vector /= 2;
    return layout::blocked(shape_of(v), machine_.lanes, int(warps_), vector);
  }

  bool travel() {
    bool changed = false;
    for (OpId id : ops_) {
      const Op& op = kernel_.op(id);
      if (auto* reduce = op.get<op::Reduce>()) {
        if (!kernel_.type(op.result()).is_tile() || !is_placed(reduce->x) || is_placed(op.result())) continue;
        give(op.result(), reduced(layout_of(reduce->x), int(reduce->axis)), op.span, "what the reduction leaves");
        changed = true;
      } else if (auto* map = op.get<op::Map>()) {
        if (op.results.empty() || !is_placed(op.results[0])) continue;
        for (size_t i = 0; i < map->inputs.size(); ++i) {
          if (is_placed(map->inputs[i]) || !is_simple(map->input_axes[i])) continue;
          give(map->inputs[i], projected(layout_of(op.results[0]), map->input_axes[i]), op.span, "what the elementwise code reads");
          changed = true;
        }
      } else if (auto* permute = op.get<op::Permute>()) {
        std::vector<int> order(permute->axes.begin(), permute->axes.end()), inverse(order.size());
        for (size_t i = 0; i < order.size(); ++i) inverse[order[i]] = int(i);
        if (is_placed(permute->x) && !is_placed(op.result())) {
          give(op.result(), layout::transpose(layout_of(permute->x), order), op.span, "the transpose of its source");
          changed = true;
        } else if (!is_placed(permute->x) && is_placed(op.result())) {
          give(permute->x, layout::transpose(layout_of(op.result()), inverse), op.span, "the source of a transpose");
          changed = true;
        }
      } else if (auto* reshape = op.get<op::Reshape>()) {
        changed |= travel_reshape(op, reshape->x, op.result()) || travel_reshape(op, op.result(), reshape->x);
      } else if (auto* extract = op.get<op::Extract>()) {
        changed |= travel_part(op, *extract, op.result());
      } else if (auto* insert = op.get<op::Insert>()) {
        changed |= travel_part(op, *insert, insert->part);
      }
    }
    return changed;
  }

  template <class PartOp>  // extract, insert
  bool travel_part(const Op& op, const PartOp& o, ValueId part) {
    if (!is_placed(o.tile) || is_placed(part)) return false;
    auto own = part_layout(kernel_, *divisors_, {o.tile, o.offsets, o.axes, kernel_.type(part).shape}, layout_of(o.tile));
    if (own) give(part, *own, op.span, "a part of a tile, in the lanes that hold it");
    return own.has_value();
  }

  bool travel_reshape(const Op& op, ValueId from, ValueId to) {
    if (!is_placed(from) || is_placed(to)) return false;
    auto same = layout::reshape(layout_of(from), shape_of(to));
    if (same) give(to, *same, op.span, "the same places in another shape");
    return same.has_value();
  }

  static bool is_simple(const Axes& axes) { return std::is_sorted(axes.begin(), axes.end()); }

  static RegLayout reduced(const RegLayout& x, int axis) {
    auto reduction = layout::reduce(x, axis);
    INVARIANT(reduction.has_value(), "layouts of atoms and memory move along one axis with each bit");
    return layout::normalized(reduction->result);
  }

  Span span_of(ValueId v) {
    return kernel_.definition(v) ? kernel_.definition(v)->span : kernel_.span;
  }

  void write_types() {
    for (ValueId v : tiles_) {
      set_layout(v, layout_of(v));
      LayoutNote note = reasons_.at(groups_.root(v));
      note.value = v;
      kernel_.layout_notes.push_back(std::move(note));
    }
  }

  void set_layout(ValueId v, const RegLayout& layout) {
    Type type = kernel_.type(v);
    type.layout = kernel_.layouts.intern(layout);
    retype(kernel_, v, type);
  }

  // Each conversion is told where the program asks for it, with what it costs.
  void tell(ValueId tile, layout::LayoutId from, layout::LayoutId to, Span at) {
    constexpr std::string_view kHow[] = {"at no cost", "which renames registers only", "which moves numbers between the lanes of a warp",
                                         "through shared memory", "through memory of the cluster"};
    const RegLayout& source = kernel_.layouts.reg(from);
    std::string name = name_of(kernel_, tile), count = std::to_string(source.registers());
    if (name != kNoName) name = "`" + name + "`";
    std::string how(kHow[int(layout::move_tier(source, kernel_.layouts.reg(to)))]);
    diagnostics_.at(at).remark(diag::LayoutConverted, name, how + ": " + count + (source.registers() == 1 ? " register a lane" : " registers a lane"));
  }

  // Operations whose operands or results fix each other's layouts, and a group that was told otherwise: convert there.
  void insert_conversions(RegionId body) {
    each_op_in_region(kernel_, body, [&](RegionId region, OpId id) {
      if (auto* reduce = kernel_.op(id).get<op::Reduce>()) {
        if (kernel_.type(kernel_.op(id).result()).is_tile()) convert_result(region, id, reduced(typed_layout(reduce->x), int(reduce->axis)));
      } else if (auto* permute = kernel_.op(id).get<op::Permute>()) {
        std::vector<int> order(permute->axes.begin(), permute->axes.end());
        convert_result(region, id, layout::normalized(layout::transpose(typed_layout(permute->x), order)));
      } else if (auto* reshape = kernel_.op(id).get<op::Reshape>()) {
        auto same = layout::reshape(typed_layout(reshape->x), shape_of(kernel_.op(id).result()));
        if (same) convert_result(region, id, layout::normalized(*same));  // otherwise it goes through memory, to any layout
      } else if (kernel_.op(id).is<op::Extract>() || kernel_.op(id).is<op::Insert>()) {
        convert_part(region, id);
      } else if (kernel_.op(id).is<op::Map>()) {
        convert_inputs(region, id);
      } else if (kernel_.op(id).is<op::Gemm>()) {
        convert_operands(region, id);
      }
    });
  }

  void convert_result(RegionId region, OpId id, const RegLayout& natural) {
    ValueId result = kernel_.op(id).result();
    RegLayout wanted = typed_layout(result);
    if (natural == wanted) return;
    layout::LayoutId before = kernel_.layouts.intern(natural), after = kernel_.layouts.intern(wanted);
    tell(result, before, after, kernel_.op(id).span);
    set_layout(result, natural);
    ValueId converted;
    OpId conversion;
    insert_after(kernel_, region, id, [&](Builder& b) {
      Type type = kernel_.type(result);
      type.layout = kernel_.layouts.intern(wanted);
      converted = b.value(op::ConvertLayout{result}, type);
      conversion = kernel_.value(converted).op;
    });
    replace_uses(kernel_, kernel_.body, result, converted);
    kernel_.op(conversion).as<op::ConvertLayout>().x = result;
  }

  // A part that its lanes hold is taken from there; any other goes through memory.
  void convert_part(RegionId region, OpId id) {
    const op::Extract* extract = kernel_.op(id).get<op::Extract>();
    ValueId result = kernel_.op(id).result();
    op::Insert o = extract ? op::Insert{extract->tile, result, extract->offsets, extract->axes} : kernel_.op(id).as<op::Insert>();
    auto own = part_layout(kernel_, *divisors_, {o.tile, o.offsets, o.axes, kernel_.type(o.part).shape}, typed_layout(o.tile));
    if (!own) return go_through_memory(kernel_, region, id);
    if (extract) return convert_result(region, id, *own);
    if (typed_layout(o.part) == *own) return;
    Type wanted = kernel_.type(o.part);
    wanted.layout = kernel_.layouts.intern(*own);
    tell(o.part, kernel_.type(o.part).layout, wanted.layout, kernel_.op(id).span);
    insert_before(kernel_, region, id, [&](Builder& b) { o.part = b.value(op::ConvertLayout{o.part}, wanted); });
    kernel_.op(id).data = o;
  }

  void convert_inputs(RegionId region, OpId id) {
    const RegLayout whole = map_layout(kernel_, kernel_.op(id), machine_.lanes, int(warps_));
    size_t count = kernel_.op(id).as<op::Map>().inputs.size();
    for (size_t i = 0; i < count; ++i) {
      op::Map map = kernel_.op(id).as<op::Map>();
      RegLayout wanted = input_layout(kernel_, whole, map, i);
      const Type type = kernel_.type(map.inputs[i]);
      layout::LayoutId layout = kernel_.layouts.intern(wanted);
      if (type.layout == layout) continue;
      tell(map.inputs[i], type.layout, layout, kernel_.op(id).span);
      insert_before(kernel_, region, id, [&](Builder& b) {
        Type converted = type;
        converted.layout = layout;
        map.inputs[i] = b.value(op::ConvertLayout{map.inputs[i]}, converted);
      });
      kernel_.op(id).data = map;
    }
  }

  void convert_operands(RegionId region, OpId id) {
    op::Gemm gemm = kernel_.op(id).as<op::Gemm>();
    if (atom_of(gemm).kind == AtomKind::OuterProduct) return;
    for (layout::Side side : kSides) {
      ValueId& operand = operand_of(gemm, side);
      if (!kernel_.type(operand).is_tile()) continue;
      Type wanted = kernel_.type(operand);
      wanted.layout = kernel_.layouts.intern(operand_layout(kernel_, gemm, atom_of(gemm), side, typed_layout(gemm.acc)));
      if (wanted.layout == kernel_.type(operand).layout) continue;
      tell(operand, kernel_.type(operand).layout, wanted.layout, kernel_.op(id).span);
      insert_before(kernel_, region, id, [&](Builder& b) { operand = b.value(op::ConvertLayout{operand}, wanted); });
    }
    kernel_.op(id).data = gemm;
  }

  Kernel& kernel_;
  const Machine& machine_;
  Diagnostics& diagnostics_;
  Groups groups_;
  int64_t warps_ = 1;
  bool keeps_rows_ = true;  // warps keep whole rows of accumulators
  std::optional<Divisors> divisors_;
  std::vector<OpId> ops_;
  std::vector<ValueId> tiles_;
  std::set<uint32_t> scanned_;  // groups whose layout a scan goes along
  std::map<uint32_t, RegLayout> layouts_;     // by group
  std::map<uint32_t, LayoutNote> reasons_;    // by group
};

}  // namespace

void place(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  Placer(kernel, machine, diagnostics).run();
  refuse_layouts_of_parameters(kernel, diagnostics);
}

}  // namespace tilec::passes
