// The analysis behind check_padding: states of tiles and of shared buffers, followed through a launch in its order.
#pragma once
#include <array>
#include <functional>

#include "diag/sink.h"
#include "passes/map_numbers.h"
#include "passes/padding_state.h"

namespace tilec::passes {

class PaddingFlow {
 public:
  PaddingFlow(const ir::Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics)
      : kernel_(kernel), diagnostics_(diagnostics), prover_(prover) {}
  void run(ir::RegionId region);

 private:
  using Buffers = std::map<ir::ValueId, TileState>;
  using LinearList = std::vector<prove::Linear>;

  // A loop's states at the start of its turns, as its last visit left them, and how often they grew so far.
  struct Settled {
    std::vector<TileState> carried;
    Buffers buffers;
    int rounds = 0;
  };
  using Turn = std::function<std::vector<TileState>(const std::vector<TileState>& carried)>;

  void run(const ir::Op& op);
  void repeat(std::span<const ir::ValueId> inits, std::span<const ir::RegionId> parts, const Turn& turn);
  void run_for(const ir::op::For& op, const ir::Op& at);
  void run_while(const ir::op::While& op, const ir::Op& at);
  void run_if(const ir::op::If& op, const ir::Op& at);
  void run_map(const ir::op::Map& op, const ir::Op& at);
  void run_gemm(const ir::op::Gemm& op, const ir::Op& at);
  void run_reduce(const ir::op::Reduce& op, const ir::Op& at);
  void run_scan(const ir::op::Scan& op, const ir::Op& at);
  void run_copy(const ir::op::Copy& op, const ir::Op& at);
  void run_shape(const ir::Op& op);  // permute, reshape, insert, extract
  void taint_writes(ir::RegionId region);

  unsigned padded_inputs(const ir::op::Map& op, int64_t axis, AxisPadding& common);
  MapResults map_results(const ir::op::Map& op, int64_t axis, unsigned padded, const std::optional<Edge>& edge);
  Numbers outside_result(const ir::op::Map& op, int64_t axis, unsigned padded, const MapResults& results, size_t r);
  void check_divisors(const ir::op::Map& op, unsigned padded, const NumbersOf& known);
  TileState reshaped(ir::ValueId from, ir::ValueId to) const;

  // The state of a tile, of a buffer, or of a view of one.
  TileState state(ir::ValueId v) const;
  TileState read(ir::ValueId buffer, std::span<const ir::ValueId> offsets, const ir::Axes& axes, const ir::BoundsList& bounds,
                 ir::Number pad, const ir::ReadNote& note);
  void write(const TileState& part, ir::ValueId buffer, std::span<const ir::ValueId> offsets, const ir::Axes& axes,
             std::span<const int64_t> shape);
  std::vector<TileState> states(std::span<const ir::ValueId> values) const;
  void hold(std::span<const ir::ValueId> names, const std::vector<TileState>& all);
  Numbers scalar(ir::ValueId v) const { return scalar_numbers(kernel_, v, scalars_); }
  Scalar element(ir::ValueId v) const { return kernel_.type(v).element; }
  LinearList values(std::span<const ir::ValueId> offsets);
  std::string padded_name(ir::ValueId tile) const;
  void report(const AxisPadding& axis, ir::ValueId tile, std::string_view where, std::string_view identity, const ir::Op& at);
  void advise(Report report, const AxisPadding& axis, const std::string& name, const std::string& wanted, const ir::Op& at,
              bool is_named);
  void join_buffers(const Buffers& other);

  const ir::Kernel& kernel_;
  Diagnostics& diagnostics_;
  prove::Prover& prover_;
  std::map<ir::ValueId, TileState> tiles_;
  NumbersOf scalars_;  // results of reductions of whole tiles
  NumbersOf first_values_;  // of what loops carry: what it holds before the first turn
  Buffers buffers_;    // shared ones that have been written
  std::map<ir::RegionId, Settled> settled_;  // by the first region of a loop
  std::set<Span> reported_;
  ir::RegionId region_;      // whose operation is looked at
};

}  // namespace tilec::passes
