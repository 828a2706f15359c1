#include "ir/parse.h"

#include "ir/attribute_text.h"
#include "ir/header_fields.h"
#include "ir/print.h"
#include "ir/type_text.h"

namespace tilec::ir {

namespace {

constexpr int kDeepest = 200;             // regions inside regions
constexpr int64_t kMostValues = 1 << 22;  // a larger number belongs to the hint

// %acc_12 has the hint "acc" and the number 12; %12 no hint; %acc no number.
struct NameParts {
  std::string_view hint;
  std::optional<int64_t> number;
};

NameParts split_name(std::string_view name) {
  auto number_of = [](std::string_view digits) {
    bool is_plain = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos &&
                    (digits.size() == 1 || digits[0] != '0');
    auto number = is_plain ? decimal(digits) : std::nullopt;
    return number && *number < kMostValues ? number : std::nullopt;
  };
  if (auto number = number_of(name)) return {"", number};
  size_t bar = name.rfind('_');
  if (bar != name.npos && bar > 0)
    if (auto number = number_of(name.substr(bar + 1))) return {name.substr(0, bar), number};
  return {name, std::nullopt};
}

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text) { reserve_numbers(text); }

  std::optional<Kernel> kernel();
  const std::string& error() const { return scanner_.error(); }

 private:
  bool header();
  template <class Struct>
  bool header_line(std::vector<Struct>& list);
  bool region(RegionId& out, int depth);
  bool arguments(RegionId id);
  bool operation(RegionId into, int depth);
  bool regions(OpData& data, int depth);
  bool result_types(const std::vector<ValueId>& results);
  bool span(Span& out);
  bool all_defined();

  // Fields of operations and of header lines.
  template <class Struct>
  bool fields(Struct& s, std::string_view suffix);
  template <class Struct>
  bool suffix(Struct& s, std::string_view text);
  template <class Struct>
  bool positional(Struct& s, bool& is_first);
  template <class Struct>
  bool named(Struct& s, bool is_first);
  template <class Struct>
  bool assign(Struct& s, std::string_view name);
  bool separator(bool& is_first);
  bool next_is_list(bool is_first);

  // Values.
  void reserve_numbers(std::string_view text);
  ValueId value_named(std::string_view name);
  bool value(ValueId& out);
  bool define(ValueId& out);
  bool read(ValueId& out) { return value(out); }
  bool read(std::vector<ValueId>& out);
  template <class T>
  bool read(T& out) {
    return parse_attribute(scanner_, out);
  }

  Scanner scanner_;
  Kernel kernel_;
  std::unordered_map<std::string, ValueId> values_;
  std::vector<bool> is_named_, is_defined_;  // by value
  int64_t next_free_ = 0;                    // above every number in the text
};

void Parser::reserve_numbers(std::string_view text) {
  for (size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    size_t end = at + 1;
    while (end < text.size() && is_word_character(text[end])) ++end;
    if (auto number = split_name(text.substr(at + 1, end - at - 1)).number)
      next_free_ = std::max(next_free_, *number + 1);
  }
}

ValueId Parser::value_named(std::string_view name) {
  auto [it, is_new] = values_.try_emplace(std::string(name));
  if (!is_new) return it->second;
  NameParts parts = split_name(name);
  // Two hints with one number are two values: the second gets a number of its own.
  bool is_free = parts.number && (size_t(*parts.number) >= is_named_.size() || !is_named_[*parts.number]);
  int64_t index = is_free ? *parts.number : next_free_++;
  if (size_t(index) >= kernel_.values.size()) {
    kernel_.values.resize(index + 1, Value{kernel_.types.intern(scalar_type(Scalar::Index)), {}, {}, {}});
    is_named_.resize(index + 1);
    is_defined_.resize(index + 1);
  }
  is_named_[index] = true;
  kernel_.values[index].hint = is_free || !parts.number ? parts.hint : name;
  return it->second = {uint32_t(index)};
}

bool Parser::value(ValueId& out) {
  auto name = scanner_.value_name();
  if (name) out = value_named(*name);
  return name.has_value();
}

bool Parser::define(ValueId& out) {
  if (!value(out)) return false;
  if (is_defined_[out.index]) return scanner_.fail("a value is defined twice");
  return is_defined_[out.index] = true;
}

bool Parser::read(std::vector<ValueId>& out) {
  out.clear();
  return parse_list(scanner_, [&] { return value(out.emplace_back()); });
}

bool Parser::separator(bool& is_first) {
  if (!is_first) return scanner_.expect(',');
  is_first = false;
  return true;
}

// Looks past the comma that would stand before the list.
bool Parser::next_is_list(bool is_first) {
  size_t here = scanner_.position();
  bool found = (is_first || scanner_.accept(',')) && scanner_.peek() == '[';
  scanner_.rewind(here);
  return found;
}

template <class Struct>
bool Parser::positional(Struct& s, bool& is_first) {
  bool good = true;
  each_field(s, [&](auto kind, std::string_view name, auto& value) {
    using Kind = decltype(kind);
    bool is_here = std::is_same_v<Kind, field::Value> || std::is_same_v<Kind, field::Subject> ||
                   (std::is_same_v<Kind, field::Attribute> && is_subject(name)) ||
                   (std::is_same_v<Kind, field::Values> && next_is_list(is_first));
    if constexpr (!std::is_same_v<Kind, field::Region> && !std::is_same_v<Kind, field::Regions>)
      if (good && is_here) good = separator(is_first) && read(value);
  });
  return good;
}

template <class Struct>
bool Parser::suffix(Struct& s, std::string_view text) {
  bool good = true, is_used = text.empty();
  each_field(s, [&](auto kind, std::string_view name, auto& value) {
    if constexpr (std::is_same_v<decltype(kind), field::Attribute> && NamedEnum<std::decay_t<decltype(value)>>) {
      if (!good || !is_suffix(name)) return;
      Scanner word(text);
      std::string message = text.empty() ? "expected '.' and a " : "'" + std::string(text) + "' is no ";
      good = parse_attribute(word, value) || scanner_.fail(message + std::string(name));
      is_used = true;
    }
  });
  return good && (is_used || scanner_.fail("'" + std::string(text) + "' may not stand here"));
}

template <class Struct>
bool Parser::assign(Struct& s, std::string_view wanted) {
  bool good = true, is_known = false;
  each_field(s, [&](auto kind, std::string_view name, auto& value) {
    using Kind = decltype(kind);
    if constexpr (std::is_same_v<Kind, field::Attribute> || std::is_same_v<Kind, field::Maybe>) {
      if (name != wanted || is_suffix(name) || is_subject(name)) return;
      is_known = true;
      good = read(value);
    }
  });
  return good && (is_known || scanner_.fail("there is no attribute '" + std::string(wanted) + "' here"));
}

// A word begins an attribute only where `=` follows it: the next line may begin with a word too.
template <class Struct>
bool Parser::named(Struct& s, bool is_first) {
  while (true) {
    size_t here = scanner_.position();
    bool has_comma = !is_first && scanner_.accept(',');
    if (!is_first && !has_comma) return true;
    std::string_view name = scanner_.word();
    if (name.empty() || !scanner_.accept('=')) {
      scanner_.rewind(here);
      return !has_comma || scanner_.fail("expected attribute=value after ','");
    }
    if (!assign(s, name)) return false;
    is_first = false;
  }
}

template <class Struct>
bool Parser::fields(Struct& s, std::string_view suffix_text) {
  bool is_first = true;
  return suffix(s, suffix_text) && positional(s, is_first) && named(s, is_first);
}

bool Parser::span(Span& out) {
  if (!scanner_.accept('!')) return true;
  int64_t file = 0, begin = 0, end = 0;
  if (!scanner_.integer(file) || !scanner_.expect(':') || !scanner_.integer(begin) || !scanner_.expect(':') ||
      !scanner_.integer(end))
    return false;
  for (int64_t part : {file, begin, end})
    if (part < 0 || part >= Id<FileTag>::kNone) return scanner_.fail("a span is three small numbers");
  out = {{uint32_t(file)}, uint32_t(begin), uint32_t(end)};
  return true;
}

template <class Struct>
bool Parser::header_line(std::vector<Struct>& list) {
  Struct& s = list.emplace_back();
  if (!fields(s, "")) return false;
  if constexpr (requires { s.span; }) return span(s.span);
  return true;
}

bool Parser::header() {
  Schedule& schedule = kernel_.schedule;
  if (!scanner_.accept_word("kernel")) return scanner_.fail("expected 'kernel'");
  if (!fields(kernel_, "") || !span(kernel_.span)) return false;
  while (scanner_.peek() != '{') {
    std::string_view word = scanner_.word();
    bool good = word == "dim"        ? header_line(kernel_.dims)
                : word == "param"    ? header_line(kernel_.params)
                : word == "requires" ? header_line(kernel_.requirements)
                : word == "schedule" ? fields(schedule, "")
                : word == "role"     ? header_line(schedule.roles)
                : word == "place"    ? header_line(schedule.placements)
                : word == "pipeline" ? header_line(schedule.pipelines)
                : word == "layout"   ? header_line(schedule.layouts)
                : word == "need"     ? header_line(schedule.required)
                                     : scanner_.fail("expected the body, or a line of the header");
    if (!good) return false;
  }
  return true;
}

bool Parser::arguments(RegionId id) {
  if (!scanner_.accept('(')) return true;
  do {
    ValueId v;
    Type type;
    if (!define(v) || !scanner_.expect(':') || !parse_type(scanner_, kernel_.layouts, type)) return false;
    kernel_.value(v).type = kernel_.types.intern(std::move(type));
    kernel_.value(v).region = id;
    kernel_.region(id).args.push_back(v);
  } while (scanner_.accept(','));
  return scanner_.expect(')');
}

bool Parser::region(RegionId& out, int depth) {
  if (depth > kDeepest) return scanner_.fail("too many regions inside one another");
  out = kernel_.new_region();
  if (!scanner_.expect('{') || !arguments(out)) return false;
  while (!scanner_.accept('}'))
    if (!operation(out, depth)) return false;
  return true;
}

bool Parser::result_types(const std::vector<ValueId>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    Type type;
    if (!scanner_.expect(i ? ',' : ':') || !parse_type(scanner_, kernel_.layouts, type)) return false;
    kernel_.value(results[i]).type = kernel_.types.intern(std::move(type));
  }
  return true;
}

bool Parser::regions(OpData& data, int depth) {
  bool good = true, is_first = true;
  visit(data, [&](auto& op) {
    each_field(op, [&](auto kind, std::string_view name, auto& value) {
      using Kind = decltype(kind);
      if constexpr (std::is_same_v<Kind, field::Region>) {
        bool is_here = is_first ? scanner_.peek() == '{' : scanner_.accept_word(name);
        good = good && (!is_here || region(value, depth + 1));
        is_first = false;
      }
      if constexpr (std::is_same_v<Kind, field::Regions>)
        while (good && scanner_.peek() == '{') good = region(value.emplace_back(), depth + 1);
    });
  });
  return good;
}

std::optional<OpKind> kind_named(std::string_view text) {
  for (size_t k = 0; k < kOpKinds; ++k)
    if (name(OpKind(k)) == text) return OpKind(k);
  return std::nullopt;
}

bool Parser::operation(RegionId into, int depth) {
  Op op;
  if (scanner_.peek() == '%') {
    do {
      if (!define(op.results.emplace_back())) return false;
    } while (scanner_.accept(','));
    if (!scanner_.expect('=')) return false;
  }
  std::string_view word = scanner_.word();
  size_t dot = std::min(word.find('.'), word.size());
  auto kind = kind_named(word.substr(0, dot));
  if (!kind) return scanner_.fail("'" + std::string(word) + "' is no operation");
  op.data = make_op(*kind);
  std::string_view suffix_text = word.substr(std::min(dot + 1, word.size()));
  bool good = visit(op.data, [&](auto& data) { return fields(data, suffix_text); });
  if (!good || !result_types(op.results) || !span(op.span) || !regions(op.data, depth)) return false;
  OpId id{uint32_t(kernel_.ops.size())};
  for (ValueId v : op.results) kernel_.value(v).op = id;
  kernel_.ops.push_back(std::move(op));
  kernel_.region(into).ops.push_back(id);
  return true;
}

bool Parser::all_defined() {
  for (uint32_t v = 0; v < is_named_.size(); ++v)
    if (is_named_[v] && !is_defined_[v]) return scanner_.fail(value_name(kernel_, {v}) + " is never defined");
  return true;
}

std::optional<Kernel> Parser::kernel() {
  if (!header() || !region(kernel_.body, 0)) return std::nullopt;
  if (!scanner_.at_end()) scanner_.fail("expected the end of the text");
  if (scanner_.failed() || !all_defined()) return std::nullopt;
  return std::move(kernel_);
}

}  // namespace

std::optional<Kernel> parse(std::string_view text, std::string* error) {
  Parser parser(text);
  auto kernel = parser.kernel();
  if (!kernel && error) *error = parser.error();
  return kernel;
}

}  // namespace tilec::ir
