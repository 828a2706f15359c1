#include "passes/place_buffers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "diag/diag.h"
#include "layout/access.h"
#include "layout/build.h"
#include "layout/engine_rows.h"
#include "layout/lane_copy.h"
#include "layout/matrix_rows.h"
#include "layout/notation.h"
#include "layout/swizzle.h"
#include "passes/products.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;
using layout::MemLayout;
using layout::RegLayout;

namespace {

// Who touches the last two axes of a buffer, and how: register layouts over a tile of these axes.
struct Touchers {
  std::vector<RegLayout> writers, readers;
  bool feeds_engine = false;       // read by an instruction that knows a few layouts only
  bool is_stored = false;          // copied to device memory, which an engine may do
  Span demand = {};                // of the operation whose demand decides: a product's, or that of the first toucher
  int64_t engine_step = 0;         // bytes of a row at whose multiples such instructions begin, if not at its beginning
  int panel_axis = -1, panel = 0;  // read in panels by an outer product
};

class Chooser {
 public:
  Chooser(Kernel& kernel, const Machine& machine, int64_t warps, Diagnostics& diagnostics)
      : kernel_(kernel), machine_(machine), diagnostics_(diagnostics), warps_(warps) {}

  void run(RegionId body) {
    each_op(kernel_, body, [&](OpId id) { collect(kernel_.op(id)); });
    each_op(kernel_, body, [&](OpId id) {
      const Op& op = kernel_.op(id);
      if (op.is<op::Alloc>() && kernel_.type(op.result()).space == Space::Shared) decide(op.result());
    });
    each_op(kernel_, body, [&](OpId id) {
      if (kernel_.op(id).is<op::Subview>() && is_whole_tile(kernel_, kernel_.op(id).result())) set_view_layout(kernel_.op(id).result());
    });
  }

 private:
  Touchers& of(ValueId buffer) { return touchers_[root_buffer(kernel_, buffer)]; }
  const RegLayout& layout_of(ValueId tile) { return kernel_.layouts.reg(kernel_.type(tile).layout); }

  void note(ValueId buffer, const Axes& axes, const RegLayout& layout, bool writes, Span by) {
    if (kernel_.type(buffer).space != Space::Shared || layout.shape.rank != 2) return;
    int rank = kernel_.type(buffer).rank();
    if (axes != Axes{rank - 2, rank - 1}) return;
    Touchers& t = of(buffer);
    (writes ? t.writers : t.readers).push_back(layout);
    if (!t.demand.valid()) t.demand = by;
  }

  void collect(const Op& op) {
    if (auto* load = op.get<op::Load>()) note(load->buffer, load->axes, layout_of(op.result()), false, op.span);
    if (auto* store = op.get<op::Store>()) note(store->buffer, store->axes, layout_of(store->tile), true, op.span);
    if (auto* copy = op.get<op::Copy>()) {
      note_copy(*copy, copy->src, copy->src_axes, copy->dst_axes, false, op.span);
      note_copy(*copy, copy->dst, copy->dst_axes, copy->src_axes, true, op.span);
      bool is_stored = machine_.boxes.unit && kernel_.type(copy->src).space == Space::Shared && kernel_.param_of(copy->dst) && std::ranges::is_sorted(copy->src_axes);
      if (is_stored) of(copy->src).is_stored = true;
    }
    if (auto* gemm = op.get<op::Gemm>()) collect_product(op, *gemm);
  }

  // Lanes move as many elements at once as the machine can, if there are enough for all.
  void note_copy(const op::Copy& copy, ValueId buffer, Axes axes, const Axes& far_axes, bool writes, Span by) {
    layout::Shape shape(std::vector<int>(copy.shape.begin(), copy.shape.end()));
    Scalar source = kernel_.type(copy.src).element, target = kernel_.type(copy.dst).element;
    bool is_alone = machine_.simd_bytes || bit_width(source) < 8;
    int vector = is_alone ? 1 : std::max(1, machine_.vector_bytes / std::max(byte_width(source), byte_width(target)));
    layout::LaneCopy lanes = layout::lane_copy(shape, far_axes, axes, machine_.lanes, int(warps_), vector);
    std::ranges::sort(axes);
    note(buffer, axes, lanes.near, writes, by);
  }

  void collect_product(const Op& op, const op::Gemm& gemm) {
    const MatrixAtom& atom = *find_atom(machine_, gemm.atom);
    if (atom.kind == AtomKind::OuterProduct) {
      if (!kernel_.defined_by<op::Alloc>(gemm.b)) return;
      of(gemm.b).panel_axis = gemm.transpose_b ? 0 : 1;
      of(gemm.b).panel = atom.n;
      of(gemm.b).demand = op.span;
      return;
    }
    for (layout::Side side : {layout::Side::Left, layout::Side::Right}) {
      ValueId operand = side == layout::Side::Left ? gemm.a : gemm.b;
      if (!kernel_.type(operand).is_buffer()) continue;
      int rank = kernel_.type(operand).rank();
      of(operand).demand = op.span;
      if (atom.kind == AtomKind::Group) {
        Touchers& t = of(operand);
        t.feeds_engine = true;
        t.engine_step = std::gcd(t.engine_step, engine_step_bytes(kernel_, gemm, atom, side));
      } else note(operand, {rank - 2, rank - 1}, operand_layout(kernel_, gemm, atom, side, layout_of(op.result())), false, op.span);
    }
  }

  // Transactions of all who touch it.
  int64_t cost(const Touchers& touchers, const MemLayout& mem, int element_bits) const {
    int64_t sum = 0;
    for (const auto* side : {&touchers.writers, &touchers.readers})
      for (const RegLayout& reg : *side) {
        if (reg.shape != mem.shape) continue;
        if (machine_.has(side == &touchers.readers ? Cap::MatrixLoads : Cap::MatrixStores) && element_bits >= 8) {
          constexpr int64_t kCorner[layout::kMaxRank] = {};
          auto matrices = layout::matrix_rows(mem, reg, element_bits / 8, kCorner);
          if (matrices) {
            sum += layout::matrix_turns(mem, *matrices, element_bits / 8, kCorner);
            continue;
          }
        }
        int vector = std::min(layout::vector_width(mem, reg), std::max(1, machine_.vector_bytes * 8 / element_bits));
        sum += reg.registers() / vector * layout::bank_conflicts(mem, reg, element_bits, vector, {machine_.banks, 4});
      }
    return sum;
  }

  void decide(ValueId buffer) {
    std::string why;
    MemLayout layout = choose(buffer, why);
    Span by = touchers_[buffer].demand;
    if (const PinnedLayout* pinned = pinned_for(buffer)) {
      if (auto asked = parsed(buffer, *pinned)) {
        warn_of_conflicts(buffer, *pinned, *asked, layout);
        layout = *asked, why = "the schedule pins it", by = pinned->span;
      }
    }
    set_layout(buffer, layout);
    kernel_.layout_notes.push_back({buffer, by.valid() ? by : kernel_.op(kernel_.value(buffer).op).span, why});
  }

  void warn_of_conflicts(ValueId buffer, const PinnedLayout& pinned, const MemLayout& asked, const MemLayout& own) {
    if (!machine_.banks || kernel_.type(buffer).rank() != 2) return;
    int bits = bit_width(kernel_.type(buffer).element);
    int64_t turns = cost(touchers_[buffer], asked, bits), least = cost(touchers_[buffer], own, bits);
    if (turns > least) diagnostics_.at(pinned.span).warning(diag::BankConflict, pinned.name, turns, least);
  }

  const PinnedLayout* pinned_for(ValueId buffer) const {
    for (const PinnedLayout& pinned : kernel_.schedule.layouts)
      if (pinned.name == kernel_.value(buffer).hint) return &pinned;
    return nullptr;
  }

  // `swizzle(128)`, or the notation of memory layouts.
  std::optional<MemLayout> parsed(ValueId buffer, const PinnedLayout& pinned) {
    const Type& type = kernel_.type(buffer);
    layout::Shape shape = shape_of(type);
    for (int bytes : {128, 64, 32}) {
      if (pinned.layout != "swizzle(" + std::to_string(bytes) + ")") continue;
      auto made = shape.rank < 2 ? std::nullopt : layout::swizzled(core_of(shape), 1, 0, bit_width(type.element), bytes);
      if (made) return accepted(buffer, pinned, stacked_to(*made, shape));
      return refused(pinned, "its rows are no multiple of " + std::to_string(bytes) + " bytes, or their number none of eight");
    }
    auto text = layout::parse_mem_layout(pinned.layout, shape);
    return text ? accepted(buffer, pinned, *text) : refused(pinned, text.error);
  }

  std::optional<MemLayout> accepted(ValueId buffer, const PinnedLayout& pinned, const MemLayout& layout) {
    const Touchers& touchers = touchers_[buffer];
    const Type& type = kernel_.type(buffer);
    layout::Shape shape = shape_of(type);
    bool suits_engine = false;
    for (int bytes : {128, 64, 32})
      if (auto known = shape.rank < 2 || touchers.engine_step % bytes ? std::nullopt : layout::swizzled(core_of(shape), 1, 0, bit_width(type.element), bytes))
        suits_engine |= stacked_to(*known, shape) == layout;
    if (touchers.feeds_engine && !suits_engine) return refused(pinned, "matrix units read swizzles of 32, 64 and 128 bytes only");
    if (touchers.panel && layout.covered(touchers.panel_axis) % touchers.panel != 0)
      return refused(pinned, "the product reads it in panels of " + std::to_string(touchers.panel));
    return layout;
  }
  std::optional<MemLayout> refused(const PinnedLayout& pinned, const std::string& why) {
    diagnostics_.at(pinned.span).error(diag::LayoutRefused, pinned.name, why);
    return std::nullopt;
  }

  static layout::Shape core_of(const layout::Shape& shape) { return {shape[shape.rank - 2], shape[shape.rank - 1]}; }
  static MemLayout stacked_to(MemLayout core, const layout::Shape& shape) {
    for (int axis = shape.rank - 3; axis >= 0; --axis) core = layout::stacked(core, shape[axis]);
    return core;
  }

  // `why`: a phrase for people.
  MemLayout choose(ValueId buffer, std::string& why) {
    const Type& type = kernel_.type(buffer);
    layout::Shape shape = shape_of(type);
    const Touchers& touchers = touchers_[buffer];
    why = "row by row, as nothing asks for more";
    if (touchers.panel) {
      why = "panels of " + std::to_string(touchers.panel) + ", as the product reads them";
      return layout::panels(shape, touchers.panel_axis, touchers.panel);
    }
    if (shape.rank < 2 || !machine_.banks) return layout::row_major(shape);
    int bits = bit_width(type.element);
    if (touchers.feeds_engine) {
      why = "the widest swizzle that its matrix unit reads";
      auto best = engine_layout(core_of(shape), bits, touchers.engine_step);
      INVARIANT(best.has_value(), "select-atoms gives engines tiles whose rows they can read");
      return stacked_to(*best, shape);
    }
    if (touchers.writers.empty() && touchers.readers.empty()) return layout::row_major(shape);
    why = "fewest bank conflicts of its writers and readers";
    return stacked_to(cheapest(touchers, core_of(shape), bits), shape);
  }

  MemLayout cheapest(const Touchers& touchers, const layout::Shape& core, int bits) const {
    std::vector<MemLayout> candidates{layout::row_major(core)};
    for (int bytes : {128, 64, 32})
      if (auto swizzled = layout::swizzled(core, 1, 0, bits, bytes)) candidates.push_back(*swizzled);
    for (const RegLayout& writer : touchers.writers)
      for (const RegLayout& reader : touchers.readers)
        if (writer.shape == core && reader.shape == core && writer.grids.empty() && reader.grids.empty())
          std::ranges::move(layout::swizzles_for(writer, reader, bits, {machine_.banks, 4}), std::back_inserter(candidates));
    if (touchers.is_stored) std::erase_if(candidates, [&](const MemLayout& candidate) { return !layout::engine_rows(candidate, bits); });
    int64_t least = INT64_MAX;
    const MemLayout* best = &candidates.front();  // row by row, which engines know, too
    for (const MemLayout& candidate : candidates)
      if (int64_t c = cost(touchers, candidate, bits); c < least) least = c, best = &candidate;
    return *best;
  }

  void set_layout(ValueId v, const MemLayout& layout) {
    Type type = kernel_.type(v);
    type.layout = kernel_.layouts.intern(layout);
    retype(kernel_, v, type);
  }

  // One tile of a stack has the layout of the stack without its leading axes.
  void set_view_layout(ValueId view) {
    ValueId root = root_buffer(kernel_, view);
    const Type& whole = kernel_.type(root);
    if (whole.space != Space::Shared || !whole.layout.valid()) return;
    int leading = whole.rank() - kernel_.type(view).rank();
    MemLayout part = kernel_.layouts.mem(whole.layout);
    for (; leading > 0; --leading) part = unstacked(part);
    set_layout(view, part);
  }

  static MemLayout unstacked(const MemLayout& stack) {
    int rank = stack.shape.rank;
    std::array<int, layout::kMaxRank> down{layout::kReplica, 0, 1, 2, 3, 4};
    MemLayout part{.shape = layout::without_axis(stack.shape, 0), .pad = stack.pad};
    for (layout::Vec v : stack.addr) part.addr.push_back(layout::moved(v, rank, down, rank - 1));
    while (!part.addr.empty() && part.addr.back() == 0) part.addr.pop_back();
    for (const layout::MemGrid& grid : stack.grids)
      if (grid.axis > 0) part.grids.push_back({grid.axis - 1, grid.count, grid.stride});
    return layout::normalized(std::move(part));
  }

  Kernel& kernel_;
  const Machine& machine_;
  Diagnostics& diagnostics_;
  int64_t warps_;
  std::map<ValueId, Touchers> touchers_;
};

}  // namespace

void place_buffers(Kernel& kernel, RegionId launch_body, const Machine& machine, int64_t warps, Diagnostics& diagnostics) {
  Chooser(kernel, machine, warps, diagnostics).run(launch_body);
}

void refuse_layouts_of_parameters(const Kernel& kernel, Diagnostics& diagnostics) {
  std::set<std::string_view> placed;
  for (const LayoutNote& note : kernel.layout_notes) placed.insert(kernel.value(note.value).hint);
  for (const PinnedLayout& pinned : kernel.schedule.layouts) {
    bool is_parameter = std::ranges::any_of(kernel.params, [&](const Param& p) { return p.name == pinned.name; });
    if (is_parameter && !placed.contains(pinned.name))
      diagnostics.at(pinned.span).error(diag::LayoutRefused, pinned.name, "the caller has laid it out, and no product here reads a copy of it");
  }
}

}  // namespace tilec::passes
