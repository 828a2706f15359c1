#include "prove/problem.h"

namespace tilec::prove {

namespace {

template <class Take> void each_part(const Formula& f, Take&& take) {
  if (f.kind == Formula::Kind::All)
    for (const Formula& part : f.parts) each_part(part, take);
  else if (!f.is_true()) take(f);
}

struct Collector {
  const Terms& terms;
  Problem problem;
  std::vector<bool> seen = {};
  size_t defined = 0;
  // Atoms that a search for one that is seen has come by, by the number of the search.
  std::vector<uint32_t> visited = std::vector<uint32_t>(terms.size());
  uint32_t search = 0;

  void take(const Formula& fact) {
    terms.each_atom(fact, seen, problem.atoms);
    each_part(fact, [&](const Formula& part) { problem.facts.push_back(part); });
  }
  // The definitions of the atoms that came since the last call.
  void define() {
    for (; defined < problem.atoms.size(); ++defined)
      for (const Formula& fact : terms.definition(problem.atoms[defined])) take(fact);
  }

  // Is one of its atoms seen, or one of their definitions?
  bool meets(const Formula& fact) {
    ++search;
    return meets_seen(fact);
  }
  bool meets_seen(const Formula& f) {
    if (f.kind == Formula::Kind::AtLeastZero) return meets_seen(f.linear);
    if (f.kind == Formula::Kind::Flag) return is_seen(f.flag);
    return std::any_of(f.parts.begin(), f.parts.end(), [&](const Formula& part) { return meets_seen(part); });
  }
  bool meets_seen(const Linear& sum) {
    return std::any_of(sum.parts.begin(), sum.parts.end(), [&](const Linear::Part& part) { return is_seen(part.atom); });
  }
  bool is_seen(AtomId id) {
    if (id.index < seen.size() && seen[id.index]) return true;
    if (std::exchange(visited[id.index], search) == search) return false;
    const Atom& atom = terms[id];
    return std::any_of(atom.factors.begin(), atom.factors.end(), [&](AtomId f) { return is_seen(f); }) || meets_seen(atom.a) ||
           meets_seen(atom.b) || (atom.kind == AtomKind::Choice && meets_seen(atom.condition));
  }
};

}  // namespace

Problem connected(const Terms& terms, std::span<const Formula> facts, const Formula& goal) {
  Collector c{terms, {{}, goal, {}, {}}};
  for (const Formula& fact : facts) each_part(fact, [&](const Formula& part) { c.problem.others.push_back(&part); });
  terms.each_atom(goal, c.seen, c.problem.atoms);
  c.define();
  for (bool grows = true; grows;) {
    grows = false;
    for (const Formula*& fact : c.problem.others) {
      if (!fact || !c.meets(*fact)) continue;
      c.take(*std::exchange(fact, nullptr));
      c.define();
      grows = true;
    }
  }
  std::erase(c.problem.others, nullptr);
  return std::move(c.problem);
}

Problem possibility(const Terms& terms, std::span<const Formula* const> facts) {
  Collector c{terms, {{}, truth(false), {}, {}}};
  for (const Formula* fact : facts) c.take(*fact);
  c.define();
  return std::move(c.problem);
}

}  // namespace tilec::prove
