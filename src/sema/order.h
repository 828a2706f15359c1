// Operands are values from the moment that they are evaluated. Memory is read late, where it is used, as most expressions write
// nothing; where one does, what was evaluated before it is read in front of it after all.
#pragma once
#include "sema/elementwise.h"

namespace tilec::sema {

// A point between the operations of a region.
struct Moment {
  ir::RegionId region;
  ir::OpId last;  // the operation in front of it; none: the region begins there
  size_t writes;  // of the builder, by then
};
Moment now(const Instance& in);
bool has_written_since(const Instance& in, const Moment& moment);
// Makes of an operand that was evaluated before `moment` what it was then: an element, or a tile in memory, is read there.
void hold(Instance& in, Operand& operand, const Moment& moment);

}  // namespace tilec::sema
