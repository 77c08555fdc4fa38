// SPDX-License-Identifier: Apache-2.0
#include "emit/names.h"

#include <algorithm>
#include <array>

#include "emit/reserved_names.h"

namespace ingot {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// FNV-1a, 32 bits: a fixed function, so that names do not change from run to run.
uint32_t hash_of(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return hash;
}

std::string hex_digits(uint32_t value) {
  std::string digits(8, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value >>= 4) {
    *digit = "0123456789abcdef"[value & 15u];
  }
  return digits;
}

std::string without_trailing_underscores(std::string name) {
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

// Of the files that a model X writes beside X.c: a model of such a name would write over them, and
// define their symbols.
bool has_file_suffix(std::string_view name) {
  return name.ends_with("_weights") || name.ends_with("_tvm") || name.ends_with("_tvm_abi");
}

// Step 1 of the rule.
std::string clean(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (is_lower(c) || is_digit(c)) {
      result += c;
    } else if (is_upper(c)) {
      result += static_cast<char>(c - 'A' + 'a');
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  return without_trailing_underscores(std::move(result));
}

// Step 3.
std::string shorten(std::string cleaned, std::string_view original) {
  constexpr size_t kLongest = kLongestCName;
  if (cleaned.size() <= kLongest) return cleaned;
  return without_trailing_underscores(cleaned.substr(0, kLongest - 9)) + '_' +
         hex_digits(hash_of(original));
}

template <size_t n>
bool contains(const std::array<std::string_view, n>& sorted, std::string_view name) {
  return std::ranges::binary_search(sorted, name);
}

}  // namespace

bool is_reserved_c_name(std::string_view name) { return contains(kReservedNames, name); }

std::string c_name(std::string_view name) {
  std::string result = clean(name);
  if (result.empty() || is_digit(result.front()) || is_reserved_c_name(result)) {
    result = without_trailing_underscores("t_" + result);
  }
  return shorten(std::move(result), name);
}

NameTable::NameTable(const std::vector<std::string>& taken) : taken_(taken.begin(), taken.end()) {}

std::string NameTable::add(std::string_view name) { return make_unique(c_name(name)); }

std::string NameTable::add_identifier(std::string_view name) {
  return make_unique(is_reserved_c_name(name) ? "t_" + std::string(name) : std::string(name));
}

std::string NameTable::make_unique(std::string name) {
  if (taken_.insert(name).second) return name;
  // Each base remembers how far it got: many equal names take near-linear time.
  int64_t& next = next_suffix_.try_emplace(name, 2).first->second;
  while (true) {
    const std::string suffix = "_" + std::to_string(next++);
    const size_t kept = std::min(name.size(), kLongestCName - suffix.size());
    std::string candidate = without_trailing_underscores(name.substr(0, kept)) + suffix;
    if (taken_.insert(candidate).second) return candidate;
  }
}

std::vector<std::string> c_names(const std::vector<std::string>& names) {
  NameTable table;
  std::vector<std::string> result;
  result.reserve(names.size());
  for (const std::string& name : names) result.push_back(table.add(name));
  return result;
}

std::string model_name(std::string_view file_name) {
  const size_t slash = file_name.find_last_of("/\\");
  if (slash != std::string_view::npos) file_name.remove_prefix(slash + 1);
  const size_t dot = file_name.rfind('.');
  const std::string_view stem = file_name.substr(0, dot);
  std::string result = clean(stem);
  if (result.empty() || is_digit(result.front()) || is_reserved_c_name(result) ||
      contains(kHeaderNames, result)) {
    result = without_trailing_underscores("model_" + result);
  }
  if (has_file_suffix(result)) result += "_model";
  return shorten(std::move(result), stem);
}

bool is_model_name(std::string_view name) {
  if (name.empty() || name.size() > 63 || !(is_lower(name.front()) || is_upper(name.front()))) {
    return false;
  }
  const bool letters = std::ranges::all_of(
      name, [](char c) { return is_lower(c) || is_upper(c) || is_digit(c) || c == '_'; });
  std::string lower(name);
  for (char& c : lower) {
    if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
  }
  return letters && name.find("__") == std::string_view::npos && name.back() != '_' &&
         !has_file_suffix(lower) && !is_reserved_c_name(name) && !contains(kHeaderNames, lower);
}

}  // namespace ingot
