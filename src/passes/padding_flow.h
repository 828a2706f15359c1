// The analysis behind check_padding: states of tiles and of shared buffers, followed through a launch in its order.
#pragma once
#include <array>
#include <functional>

#include "diag/sink.h"
#include "passes/map_numbers.h"
#include "passes/padding_masks.h"
#include "passes/padding_turns.h"

namespace tilec::passes {

// Is it made of elements of memory?
bool is_of_elements(const ir::Kernel& kernel, ir::ValueId index);

class PaddingFlow {
 public:
  // `seen`: assignments that may not leave something else where nobody is thought to look.
  PaddingFlow(const ir::Kernel& kernel, prove::Prover& prover, Diagnostics& diagnostics, const std::set<ir::OpId>& seen)
      : kernel_(kernel), diagnostics_(diagnostics), prover_(prover), masks_(prover), seen_(seen) {}
  void run(ir::RegionId region);
  void tell();  // of what is refused
  const Masks& masks() const { return masks_; }
  // With those that were found to be looked at.
  const std::set<ir::OpId>& seen() const { return seen_; }

 private:
  using Buffers = std::map<ir::ValueId, TileState>;
  using LinearList = std::vector<prove::Linear>;

  // A loop's states at the start of its turns, as its last visit left them, and how often they grew so far.
  struct Settled {
    std::vector<TileState> carried;
    Buffers buffers;
    int rounds = 0, visits = 0;
  };
  using Turn = std::function<std::vector<TileState>(const std::vector<TileState>& carried)>;

  void run(const ir::Op& op);
  std::vector<TileState> repeat(std::span<const ir::ValueId> inits, std::span<const ir::RegionId> parts, const std::optional<Counting>& counting, const Turn& turn);
  void begin_turns(std::vector<TileState>& carried, const std::optional<Counting>& counting, const Settled& settled);
  void note_first_turn(const TileState& first, const TileState& left, ir::RegionId loop, TileState& next);
  TileState behind(const TileState& first, const TileState& turned, const prove::Formula& has_none);
  void run_for(const ir::op::For& op, const ir::Op& at);
  void run_while(const ir::op::While& op, const ir::Op& at);
  void run_if(const ir::op::If& op, const ir::Op& at);
  void run_map(const ir::op::Map& op, const ir::Op& at);
  void run_gemm(const ir::op::Gemm& op, const ir::Op& at);
  bool enter_reduction(const ir::op::Reduce& reduce, int64_t along, const ir::Op& at);
  void run_reduce(const ir::op::Reduce& op, const ir::Op& at);
  void run_scan(const ir::op::Scan& op, const ir::Op& at);
  TileState copied(const ir::op::Copy& op, const ir::Op& at);
  bool sweeps(const ir::op::For& loop, std::span<const prove::Linear> offsets, std::span<const int64_t> sizes, std::span<const int64_t> shape);
  void sweep(const ir::op::For& loop, std::span<TileState> turned);
  void sweep_buffers(const ir::op::For& loop);
  void run_shape(const ir::Op& op);  // permute, reshape, insert, extract
  void taint_writes(ir::RegionId region);
  void run_simt(ir::RegionId body);
  void pad_somewhere(ir::ValueId buffer, const AxisPadding& padding);
  ir::ValueId root_of(ir::ValueId buffer) const;

  // What the body of a map computes of: an element of an input, or of a shared tile that is padded, read by its place.
  struct MapInput {
    ir::ValueId tile, element;
    ir::Axes axes;                  // of the map, along which those of the tile run, the one behind all others too
    TileState state;  // of the tile; of a shared one what its elements are, along all axes of the map
    bool has_own_place = false;  // its place hangs on something within the body
    std::optional<Edges> at_place = {};  // beyond these, against 0, it is padding there; none: it is not known where
    bool is_by_turn = false;  // loops of the body tell the place, its coordinates do not
    std::map<int64_t, size_t> beside = {};  // along these axes of the map, data of that input, and what variables have kept
  };
  // Sets of inputs have a bit for each of so many; where a later one is padded, it is not known what comes of that.
  static constexpr size_t kMostInputs = 32, kMostGroups = 5;
  static bool is_in(unsigned inputs, size_t i) { return i < kMostInputs && (inputs >> i & 1); }
  std::vector<MapInput> inputs_of(const ir::op::Map& map);
  void take_asides(const ir::op::Map& map, std::vector<MapInput>& all);
  void take_aside(MapInput& input, size_t a, const Aside& aside, const AxisPadding& held, size_t of);
  TileState part(const TileState& of, std::span<const prove::Linear> offsets, const ir::Axes& axes) const;
  void drop_inside(AxisPadding& whole, ir::RegionId region) const;
  prove::Linear coordinate(const ir::op::Map& map, int64_t axis) const;
  // Read at a place of its own, what is free beyond an edge is no element either.
  static void is_no_element(AxisPadding& axis);
  std::optional<size_t> seen_along(const ir::op::Map& map, const prove::Linear& index, AxisPadding& axis);
  MapInput read_by_place(const ir::op::Map& map, const ir::Op& at, ir::RegionId region);
  // Inputs of a map that are padded along one of its axes, beyond the same edges.
  struct Group {
    Edges edges;
    bool is_filled = true;
    unsigned inputs = 0;
    const AxisPadding* sample = nullptr;  // of one of them
    bool is_by_turn = false;  // it is padding in some turns of the body's loops, each where it is read
  };
  // What comes of one result of a map where some groups are padding and the others are not. None: it has to do with none of them.
  struct Outcome {
    unsigned groups = 0;
    enum class Kind : uint8_t { None, Data, Maybe, Free, Set, Padding } kind = Kind::None;
    Known numbers;
    std::set<ir::OpId> lapsed;
    uint32_t kept = 0, data = 0;  // what it is made of, as marks have it
    bool is_placed = false;      // of the place, too
    bool stands = false, may_stand = false;  // of places and numbers alone
    bool is_assigned = false;    // to a variable, of what that held: it is that variable's then
    bool is_mixed = false, is_told = false;  // told: some of it the program has set
    bool is_late = false;  // a loop may have left something else
    bool may_take_up = false, is_unsure = false;  // of mixed: some are free; these have become data
    bool is_left_out() const { return kind >= Kind::Free; }
    bool counts() const { return kind == Kind::Data || kind == Kind::Maybe || is_unsure; }
    // Of what variables have kept, and of data of one input at most.
    bool is_aside() const { return kind != Kind::None && kind <= Kind::Free && kept && !(data & (data - 1)); }
  };
  struct MapAxis {
    int64_t axis;
    std::span<const Group> groups;
    std::vector<unsigned> sets;
    std::map<ir::OpId, std::vector<unsigned>> met = {};     // effects, and the sets that have to do with them
    std::map<ir::OpId, std::vector<unsigned>> masked = {};  // effects, and the sets where they are not made
    unsigned inputs(unsigned set) const;  // of a set of groups
  };
  std::vector<Group> grouped(int64_t axis) const;
  std::vector<unsigned> possible_sets(std::span<const Group> groups);
  bool is_beyond(const Edges& inner, const Edges& outer);
  Made made_there(const AxisPadding& along, const prove::Formula* places) const;
  Marks marks_along(size_t input, int64_t axis, bool is_outside, const prove::Formula* places = nullptr, unsigned padded = 0, unsigned but = 0) const;
  static uint32_t bit_of(size_t input) { return uint32_t(1) << std::min<size_t>(input, kMostInputs - 1); }
  prove::Formula all_uniform(unsigned inputs, int64_t axis) const;
  Known padded_at(const AxisPadding& along, const prove::Formula& places, bool is_beside) const;
  Known plain_at(const AxisPadding& along, const prove::Formula& places) const;
  prove::Formula runs_of(int64_t axis, const prove::Formula& places, std::vector<prove::Formula> unless, unsigned but) const;
  MapResults map_results(const ir::op::Map& op, const MapAxis& axis, unsigned set, bool is_free = false, const std::map<size_t, const Plain*>* plain = nullptr, unsigned but = 0);
  std::vector<Plain> plain_of(const ir::op::Map& op, const MapAxis& axis, size_t r);
  Known met_there(size_t input, int64_t axis, std::span<const Group> groups, unsigned set, const Known& otherwise);
  bool reads_along(size_t input, size_t input_axis, int64_t axis) const { return inputs_[input].axes[input_axis] == axis; }
  static Outcome::Kind kind_of(const Marks& marks);
  bool counts_without(const ir::op::Map& map, const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r, unsigned uniform);
  Outcome outcome_of(const ir::op::Map& op, const MapAxis& axis, unsigned set, const MapResults& results, size_t r);
  Made made_inside(const ir::op::Map& op, int64_t axis, size_t r);
  const AxisPadding* padding_along(size_t input, int64_t axis) const;  // of an input that is padded along an axis of the map
  bool is_asked_for(size_t input, const MapAxis& axis, unsigned set, const Assignment& made) const;
  struct Met {
    std::vector<const Group*> groups;  // along the axis
    std::optional<Edges> kept;         // beyond these, what it is made of was kept
    std::vector<const Group*> beside;  // others that it is made of, and that are padded in the set
    Edges at_place;                    // against 0, where the assignment stands
    std::optional<size_t> first;  // an input of theirs, one of which it is not known where it is padding, if there is any
    bool is_asked = true, is_known = true;
    std::set<ir::ValueId> elements;  // of inputs that are met
    prove::Formula unless = prove::truth(false);  // in these runs all of that counts
  };
  Met met_by(const MapAxis& axis, unsigned set, const Assignment& made);
  Edges masked_by(Met& met, const MapAxis& axis, const Assignment& made, const Edges& padding);
  prove::Formula inside_along(const Group& group, const ir::op::Map& map, int64_t axis) const;
  Edges held_padding(const MapAxis& axis, unsigned set, const Assignment& made) const;
  bool has_own_place_along(size_t input, int64_t axis) const;
  bool is_carried(const Assignment& made) const;
  ir::OpId asked_in(const ir::Op& made) const;
  std::function<bool(ir::OpId)> kept_here() const { return [this](ir::OpId inside) { return kept_.contains(inside); }; }
  void refuse_fresh(AxisPadding padding, ir::ValueId tile, ir::OpId inside);
  bool is_of_turn(const Met& met) const;
  Keeping noted(const Assignment& made, Keeping keeping);
  std::function<void()> noting();
  static Edges edges_of(const Met& met);
  bool is_fresh(ir::ValueId number, const Edges& edges, const std::function<bool(ir::ValueId)>& is_padding) const;
  static bool is_by_turn(const MapAxis& axis, unsigned set);
  Keeping refuse_partial(const MapAxis& axis, unsigned set, std::string_view where);
  Keeping refuse_unless_same(const MapAxis& axis, unsigned set, const Assignment& made);
  Keeping keeps(const MapAxis& axis, unsigned set, const Assignment& made);
  bool may_lapse(const Edges& edges) const;
  bool counts_in(const prove::Formula& runs, int64_t axis, ir::ValueId old);
  bool is_of_iteration(const MapAxis& axis, const Assignment& made) const;
  bool is_padding_itself(const MapAxis& axis, unsigned set, const Assignment& made) const;
  std::set<ir::ValueId> in_turn(ir::ValueId v) const;
  void refuse(const AxisPadding& padding, size_t input, const Assignment& made);
  void refuse(const AxisPadding& padding, ir::ValueId tile, ir::ValueId next, ir::ValueId old, bool is_direct);
  void note_stores(const ir::op::Map& map, const MapAxis& axis, const MapResults& results, std::map<ir::ValueId, AxisPadding>& stored) const;
  void see(const AxisPadding& axis) { seen_.insert(axis.lapsed.begin(), axis.lapsed.end()); }
  std::map<ir::ValueId, std::vector<AxisPadding>> left_free(const ir::op::Map& map);
  void store_elements(const ir::op::Map& map, const std::map<ir::ValueId, AxisPadding>& stored);
  bool hides_corner(const TileState& result, size_t axis);
  Edges beyond_both(const Edges& a, const Edges& b);
  Group region_of(const MapAxis& axis, const std::vector<Outcome>& outcomes);
  void note_first_turn(const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r, AxisPadding& result);
  Runs when_free(int64_t axis, size_t r) const;
  void note_others(const ir::op::Map& map, const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r, unsigned uniform, bool is_one, AxisPadding& result);
  void note_uniform(const ir::op::Map& map, const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r, AxisPadding& result);
  void note_asides(const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r, AxisPadding& result);
  std::optional<Edges> edges_aside(const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t of);
  AxisPadding standing(const ir::op::Map& map, const MapAxis& axis, std::vector<Outcome> outcomes, size_t r);
  bool may_be_of_places(const ir::op::Map& map, int64_t axis, size_t r) const;
  std::optional<Apart> apart_in(const MapAxis& axis, std::span<const unsigned> sets);
  void warn_of_effects(const MapAxis& axis);
  AxisPadding padding_of(const ir::op::Map& op, const MapAxis& axis, const std::vector<Outcome>& outcomes, size_t r);
  void mask_guards(const ir::op::Map& op, const MapAxis& axis, unsigned set, const MapResults& results);
  void see_effects(const ir::op::Map& map, const MapAxis& axis, unsigned set, const MapResults& results);
  bool has_one_place(const Group& group, int64_t axis) const;
  void mask_effects(const ir::op::Map& map, MapAxis& axis, unsigned set, const MapResults& results);
  using LeftOut = std::function<std::optional<bool>(const MapResults&)>;
  std::optional<prove::Formula> counts_when(const ir::op::Map& map, const MapAxis& axis, unsigned set, const LeftOut& left_out);
  Known corner_of(const ir::op::Map& op, size_t r);
  void note_corner(const ir::op::Map& map, size_t r, bool counts, TileState& state);
  std::set<ir::ValueId> sources_of(ir::ValueId v, const std::function<bool(ir::OpId)>& is_kept = {}, std::set<ir::ValueId> seen = {}, bool is_assigned = false) const;
  bool is_made_of(ir::ValueId v, ir::ValueId source) const { return sources_of(v).contains(source); }
  void look_at(const ir::op::Map& op, const ir::Op& at);
  void find_stores(const ir::op::Map& op);
  MapResults with_stores(MapResults results) const;
  void refuse_all(const ir::op::Map& op, const MapAxis& axis);
  std::vector<ir::ValueId> turned(ir::ValueId argument) const;
  bool adds_something(const ir::op::Gemm& gemm, int axis, const AxisPadding& from) const;
  void keep_product(const ir::op::Gemm& gemm, int axis, const AxisPadding& from, const ir::Op& at);
  static void join_free(AxisPadding& out, const AxisPadding& from, const AxisPadding& old);
  AxisPadding both_free(const AxisPadding& old, const AxisPadding& from, const Known& anything);
  AxisPadding places_left(const AxisPadding& old, const Known& inside, const AxisPadding& from);
  AxisPadding product_axis(const ir::op::Gemm& gemm, const TileState& acc, int axis, const AxisPadding& from, const ir::Op& at);

  // Of numbers of a block (padding_numbers.cpp).
  TileState number(ir::ValueId v) const;
  const AxisPadding* padded_number(ir::ValueId v) const;  // none where it is no padding
  void hold_number(ir::ValueId v, TileState state);
  void run_number(const ir::Op& at);
  TileState whole_at(const ir::op::ElementLoad& load, ir::RegionId region);
  void combine_numbers(const ir::Op& at);
  void keep_number(const ir::op::Select& choice, ir::OpId asked, ir::ValueId result);
  bool leaves_number(ir::ValueId next, ir::ValueId old, Belief belief) const;
  bool asks_for_number(const ir::op::Inside& inside, ir::ValueId old) const;
  void leave_alone(const ir::Op& at);

  // Padding that meets an operation along an axis, and what would change nothing there.
  struct Entry {
    ir::ValueId tile;
    size_t operand = 0;  // which of the operation's it is
    int64_t axis = 0;
    const AxisPadding& padding;
    ir::Number identity;
    std::string_view where, wanted;
    bool is_meant = false;  // as far as one may hope, it changes nothing
    bool is_told = false;   // some of it are numbers that the program has set, and these change something
  };
  // Masks it, or tells why not. False: it was told of.
  bool keep_out(const Entry& entry, const ir::Op& at);
  bool is_refused(const Entry& entry) const;
  bool has_place(const AxisPadding& axis) const;  // is it known where it lies, where a mask would stand?
  void enter_whole(const ir::op::Gemm& gemm, const TileState& a, const TileState& b, const TileState& acc, const ir::Op& at, TileState& result);
  void enter_product(const ir::op::Gemm& gemm, const TileState& a, const TileState& b, const ir::Op& at);

  // The state of a tile, of a buffer, or of a view of one.
  TileState state(ir::ValueId v) const;
  Known inside(ir::ValueId v) const;  // of that
  TileState read(ir::ValueId buffer, std::span<const ir::ValueId> offsets, const ir::Axes& axes, const ir::BoundsList& bounds,
                 ir::Number pad, const ir::ReadNote& note);
  void write(const TileState& part, ir::ValueId buffer, std::span<const ir::ValueId> offsets, const ir::Axes& axes,
             std::span<const int64_t> shape);
  std::vector<TileState> states(std::span<const ir::ValueId> values) const;
  void hold(std::span<const ir::ValueId> names, const std::vector<TileState>& all);
  Known scalar(ir::ValueId v) const { return scalar_numbers(kernel_, v, scalars_); }
  Scalar element(ir::ValueId v) const { return kernel_.type(v).element; }
  LinearList values(std::span<const ir::ValueId> offsets);
  std::string padded_name(ir::ValueId tile) const;
  struct Told {
    AxisPadding axis;
    ir::ValueId tile;
    std::string where, identity;
    const ir::Op& at;
    ir::RegionId region;
    bool is_apart = false;  // a warning: elements that lie inside are left out
  };
  void tell(const Told& one);
  void report(const AxisPadding& axis, ir::ValueId tile, std::string_view where, std::string_view identity, const ir::Op& at);
  static constexpr std::string_view kChoice = "choice";  // by a condition that is padding, between what a loop carries and something else
  static constexpr std::string_view kPartial = "assignment";  // of what is computed of the variable's own elements in part
  static constexpr std::string_view kLate = "turn";  // of what a loop within an iteration carries, to which padding comes later
  static constexpr std::string_view kFresh = "number";  // that was declared in the turn itself, and holds no data
  void report_apart(const AxisPadding& axis, ir::ValueId tile, std::string_view where, const ir::Op& at);
  void tell_apart(const Told& one);
  static constexpr std::string_view kEffect = "store or atomic";  // by its condition, its place or what it is given
  // What an operand is: computed in place, a name of a fragment, or of a shared tile.
  enum class Held : uint8_t { InPlace, Named, Shared };
  void advise(Report report, const AxisPadding& axis, const std::string& name, std::string_view where, const std::string& wanted, const ir::Op& at, Held held);
  void join_buffers(const Buffers& other, const prove::Formula& when);  // where that holds, the others

  const ir::Kernel& kernel_;
  Diagnostics& diagnostics_;
  prove::Prover& prover_;
  Decisions decisions_;
  Masks masks_;
  std::map<ir::ValueId, TileState> tiles_;
  NumbersOf scalars_;  // results of reductions of whole tiles
  std::set<ir::OpId> seen_, lapses_, kept_;  // lapses_, and assignments that bring no padding: of the set of groups at hand
  std::vector<ir::RegionId> around_;  // loops, the innermost last
  std::vector<ir::ValueId> conditions_;  // of the branches around
  // Of the map at hand: what it yields, and stores to shared tiles like a result; where that is left; what it is computed of, and whether of elements
  // of memory.
  std::vector<ir::ValueId> made_, into_;
  std::vector<std::set<ir::ValueId>> sources_;
  std::vector<bool> reads_elements_;
  bool has_loop_ = false;
  std::map<std::pair<size_t, int64_t>, const AxisPadding*> padded_;  // its inputs', by input and axis of the map
  std::map<ir::RegionId, std::optional<Counting>> countings_;  // of the bodies of loops
  Buffers buffers_;    // shared ones that have been written
  std::vector<MapInput> inputs_;             // of the map at hand
  std::vector<std::vector<Group>> groups_;   // of its inputs, along each axis
  std::map<ir::RegionId, ir::OpId> loops_;   // by their regions
  std::set<ir::RegionId> turning_;           // bodies of loops that have a turn
  std::map<ir::RegionId, Settled> settled_;  // by the first region of a loop
  std::map<ir::OpId, std::vector<Told>> told_;  // by the operation that was looked at
  std::set<Span> reported_, warned_;
  ir::RegionId region_;      // whose operation is looked at
  ir::OpId op_;              // that operation
};

}  // namespace tilec::passes
