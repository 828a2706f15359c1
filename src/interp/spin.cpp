// Loops that wait for ever. A `while` that changes no memory is watched: where its whole frame is what it was some turns ago, and memory
// as well, it will be so for all time, as nobody else runs in between.
#include "interp/emitter.h"
#include "interp/handlers.h"

namespace tilec::interp {

using namespace ir;

namespace {

// Operations that a watched loop may hold: none of them lets another strand run, none changes memory but an atomic that finds another number.
struct IsQuiet {
  template <class T> bool operator()(const T&) const {
    constexpr bool is_number = std::is_same_v<T, op::Constant> || std::is_same_v<T, op::Unary> || std::is_same_v<T, op::Binary> || std::is_same_v<T, op::Fma> ||
                               std::is_same_v<T, op::Compare> || std::is_same_v<T, op::Select> || std::is_same_v<T, op::Convert> || std::is_same_v<T, op::Extent> ||
                               std::is_same_v<T, op::Stride> || std::is_same_v<T, op::Overflows> || std::is_same_v<T, op::Inside>;
    constexpr bool is_control = std::is_same_v<T, op::If> || std::is_same_v<T, op::For> || std::is_same_v<T, op::While> || std::is_same_v<T, op::Yield> || std::is_same_v<T, op::Fault>;
    constexpr bool is_memory = std::is_same_v<T, op::ElementLoad> || std::is_same_v<T, op::Atomic> || std::is_same_v<T, op::MemLoad> || std::is_same_v<T, op::MemAtomic>;
    return is_number || is_control || is_memory;
  }
};

}  // namespace

bool Emitter::is_watched(const op::While& loop) const {
  bool is_quiet = true;
  for (RegionId region : {loop.condition, loop.body})
    each_op(kernel_, region, [&](OpId id) { is_quiet &= visit(kernel_.op(id).data, IsQuiet{}); });
  return is_quiet;
}

std::string Emitter::read_by(const op::While& loop) const {
  std::string names;
  auto add = [&](ValueId buffer) {
    std::string name = "`" + kernel_.value(buffer).hint + "`";
    if (name.size() > 2 && names.find(name) == names.npos) names += (names.empty() ? "" : ", ") + name;
  };
  for (RegionId region : {loop.condition, loop.body})
    each_op(kernel_, region, [&](OpId id) {
      const Op& op = kernel_.op(id);
      if (auto* x = op.get<op::ElementLoad>()) add(x->buffer);
      if (auto* x = op.get<op::Atomic>()) add(x->buffer);
      if (auto* x = op.get<op::MemLoad>()) add(x->buffer);
      if (auto* x = op.get<op::MemAtomic>()) add(x->buffer);
    });
  return names;
}

namespace {

Status say_endless(Strand& s, const Instr& i) {
  const std::string& names = s.code->data[size_t(i.a)].names[0];
  std::string who = s.block ? "block " + std::to_string(s.block->number) : "the kernel";
  if (names.empty()) return fail(s, FaultKind::Deadlock, i, who + " turns here for ever: nothing that the loop tests changes");
  return fail(s, FaultKind::Deadlock, i,
              who + " waits here for ever for " + names + " to change: the loop changes nothing, and blocks do not wait for each other; they may run one after the other");
}

}  // namespace

Status do_watched_jump(Strand& s, const Instr& i) {
  if (Status status = do_jump(s, i); status != Status::Next) return status;
  constexpr uint64_t kFirstLook = 1024;
  Watch& watch = s.watches[s.pc];
  if (watch.execution != s.execution) watch = {.execution = s.execution};  // others have run since
  ++watch.turns;
  bool is_same = watch.turns > kFirstLook && watch.changes == s.run->changes && watch.mask == s.mask && watch.frame.size() == s.storage.size() &&
                 std::memcmp(watch.frame.data(), s.storage.data(), s.storage.size() * sizeof(Slot)) == 0;
  if (is_same) return say_endless(s, i);
  // Looks back at a turn that is at most half the way behind, so that a state that comes again after any number of turns is found.
  if (watch.turns >= kFirstLook && (watch.turns & (watch.turns - 1)) == 0) {
    watch.frame = s.storage;
    watch.mask = s.mask;
    watch.changes = s.run->changes;
  }
  return Status::Next;
}

}  // namespace tilec::interp
