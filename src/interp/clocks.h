// Happens-before, by vector clocks. An agent is whatever runs unordered with others: a warp, a role, one asynchronous
// copy. A touch is stamped with its agent's time; two touches are ordered when the later agent knows the earlier's
// time.
#pragma once
#include <cstdint>
#include <vector>

namespace tilec::interp {

// time << 24 | agent << 8 | atomic << 7 | lane; 0 is never.
using Stamp = uint64_t;
constexpr int kManyLanes = 127;
constexpr Stamp kAtomicBit = 1 << 7;

inline Stamp make_stamp(uint64_t time, uint32_t agent, int lane) {
  return time << 24 | uint64_t(agent) << 8 | uint64_t(lane);
}
inline uint64_t time_of(Stamp s) { return s >> 24; }
inline uint32_t agent_of(Stamp s) { return s >> 8 & 0xffff; }
inline int lane_of(Stamp s) { return int(s & 127); }

struct Clock {
  uint32_t agent = 0;
  uint64_t now = 1;       // the agent's own time
  uint64_t since = 1;     // when it was last joined with others: its own touches before that are known like others'
  bool lock_step = true;  // its lanes are ordered with one another; else each lane is on its own from `since` on
  bool renews = false;    // its lanes are others at each of its times: elements of a map, as many at once as there are lanes
  uint64_t base = 0;      // everything up to that time is known of every agent (earlier blocks)
  std::vector<uint64_t> known;  // by agent

  Stamp stamp(int lane) const { return make_stamp(now, agent, lane); }
  bool knows(Stamp s) const {
    uint64_t time = time_of(s);
    return time <= base || (agent_of(s) < known.size() && known[agent_of(s)] >= time);
  }
  // Is the touch `s` ordered before what `lane` does now?
  bool is_after(Stamp s, int lane) const {
    if (agent_of(s) == agent && time_of(s) >= since) return lock_step || ((!renews || time_of(s) == now) && lane_of(s) == lane);
    return knows(s);
  }
  void learn(uint32_t other, uint64_t time) {
    if (known.size() <= other) known.resize(other + 1, 0);
    if (known[other] < time) known[other] = time;
  }
  void learn(const std::vector<uint64_t>& others) {
    if (known.size() < others.size()) known.resize(others.size(), 0);
    for (size_t k = 0; k < others.size(); ++k)
      if (known[k] < others[k]) known[k] = others[k];
  }
  // What one knows who learns of everything that this agent has done so far.
  std::vector<uint64_t> knowledge() const {
    std::vector<uint64_t> all = known;
    if (all.size() <= agent) all.resize(agent + 1, 0);
    if (all[agent] < now) all[agent] = now;
    return all;
  }
};

// The last touches of one granule of memory. `read` is a stamp or, with the top bit, a row of `Readers`.
struct Cell {
  Stamp write = 0;
  uint64_t read = 0;
};

// Granules that several unordered agents read: a stamp for each.
class Readers {
 public:
  static constexpr uint64_t kRow = 1ull << 63;
  std::vector<Stamp>& row(uint64_t read) { return rows_[size_t(read & ~kRow)]; }
  uint64_t make(Stamp a, Stamp b);
  void drop(uint64_t read);
  // Between blocks, when all touches so far are ordered before all to come: forgets the rows if there are many.
  void shrink(std::vector<Cell>& cells);

 private:
  std::vector<std::vector<Stamp>> rows_;
  std::vector<uint32_t> free_;
};

enum class Touch : uint8_t { Read, Write, Atomic };

// Two reads by one agent become one: when its lanes are on their own, a read by "many".
inline Stamp merged(const Clock& clock, Stamp earlier, Stamp mine) {
  bool is_loose = !clock.lock_step && time_of(earlier) >= clock.since;
  return is_loose && earlier != mine ? clock.stamp(kManyLanes) : mine;
}

// A touch of a granule that several agents read, or with atomics.
Stamp rare_touch(Cell& cell, Readers& readers, const Clock& clock, int lane, Touch how);

// Records the touch; gives the stamp of an earlier one that it is not ordered after, or 0.
inline Stamp touch(Cell& cell, Readers& readers, const Clock& clock, int lane, Touch how) {
  if (how == Touch::Atomic || (cell.read & Readers::kRow)) return rare_touch(cell, readers, clock, lane, how);
  const Stamp mine = clock.stamp(lane);
  if (cell.write && !clock.is_after(cell.write, lane)) return cell.write;
  if (how == Touch::Write) {
    if (cell.read && !clock.is_after(cell.read, lane)) return cell.read;
    cell = {.write = mine};
    return 0;
  }
  if (cell.read == mine) return 0;
  if (!cell.read || clock.is_after(cell.read, lane)) cell.read = agent_of(cell.read) == clock.agent ? merged(clock, cell.read, mine) : mine;
  else return rare_touch(cell, readers, clock, lane, how);
  return 0;
}

}  // namespace tilec::interp
