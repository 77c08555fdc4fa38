// SPDX-License-Identifier: Apache-2.0
#include "emit/unused.h"

#include <functional>

namespace ingot {
namespace {

constexpr std::string_view kHead = "static inline ";

bool is_in_identifier(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The function whose head the line is; empty if it is none.
std::string_view name_of_head(std::string_view line) {
  if (!line.starts_with(kHead)) return {};
  const std::string_view before = line.substr(0, line.find('('));
  size_t begin = before.size();
  while (begin > 0 && is_in_identifier(before[begin - 1])) --begin;
  return before.substr(begin);
}

void for_each_line(std::string_view text, const std::function<void(std::string_view)>& visit) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    visit(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

// Calls visit(word) for each identifier outside of comments. Comments may go on over lines.
template <class Visit>
void for_each_word(std::string_view line, bool& in_comment, Visit visit) {
  for (size_t i = 0; i < line.size();) {
    if (in_comment) {
      const size_t end = line.find("*/", i);
      if (end == std::string_view::npos) return;
      in_comment = false;
      i = end + 2;
    } else if (line.substr(i, 2) == "/*") {
      in_comment = true;
      i += 2;
    } else if (is_in_identifier(line[i])) {
      const size_t begin = i;
      while (i < line.size() && is_in_identifier(line[i])) ++i;
      visit(line.substr(begin, i - begin));
    } else {
      ++i;
    }
  }
}

}  // namespace

std::set<std::string> conditional_functions(std::string_view text) {
  std::set<std::string, std::less<>> functions;
  for_each_line(text, [&](std::string_view line) {
    const std::string_view name = name_of_head(line);
    if (!name.empty()) functions.emplace(name);
  });
  int64_t depth = 0;
  bool in_comment = false;
  for_each_line(text, [&](std::string_view line) {
    if (line.starts_with("#if")) ++depth;
    if (line.starts_with("#endif")) --depth;
    const bool counts = depth == 0 && name_of_head(line).empty();
    for_each_word(line, in_comment, [&](std::string_view word) {
      if (!counts) return;
      const auto called = functions.find(word);
      if (called != functions.end()) functions.erase(called);
    });
  });
  return {functions.begin(), functions.end()};
}

std::string with_attribute(std::string_view text, const std::set<std::string>& functions,
                           const std::string& attribute) {
  std::string result;
  result.reserve(text.size());
  for_each_line(text, [&](std::string_view line) {
    const std::string_view name = name_of_head(line);
    const bool marked = !name.empty() && functions.contains(std::string(name));
    if (marked) {
      result += kHead;
      result += attribute + " ";
      line.remove_prefix(kHead.size());
    }
    result += line;
    result += '\n';
  });
  return result;
}

}  // namespace ingot
