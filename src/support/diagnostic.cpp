// SPDX-License-Identifier: Apache-2.0
#include "support/diagnostic.h"

#include <algorithm>
#include <array>

namespace ingot {
namespace {

struct Row {
  Code code;
  std::string_view spelling;
  std::string_view explanation;
};

constexpr auto kRows = std::to_array<Row>({
#define INGOT_CODE(enumerator, spelling, explanation) {Code::enumerator, spelling, explanation},
#include "support/codes.inc"
#undef INGOT_CODE
});

constexpr size_t kLongestQuote = 200;

}  // namespace

std::string_view spelling(Code code) { return kRows.at(static_cast<size_t>(code)).spelling; }
std::string_view explanation(Code code) { return kRows.at(static_cast<size_t>(code)).explanation; }

std::optional<Code> find_code(std::string_view spelling) {
  const auto* row = std::ranges::find(kRows, spelling, &Row::spelling);
  if (row == kRows.end()) return std::nullopt;
  return row->code;
}

std::vector<Code> all_codes() {
  std::vector<Code> codes;
  for (const Row& row : kRows) codes.push_back(row.code);
  return codes;
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::ranges::any_of(diagnostics,
                             [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

std::string quote(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, kLongestQuote)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      out += {'\\', 'x', kHex[byte >> 4U], kHex[byte & 15U]};
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  if (text.size() > kLongestQuote) out += "...";
  return out + "\"";
}

}  // namespace ingot
