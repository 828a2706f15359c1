#include "prove/question.h"

#include <algorithm>

namespace tilec::prove {

namespace {

// Those of a definition before the defined.
std::vector<AtomId> in_order(const Problem& problem) {
  std::vector<AtomId> atoms = problem.atoms;
  std::sort(atoms.begin(), atoms.end());
  return atoms;
}

// From the atoms of a problem to 0, 1, 2 ..., in the order that they have: what is sorted by them stays sorted.
class Places {
 public:
  Places(const Terms& terms, const Problem& problem) : atoms(in_order(problem)), places_(terms.size()) {
    for (uint32_t place = 0; place < atoms.size(); ++place) places_[atoms[place].index] = place;
  }
  AtomId of(AtomId id) const { return {places_[id.index]}; }

  Linear renamed(Linear sum) const {
    for (Linear::Part& part : sum.parts) part.atom = of(part.atom);
    return sum;
  }
  Formula renamed(Formula f) const {
    f.linear = renamed(std::move(f.linear));
    if (f.kind == Formula::Kind::Flag) f.flag = of(f.flag);
    for (Formula& part : f.parts) part = renamed(std::move(part));
    return f;
  }
  Atom renamed(Atom atom) const {
    atom.a = renamed(std::move(atom.a)), atom.b = renamed(std::move(atom.b));
    atom.times_divisor = renamed(std::move(atom.times_divisor));
    atom.condition = renamed(std::move(atom.condition));
    for (AtomId& factor : atom.factors) factor = of(factor);
    return atom;
  }

  std::vector<AtomId> atoms;

 private:
  std::vector<uint32_t> places_;
};

class Key {
 public:
  Key(const Terms& terms, const Problem& problem) : places_(terms, problem) {
    for (AtomId id : places_.atoms) put(terms[id]);
    for (AtomId id : problem.atoms) put(int64_t(places_.of(id).index));
    for (const Formula& fact : problem.facts) put(fact);
    put(problem.goal);
  }
  std::string take() { return std::move(bytes_); }

 private:
  void put(int64_t x) { bytes_.append(reinterpret_cast<const char*>(&x), sizeof x); }
  void put(const Linear& sum) {
    put(int64_t(sum.parts.size()) * 2 + sum.is_lost);
    put(sum.constant);
    for (const Linear::Part& part : sum.parts) put(int64_t(places_.of(part.atom).index)), put(part.factor);
  }
  void put(const Formula& f) {
    bytes_ += char('0' + int(f.kind) * 2 + f.is_negated);
    if (f.kind == Formula::Kind::AtLeastZero) put(f.linear);
    if (f.kind == Formula::Kind::Flag) put(int64_t(places_.of(f.flag).index));
    for (const Formula& part : f.parts) put(part);
    bytes_ += '.';
  }
  void put(const Atom& atom) {
    bytes_ += char('0' + int(atom.kind));
    put(atom.range.low), put(atom.range.high);
    if (atom.kind == AtomKind::Variable || atom.kind == AtomKind::Flag) return;
    put(atom.a), put(atom.b);
    if (atom.kind == AtomKind::Choice) put(atom.condition);
    for (AtomId factor : atom.factors) put(int64_t(places_.of(factor).index));
  }

  Places places_;
  std::string bytes_;
};

}  // namespace

std::string key_of(const Terms& terms, const Problem& problem) { return Key(terms, problem).take(); }

Model model_of(const Problem& problem, const Example& example) {
  std::vector<AtomId> atoms = in_order(problem);
  Model model;
  for (auto [place, value] : example) model.set(atoms[place], value);
  return model;
}

Question question_of(const Terms& terms, const Problem& problem) {
  Places places(terms, problem);
  Question question;
  for (AtomId id : places.atoms) question.terms.add(places.renamed(terms[id]));
  for (AtomId id : problem.atoms) question.problem.atoms.push_back(places.of(id));
  for (const Formula& fact : problem.facts) question.problem.facts.push_back(places.renamed(fact));
  question.problem.goal = places.renamed(problem.goal);
  return question;
}

}  // namespace tilec::prove
