// The door of the prover: what is known at a place of a Typed kernel, and what follows from it.
//
//   Prover prover(kernel);
//   Answer a = prover.prove(prover.facts(region), less(prover.value(index), prover.extents(buffer)[0]));
//
// The kernel may get other attributes while the prover lives, but no other operations.
#pragma once
#include "prove/question.h"
#include "prove/reader.h"
#include "prove/solver.h"

namespace tilec::prove {

// Known at a place: the contracts of the caller, the conditions of the enclosing `if`s, the bounds of indices.
struct Facts {
  std::vector<Formula> formulas;
  // Every value that they allow does come by. Not so under a condition that hangs on memory.
  bool is_exact = true;
  Facts with(Formula more) const;
  Facts with(const Facts& more) const;
};

enum class Verdict : uint8_t { Proved, Refuted, Unknown };

struct NamedValue {
  std::string name;
  int64_t value;
};

struct Answer {
  Verdict verdict = Verdict::Unknown;
  Model model;   // Refuted: values that every fact allows and that break the goal
  Model others;  // and values of what has nothing to do with it
  bool is_proved() const { return verdict == Verdict::Proved; }
  bool is_refuted() const { return verdict == Verdict::Refuted; }
};

// Sums: of facts alone, no example is looked for. A glance tries no more than what most proofs need. Quick answers never start
// the solver.
enum class Effort : uint8_t { Sums, Glance, Quick, Full };

class Prover {
 public:
  // `memory` holds what provers of other kernels found, and gets what this one finds.
  explicit Prover(const ir::Kernel& kernel, Memory* memory = nullptr, const Reading& reading = {})
      : reader_(kernel, reading), memory_(memory) {}

  Linear value(ir::ValueId v, Twin twin = {}) { return reader_.value(v, twin); }
  Formula condition(ir::ValueId v, Twin twin = {}) { return reader_.condition(v, twin); }
  std::vector<Linear> extents(ir::ValueId buffer, Twin twin = {}) { return reader_.extents(buffer, twin); }
  Terms& terms() { return reader_.terms(); }
  const Terms& terms() const { return reader_.terms(); }
  // A further execution of `boundary`.
  Twin new_twin(ir::RegionId boundary) { return {++twins_, boundary}; }

  const Facts& facts(ir::RegionId region, Twin twin = {});
  // For who follows the turns of loops: what a value is in an execution that nothing was asked of yet, and that this
  // execution comes to a region for reasons that the caller has.
  void bind(ir::ValueId v, Twin twin, const Linear& number) { reader_.bind(v, twin, number); }
  void enter(ir::RegionId region, Twin twin);
  // Is it about nothing but variables that take every value of their range?
  bool is_free(const Formula& formula) const;
  Answer prove(const Facts& facts, const Formula& goal, Effort effort = Effort::Full);
  // For who does nothing with a refutation, and does not ask about places that are never reached: it takes less time.
  bool proves(const Facts& facts, const Formula& goal, Effort effort = Effort::Full);

  // The program's variables in a counterexample, in the order of their first mention.
  std::vector<NamedValue> named(const Model& model) const;
  std::optional<int64_t> evaluate(const Linear& sum, const Model& model) const { return reader_.terms().evaluate(sum, model); }
  Linear lane_count() { return reader_.lane_count(); }
  // Of a warp in an example, where it hangs on them and not all machines have as many.
  std::optional<int64_t> lanes(const Model& model) const { return reader_.lanes().count(model); }
  // The operation whose region it is, and the region where that stands.
  ir::OpId holder(ir::RegionId region) const { return reader_.place_of(region).op; }
  ir::RegionId around(ir::RegionId region) const { return reader_.place_of(region).region; }
  // The value that a variable stands for, and whether operations of the region may read it, had they a place behind its definition.
  std::optional<ir::ValueId> source(AtomId variable) const { return reader_.source(variable); }
  bool is_seen_from(ir::RegionId region, AtomId variable) const;
  // Does it hang on something that is defined inside the region?
  bool depends_on(const Linear& sum, ir::RegionId region) const { return reader_.depends_on(sum, region); }
  bool depends_on(const Formula& condition, ir::RegionId region) const { return reader_.depends_on(condition, region); }

  Memory* memory() const { return memory_; }
  const Reading& reading() const { return reader_.reading(); }
  int solver_questions() const { return solver_questions_; }

 private:
  Facts own_facts(ir::RegionId region, Twin twin);
  std::optional<Linear> step_of_turns(const ir::op::While& loop, size_t carried, Twin twin);
  void add_turn(Facts& facts, const ir::op::While& loop, ir::RegionId region, Twin twin);
  void add_contract(Facts& facts);
  enum class Wanted : uint8_t { Proof, ProofOrExample };
  Answer answer(const Facts& facts, const Formula& goal, Effort effort, Wanted wanted);
  Answer decide(const Facts& facts, const Problem& problem, Effort effort, Wanted wanted);
  Finding finding(const Problem& problem, Effort effort);
  Finding answer_to(Question question, Effort effort);
  Finding search_for(Question& question, Effort effort);
  Answer broken(const Facts& facts, const Problem& problem, Model model);
  bool is_free(const Problem& problem) const;

  Reader reader_;
  Memory* memory_;
  Solver solver_;
  uint32_t twins_ = 0;
  int solver_questions_ = 0;
  std::map<std::pair<ir::RegionId, uint32_t>, Facts> facts_;
  std::unordered_map<std::string, Answer> answers_;
};

// "N = 1, i = 0"
std::string text_of(std::span<const NamedValue> values);

}  // namespace tilec::prove
