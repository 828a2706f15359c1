// Is a tile computed, element by element, of what a variable holds?
#pragma once
#include <functional>
#include <map>

#include "sema/instance.h"

namespace tilec::sema {

// Some: in some elements, or in some runs, as a condition of a statement, a place or the turns of a loop tell.
enum class MadeOf : uint8_t { None, Some, All };

class Ancestry {
 public:
  // `such`: of how much of a tile that is looked for one is made by itself.
  Ancestry(const Instance& in, std::function<MadeOf(ir::ValueId)> such) : in_(in), such_(std::move(such)) {}
  MadeOf of(ir::ValueId tile);

 private:
  MadeOf made(ir::ValueId tile);
  MadeOf by_map(const ir::Op& op, const op::Map& map, size_t result);
  MadeOf by_loop(const op::For& loop, size_t result);
  MadeOf element(ir::ValueId v, std::map<ir::ValueId, MadeOf>& known) const;
  MadeOf element_made(const ir::Op& made, ir::ValueId v, std::map<ir::ValueId, MadeOf>& known) const;

  const Instance& in_;
  std::function<MadeOf(ir::ValueId)> such_;
  std::map<ir::ValueId, MadeOf> known_;
};

// The values one of which a variable holds that holds `v`: what branches have left, and what loops begin with and their turns leave.
std::set<ir::ValueId> held_as(const Instance& in, ir::ValueId v);
// Other tiles whose elements a variable holds as they are, in some of its own: what it held before statements that may have left them.
std::set<ir::ValueId> left_as_they_were(const Instance& in, ir::ValueId held);

// Does an input of a map run along all its axes?
bool runs_along_all(const ir::Axes& axes, size_t rank);

}  // namespace tilec::sema
