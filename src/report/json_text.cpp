// SPDX-License-Identifier: Apache-2.0
#include "report/json_text.h"

#include <algorithm>
#include <charconv>

namespace ingot {
namespace {

constexpr size_t kMaxColumns = 100;

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

template <class Integer>
void write_integer(Integer value, std::string& text) {
  char digits[24];
  text.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
}

// Files of large models hold millions of numbers and names, hence the short ways for these.
void write_string(const std::string& string, std::string& text) {
  if (std::ranges::all_of(string, is_plain)) {
    text += '"';
    text += string;
    text += '"';
  } else {
    text += Json(string).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

void write_scalar(const Json& json, std::string& text) {
  if (json.is_number_unsigned()) {
    write_integer(json.get<uint64_t>(), text);
  } else if (json.is_number_integer()) {
    write_integer(json.get<int64_t>(), text);
  } else if (json.is_string()) {
    write_string(json.get_ref<const std::string&>(), text);
  } else {
    text += json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

// Passes each value with its key, which is null in a list.
template <class Visit>
void for_each_item(const Json& json, const Visit& visit) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.get_ref<const Json::object_t&>()) visit(&key, value);
  } else {
    for (const Json& value : json) visit(static_cast<const std::string*>(nullptr), value);
  }
}

// `{"a": 1, "b": [1, 2]}`; it is left unfinished where `text` grows beyond `most` bytes.
void write_compact(const Json& json, size_t most, std::string& text) {
  if (!json.is_structured()) return write_scalar(json, text);
  text += json.is_object() ? '{' : '[';
  bool is_first = true;
  for_each_item(json, [&](const std::string* key, const Json& value) {
    if (text.size() > most) return;
    if (!is_first) text += ", ";
    is_first = false;
    if (key != nullptr) {
      write_string(*key, text);
      text += ": ";
    }
    write_compact(value, most, text);
  });
  text += json.is_object() ? '}' : ']';
}

bool is_flat(const Json& json) {
  return std::ranges::none_of(json, [](const Json& item) { return item.is_object(); });
}

// A new line, `depth` levels from the left.
void break_line(size_t depth, std::string& text) {
  text += '\n';
  text.append(2 * depth, ' ');
}

// Breaks a list of plain values into lines.
void write_filled(const Json& list, size_t depth, std::string& text) {
  text += '[';
  size_t column = kMaxColumns;
  std::string word;
  for (const Json& item : list) {
    word.clear();
    write_compact(item, std::string::npos, word);
    word += ',';
    if (column + 1 + word.size() > kMaxColumns) {
      break_line(depth + 1, text);
      column = 2 * (depth + 1);
    } else {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  text.pop_back();
  break_line(depth, text);
  text += ']';
}

// The depth of what Ingot writes is small and fixed.
void write_pretty(const Json& json, size_t depth, size_t column, std::string& text) {
  if (!json.is_structured()) return write_scalar(json, text);
  const bool is_outermost = depth == 0 && json.is_object();
  const bool flat = is_flat(json);
  if (flat && !is_outermost) {
    const size_t begin = text.size();
    const size_t most = begin + (json.empty() ? 2 : kMaxColumns - std::min(kMaxColumns, column));
    write_compact(json, most, text);
    if (text.size() <= most) return;
    text.resize(begin);
  }
  if (json.is_array() && flat) return write_filled(json, depth, text);
  text += json.is_object() ? '{' : '[';
  bool is_first = true;
  for_each_item(json, [&](const std::string* key, const Json& value) {
    if (!is_first) text += ',';
    is_first = false;
    break_line(depth + 1, text);
    const size_t begin = text.size();
    if (key != nullptr) {
      write_string(*key, text);
      text += ": ";
    }
    // One more for the comma that may follow.
    write_pretty(value, depth + 1, 2 * (depth + 1) + text.size() - begin + 1, text);
  });
  break_line(depth, text);
  text += json.is_object() ? '}' : ']';
}

}  // namespace

std::string to_text(const Json& json) {
  std::string text;
  write_pretty(json, 0, 0, text);
  text += '\n';
  return text;
}

}  // namespace ingot
