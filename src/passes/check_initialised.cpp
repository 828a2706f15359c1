#include "passes/check_initialised.h"

#include "diag/diag.h"
#include "passes/coverage.h"
#include "passes/rewrite.h"
#include "passes/unwritten.h"

namespace tilec::passes {

using namespace ir;
using prove::Linear;

namespace {

using Written = std::map<ValueId, std::vector<Area>>;

struct Check {
  const Kernel& kernel;
  Diagnostics& diagnostics;
  prove::Prover& prover;
  Written written = {};
  RegionId here = {};
  std::set<ValueId> reported = {}, written_by_threads = {};
  // Writes that come before, or in an earlier turn of a loop, on some path, by the buffer behind views. Local arrays and
  // workspaces are written by threads and blocks in ways that no area tells: what is certain is that some element is missed.
  struct Touched {
    std::vector<Access> writes;
    bool is_all_known = true;
  };
  std::map<ValueId, Touched> touched = {};
  RegionId launch = {};

  ValueId behind_views(ValueId buffer) const {
    while (auto* view = kernel.defined_by<op::Subview>(buffer)) buffer = view->buffer;
    return buffer;
  }
  static bool is_untold(const Type& type) { return type.is_buffer() && (type.space == Space::Private || type.space == Space::Workspace); }

  void touch(RegionId region, Box box) {
    if (!is_untold(kernel.type(box.base))) return;
    Touched& at = touched[behind_views(box.base)];
    if (kernel.defined_by<op::Subview>(box.base)) at.is_all_known = false;
    else at.writes.push_back({region, launch, std::move(box)});
  }
  void touch(RegionId region, const Op& op) {
    if (auto* o = op.get<op::ElementStore>()) touch(region, box_of(o->buffer, o->indices, {}, {}));
    if (auto* o = op.get<op::Atomic>()) touch(region, box_of(o->buffer, o->indices, {}, {}));
    if (auto* o = op.get<op::Store>()) touch(region, box_of(o->buffer, o->offsets, o->axes, kernel.type(o->tile).shape));
    if (auto* o = op.get<op::Copy>()) touch(region, box_of(o->dst, o->dst_offsets, o->dst_axes, o->shape));
  }
  // What some turn of a loop writes, its next one may read.
  void touch_all(RegionId body) {
    each_op_in_region(kernel, body, [&](RegionId region, OpId id) { touch(region, kernel.op(id)); });
  }
  void read_untold(const Box& box, Span span) {
    ValueId buffer = behind_views(box.base);
    const Op* declaration = kernel.definition(buffer);
    if (!declaration || !declaration->is<op::Alloc>() || reported.contains(buffer)) return;
    std::optional<std::string> missed;
    if (auto known = touched.find(buffer); known != touched.end()) {
      if (!known->second.is_all_known || buffer != box.base) return;
      missed = missed_element(prover, kernel, {here, launch, box}, known->second.writes);
      if (!missed) return;
    }
    reported.insert(buffer);
    auto report = diagnostics.at(span).error(diag::Uninitialised, name_of(kernel, buffer));
    if (missed) report.help(*missed);
    if (declaration->span.valid()) report.note(declaration->span, diag::DeclaredHere, name_of(kernel, buffer));
  }

  Area area_of(const Box& box) {
    Area area{{}, box.sizes};
    for (ValueId v : box.offsets) area.low.push_back(prover.value(v));
    return area;
  }

  void read(const Box& box, Span span) {
    if (is_untold(kernel.type(box.base))) read_untold(box, span);
    else if (kernel.type(box.base).is_buffer()) read(box.base, area_of(box), span);
  }
  void read(ValueId buffer, Area area, Span span) {
    const Type& type = kernel.type(buffer);
    if (!type.is_buffer() || type.space != Space::Shared) return;
    area = in_buffer(prover, kernel, buffer, std::move(area));
    if (covers(prover, prover.facts(here), kernel.type(buffer).shape, written[buffer], area) || !reported.insert(buffer).second) return;
    auto report = diagnostics.at(span).error(diag::Uninitialised, name_of(kernel, buffer));
    if (written_by_threads.contains(buffer))
      report.help("what `simt` writes is not counted, for its threads may leave elements out");
    const Op* declaration = kernel.definition(buffer);
    if (!declaration || !declaration->span.valid()) return;
    Span at = declaration->span;
    report.note(at, diag::DeclaredHere, name_of(kernel, buffer));
    // The declaration ends with its semicolon.
    if (at.end > at.begin) report.fix({at.file, at.end - 1, at.end - 1}, " = 0", "give it a value where it is declared");
  }
  void read_whole(ValueId buffer, Span span) {
    if (kernel.type(buffer).is_buffer()) read(buffer, whole_area(kernel.type(buffer)), span);
  }

  void write(const Box& box) {
    if (kernel.type(box.base).space != Space::Shared) return;
    ValueId buffer = box.base;
    Area area = in_buffer(prover, kernel, buffer, area_of(box));
    add(buffer, std::move(area));
  }
  void add(ValueId buffer, Area area) {
    std::vector<Area>& areas = written[buffer];
    if (std::ranges::find(areas, area) == areas.end()) areas.push_back(std::move(area));
  }

  void run(RegionId region) {
    RegionId outer = std::exchange(here, region);
    for (OpId id : kernel.region(region).ops) run(kernel.op(id));
    here = outer;
  }

  void run(const Op& op) {
    if (op.is<op::Alloc>()) return void(written.erase(op.result())), void(touched.erase(op.result()));
    if (auto* o = op.get<op::Launch>()) return launch = o->body, run(o->body), void(launch = {});
    if (auto* o = op.get<op::For>()) return touch_all(o->body), run_loop(*o);
    if (auto* o = op.get<op::Map>()) return run_map(*o);
    if (auto* o = op.get<op::If>()) return run_branch(*o);
    if (op.is<op::While>() || op.is<op::Simt>()) return run_uncounted(op);
    if (auto* o = op.get<op::Load>()) read(box_of(o->buffer, o->offsets, o->axes, kernel.type(op.result()).shape), op.span);
    if (auto* o = op.get<op::ElementLoad>()) read(box_of(o->buffer, o->indices, {}, {}), op.span);
    if (auto* o = op.get<op::Atomic>()) read(box_of(o->buffer, o->indices, {}, {}), op.span);
    if (auto* o = op.get<op::Gemm>()) read_whole(o->a, op.span), read_whole(o->b, op.span);
    if (auto* o = op.get<op::Copy>()) read(box_of(o->src, o->src_offsets, o->src_axes, o->shape), kernel.read_note(op.span).read);
    touch(here, op);
    if (auto* o = op.get<op::Store>()) write(box_of(o->buffer, o->offsets, o->axes, kernel.type(o->tile).shape));
    if (auto* o = op.get<op::ElementStore>()) write(box_of(o->buffer, o->indices, {}, {}));
    if (auto* o = op.get<op::Copy>()) write(box_of(o->dst, o->dst_offsets, o->dst_axes, o->shape));
  }

  void run_uncounted(const Op& op) {
    Written before = written;
    if (auto* threads = op.get<op::Simt>())
      each_op(kernel, threads->body, [&](OpId id) {
        if (auto* store = kernel.op(id).get<op::ElementStore>()) written_by_threads.insert(store->buffer);
      });
    if (op.is<op::While>()) each_region(op.data, [&](RegionId region) { touch_all(region); });
    each_region(op.data, [&](RegionId region) { run(region); });
    written = std::move(before);
  }

  // What the body has added, as `widen` leaves it.
  template <class F> void keep_added(const Written& before, F&& widen) {
    Written after = std::exchange(written, before);
    for (auto& [buffer, areas] : after) {
      auto known = before.find(buffer);
      size_t old_count = known == before.end() ? 0 : known->second.size();
      for (size_t i = std::min(old_count, areas.size()); i < areas.size(); ++i)
        if (std::optional<Area> area = widen(areas[i])) add(buffer, std::move(*area));
    }
  }
  bool outlasts(const Area& area, RegionId body) const {
    return std::none_of(area.low.begin(), area.low.end(), [&](const Linear& x) { return prover.depends_on(x, body); });
  }

  void run_loop(const op::For& loop) {
    Written before = written;
    run(loop.body);
    Linear low = prover.value(loop.low), high = prover.value(loop.high), step = prover.value(loop.step);
    bool is_counted = low.is_constant() && high.is_constant() && step.is_constant() && step.constant > 0;
    bool runs = prover.proves(prover.facts(here), less(low, high), prove::Effort::Quick);
    keep_added(before, [&](const Area& area) -> std::optional<Area> {
      if (!runs) return std::nullopt;
      if (outlasts(area, loop.body)) return area;
      if (!is_counted) return std::nullopt;
      int64_t last = low.constant + (high.constant - 1 - low.constant) / step.constant * step.constant;
      auto all = over_turns(area, {prover.value(kernel.region(loop.body).args[0]), low.constant, last, step.constant});
      return all && outlasts(*all, loop.body) ? all : std::nullopt;
    });
  }

  void run_map(const op::Map& map) {
    Written before = written;
    run(map.body);
    keep_added(before, [&](const Area& area) -> std::optional<Area> {
      Area all = area;
      // Whichever index moves least comes first: each is tried as often as there are indices.
      for (size_t round = 0; round < map.shape.size(); ++round)
        for (size_t i = 0; i < map.shape.size(); ++i)
          if (auto wider = over_turns(all, {prover.value(kernel.region(map.body).args[i]), 0, map.shape[i] - 1, 1}))
            all = std::move(*wider);
      return outlasts(all, map.body) ? std::optional(all) : std::nullopt;
    });
  }

  // Only what both sides write is written on every path.
  void run_branch(const op::If& branch) {
    Written before = written;
    run(branch.then_body);
    Written after_then = std::exchange(written, before);
    run(branch.else_body);
    Written after_else = std::exchange(written, before);
    auto keep = [&](const Written& from, const Written& other) {
      for (const auto& [buffer, areas] : from) {
        auto there = other.find(buffer);
        auto old = before.find(buffer);
        if (there == other.end()) continue;
        for (size_t i = old == before.end() ? 0 : old->second.size(); i < areas.size(); ++i)
          if (covers(prover, prover.facts(here), kernel.type(buffer).shape, there->second, areas[i]))
            add(buffer, areas[i]);
      }
    };
    keep(after_then, after_else);
    keep(after_else, after_then);
  }
};

}  // namespace

void check_initialised(const Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics) {
  Check pass{kernel, diagnostics, prover};
  pass.run(kernel.body);
}

}  // namespace tilec::passes
