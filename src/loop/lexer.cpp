// SPDX-License-Identifier: Apache-2.0
#include "loop/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace ingot::loop {
namespace {

bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool is_word_start(char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// The value of a hexadecimal digit, -1 if it is none.
int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  return 'a' <= c && c <= 'f' ? c - 'a' + 10 : -1;
}

// Symbols of two characters; all others are one character.
constexpr auto kPairs = std::to_array<std::string_view>({"<<", ">>", "==", "!=", "<=", "->"});

}  // namespace

std::optional<int64_t> parse_integer(std::string_view digits) {
  int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

Lexer::Lexer(std::string_view text) : text_(text) { token_ = scan(); }

Token Lexer::peek_second() const {
  Lexer ahead = *this;
  ahead.take();
  return ahead.peek();
}

Token Lexer::take() {
  const Token taken = token_;
  token_ = scan();
  return taken;
}

bool Lexer::is(std::string_view text) const {
  return (token_.kind == TokenKind::kWord || token_.kind == TokenKind::kSymbol) &&
         token_.text == text;
}

bool Lexer::accept(std::string_view text) {
  if (!is(text)) return false;
  take();
  return true;
}

void Lexer::expect(std::string_view text) {
  if (!accept(text)) fail(fmt::format("expected {}", quote(text)));
}

std::string Lexer::expect_word(std::string_view what) {
  if (token_.kind != TokenKind::kWord) {
    fail(fmt::format("expected {}", what));
    return "";
  }
  return std::string(take().text);
}

std::string Lexer::expect_string() {
  if (token_.kind != TokenKind::kString) {
    fail("expected a quoted text");
    return "";
  }
  const std::string_view inside = token_.text.substr(1, token_.text.size() - 2);
  std::string out;
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\') {
      out += inside[i];
    } else if (i + 1 < inside.size() && (inside[i + 1] == '"' || inside[i + 1] == '\\')) {
      out += inside[++i];
    } else if (i + 3 < inside.size() && inside[i + 1] == 'x' && hex_value(inside[i + 2]) >= 0 &&
               hex_value(inside[i + 3]) >= 0) {
      out += static_cast<char>(hex_value(inside[i + 2]) * 16 + hex_value(inside[i + 3]));
      i += 3;
    } else {
      fail("an unknown escape in a quoted text");
      return "";
    }
  }
  take();
  return out;
}

std::string Lexer::expect_word_or_string(std::string_view what) {
  return token_.kind == TokenKind::kString ? expect_string() : expect_word(what);
}

int64_t Lexer::expect_integer() {
  const bool negative = accept("-");
  if (token_.kind != TokenKind::kNumber) {
    fail("expected an integer");
    return 0;
  }
  const std::optional<int64_t> value =
      parse_integer((negative ? "-" : "") + std::string(token_.text));
  if (!value) {
    fail("expected an integer of 64 bits");
    return 0;
  }
  take();
  return *value;
}

Bytes Lexer::take_hex() {
  if (failed()) return Bytes();
  const size_t begin = std::min(next_ + 1, text_.size());  // one blank separates
  size_t end = begin;
  while (end < text_.size() && hex_value(text_[end]) >= 0) ++end;
  const bool separated = next_ >= text_.size() || text_[next_] == ' ';
  const bool ended = end == text_.size() || is_space(text_[end]);
  if (!separated || !ended || (end - begin) % 2 != 0) {
    fail("expected pairs of hexadecimal digits");
    return Bytes();
  }
  std::vector<uint8_t> bytes;
  bytes.reserve((end - begin) / 2);
  for (size_t i = begin; i < end; i += 2) {
    bytes.push_back(static_cast<uint8_t>(hex_value(text_[i]) * 16 + hex_value(text_[i + 1])));
  }
  next_ = end;
  token_ = scan();
  return Bytes(std::move(bytes));
}

void Lexer::fail(std::string what) {
  if (failed()) return;
  const std::string_view before = text_.substr(0, token_.offset);
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  if (token_.kind != TokenKind::kEnd) {
    what += fmt::format(" before {}", quote(token_.text));
  }
  fault_ = Diagnostic{Code::kLoopText,
                      fmt::format("line {}, column {}", line, token_.offset - line_start + 1),
                      std::move(what),
                      "",
                      {}};
  next_ = text_.size();
  token_ = Token{TokenKind::kEnd, "", text_.size()};
}

size_t Lexer::scan_number(size_t at) const {
  const auto skip_digits = [&] {
    while (at < text_.size() && is_digit(text_[at])) ++at;
  };
  skip_digits();
  if (at < text_.size() && text_[at] == '.') {
    ++at;
    skip_digits();
  }
  if (at < text_.size() && text_[at] == 'e') {
    ++at;
    if (at < text_.size() && (text_[at] == '-' || text_[at] == '+')) ++at;
    skip_digits();
  }
  return at;
}

Token Lexer::scan_string() {
  const size_t begin = next_;
  size_t end = begin + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
    end += text_[end] == '\\' ? size_t{2} : size_t{1};
  }
  if (end >= text_.size() || text_[end] != '"') {
    token_ = Token{TokenKind::kEnd, "", begin};
    fail("a quoted text without an end");
    return token_;
  }
  next_ = end + 1;
  return {TokenKind::kString, text_.substr(begin, next_ - begin), begin};
}

Token Lexer::scan() {
  while (next_ < text_.size() && is_space(text_[next_])) ++next_;
  if (next_ >= text_.size()) return {TokenKind::kEnd, "", text_.size()};
  const size_t begin = next_;
  const char first = text_[begin];
  if (first == '"') return scan_string();
  TokenKind kind = TokenKind::kSymbol;
  if (is_word_start(first)) {
    kind = TokenKind::kWord;
    while (next_ < text_.size() && is_word(text_[next_])) ++next_;
  } else if (is_digit(first)) {
    kind = TokenKind::kNumber;
    next_ = scan_number(begin);
  } else {
    const bool pair = std::ranges::find(kPairs, text_.substr(begin, 2)) != kPairs.end();
    next_ += pair ? 2 : 1;
  }
  return {kind, text_.substr(begin, next_ - begin), begin};
}

}  // namespace ingot::loop
