// SPDX-License-Identifier: Apache-2.0
// The text of C files: lines of at most 100 columns, indented by two, and comments that no name of
// a model can break out of.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

constexpr int64_t kMaxColumns = 100;

// Text of a model made safe for a comment: what is not a letter, digit, space or one of _./:-
// becomes '_'; at most 60 characters.
std::string model_text(std::string_view text);

// Text of our own made safe for a comment: printable ASCII without comment marks and trigraphs.
std::string comment_text(std::string_view text);

// The lines of a C file under construction.
class CText {
 public:
  // One line of code at the current depth, broken after commas or before operators where it would
  // be too long; what follows a break is indented by four more. Never breaks a string literal.
  void line(std::string_view code);
  // A line that is printed as it is, at column 0: a preprocessor line or prepared text.
  void raw(std::string_view text);
  void blank();  // not after another blank line or an opening brace
  // Words filled into a comment of as many lines as needed. Each entry starts a new line.
  void comment(const std::vector<std::string>& paragraphs);
  void comment(std::string_view paragraph) { comment(std::vector{std::string(paragraph)}); }

  // A line that ends in " {"; what follows is one level deeper.
  void open(std::string_view code);
  // "}" + after, one level up.
  void close(std::string_view after = "");
  // One level up without a line: the next line starts with the "}".
  void back();
  // A line "} else {" between two blocks.
  void reopen(std::string_view code) {
    back();
    open(code);
  }

  const std::string& str() const { return text_; }

 private:
  void put(int64_t indent, std::string_view code);

  std::string text_;
  int64_t depth_ = 0;
  bool after_gap_ = true;
};

}  // namespace ingot
