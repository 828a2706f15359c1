#include "prove/prover.h"

#include "prove/digits.h"

namespace tilec::prove {

namespace {

// Steps of the cheap ways, tried in turn: nearly all goals fall to the first round, one way or the other.
struct Round {
  int search;
  Cases cases;
  int trial;
};
constexpr Round kRounds[] = {{6, Cases::Whole, 40}, {60, Cases::Split, 150}, {400, Cases::Split, 1500}};
constexpr size_t kRoundsOfGlance = 2;
constexpr int kShortTrial = 40, kLongTrial = 1500;
constexpr int kContradictionSearch = 60;
constexpr size_t kMostNames = 6;

Finding example_of(const Model& model) {
  Finding found{Finding::Kind::Example, {}};
  model.each([&](AtomId id, int64_t value) { found.example.push_back({id.index, value}); });
  return found;
}

}  // namespace

bool Prover::is_free(const Problem& problem) const {
  return std::all_of(problem.atoms.begin(), problem.atoms.end(), [&](AtomId id) {
    const Atom& atom = reader_.terms()[id];
    return (atom.kind != AtomKind::Variable && atom.kind != AtomKind::Flag) || atom.is_free;
  });
}

bool Prover::is_seen_from(ir::RegionId region, AtomId variable) const {
  std::optional<ir::ValueId> v = reader_.source(variable);
  if (!v) return false;
  ir::RegionId home = reader_.region_of(*v);
  while (region.valid() && region != home) region = around(region);
  return region.valid();
}

Answer Prover::prove(const Facts& facts, const Formula& goal, Effort effort) {
  return answer(facts, goal, effort, Wanted::ProofOrExample);
}

bool Prover::proves(const Facts& facts, const Formula& goal, Effort effort) {
  return answer(facts, goal, effort, Wanted::Proof).is_proved();
}

Answer Prover::answer(const Facts& facts, const Formula& goal, Effort effort, Wanted wanted) {
  if (goal.is_true()) return {Verdict::Proved, {}, {}};
  std::string key(1, char('0' + int(wanted) * 8 + int(effort) * 2 + facts.is_exact));
  for (const Formula& fact : facts.formulas) append_key(key, fact);
  append_key(key, goal);
  if (auto found = answers_.find(key); found != answers_.end()) return found->second;
  Problem problem = connected(terms(), facts.formulas, goal);
  return answers_.emplace(std::move(key), decide(facts, problem, effort, wanted)).first->second;
}

// Values break the goal; that they occur is sure where nothing hangs on memory and the other facts can hold beside them.
// Where those cannot hold at all, nothing comes to pass there and the goal is none.
Answer Prover::broken(const Facts& facts, const Problem& problem, Model model) {
  bool is_sure = facts.is_exact && is_free(problem);
  if (problem.others.empty()) return is_sure ? Answer{Verdict::Refuted, std::move(model), {}} : Answer{};
  Problem rest = possibility(terms(), problem.others);
  auto others = counterexample(terms(), rest, kShortTrial);
  if (!others && follows(terms(), rest, kContradictionSearch, Cases::Split)) return {Verdict::Proved, {}, {}};
  if (!others && is_sure) others = counterexample(terms(), rest, kLongTrial);
  return others && is_sure ? Answer{Verdict::Refuted, std::move(model), std::move(*others)} : Answer{};
}

Answer Prover::decide(const Facts& facts, const Problem& problem, Effort effort, Wanted wanted) {
  Finding found = finding(problem, effort);
  if (found.kind == Finding::Kind::Proof) return {Verdict::Proved, {}, {}};
  if (found.kind == Finding::Kind::Nothing || wanted == Wanted::Proof) return {};
  return broken(facts, problem, model_of(problem, found.example));
}

Finding Prover::finding(const Problem& problem, Effort effort) {
  if (!memory_) return answer_to(question_of(terms(), problem), effort);
  std::string key = key_of(terms(), problem) + char('0' + int(effort));
  if (auto known = memory_->find(key)) return *known;
  Finding found = answer_to(question_of(terms(), problem), effort);
  memory_->keep(std::move(key), found);
  return found;
}

// Where digits are in one form the question is asked so. An example is one of the question as it was.
Finding Prover::answer_to(Question question, Effort effort) {
  std::optional<Digits> digits = effort >= Effort::Quick ? by_digits(question) : std::nullopt;
  if (!digits) return search_for(question, effort);
  Finding found = search_for(digits->question, effort);
  if (found.kind != Finding::Kind::Example) return found;
  Model model;
  for (auto [place, value] : found.example)
    for (auto [now, before] : digits->variables)
      if (now.index == place) model.set(before, value);
  bool holds = question.terms.evaluate(question.problem.goal, model) == false;
  for (const Formula& fact : question.problem.facts) holds = holds && question.terms.evaluate(fact, model) == true;
  return holds ? example_of(model) : Finding{};
}

Finding Prover::search_for(Question& question, Effort effort) {
  auto& [terms, problem] = question;
  size_t rounds = effort <= Effort::Glance ? kRoundsOfGlance : std::size(kRounds);
  for (auto [search, cases, trial] : std::span(kRounds).first(rounds)) {
    if (follows(terms, problem, search, cases)) return {Finding::Kind::Proof, {}};
    if (effort == Effort::Sums) continue;
    if (effort == Effort::Full && cases == Cases::Split && is_never_broken(terms, problem, 20 * search)) return {Finding::Kind::Proof, {}};
    if (auto model = counterexample(terms, problem, trial)) return example_of(*model);
  }
  if (effort != Effort::Full) return {};
  ++solver_questions_;
  Model model;
  switch (solver_.ask(terms, problem, model)) {
    case Solver::Result::Follows: return {Finding::Kind::Proof, {}};
    case Solver::Result::Unknown: return {};
    case Solver::Result::Fails: break;
  }
  // An example is believed when it evaluates.
  bool holds = terms.evaluate(problem.goal, model) == false;
  for (const Formula& fact : problem.facts) holds = holds && terms.evaluate(fact, model) == true;
  return holds ? example_of(model) : Finding{};
}

std::vector<NamedValue> Prover::named(const Model& model) const {
  std::vector<NamedValue> result;
  model.each([&](AtomId id, int64_t value) {
    const Atom& atom = reader_.terms()[id];
    if (atom.kind != AtomKind::Variable || result.size() == kMostNames) return;
    result.push_back({atom.name, reader_.lanes().is_choice(id) ? *lanes(model) : value});
  });
  return result;
}

std::string text_of(std::span<const NamedValue> values) {
  std::string text;
  for (const NamedValue& v : values) text += (text.empty() ? "" : ", ") + v.name + " = " + std::to_string(v.value);
  return text;
}

}  // namespace tilec::prove
