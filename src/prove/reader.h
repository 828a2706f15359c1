// Values of the IR as sums and conditions.
#pragma once
#include <algorithm>

#include "ir/kernel.h"
#include "prove/lanes.h"
#include "prove/terms.h"

namespace tilec::prove {

// Which execution of a region is meant: everything defined inside `boundary` is told apart in each twin, so that a question
// can be about two blocks or two iterations. Number 0 is the only one where there is no such question.
struct Twin {
  uint32_t number = 0;
  ir::RegionId boundary;
};

constexpr int64_t kLargestExtent = (int64_t(1) << 31) - 1;

// Where the condition of a loop that counts says that its index ends.
std::optional<ir::ValueId> end_of_count(const ir::Kernel& kernel, const ir::op::While& loop, size_t carried = 0);

// What an `int` is read as. Exact: to leave 64 bits is an error, so that no run goes on behind it. Wrapping: a run goes on, with
// any number where the range does not show that the exact one fits.
enum class Integers : uint8_t { Exact, Wrapping };

struct Reading {
  std::span<const int> lanes = {};  // of a warp, on the machines that the kernel is for; none: on any
  Integers integers = Integers::Exact;
};

class Reader {
 public:
  Reader(const ir::Kernel& kernel, const Reading& reading);

  // Narrower integers are followed where they do not wrap.
  Linear value(ir::ValueId v, Twin twin = {});
  Formula condition(ir::ValueId v, Twin twin = {});
  // What a value is in an execution where the caller follows the program's turns; before it is read there.
  // A truth value is 0 or 1.
  void bind(ir::ValueId v, Twin twin, const Linear& number);
  // One a dimension, of memory of any space.
  std::vector<Linear> extents(ir::ValueId buffer, Twin twin = {});

  Terms& terms() { return terms_; }
  const Terms& terms() const { return terms_; }
  const Reading& reading() const { return reading_; }
  const ir::Kernel& kernel() const { return kernel_; }
  const Lanes& lanes() const { return lanes_; }
  Linear lane_count() { return lanes_.count(terms_); }
  // The operation that holds a region and the region where that stands; none for the body.
  struct Place {
    ir::OpId op;
    ir::RegionId region;
  };
  // Where a value is defined, or whose argument it is.
  ir::RegionId region_of(ir::ValueId v) const {
    const ir::Value& value = kernel_.value(v);
    return value.op.valid() ? op_regions_[value.op.index] : value.region;
  }
  // The value that a variable stands for; none for what no value is, such as an extent that nothing names.
  std::optional<ir::ValueId> source(AtomId variable) const {
    auto found = sources_.find(variable);
    return found != sources_.end() ? std::optional(found->second) : std::nullopt;
  }
  Place place_of(ir::RegionId region) const { return parents_[region.index]; }
  // A sum or a condition.
  template <class T> bool depends_on(const T& of, ir::RegionId region) const {
    std::vector<bool> seen;
    std::vector<AtomId> atoms;
    terms_.each_atom(of, seen, atoms);
    return std::any_of(atoms.begin(), atoms.end(), [&](AtomId atom) { return is_inside(atom, region); });
  }

 private:
  void index_regions(ir::RegionId region);
  bool is_inside(ir::ValueId v, ir::RegionId boundary) const;
  bool is_inside(AtomId atom, ir::RegionId boundary) const;
  bool may_differ(ir::ValueId v, ir::RegionId boundary);
  Linear read(ir::ValueId v, Twin twin);
  Linear read_argument(ir::ValueId v, Twin twin);
  Linear read_operation(ir::ValueId v, const ir::Op& op, Twin twin);
  Interval range(ir::ValueId v, Twin twin, int most_steps = 4);
  Linear read_binary(ir::ValueId v, const ir::op::Binary& op, Twin twin);
  Linear read_convert(ir::ValueId v, const ir::op::Convert& op, Twin twin);
  Linear variable(ir::ValueId v, Interval range, bool is_free);
  Linear carried(ir::ValueId v);
  Linear unknown(ir::ValueId v) { return variable(v, type_range(v), false); }
  Formula read_condition(ir::ValueId v, Twin twin);
  Formula any_truth(ir::ValueId v) { return truth_of(v, false); }
  Formula truth_of(ir::ValueId v, bool is_free);  // or of whether there is a tensor
  Formula read_compare(ir::ValueId v, const ir::op::Compare& op, Twin twin);
  bool is_exact(Interval range) const;
  Interval type_range(ir::ValueId v) const;
  Interval thread_range(ir::RegionId region) const;
  ir::ValueId thread_around(ir::RegionId region) const;  // the index of the `simt` that the region stands in

  const ir::Kernel& kernel_;
  Reading reading_;
  Terms terms_;
  Lanes lanes_;
  std::vector<Place> parents_;               // by region
  std::vector<ir::RegionId> op_regions_;     // by operation
  std::unordered_map<AtomId, ir::ValueId> sources_;  // of variables
  std::map<std::pair<ir::ValueId, uint32_t>, Linear> values_;
  std::map<std::pair<ir::ValueId, uint32_t>, Formula> conditions_;
  std::map<std::pair<ir::ValueId, ir::RegionId>, bool> may_differ_;
  int steps_ = 0;  // from the value that was asked for to the one that is being read
};

}  // namespace tilec::prove
