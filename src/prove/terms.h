// The integers and conditions that questions are made of.
//
// An atom is an integer that is not a sum of others: a variable of the program, a quotient, a product, a minimum, a choice,
// or a truth value (0 or 1). Atoms with a definition are interned by it, so that equal integers have equal sums.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "prove/linear.h"

namespace tilec::prove {

// A condition in negation normal form.
struct Formula {
  enum class Kind : uint8_t { True, False, AtLeastZero, Flag, All, Any };
  Kind kind = Kind::True;
  Linear linear;            // AtLeastZero: linear >= 0
  AtomId flag;              // Flag: that truth value, or
  bool is_negated = false;  // its negation
  std::vector<Formula> parts;
  bool is_true() const { return kind == Kind::True; }
  bool is_false() const { return kind == Kind::False; }
  friend bool operator==(const Formula&, const Formula&) = default;
};

Formula truth(bool value);
Formula at_least_zero(const Linear& x);
Formula at_least(const Linear& a, const Linear& b);
Formula less(const Linear& a, const Linear& b);
Formula equal(const Linear& a, const Linear& b);
Formula flag(AtomId atom, bool is_negated = false);
Formula all_of(std::vector<Formula> parts);
Formula any_of(std::vector<Formula> parts);
Formula negation(const Formula& f);
// In each of these cases it holds, and in no other: those of its first disjunction. None where it has none, or one of many parts.
std::vector<Formula> cases_of(const Formula& f);
Formula implication(const Formula& a, const Formula& b);
// The condition with `atom` replaced in its sums.
Formula substitute(const Formula& f, AtomId atom, const Linear& by);
void append_key(std::string& key, const Formula& f);
// How many sums and truth values it is made of.
int leaves(const Formula& f);

enum class AtomKind : uint8_t { Variable, Flag, Product, Quotient, Least, Choice };

struct Atom {
  AtomKind kind = AtomKind::Variable;
  // Variable, Flag: every value that the range and the facts allow occurs in some run. Not so for what memory or a loop gives.
  bool is_free = false;
  std::string name;             // Variable, Flag
  Interval range;
  Linear a, b;                  // Quotient: floor(a / b); Least: of both; Choice: a where `condition`, else b
  Linear times_divisor;         // Quotient: the atom times b
  Formula condition;
  std::vector<AtomId> factors;  // Product: two or more
  int depth = 0;                // of definitions behind definitions
};

// Values of variables and flags.
class Model {
 public:
  // Null: none.
  const int64_t* find(AtomId id) const { return id.index < values_.size() && values_[id.index] ? &*values_[id.index] : nullptr; }
  void set(AtomId id, int64_t value) {
    if (id.index >= values_.size()) values_.resize(id.index + 1);
    values_[id.index] = value;
    derived.clear();
  }
  void clear(AtomId id) {
    values_[id.index].reset();
    derived.clear();
  }
  mutable std::unordered_map<uint32_t, std::optional<int64_t>> derived;  // what deep definitions come to under these
  // Those of `other` that there are none of here.
  void add(const Model& other) {
    for (uint32_t i = 0; i < other.values_.size(); ++i)
      if (other.values_[i] && !find({i})) set({i}, *other.values_[i]);
  }
  // In the order of the atoms.
  template <class F> void each(F&& f) const {
    for (uint32_t i = 0; i < values_.size(); ++i)
      if (values_[i]) f(AtomId{i}, *values_[i]);
  }

 private:
  std::vector<std::optional<int64_t>> values_;  // by atom
};

class Terms {
 public:
  AtomId variable(std::string name, Interval range, bool is_free);
  AtomId truth_value(std::string name, bool is_free);
  // One of other terms, in whose place its definition already speaks of these.
  AtomId add(Atom atom);

  Linear product(const Linear& a, const Linear& b);
  Linear quotient(const Linear& a, const Linear& b);   // toward minus infinity; by zero: some integer
  Linear remainder(const Linear& a, const Linear& b);  // a - b * quotient
  Linear masked(const Linear& a, int64_t mask);        // a & mask; lost where the mask has many runs of ones
  Linear least(const Linear& a, const Linear& b);
  Linear greatest(const Linear& a, const Linear& b);
  Linear choice(const Formula& condition, const Linear& a, const Linear& b);
  Formula choice(const Formula& condition, const Formula& a, const Formula& b);

  const Atom& operator[](AtomId id) const { return atoms_[id.index]; }
  size_t size() const { return atoms_.size(); }
  Interval range(const Linear& sum) const;
  // Is the range's lower end zero or more? Asked often, and mostly decided by one atom without a bound.
  bool is_never_negative(const Linear& sum) const;
  // The sum with `atom` replaced, inside products as well.
  Linear rewritten(const Linear& sum, AtomId atom, const Linear& by);
  // What the definition of an atom says of it, beside its range.
  std::vector<Formula> definition(AtomId id) const;
  // Calls f for every atom of the formula and of the definitions behind it, each once.
  void each_atom(const Formula& formula, std::vector<bool>& seen, std::vector<AtomId>& out) const;
  void each_atom(const Linear& sum, std::vector<bool>& seen, std::vector<AtomId>& out) const;

  // Nothing where a quotient is by zero, a number leaves 64 bits or a variable has no value.
  std::optional<int64_t> evaluate(const Linear& sum, const Model& model) const;
  // The sum without the part that is a multiple of `left_out`.
  std::optional<int64_t> evaluate_without(AtomId left_out, const Linear& sum, const Model& model) const;
  std::optional<bool> evaluate(const Formula& formula, const Model& model) const;

 private:
  AtomId intern(Atom atom);
  int depth(const Linear& sum) const;
  int depth(const Formula& f) const;
  int depth(const Atom& atom) const;
  Linear defined(Atom atom);
  Linear monomial(std::vector<AtomId> factors);
  Linear divided(const Linear& a, const Linear& b, Interval range);
  std::optional<int64_t> evaluate(AtomId id, const Model& model) const;
  std::optional<int64_t> derive(AtomId id, const Model& model) const;

  std::deque<Atom> atoms_;  // they stay where they are while others come
  std::unordered_map<std::string, AtomId> ids_;
};

}  // namespace tilec::prove
