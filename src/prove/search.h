// The search for proofs by sums: what is known, and what is left to try. search.cpp has conditions and equalities, sums.cpp the sums,
// absurd.cpp proofs by contradiction.
#pragma once
#include "prove/problem.h"
#include "prove/rules.h"

namespace tilec::prove {

enum class Replaced : uint8_t { Variables, Quotients };
// Whose products are split into cases first: what stands in equalities that have been used, or what is left.
enum class Order : uint8_t { LeftFirst, EqualitiesFirst };

class Search {
 public:
  Search(Terms& terms, int steps, Order order = Order::LeftFirst) : terms_(terms), steps_(steps), order_(order) {}

  void assume(const Formula& f);
  bool proves(const Formula& goal, int splits);
  void reduce_alternatives();
  Formula use_equalities(Formula goal, Replaced kinds = Replaced::Variables);
  bool is_absurd(int splits);

 private:
  bool proves_any(const Formula& goal, int splits);
  AtomId replaceable(const Linear& zero, AtomKind kind);
  Formula replaced(Formula goal, AtomId atom, const Linear& by);
  bool unite_definitions();
  bool is_absurd_by_cases();
  std::string key_of_definition(AtomId atom);
  bool is_known(const Formula& goal) const;
  bool is_of_choice(const Formula& f) const;
  Linear rewritten(const Linear& sum, AtomId atom, const Linear& by);
  Formula rewritten(Formula f, AtomId atom, const Linear& by);
  bool contradicts(int most_steps = kStepsForAlternative);
  bool proves_sum(const Linear& goal, int splits);
  bool case_holds(const Linear& goal, AtomId atom, const Linear& by, const Formula& condition, int splits);
  void add_products(const Linear& goal);
  template <class Push> void reduce_quotient(const Linear& goal, const Linear::Part& part, Push&& push);
  struct Products {
    std::vector<AtomId> all;
    std::map<AtomId, bool> positive, never_negative;  // what was found of factors
  };
  template <class Push> void use_products(const Linear& goal, Products& known, Push&& push);
  bool cancels(const Linear& start);
  bool is_positive(const Linear& x);
  bool is_at_least(const Linear& x, int64_t least);
  void unite_equals();
  void order_quotients();
  void order_minimums();
  void bound_quotients();
  bool is_asked(const Linear& distance) const;
  std::optional<ProductPair> pair_of_equality(const std::vector<std::pair<AtomId, Linear>>& factors);
  std::vector<AtomId> products() const;
  std::optional<Linear> product_without_sign(const std::vector<AtomId>& factors);
  std::optional<ProductPair> pair_of_products();
  void multiply_facts();

  using Kind = Formula::Kind;
  static constexpr int kStepsForAlternative = 15, kStepsForAbsurdity = 40, kStepsForSign = 30;

  Terms& terms_;
  int steps_;
  int cases_ = 3;  // that may still be told apart one in another
  Order order_;
  bool is_inside_ = false;      // a proof for another proof: it starts no further ones
  bool widens_ = true;          // puts greater products for products: not where products are compared, which there are too many of
  bool is_impossible_ = false;  // facts that rule each other out were met
  std::vector<Linear> inequalities_;
  std::vector<Formula> flags_, alternatives_;
  std::vector<std::pair<Linear, bool>> signs_;  // of divisors, by what is known
  std::vector<std::pair<AtomId, Linear>> replacements_;  // atoms that stand in no fact any more, in order
  std::vector<Linear> asked_;   // distances of factors that were split into cases
};

}  // namespace tilec::prove
