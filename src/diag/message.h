// A message is a row of the catalogue as a value whose type carries the row's severity and its arguments' types.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tilec {

enum class Severity : uint8_t { Error, Warning, Remark, Note };
std::string_view name(Severity severity);  // "error", ...

// What a remark is about; `-R memory` shows a group. DOC is the line of `--help`.
#define TILEC_REMARK_GROUPS(GROUP)                                          \
  GROUP(TensorCore, "which matrix instructions were chosen, and why")       \
  GROUP(Memory, "how copies and accesses reach memory")                     \
  GROUP(Pipeline, "what overlaps in pipelined loops")                       \
  GROUP(Spill, "values that do not fit the registers")                      \
  GROUP(Layout, "conversions between layouts, and what they cost")          \
  GROUP(Schedule, "roles, stages and order chosen")                         \
  GROUP(Proof, "guards kept because a proof was not found")
enum class RemarkGroup : uint8_t {
#define GROUP(Kind, doc) Kind,
  TILEC_REMARK_GROUPS(GROUP)
#undef GROUP
};

namespace diag {

// Argument types of rows. Both convert from anything that is text; a Name is shown in back-ticks.
struct Text {
  std::string_view text;
  template <class T> requires std::convertible_to<const T&, std::string_view>
  constexpr Text(const T& from) : text(from) {}
};
struct Name {
  std::string_view text;
  template <class T> requires std::convertible_to<const T&, std::string_view>
  constexpr Name(const T& from) : text(from) {}
};

enum class ArgumentKind : uint8_t { Text, Name, Integer };
template <class T> inline constexpr ArgumentKind kArgumentKind = T::not_a_type_of_the_catalogue;
template <> inline constexpr ArgumentKind kArgumentKind<Text> = ArgumentKind::Text;
template <> inline constexpr ArgumentKind kArgumentKind<Name> = ArgumentKind::Name;
template <> inline constexpr ArgumentKind kArgumentKind<int64_t> = ArgumentKind::Integer;

struct Argument {
  ArgumentKind kind;
  std::string_view text;
  int64_t integer = 0;
};
inline Argument argument(Text value) { return {ArgumentKind::Text, value.text}; }
inline Argument argument(Name value) { return {ArgumentKind::Name, value.text}; }
inline Argument argument(int64_t value) { return {ArgumentKind::Integer, {}, value}; }

// The untyped part of a message. `flag` is that of a warning or the group of a remark, in kebab-case.
struct Row {
  std::string_view code, name;
  Severity severity;
  std::string_view flag, text;
};

template <Severity severity, class... Args>
struct Message {
  Row row;
};

// The row's text with its arguments put in.
std::string format(std::string_view text, std::span<const Argument> arguments);

// "UnprovedRace" as "unproved-race", at compile time; the result ends at the first zero.
struct Flag {
  std::array<char, 48> letters{};
  constexpr operator std::string_view() const { return letters.data(); }
};
consteval Flag kebab(std::string_view name) {
  Flag flag;
  size_t n = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    bool is_upper = name[i] >= 'A' && name[i] <= 'Z';
    if (is_upper && i) flag.letters[n++] = '-';
    flag.letters[n++] = is_upper ? char(name[i] - 'A' + 'a') : name[i];
  }
  return flag;
}
// One array for each flag, so that views of it live as long as the program.
template <Flag flag> inline constexpr Flag kFlag = flag;

}  // namespace diag
}  // namespace tilec
