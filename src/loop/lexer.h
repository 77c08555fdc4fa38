// SPDX-License-Identifier: Apache-2.0
// The tokens of loop text, and the first fault that a parser met. Nothing throws: once a fault is
// noted, the lexer is at the end of the text for good, so that every loop of a parser ends.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/diagnostic.h"
#include "tensor/bytes.h"

namespace ingot::loop {

enum class TokenKind : uint8_t { kEnd, kWord, kNumber, kString, kSymbol };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // of a string with quotes and escapes, as it stands
  size_t offset = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text);

  const Token& peek() const { return token_; }
  Token peek_second() const;
  Token take();
  // Takes the token if it is this word or symbol.
  bool accept(std::string_view text);
  // The same, and a fault if it is another.
  void expect(std::string_view text);
  std::string expect_word(std::string_view what);
  // A quoted text, without its quotes and escapes.
  std::string expect_string();
  std::string expect_word_or_string(std::string_view what);
  int64_t expect_integer();
  // The hexadecimal digits that follow the current token, which is passed over with them.
  Bytes take_hex();

  bool is(std::string_view text) const;
  bool at_end() const { return token_.kind == TokenKind::kEnd; }
  bool failed() const { return fault_.has_value(); }
  // Notes a fault at the current token (the first one counts) and goes to the end of the text.
  void fail(std::string what);
  Diagnostic fault() const { return *fault_; }

 private:
  Token scan();
  Token scan_string();
  size_t scan_number(size_t at) const;

  std::string_view text_;
  size_t next_ = 0;  // behind token_
  Token token_;
  std::optional<Diagnostic> fault_;
};

// The integer that `digits` (with an optional minus) spell.
std::optional<int64_t> parse_integer(std::string_view digits);

}  // namespace ingot::loop
