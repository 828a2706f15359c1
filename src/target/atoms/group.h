// Products of four warps that run beside them: B, and A unless it is in registers, in shared memory; 64 rows, and columns in steps
// of 8 up to 256. As the transpose of a product is that of its operands' transposes the other way round, the same instructions have
// 64 columns and such numbers of rows: rows of their own, which are the others with the operands in each other's place.
#pragma once
#include <array>
#include <bit>
#include <utility>

#include "machine/machine.h"

namespace tilec::target::atoms {

struct GroupElement {
  std::string_view name;
  Scalar input, accumulator;
  int k;
  std::string_view a;  // its layout, where it is in registers
  bool k_major_only = false;
  std::string_view types = {};  // as the instruction's text ends
  int sum_bits = 0;
  int wide_step = 8;  // of the widths beyond 32
};
constexpr std::string_view kGroupTwoBytes = "reg(k0 m3 k3) lane(k1 k2 m0 m1 m2) warp(m4 m5)";
constexpr std::string_view kGroupOneByte = "reg(k0 k1 m3 k4) lane(k2 k3 m0 m1 m2) warp(m4 m5)";
constexpr std::string_view kGroupFourBytes = "reg(m3 k2) lane(k0 k1 m0 m1 m2) warp(m4 m5)";
constexpr int kWidest = 256, kWidthStep = 8, kWidths = kWidest / kWidthStep;
constexpr bool has_width(const GroupElement& element, int n) { return n <= 32 || n % element.wide_step == 0; }

// A text made while compiling.
struct Text {
  std::array<char, 80> bytes{};
  size_t size = 0;
  constexpr Text& operator<<(std::string_view more) {
    for (char c : more) bytes[size++] = c;
    return *this;
  }
  constexpr Text& operator<<(int number) {
    if (number >= 10) *this << number / 10;
    bytes[size++] = char('0' + number % 10);
    return *this;
  }
  constexpr std::string_view view() const { return {bytes.data(), size}; }
};

// n = odd part x power of two: the power is bits, the odd part a grid.
constexpr Text accumulator_layout(int n) {
  Text text;
  int bits = std::countr_zero(unsigned(n)), odd = n >> bits;
  text << "reg(n0 m3";
  for (int bit = 3; bit < bits; ++bit) text << " n" << bit;
  text << ") lane(n1 n2 m0 m1 m2) warp(m4 m5)";
  if (odd > 1) text << " grid(n " << odd << ")";
  return text;
}

// The same text with the axes m and n in each other's place; an axis stands behind a space or a bracket.
constexpr Text swapped_axes(std::string_view layout) {
  Text text;
  char before = ' ';
  for (char c : layout) {
    bool may_be_axis = before == ' ' || before == '(';
    text.bytes[text.size++] = may_be_axis && c == 'm' ? 'n' : may_be_axis && c == 'n' ? 'm' : c;
    before = c;
  }
  return text;
}

inline constexpr auto kGroupAccumulators = [] {
  std::array<Text, kWidths> texts;
  for (int i = 0; i < kWidths; ++i) texts[i] = accumulator_layout(kWidest - i * kWidthStep);
  return texts;
}();
inline constexpr auto kSwappedAccumulators = [] {
  std::array<Text, kWidths> texts;
  for (int i = 0; i < kWidths; ++i) texts[i] = swapped_axes(kGroupAccumulators[i].view());
  return texts;
}();
// "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16"; empty where nothing is spelled.
template <const auto& Elements>
inline constexpr auto kGroupTexts = [] {
  std::array<Text, kWidths * std::size(Elements)> texts;
  for (size_t e = 0; e < std::size(Elements); ++e)
    for (int i = 0; i < kWidths && !Elements[e].types.empty(); ++i)
      texts[e * kWidths + i] << "wgmma.mma_async.sync.aligned.m64n" << kWidest - i * kWidthStep << "k" << Elements[e].k << "." << Elements[e].types;
  return texts;
}();
template <const auto& Elements>
inline constexpr auto kGroupNames = [] {
  std::array<Text, kWidths * std::size(Elements)> texts;
  for (size_t e = 0; e < std::size(Elements); ++e)
    for (int i = 0; i < kWidths; ++i)
      texts[e * kWidths + i] << "group.m64n" << kWidest - i * kWidthStep << "k" << Elements[e].k << "." << Elements[e].name;
  return texts;
}();
template <const auto& Elements>
inline constexpr auto kSwappedNames = [] {
  std::array<Text, kWidths * std::size(Elements)> texts;
  for (size_t i = 0; i < texts.size(); ++i) texts[i] << kGroupNames<Elements>[i].view() << ".swapped";
  return texts;
}();
template <const auto& Elements>
inline constexpr auto kSwappedOperands = [] {
  std::array<Text, std::size(Elements)> texts;
  for (size_t e = 0; e < std::size(Elements); ++e) texts[e] = swapped_axes(Elements[e].a);
  return texts;
}();

// The widest first: of two that fit a tile, the wider reads less of A.
template <const auto& Elements>
constexpr auto group_atoms() {
  constexpr size_t kCount = [] {
    size_t count = 0;
    for (const GroupElement& element : Elements)
      for (int n = kWidthStep; n <= kWidest; n += kWidthStep) count += has_width(element, n);
    return count;
  }();
  std::array<MatrixAtom, kCount> atoms;
  for (size_t e = 0, next = 0; e < std::size(Elements); ++e)
    for (int i = 0; i < kWidths; ++i) {
      const GroupElement& element = Elements[e];
      int n = kWidest - i * kWidthStep;
      if (!has_width(element, n)) continue;
      atoms[next++] = {.name = kGroupNames<Elements>[e * kWidths + i].view(), .kind = AtomKind::Group, .m = 64, .n = n,
                                .k = element.k, .a = element.input, .b = element.input, .c = element.accumulator,
                                .a_layout = element.a, .b_layout = "", .c_layout = kGroupAccumulators[i].view(), .warps = 4,
                                .cycles = {.issue = n / 2, .latency = n / 2 + 30},
                                .text = kGroupTexts<Elements>[e * kWidths + i].view(), .k_major_only = element.k_major_only, .sum_bits = element.sum_bits};
    }
  return atoms;
}

// Where a tile has few rows, or such as are no multiple of 64.
template <const auto& Elements>
constexpr auto swapped_group_atoms() {
  auto atoms = group_atoms<Elements>();
  size_t next = 0;
  for (size_t e = 0; e < std::size(Elements); ++e)
    for (int i = 0; i < kWidths; ++i) {
      if (!has_width(Elements[e], kWidest - i * kWidthStep)) continue;
      MatrixAtom& atom = atoms[next++];
      atom.swaps = atom.name;
      atom.name = kSwappedNames<Elements>[e * kWidths + i].view();
      std::swap(atom.m, atom.n);
      atom.a_layout = "", atom.b_layout = kSwappedOperands<Elements>[e].view(), atom.c_layout = kSwappedAccumulators[i].view();
    }
  return atoms;
}

// One table after the other.
template <size_t... N>
constexpr auto joined(const std::array<MatrixAtom, N>&... tables) {
  std::array<MatrixAtom, (N + ...)> all;
  size_t next = 0;
  auto append = [&](const auto& table) {
    for (const MatrixAtom& atom : table) all[next++] = atom;
  };
  (append(tables), ...);
  return all;
}

}  // namespace tilec::target::atoms
