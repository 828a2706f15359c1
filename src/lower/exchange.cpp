// Registers dealt anew within a warp: a bit of the register index trades places with a bit of the lane index. Of each pair of
// registers a lane gives one and gets one. Neighbours that stay together travel in one word.
#include "lower/lowering.h"

namespace tilec::lower {

using ir::BinaryFn;

namespace {

constexpr int64_t kWordBytes = 4;

Scalar bits_type(Scalar element) { return byte_width(element) == 1 ? Scalar::U8 : byte_width(element) == 2 ? Scalar::U16 : Scalar::U32; }

// How many of a lane's first registers stay where they are, as far as they fit a word.
int64_t kept_together(const layout::Widening& dealt, Scalar element) {
  int bits = 0;
  auto is_swapped = [&](int bit) { return std::ranges::any_of(dealt.swaps, [&](const auto& s) { return s.reg == bit; }); };
  while (byte_width(element) << (bits + 1) <= kWordBytes && bits < int(dealt.order.size()) && dealt.order[size_t(bits)] == bits && !is_swapped(bits)) ++bits;
  return int64_t(1) << bits;
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

std::vector<ValueId> Lowering::unpacked_word(ValueId word, int64_t count, Scalar element) {
  if (count == 1) return {word};
  std::vector<ValueId> elements;
  for (int64_t i = 0; i < count; ++i) {
    ValueId bits = builder_.binary(BinaryFn::Shr, word, builder_.constant(Scalar::U32, ir::Number::integer(i * bit_width(element))));
    elements.push_back(builder_.convert(builder_.convert(bits, bits_type(element), ir::ConvertMode::Wrap), element, ir::ConvertMode::Bits));
  }
  return elements;
}

// The registers of a tile under another layout of the same warps, as `element`.
std::vector<ValueId> Lowering::exchanged(const layout::Widening& dealt, std::span<const ValueId> registers, Scalar element) {
  int64_t together = kept_together(dealt, element);
  std::vector<ValueId> words, elements, result;
  for (ValueId v : registers) {
    elements.push_back(broadcast(builder_.convert(v, element)));
    if (int64_t(elements.size()) < together) continue;
    words.push_back(packed_word(elements));
    elements.clear();
  }
  ValueId lane = builder_.value(ir::op::LaneIndex{}, ir::scalar_type(Scalar::Index, true));
  for (const layout::Widening::Swap& swap : dealt.swaps) {
    size_t step = (size_t(1) << swap.reg) / size_t(together);
    int64_t distance = int64_t(1) << swap.lane;
    ValueId is_upper = builder_.compare(ir::CompareFn::Ne, builder_.binary(BinaryFn::And, lane, builder_.index(distance)), builder_.index(0));
    for (size_t low = 0; low < words.size(); ++low) {
      if (low & step) continue;
      ValueId a = words[low], b = words[low | step];
      ValueId other = builder_.value(ir::op::Shuffle{ir::ShuffleKind::Xor, builder_.select(is_upper, a, b), builder_.index(distance)},
                                     ir::scalar_type(target_.type(a).element, true));
      words[low] = builder_.select(is_upper, other, a);
      words[low | step] = builder_.select(is_upper, b, other);
    }
  }
  for (ValueId word : words)
    for (ValueId v : unpacked_word(word, together, element)) elements.push_back(v);
  for (size_t r = 0; r < elements.size(); ++r) {
    size_t from = r >> dealt.order.size() << dealt.order.size();
    for (size_t bit = 0; bit < dealt.order.size(); ++bit) from |= (r >> bit & 1) << dealt.order[bit];
    result.push_back(elements[from]);
  }
  return result;
}

}  // namespace tilec::lower
