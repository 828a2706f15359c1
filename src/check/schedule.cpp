#include "check/schedule.h"

#include <map>

#include "base/check.h"
#include "check/ring_trace.h"
#include "diag/diag.h"

namespace tilec::check {

using namespace ir;

namespace {

constexpr uint64_t kChoices = 6;  // of extents and block indices

// One ring while its programs run.
struct Ring {
  struct Slot {
    int64_t turn;       // that it holds, or takes next
    bool is_taken = false, is_filled = false;
    std::map<std::string, bool> readers = {};  // that wait for it: have they given it back?
  };
  std::string name;
  int64_t consumers = 1;
  std::vector<Slot> slots;
};

// Runs the programs of one block side by side, as far as rings let them.
class Block {
 public:
  Block(const Kernel& kernel, const BlockTrace& trace) : kernel_(kernel), trace_(trace), at_(trace.programs.size()) {}

  std::string run() {
    for (bool moved = true; moved && flaw_.empty();) {
      moved = false;
      for (size_t p = 0; p < at_.size() && flaw_.empty(); ++p)
        while (at_[p] < events(p).size() && flaw_.empty() && step(p)) moved = true, ++at_[p];
    }
    for (size_t p = 0; p < at_.size() && flaw_.empty(); ++p)
      if (at_[p] < events(p).size()) flaw_ = stuck(p);
    for (const auto& [id, ring] : rings_)
      if (flaw_.empty()) check_end(ring);
    return flaw_;
  }

 private:
  const std::vector<RingEvent>& events(size_t p) const { return trace_.programs[p].events; }
  const std::string& role(size_t p) const { return trace_.programs[p].role; }
  std::string who(size_t p) const { return role(p).empty() ? "the block" : "role `" + role(p) + "`"; }

  Ring& ring_of(ValueId v) {
    auto [found, is_new] = rings_.try_emplace(v.index);
    if (is_new) {
      const op::RingAlloc& alloc = *kernel_.defined_by<op::RingAlloc>(v);
      found->second = {alloc.name, alloc.consumers, {}};
      for (int64_t slot = 0; slot < kernel_.type(v).shape[0]; ++slot) found->second.slots.push_back({slot});
    }
    return found->second;
  }

  bool fail(size_t p, const Ring& ring, int64_t turn, const std::string& what) {
    flaw_ = who(p) + " " + what + " turn " + std::to_string(turn) + " of ring `" + ring.name + "`";
    return false;
  }

  // False: the program cannot go on, now or ever.
  bool step(size_t p) {
    const RingEvent& event = events(p)[at_[p]];
    Ring& ring = ring_of(event.ring);
    if (event.step == RingStep::Make) {
      check_end(ring);
      return rings_.erase(event.ring.index) == 1;
    }
    if (event.turn < 0) return fail(p, ring, event.turn, "asks for");
    Ring::Slot& slot = ring.slots[size_t(event.turn) % ring.slots.size()];
    switch (event.step) {
      case RingStep::Make: break;
      case RingStep::Acquire: return acquire(p, ring, slot, event.turn);
      case RingStep::Commit:
        if (slot.turn != event.turn || !slot.is_taken || slot.is_filled) return fail(p, ring, event.turn, "commits without having acquired");
        slot.is_filled = true;
        return true;
      case RingStep::Wait: return wait(p, ring, slot, event.turn);
      case RingStep::Release: return release(p, ring, slot, event.turn);
    }
    return false;
  }

  bool acquire(size_t p, Ring& ring, Ring::Slot& slot, int64_t turn) {
    if (slot.turn > turn || (slot.turn == turn && slot.is_taken)) return fail(p, ring, turn, "acquires twice");
    if (slot.turn < turn) {
      bool is_next = slot.turn + int64_t(ring.slots.size()) == turn;
      return is_next || slot.is_taken ? false : fail(p, ring, turn, "skips turns before it acquires");
    }
    slot.is_taken = true;
    return true;
  }

  bool wait(size_t p, Ring& ring, Ring::Slot& slot, int64_t turn) {
    if (slot.turn > turn) return fail(p, ring, turn, "waits again for");
    if (slot.turn < turn || !slot.is_filled) return false;
    if (!slot.readers.emplace(role(p), false).second) return fail(p, ring, turn, "waits twice for");
    return true;
  }

  bool release(size_t p, Ring& ring, Ring::Slot& slot, int64_t turn) {
    auto reader = slot.turn == turn ? slot.readers.find(role(p)) : slot.readers.end();
    if (reader == slot.readers.end() || reader->second) return fail(p, ring, turn, "releases, without waiting for it,");
    reader->second = true;
    int64_t given_back = 0;
    for (const auto& [name, done] : slot.readers) given_back += done;
    if (given_back == ring.consumers) slot = {turn + int64_t(ring.slots.size())};
    return true;
  }

  std::string stuck(size_t p) {
    const RingEvent& event = events(p)[at_[p]];
    bool acquires = event.step == RingStep::Acquire;
    return who(p) + " waits for ever for turn " + std::to_string(event.turn) + " of ring `" + ring_of(event.ring).name +
           (acquires ? "` to be free" : "` to be filled");
  }

  void check_end(const Ring& ring) {
    for (const Ring::Slot& slot : ring.slots)
      if (slot.is_taken && flaw_.empty())
        flaw_ = "turn " + std::to_string(slot.turn) + " of ring `" + ring.name + "` is " + (slot.is_filled ? "never given back" : "never committed");
  }

  const Kernel& kernel_;
  const BlockTrace& trace_;
  std::vector<size_t> at_;
  std::map<uint32_t, Ring> rings_;
  std::string flaw_;
};

bool has_rings(const Kernel& kernel) {
  bool found = false;
  each_op(kernel, kernel.body, [&](OpId id) { found |= kernel.op(id).is<op::RingAlloc>(); });
  return found;
}

void check_warps(const Kernel& kernel, const Machine& machine, std::vector<std::string>& flaws) {
  each_op(kernel, kernel.body, [&](OpId id) {
    const op::Roles* roles = kernel.op(id).get<op::Roles>();
    if (!roles) return;
    int64_t all = 0;
    for (int64_t warps : roles->warps) all += warps;
    if (all > machine.max_warps)
      flaws.push_back("the roles have " + std::to_string(all) + " warps, and a block of " + std::string(machine.name) + " has " + std::to_string(machine.max_warps));
  });
}

}  // namespace

std::vector<std::string> flaws_of(const Kernel& staged, const Machine& machine) {
  std::vector<std::string> flaws;
  if (!has_rings(staged)) return flaws;
  check_warps(staged, machine, flaws);
  for (uint64_t choice = 0; choice < kChoices && flaws.empty(); ++choice)
    for (const BlockTrace& trace : trace_rings(staged, choice))
      if (std::string flaw = Block(staged, trace).run(); !flaw.empty()) {
        flaws.push_back(std::move(flaw));
        break;
      }
  return flaws;
}

void check_schedule(const Kernel& staged, const Machine& machine, Diagnostics& diagnostics) {
  std::vector<std::string> flaws = flaws_of(staged, machine);
  if (flaws.empty()) return;
  INVARIANT(staged.schedule.span.valid(), flaws.front());
  for (const std::string& flaw : flaws) diagnostics.at(staged.schedule.span).error(diag::ScheduleRefused, flaw);
}

}  // namespace tilec::check
