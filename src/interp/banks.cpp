#include "interp/banks.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace tilec::interp {

namespace {

constexpr int kBankBytes = 4, kMaxBanks = 64;

// Words of one bank that differ cannot be served together; the same word is served to all at once.
int rounds(const int64_t* words, int count, int banks) {
  int64_t seen[kMaxBanks][8];
  int used[kMaxBanks] = {};
  int most = 0;
  const bool is_power = (banks & (banks - 1)) == 0;  // as ever: no division for each word
  for (int k = 0; k < count; ++k) {
    int bank = is_power ? int(words[k] & (banks - 1)) : int(words[k] % banks);
    int have = std::min(used[bank], 8);
    if (std::find(seen[bank], seen[bank] + have, words[k]) != seen[bank] + have) continue;
    if (used[bank] < 8) seen[bank][used[bank]] = words[k];
    most = std::max(most, ++used[bank]);
  }
  return most;
}

}  // namespace

Transactions transactions(uint64_t acting, const int64_t* bytes, int width, int banks) {
  banks = std::min(banks, kMaxBanks);
  int words_a_lane = std::max(1, (width + kBankBytes - 1) / kBankBytes);
  int lanes_a_phase = std::max(1, banks / words_a_lane);
  Transactions t;
  int64_t words[kMaxBanks * 2];
  int lanes = std::bit_width(acting);
  for (int first = 0; first < lanes; first += lanes_a_phase) {
    int count = 0;
    for (int lane = first; lane < std::min(lanes, first + lanes_a_phase); ++lane)
      for (int w = 0; (acting >> lane & 1) && w < std::min(words_a_lane, banks); ++w)
        words[count++] = bytes[lane] / kBankBytes + w;
    if (!count) continue;
    ++t.phases;
    t.needed += rounds(words, count, banks);
  }
  return t;
}

}  // namespace tilec::interp
