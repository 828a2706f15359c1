#include "check/requirements.h"

#include <algorithm>

#include "diag/diag.h"

namespace tilec::check {

using namespace ir;

namespace {

// A statement that misses a requirement, and why.
struct Miss {
  Span span;
  std::string why;
  friend bool operator==(const Miss&, const Miss&) = default;
};

class Program {
 public:
  Program(const Kernel& kernel, const Machine& machine) : kernel_(kernel), machine_(machine) {}

  std::vector<Miss> misses(Need need) {
    misses_.clear();
    switch (need) {
      case Need::BulkCopy: look_at_copies(); break;
      case Need::GroupProducts: look_at_products(AtomKind::Group); break;
      case Need::MatrixUnit: look_at_products(AtomKind::Warp); break;
      case Need::Overlap: look_at_loops(); break;
      case Need::Roles: look_at_launches([this](RegionId launch) { look_for_roles(launch); }); break;
      case Need::Persistent: look_at_launches([this](RegionId launch) { look_for_rounds(launch); }); break;
      case Need::Split: look_at_launches([this](RegionId launch) { look_for_parts(launch); }); break;
      case Need::NoSpill: break;
    }
    return misses_;
  }

 private:
  // A statement may stand several times in a program that is split.
  void miss(Span span, std::string why) {
    Miss miss{span, std::move(why)};
    if (std::ranges::find(misses_, miss) == misses_.end()) misses_.push_back(std::move(miss));
  }

  bool is_pipelined(OpId id) const {
    const op::For* loop = kernel_.op(id).get<op::For>();
    return loop && loop->loop == LoopKind::Pipelined;
  }
  template <class F>
  void each_pipelined(F&& f) const {
    each_op(kernel_, kernel_.body, [&](OpId id) {
      if (is_pipelined(id)) f(id);
    });
  }
  bool is_filling(ValueId src, ValueId dst) const {
    return kernel_.type(src).space != Space::Shared && kernel_.type(dst).is_buffer() && kernel_.type(dst).space == Space::Shared;
  }

  // Copies that run ahead stand in front of their loops as well; what the loop itself copies has not been put ahead.
  void look_at_copies() {
    bool found = false;
    auto name_of = [&](ValueId tile) { return "`" + kernel_.value(tile).hint + "`"; };
    each_op(kernel_, kernel_.body, [&](OpId id) {
      const op::CopyAsync* copy = kernel_.op(id).get<op::CopyAsync>();
      if (!copy || !is_filling(copy->src, copy->dst)) return;
      found = true;
      if (copy->copy_class == CopyClass::Bulk) return;
      std::string lanes = "lanes copy " + name_of(copy->dst);
      miss(kernel_.op(id).span, machine_.has(Cap::BulkCopy) ? lanes : lanes + ", as there is no engine that does");
    });
    each_pipelined([&](OpId loop) {
      each_op(kernel_, kernel_.op(loop).as<op::For>().body, [&](OpId id) {
        const op::Copy* copy = kernel_.op(id).get<op::Copy>();
        if (!copy || !is_filling(copy->src, copy->dst)) return;
        found = true;
        miss(kernel_.op(id).span, name_of(copy->dst) + " is copied where it stands, not ahead of its use");
      });
    });
    if (!found) miss(kernel_.span, "no pipelined loop copies from device memory to a shared tile");
  }

  const Text* atom_text(OpId id) const {
    if (const op::Gemm* gemm = kernel_.op(id).get<op::Gemm>()) return &gemm->atom;
    const op::GemmAsync* gemm = kernel_.op(id).get<op::GemmAsync>();
    return gemm ? &gemm->atom : nullptr;
  }
  AtomKind kind_of(const Text& atom) const {
    auto found = std::ranges::find(machine_.matrix_atoms, atom, &MatrixAtom::name);
    return found == machine_.matrix_atoms.end() ? AtomKind::OuterProduct : found->kind;
  }

  // Kinds of atoms rise from lanes to groups of warps.
  void look_at_products(AtomKind least) {
    bool found = false;
    bool has_any = std::ranges::any_of(machine_.matrix_atoms, [&](const MatrixAtom& atom) { return atom.kind >= least; });
    each_op(kernel_, kernel_.body, [&](OpId id) {
      const Text* atom = atom_text(id);
      if (!atom) return;
      found = true;
      if (kind_of(*atom) >= least) return;
      std::string_view none = least == AtomKind::Group ? "there are no products of groups of warps" : "there is no matrix unit";
      miss(kernel_.op(id).span, has_any ? "this product is made by `" + *atom + "`" : std::string(none));
    });
    if (!found) miss(kernel_.span, "there is no matrix product");
  }

  // Operations of the loop, but not those of pipelined loops in it.
  template <class F>
  void each_own(RegionId region, F&& f) const {
    for (OpId id : kernel_.region(region).ops) {
      f(id);
      if (!is_pipelined(id)) each_region(kernel_.op(id).data, [&](RegionId inner) { each_own(inner, f); });
    }
  }

  // A product is open over other work where a wait leaves one open.
  void look_at_loops() {
    bool found = false;
    each_pipelined([&](OpId loop) {
      bool has_product = false, is_open = false;
      each_own(kernel_.op(loop).as<op::For>().body, [&](OpId id) {
        const op::AwaitGemm* await = kernel_.op(id).get<op::AwaitGemm>();
        has_product |= atom_text(id) != nullptr;
        is_open |= await && await->in_flight > 0;
      });
      found |= has_product;
      if (!has_product || is_open) return;
      bool can = machine_.has(Cap::AsyncMatrix);
      miss(kernel_.op(loop).span, can ? "each product of this loop is awaited where it stands" : "no product runs beside its threads");
    });
    if (!found) miss(kernel_.span, "no pipelined loop has a matrix product");
  }

  // Launches with pipelined loops; where there are none, all.
  void look_at_launches(const std::function<void(RegionId)>& f) const {
    std::vector<RegionId> all, pipelined;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      const op::Launch* launch = kernel_.op(id).get<op::Launch>();
      if (!launch) return;
      all.push_back(launch->body);
      if (holds(launch->body, [&](OpId inner) { return is_pipelined(inner); })) pipelined.push_back(launch->body);
    });
    std::ranges::for_each(pipelined.empty() ? all : pipelined, f);
  }
  template <class F>
  bool holds(RegionId region, F&& wanted) const {
    bool found = false;
    each_op(kernel_, region, [&](OpId id) { found |= wanted(id); });
    return found;
  }
  Span span_of(RegionId launch) const {
    Span span = kernel_.span;
    each_op(kernel_, kernel_.body, [&](OpId id) {
      const op::Launch* one = kernel_.op(id).get<op::Launch>();
      if (one && one->body == launch) span = kernel_.op(id).span;
    });
    return span;
  }

  void look_for_roles(RegionId launch) {
    if (holds(launch, [&](OpId id) { return kernel_.op(id).is<op::Roles>(); })) return;
    bool can = machine_.has(Cap::BulkCopy) && machine_.has(Cap::PhaseBarriers) && machine_.has(Cap::NamedBarriers);
    bool has_filling = holds(launch, [&](OpId id) {
      const op::CopyAsync* copy = kernel_.op(id).get<op::CopyAsync>();
      return copy && copy->copy_class == CopyClass::Bulk;
    });
    if (!can) return miss(span_of(launch), "blocks have no roles");
    miss(span_of(launch), has_filling ? "all warps of this launch run the same program" : "no engine fills tiles of this launch ahead of time");
  }

  void look_for_rounds(RegionId launch) {
    if (holds(launch, [&](OpId id) { return kernel_.op(id).is<op::GridBlocks>(); })) return;
    bool can = machine_.has(Cap::PersistentBlocks);
    miss(span_of(launch), can ? "each block of this launch ends with its own work" : "no block goes on to the next");
  }

  void look_for_parts(RegionId launch) {
    if (holds(launch, [&](OpId id) { return kernel_.op(id).is<op::ClusterSum>(); })) return;
    miss(span_of(launch), machine_.cluster_blocks > 1 ? "each block of this launch runs all turns of its loops" : "no block reaches another one's shared memory");
  }

  const Kernel& kernel_;
  const Machine& machine_;
  std::vector<Miss> misses_;
};

// The remarks that tell why a choice was made, where some do.
std::string_view remarks_of(Need need) {
  constexpr std::string_view kRemarks[] = {"memory", "tensor-core", "tensor-core"};
  return size_t(need) < std::size(kRemarks) ? kRemarks[size_t(need)] : std::string_view();
}

}  // namespace

void check_requirements(const Kernel& staged, const Machine& machine, Diagnostics& diagnostics) {
  Program program(staged, machine);
  for (const Required& required : staged.schedule.required) {
    std::vector<Miss> misses = program.misses(required.need);
    if (misses.empty()) continue;
    Report report = diagnostics.at(required.span).error(diag::RequirementMissed, name(required.need), machine.name, misses.front().why);
    for (const Miss& miss : misses)
      if (miss.span.valid()) report.mark(miss.span, miss.why);
    if (std::string_view group = remarks_of(required.need); !group.empty()) report.help("`-R " + std::string(group) + "` says more of what was chosen");
  }
}

}  // namespace tilec::check
