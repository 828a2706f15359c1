#include "passes/check_races.h"

#include "diag/diag.h"
#include "ir/overlap.h"
#include "passes/check_waits.h"
#include "passes/region.h"
#include "passes/rewrite.h"
#include "passes/thread_turns.h"
#include "passes/xor_facts.h"

namespace tilec::passes {

using namespace ir;
using prove::Facts;
using prove::Formula;
using prove::Linear;
using prove::Twin;
using prove::Verdict;

namespace {

// Pairs of touches that are compared in a kernel. Their number grows with the square of its length, and programs that were
// written by programs have thousands in one block: what is left there counts as not proved.
constexpr int64_t kMostPairs = 1 << 16;
// Turns of threads are alike: where nothing was found of two touches in so many of them, the others get a glance.
constexpr int kMostUnknown = 1;

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
};

// One of the two executions that a question is about, and what else tells it apart for readers.
struct Moment {
  Twin twin;
  std::span<const NamedNumber> names;
};

struct Finding {
  Verdict verdict;
  std::string text;  // Refuted: who meets where
};

struct Check {
  const Kernel& kernel;
  Diagnostics& diagnostics;
  prove::Prover& prover;
  bool has_xors = false;
  int64_t pairs = 0;  // of touches that were compared
  std::map<std::pair<const Touch*, const Touch*>, int> unknown = {};  // turns in which nothing is known of two touches of threads

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
    for (OpId id : kernel.region(runs.body).ops) add_touches(runs.body, id, runs.runner, result);
    return result;
  }
  void add_touches(RegionId body, OpId root, Runner runner, std::vector<Touch>& result) const {
    auto visit = [&](RegionId region, OpId id) {
      const Op& op = kernel.op(id);
      auto add = [&](ValueId buffer, std::span<const ValueId> offsets, const Axes& axes, std::span<const int64_t> shape, Use use) {
        if (!is_shared(buffer, runner)) return;
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
    visit(body, root);
    each_region(kernel.op(root).data, [&](RegionId inner) { each_op_in_region(kernel, inner, visit); });
  }

  // No element is in both boxes and in their memories.
  Formula apart(const Touch& a, Twin of_a, const Touch& b, Twin of_b) {
    std::vector<Linear> extents = prover.extents(a.box.base), other_extents = prover.extents(b.box.base);
    std::vector<Formula> ways;
    for (size_t d = 0; d < extents.size(); ++d) {
      Linear x = prover.value(a.box.offsets[d], of_a), y = prover.value(b.box.offsets[d], of_b);
      ways.push_back(at_least(y, x + a.box.sizes[d]));
      ways.push_back(at_least(x, y + b.box.sizes[d]));
    }
    for (size_t d = 0; d < extents.size(); ++d) {
      Linear x = prover.value(a.box.offsets[d], of_a), y = prover.value(b.box.offsets[d], of_b);
      ways.push_back(at_least(x, extents[d]));
      if (y != x || extents[d] != other_extents[d]) ways.push_back(at_least(y, other_extents[d]));
      ways.push_back(at_least(Linear(0), x + a.box.sizes[d]));
      if (y != x) ways.push_back(at_least(Linear(0), y + b.box.sizes[d]));
    }
    return any_of(std::move(ways));
  }

  std::string indices_text(const Executions& runs, const Moment& moment, const prove::Model& model) {
    std::string text;
    auto add = [&](const std::string& name, const Linear& number) {
      auto n = prover.evaluate(number, model);
      text += (text.empty() ? "" : ", ") + name + " = " + (n ? std::to_string(*n) : "0");
    };
    for (ValueId index : runs.indices) {
      const std::string& hint = kernel.value(index).hint;
      add(hint.empty() ? "index" : hint, prover.value(index, moment.twin));
    }
    for (const NamedNumber& named : moment.names) add(named.name, named.number);
    return text;
  }

  // Two touches in different executions, `twin` being that of `b`; `a` is a write. What holds around them is asked of where their indices
  // do not tell already: long chains of branches have much of it.
  Finding compare(const Executions& runs, Twin twin, const Touch& a, const Touch& b, bool is_same) {
    Finding by_indices = compare(runs, a, {}, b, {twin, {}}, is_same, {}, prove::Effort::Sums);
    if (by_indices.verdict == Verdict::Proved) return by_indices;
    return compare(runs, a, {}, b, {twin, {}}, is_same, prover.facts(a.region).with(prover.facts(b.region, twin)), prove::Effort::Full);
  }
  Finding compare(const Executions& runs, const Touch& a, const Moment& of_a, const Touch& b, const Moment& of_b, bool is_same,
                  const Facts& around, prove::Effort effort) {
    bool are_comparable = have_one_layout(a.box.base, b.box.base);
    Formula goal = are_comparable ? apart(a, of_a.twin, b, of_b.twin) : prove::any_of({});
    Finding worst{Verdict::Proved, {}};
    const Facts facts = has_xors ? around.with(xor_facts(kernel, prover, a.box.offsets, of_a.twin, b.box.offsets, of_b.twin)) : around;
    for (ValueId index : runs.indices) {
      Linear x = prover.value(index, of_a.twin), y = prover.value(index, of_b.twin);
      for (bool is_first : {true, false}) {
        if (is_same && !is_first) continue;  // the same two, named the other way round
        Linear distance = is_first ? y - x - 1 : x - y - 1;
        if (prover.terms().range(distance).high < 0) continue;
        prove::Answer answer = prover.prove(facts.with(prove::at_least_zero(distance)), goal, effort);
        if (answer.is_refuted() && are_comparable) {
          prove::Model model = answer.model;
          model.add(answer.others);
          constexpr std::string_view kWho[] = {"blocks ", "iterations ", "threads "};
          std::optional<int64_t> lanes = prover.lanes(model);
          std::string where = lanes ? ", where a warp has " + std::to_string(*lanes) + " lanes" : "";
          return {Verdict::Refuted, std::string(kWho[int(runs.runner)]) + indices_text(runs, of_a, model) + " and " + indices_text(runs, of_b, model) + where};
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
    if (runs.runner == Runner::Block && is_refuted)
      mark(place.error(diag::Race, name, finding.text).help("give each block elements of its own, or combine theirs with an atomic, as in `atomic_add`"));
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
    Twin twin = prover.new_twin(runs.body);
    std::set<std::pair<ValueId, Verdict>> reported;  // one of a kind for each buffer is enough
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].use == Use::Read) continue;
      for (size_t j = 0; j < all.size(); ++j) {
        bool is_seen = j < i && all[j].use != Use::Read;  // the pair has been met as (j, i)
        bool are_atomic = all[i].use == Use::Atomic && all[j].use == Use::Atomic;
        if (is_seen || are_atomic || !may_overlap(kernel, all[i].box.base, all[j].box.base)) continue;
        if (++pairs > kMostPairs) return report(runs, all[i], all[j], {Verdict::Unknown, {}});
        Finding finding = compare(runs, twin, all[i], all[j], i == j);
        if (finding.verdict == Verdict::Proved || !reported.insert({all[i].box.base, finding.verdict}).second) continue;
        report(runs, all[i], all[j], finding);
      }
    }
  }

  // Threads run apart between two barriers. Nothing is told of what is neither proved nor refuted, for threads may agree on
  // more than a proof sees; the interpreter looks.
  void check_threads(const op::Simt& simt) {
    Executions runs{simt.body, kernel.region(simt.body).args, Runner::Thread};
    std::map<OpId, std::vector<Touch>> known;
    unknown.clear();
    std::set<ValueId> reported;
    auto touches_of = [&](const Passage& passage) -> const std::vector<Touch>& {
      auto [at, is_new] = known.try_emplace(passage.op);
      if (is_new) add_touches(passage.region, passage.op, Runner::Thread, at->second);
      return at->second;
    };
    each_meeting(kernel, prover, simt, [&](const Passage& first, const Passage& second) {
      if (pairs > kMostPairs) return;
      bool is_one = first.op == second.op && first.turn == second.turn;
      const auto &before = touches_of(first), &after = touches_of(second);
      for (size_t i = 0; i < before.size(); ++i)
        for (size_t j = is_one ? i : 0; j < after.size(); ++j) {
          const Touch &a = before[i], &b = after[j];
          bool is_write = a.use != Use::Read || b.use != Use::Read, are_atomic = a.use == Use::Atomic && b.use == Use::Atomic;
          if (!is_write || are_atomic || !may_overlap(kernel, a.box.base, b.box.base) || reported.contains(a.box.base)) continue;
          if (++pairs > kMostPairs) return;
          bool is_turned = a.use == Use::Read;
          Finding finding = is_turned ? meeting(runs, b, second, a, first, false) : meeting(runs, a, first, b, second, is_one && i == j);
          if (finding.verdict != Verdict::Refuted) continue;
          reported.insert(a.box.base);
          report(runs, is_turned ? b : a, is_turned ? a : b, finding);
        }
    });
  }
  Finding meeting(const Executions& runs, const Touch& a, const Passage& of_a, const Touch& b, const Passage& of_b, bool is_same) {
    Twin one = of_a.turn->one, other = of_b.turn->other;
    Facts facts = prover.facts(a.region, one).with(prover.facts(b.region, other));
    for (const auto* path : {&of_a.turn->path, &of_a.path, &of_b.turn->path, &of_b.path})
      for (const Formula& condition : *path) {
        facts.is_exact &= prover.is_free(condition);
        facts.formulas.push_back(condition);
      }
    int& unknown_turns = unknown[{&a, &b}];
    bool is_glance = unknown_turns >= kMostUnknown;
    prove::Effort effort = of_a.turn->names.empty() ? prove::Effort::Full : is_glance ? prove::Effort::Glance : prove::Effort::Quick;
    Finding finding = compare(runs, a, {one, of_a.turn->names}, b, {other, of_b.turn->names}, is_same, facts, effort);
    unknown_turns += finding.verdict == Verdict::Unknown;
    return finding;
  }
};

}  // namespace

void check_races(const Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics) {
  Check pass{kernel, diagnostics, prover};
  check_waits(kernel, diagnostics);
  each_op(kernel, kernel.body, [&](OpId id) {
    auto* binary = kernel.op(id).get<op::Binary>();
    pass.has_xors |= binary && binary->fn == BinaryFn::Xor;
  });
  each_op_in_region(kernel, kernel.body, [&](RegionId, OpId id) {
    const Op& op = kernel.op(id);
    if (auto* launch = op.get<op::Launch>())
      pass.check({launch->body, kernel.region(launch->body).args, Runner::Block});
    if (auto* map = op.get<op::Map>()) {
      const Region& body = kernel.region(map->body);
      pass.check({map->body, std::span(body.args).first(map->shape.size()), Runner::Iteration});
    }
    if (auto* simt = op.get<op::Simt>()) pass.check_threads(*simt);
  });
}

}  // namespace tilec::passes
