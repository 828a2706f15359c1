// JSON as a plain value, to be written and read. Objects keep the order in which their keys were set.
//   Json::object().set("name", kernel).set("bytes", int64_t(bytes)).set("roles", Json::array().push("load")).text()
#pragma once
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tilec {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;  // null
  template <std::same_as<bool> T> Json(T value) : value_(value) {}
  template <std::integral T> requires(!std::same_as<T, bool>) Json(T value) : value_(int64_t(value)) {
    if (std::is_unsigned_v<T> && uint64_t(value) > uint64_t(INT64_MAX)) value_ = uint64_t(value);
  }
  Json(double value) : value_(value) {}  // one that is no number is written as null
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  static Json array() { return Json(Value(Array{})); }
  static Json object() { return Json(Value(Object{})); }

  Json& set(std::string_view key, Json value);  // makes a null an object; a key set again keeps its place
  Json& push(Json value);                       // makes a null an array

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  const Array* as_array() const { return std::get_if<Array>(&value_); }
  const Object* as_object() const { return std::get_if<Object>(&value_); }
  const std::string* as_string() const { return std::get_if<std::string>(&value_); }
  std::optional<bool> as_bool() const;
  std::optional<int64_t> as_integer() const;
  std::optional<uint64_t> as_unsigned() const;  // beyond the greatest int64_t; else as_integer has it
  std::optional<double> as_number() const;  // an integer is one as well

  // What is not there is null, so that look-ups chain: params["textDocument"]["uri"].as_string().
  const Json& operator[](std::string_view key) const;
  const Json& operator[](size_t index) const;
  size_t size() const;  // of an array or an object

  std::string text() const;                  // on one line
  std::string indented_text() const;         // two spaces a level, ends with a line end
  static std::optional<Json> parse(std::string_view text);
  static std::string mistake_in(std::string_view text);  // with its place; a key that is given twice is one, too. Empty: none

  // Strings that are not UTF-8 are written with U+FFFD in place of the bad bytes.
 private:
  using Value = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object>;
  explicit Json(Value value) : value_(std::move(value)) {}
  friend struct JsonDoor;
  Value value_;
};

}  // namespace tilec
