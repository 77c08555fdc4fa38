// SPDX-License-Identifier: Apache-2.0
#include "assay/json.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace ingot::assay {
namespace {

constexpr int kDeepest = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<Json> document() {
    Json json;
    if (!value(json, 0)) return std::nullopt;
    blanks();
    if (at_ != text_.size()) return std::nullopt;
    return json;
  }

 private:
  void blanks() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }

  bool value(Json& json, int depth) {
    blanks();
    if (depth > kDeepest || at_ >= text_.size()) return false;
    switch (text_[at_]) {
      case '{':
        return object(json, depth);
      case '[':
        return array(json, depth);
      case '"': {
        std::string s;
        if (!string(s)) return false;
        json.value = std::move(s);
        return true;
      }
      case 't':
        json.value = true;
        return word("true");
      case 'f':
        json.value = false;
        return word("false");
      case 'n':
        return word("null");
      default:
        return number(json);
    }
  }

  bool object(Json& json, int depth) {
    JsonObject members;
    take('{');
    if (!take('}')) {
      do {
        std::string key;
        blanks();
        if (!string(key) || !take(':')) return false;
        const auto [member, is_new] = members.try_emplace(key);
        if (!is_new || !value(member->second, depth + 1)) return false;
      } while (take(','));
      if (!take('}')) return false;
    }
    json.value = std::move(members);
    return true;
  }

  bool array(Json& json, int depth) {
    JsonArray items;
    take('[');
    if (!take(']')) {
      do {
        if (!value(items.emplace_back(), depth + 1)) return false;
      } while (take(','));
      if (!take(']')) return false;
    }
    json.value = std::move(items);
    return true;
  }

  bool string(std::string& out) {
    if (at_ >= text_.size() || text_[at_] != '"') return false;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return true;
      }
      if (text_[at_] == '\\') {
        ++at_;
        if (!escape(out)) return false;
      } else {
        out += text_[at_];
      }
    }
    return false;
  }

  // Of one unit of UTF-16 beyond ASCII a question mark is left.
  bool escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) return false;
    const size_t which = kLetters.find(text_[at_]);
    if (which != std::string_view::npos) {
      out += kMeanings[which];
      return true;
    }
    unsigned unit = 0;
    const char* begin = text_.data() + at_ + 1;
    if (text_[at_] != 'u' || text_.size() - at_ < 5) return false;
    const auto [end, error] = std::from_chars(begin, begin + 4, unit, 16);
    if (error != std::errc() || end != begin + 4) return false;
    out += unit < 128 ? static_cast<char>(unit) : '?';
    at_ += 4;
    return true;
  }

  bool number(Json& json) {
    double d = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), d);
    if (error != std::errc()) return false;
    at_ = static_cast<size_t>(end - text_.data());
    json.value = d;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
};

// Its length tells where it ends.
std::string quoted(const std::string& text) { return std::to_string(text.size()) + '"' + text; }

}  // namespace

const Json& Json::operator[](const std::string& key) const {
  static const Json null;
  const auto* object = std::get_if<JsonObject>(&value);
  if (!object) return null;
  const auto member = object->find(key);
  return member == object->end() ? null : member->second;
}

std::optional<int64_t> Json::integer() const {
  const auto* d = std::get_if<double>(&value);
  constexpr double kExact = 9007199254740992.0;
  if (!d || std::abs(*d) > kExact || *d != std::floor(*d)) return std::nullopt;
  return static_cast<int64_t>(*d);
}

std::optional<double> Json::number() const {
  const auto* d = std::get_if<double>(&value);
  return d ? std::optional(*d) : std::nullopt;
}

std::optional<bool> Json::boolean() const {
  const auto* b = std::get_if<bool>(&value);
  return b ? std::optional(*b) : std::nullopt;
}

std::string Json::text() const {
  const auto* s = std::get_if<std::string>(&value);
  return s ? *s : "";
}

const JsonArray& Json::array() const {
  static const JsonArray empty;
  const auto* a = std::get_if<JsonArray>(&value);
  return a ? *a : empty;
}

std::string print(const Json& json) {
  std::string out;
  if (const auto* object = std::get_if<JsonObject>(&json.value)) {
    for (const auto& [key, value] : *object) out += quoted(key) + ":" + print(value) + ",";
    return "{" + out + "}";
  }
  if (const auto* array = std::get_if<JsonArray>(&json.value)) {
    for (const Json& value : *array) out += print(value) + ",";
    return "[" + out + "]";
  }
  if (json.number()) return std::to_string(std::bit_cast<int64_t>(*json.number()));
  if (json.boolean()) return *json.boolean() ? "true" : "false";
  return json.is_null() ? "null" : quoted(json.text());
}

std::optional<Json> parse_json(std::string_view text) { return Parser(text).document(); }

}  // namespace ingot::assay
