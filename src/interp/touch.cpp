#include "interp/touch.h"

namespace tilec::interp {

namespace {

bool refuse(const Toucher& who, FaultKind kind, std::string text) {
  fail(who.run, kind, who.op, std::move(text));
  return false;
}

std::string place(const Allocation& m, int64_t byte) { return "byte " + std::to_string(byte) + " of " + name_of(m); }

std::string_view verb(Touch how) { return how == Touch::Read ? "reads" : how == Touch::Write ? "writes" : "updates"; }

bool judge_state(const Toucher& who, Allocation& m, int64_t granule, int64_t byte, Touch how) {
  uint8_t& state = m.state[size_t(granule)];
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

bool judge_blocks(const Toucher& who, Allocation& m, int64_t granule, int64_t byte, Touch how) {
  BlockCell& cell = m.blocks[size_t(granule)];
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

bool judge_order(const Toucher& who, Allocation& m, Cell& cell, int64_t byte, int lane, Touch how) {
  Stamp before_write = cell.write;
  Stamp other = touch(cell, m.cell_readers(), who.clock, lane, how);
  if (!other) return true;
  std::string mine = agent_name(*who.block->cluster, who.clock.stamp(lane)), theirs = agent_name(*who.block->cluster, other);
  return refuse(who, FaultKind::Race,
                mine + " " + std::string(verb(how)) + " " + place(m, byte) + ", which " + theirs + " " +
                    (other == before_write ? "writes" : "reads") + ", and nothing orders the two");
}

// Bytes that other buffers use at other times.
bool judge_overlay(const Toucher& who, Allocation& m, int64_t byte, int width, int lane, Touch how) {
  Overlay& overlay = *m.overlay;
  int64_t first = (m.overlay_at + byte) / overlay.granule, last = (m.overlay_at + byte + width - 1) / overlay.granule;
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

}  // namespace

bool touch_bytes(const Toucher& who, Allocation& m, int64_t byte, int width, int lane, Touch how) {
  if (m.overlay && !judge_overlay(who, m, byte, width, lane, how)) return false;
  int64_t first = byte / m.granule, last = (byte + width - 1) / m.granule;
  for (int64_t g = first; g <= last; ++g) {
    if (!m.state.empty() && !judge_state(who, m, g, byte, how)) return false;
    if (!who.block || !who.run.options.check_races) continue;
    if (!m.blocks.empty() && !judge_blocks(who, m, g, byte, how)) return false;
    if (!m.cells.empty() && !judge_order(who, m, m.cells[size_t(g)], byte, lane, how)) return false;
  }
  return true;
}

}  // namespace tilec::interp
