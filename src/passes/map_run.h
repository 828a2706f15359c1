// A run of a map's body on what is known of numbers, with what they have to do with padding.
#pragma once
#include <array>

#include "passes/map_numbers.h"

namespace tilec::passes {

inline const Keeps kSilent = [](const Assignment&) { return Keeping::Old; };
inline const Noting kNothing;

struct MapRun {
  const Decider& decider;
  const ir::Kernel& kernel;
  NumbersOf known;
  MarksOf marks_of;
  const Keeps& keeps;
  const Noting& noting;
  std::array<std::map<ir::ValueId, ir::ValueId>, 2> same = {};  // by belief: another value that holds the same
  std::set<ir::ValueId> other_numbers = {};  // of those, what was left as it is, but may hold another number
  std::map<ir::OpId, bool>* effects = nullptr;
  std::set<ir::OpId> unsure = {};
  std::set<ir::RegionId> turned = {};
  Marks path = {};            // of the conditions around
  ir::RegionId body = {};     // of the map
  bool is_tested = false;     // does one of them hang on the place alone?
  std::set<ir::ValueId> carried = {};  // what loops of the body carry, and leave

  Known of(ir::ValueId v) { return scalar_numbers(kernel, v, known); }
  Marks marks(ir::ValueId v) const;
  Taint taint(ir::ValueId v) const { return marks(v).taint; }
  void equate(ir::ValueId v, ir::ValueId to);
  ir::ValueId first_of(ir::ValueId v, Belief belief, const std::set<ir::ValueId>& but = {}) const;
  bool is_same_number(ir::ValueId a, ir::ValueId b, Belief belief) const { return first_of(a, belief, other_numbers) == first_of(b, belief, other_numbers); }

  // Which side is taken, and whether the place alone decides that. What always holds of an element, wherever it lies, is no place's doing.
  struct Decision {
    bool side;
    Taint taint;
    bool is_by_place;
  };
  // What padding chooses is padding.
  std::optional<Decision> decided(ir::ValueId condition, ir::RegionId region);
  // What numbers decide, and no place, has to do with both sides.
  bool takes_one(const Decision& decision, ir::ValueId condition, ir::RegionId region);
  struct Yielded {
    std::vector<Known> numbers;
    std::vector<Marks> marks;
    std::vector<ir::ValueId> values;
  };

  Yielded region(ir::RegionId id);
  void note_effect(ir::OpId id, const ir::Op& op);
  // Places and numbers alone tell nothing.
  static Marks with_element(const Marks& all, const Marks& of) { return of.is_of_element || of.taint != Taint::Clean ? most(all, of) : all; }
  // What is not run where padding decides is not done there either.
  void note_untaken(ir::RegionId code);

  // What the loop carries, and has to do with padding in some turns and not in others. Has any been found?
  bool note_late(const ir::Op& op);
  // What a loop carries may be any number, and has to do with what a turn makes it of. Does that grow?
  bool enter(const ir::Op& op, ir::RegionId part, bool is_first);
  void run_turns(const ir::Op& op);
  // Beside what is run: nothing is asked or noted there.
  MapRun apart() const { return {decider, kernel, known, marks_of, kSilent, kNothing, same, other_numbers}; }
  bool has_turn(const ir::Op& op, ir::RegionId at) const;
  // What is left: what it began with, or what a turn has made of it, as its ends or its condition say.
  std::vector<Marks> left_by(const ir::op::For& loop, bool has_turn);
  std::vector<Marks> left_by(const ir::op::While& loop, bool has_turn) const;
  void run_loop(ir::OpId id, const ir::Op& op, ir::RegionId at);

  void run(const ir::Op& op, ir::RegionId id);
  // An operand that the others leave as it is. What the program has set beside padding counts, so that it is left as it is indeed.
  void note_same(const ir::Op& op);
  // What is assigned to where this is asked.
  uint32_t variable_of(ir::OpId inside, ir::ValueId old) const;  // which variable it is: what it holds may be another's
  uint32_t held_under(ir::OpId inside, ir::ValueId old) const;
  void run_assignment(const ir::op::Select& choice, ir::OpId inside, ir::ValueId by, ir::ValueId v);
  static void take_up(Marks& marks, uint32_t variable);
  void assign(const ir::op::Select& choice, ir::OpId inside, ir::ValueId by, ir::ValueId v);
  void run_select(const ir::op::Select& select, const ir::Op& op, ir::RegionId id);
  // Where it is not known what it is, it is one number or another along the axis.
  static bool is_by_some_place(const Marks& condition) { return !condition.is_of_element || (condition.made != Made::Free && condition.made != Made::Data); }
  // What the place chooses beside padding is set.
  static Taint beside(const Marks& chosen, const Marks& either);
  // Whatever the place chooses, it is the same; so is the number that elements choose.
  void is_either(ir::ValueId v, ir::ValueId side, ir::ValueId other, const Marks& condition, Marks& of);
  // What code would give that is not run.
  Yielded untaken(ir::RegionId code) const;
  static Marks tested(Marks test, Taint taint);
  void run_branch(const ir::op::If& branch, const ir::Op& op, ir::RegionId at);
};

}  // namespace tilec::passes
