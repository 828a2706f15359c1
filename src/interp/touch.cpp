#include "interp/touch.h"

namespace tilec::interp {

namespace {

[[gnu::cold]] bool refuse(const Toucher& who, FaultKind kind, std::string text) {
  fail(who.run, kind, who.op, std::move(text));
  return false;
}

[[gnu::cold]] std::string place(const Allocation& m, int64_t byte) { return "byte " + std::to_string(byte) + " of " + name_of(m); }

std::string_view verb(Touch how) { return how == Touch::Read ? "reads" : how == Touch::Write ? "writes" : "updates"; }

inline bool judge_state(const Toucher& who, Allocation& m, int64_t granule, int64_t byte, Touch how) {
  uint8_t& state = m.state[size_t(granule)];
  if (state == (Allocation::kExists | Allocation::kWritten)) return true;
  if (!(state & Allocation::kExists))
    return refuse(who, FaultKind::OutOfBounds, place(m, byte) + " lies between the elements of its tensor");
  if (how != Touch::Write && !(state & Allocation::kWritten) && who.run.options.check_initialised)
    return refuse(who, FaultKind::Uninitialised, place(m, byte) + " is read but was never written");
  if (how != Touch::Read) state |= Allocation::kWritten;
  return true;
}

// Another block in `owner` whose touches this block has not acquired.
bool is_foreign(const Toucher& who, uint32_t owner) {
  if (owner == BlockCell::kNone || owner == who.block->number) return false;
  const std::vector<uint32_t>& known = who.block->known_blocks;
  return std::find(known.begin(), known.end(), owner) == known.end();
}

void note(uint32_t& owner, uint32_t block) {
  owner = owner == BlockCell::kNone || owner == block ? block : BlockCell::kMany;
}

inline bool judge_blocks(const Toucher& who, Allocation& m, int64_t granule, int64_t byte, Touch how) {
  BlockCell& cell = m.blocks[size_t(granule)];
  const uint32_t mine = who.block->number, none = BlockCell::kNone;
  if ((cell.writer == mine || cell.writer == none) && cell.atomic == none && (cell.reader == mine || cell.reader == none) && how != Touch::Atomic) {
    (how == Touch::Read ? cell.reader : cell.writer) = mine;
    return true;
  }
  uint32_t other = BlockCell::kNone;
  if (is_foreign(who, cell.writer))
    other = cell.writer;
  else if (how != Touch::Atomic && is_foreign(who, cell.atomic))
    other = cell.atomic;
  else if (how != Touch::Read && is_foreign(who, cell.reader))
    other = cell.reader;
  if (other != BlockCell::kNone) {
    std::string by = other == BlockCell::kMany ? "other blocks touch" : "block " + std::to_string(other) + " touches";
    return refuse(who, FaultKind::BlockRace,
                  "block " + std::to_string(who.block->number) + " " + std::string(verb(how)) + " " + place(m, byte) +
                      ", which " + by + " as well; blocks run in any order");
  }
  note(how == Touch::Read ? cell.reader : how == Touch::Write ? cell.writer : cell.atomic, who.block->number);
  return true;
}

[[gnu::cold, gnu::noinline]] bool refuse_race(const Toucher& who, const Allocation& m, bool is_write, Stamp other, int64_t byte, int lane, Touch how) {
  std::string mine = agent_name(*who.block->cluster, who.clock.stamp(lane)), theirs = agent_name(*who.block->cluster, other);
  return refuse(who, FaultKind::Race,
                mine + " " + std::string(verb(how)) + " " + place(m, byte) + ", which " + theirs + " " +
                    (is_write ? "writes" : "reads") + ", and nothing orders the two");
}

inline bool judge_order(const Toucher& who, Allocation& m, Cell& cell, int64_t byte, int lane, Touch how) {
  Stamp before_write = cell.write;
  Stamp other = touch(cell, m.cell_readers(), who.clock, lane, how);
  return !other || refuse_race(who, m, other == before_write, other, byte, lane, how);
}

// A granule is as wide as an element is: to divide by it is to shift.
int shift_of(int granule) { return std::countr_zero(unsigned(granule)); }

// Bytes that other buffers use at other times.
bool judge_overlay(const Toucher& who, Allocation& m, int64_t byte, int width, int lane, Touch how) {
  Overlay& overlay = *m.overlay;
  const int shift = shift_of(overlay.granule);
  int64_t first = (m.overlay_at + byte) >> shift, last = (m.overlay_at + byte + width - 1) >> shift;
  for (int64_t g = first; g <= last; ++g) {
    const Allocation*& owner = overlay.owners[size_t(g)];
    if (how != Touch::Write && owner && owner != &m && who.run.options.check_initialised)
      return refuse(who, FaultKind::Uninitialised, place(m, byte) + " is read where " + name_of(*owner) + " has been written since");
    if (how != Touch::Read) owner = &m;
    if (who.block && who.run.options.check_races && !overlay.cells.empty() &&
        !judge_order(who, m, overlay.cells[size_t(g)], byte, lane, how))
      return false;
  }
  return true;
}

bool judge(const Toucher& who, Allocation& m, int64_t byte, int width, int lane, Touch how) {
  if (m.overlay && !judge_overlay(who, m, byte, width, lane, how)) return false;
  const int shift = shift_of(m.granule);
  int64_t first = byte >> shift, last = (byte + width - 1) >> shift;
  for (int64_t g = first; g <= last; ++g) {
    if (!m.state.empty() && !judge_state(who, m, g, byte, how)) return false;
    if (!who.block || !who.run.options.check_races) continue;
    if (!m.blocks.empty() && !judge_blocks(who, m, g, byte, how)) return false;
    if (!m.cells.empty() && !judge_order(who, m, m.cells[size_t(g)], byte, lane, how)) return false;
  }
  return true;
}

}  // namespace

bool touch_bytes(const Toucher& who, Allocation& m, int64_t byte, int width, int lane, Touch how) {
  return judge(who, m, byte, width, lane, how);
}

bool touch_lanes(const Toucher& who, Allocation& m, const LaneBytes& at, int width, Touch how) {
  const bool is_one = width == m.granule && !m.overlay;  // each element is one granule, which nobody else has
  const bool has_state = !m.state.empty(), is_judged = who.block && who.run.options.check_races;
  const bool has_blocks = is_judged && !m.blocks.empty(), has_cells = is_judged && !m.cells.empty();
  const int shift = shift_of(m.granule);
  bool is_fine = true;
  each_lane(at.lanes, [&](int lane) {
    for (int k = 0; k < at.count && is_fine; ++k) {
      const int64_t byte = at.bytes[lane] + k * at.step, g = byte >> shift;
      if (!is_one) is_fine = judge(who, m, byte, width, lane, how);
      else is_fine = (!has_state || judge_state(who, m, g, byte, how)) && (!has_blocks || judge_blocks(who, m, g, byte, how)) &&
                     (!has_cells || judge_order(who, m, m.cells[size_t(g)], byte, lane, how));
    }
  });
  return is_fine;
}

}  // namespace tilec::interp
