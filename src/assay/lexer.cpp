// SPDX-License-Identifier: Apache-2.0
#include "assay/lexer.h"

#include <algorithm>
#include <charconv>

namespace ingot::assay {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

void Lexer::fail(const std::string& what) const {
  const auto line = std::count(text_.begin(), text_.begin() + static_cast<int64_t>(begin_), '\n');
  throw Damage("line " + std::to_string(line + 1) + " of the loop program: " + what);
}

void Lexer::scan() {
  while (next_ < text_.size() && is_blank(text_[next_])) ++next_;
  begin_ = next_;
  if (next_ >= text_.size()) {
    kind_ = Word::kEnd;
    word_ = {};
    return;
  }
  const char first = text_[next_];
  if (first == '"') return scan_text();
  if (is_digit(first)) return scan_number();
  kind_ = is_letter(first) ? Word::kName : Word::kSign;
  ++next_;
  if (kind_ == Word::kName) {
    while (next_ < text_.size() && (is_letter(text_[next_]) || is_digit(text_[next_]))) ++next_;
  } else if (next_ < text_.size()) {
    for (const std::string_view pair : {"<<", ">>", "==", "!=", "<=", "->"}) {
      if (text_.substr(begin_, 2) == pair) next_ = begin_ + 2;
    }
  }
  word_ = text_.substr(begin_, next_ - begin_);
}

// Digits, a fraction, an exponent.
void Lexer::scan_number() {
  const auto digits = [&] {
    while (next_ < text_.size() && is_digit(text_[next_])) ++next_;
  };
  digits();
  if (next_ < text_.size() && text_[next_] == '.') {
    ++next_;
    digits();
  }
  if (next_ < text_.size() && text_[next_] == 'e') {
    ++next_;
    if (next_ < text_.size() && (text_[next_] == '-' || text_[next_] == '+')) ++next_;
    digits();
  }
  kind_ = Word::kNumber;
  word_ = text_.substr(begin_, next_ - begin_);
}

void Lexer::scan_text() {
  size_t end = begin_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
    end += text_[end] == '\\' ? size_t{2} : size_t{1};
  }
  if (end >= text_.size() || text_[end] != '"') fail("a quoted text without an end");
  next_ = end + 1;
  kind_ = Word::kText;
  word_ = text_.substr(begin_, next_ - begin_);
}

std::string_view Lexer::sign_after() const {
  size_t at = next_;
  while (at < text_.size() && is_blank(text_[at])) ++at;
  if (at >= text_.size()) return {};
  // "==" is not "=".
  const bool doubled = at + 1 < text_.size() && text_[at + 1] == '=';
  return text_.substr(at, doubled ? 2 : 1);
}

bool Lexer::accept(std::string_view word) {
  if (!is(word)) return false;
  scan();
  return true;
}

void Lexer::expect(std::string_view word) {
  if (!accept(word)) fail("expected " + std::string(word));
}

std::string Lexer::name() {
  if (kind_ != Word::kName) fail("expected a name");
  std::string name(word_);
  scan();
  return name;
}

std::string Lexer::text() {
  if (kind_ != Word::kText) fail("expected a quoted text");
  const std::string_view inside = word_.substr(1, word_.size() - 2);
  std::string out;
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\') {
      out += inside[i];
    } else if (i + 1 < inside.size() && (inside[i + 1] == '"' || inside[i + 1] == '\\')) {
      out += inside[++i];
    } else if (i + 3 < inside.size() && inside[i + 1] == 'x' && hex_digit(inside[i + 2]) >= 0 &&
               hex_digit(inside[i + 3]) >= 0) {
      out += static_cast<char>(hex_digit(inside[i + 2]) * 16 + hex_digit(inside[i + 3]));
      i += 3;
    } else {
      fail("an unknown escape");
    }
  }
  scan();
  return out;
}

std::string Lexer::name_or_text() { return kind_ == Word::kText ? text() : name(); }

int64_t Lexer::integer() {
  std::string digits = accept("-") ? "-" : "";
  digits += number();
  int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end) fail("expected an integer of 64 bits");
  return value;
}

std::string_view Lexer::number() {
  if (kind_ != Word::kNumber) fail("expected a number");
  const std::string_view number = word_;
  scan();
  return number;
}

std::vector<uint8_t> Lexer::hex() {
  if (!is("data")) fail("expected data");
  if (next_ < text_.size() && text_[next_] == ' ') ++next_;
  std::vector<uint8_t> bytes;
  while (next_ + 1 < text_.size() && hex_digit(text_[next_]) >= 0 &&
         hex_digit(text_[next_ + 1]) >= 0) {
    bytes.push_back(
        static_cast<uint8_t>(hex_digit(text_[next_]) * 16 + hex_digit(text_[next_ + 1])));
    next_ += 2;
  }
  if (next_ < text_.size() && !is_blank(text_[next_])) fail("expected pairs of hex digits");
  scan();
  return bytes;
}

}  // namespace ingot::assay
