// One question: does `goal` follow from `facts`? The three ways to an answer, dearest last, each in a file of its own.
#pragma once
#include "prove/terms.h"

namespace tilec::prove {

struct Problem {
  std::vector<Formula> facts;  // those connected with the goal, with the definitions of every atom; no All among them
  Formula goal;
  std::vector<AtomId> atoms;   // all of them, those of a definition before the defined
  std::vector<const Formula*> others;  // facts that have nothing to do with the goal; they belong to the asker
};

// Keeps the facts that share an atom with the goal, with its definitions, or with another fact that is kept.
Problem connected(const Terms& terms, std::span<const Formula> facts, const Formula& goal);
// Whether the facts can hold at all: their goal is false.
Problem possibility(const Terms& terms, std::span<const Formula* const> facts);

// search.cpp: sums of facts with positive factors, within `steps`; disjunctions, minimums and choices as they stand, or case by
// case. True: proved. False says nothing.
enum class Cases : uint8_t { Whole, Split };
bool follows(Terms& terms, const Problem& problem, int steps, Cases cases);

// The other way round, as numbers are told apart: facts and the opposite of the goal rule each other out. Equalities are used up, and
// products of one factor are compared. True: proved. False says nothing.
bool is_never_broken(Terms& terms, const Problem& problem, int steps);

// example.cpp: values for which the facts hold and the goal does not, tried near the ends of ranges, within `steps`.
std::optional<Model> counterexample(const Terms& terms, const Problem& problem, int steps);

}  // namespace tilec::prove
