#include "interp/clocks.h"

namespace tilec::interp {

uint64_t Readers::make(Stamp a, Stamp b) {
  uint32_t row;
  if (free_.empty()) {
    row = uint32_t(rows_.size());
    rows_.emplace_back();
  } else {
    row = free_.back();
    free_.pop_back();
  }
  rows_[row] = {a, b};
  return kRow | row;
}

void Readers::drop(uint64_t read) {
  if (read & kRow) free_.push_back(uint32_t(read & ~kRow));
}

void Readers::shrink(std::vector<Cell>& cells) {
  if (rows_.size() < cells.size() / 2 + 1024) return;
  for (Cell& cell : cells)
    if (cell.read & kRow) cell.read = 0;
  rows_.clear();
  free_.clear();
}

namespace {

void note_read(Cell& cell, Readers& readers, const Clock& clock, Stamp mine, int lane) {
  if (cell.read & Readers::kRow) {
    for (Stamp& s : readers.row(cell.read))
      if (agent_of(s) == clock.agent) {
        s = merged(clock, s, mine);
        return;
      }
    readers.row(cell.read).push_back(mine);
  } else if (cell.read && agent_of(cell.read) == clock.agent) {
    cell.read = merged(clock, cell.read, mine);
  } else if (!cell.read || clock.is_after(cell.read, lane)) {
    cell.read = mine;
  } else {
    cell.read = readers.make(cell.read, mine);
  }
}

// A read that a write of `lane` is not ordered after, or 0.
Stamp unordered_read(const Cell& cell, Readers& readers, const Clock& clock, int lane) {
  if (!(cell.read & Readers::kRow)) return cell.read && !clock.is_after(cell.read, lane) ? cell.read : 0;
  for (Stamp s : readers.row(cell.read))
    if (!clock.is_after(s, lane)) return s;
  return 0;
}

}  // namespace

Stamp rare_touch(Cell& cell, Readers& readers, const Clock& clock, int lane, Touch how) {
  Stamp mine = clock.stamp(lane);
  bool both_atomic = how == Touch::Atomic && (cell.write & kAtomicBit);
  if (cell.write && !both_atomic && !clock.is_after(cell.write, lane)) return cell.write;
  if (how == Touch::Read) {
    if (cell.read != mine) note_read(cell, readers, clock, mine, lane);
    return 0;
  }
  if (cell.read) {
    if (Stamp s = unordered_read(cell, readers, clock, lane)) return s;
    readers.drop(cell.read);
    cell.read = 0;
  }
  cell.write = how == Touch::Atomic ? mine | kAtomicBit : mine;
  return 0;
}

}  // namespace tilec::interp
