// The state of one lowering, shared by the files of this folder.
#pragma once
#include <numeric>
#include <unordered_map>

#include "layout/lane_copy.h"
#include "layout/matrix_rows.h"
#include "layout/product.h"
#include "layout/transform.h"
#include "layout/widen.h"
#include "lower/barriers.h"
#include "lower/home.h"
#include "lower/simt.h"
#include "machine/machine.h"

namespace tilec::lower {

// The function that a reduction or scan repeats.
ir::BinaryFn step_of(ir::ReduceFn fn);

class Lowering {
  friend class LineScan;

 public:
  Lowering(const Kernel& source, const Machine& machine);
  Kernel run();

 private:
  // --- control (control.cpp)
  void lower_host();
  void lower_launch(const ir::Op& op, const ir::op::Launch& launch);
  void lower_region(RegionId region);  // all but the yield
  void lower_op(OpId id);
  void lower_for(const ir::Op& op, const ir::op::For& loop);
  std::vector<ValueId> carried(const Type& type, const Home& home), arrived(const Type& type, std::span<const ValueId> values);  // (carried.cpp)
  void lower_varying_for(const ir::Op& op, const ir::op::For& loop);
  ValueId turns(const ir::op::For& loop);
  void lower_while(const ir::Op& op, const ir::op::While& loop);
  bool counts_from_above(const ir::op::While& loop) const;
  RegionId lower_while_region(const ir::Op& op, const ir::op::While& loop, RegionId source, std::span<const Home> homes,
                              std::span<const Type> types);
  void bind_carried(std::span<const ValueId> to, std::span<const Home> homes, std::span<const ValueId> values);
  void lower_if(const ir::Op& op, const ir::op::If& branch), lower_varying_if(const ir::Op& op, const ir::op::If& branch);

  // --- scalars (scalar.cpp)
  void lower_scalar(const ir::Op& op);
  ValueId scalar(ValueId source) const;  // its lowered value
  std::vector<ValueId> scalars(const std::vector<ValueId>& sources) const;
  ValueId broadcast(ValueId v), alike(ValueId v);  // the same number in every lane; of one that is, which the lanes do not tell
  // Carried by a loop, and not known to be the same for all threads.
  bool differs(ValueId carried) const { return in_lanes_ && !(uniform_ && !uniform_->is_divergent(carried)); }
  void bind(ValueId source, ValueId lowered) { scalars_[source.index] = lowered; }

  // --- homes (home.cpp)
  Home new_home(const Type& tile);
  const Home& home(ValueId tile) const;
  void bind_home(ValueId tile, Home home);
  ValueId read(const Home& home, const Point& point);
  void write(Home& home, const Point& point, ValueId value);
  ValueId register_at(const Home& home, ValueId index);
  void set_register(Home& home, ValueId index, ValueId value);
  void copy_home(const Home& from, Home& to);
  // The home that `result` may take: that of one of the operands that dies here and has its layout, or a new one.
  Home result_home(const ir::Op& op, ValueId result, std::span<const ValueId> reusable);
  bool dies_at(ValueId value, const ir::Op& op) const;
  void release_dead(const ir::Op& op);
  ValueId private_array(Scalar element, int64_t count, bool varying);
  bool is_uniform(const layout::RegLayout& layout) const;
  bool fits_registers(const Type& tile) const;
  int64_t unroll_limit(const Home& home) const;
  std::vector<Digit> digits(const layout::RegLayout& layout) const;
  const layout::RegLayout& reg_layout(layout::LayoutId id) const { return source_.layouts.reg(id); }

  // --- the warps that run (warps.cpp)
  ValueId warp_index();          // among those of the role, or of the block
  ValueId thread_index(), is_first_lane();  // likewise
  void barrier(std::string why);  // of the same warps; `why`: for people
  ValueId vote(ir::VoteKind how, ValueId x, std::string why);  // the same, at which each lane hears of all lanes' `x`
  bool is_for_block() const;
  bool is_written(ValueId buffer) const;
  void once(const std::function<void()>& emit);  // by the first warp alone
  ValueId scratch(Scalar element, int64_t count, std::string name);  // shared memory for one exchange

  // --- roles (roles.cpp)
  int64_t warps_of_block(const ir::op::Launch& launch) const;
  void lower_roles(const ir::op::Roles& roles);
  void lower_program(RegionId body);
  void lower_for_engine(RegionId body, const std::set<ValueId>& conditions);
  bool only_fills(RegionId body) const;
  int64_t threads_with(const std::function<bool(const ir::Op&)>& wanted) const;
  int64_t consuming_threads(ValueId ring) const;
  int64_t filling_threads(ValueId ring) const;

  // --- blocks dealt to roles (deal.cpp)
  std::optional<Deal> new_deal(RegionId launch);
  void begin_phases(const Deal& deal);
  bool is_dealt(const ir::op::For& loop) const;
  ValueId next_block(ValueId round);
  std::vector<ValueId> add_dealt_loop(const ir::op::For& loop, const std::vector<Type>& types, ValueId round);
  // --- turns of groups of warps (orders.cpp)
  ValueId group_of(const Order& order);
  Order new_order(const ir::Op& op);
  void begin_phases(const Order& order);
  void lower_take_turn(const ir::op::TakeTurn& take);
  void lower_pass_turn(const ir::op::PassTurn& pass);
  // --- rings (rings.cpp)
  Slot slot_of(ValueId ring, ValueId turn);
  const ir::op::Commit& commit_of(ValueId token) const;
  Ring new_ring(const ir::Op& op);
  void begin_phases(const Ring& ring);
  void begin_rings(std::span<const OpId> allocs);
  bool is_fresh() const;
  void lower_acquire(const ir::op::Acquire& acquire);
  void lower_copy_async(const ir::Op& op, const ir::op::CopyAsync& copy);
  std::vector<ir::op::CopyAsync> copies_of(ValueId ring) const;  // of one turn
  bool is_read_by_lanes(ValueId buffer) const;
  // Emits what is done for a ring that an engine fills, for one that lanes fill, or both.
  void by_filler(const Ring& ring, const std::function<void()>& engine, const std::function<void()>& lanes);
  void copy_boxes(const ir::op::CopyAsync& copy, const ir::op::Commit& commit);
  void copy_region(const ir::op::CopyAsync& copy, const Slot& slot, const ir::Ints& region, const ir::Ints& part, std::vector<ValueId> from,
                   std::vector<ValueId> to, ValueId peers);
  // --- blocks of a cluster (cluster.cpp)
  int64_t blocks_of_cluster() const;
  int64_t blocks_in_step() const { return blocks_of_cluster() / split_; }  // those that have the same turns of a loop that is split
  ValueId runs_as_cluster();  // do all blocks of this one's cluster run at once?
  // This block among those of its cluster that differ from it along `axes` alone, numbered as they are; or along all others.
  ValueId block_along(const ir::Ints& axes, bool along_others, bool densely);
  void by_cluster(ValueId together, const std::function<void()>& cluster, const std::function<void()>& alone);
  void end_clusters(RegionId source);  // of rings that it makes: nobody leaves while others may reach for its memory
  std::vector<int64_t> blocks_that_share(const ir::Ints& axes) const;  // as block_along numbers them, from the one that is 0 elsewhere
  void add_together(const ir::op::Store& store, const Region& region);
  ValueId place_in_rows(const layout::RegLayout& layout, const layout::Shape& shape, const Point& point, ValueId first_row);
  Home sums_of_peers(ValueId memory, const layout::Shape& shape, const layout::RegLayout& part, int vector, ValueId first_row, const ir::Ints& axes);
  // --- sums of tiles of a cluster (cluster_sum.cpp)
  std::vector<const ClusterSums*> new_sums();  // of the launch, unless they are known
  void begin_sums();                           // where no rings begin before any warp goes on
  void begin_phases(const ClusterSums& sums);
  void meet_for_sums(bool only_phases);
  void lower_cluster_sum(const ir::Op& op, const ir::op::ClusterSum& sum);
  void end_sums(RegionId source);
  void tell_blocks(const ClusterSums& sums, ValueId phases, const ir::Ints& axes);
  ValueId row_address(const RowPlaces& places, const layout::RegLayout& layout, int64_t register_index, ValueId first_row);
  void leave_tile(const ClusterSums& sums, const Home& from, const layout::RegLayout& layout, const layout::MemLayout& memory);
  Carried rows_of(const RowPlaces& places, const ClusterSums& sums, const layout::RegLayout& layout, ValueId first, std::span<const ValueId> blocks);
  Home add_up(const ClusterSums& sums, const ir::Op& op, const ir::op::ClusterSum& sum, const layout::MemLayout& memory);
  void copy_boxes_together(const ir::op::CopyAsync& copy, const Slot& slot, const ir::Ints& part, size_t axis);
  // --- regions as an engine moves them (boxes.cpp)
  ValueId boxes_hold(std::span<const ValueId> tensors);
  // Emits what an engine does where `holds`, and what lanes do elsewhere.
  void by_engine(ValueId holds, const std::function<void()>& engine, const std::function<void()>& lanes);
  ir::Ints box_shape(const ir::Ints& region, const Type& tile) const;
  std::vector<ValueId> stepped(std::vector<ValueId> offsets, const ir::Axes& axes, const ir::Ints& by);
  static void each_box(const ir::Ints& region, const ir::Ints& box, const std::function<void(const ir::Ints&, const ir::Ints&)>& emit);
  bool has_flights() const;  // products that an engine runs
  void copy_by_lanes(const ir::op::CopyAsync& copy, const ir::op::Commit& commit);
  void lower_commit(const ir::op::Commit& commit), lower_wait(const ir::op::Wait& wait);
  void lower_release(const ir::op::Release& release);
  bool lower_releases(const ir::op::If& branch);  // false where there is more in it

  // --- places and addresses (access.cpp)
  ValueId lane_part(const layout::RegLayout& layout, int axis);  // none when lanes and warps add nothing
  ValueId map_index(const layout::RegLayout& layout, const Point& point, int axis);
  ValueId linear(std::span<const int> columns, ValueId index);   // XOR of the columns of the bits of `index`
  ValueId extent(ValueId buffer, int axis);
  ValueId stride(ValueId buffer, int axis);
  ValueId address(ValueId buffer, std::span<const Coordinate> coordinates);
  ValueId shared_address(const layout::MemLayout& layout, std::span<const Coordinate> coordinates);
  ValueId separable_address(const layout::MemLayout& layout, std::span<const ValueId> coordinates);
  std::vector<Coordinate> region_coordinates(const Region& region, const layout::RegLayout& layout, const Point& point);
  ValueId region_mask(const Region& region, const layout::RegLayout& layout, std::span<const Coordinate> coordinates,
                      const Point& point, bool check_bounds);
  // A dimension that the region has one index of is not clipped: an index outside is reported.
  void report_indices(const Region& region, Span span);
  ValueId tile_mask(const layout::RegLayout& layout, const Point& point);  // none when the layout covers no more than the tile
  ValueId is_inside(const Guard& guard);  // none when it always is
  ValueId load_element(ValueId buffer, ValueId index, ValueId mask, ir::Number pad);
  void store_element(ValueId buffer, ValueId index, ValueId value, ValueId mask);
  int64_t lane_stride(ValueId index) const;
  bool is_varying(ValueId v) const { return v.valid() && target_.type(v).varying; }  // none does not vary
  // Not negative, and so small that sums and products of a few of them are not either: what a caller passes may be any number.
  bool is_nonnegative(ValueId v) const;
  bool is_below(ValueId v, int64_t limit) const;
  bool is_multiple(ValueId v, int64_t unit) const;
  // Values may be shared: each is looked at once for each property.
  enum class Property : uint8_t { Nonnegative, Below, Multiple, LaneStride };
  int64_t known(Property property, ValueId v, int64_t number = 0) const;
  bool derive_nonnegative(ValueId v) const;
  bool derive_below(ValueId v, int64_t limit) const;
  bool derive_multiple(ValueId v, int64_t unit) const;
  int64_t derive_lane_stride(ValueId index) const;
  ValueId all(ValueId a, ValueId b);  // conjunction, either may be none
  // Emits the code twice, for where all regions lie inside their buffers (and `also` holds), and for elsewhere, when `guarded_`
  // holds.
  Carried inside_or_guarded(std::span<const Guard> guards, const std::function<Carried()>& emit, ValueId also = {});
  Carried either(ValueId condition, const std::function<Carried()>& holds, const std::function<Carried()>& other);  // none: it holds

  // Where the registers of a tile lie when it is (part of) a tile of shared memory: what the lane contributes, and a number
  // for each register that is added or flipped in. None where registers and lanes do not separate. (tile_address.cpp)
  struct TileAddress {
    struct Step {
      int64_t flips = 0, adds = 0;  // flips bits of the lane's part first
    };
    ValueId lane, rest;        // `rest`: what offsets outside the tile's axes add, if anything
    std::vector<Step> steps;   // by register
    std::vector<int64_t> offsets = {};  // of the tile in its root
    int vector = 1;            // so many consecutive registers are consecutive, aligned addresses
  };
  std::optional<TileAddress> tile_address(const Region& region, const layout::RegLayout& layout);
  struct Places;
  static std::optional<std::vector<TileAddress::Step>> register_steps(const Places& places);
  int register_vector(const Places& places, Scalar element) const;
  // The steps and the vector alone: tiles of one layout meet memory of one layout in the same way, however many there are.
  std::optional<TileAddress> meeting(layout::LayoutId memory, const layout::RegLayout& layout, std::span<const int64_t> offsets, Scalar element) const;
  ValueId step_address(const TileAddress& address, int64_t register_index);
  // Registers that instructions which deal rows to lanes can fill. (tile_address.cpp)
  std::optional<layout::MatrixRows> matrix_access(const Region& region, const layout::RegLayout& layout, Cap cap);
  void load_matrices(const Region& region, const layout::MatrixRows& load, Home& home, Scalar element);
  bool load_registers(const Region& region, const layout::RegLayout& layout, Home& home, Scalar element, ir::Number pad);
  void store_matrices(const Region& region, const layout::MatrixRows& store, const Home& home);
  bool store_registers(const Region& region, const layout::RegLayout& layout, const Home& home);
  ValueId load_vector(ValueId buffer, ValueId index, ValueId mask, int count, bool streams = false);
  Point point_at(const layout::RegLayout& layout, int64_t register_index);

  // --- tile operations, one file each
  void lower_tile(const ir::Op& op);
  void lower_load(const ir::Op& op, const ir::op::Load& load), lower_store(const ir::Op& op, const ir::op::Store& store);
  void lower_copy(const ir::Op& op, const ir::op::Copy& copy), copy_by_threads(const ir::Op& op, const ir::op::Copy& copy);
  void copy_elements(const Region& from, const Region& to, const layout::Shape& shape, ir::Number pad, bool adds = false);
  // --- by the engine (store.cpp)
  void store_tile(const Region& region, const ir::Ints& shape, const layout::RegLayout& layout, const Home& from, bool adds);
  ValueId rows_end_on_units(ValueId buffer);
  void store_by_engine(const ir::Op& op, const ir::op::Copy& copy);
  void store_boxes(const ir::op::Copy& copy, const ir::Ints& region, const std::vector<ValueId>& first, const std::vector<ValueId>& target);
  bool is_piece(const ir::op::Copy& copy) const;
  std::pair<Region, Region> own_rows(const ir::op::Copy& copy, int64_t rows);  // this warp's: from, to
  void send_own_rows(const ir::op::Copy& copy, int64_t rows), copy_own_rows(const ir::Op& op, const ir::op::Copy& copy, int64_t rows), await_own_rows(const ir::op::Store& store, int64_t rows);
  void await_all_own_rows(RegionId body);
  int most_bytes(Scalar element, bool adds) const;
  void add_element(ValueId buffer, ValueId index, ValueId value, ValueId mask);
  void lower_splat(const ir::Op& op, const ir::op::Splat& splat), lower_map(const ir::Op& op, const ir::op::Map& map);
  Carried map_elements(const ir::Op& op, const ir::op::Map& map, const layout::RegLayout& layout, std::span<const Home> inputs, std::span<Home> outputs);
  ValueId scales(const Home& factor, const Home& scaled, const Home& result);
  layout::RegLayout map_layout(const ir::Op& op, const ir::op::Map& map, std::span<const ir::ValueId> whole);
  Carried map_element(const ir::op::Map& map, const layout::RegLayout& layout, std::span<const Home> inputs, const Point& point);

  // --- wide accesses of device memory (wide.cpp)
  struct Wide {
    int count = 1;      // elements of a lane
    ValueId condition;  // under which they may be moved at once
  };
  // A copy between device memory and a shared tile, spread so that lanes move several elements at once.
  struct WideCopy {
    int count = 1;       // at once, of device memory
    int near_count = 1;  // and of the shared tile
    ValueId condition;
    layout::LaneCopy lanes = {};
    bool is_straight() const { return near_count >= count && std::ranges::is_sorted(lanes.turned); }
  };
  static Region rising(Region region);  // its axes in the order in which they rise
  // Is each element of this buffer read once, by this operation? (streams.cpp)
  bool is_read_once(const ir::Op& op, ValueId buffer, std::span<const ValueId> offsets) const;
  WideCopy wide_copy(const Region& from, const Region& to, const layout::Shape& shape, bool adds = false);
  void copy_wide(const Region& from, const Region& to, const WideCopy& at_once, bool adds, bool streams);
  void begin_wide(const Region& from, const Region& to, const WideCopy& at_once);  // the same, in flight
  ValueId begins_at_multiples(ValueId buffer, int64_t count);
  bool has_rows_of_multiples(const Region& region, int64_t count);  // of this very call's extents, whatever they are
  ValueId ends_on_multiples(const Region& region, int64_t count);  // none: it does
  Wide wide(const Region& region, const layout::RegLayout& layout, int most_bytes);
  // How the registers are dealt anew for wider accesses, which `at_once` then is; none where they are as wide as they get.
  std::optional<layout::Widening> wider(const Region& region, const layout::RegLayout& layout, Wide& at_once, int most_bytes);
  // --- registers dealt anew within a warp (exchange.cpp)
  ValueId packed_word(std::span<const ValueId> elements);
  std::vector<ValueId> unpacked_word(ValueId word, int64_t count, Scalar element);
  ValueId part_of_word(ValueId word, int64_t part, Scalar element);
  using Elements = std::function<ValueId(int64_t)>;  // by register
  Elements exchanged(const layout::Widening& dealt, std::span<const ValueId> registers, Scalar element);
  void trade(const layout::Widening& dealt, std::span<const int> kept, std::span<const ValueId> registers, Scalar element, size_t word, std::vector<ValueId>& words);
  void load_wide(const Region& region, const layout::RegLayout& layout, int count, Scalar element, ir::Number pad, Home& home, bool streams);
  void store_wide(const Region& region, const layout::RegLayout& layout, int count, const Elements& element, bool adds);

  // --- what the next block reads (prefetch.cpp)
  void find_repeated_loads(RegionId launch);
  ValueId next_block_distance(ValueId loaded);
  void prefetch(ValueId buffer, std::vector<Coordinate> coordinates, ValueId distance);

  // --- tiles computed where they are read (deferred.cpp)
  bool may_defer(const ir::Op& op, int most_reads) const;
  bool may_defer_map(const ir::Op& op, const ir::op::Map& map) const;
  void defer_map(const ir::Op& op, const ir::op::Map& map, std::vector<Home> inputs);
  unsigned unrolled_axes(const Home& home) const;  // as of Deferred
  unsigned unrolled_axes(const ir::op::Map& map, std::span<const Home> inputs) const;
  std::vector<Guard> guards(const Home& home) const;
  std::vector<Guard> guards(std::span<const Home> homes) const;

  void lower_gemm(const ir::Op& op, const ir::op::Gemm& gemm);
  void lower_outer_product(const ir::Op& op, const ir::op::Gemm& gemm, const MatrixAtom& atom);
  void lower_reduce(const ir::Op& op, const ir::op::Reduce& reduce), lower_vote_tile(const ir::Op& op, const ir::op::VoteTile& vote);
  void lower_scan(const ir::Op& op, const ir::op::Scan& scan);
  void lower_convert_layout(const ir::Op& op, const ir::op::ConvertLayout& convert);
  void lower_reshape(const ir::Op& op, const ir::op::Reshape& reshape);
  void rename(const ir::Op& op, ValueId x);
  // Parts of tiles in the lanes that hold them (part.cpp).
  void lower_extract(const ir::Op& op, const ir::op::Extract& extract);
  void lower_insert(const ir::Op& op, const ir::op::Insert& insert);
  std::vector<ValueId> part_digits(std::span<const ValueId> offsets, const ir::Axes& axes, const layout::RegLayout& tile,
                                   const layout::RegLayout& part, const Point& point);
  bool selects_part(std::span<const ValueId> offsets, const layout::RegLayout& tile, const layout::RegLayout& part);
  void lower_alloc(const ir::Op& op, const ir::op::Alloc& alloc);
  void lower_warp_product(const ir::Op& op, const ir::op::Gemm& gemm, const MatrixAtom& atom);
  Home operand_registers(const ir::op::Gemm& gemm, const MatrixAtom& atom, layout::Side side, const layout::RegLayout& layout);
  // --- products of groups of warps, in flight (group_product.cpp)
  struct GroupOperand {
    ValueId memory;                        // an array of shared memory
    int follows_axis = 0, size = 0;        // its axis that steps with the accumulator's blocks, and by how much
    std::vector<int> origins = {};         // of the groups along it
    const layout::MemLayout* layout = nullptr;
    std::vector<int64_t> shape = {};
    std::string text = {};                 // the layout's
    std::vector<ValueId> offsets = {};     // of this group's block 0
    ValueId first = {};                    // its place
  };
  const MatrixAtom& atom_named(std::string_view name) const;
  GroupOperand group_operand(ValueId buffer, bool is_transposed, layout::Side side, const layout::Division& blocks, const MatrixAtom& atom);
  ValueId block_place(const GroupOperand& operand, int block, int depth);
  std::map<std::pair<int, int>, ValueId> operand_vectors(const ir::op::GemmAsync& gemm, const MatrixAtom& atom, layout::Side side, const layout::RegLayout& accumulator);
  std::vector<ValueId> begin_flights(ValueId tile, const MatrixAtom& atom);
  void lower_begin_flight(const ir::Op& op, const ir::op::BeginFlight& begin);
  void lower_gemm_async(const ir::Op& op, const ir::op::GemmAsync& gemm);
  void lower_await_gemm(const ir::Op& op, const ir::op::AwaitGemm& await);
  void convert_through_memory(const layout::RegLayout& source, const layout::RegLayout& target, const Home& from, Home& to, Scalar element);
  bool turn_matrices(const layout::RegLayout& source, const layout::RegLayout& target, const Home& from, Home& to, Scalar element);
  bool convert_within_warps(const layout::RegLayout& source, const layout::RegLayout& target, const Home& from, Home& to);
  std::pair<ValueId, int64_t> warp_along(const layout::RegLayout& layout, int axis, std::span<const int> warp_bits);
  void reduce_through_memory(const ir::op::Reduce& reduce, const layout::RegLayout& layout, const std::vector<ValueId>& partial,
                             const std::function<void(int64_t, ValueId)>& done);
  enum class Touch { Store, Atomic };
  ValueId owner_mask(const layout::RegLayout& layout, Touch touch = Touch::Store);
  bool is_under_product(const ir::Op& op) const;
  ValueId reduce_lanes(const layout::RegLayout& layout, int axis, ir::ReduceFn fn, ValueId value);
  Carried multiply_block(const ir::op::Gemm& gemm, const MatrixAtom& atom, const layout::RegLayout& layout,
                         std::span<const Point> points, int64_t depth, Carried registers);
  ValueId scalar_buffer(ValueId buffer) const;  // the memory that a buffer or a view of it names
  // --- thread-level code (simt.cpp)
  void split_region(RegionId region);
  void split_for(const ir::Op& op, const ir::op::For& loop);
  void split_while(const ir::Op& op, const ir::op::While& loop);
  void split_if(const ir::Op& op, const ir::op::If& branch);
  void lower_part(const std::vector<OpId>& part);
  void lower_local(const ir::Op& op);
  void run_threads(const std::function<void(ValueId warp)>& body);
  ValueId thread_array(ValueId source);
  ValueId read_thread_array(ValueId source, ValueId warp);
  void write_thread_array(ValueId source, ValueId warp, ValueId value);
  void move_thread_values(const std::vector<std::pair<ValueId, ValueId>>& from_to);
  void lower_varying_while(const ir::Op& op, const ir::op::While& loop);
  void lower_simt(const ir::Op& op, const ir::op::Simt& simt);

  const Kernel& source_;
  Kernel target_;
  const Machine& machine_;
  Builder builder_;
  std::unordered_map<uint32_t, ValueId> scalars_;  // scalars and buffers
  std::unordered_map<uint32_t, Home> homes_;
  std::unordered_map<uint32_t, layout::MemLayout> mem_layouts_;  // of lowered buffers with a layout
  std::unordered_map<uint32_t, Ring> rings_;
  std::unordered_map<uint32_t, Order> orders_;
  std::unordered_map<uint32_t, ClusterSums> sums_;
  std::optional<Deal> deal_;
  bool takes_blocks_ = false;  // the role that is being lowered
  ValueId releases_if_;              // a condition that slots are given back under; none: always
  std::set<ValueId> held_, broken_;  // conditions of engines that are known to hold, or not to, in what is being lowered
  std::vector<RegionId> region_of_, home_region_;  // in which each operation of the source lies, and each value is defined
  std::vector<std::vector<OpId>> uses_;            // of each source value
  std::multimap<std::tuple<Scalar, int64_t, bool>, ValueId> free_arrays_;
  std::vector<ValueId> carried_arrays_;            // by the loops around: what lives in one and dies leaves it to the loop
  int64_t warps_ = 1;                              // that run what is being lowered: of the block, or of a role
  int64_t first_warp_ = 0;                         // of the role
  int64_t barrier_id_ = 0;                         // of the role; 0: the whole block meets
  ir::Ints cluster_;                               // of the launch
  int64_t split_ = 1;                              // its last axis, where turns are split
  std::vector<ValueId> block_;                     // its indices
  RegionId source_launch_;                         // the body of the launch, in the source
  RegionId launch_;                                // the body of the launch
  RegionId prelude_;                               // allocations and lane parts, at the head of the launch
  mutable std::map<std::string, std::optional<TileAddress>> meetings_;  // by the layouts, the offsets and the element
  std::map<std::pair<std::string, int64_t>, ValueId> lane_parts_;  // by what they are, and the first warp
  std::map<std::pair<uint32_t, int64_t>, ValueId> alignments_;     // of the launch's buffers, by elements
  std::set<uint32_t> repeated_loads_;              // results, of the launch: they read what it has read before
  ValueId next_block_;                             // the index of the launch that steps first
  std::set<uint32_t> signed_args_;                 // lowered region arguments that may be negative
  mutable std::map<std::tuple<Property, uint32_t, int64_t>, int64_t> known_;  // of lowered values
  Threads* threads_ = nullptr;                     // inside a simt region that is split
  const Uniformity* uniform_ = nullptr;            // inside a simt region that runs as it stands
  bool guarded_ = false;                           // in the code for regions that cross an edge
  bool in_lanes_ = false;                          // inside a map or simt body: scalars may differ from lane to lane
  ValueId owners_;                                 // inside a map that writes: the lanes that do, one for each element; none: all
  ValueId mask_;                                   // lanes that run, inside if-converted code; none: all
};

}  // namespace tilec::lower
