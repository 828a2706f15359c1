// The notation of layouts, the same in IR text, atom tables, docs and tests.
//
//   register layout   reg(c0 r3 c3) lane(c1 c2 r0 r1 r2) warp(r4 _) cta(r5) grid(c 3) warpgrid(r 3)
//   memory layout     addr(c0 c1 c2 c3^r0 _ * r0) grid(c 3 : 64, r 5 : 192) pad(32 + 4)
//
// A register bit lists the coordinate bits that it flips, an address bit those that it is made of, joined by ^.
// `_` is a replica in registers and a hole in memory; `*` is an address bit at both values of which the element is
// stored. `grid(c 3)` are three steps along c in registers, `warpgrid(r 3)` in warps (`_` for the axis: replicas);
// `grid(c 3 : 64)` are three steps with stride 64. Groups without contents are left out; the empty layout is `reg()`.
//
// `letters` names the axes in order, one letter each; by default "c", "rc", "arc" ... by the rank.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "layout/mem_layout.h"
#include "layout/reg_layout.h"

namespace tilec::layout {

// A value, or what is wrong with the text and where.
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string error;
  size_t offset = 0;
  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }
};

// Without a shape the tile is what the layout covers. The laws are checked: a parsed layout has no flaw.
Parsed<RegLayout> parse_reg_layout(std::string_view text, std::string_view letters);
Parsed<RegLayout> parse_reg_layout(std::string_view text, const Shape& shape, std::string_view letters = {});
Parsed<MemLayout> parse_mem_layout(std::string_view text, std::string_view letters);
Parsed<MemLayout> parse_mem_layout(std::string_view text, const Shape& shape, std::string_view letters = {});

// For texts of our own (tables, tests): a text that does not parse is a broken law.
RegLayout reg_layout(std::string_view text, std::string_view letters = "rc");
MemLayout mem_layout(std::string_view text, std::string_view letters = "rc");

std::string print(const RegLayout& layout, std::string_view letters = {});
std::string print(const MemLayout& layout, std::string_view letters = {});

}  // namespace tilec::layout
