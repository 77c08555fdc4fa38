// SPDX-License-Identifier: Apache-2.0
// A small reader of JSON, of assay's own: what the compiler wrote must not be judged through the
// compiler's library.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ingot::assay {

struct Json;
using JsonArray = std::vector<Json>;
using JsonObject = std::map<std::string, Json>;

struct Json {
  std::variant<std::monostate, bool, double, std::string, JsonArray, JsonObject> value;

  bool is_null() const { return std::holds_alternative<std::monostate>(value); }
  // A member of an object; null (a static one) if there is none.
  const Json& operator[](const std::string& key) const;
  // The whole number, number, truth, text, array that this is; nullopt or empty otherwise.
  std::optional<int64_t> integer() const;
  std::optional<double> number() const;
  std::optional<bool> boolean() const;
  std::string text() const;
  const JsonArray& array() const;
};

// Nothing if `text` is not one JSON value, nests deeper than 64, or has two members of one name.
std::optional<Json> parse_json(std::string_view text);
// Equal for equal values, and for no others.
std::string print(const Json& json);

}  // namespace ingot::assay
