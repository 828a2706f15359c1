#include "passes/check_races.h"

#include "diag/diag.h"
#include "ir/overlap.h"
#include "passes/region.h"
#include "passes/rewrite.h"

namespace tilec::passes {

using namespace ir;
using prove::Facts;
using prove::Formula;
using prove::Linear;
using prove::Twin;
using prove::Verdict;

namespace {

enum class Use : uint8_t { Read, Write, Atomic };

struct Touch {
  Box box;
  RegionId region;
  Use use;
  Span span;
};

// Executions of `body` that may run at the same time, told apart by `indices`.
enum class Runner : uint8_t { Block, Iteration, Thread };
struct Executions {
  RegionId body;
  std::span<const ValueId> indices;
  Runner runner;
  std::span<const OpId> ops;  // of the body, those that nothing keeps apart
};

struct Finding {
  Verdict verdict;
  std::string text;  // Refuted: who meets where
};

struct Check {
  const Kernel& kernel;
  Diagnostics& diagnostics;
  prove::Prover& prover;

  // The distance of neighbours along each dimension, in elements.
  std::vector<Linear> strides(ValueId buffer) {
    std::vector<Linear> result = prover.extents(buffer);
    const Param* param = kernel.param_of(buffer);
    Linear stride = 1;
    for (size_t d = result.size(); d-- > 0;) {
      Linear extent = result[d];
      result[d] = param && !param->strides.empty() ? prover.value(param->strides[d]) : stride;
      stride = prover.terms().product(stride, extent);
    }
    return result;
  }

  // Do equal indices mean one element, if the two buffers begin at one address?
  bool have_one_layout(ValueId a, ValueId b) {
    return a == b || (kernel.type(a).element == kernel.type(b).element && strides(a) == strides(b));
  }

  bool is_shared(ValueId buffer, Runner runner) const {
    const Type& type = kernel.type(buffer);
    return runner == Runner::Block ? is_device_memory(type) : runner == Runner::Iteration || type.space != Space::Private;
  }

  // Every touch of memory that the executions share.
  std::vector<Touch> touches(const Executions& runs) const {
    std::vector<Touch> result;
    auto visit = [&](RegionId region, OpId id) {
      const Op& op = kernel.op(id);
      auto add = [&](ValueId buffer, std::span<const ValueId> offsets, const Axes& axes, std::span<const int64_t> shape, Use use) {
        if (!is_shared(buffer, runs.runner)) return;
        Span at = use == Use::Read ? kernel.read_note(op.span).read : op.span;
        result.push_back({box_of(buffer, offsets, axes, shape), region, use, at});
      };
      if (auto* o = op.get<op::Load>()) add(o->buffer, o->offsets, o->axes, kernel.type(op.result()).shape, Use::Read);
      if (auto* o = op.get<op::Store>()) add(o->buffer, o->offsets, o->axes, kernel.type(o->tile).shape, Use::Write);
      if (auto* o = op.get<op::Copy>()) {
        add(o->src, o->src_offsets, o->src_axes, o->shape, Use::Read);
        add(o->dst, o->dst_offsets, o->dst_axes, o->shape, Use::Write);
      }
      if (auto* o = op.get<op::ElementLoad>()) add(o->buffer, o->indices, {}, {}, Use::Read);
      if (auto* o = op.get<op::ElementStore>()) add(o->buffer, o->indices, {}, {}, Use::Write);
      if (auto* o = op.get<op::Atomic>()) add(o->buffer, o->indices, {}, {}, Use::Atomic);
    };
    for (OpId id : runs.ops) {
      visit(runs.body, id);
      each_region(kernel.op(id).data, [&](RegionId inner) { each_op_in_region(kernel, inner, visit); });
    }
    return result;
  }

  // No element is in both boxes and in their memories.
  Formula apart(const Touch& a, const Touch& b, Twin twin) {
    std::vector<Linear> extents = prover.extents(a.box.base), other_extents = prover.extents(b.box.base);
    std::vector<Formula> ways;
    for (size_t d = 0; d < extents.size(); ++d) {
      Linear x = prover.value(a.box.offsets[d]), y = prover.value(b.box.offsets[d], twin);
      ways.push_back(at_least(y, x + a.box.sizes[d]));
      ways.push_back(at_least(x, y + b.box.sizes[d]));
    }
    for (size_t d = 0; d < extents.size(); ++d) {
      Linear x = prover.value(a.box.offsets[d]), y = prover.value(b.box.offsets[d], twin);
      ways.push_back(at_least(x, extents[d]));
      if (y != x || extents[d] != other_extents[d]) ways.push_back(at_least(y, other_extents[d]));
      ways.push_back(at_least(Linear(0), x + a.box.sizes[d]));
      if (y != x) ways.push_back(at_least(Linear(0), y + b.box.sizes[d]));
    }
    return any_of(std::move(ways));
  }

  std::string indices_text(const Executions& runs, Twin twin, const prove::Model& model) {
    std::string text;
    for (ValueId index : runs.indices) {
      auto n = prover.evaluate(prover.value(index, twin), model);
      const std::string& hint = kernel.value(index).hint;
      text += (text.empty() ? "" : ", ") + (hint.empty() ? "index" : hint) + " = " + (n ? std::to_string(*n) : "0");
    }
    return text;
  }

  // Two touches in different executions; `a` is a write.
  Finding compare(const Executions& runs, const Touch& a, const Touch& b, bool is_same) {
    Twin twin = prover.new_twin(runs.body);
    Facts facts = prover.facts(a.region).with(prover.facts(b.region, twin));
    bool are_comparable = have_one_layout(a.box.base, b.box.base);
    Formula goal = are_comparable ? apart(a, b, twin) : prove::any_of({});
    Finding worst{Verdict::Proved, {}};
    for (ValueId index : runs.indices) {
      Linear x = prover.value(index), y = prover.value(index, twin);
      for (bool is_first : {true, false}) {
        if (is_same && !is_first) continue;  // the same two, named the other way round
        Linear distance = is_first ? y - x - 1 : x - y - 1;
        if (prover.terms().range(distance).high < 0) continue;
        prove::Answer answer = prover.prove(facts.with(prove::at_least_zero(distance)), goal);
        if (answer.is_refuted() && are_comparable) {
          prove::Model model = answer.model;
          model.add(answer.others);
          constexpr std::string_view kWho[] = {"blocks ", "iterations ", "threads "};
          return {Verdict::Refuted, std::string(kWho[int(runs.runner)]) + indices_text(runs, {}, model) + " and " + indices_text(runs, twin, model)};
        }
        if (!answer.is_proved()) worst.verdict = Verdict::Unknown;
      }
    }
    return worst;
  }

  void report(const Executions& runs, const Touch& a, const Touch& b, const Finding& finding) {
    std::string name = name_of(kernel, a.box.base);
    auto place = diagnostics.at(a.span);
    auto mark = [&](Report report) {
      std::string other = a.box.base == b.box.base ? "" : " as `" + name_of(kernel, b.box.base) + "`, for `alias` lets both be one memory";
      if (b.span != a.span && b.span.valid()) report.mark(b.span, (b.use == Use::Read ? "read here" : "and written here") + other);
    };
    bool is_refuted = finding.verdict == Verdict::Refuted;
    if (runs.runner == Runner::Block && is_refuted) mark(place.error(diag::Race, name, finding.text));
    else if (runs.runner == Runner::Block) mark(place.warning(diag::UnprovedRace, name));
    else if (runs.runner == Runner::Thread && is_refuted)
      mark(place.error(diag::ThreadRace, name, finding.text).help("put a `sync;` between the two, or give each thread elements of its own"));
    else if (runs.runner == Runner::Thread) return;  // threads may agree on more than a proof sees
    else if (!is_refuted) mark(place.warning(diag::UnprovedIterations, name));
    else if (b.use == Use::Read) mark(diagnostics.at(b.span).error(diag::IterationDependence, name, finding.text));
    else mark(place.error(diag::ParallelRace, name, finding.text));
  }

  void check(const Executions& runs) {
    std::vector<Touch> all = touches(runs);
    std::set<std::pair<ValueId, Verdict>> reported;  // one of a kind for each buffer is enough
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].use == Use::Read) continue;
      for (size_t j = 0; j < all.size(); ++j) {
        bool is_seen = j < i && all[j].use != Use::Read;  // the pair has been met as (j, i)
        bool are_atomic = all[i].use == Use::Atomic && all[j].use == Use::Atomic;
        if (is_seen || are_atomic || !may_overlap(kernel, all[i].box.base, all[j].box.base)) continue;
        Finding finding = compare(runs, all[i], all[j], i == j);
        if (finding.verdict == Verdict::Proved || !reported.insert({all[i].box.base, finding.verdict}).second) continue;
        report(runs, all[i], all[j], finding);
      }
    }
  }

  // Threads run apart between two barriers. What stands in a loop or branch with a barrier of its own is left to the
  // interpreter.
  void check_threads(const op::Simt& simt) {
    std::span<const OpId> ops = kernel.region(simt.body).ops;
    for (size_t begin = 0, end; begin < ops.size(); begin = end + 1) {
      for (end = begin; end < ops.size() && !has_barrier(ops[end]);) ++end;
      check({simt.body, kernel.region(simt.body).args, Runner::Thread, ops.subspan(begin, end - begin)});
    }
  }
  bool has_barrier(OpId id) const {
    bool found = kernel.op(id).is<op::BlockBarrier>();
    each_region(kernel.op(id).data, [&](RegionId r) {
      each_op(kernel, r, [&](OpId inner) { found |= kernel.op(inner).is<op::BlockBarrier>(); });
    });
    return found;
  }
};

}  // namespace

void check_races(const Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics) {
  Check pass{kernel, diagnostics, prover};
  each_op_in_region(kernel, kernel.body, [&](RegionId, OpId id) {
    const Op& op = kernel.op(id);
    if (auto* launch = op.get<op::Launch>())
      pass.check({launch->body, kernel.region(launch->body).args, Runner::Block, kernel.region(launch->body).ops});
    if (auto* map = op.get<op::Map>()) {
      const Region& body = kernel.region(map->body);
      pass.check({map->body, std::span(body.args).first(map->shape.size()), Runner::Iteration, body.ops});
    }
    if (auto* simt = op.get<op::Simt>()) pass.check_threads(*simt);
  });
}

}  // namespace tilec::passes
