#include "interp/atomics.h"

#include "interp/tile_memory.h"

namespace tilec::interp {

using namespace ir;

namespace {

Slot combined(const AtomicCall& call, Numeric numeric, Slot old, Slot expected, Slot value) {
  auto with = [&](BinaryFn fn) {
    // Integers wrap here, `int` as well: the order of atomics is free, so an overflow on the way means nothing.
    if (fn == BinaryFn::Add && !is_float(call.type)) return Slot{.i = wrap(call.type, int64_t(old.u + value.u))};
    return to_slot(*evaluate(fn, call.type, to_number(call.type, old), to_number(call.type, value), numeric));
  };
  switch (call.fn) {
    case AtomicFn::Add:
      return with(BinaryFn::Add);
    case AtomicFn::Max:
      return with(BinaryFn::Max);
    case AtomicFn::Min:
      return with(BinaryFn::Min);
    case AtomicFn::And:
      return with(BinaryFn::And);
    case AtomicFn::Or:
      return with(BinaryFn::Or);
    case AtomicFn::Xor:
      return with(BinaryFn::Xor);
    case AtomicFn::Exchange:
      return value;
    case AtomicFn::CompareExchange:
      return to_bits(call.type, to_number(call.type, old)) == to_bits(call.type, to_number(call.type, expected)) ? value
                                                                                                                 : old;
  }
  UNREACHABLE("an atomic function is one of the eight");
}

// A release leaves at the element what its maker knows; an acquire takes it up.
void synchronise(Strand& s, MemoryOrder order, Allocation& memory, int64_t byte) {
  if (order == MemoryOrder::Relaxed) return;
  Allocation::Released& at = memory.released[byte];
  Block& block = *s.block;
  if (order != MemoryOrder::Release) {
    if (at.base == s.run->base_time) s.clock.learn(at.known);
    block.known_blocks.insert(block.known_blocks.end(), at.blocks.begin(), at.blocks.end());
  }
  if (order == MemoryOrder::Acquire) return;
  if (at.base != s.run->base_time) at.known.clear();
  at.base = s.run->base_time;
  std::vector<uint64_t> mine = s.clock.knowledge();
  at.known.resize(std::max(at.known.size(), mine.size()), 0);
  for (size_t k = 0; k < mine.size(); ++k) at.known[k] = std::max(at.known[k], mine[k]);
  if (at.blocks.empty() || at.blocks.back() != block.number) at.blocks.push_back(block.number);
  for (uint32_t other : block.known_blocks)
    if (std::find(at.blocks.begin(), at.blocks.end(), other) == at.blocks.end()) at.blocks.push_back(other);
  advance(*block.cluster, s.clock);
}

}  // namespace

bool update(Strand& s, const Instr& i, const AtomicCall& call, Allocation& memory, int64_t byte, int lane,
            Slot expected, Slot value, Slot& old) {
  if (!memory.is_plain() && !touch_bytes(toucher(s, i), memory, byte, byte_width(call.type), lane, Touch::Atomic))
    return false;
  old = load_element(call.type, memory.data + byte);
  Slot now = combined(call, s.run->options.numeric, old, expected, value);
  store_element(call.type, memory.data + byte, now);
  s.run->changes += now.u != old.u;
  if (s.block) synchronise(s, call.order, memory, byte);
  ++s.run->counters().atomics;
  return true;
}

void add_region(Run& run, const Region& r, const Slot* values) {
  AtomicCall call{AtomicFn::Add, MemoryOrder::Relaxed, r.view.element};
  int width = byte_width(r.view.element), last = r.rank - 1;
  int64_t low = r.rank ? r.low[last] : 0, high = r.rank ? r.high[last] : 1, step = r.rank ? r.stride[last] : 1;
  each_row(r, [&](int64_t at, int64_t place, bool is_inside) {
    for (int64_t k = low; is_inside && k < high; ++k) {
      uint8_t* byte = r.view.memory->data + (place + k * step) * width;
      store_element(call.type, byte, combined(call, run.options.numeric, load_element(call.type, byte), values[at + k], values[at + k]));
    }
    return true;
  });
}

}  // namespace tilec::interp
