// SPDX-License-Identifier: Apache-2.0
#include "graph/text_cursor.h"

namespace ingot {
namespace {

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

}  // namespace

void TextCursor::skip_spaces() {
  while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r')) {
    rest_.remove_prefix(1);
  }
}

bool TextCursor::at_end() {
  skip_spaces();
  return rest_.empty() || rest_[0] == '#';
}

bool TextCursor::accept(std::string_view token) {
  skip_spaces();
  if (!rest_.starts_with(token)) return false;
  rest_.remove_prefix(token.size());
  return true;
}

bool TextCursor::accept_word(std::string_view word) {
  skip_spaces();
  if (rest_.substr(0, text_words::name_length(rest_)) != word) return false;
  rest_.remove_prefix(word.size());
  return true;
}

bool TextCursor::expect(std::string_view token) {
  if (failed()) return false;
  return accept(token) || fail("expected '" + std::string(token) + "'");
}

std::string_view TextCursor::word() {
  skip_spaces();
  const std::string_view word = rest_.substr(0, text_words::name_length(rest_));
  rest_.remove_prefix(word.size());
  return word;
}

std::string TextCursor::name() {
  skip_spaces();
  if (rest_.starts_with('"')) return string();
  const std::string_view name = word();
  if (!text_words::is_bare_name(name)) fail("expected a name");
  return std::string(name);
}

std::optional<uint8_t> TextCursor::hex_byte() {
  if (rest_.size() < 2) return std::nullopt;
  const std::optional<int> high = hex_digit(rest_[0]);
  const std::optional<int> low = hex_digit(rest_[1]);
  if (!high || !low) return std::nullopt;
  rest_.remove_prefix(2);
  return static_cast<uint8_t>(*high * 16 + *low);
}

std::string TextCursor::string() {
  std::string text;
  if (!expect("\"")) return text;
  while (!rest_.empty() && rest_[0] != '"') {
    char c = rest_[0];
    rest_.remove_prefix(1);
    if (c == '\\' && !rest_.empty()) {
      c = rest_[0];
      rest_.remove_prefix(1);
      if (c == 'x') {
        const std::optional<uint8_t> byte = hex_byte();
        if (!byte) fail("expected two hexadecimal digits");
        c = static_cast<char>(byte.value_or(0));
      }
    }
    text += c;
  }
  expect("\"");
  return text;
}

std::vector<uint8_t> TextCursor::hex() {
  skip_spaces();
  std::vector<uint8_t> bytes;
  while (const std::optional<uint8_t> byte = hex_byte()) bytes.push_back(*byte);
  return bytes;
}

TensorType TextCursor::type() {
  TensorType type;
  const std::optional<DType> dtype = find_dtype(word());
  if (!dtype) {
    fail("expected an element type");
    return type;
  }
  type.dtype = *dtype;
  type.shape = numbers<int64_t>("[", "]");
  if (accept_word("scale")) {
    const auto scale = number<float>();
    if (!accept_word("zero_point")) fail("expected 'zero_point'");
    type.quantization = per_tensor(scale, number<int64_t>());
  } else if (accept_word("scales")) {
    Quantization quantization;
    quantization.scales = numbers<float>("{", "}");
    if (!accept_word("zero_points")) fail("expected 'zero_points'");
    quantization.zero_points = numbers<int64_t>("{", "}");
    if (!accept_word("axis")) fail("expected 'axis'");
    quantization.axis = number<int64_t>();
    type.quantization = std::move(quantization);
  }
  return type;
}

}  // namespace ingot
