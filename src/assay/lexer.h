// SPDX-License-Identifier: Apache-2.0
// The words of a loop program, of assay's own reading.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::assay {

// A file that is not what it should be: which line, and what was expected there.
struct Damage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Word : uint8_t { kName, kNumber, kText, kSign, kEnd };

// All members throw Damage where the text does not go on as they need.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { scan(); }

  Word kind() const { return kind_; }
  std::string_view word() const { return word_; }
  bool is(std::string_view word) const { return word_ == word && kind_ != Word::kText; }
  // The word after this one, if it is a sign.
  std::string_view sign_after() const;
  bool accept(std::string_view word);
  void expect(std::string_view word);
  std::string name();
  std::string text();  // quoted
  std::string name_or_text();
  int64_t integer();  // with its sign
  std::string_view number();
  std::vector<uint8_t> hex();  // after the word "data"
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void scan();
  void scan_number();
  void scan_text();

  std::string_view text_;
  size_t begin_ = 0;  // of the word
  size_t next_ = 0;   // behind it
  Word kind_ = Word::kEnd;
  std::string_view word_;
};

}  // namespace ingot::assay
