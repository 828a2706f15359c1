// Registers dealt anew within a warp: a bit of the register index trades places with a bit of the lane index. Of each pair of
// registers a lane gives one and gets one. What stays together travels in one word.
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;

namespace {

constexpr int64_t kWordBytes = 4;

Scalar bits_type(Scalar element) { return byte_width(element) == 1 ? Scalar::U8 : byte_width(element) == 2 ? Scalar::U16 : Scalar::U32; }

// Bits of the register index that stay where they are: registers that differ in these alone travel in one word.
std::vector<int> kept_bits(const layout::Widening& dealt, Scalar element) {
  std::vector<int> kept;
  auto is_swapped = [&](int bit) { return std::ranges::any_of(dealt.swaps, [&](const auto& s) { return s.reg == bit; }); };
  for (int bit = 0; bit < int(dealt.order.size()) && byte_width(element) << (kept.size() + 1) <= kWordBytes; ++bit)
    if (!is_swapped(bit)) kept.push_back(bit);
  return kept;
}

// Where a register lies in the words.
struct InWords {
  size_t word = 0, part = 0;
};

InWords in_words(size_t reg, std::span<const int> kept) {
  InWords at{.word = reg};
  for (size_t i = kept.size(); i-- > 0;) {
    size_t below = at.word & ((size_t(1) << kept[i]) - 1);
    at.part = at.part << 1 | (at.word >> kept[i] & 1);
    at.word = (at.word >> (kept[i] + 1)) << kept[i] | below;
  }
  return at;
}

}  // namespace

// One number: itself where it is alone, else the bits of `elements`, the first lowest.
ValueId Lowering::packed_word(std::span<const ValueId> elements) {
  if (elements.size() == 1) return elements[0];
  ValueId word;
  Scalar element = target_.type(elements[0]).element;
  for (size_t i = 0; i < elements.size(); ++i) {
    ValueId bits = builder_.convert(builder_.convert(elements[i], bits_type(element), ir::ConvertMode::Bits), Scalar::U32);
    if (i == 0) word = bits;
    else word = builder_.binary(BinaryFn::Or, word, builder_.binary(BinaryFn::Shl, bits, builder_.constant(Scalar::U32, ir::Number::integer(int64_t(i) * bit_width(element)))));
  }
  return word;
}

ValueId Lowering::part_of_word(ValueId word, int64_t part, Scalar element) {
  ValueId bits = builder_.binary(BinaryFn::Shr, word, builder_.constant(Scalar::U32, ir::Number::integer(part * bit_width(element))));
  return builder_.convert(builder_.convert(bits, bits_type(element), ir::ConvertMode::Wrap), element, ir::ConvertMode::Bits);
}

std::vector<ValueId> Lowering::unpacked_word(ValueId word, int64_t count, Scalar element) {
  if (count == 1) return {word};
  std::vector<ValueId> elements;
  for (int64_t i = 0; i < count; ++i) elements.push_back(part_of_word(word, i, element));
  return elements;
}

// The registers of a tile under another layout of the same warps, as `element`. Words that trade with each other do so where the first of
// their registers is asked for: what is stored in that order lives no longer than it must.
Lowering::Elements Lowering::exchanged(const layout::Widening& dealt, std::span<const ValueId> registers, Scalar element) {
  std::vector<int> kept = kept_bits(dealt, element);
  auto words = std::make_shared<std::vector<ValueId>>(registers.size() >> kept.size());
  std::vector<ValueId> held(registers.begin(), registers.end());
  return [this, words, held = std::move(held), dealt, kept, element](int64_t r) {
    size_t from = size_t(r) >> dealt.order.size() << dealt.order.size();
    for (size_t bit = 0; bit < dealt.order.size(); ++bit) from |= (size_t(r) >> bit & 1) << dealt.order[bit];
    InWords at = in_words(from, kept);
    if (!(*words)[at.word].valid()) trade(dealt, kept, held, element, at.word, *words);
    return kept.empty() ? (*words)[at.word] : part_of_word((*words)[at.word], int64_t(at.part), element);
  };
}

// All words that `word` has to do with.
void Lowering::trade(const layout::Widening& dealt, std::span<const int> kept, std::span<const ValueId> registers, Scalar element, size_t word,
                     std::vector<ValueId>& words) {
  std::vector<size_t> steps, group;
  size_t all = 0;
  for (const layout::Widening::Swap& swap : dealt.swaps) steps.push_back(in_words(size_t(1) << swap.reg, kept).word), all |= steps.back();
  for (size_t w = 0; w < words.size(); ++w)
    if (((w ^ word) & ~all) == 0) group.push_back(w);
  std::map<size_t, std::vector<ValueId>> parts;
  for (size_t w : group) parts[w].resize(size_t(1) << kept.size());
  for (size_t r = 0; r < registers.size(); ++r) {
    InWords at = in_words(r, kept);
    if (parts.contains(at.word)) parts[at.word][at.part] = broadcast(builder_.convert(registers[r], element));
  }
  for (size_t w : group) words[w] = packed_word(parts[w]);
  ValueId lane = builder_.value(ir::op::LaneIndex{}, ir::scalar_type(Scalar::Index, true));
  for (size_t i = 0; i < steps.size(); ++i) {
    int64_t distance = int64_t(1) << dealt.swaps[i].lane;
    ValueId is_upper = builder_.compare(ir::CompareFn::Ne, builder_.binary(BinaryFn::And, lane, builder_.index(distance)), builder_.index(0));
    for (size_t low : group) {
      if (low & steps[i]) continue;
      ValueId a = words[low], b = words[low | steps[i]];
      ValueId other = builder_.value(ir::op::Shuffle{ir::ShuffleKind::Xor, builder_.select(is_upper, a, b), builder_.index(distance)},
                                     ir::scalar_type(target_.type(a).element, true));
      words[low] = builder_.select(is_upper, other, a);
      words[low | steps[i]] = builder_.select(is_upper, b, other);
    }
  }
}

}  // namespace tilec::lower
