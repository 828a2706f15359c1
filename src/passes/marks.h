// What elements are made of, and what they have to do with padding.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

namespace tilec::passes {

// What an element has to do with padding. Set: the program puts a number of its own in the place of padding, where the place alone
// decides. Mixed: it is padding, or is not, as a path decides.
enum class Taint : uint8_t { Clean, Set, Mixed, Padding };

// What it is made of, along the axis at hand: numbers that are the same all along it, elements of tiles, or one or the other. Placed: of the
// element's place and of numbers, which counts like data, but not beside what a variable has kept beyond an edge. Plain: free or placed; Counting:
// placed or data.
enum class Made : uint8_t { Free, Plain, Maybe, Placed, Counting, Data };
inline bool counts(Made made) { return made >= Made::Placed; }
// Of what is made of both.
inline Made most(Made a, Made b) {
  const Made more = std::max(a, b);
  return more == Made::Placed && std::min(a, b) == Made::Maybe ? Made::Counting : more;
}
// Of what is one or the other.
inline Made either(Made a, Made b) {
  if (a == b) return a;
  const auto [less, more] = std::minmax(a, b);
  if (less == Made::Free) return more == Made::Plain || more == Made::Placed ? Made::Plain : Made::Maybe;
  if (less == Made::Plain) return more == Made::Placed ? Made::Plain : Made::Maybe;
  return less == Made::Maybe ? Made::Maybe : Made::Counting;
}
struct Marks {
  Taint taint = Taint::Clean;
  Made made = Made::Free;
  bool is_of_element = false;  // computed of an element of a tile or of memory, not of places alone
  bool is_beyond = false;      // of one that holds numbers alone beyond an edge
  // Which inputs those are, and which ones are data there: a bit each. Read: data that no variable has taken up, or some may have,
  // in some runs.
  uint32_t kept = 0, data = 0, read = 0, may_be_taken_up = 0;
  bool is_assigned = false;    // to a variable, of what it held
  uint32_t variable = 0;       // the bit of the input that it is, or that this is assigned to
  bool is_tainted_late = false;  // in some turns of a loop, as the first, it has nothing to do with padding
  uint32_t late = 0;             // nor with these that have kept something, or in some runs that counts, as places and data do
  uint32_t late_data = 0;        // nor made of these data
  bool was_beside = false;       // in the place of padding a number was set, or left, that it held anyhow
  // Has it to do with elements that count no more than padding does, and with nothing else?
  bool is_left_out() const { return taint >= Taint::Mixed || (is_beyond && made != Made::Data && !data); }
  bool has_met_padding() const { return taint != Taint::Clean || was_beside || is_left_out(); }
  bool is_read() const { return read & ~may_be_taken_up; }
  bool is_always_tainted() const { return taint >= Taint::Mixed && !is_tainted_late; }
  // Has it to do with padding, or what those have kept, in some turns alone?
  bool is_late(uint32_t of) const { return (taint >= Taint::Mixed || (kept & of)) && !is_always_tainted() && !(kept & of & ~late); }
  friend bool operator==(const Marks&, const Marks&) = default;
};

// Of elements of memory, which are no inputs.
constexpr uint32_t kOtherData = uint32_t(1) << 31;
// Of one of these, in one turn of a loop or another.
void note_late(Marks& any, std::span<const Marks> sources);
// Of what is made of both.
Marks most(const Marks& a, const Marks& b);
Marks untold(Marks marks);  // whatever it has to do with padding
// Left as it was, as padding was to be assigned to it: a number is no element there, for what stands behind that in the body.
Marks kept(Marks held, bool is_of_number);

}  // namespace tilec::passes
