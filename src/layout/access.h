// Memory after registers: questions about mem ∘ reg, the addresses that lanes touch when a tile held as `reg` is
// loaded from or stored to a buffer laid out as `mem`. Addresses count elements.
#pragma once
#include <optional>

#include "layout/mem_layout.h"
#include "layout/reg_layout.h"

namespace tilec::layout {

// The address bits that each hardware bit flips, when the address is a sum of bits: no padding, and every bit of the
// register layout falls within the bits of the memory layout. A place's grid index then adds or flips a constant.
struct AccessBits {
  Basis reg, lane, warp, cta;
};
std::optional<AccessBits> access_bits(const MemLayout& mem, const RegLayout& reg);

// How many consecutive registers of a lane are consecutive, aligned addresses: a power of two, 1 when none are. Every
// such vector is wholly inside the tile or wholly outside.
int vector_width(const MemLayout& mem, const RegLayout& reg);
// The same along one axis whatever the memory: consecutive, aligned indices of `axis` in consecutive registers.
int contiguous_registers(const RegLayout& reg, int axis);

// The distance of neighbouring lanes' addresses: 0 (all lanes touch one element), 1 (a vector), k, or unknown.
std::optional<int64_t> lane_stride(const MemLayout& mem, const RegLayout& reg);

struct Banks {
  int count = 32;
  int bytes = 4;
};
// How many turns the worst access takes: 1 is free of conflicts. Each lane touches `vector` elements at once; as many
// lanes as fill all banks go in one turn. Lanes that touch the same word share it.
int bank_conflicts(const MemLayout& mem, const RegLayout& reg, int element_bits, int vector, Banks banks = {});
// The same by looking at every address: any strides and padding. The one above asks it where rank cannot answer.
int counted_bank_conflicts(const MemLayout& mem, const RegLayout& reg, int element_bits, int vector, Banks banks = {});

// Does an instruction that moves rows fit? `atom` says over (row, element of a row) what the lanes of one instruction
// hold; a row is contiguous and aligned, and may lie anywhere. More registers than the atom's are further rows.
bool fits_rows(const MemLayout& mem, const RegLayout& reg, const RegLayout& atom);

// The quotient of a memory layout by a core of bits, when every core of the tile is laid out as `core` and starts at a
// multiple of its size: the addresses of the cores, whose strides are the fields of a descriptor.
std::optional<MemLayout> divide(const MemLayout& tile, const MemLayout& core);

}  // namespace tilec::layout
