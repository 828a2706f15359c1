// The JSON value: what is written can be read, and bad input is refused.
#include "diag/json.h"

#include <doctest/doctest.h>

namespace tilec {

TEST_CASE("a JSON value keeps order, types and text") {
  Json json = Json::object();
  json.set("z", 1).set("a", Json::array().push(true).push(-2.5).push("x\n\"").push(Json())).set("z", int64_t(1) << 60);
  CHECK(json.text() == R"({"z":1152921504606846976,"a":[true,-2.5,"x\n\"",null]})");
  std::optional<Json> back = Json::parse(json.text());
  REQUIRE(back);
  CHECK(back->text() == json.text());
  CHECK((*back)["a"][2].as_string() != nullptr);
  CHECK((*back)["a"][0].as_bool() == true);
  CHECK((*back)["z"].as_integer() == int64_t(1) << 60);
  CHECK((*back)["z"].as_number() == double(int64_t(1) << 60));
  CHECK((*back)["no"]["such"][7].is_null());
  CHECK(json.indented_text().starts_with("{\n  \"z\": 1152921504606846976,\n"));
}

TEST_CASE("bytes that are not UTF-8 and numbers that are none do not stop the writer") {
  CHECK(Json("a\xff" "b").text() == "\"a\xEF\xBF\xBD" "b\"");
  CHECK(Json(0.0 / 0.0).text() == "null");
}

TEST_CASE("what is no JSON is refused, however deep") {
  for (const char* text : {"", "{", "[1,]", "nul", "{\"a\":1}}"}) CHECK_MESSAGE(!Json::parse(text), text);
  CHECK(!Json::parse(std::string(100000, '[')));
  CHECK(!Json::parse(std::string(300, '[') + std::string(300, ']')));
  CHECK(Json::parse(std::string(100, '[') + std::string(100, ']')));
}

}  // namespace tilec
