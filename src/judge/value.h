// The values of a program that is evaluated: numbers, tiles, memory, and what stands for types, shapes and modules.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "interp/tensor.h"
#include "ir/scalar_eval.h"
#include "syntax/ast.h"

namespace tilec::judge {

using Wide = __int128;  // contracts may leave 64 bits on their way
inline bool fits_int(Wide x) { return x >= INT64_MIN && x <= INT64_MAX; }
using Shape = std::vector<int64_t>;

// Along which axes of its tile an element lies beyond an edge: a bit each.
using Padding = uint16_t;
inline constexpr Padding kLost = 1 << 6;    // along one that the tile does not have
inline constexpr Padding kAsRead = 1 << 7;  // and it holds what `pad =` says, as it was read
inline constexpr Padding kAnything = 1 << 8;  // and the language does not say what it holds
// The program chose it by its place, beside padding: by what can be proved of the place, it stands, or is padding as well.
inline constexpr Padding kSet = 1 << 9;
inline constexpr Padding kAsked = 1 << 10;  // padding that was written is combined in it, as it was read
inline constexpr Padding kMet = 1 << 11;  // padding of two operands is combined in it
// Padding that was written was combined in it, as it was read, and has left it as it was: the same number, which stands or was kept out.
inline constexpr Padding kStands = 1 << 12;
inline constexpr Padding kReshaped = 1 << 13;  // by `reshape` it lies along one of the tile's axes, or of several, which is not known
inline constexpr Padding kPartly = 1 << 14;   // a part of its variable has come to nothing there: of the variable it is not known where
inline constexpr Padding kHeld = 1 << 15;     // with kAnything: it is what stands here, or what the variable held before, which counts
inline constexpr size_t kMostAxes = 6;
inline constexpr Padding kAllAxes = kAsRead - 1;

inline constexpr uint32_t kSeveral = ~uint32_t(0);

// Elements of variables of which a number is computed in place: a stamp each, which a new assignment replaces. Few of them; of more, or behind a
// branch that was not run, it is not known.
struct Stamps {
  std::array<uint32_t, 6> of = {};
  bool is_open = false;
  bool has(uint32_t stamp) const { return stamp && std::ranges::find(of, stamp) != of.end(); }
  bool any() const { return std::ranges::any_of(of, [](uint32_t stamp) { return stamp != 0; }); }
  void add(uint32_t stamp);
  void drop(uint32_t stamp) { std::ranges::replace(of, stamp, 0u); }
  void add(const Stamps& others);
};

// Of which variable something is along each axis: an element of it by its stamp; kSeveral, also of what is none's; 0 where there is nothing.
struct Owners {
  std::array<uint32_t, kMostAxes + 1> along = {};
  void set(Padding axes, uint32_t owner);
  void add(Padding axes, const Owners& others);  // of several where they differ
  Padding several() const;                       // the axes
  Padding others_than(uint32_t stamp) const;
  bool has(uint32_t stamp) const { return std::ranges::find(along, stamp) != along.end(); }
};

// A literal is an `int` or an f64 until it meets a type; narrower ones are rounded from `odd`, its digits rounded to odd.
struct Number {
  Wide i = 0;
  double f = 0;
  std::optional<double> odd = {};
  Scalar type = Scalar::Index;
  bool is_literal = false;
  Padding padding = 0;
  Padding data = 0;     // along which axes it is made of elements, and not of numbers alone
  Padding placed = 0;   // along which it is made of its place, which counts, but not beside what a variable has kept
  Padding waiting = 0;  // along which it holds what a variable held where padding was to be assigned to it
  Padding unsaid = 0;   // along which it is made of numbers and places alone, and padding was kept out: which number that leaves is not said
  Padding scanned = 0;  // along which it is padding that holds what a scan has come to: an element like others where an index takes the axis away
  Padding kept = 0;  // along which axes it is made of what variables have kept beyond an edge
  Padding read = 0;  // of data that no variable has taken up
  Owners keepers = {}, owners = {};  // whose that is, and whose the data are
  uint32_t padder = 0;  // the element of a variable that is padding as this is; kSeveral, or 0: others, too
  Padding spread = 0;   // the axes, of the operation at hand, that its tile does not have
  Stamps stamps = {};   // of elements that it is computed of
  uint32_t stamp = 0;   // its own, in a variable
  uint32_t copy_of = 0;  // the one of another variable that it was given as it was
  uint32_t origin() const { return copy_of ? copy_of : stamp; }  // the same of all variables that hold it as it is
  bool is_element = false;  // of a tile
  bool is_known = false;    // of literals alone, where the text is compiled

  Padding beyond() const { return Padding(padding & ~(kAsRead | kAsked)); }
  bool is_padding() const { return (beyond() & ~(kAnything | kSet | kAsked | kMet | kStands | kReshaped | kPartly | kHeld)) != 0; }
  bool is_set() const { return (padding & kSet) && !is_padding(); }
  bool is_anything() const { return padding & kAnything; }
  bool is_real() const { return is_float(type); }
  // Along which axes it is no number that is the same all along.
  Padding counted() const { return Padding(data | (placed & ~waiting)); }
  bool truth() const { return i != 0; }
};
// What elements have told of whether, or where, something is done: nothing counts that is padding, or made of numbers alone beyond an edge.
struct Told {
  Padding padding = 0, data = 0, waiting = 0;
  bool is_out = false;     // one of them is padding itself
  bool is_unsure = false;  // by what can be proved, one stands or is padding
  void add(const Number& x);
  void add(const Told& others) { padding |= others.padding, data |= others.data, waiting |= others.waiting, is_out |= others.is_out, is_unsure |= others.is_unsure; }
  Padding left_out() const { return Padding((padding | (waiting & ~data)) & kAllAxes); }
};
Number integer_of(Wide value);
Number truth_of(bool value);
// Read from where it is held, it is made of that: its data, and what it has kept.
void own_sources(Number& x);
// Along which axes it leaves a variable as it is that holds such an element: others have kept it, and there are no data but that one's.
Padding left_by_others(const Number& next, const Number& old);
// Behind a name it is no more of one variable alone.
Number apart(Number x);
// In a variable, with a stamp of its own in the place of the one that stood there before, 0: none.
Number stamped(Number x, uint32_t before);
void end_stamp(uint32_t stamp);  // nothing is assigned to its element any more
bool are_same(const Number& a, const Number& b);  // of one type, and to the bit
// What numbers of tiles decide is made of them; what places decide, too, unless something was kept out of it.
void decided_by(Number& x, const Number& test);
// Arithmetic has come to this: what its operands say of padding holds of it.
void mark(Number& out, std::span<const Number> from);
// Is it no part of its line along the axis?
bool is_left_out(const Number& x, size_t axis);
bool is_left_out_along(const Number& x, size_t axis);  // as is known, and not lost
bool may_stand(const Number& x, size_t axis);          // what is left out, as of its variable it is not known where padding has come to it
// Do numbers wait beside data that stand or are padding as well?
bool is_unsure_whether_it_waits(std::span<const Number> from);
// Does what they make hold no data where a variable has kept what it held?
bool waits(std::span<const Number> from);

struct Tile {
  Scalar type;
  Shape shape;
  std::vector<Number> elements;  // row-major
};
using TilePtr = std::shared_ptr<const Tile>;
// The padding of an element whose tile's axes have other places now; none: the axis is gone.
using Places = std::vector<std::optional<size_t>>;
Padding moved(Padding padding, const Places& places);
Number moved(Number x, const Places& places);
Places turned_round(const Places& places);
int64_t count_of(const Shape& shape);

// A tile whose shape comes from the other side. What it reads is what stood there when it was evaluated.
struct Pending {
  Scalar type;
  size_t rank = 0;  // 0: open
  std::function<TilePtr(const Shape&)> make;
};

// What holds elements: a tensor of the caller's, or memory of the program's own.
class Memory {
 public:
  using Old = std::unordered_map<int64_t, Number>;  // what stood there since somebody looked

  Memory(std::string name, interp::Tensor* tensor, bool is_written);
  Memory(std::string name, Scalar element, const Shape& shape, bool rounds);
  ~Memory();
  Memory(const Memory&) = delete;

  Scalar element;
  std::string name;
  Shape shape;  // of the program's own
  bool is_written(int64_t offset) const;
  Number get(int64_t offset) const;
  Number* own(int64_t offset) { return tensor_ ? nullptr : &own_[size_t(offset)]; }
  void set(int64_t offset, const Number& value);
  void hold(int64_t offset, const Number& value) { own_[size_t(offset)] = value, written_[size_t(offset)] = true; }  // as it is
  std::shared_ptr<Old> look();
  bool is_callers() const { return tensor_ != nullptr; }
  int64_t count() const { return int64_t(own_.size()); }
  bool is_padded() const { return std::ranges::any_of(own_, [](const Number& x) { return x.is_padding() || x.waiting; }); }
  // Notes at its elements whether they are of one that may end.
  // Where some of a line are made of elements along it, so are all others that nothing was kept out of. `cut`: axes along which a part was written,
  // so that numbers are no more the same all along, unless padding has come to some.
  void level(Padding cut = 0);
  void come_in_parts(Padding cut);
  void set_in_part(int64_t offset, Padding cut);
  // Behind branches, and in turns of loops: what was computed of it before is not computed of what it holds. `is_open`: nor is it known what
  // that is computed of.
  void stamp_anew(bool is_open);
  void begin_turn(bool takes_up);  // of a loop that assigns to it, of what it holds?

 private:
  interp::Tensor* tensor_ = nullptr;
  std::vector<Number> own_;
  std::vector<bool> written_;
  bool rounds_ = true;  // to the element's type: not of fragments, whose numbers are values
  std::vector<std::weak_ptr<Old>> lookers_;
};

enum class Kind : uint8_t { Tensor, Fragment, Shared, Workspace, Local };

struct Axis {
  int64_t extent, stride;
  size_t of = 0;  // the axis of the memory
};
// Memory by its name, or a part of it.
struct View {
  std::shared_ptr<Memory> memory;
  Kind kind = Kind::Tensor;
  int64_t offset = 0;
  std::vector<Axis> axes;
  Places indices = {};  // of an element in `parallel`: which index each axis of the memory has
  Told by = {};         // and what has told where it is

  Shape extents() const;
};

// A part of a view that may hang over its edges: `start` on each axis, `length` elements, kept or dropped as an axis.
struct Region {
  View view;
  std::vector<Wide> start;
  Shape length;
  std::vector<bool> is_kept;
  Number pad;
  Places indices = {};  // of `parallel`, by axis
  Told by = {};         // what has told its place
  bool is_inside() const;

  Shape shape() const;
};

struct Absent {};  // NULL
struct None {};    // of a function without a result
struct TypeValue { Scalar scalar; };
struct ShapeValue { Shape extents; };
struct EnumValue { const ast::Enum* of; size_t index; };
struct EnumType { const ast::Enum* of; };
struct Module;
struct ModuleValue { Module* module; };
struct List;

using Value = std::variant<None, Number, TilePtr, Pending, View, Absent, TypeValue, ShapeValue, EnumValue, EnumType, ModuleValue,
                           std::shared_ptr<List>>;
struct List { std::vector<Value> items; };

// A name: what it stands for, and of a variable of numbers the type that it holds.
struct Binding {
  Value value;
  bool is_set = true;
  bool is_cell = false;  // a number that stands for an element of a fragment which is no padding
};
struct Scope {
  std::vector<std::pair<std::string_view, std::shared_ptr<Binding>>> names;
};

// A file: its declarations by name.
struct Module {
  const Ast* ast;
  std::string name;
  std::unordered_map<std::string_view, std::vector<const ast::Decl*>> declarations;
  std::unordered_map<std::string_view, Module*> imports;
  std::unordered_map<const ast::Decl*, Value> constants;
};

}  // namespace tilec::judge
