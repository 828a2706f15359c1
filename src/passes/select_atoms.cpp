#include "passes/select_atoms.h"

#include <set>

#include "diag/diag.h"
#include "passes/place_groups.h"
#include "passes/products.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;

namespace {

int64_t rounded_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// May `from` be widened to `to` without losing a value?
bool widens(Scalar from, Scalar to) {
  if (from == to) return true;
  if (is_float(from) != is_float(to)) return false;
  if (is_float(from)) {
    FloatFormat a = float_format(from), b = float_format(to);
    return a.mantissa_bits <= b.mantissa_bits && a.exponent_bits <= b.exponent_bits;
  }
  return bit_width(from) < bit_width(to) && (is_signed(to) || !is_signed(from));
}

struct Selector {
  Kernel& kernel;
  const Machine& machine;
  Diagnostics& diagnostics;
  int64_t shared_left = 0;         // bytes of a block's shared memory
  Groups groups{0};                // of tiles that will share a layout,
  std::set<uint32_t> unswapped{};  // and those of which not all products have their operands swapped
  bool may_swap = true;

  // Of the rows that take the operands as they are, the one that wastes least of the tile; of those that widen them, the one that
  // costs least; the first of equals, as tables list the best first. Widened is what costs less so.
  const MatrixAtom* choose(const op::Gemm& gemm, const Type& c, int64_t warps, bool with_swapped) const {
    const MatrixAtom *plain = nullptr, *wide = nullptr;
    int64_t least_area = INT64_MAX;
    double least_cost = std::numeric_limits<double>::infinity();
    for (const MatrixAtom& atom : machine.matrix_atoms) {
      if (atom.kind == AtomKind::Group && !machine.has(Cap::AsyncMatrix)) continue;
      if (!atom.swaps.empty() && !with_swapped) continue;
      if (!takes(atom, gemm, c) || !fits(atom, gemm, c, warps)) continue;
      int64_t area = rounded_up(c.shape[0], atom.m) * rounded_up(c.shape[1], atom.n);
      double cost = cost_of(atom, gemm, area);
      if (widens_operands(atom, gemm) && cost < least_cost) least_cost = cost, wide = &atom;
      if (!widens_operands(atom, gemm) && area < least_area) least_area = area, plain = &atom;
    }
    return plain && !(least_cost < cost_of(*plain, gemm, least_area)) ? plain : wide;
  }

  bool widens_operands(const MatrixAtom& atom, const op::Gemm& gemm) const {
    return kernel.type(gemm.a).element != atom.a || kernel.type(gemm.b).element != atom.b;
  }

  bool takes(const MatrixAtom& atom, const op::Gemm& gemm, const Type& c) const {
    bool may_narrow_sum = atom.kind == AtomKind::OuterProduct;  // its sums are in registers, where they turn into the tile's
    // The low bits of a sum of integers are those of any wider one.
    bool keeps_bits = is_integer(c.element) && is_integer(atom.c) && bit_width(c.element) <= bit_width(atom.c);
    if (c.element != atom.c && !(may_narrow_sum && (keeps_bits || widens(c.element, atom.c)))) return false;
    if (!widens_operands(atom, gemm)) return true;
    return atom.kind != AtomKind::Group && widens(kernel.type(gemm.a).element, atom.a) && widens(kernel.type(gemm.b).element, atom.b);
  }

  // Cycles of a warp's units, were the tile its own: those of the instructions, and of the conversions before them.
  double cost_of(const MatrixAtom& atom, const op::Gemm& gemm, int64_t area) const {
    constexpr double kConversion = 8;
    const Type &a = kernel.type(gemm.a), &b = kernel.type(gemm.b);
    double steps = double(rounded_up(a.shape[gemm.transpose_a ? 0 : 1], atom.k)) / atom.k;
    double instructions = double(area) / (atom.m * atom.n) * steps;
    double converted = double(a.element != atom.a ? a.element_count() : 0) + double(b.element != atom.b ? b.element_count() : 0);
    return instructions * atom.cycles.issue * atom.warps + converted / machine.lanes * kConversion;
  }

  // A group's instruction reads whole tiles of shared memory, in a layout that engines know, and nothing beside the tile.
  bool fits(const MatrixAtom& atom, const op::Gemm& gemm, const Type& c, int64_t warps) const {
    if (warps % atom.warps != 0) return false;
    if (atom.kind != AtomKind::Group) return true;
    int64_t depth = kernel.type(gemm.a).shape[gemm.transpose_a ? 0 : 1];
    layout::Deal deal = deal_of(atom, c.shape[0], c.shape[1], warps);
    bool is_whole = c.shape[0] % (atom.m * deal.rows) == 0 && c.shape[1] % (atom.n * deal.columns) == 0 && depth % atom.k == 0;
    if (!is_whole || deal.replicas > 1 || !fits_registers(c, warps)) return false;
    int64_t more = 0;
    for (layout::Side side : {layout::Side::Left, layout::Side::Right}) {
      ValueId operand = side == layout::Side::Left ? gemm.a : gemm.b;
      const Type& type = kernel.type(operand);
      if (type.is_tile() && stays_in_registers(atom, gemm, side)) continue;
      if (type.is_tile() && !atom.swaps.empty()) return false;
      if (type.is_buffer() && !is_whole_tile(kernel, operand)) return false;
      bool runs_along_k = side == layout::Side::Left ? !gemm.transpose_a : gemm.transpose_b;
      if (atom.k_major_only && !runs_along_k) return false;
      if (!engine_layout(shape_of(type), bit_width(type.element), engine_step_bytes(kernel, gemm, atom, side))) return false;
      if (type.is_tile()) more += type.element_count() * byte_width(type.element);
    }
    return more == 0 || more <= shared_left;
  }

  static bool stays_in_registers(const MatrixAtom& atom, const op::Gemm& gemm, layout::Side side) {
    return takes_registers(atom, side) && !(side == layout::Side::Left ? gemm.transpose_a : gemm.transpose_b);
  }

  // Fragments of swapped products are made of no others: all products of tiles that share a layout are swapped, or none. Nor does
  // any where one goes on from registers, whose rows are then whole in the warps that need them.
  void find_unswapped(const op::Launch& launch) {
    std::vector<OpId> all, products;
    each_op(kernel, launch.body, [&](OpId id) {
      all.push_back(id);
      if (kernel.op(id).is<op::Gemm>()) products.push_back(id);
    });
    groups = Groups(kernel.values.size());
    groups.unite_all(kernel, all);
    unswapped.clear();
    may_swap = std::ranges::none_of(products, [&](OpId id) { return kernel.type(kernel.op(id).as<op::Gemm>().a).is_tile(); });
    for (OpId id : products) {
      const op::Gemm& gemm = kernel.op(id).as<op::Gemm>();
      const MatrixAtom* atom = choose(gemm, kernel.type(gemm.acc), launch.warps, may_swap);
      if (!atom || atom->swaps.empty()) unswapped.insert(groups.root(gemm.acc));
    }
  }

  // An accumulator in flight is in registers, and leaves a quarter of them to the code around.
  bool fits_registers(const Type& c, int64_t warps) const {
    int64_t words = c.element_count() * byte_width(c.element) / 4 / (warps * machine.lanes);
    return words <= int64_t(machine.registers_per_lane) * 3 / 4;
  }

  void run() {
    each_op_in_region(kernel, kernel.body, [&](RegionId, OpId id) {
      if (!kernel.op(id).is<op::Launch>()) return;
      op::Launch launch = kernel.op(id).as<op::Launch>();
      launch.warps = computing_warps(kernel, launch, machine);
      shared_left = machine.shared_bytes - kernel.schedule.facts.scratch_bytes;
      each_op(kernel, launch.body, [&](OpId inner) {
        if (kernel.op(inner).is<op::Alloc>()) take_shared(kernel.type(kernel.op(inner).result()));
      });
      kernel.op(id).data = launch;
      run_launch(launch);
    });
  }

  void take_shared(const Type& type) {
    if (type.space == Space::Shared) shared_left -= type.element_count() * byte_width(type.element);
  }

  void run_launch(const op::Launch& launch) {
    find_unswapped(launch);
    each_op_in_region(kernel, launch.body, [&](RegionId region, OpId id) {
      if (!kernel.op(id).is<op::Gemm>()) return;
      op::Gemm gemm = kernel.op(id).as<op::Gemm>();
      const Type c = kernel.type(kernel.op(id).result());
      const MatrixAtom* atom = choose(gemm, c, launch.warps, may_swap && !unswapped.contains(groups.root(gemm.acc)));
      if (!atom) {
        diagnostics.at(kernel.op(id).span)
            .error(diag::NotSupportedYet, "a product of " + std::string(name(kernel.type(gemm.a).element)) + " and " +
                                              std::string(name(kernel.type(gemm.b).element)) + " into " +
                                              std::string(name(c.element)) + " on " + std::string(machine.name));
        return;
      }
      tell(*atom, kernel.op(id).span, kernel.type(gemm.a).element, kernel.type(gemm.b).element);
      if (atom->kind == AtomKind::OuterProduct) {
        gemm.a = in_memory(region, id, gemm.a, atom->a);
        gemm.b = in_memory(region, id, gemm.b, atom->b);
      }
      if (atom->kind == AtomKind::Group) {
        for (layout::Side side : {layout::Side::Left, layout::Side::Right}) {
          ValueId& operand = side == layout::Side::Left ? gemm.a : gemm.b;
          bool is_there = kernel.type(operand).is_tile() && stays_in_registers(*atom, gemm, side);
          if (!is_there) operand = in_memory(region, id, operand, side == layout::Side::Left ? atom->a : atom->b);
        }
      }
      if (atom->kind == AtomKind::Warp) {
        gemm.a = in_element(region, id, widened(gemm.a, atom->a), atom->a);
        gemm.b = in_element(region, id, widened(gemm.b, atom->b), atom->b);
      }
      gemm.atom = std::string(atom->name);
      kernel.op(id).data = gemm;
    });
  }

  void tell(const MatrixAtom& atom, Span span, Scalar a, Scalar b) {
    diagnostics.at(span).remark(diag::GemmInstruction, name(a), name(b), atom.name);
    if (atom.sum_bits) diagnostics.at(span).remark(diag::SumsKeepFewBits, atom.name, atom.sum_bits, name(atom.c));
    bool has_others = std::ranges::any_of(machine.matrix_atoms, [](const MatrixAtom& m) { return m.kind != AtomKind::OuterProduct; });
    if (atom.kind == AtomKind::OuterProduct && has_others)
      diagnostics.at(span).remark(diag::GemmOnScalars, "no matrix instruction of " + std::string(machine.name) +
                                                           " takes these elements and extents");
  }

  // A tile of another element is converted; in memory it stays as it is, and what is read from there is converted.
  ValueId in_element(RegionId region, OpId at, ValueId operand, Scalar element) {
    if (!kernel.type(operand).is_tile() || kernel.type(operand).element == element) return operand;
    ValueId tile;
    insert_before(kernel, region, at, [&](Builder& b) { tile = converted(b, operand, element); });
    return tile;
  }

  // A buffer that copies fill is converted there, once, rather than by every warp that reads it, if there is room.
  ValueId widened(ValueId operand, Scalar element) {
    Type type = kernel.type(operand);
    if (!type.is_buffer() || type.element == element || root_buffer(kernel, operand) != operand || !may_be_widened(operand) || has_reader(operand)) return operand;
    int64_t more = type.element_count() * (byte_width(element) - byte_width(type.element));
    if (more > shared_left) return operand;
    shared_left -= more;
    type.element = element;
    retype(kernel, operand, type);
    return operand;
  }

  // A product whose row is chosen already, for these elements.
  bool has_reader(ValueId buffer) const {
    bool found = false;
    each_op(kernel, kernel.body, [&](OpId id) {
      const op::Gemm* gemm = kernel.op(id).get<op::Gemm>();
      found |= gemm && !gemm->atom.empty() && (gemm->a == buffer || gemm->b == buffer);
    });
    return found;
  }

  // Only filled by copies and read by products: then its elements may as well be wider.
  bool may_be_widened(ValueId buffer) {
    bool ok = kernel.defined_by<op::Alloc>(buffer) != nullptr;
    each_op(kernel, kernel.body, [&](OpId id) {
      const Op& op = kernel.op(id);
      bool uses = false;
      each_operand(op.data, [&](ValueId v) { uses |= v == buffer; });
      if (!uses) return;
      const op::Copy* copy = op.get<op::Copy>();
      ok &= op.is<op::Gemm>() || (copy && copy->dst == buffer && copy->src != buffer);
    });
    return ok;
  }

  ValueId in_memory(RegionId region, OpId at, ValueId operand, Scalar element) {
    const Type type = kernel.type(operand);
    if (type.is_buffer()) {
      if (type.element == element) return operand;
      if (root_buffer(kernel, operand) == operand && may_be_widened(operand)) {
        Type wide = type;
        wide.element = element;
        retype(kernel, operand, wide);
        return operand;
      }
    }
    ValueId memory;
    insert_before(kernel, region, at, [&](Builder& b) {
      std::vector<ValueId> zeros(type.shape.size(), b.index(0));
      Axes axes;
      for (size_t i = 0; i < type.shape.size(); ++i) axes.push_back(int64_t(i));
      BoundsList inside(type.shape.size(), Bounds::Inside);
      ValueId tile = type.is_tile() ? operand : b.value(op::Load{operand, zeros, axes, zero_of(type.element), inside, {}}, tile_type(type.element, type.shape));
      if (type.element != element) tile = converted(b, tile, element);
      memory = b.value(op::Alloc{{}, "operand"}, buffer_type(Space::Shared, element, type.shape), "operand");
      b.add(op::Store{tile, memory, zeros, axes, inside, {}});
    });
    take_shared(kernel.type(memory));
    return memory;
  }

  static Number zero_of(Scalar element) { return is_float(element) ? Number::real(0) : Number::integer(0); }

  ValueId converted(Builder& b, ValueId tile, Scalar element) {
    const Type type = kernel.type(tile);
    op::Map map{{tile}, {{}}, type.shape, kernel.new_region()};
    RegionId outer = b.region();
    for (size_t i = 0; i < type.shape.size(); ++i) {
      kernel.new_arg(map.body, scalar_type(Scalar::Index));
      map.input_axes[0].push_back(int64_t(i));
    }
    ValueId x = kernel.new_arg(map.body, scalar_type(type.element));
    b.set_region(map.body);
    b.yield({b.convert(x, element)});
    b.set_region(outer);
    return b.value(std::move(map), tile_type(element, type.shape));
  }
};

}  // namespace

void select_atoms(Kernel& kernel, const Machine& machine, Diagnostics& diagnostics) {
  Selector{kernel, machine, diagnostics}.run();
}

}  // namespace tilec::passes
