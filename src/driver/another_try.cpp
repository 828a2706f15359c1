#include "driver/another_try.h"

#include <algorithm>
#include <functional>

#include "base/parallel.h"
#include "diag/diag.h"
#include "driver/clock.h"
#include "passes/lighter.h"
#include "target/abi/abi.h"

namespace tilec {

namespace {

// What an assembler could not do with a kernel; less is better.
struct Shortage {
  bool is_held_up = false;  // matrix products run one by one
  int64_t accesses = 0;     // of memory in loops where registers ran out; of all, where code is not understood
  int64_t bytes = 0;        // of a lane, stored and loaded for that anywhere
  auto operator<=>(const Shortage&) const = default;
};

// How much better another schedule has to be. A handful of accesses is not worth the time of compiling, and who gives up that products
// overlap has to get rid of most of many.
struct Worth {
  int64_t accesses;  // from so many on it is tried, or where products are held up
  int64_t part, of;  // of them may be left
};
constexpr Worth kTrade = {16, 3, 4}, kAwait = {64, 1, 4};

struct Try {
  ir::Schedule schedule;
  ir::Kernel kernel = {};
  std::optional<Shortage> left = {};  // none: the schedule cannot be kept, or its text is not assembled
  std::string text = {};
  target::Assembled assembled = {};
};

// An instance of an export on the machine, and the best that is known for it.
struct Candidate {
  const Lowered* lowered;
  const target::Export* exported;
  Shortage first, least;
  bool wants_none = false;  // its schedule requires that nothing goes to memory, in loops or not
  int tried = 0;
  std::optional<Try> best = {};
};

Shortage shortage_of(std::span<const target::AssembledFunction> functions) {
  constexpr int64_t kRegisterBytes = 4;
  Shortage all;
  for (const target::AssembledFunction& f : functions) {
    int64_t bytes = f.stored + f.loaded;
    all.is_held_up |= !f.held_up.empty();
    all.accesses += bytes ? f.in_loops.value_or((bytes + kRegisterBytes - 1) / kRegisterBytes) : 0;
    all.bytes += bytes;
  }
  return all;
}

bool is_asked_for(const Worth& worth, const Candidate& c) {
  return c.least.is_held_up || c.least.accesses >= worth.accesses || (c.wants_none && c.least.bytes > 0);
}
bool is_worth(const Worth& worth, const Candidate& c, const Shortage& before, const Shortage& after) {
  if (c.wants_none && after.bytes == 0) return true;
  if (before.is_held_up != after.is_held_up) return before.is_held_up;
  return after.accesses * worth.of <= before.accesses * worth.part;
}
bool requires_no_spill(const ir::Schedule& schedule) {
  return std::ranges::any_of(schedule.required, [](const ir::Required& one) { return one.need == ir::Need::NoSpill; });
}

class Attempt {
 public:
  Attempt(Session& session, Compiled& compiled, const target::MachineChoice& of) : session_(session), compiled_(compiled), of_(of) {}

  // Kernels that have changed.
  std::vector<const Lowered*> run(const std::vector<target::AssembledFunction>& slow) {
    find_candidates(slow);
    if (candidates_.empty()) return {};
    PassClock clock;
    take(kTrade, [&](Candidate& c) { return passes::with_more_registers(c.lowered->kernel->schedule, pinned(c), *of_.machine); });
    take(kAwait, [&](Candidate& c) {
      auto last = passes::without_flights(chosen(c), pinned(c));
      return last ? std::vector<ir::Schedule>{*last} : std::vector<ir::Schedule>{};
    });
    std::vector<const Lowered*> changed;
    for (Candidate& c : candidates_) {
      tell(c);
      if (!c.best) continue;
      *c.lowered->kernel = std::move(c.best->kernel);
      changed.push_back(c.lowered);
    }
    if (session_.options.time_passes) clock.tick("other schedules, for want of registers");
    return changed;
  }

  // Of the schedules that were taken.
  AssembledTexts texts() {
    AssembledTexts all;
    for (Candidate& c : candidates_)
      if (c.best) all.emplace(std::move(c.best->text), std::move(c.best->assembled));
    return all;
  }

 private:
  const ExportInstance& source(const Candidate& c) const { return *c.lowered->source; }
  ir::Schedule pinned(const Candidate& c) const { return schedule_for(source(c), *of_.machine); }
  const ir::Schedule& chosen(const Candidate& c) const { return (c.best ? c.best->kernel : *c.lowered->kernel).schedule; }

  void find_candidates(const std::vector<target::AssembledFunction>& slow) {
    for (const target::Export& exported : compiled_.program.exports)
      for (size_t i = 0; i < exported.instances.size(); ++i) {
        const target::Instance& instance = exported.instances[i];
        auto lowered = std::ranges::find_if(compiled_.lowered, [&](const Lowered& l) { return l.kernel == instance.kernel; });
        if (instance.machine != of_.machine || lowered == compiled_.lowered.end()) continue;
        std::vector<target::AssembledFunction> own;
        for (size_t launch = 0; launch < instance.kernel->heavy_tiles.size(); ++launch)
          std::ranges::copy_if(slow, std::back_inserter(own), [&](const auto& f) { return f.name == target::launch_name(exported, int(i), int(launch)); });
        Shortage shortage = shortage_of(own);
        Candidate candidate{&*lowered, &exported, shortage, shortage, requires_no_spill(instance.kernel->schedule)};
        if (is_asked_for(kTrade, candidate)) candidates_.push_back(std::move(candidate));
      }
  }

  // Tries what `others` gives for each kernel, all of them at once, and keeps the best if it is worth it; of equals the first.
  void take(const Worth& worth, const std::function<std::vector<ir::Schedule>(Candidate&)>& others) {
    std::vector<std::pair<Candidate*, Try>> tries;
    for (Candidate& c : candidates_) {
      if (!is_asked_for(worth, c)) continue;
      for (ir::Schedule& schedule : others(c)) {
        if (c.tried + 1 >= session_.options.tries) break;
        ++c.tried;
        tries.push_back({&c, {std::move(schedule)}});
      }
    }
    parallel_for(tries.size(), [&](size_t i) { work(*tries[i].first, tries[i].second); });
    for (Candidate& c : candidates_) {
      const Shortage before = c.least;
      for (auto& [candidate, made] : tries) {
        if (candidate != &c || !made.left || *made.left >= c.least || !is_worth(worth, c, before, *made.left)) continue;
        c.least = *made.left;
        c.best = std::move(made);
      }
    }
  }

  // What a schedule of ours breaks is no mistake of the source's: the try has come to nothing.
  void work(const Candidate& c, Try& made) const {
    if (!made.schedule.span.valid()) made.schedule.span = source(c).span;
    made.kernel = c.lowered->checked->kernel;
    made.kernel.schedule = made.schedule;
    Diagnostics unheard;
    if (!run_machine_passes(made.kernel, *of_.machine, unheard, session_.passes())) return;
    target::Program alone{.exports = {*c.exported}, .images = {}, .launchers = {}, .sources = compiled_.program.sources,
                          .compiler = compiled_.program.compiler, .manifest = {}};
    alone.exports[0].instances = {{.kernel = &made.kernel, .machine = of_.machine}};
    made.text = of_.target->spell(alone, of_.target->emits.front());
    made.assembled = of_.target->assemble(made.text, *of_.machine, session_.options.assembler);
    if (made.assembled.problem.empty()) made.left = shortage_of(made.assembled.slow);
  }

  // What differs from the first schedule, in the language's words.
  std::string difference(const Candidate& c) const {
    const ir::Schedule &before = c.lowered->kernel->schedule, &after = c.best->kernel.schedule;
    std::string text;
    auto add = [&](const std::string& words) { text += (text.empty() ? "`" : ", `") + words + "`"; };
    for (size_t i = 0; i < before.roles.size() && i < after.roles.size(); ++i)
      if (before.roles[i].registers != after.roles[i].registers) add("role " + after.roles[i].name + ": registers " + std::to_string(after.roles[i].registers));
    for (size_t i = 0; i < before.pipelines.size() && i < after.pipelines.size(); ++i)
      if (before.pipelines[i].in_flight != after.pipelines[i].in_flight)
        add("pipeline " + after.pipelines[i].name + ": in_flight " + std::to_string(after.pipelines[i].in_flight));
    return text;
  }

  static std::string words_for(const Shortage& s) { return std::to_string(s.accesses) + " accesses of the stack (" + std::to_string(s.bytes) + " bytes in all)"; }

  void tell(const Candidate& c) const {
    if (!c.tried) return;
    std::string freed = c.first.is_held_up && !c.least.is_held_up ? ", and matrix products are not held up" : "";
    std::string outcome = c.best ? "with " + difference(c) + " loops have " + words_for(c.least) + ", not " + words_for(c.first) + freed
                                 : "none does much better than the first, where loops have " + words_for(c.first);
    session_.diagnostics.at(source(c).span).remark(diag::ScheduledAgain, source(c).instance, int64_t(c.tried), outcome);
  }

  Session& session_;
  Compiled& compiled_;
  const target::MachineChoice& of_;
  std::deque<Candidate> candidates_;
};

bool has_assembler(const target::MachineChoice& image) { return image.target->assemble && !image.is_text; }

}  // namespace

std::optional<AssembledTexts> try_again(Session& session, Compiled& compiled, const target::MachineChoice& of, const std::vector<target::AssembledFunction>& slow) {
  if (session.options.tries < 2 || slow.empty()) return std::nullopt;
  Attempt attempt(session, compiled, of);
  return attempt.run(slow).empty() ? std::nullopt : std::optional(attempt.texts());
}

Retaken retaken_schedules(Session& session, const Chosen& chosen, const std::string& name) {
  Retaken out;
  if (session.options.tries < 2 || std::ranges::none_of(chosen.images, has_assembler)) return out;
  Program part;
  std::ranges::copy_if(session.program.exports, std::back_inserter(part.exports), [&](const ExportInstance& e) { return name.empty() || e.name == name; });
  CompileRequest request{.machines = {}, .prefix = {}, .compiler = {}, .library = "explained"};
  for (const target::MachineChoice& image : chosen.images)
    if (has_assembler(image)) request.machines.push_back(image.machine);
  Diagnostics unheard;
  std::optional<Compiled> compiled = compile(part, request, session.sources, unheard, session.passes());
  for (const target::MachineChoice& image : chosen.images) {
    if (!compiled || !has_assembler(image)) continue;
    std::string text = image.target->image_of(compiled->program, *image.machine).text;
    std::vector<const Lowered*> changed = Attempt(session, *compiled, image).run(image.target->assemble(text, *image.machine, session.options.assembler).slow);
    for (const Lowered* l : changed) out[{l->source->name, l->source->number, image.machine}] = l->kernel->schedule;
  }
  return out;
}

ir::Kernel kernel_for(const ExportInstance& exported, const Machine& machine, const Retaken& retaken) {
  ir::Kernel kernel = kernel_for(exported, machine);
  if (auto found = retaken.find({exported.name, exported.number, &machine}); found != retaken.end()) kernel.schedule = found->second;
  return kernel;
}

}  // namespace tilec
