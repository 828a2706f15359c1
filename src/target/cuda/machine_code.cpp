// Instructions are 16 bytes each. The low 12 bits say which it is, the next four under which predicate it runs (7: always). A branch has
// its distance, in units of 4 bytes from the next instruction, in bits 34 to 81, from generation 9 on with eight lower ones in bits 16 to
// 23; it may have a second predicate in bits 87 to 90. Found out by looking, as in tests/assemble/machine_code.py: a branch that leads
// elsewhere is of another encoding, and then nothing is told.
#include "target/cuda/machine_code.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace tilec::target::cuda {

namespace {

constexpr size_t kBytes = 16;
constexpr uint64_t kLoadStack = 0x983, kStoreStack = 0x387, kBranch = 0x947, kEnd = 0x94D, kAlways = 7;
constexpr int kFirstOfLongBranches = 90;
// Offsets in the headers of a 64-bit little-endian ELF file.
constexpr size_t kSectionTable = 40, kSectionCount = 60, kNamesIndex = 62, kRowBytes = 64, kRowOffset = 24, kRowSize = 32;

struct Instruction {
  uint64_t what;
  bool goes_on = true;  // to the next one
  int64_t to = -1;      // of a branch: the index of where it leads
};

template <class T> T number_at(std::string_view bytes, size_t at) {
  T value{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof value) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view part(std::string_view bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset ? bytes.substr(offset, size) : std::string_view();
}

std::string_view section(std::string_view image, std::string_view name) {
  auto row = [&](size_t i) { return part(image, number_at<uint64_t>(image, kSectionTable) + kRowBytes * i, kRowBytes); };
  auto contents = [&](std::string_view r) { return part(image, number_at<uint64_t>(r, kRowOffset), number_at<uint64_t>(r, kRowSize)); };
  std::string_view names = contents(row(number_at<uint16_t>(image, kNamesIndex)));
  for (size_t i = 0; i < number_at<uint16_t>(image, kSectionCount); ++i) {
    std::string_view own = names.substr(std::min<size_t>(number_at<uint32_t>(row(i), 0), names.size()));
    if (own.substr(0, own.find('\0')) == name) return contents(row(i));
  }
  return {};
}

std::optional<std::vector<Instruction>> decoded(std::string_view code, int generation) {
  std::vector<Instruction> all;
  const int64_t count = int64_t(code.size() / kBytes);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t low = number_at<uint64_t>(code, size_t(i) * kBytes), high = number_at<uint64_t>(code, size_t(i) * kBytes + 8);
    Instruction one{low & 0xFFF};
    bool is_always = (low >> 12 & 15) == kAlways;
    if (one.what == kBranch) {
      int64_t distance = int64_t((high << 30 | low >> 34) << 16) >> 16;  // bits 34 to 81, with a sign
      if (generation >= kFirstOfLongBranches) distance = int64_t(uint64_t(distance) << 8 | (low >> 16 & 0xFF));
      is_always &= (high >> 23 & 15) == kAlways;
      bool is_whole = distance % int64_t(kBytes / 4) == 0;
      one.to = i + 1 + distance / int64_t(kBytes / 4);
      if (!is_whole || one.to < 0 || one.to > count) return std::nullopt;
    }
    one.goes_on = !is_always || (one.what != kBranch && one.what != kEnd);
    all.push_back(one);
  }
  return all;
}

// Instructions that a way leads back to: those of components of more than one (Tarjan's, without recursion), or that lead to themselves.
class Loops {
 public:
  explicit Loops(const std::vector<Instruction>& code) : code_(code), order_(code.size(), -1), low_(code.size()), is_open_(code.size()), found_(code.size()) {
    for (size_t i = 0; i < code.size(); ++i)
      if (order_[i] < 0) run(i);
  }
  bool has(size_t i) const { return found_[i]; }

 private:
  struct Step {
    size_t at;
    int way = 0;
  };
  static constexpr int kWays = 2;

  int64_t next(size_t at, int way) const {
    int64_t to = way == 1 ? code_[at].to : code_[at].goes_on ? int64_t(at) + 1 : -1;
    return to < int64_t(code_.size()) ? to : -1;
  }
  void enter(size_t at) {
    order_[at] = low_[at] = count_++;
    open_.push_back(at);
    is_open_[at] = true;
    steps_.push_back({at});
  }

  void run(size_t root) {
    enter(root);
    while (!steps_.empty()) {
      Step& step = steps_.back();
      if (step.way == kWays) {
        leave(step.at);
        continue;
      }
      const size_t at = step.at;
      int64_t to = next(at, step.way++);
      if (to < 0) continue;
      if (to == int64_t(at)) found_[at] = true;
      if (order_[size_t(to)] < 0) enter(size_t(to));
      else if (is_open_[size_t(to)]) low_[at] = std::min(low_[at], order_[size_t(to)]);
    }
  }

  void leave(size_t at) {
    steps_.pop_back();
    if (!steps_.empty()) low_[steps_.back().at] = std::min(low_[steps_.back().at], low_[at]);
    if (low_[at] != order_[at]) return;
    bool is_alone = open_.back() == at;
    for (bool is_last = false; !is_last; open_.pop_back()) {
      is_last = open_.back() == at;
      is_open_[open_.back()] = false;
      if (!is_alone) found_[open_.back()] = true;
    }
  }

  const std::vector<Instruction>& code_;
  std::vector<int64_t> order_, low_;
  std::vector<bool> is_open_, found_;
  std::vector<size_t> open_;
  std::vector<Step> steps_;
  int64_t count_ = 0;
};

}  // namespace

std::optional<int64_t> stack_accesses_in_loops(std::string_view image, std::string_view function, int generation) {
  auto code = decoded(section(image, ".text." + std::string(function)), generation);
  if (!code || code->empty()) return std::nullopt;
  Loops loops(*code);
  int64_t count = 0;
  for (size_t i = 0; i < code->size(); ++i) count += loops.has(i) && ((*code)[i].what == kLoadStack || (*code)[i].what == kStoreStack);
  return count;
}

}  // namespace tilec::target::cuda
