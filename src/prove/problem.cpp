#include "prove/problem.h"

namespace tilec::prove {

namespace {

void flatten(const Formula& f, std::vector<Formula>& out) {
  if (f.kind == Formula::Kind::All)
    for (const Formula& part : f.parts) flatten(part, out);
  else if (!f.is_true()) out.push_back(f);
}

struct Collector {
  const Terms& terms;
  Problem problem;
  std::vector<bool> seen = {};
  size_t defined = 0;

  // The definitions of the atoms that came since the last call.
  void define() {
    for (; defined < problem.atoms.size(); ++defined)
      for (const Formula& fact : terms.definition(problem.atoms[defined])) {
        terms.each_atom(fact, seen, problem.atoms);
        flatten(fact, problem.facts);
      }
  }
};

}  // namespace

Problem connected(const Terms& terms, std::span<const Formula> facts, const Formula& goal) {
  std::vector<Formula> flat;
  for (const Formula& fact : facts) flatten(fact, flat);
  std::vector<std::vector<AtomId>> atoms_of(flat.size());
  for (size_t i = 0; i < flat.size(); ++i) {
    std::vector<bool> seen;
    terms.each_atom(flat[i], seen, atoms_of[i]);
  }
  Collector c{terms, {{}, goal, {}, {}}};
  terms.each_atom(goal, c.seen, c.problem.atoms);
  c.define();
  std::vector<bool> taken(flat.size());
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t i = 0; i < flat.size(); ++i) {
      auto is_met = [&](AtomId a) { return a.index < c.seen.size() && c.seen[a.index]; };
      if (taken[i] || !std::any_of(atoms_of[i].begin(), atoms_of[i].end(), is_met)) continue;
      taken[i] = grows = true;
      terms.each_atom(flat[i], c.seen, c.problem.atoms);
      c.problem.facts.push_back(flat[i]);
      c.define();
    }
  }
  for (size_t i = 0; i < flat.size(); ++i)
    if (!taken[i]) c.problem.others.push_back(std::move(flat[i]));
  return std::move(c.problem);
}

Problem possibility(const Terms& terms, std::span<const Formula> facts) {
  Collector c{terms, {{}, truth(false), {}, {}}};
  for (const Formula& fact : facts) {
    terms.each_atom(fact, c.seen, c.problem.atoms);
    flatten(fact, c.problem.facts);
  }
  c.define();
  return std::move(c.problem);
}

}  // namespace tilec::prove
