// SPDX-License-Identifier: Apache-2.0
#include "report/json_text.h"

#include <algorithm>

namespace ingot {
namespace {

constexpr size_t kMaxColumns = 100;

std::string compact(const Json& json);

std::string scalar(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// `{"a": 1, "b": [1, 2]}`
std::string compact(const Json& json) {
  if (!json.is_structured()) return scalar(json);
  std::string text = json.is_object() ? "{" : "[";
  for (auto item = json.begin(); item != json.end(); ++item) {
    if (item != json.begin()) text += ", ";
    if (json.is_object()) text += scalar(Json(item.key())) + ": ";
    text += compact(*item);
  }
  return text + (json.is_object() ? "}" : "]");
}

bool is_flat(const Json& json) {
  return std::ranges::none_of(json, [](const Json& item) { return item.is_object(); });
}

// Breaks a list of plain values into lines.
std::string filled(const Json& list, const std::string& indent) {
  std::string text = "[";
  std::string line;
  for (const Json& item : list) {
    std::string word = compact(item) + ",";
    const size_t blank = line.empty() ? 0 : 1;
    if (indent.size() + 2 + line.size() + blank + word.size() > kMaxColumns) {
      text += "\n  " + indent + line;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  line.pop_back();
  return text + "\n  " + indent + line + "\n" + indent + "]";
}

// The depth of what Ingot writes is small and fixed.
std::string pretty(const Json& json, const std::string& indent, size_t column) {
  if (!json.is_structured()) return scalar(json);
  const std::string line = compact(json);
  const bool outermost = indent.empty() && json.is_object();
  if (column + line.size() <= kMaxColumns && is_flat(json) && !outermost) return line;
  if (json.is_array() && is_flat(json)) return filled(json, indent);
  std::string text = json.is_object() ? "{" : "[";
  for (auto item = json.begin(); item != json.end(); ++item) {
    const std::string key = json.is_object() ? scalar(Json(item.key())) + ": " : "";
    text += item == json.begin() ? "\n  " : ",\n  ";
    text += indent + key + pretty(*item, indent + "  ", indent.size() + 3 + key.size());
  }
  return text + "\n" + indent + (json.is_object() ? "}" : "]");
}

}  // namespace

std::string to_text(const Json& json) { return pretty(json, "", 0) + "\n"; }

}  // namespace ingot
