// The one door to nlohmann/json.
#include "diag/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace tilec {

namespace {
const Json kNull;
constexpr int kDeepest = 200;  // levels; a deeper text is refused, for every walk of a value recurs
}  // namespace

struct JsonDoor {
  using Foreign = nlohmann::ordered_json;

  static Foreign out(const Json& json) {
    if (json.is_null()) return nullptr;
    if (auto array = json.as_array()) {
      Foreign foreign = Foreign::array();
      for (const Json& item : *array) foreign.push_back(out(item));
      return foreign;
    }
    if (auto object = json.as_object()) {
      Foreign foreign = Foreign::object();
      for (const auto& [key, value] : *object) foreign.push_back({key, out(value)});
      return foreign;
    }
    if (auto text = json.as_string()) return *text;
    if (auto truth = json.as_bool()) return *truth;
    if (auto integer = json.as_integer()) return *integer;
    if (auto natural = json.as_unsigned()) return *natural;
    return *json.as_number();
  }

  static Json in(const Foreign& foreign) {
    if (foreign.is_boolean()) return foreign.get<bool>();
    if (foreign.is_number_unsigned() && foreign.get<uint64_t>() > uint64_t(INT64_MAX)) return foreign.get<uint64_t>();
    if (foreign.is_number_integer()) return foreign.get<int64_t>();
    if (foreign.is_number()) return foreign.get<double>();
    if (foreign.is_string()) return foreign.get<std::string>();
    Json json;
    if (foreign.is_array()) {
      json = Json::array();
      for (const Foreign& item : foreign) json.push(in(item));
    } else if (foreign.is_object()) {
      json = Json::object();
      for (const auto& [key, value] : foreign.items()) json.set(key, in(value));
    }
    return json;
  }
};

Json& Json::set(std::string_view key, Json value) {
  if (is_null()) value_ = Object{};
  auto object = std::get_if<Object>(&value_);
  if (!object) return *this;
  auto found = std::ranges::find(*object, key, [](const auto& member) { return std::string_view(member.first); });
  if (found != object->end()) found->second = std::move(value);
  else object->emplace_back(std::string(key), std::move(value));
  return *this;
}

Json& Json::push(Json value) {
  if (is_null()) value_ = Array{};
  if (auto array = std::get_if<Array>(&value_)) array->push_back(std::move(value));
  return *this;
}

std::optional<bool> Json::as_bool() const {
  auto truth = std::get_if<bool>(&value_);
  return truth ? std::optional(*truth) : std::nullopt;
}

std::optional<int64_t> Json::as_integer() const {
  auto integer = std::get_if<int64_t>(&value_);
  return integer ? std::optional(*integer) : std::nullopt;
}

std::optional<uint64_t> Json::as_unsigned() const {
  auto natural = std::get_if<uint64_t>(&value_);
  return natural ? std::optional(*natural) : std::nullopt;
}

std::optional<double> Json::as_number() const {
  if (auto integer = as_integer()) return double(*integer);
  if (auto natural = as_unsigned()) return double(*natural);
  auto number = std::get_if<double>(&value_);
  return number ? std::optional(*number) : std::nullopt;
}

const Json& Json::operator[](std::string_view key) const {
  if (auto object = as_object())
    for (const auto& [name, value] : *object)
      if (name == key) return value;
  return kNull;
}

const Json& Json::operator[](size_t index) const {
  auto array = as_array();
  return array && index < array->size() ? (*array)[index] : kNull;
}

size_t Json::size() const {
  if (auto array = as_array()) return array->size();
  auto object = as_object();
  return object ? object->size() : 0;
}

std::string Json::text() const {
  return JsonDoor::out(*this).dump(-1, ' ', false, JsonDoor::Foreign::error_handler_t::replace);
}

std::string Json::indented_text() const {
  return JsonDoor::out(*this).dump(2, ' ', false, JsonDoor::Foreign::error_handler_t::replace) + "\n";
}

std::optional<Json> Json::parse(std::string_view text) {
  bool is_too_deep = false;
  auto watch = [&](int depth, JsonDoor::Foreign::parse_event_t, JsonDoor::Foreign&) {
    is_too_deep |= depth > kDeepest;
    return !is_too_deep;
  };
  JsonDoor::Foreign foreign = JsonDoor::Foreign::parse(text, watch, false);
  if (foreign.is_discarded() || is_too_deep) return std::nullopt;
  return JsonDoor::in(foreign);
}

namespace {

// Reads a text for its mistakes alone.
class Judge : public nlohmann::json_sax<JsonDoor::Foreign> {
 public:
  explicit Judge(std::string_view text) : text_(text) {}
  std::string mistake;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return open(); }
  bool start_array(size_t) override { return open(); }
  bool end_object() override { return keys_.pop_back(), true; }
  bool end_array() override { return keys_.pop_back(), true; }
  bool key(string_t& word) override {
    if (keys_.back().insert(word).second) return true;
    mistake = "`" + word + "` is given twice";
    return false;
  }
  bool parse_error(size_t read, const std::string&, const nlohmann::detail::exception&) override {
    size_t at = std::min(read > 0 ? read - 1 : 0, text_.size());  // the last one that was read
    size_t begin = at > 0 ? text_.rfind('\n', at - 1) + 1 : 0;     // npos + 1 is the first line's
    auto line = 1 + std::ranges::count(text_.substr(0, begin), '\n');
    mistake = "this is not JSON: line " + std::to_string(line) + ", column " + std::to_string(at - begin + 1);
    return false;
  }

 private:
  bool open() {
    keys_.emplace_back();
    if (keys_.size() > size_t(kDeepest)) mistake = "lists in lists are nested too deep";
    return mistake.empty();
  }
  std::string_view text_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

std::string Json::mistake_in(std::string_view text) {
  Judge judge(text);
  JsonDoor::Foreign::sax_parse(text, &judge);
  return judge.mistake.empty() && !parse(text) ? "this is not JSON" : judge.mistake;
}

}  // namespace tilec
