// Stamps: which elements of variables a number is computed of, and which of them can still be assigned to.
#include "judge/evaluator.h"

namespace tilec::judge {

namespace {

constexpr ptrdiff_t kMany = 3;  // of a table

// Of elements that have been assigned to since, nothing that stands is computed, unless another variable was given what they held.
enum class Stamp : uint8_t { Stands, Copied, Gone };
thread_local std::vector<Stamp> stamps_seen;
thread_local bool has_filled = false;  // since the last sweep, a table has

void note_stamp(uint32_t stamp, Stamp now) {
  if (stamp >= stamps_seen.size()) stamps_seen.resize(size_t(stamp) + 1);
  if (stamp && stamps_seen[stamp] != Stamp::Copied) stamps_seen[stamp] = now;
}

}  // namespace

void end_stamp(uint32_t stamp) { note_stamp(stamp, Stamp::Gone); }

namespace {

// Another one in the place of `before`.
uint32_t new_stamp(uint32_t before) {
  thread_local uint32_t last = 0;
  note_stamp(before, Stamp::Gone);
  if (!++last) stamps_seen.clear(), ++last;
  return last;
}

bool is_free(uint32_t stamp) { return !stamp || (stamp < stamps_seen.size() && stamps_seen[stamp] == Stamp::Gone); }

}  // namespace

void Stamps::add(uint32_t stamp) {
  if (!stamp || has(stamp)) return;
  auto free = std::ranges::find_if(of, is_free);
  has_filled |= free - of.begin() >= kMany;
  if (free == of.end()) is_open = true;
  else *free = stamp;
}

void Stamps::add(const Stamps& others) {
  for (uint32_t stamp : others.of) add(stamp);
  is_open |= others.is_open;
}

Number stamped(Number x, uint32_t before) {
  const bool is_again = x.stamp && x.stamp == before;
  x.copy_of = !x.stamp || is_again ? 0 : x.copy_of ? x.copy_of : x.stamp;
  note_stamp(x.copy_of, Stamp::Copied);
  x.stamp = new_stamp(before);
  if (is_again || is_free(before)) x.stamps.drop(before);
  x.stamps.add(x.stamp);
  if (!x.stamps.has(x.stamp)) x.stamps.of[0] = x.stamp;
  x.padder = x.is_padding() ? x.stamp : 0;
  x.is_known = false;
  return x;
}

namespace {

// Calls f(number) for every number that a value holds; tiles are values of their own then.
template <class F> void each_number(Value& value, const F& f) {
  if (auto* number = std::get_if<Number>(&value)) f(*number);
  if (auto* view = std::get_if<View>(&value); view && !view->memory->is_callers())
    for (int64_t k = 0; k < view->memory->count(); ++k) f(*view->memory->own(k));
  if (auto* list = std::get_if<std::shared_ptr<List>>(&value))
    for (Value& item : (*list)->items) each_number(item, f);
  if (auto* tile = std::get_if<TilePtr>(&value)) {
    auto own = std::make_shared<Tile>(**tile);
    for (Number& x : own->elements) f(x);
    *tile = own;
  }
}

}  // namespace

// Names of earlier turns, and what variables held that were copied, no number is computed of any more as far as anything can be assigned: no element
// has their stamps. Between statements of the kernel itself names are all that holds numbers.
void Evaluator::sweep_stamps() {
  if (!has_filled || depth_ > 0 || thread_ >= 0) return;
  has_filled = false;
  std::set<uint32_t> known;
  auto each = [&](const auto& f) {
    for (Scope& scope : frame_->scopes)
      for (auto& [name, binding] : scope.names) each_number(binding->value, f);
  };
  each([&](Number& x) { known.insert(x.stamp), known.insert(x.copy_of); });
  each([&](Number& x) {
    for (uint32_t& stamp : x.stamps.of)
      if (!known.contains(stamp)) stamp = 0;
  });
}

}  // namespace tilec::judge
