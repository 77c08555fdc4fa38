// SPDX-License-Identifier: Apache-2.0
#include "emit/text.h"

#include <algorithm>

#include "support/check.h"

namespace ingot {
namespace {

constexpr int64_t kIndent = 2;
constexpr int64_t kContinuation = 4;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// How bad a break between these two characters is, apart from nesting: good after a comma or
// semicolon, fair before an operator, the worse the tighter it binds, bad after one.
int64_t cost_between(char before, char after) {
  if (before == ',' || before == ';') return 0;
  if (!is_plain(before) && before != ')' && before != ']') return 9;
  const bool tight = after == '*' || after == '/' || after == '%';
  return tight ? 5 : 3;
}

// Where to break `code` so that the first part has at most `width` characters: the position of a
// space, the less nested the better, then as cost_between says, then the later the better. npos if
// no space comes early enough.
size_t best_break(std::string_view code, int64_t width) {
  size_t best = std::string_view::npos;
  int64_t best_cost = 0;
  int64_t nesting = 0;
  bool quoted = false;
  for (size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '"' && (i == 0 || code[i - 1] != '\\')) quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[' || c == '{') ++nesting;
    if (c == ')' || c == ']' || c == '}') --nesting;
    if (c != ' ' || i == 0) continue;
    if (static_cast<int64_t>(i) > width && best != std::string_view::npos) break;
    const char after = i + 1 < code.size() ? code[i + 1] : ' ';
    if (after == '{') continue;  // a brace stays with its line
    const bool early = static_cast<int64_t>(i) < width / 3;
    const int64_t cost = nesting * 6 + cost_between(code[i - 1], after) + (early ? 12 : 0);
    if (best == std::string_view::npos || cost <= best_cost) {
      best = i;
      best_cost = cost;
    }
    if (static_cast<int64_t>(i) > width) break;
  }
  return best;
}

}  // namespace

std::string model_text(std::string_view text) {
  constexpr size_t kLongest = 60;
  std::string result(text.substr(0, kLongest));
  for (char& c : result) {
    const bool allowed =
        is_plain(c) || std::string_view("_./:- ").find(c) != std::string_view::npos;
    if (!allowed) c = '_';
  }
  if (text.size() > kLongest) result += "...";
  return result;
}

std::string comment_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const char last = result.empty() ? ' ' : result.back();
    const bool mark = (last == '*' && c == '/') || (last == '/' && c == '*');
    const bool trigraph = last == '?' && c == '?';
    if (mark || trigraph) result += ' ';
    result += c < ' ' || c > '~' || c == '\\' ? '_' : c;
  }
  return result;
}

void CText::put(int64_t indent, std::string_view code) {
  text_.append(static_cast<size_t>(indent), ' ');
  text_ += code;
  text_ += '\n';
  after_gap_ = false;
}

void CText::line(std::string_view code) {
  int64_t indent = depth_ * kIndent;
  while (indent + static_cast<int64_t>(code.size()) > kMaxColumns) {
    const size_t at = best_break(code, std::max<int64_t>(kMaxColumns - indent, 20));
    if (at == std::string_view::npos) break;
    put(indent, code.substr(0, at));
    code.remove_prefix(at + 1);
    indent = depth_ * kIndent + kContinuation;
  }
  put(indent, code);
}

void CText::raw(std::string_view text) { put(0, text); }

void CText::blank() {
  if (!after_gap_) text_ += '\n';
  after_gap_ = true;
}

void CText::comment(const std::vector<std::string>& paragraphs) {
  const int64_t width = kMaxColumns - depth_ * kIndent - 6;  // "/* " and " */"
  std::vector<std::string> lines;
  for (std::string_view rest : paragraphs) {
    while (static_cast<int64_t>(rest.size()) > width) {
      size_t at = rest.substr(0, static_cast<size_t>(width) + 1).rfind(' ');
      if (at == std::string_view::npos || at == 0) at = static_cast<size_t>(width);
      lines.emplace_back(rest.substr(0, at));
      rest.remove_prefix(at);
      while (rest.starts_with(' ')) rest.remove_prefix(1);
    }
    lines.emplace_back(rest);
  }
  const int64_t indent = depth_ * kIndent;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string begin = i == 0 ? "/* " : lines[i].empty() ? " *" : " * ";
    put(indent, begin + lines[i] + (i + 1 == lines.size() ? " */" : ""));
  }
}

void CText::open(std::string_view code) {
  line(std::string(code) + " {");
  ++depth_;
  after_gap_ = true;
}

void CText::back() {
  CHECK(depth_ > 0);
  --depth_;
}

void CText::close(std::string_view after) {
  back();
  line("}" + std::string(after));
}

}  // namespace ingot
