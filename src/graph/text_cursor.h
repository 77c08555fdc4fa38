// SPDX-License-Identifier: Apache-2.0
// Reading one line of the text form of a graph, token by token. The first failure is kept and makes
// everything after it yield nothing, so that callers need not test each step.
#pragma once
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/text_words.h"
#include "tensor/type.h"

namespace ingot {

class TextCursor {
 public:
  explicit TextCursor(std::string_view line) : rest_(line) {}

  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  // Keeps the first message; always false.
  bool fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
    rest_ = {};
    return false;
  }

  // Nothing but spaces or a comment is left.
  bool at_end();
  // Whether `token` comes next; takes it if so.
  bool accept(std::string_view token);
  // The same for a whole word.
  bool accept_word(std::string_view word);
  bool expect(std::string_view token);

  // A bare name as it stands, for words of the format; empty if none comes next.
  std::string_view word();
  // A bare or quoted name.
  std::string name();
  // A string in quotes.
  std::string string();

  template <class T>
  T number() {
    skip_spaces();
    T value{};
    const char* const end = rest_.data() + rest_.size();
    const std::from_chars_result result = std::from_chars(rest_.data(), end, value);
    if (result.ec != std::errc()) {
      fail(result.ec == std::errc::result_out_of_range ? "the number is out of range"
                                                       : "expected a number");
      return T{};
    }
    rest_.remove_prefix(static_cast<size_t>(result.ptr - rest_.data()));
    return value;
  }
  // Numbers separated by commas between `open` and `close`; maybe none.
  template <class T>
  std::vector<T> numbers(std::string_view open, std::string_view close) {
    std::vector<T> list;
    if (!expect(open) || accept(close)) return list;
    do list.push_back(number<T>());
    while (!failed() && accept(","));
    expect(close);
    return list;
  }

  // int8[1,4] scale 0.5 zero_point 3
  TensorType type();
  // Pairs of hexadecimal digits.
  std::vector<uint8_t> hex();

 private:
  void skip_spaces();
  std::optional<uint8_t> hex_byte();

  std::string_view rest_;
  std::string error_;
};

}  // namespace ingot
