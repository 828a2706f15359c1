#include "explain/proofs.h"

namespace tilec {

namespace {

struct Accesses {
  const SourceMap& sources;
  std::set<Span> inside = {}, clipped = {};
  std::vector<std::string> tested = {}, ordered = {};

  void tell(std::vector<std::string>& lines, std::string line) {
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  // Regions are cut at the edge where they are not proved to lie inside along every dimension.
  void region(const ir::Op& op, const ir::BoundsList& bounds) {
    bool is_inside = std::ranges::all_of(bounds, [](ir::Bounds b) { return b == ir::Bounds::Inside; });
    (is_inside ? inside : clipped).insert(op.span);
  }
  void element(const ir::Kernel& kernel, const ir::Op& op, ir::ValueId buffer, ir::Bounds bounds) {
    if (bounds == ir::Bounds::Inside) inside.insert(op.span);
    else tell(tested, "  tested at run time: `" + kernel.value(buffer).hint + "` at " + place_of(op.span, sources) + "\n");
  }
  // Rounding depends on who comes first.
  void atomic(const ir::Kernel& kernel, const ir::Op& op, const ir::op::Atomic& o) {
    element(kernel, op, o.buffer, o.bounds);
    if (o.fn != ir::AtomicFn::Add || !is_float(kernel.type(o.buffer).element)) return;
    tell(ordered, "  in no fixed order: the sums in `" + kernel.value(o.buffer).hint + "`, by atomics on floats at " +
                      place_of(op.span, sources) + "; calls need not give equal bits\n");
  }
};

}  // namespace

std::string place_of(Span span, const SourceMap& sources) {
  if (!span.valid() || span.file.index >= sources.size()) return "";
  LineColumn at = sources.place(span);
  return std::string(sources.name(span.file)) + ":" + std::to_string(at.line);
}

std::string proofs_text(const ir::Kernel& placed, const SourceMap& sources) {
  Accesses found{sources};
  each_op(placed, placed.body, [&](ir::OpId id) {
    const ir::Op& op = placed.op(id);
    if (auto* o = op.get<ir::op::ElementLoad>()) found.element(placed, op, o->buffer, o->bounds);
    if (auto* o = op.get<ir::op::ElementStore>()) found.element(placed, op, o->buffer, o->bounds);
    if (auto* o = op.get<ir::op::Atomic>()) found.atomic(placed, op, *o);
    if (auto* o = op.get<ir::op::Load>()) found.region(op, o->bounds);
    if (auto* o = op.get<ir::op::Store>()) found.region(op, o->bounds);
    if (auto* o = op.get<ir::op::Copy>()) found.region(op, o->src_bounds), found.region(op, o->dst_bounds);
    if (auto* o = op.get<ir::op::CopyAsync>()) found.region(op, o->src_bounds), found.region(op, o->dst_bounds);
  });
  for (Span span : found.clipped) found.inside.erase(span);
  std::string out = "accesses: " + std::to_string(found.inside.size()) + " proved to stay inside, " +
                    std::to_string(found.clipped.size()) + " cut at an edge, " + std::to_string(found.tested.size()) + " tested\n";
  for (const std::string& line : found.tested) out += line;
  for (const std::string& line : found.ordered) out += line;
  return out;
}

}  // namespace tilec
