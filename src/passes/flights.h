// What the passes that put matrix products in flight ask about a launch.
#pragma once
#include <map>

#include "ir/kernel.h"
#include "machine/machine.h"

namespace tilec::passes {

// The tile on its way.
ir::Type in_flight(ir::Type tile);
// The same product, started.
ir::op::GemmAsync started(const ir::op::Gemm& gemm);

class Launched {
 public:
  Launched(const ir::Kernel& kernel, const Machine& machine, ir::RegionId body);
  const Machine& machine() const { return machine_; }

  ir::RegionId body() const { return body_; }
  // The atom of a product that a group of warps runs beside its threads; null: it is none.
  const MatrixAtom* group_atom(ir::OpId id) const;
  // The ring that hands the buffer from the copies that fill it to its readers, or none.
  ir::ValueId ring_of(ir::ValueId buffer) const;
  bool is_written_in(ir::RegionId region, ir::ValueId buffer) const;
  // What splits the launch into roles; invalid: nothing.
  ir::OpId roles() const { return roles_; }
  // The warps of the role whose program holds a region; 0: it stands in none.
  int64_t warps_of_role(ir::RegionId region) const;

 private:
  const ir::Kernel& kernel_;
  const Machine& machine_;
  ir::RegionId body_;
  ir::OpId roles_;
  std::map<ir::ValueId, ir::ValueId> ring_of_;
};

// The pipeline that the ring stands for in the schedule, or null.
ir::Pipeline* pipeline_of(ir::Kernel& kernel, ir::ValueId ring);
// Of the operations of the region itself: those that fill the ring, alone or under conditions.
std::vector<ir::OpId> fills_of(const ir::Kernel& kernel, ir::RegionId region, ir::ValueId ring);

}  // namespace tilec::passes
