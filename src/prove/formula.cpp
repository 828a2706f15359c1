// Conditions: built simplified, so that constants vanish and nothing is nested needlessly.
#include "prove/terms.h"

namespace tilec::prove {

using Kind = Formula::Kind;

Formula truth(bool value) { return {value ? Kind::True : Kind::False, {}, {}, false, {}}; }

Formula at_least_zero(const Linear& x) {
  if (x.is_constant()) return truth(x.constant >= 0);
  return {Kind::AtLeastZero, tightened(x), {}, false, {}};
}
Formula at_least(const Linear& a, const Linear& b) { return at_least_zero(a - b); }
Formula less(const Linear& a, const Linear& b) { return at_least_zero(b - a - 1); }
Formula equal(const Linear& a, const Linear& b) { return all_of({at_least(a, b), at_least(b, a)}); }
Formula flag(AtomId atom, bool is_negated) { return {Kind::Flag, {}, atom, is_negated, {}}; }

namespace {

// `neutral` parts vanish, one `absorbing` part decides.
Formula joined(std::vector<Formula> parts, Kind kind, Kind neutral, Kind absorbing) {
  Formula result{kind, {}, {}, false, {}};
  for (Formula& part : parts) {
    if (part.kind == absorbing) return {absorbing, {}, {}, false, {}};
    if (part.kind == neutral) continue;
    if (part.kind == kind) std::move(part.parts.begin(), part.parts.end(), std::back_inserter(result.parts));
    else result.parts.push_back(std::move(part));
  }
  if (result.parts.empty()) return {neutral, {}, {}, false, {}};
  if (result.parts.size() > 1) return result;
  Formula only = std::move(result.parts[0]);
  return only;
}

}  // namespace

Formula all_of(std::vector<Formula> parts) { return joined(std::move(parts), Kind::All, Kind::True, Kind::False); }
Formula any_of(std::vector<Formula> parts) { return joined(std::move(parts), Kind::Any, Kind::False, Kind::True); }

std::vector<Formula> cases_of(const Formula& f) {
  constexpr size_t kMost = 4;
  if (f.kind == Kind::Any) return f.parts.size() <= kMost ? f.parts : std::vector<Formula>();
  const auto any = f.kind == Kind::All ? std::ranges::find(f.parts, Kind::Any, &Formula::kind) : f.parts.end();
  if (any == f.parts.end() || any->parts.size() > kMost) return {};
  std::vector<Formula> cases;
  for (const Formula& one : any->parts) cases.push_back(all_of({f, one}));
  return cases;
}

Formula negation(const Formula& f) {
  switch (f.kind) {
    case Kind::True: case Kind::False: return truth(f.is_false());
    case Kind::AtLeastZero: return at_least_zero(-f.linear - 1);
    case Kind::Flag: return flag(f.flag, !f.is_negated);
    case Kind::All: case Kind::Any: break;
  }
  std::vector<Formula> parts;
  for (const Formula& part : f.parts) parts.push_back(negation(part));
  return f.kind == Kind::All ? any_of(std::move(parts)) : all_of(std::move(parts));
}

Formula implication(const Formula& a, const Formula& b) { return any_of({negation(a), b}); }

Formula substitute(const Formula& f, AtomId atom, const Linear& by) {
  if (f.kind == Kind::AtLeastZero) return at_least_zero(substitute(f.linear, atom, by));
  if (f.kind != Kind::All && f.kind != Kind::Any) return f;
  std::vector<Formula> parts;
  for (const Formula& part : f.parts) parts.push_back(substitute(part, atom, by));
  return f.kind == Kind::All ? all_of(std::move(parts)) : any_of(std::move(parts));
}

int leaves(const Formula& f) {
  int count = f.parts.empty();
  for (const Formula& part : f.parts) count += leaves(part);
  return count;
}

void append_key(std::string& key, const Formula& f) {
  key += char('0' + int(f.kind) * 2 + f.is_negated);
  if (f.kind == Kind::AtLeastZero) append_key(key, f.linear);
  if (f.kind == Kind::Flag) append_key(key, Linear(f.flag));
  for (const Formula& part : f.parts) append_key(key, part);
  key += '.';
}

}  // namespace tilec::prove
