#include "diag/catalogue.h"

#include <algorithm>
#include <cctype>

#include "diag/diag.h"

namespace tilec {

std::string_view name(Severity severity) {
  constexpr std::string_view kNames[] = {"error", "warning", "remark", "note"};
  return kNames[size_t(severity)];
}

namespace diag {

namespace {

constexpr Row kRows[] = {
#define DIAG(code, name, ...) name.row,
#define REMARK(code, name, ...) name.row,
#include "diag/catalogue.def"
};
constexpr Row kNotes[] = {
#define NOTE(name, ...) name.row,
#include "diag/catalogue.def"
};
constexpr FlagInfo kGroups[] = {
#define GROUP(Kind, doc) {kFlag<kebab(#Kind)>, doc},
    TILEC_REMARK_GROUPS(GROUP)
#undef GROUP
};

consteval bool ascends() {
  for (size_t i = 1; i < std::size(kRows); ++i)
    if (kRows[i - 1].code >= kRows[i].code) return false;
  return true;
}
static_assert(ascends(), "rows stand in the order of their codes, and no code is used twice");

consteval bool codes_are_well_formed() {
  for (const Row& row : kRows) {
    if (row.code.size() != 5 || row.code[0] != 'T') return false;
    for (char c : row.code.substr(1))
      if (c < '0' || c > '9') return false;
  }
  return true;
}
static_assert(codes_are_well_formed(), "a code is T and four digits");

// Every hole names an argument, every argument has a hole, and only an integer has a noun.
template <Severity severity, class... Args>
consteval bool fits(const Message<severity, Args...>& message) {
  constexpr size_t kCount = sizeof...(Args);
  std::array<ArgumentKind, kCount + 1> kinds{kArgumentKind<Args>...};
  std::array<bool, kCount + 1> used{};
  std::string_view text = message.row.text;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') continue;
    size_t n = size_t(text[i + 1] - '0'), close = text.find('}', i);
    if (n >= kCount || close == text.npos) return false;
    if (close != i + 2 && (text[i + 2] != ' ' || kinds[n] != ArgumentKind::Integer)) return false;
    used[n] = true;
  }
  return std::count(used.begin(), used.end(), true) == kCount;
}
#define DIAG(code, name, ...) static_assert(fits(name), "the holes of a text and its arguments agree");
#define REMARK(code, name, ...) static_assert(fits(name), "the holes of a text and its arguments agree");
#define NOTE(name, ...) static_assert(fits(name), "the holes of a text and its arguments agree");
#include "diag/catalogue.def"

// Enough English for the nouns of the catalogue: bytes, passes, boxes, branches.
std::string plural(std::string_view noun) {
  bool hisses = noun.ends_with("s") || noun.ends_with("x") || noun.ends_with("ch");
  return std::string(noun) + (hisses ? "es" : "s");
}

// "a number", "an integer": words in the place of a name. A piece of source may begin with a variable `a`, and then a sign
// follows, or the `as` of a conversion or the `is` of a test.
bool is_description(std::string_view text) {
  std::string_view article = text.substr(0, text.find(' '));
  if ((article != "a" && article != "an") || article.size() == text.size()) return false;
  std::string_view rest = text.substr(article.size() + 1), word = rest.substr(0, rest.find(' '));
  return !rest.empty() && std::islower(static_cast<unsigned char>(rest[0])) && word != "as" && word != "is";
}

std::string show(const Argument& argument, std::string_view noun) {
  if (argument.kind == ArgumentKind::Name && is_description(argument.text)) return std::string(argument.text);
  if (argument.kind == ArgumentKind::Name) return "`" + std::string(argument.text) + "`";
  if (argument.kind == ArgumentKind::Text) return std::string(argument.text);
  std::string out = std::to_string(argument.integer);
  if (noun.empty()) return out;
  return out + " " + (argument.integer == 1 ? std::string(noun) : plural(noun));
}

}  // namespace

std::string format(std::string_view text, std::span<const Argument> arguments) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') {
      out += text[i];
      continue;
    }
    size_t close = text.find('}', i);
    std::string_view noun = close > i + 2 ? text.substr(i + 3, close - i - 3) : std::string_view();
    out += show(arguments[size_t(text[i + 1] - '0')], noun);
    i = close;
  }
  return out;
}

std::span<const Row> rows() { return kRows; }
std::span<const Row> note_rows() { return kNotes; }

const Row* find_row(std::string_view code_or_name) {
  for (const Row& row : kRows)
    if (row.code == code_or_name || row.name == code_or_name) return &row;
  return nullptr;
}

std::span<const FlagInfo> remark_groups() { return kGroups; }
std::string_view flag_of(RemarkGroup group) { return kGroups[size_t(group)].flag; }

bool is_warning_flag(std::string_view flag) {
  return std::ranges::any_of(kRows, [&](const Row& r) { return r.severity == Severity::Warning && r.flag == flag; });
}
bool is_remark_group(std::string_view flag) {
  return std::ranges::any_of(kGroups, [&](const FlagInfo& group) { return group.flag == flag; });
}

}  // namespace diag
}  // namespace tilec
