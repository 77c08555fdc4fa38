// SPDX-License-Identifier: Apache-2.0
// What Ingot tells its user about a model or a command line that is not acceptable: where, what,
// and what to do next. Diagnostics are values; only cli/ prints them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// The kinds of diagnostics. Each has a spelling and a long explanation (codes.inc).
enum class Code {
#define INGOT_CODE(enumerator, spelling, explanation) enumerator,
#include "support/codes.inc"
#undef INGOT_CODE
};

std::string_view spelling(Code code);
std::string_view explanation(Code code);
std::optional<Code> find_code(std::string_view spelling);
std::vector<Code> all_codes();

enum class Severity { kError, kWarning, kNote };

// One message. Texts are lower case, without a full stop, and quote names; text that comes from a
// model file must have gone through `quote`.
struct Diagnostic {
  Code code = Code::kInternal;
  std::string
      where;  // e.g. `conv_2d "features.3" (operator 4)`; empty if it concerns the whole file
  std::string what;                     // e.g. `the dilation is 0x1, at least 1x1 is needed`
  std::string hint;                     // what the user can do; empty if we know of nothing
  std::vector<std::string> notes = {};  // further lines, e.g. the tensors concerned
  Severity severity = Severity::kError;

  bool operator==(const Diagnostic&) const = default;
};

// Several messages, collected so that the user hears of everything at once.
using Diagnostics = std::vector<Diagnostic>;

bool has_errors(const Diagnostics& diagnostics);

// `text` in double quotes, safe to print: control and non-ASCII bytes as \xNN, at most 200
// characters.
std::string quote(std::string_view text);

}  // namespace ingot
