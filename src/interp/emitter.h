// Translates one region at a time into a function; shared by the files compile_*.cpp, one per table of operations.
#pragma once
#include "interp/compile.h"

namespace tilec::interp {

constexpr uint32_t kMapLanes = 64;

// One function in the making, and the frames around it.
struct Frame {
  uint32_t function = 0;
  FunctionKind kind = FunctionKind::Host;
  uint32_t width = 1;
  Frame* outer = nullptr;
  std::unordered_map<uint32_t, Location> places;  // by value
  uint32_t mask_depth = 0;
};

class Emitter {
 public:
  Emitter(Program& program, const ir::Kernel& kernel, const CompileOptions& options);
  void compile_host();

 private:
  // Functions and values.
  uint32_t open(FunctionKind kind, uint32_t width, Frame& frame);
  uint32_t compile_function(FunctionKind kind, uint32_t width, ir::RegionId region);
  Function& code() { return program_.functions[frame_->function]; }
  Location make(const ir::Type& type);
  Location define(ir::ValueId v);
  Location find(ir::ValueId v) { return find(*frame_, v); }
  Location find(Frame& frame, ir::ValueId v);
  uint32_t reg(ir::ValueId v) { return find(v).slot; }
  uint32_t peer(ir::ValueId buffer, ir::ValueId block);
  uint32_t view(ir::ValueId v) { return find(v).slot; }
  const ir::Type& type(ir::ValueId v) const { return kernel_.type(v); }
  bool is_uniform(ir::ValueId v) const;
  bool is_last_use(ir::ValueId v) const;
  bool wraps(ir::ValueId v) const;
  Scalar arithmetic_type(ir::ValueId v) const;
  uint32_t scratch(uint32_t count = 1);

  // A loop that changes no memory but by atomics, and what it reads (spin.cpp).
  bool is_watched(const ir::op::While& loop) const;
  std::string read_by(const ir::op::While& loop) const;

  // Instructions.
  Instr& emit(Handler run);
  uint32_t here() { return uint32_t(code().code.size()); }
  void patch(uint32_t at, uint32_t target) { code().code[at].imm = target; }
  void move(Location to, Location from, bool all_lanes, bool takes);
  void move_values(std::span<const Location> to, std::span<const ir::ValueId> from, ir::RegionId region);
  // Sets lanes and spreading for a pure result of these operands.
  void shape_lanes(Instr& i, ir::ValueId result, bool operands_are_uniform);
  void check_uniform(ir::ValueId result, bool operands_are_uniform);
  uint32_t add_data(TileData data);
  uint32_t group_index(std::string_view name);  // of an atom of groups of warps
  std::shared_ptr<const ArrayPlaces> places_of(const std::vector<int64_t>& array, const std::string& layout);
  void note_array(const ArrayPlaces& array);
  void describe_array(TileData& data, const std::vector<int64_t>& array, const std::vector<int64_t>& axes, const std::vector<int64_t>& shape,
                      const std::string& layout);
  GroupArray array_of(const std::vector<int64_t>& shape, const std::string& layout, bool is_transposed);
  RegionAccess access(ir::ValueId buffer, const std::vector<ir::ValueId>& offsets, const std::vector<int64_t>& axes,
                      const std::vector<ir::Bounds>& bounds, std::vector<int64_t> shape, ir::Number pad = {});
  void use_operands(TileData& data, std::span<const ir::ValueId> values);
  std::vector<Location> define_all(const std::vector<ir::ValueId>& values);

  void region(ir::RegionId id);  // its operations but the yield
  void op(ir::OpId id);
  void check_contract();
  void check_extents();
  void check_requirements(bool is_all = false);  // those whose conditions are there, in their order

  // One overload an operation; a missing one does not compile.
#define ANY_OP(table, Kind, ...) void on(const ir::op::Kind& o, const ir::Op& op);
#include "ir/all_ops.def"

  void uniform_if(const ir::op::If& o, const ir::Op& op);
  void masked_if(const ir::op::If& o, const ir::Op& op);
  void reduction(Handler run, const ir::op::Reduce* reduce, const ir::op::Scan* scan, const ir::Op& op);
  TileData copy_data(const ir::op::Copy& o, const ir::Op& op);
  TileData gemm_data(const ir::op::Gemm& o, const ir::Op& op);
  Instr& lane_query(Handler run, const ir::Op& op);
  Instr& exchange(Handler run, ir::ValueId x, const ir::Op& op);
  Instr& memory_access(Handler run, ir::ValueId buffer, ir::ValueId index, ir::ValueId mask);
  uint32_t atom_index(std::string_view name);

  Program& program_;
  const ir::Kernel& kernel_;
  CompileOptions options_;
  Frame* frame_ = nullptr;
  uint32_t op_ = ~0u;               // being translated
  std::vector<int> uses_;           // by value
  std::vector<ir::RegionId> home_;  // of each value: the region that defines it
  ir::RegionId current_;
  std::map<std::pair<std::vector<int64_t>, std::string>, std::shared_ptr<const ArrayPlaces>> arrays_;  // by shape and layout
  bool contract_checked_ = false;
  size_t requirements_checked_ = 0;
};

}  // namespace tilec::interp
