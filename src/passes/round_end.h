// The end of a round of a launch whose blocks go on, in Staged form: a loop of products in flight, and the tile that is stored behind it.
#pragma once
#include <set>

#include "passes/flights.h"

namespace tilec::passes {

// By which a schedule speaks of what is stored there; empty: by nothing.
std::string name_of_store(const ir::Kernel& kernel, const ir::op::Store& store);

// Does a schedule mean it by this name? By its label, or by its tensor's name.
bool speaks_of(const ir::Kernel& kernel, const std::string& name, const ir::op::Store& store);

// Is what is stored narrower than its sum? What is stored as it was summed up lies in the sum's registers, which the next round's products are to have.
bool is_rounded(const ir::Type& tile);

class RoundEnd {
 public:
  RoundEnd(ir::Kernel& kernel, const Machine& machine, const Launched& launched, ir::OpId rounds)
      : kernel_(kernel), machine_(machine), launched_(launched), id_(rounds), rounds_(kernel.op(rounds).as<ir::op::For>()) {}

  // Is there a tile that may wait for the next round's products?
  bool find();

 protected:
  std::vector<ir::OpId>& body() { return kernel_.region(rounds_.body).ops; }
  const std::vector<ir::OpId>& body() const { return kernel_.region(rounds_.body).ops; }
  const ir::op::For& loop() const { return kernel_.op(loop_).as<ir::op::For>(); }
  const ir::op::Store& store() const { return kernel_.op(store_).as<ir::op::Store>(); }
  size_t place(ir::OpId id) const { return size_t(std::ranges::find(body(), id) - body().begin()); }
  bool is_of_round(ir::ValueId v) const {
    const ir::Value& value = kernel_.value(v);
    return value.region.valid() ? value.region == rounds_.body : place(value.op) < body().size();
  }
  ir::OpId last_start(ir::RegionId region) const;
  const ir::op::BeginFlight* begin_of(ir::ValueId tile) const;

  ir::Kernel& kernel_;
  const Machine& machine_;
  const Launched& launched_;
  ir::OpId id_;
  ir::op::For rounds_;
  ir::OpId store_, loop_;
  size_t end_ = 0;                     // place behind what ends the loop's products
  std::vector<ir::ValueId> tiles_;     // that these give
  std::string name_;                   // of the store
  std::vector<ir::ValueId> indices_;   // of the block, that the offsets are made of
  int64_t pieces_ = 0;
  ir::Type piece_;

 private:
  bool find_store();
  bool has_vectors(const ir::Param& param) const;
  const ir::Placement* placement() const;
  bool find_loop();
  bool is_alike(ir::ValueId v) const;
  bool find_indices();
  bool find_indices(ir::ValueId v, std::set<ir::ValueId>& seen);
  bool find_pieces();
  int64_t words(const ir::Type& tile) const;
  bool fits() const;
  bool find_end();
};

}  // namespace tilec::passes
