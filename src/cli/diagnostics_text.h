// SPDX-License-Identifier: Apache-2.0
// Diagnostics for people (as clang writes them) and for programs.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "support/diagnostic.h"

namespace ingot::cli {

// error: conv_2d "x" (operator 4): the dilation is 2x2, at most 1x1 is supported [unsupported]
//   input "y": int8[1,96,96,3]
//   hint: export without dilation
std::string diagnostics_text(const Diagnostics& diagnostics, bool colour);

// {"schema_version": 1, "diagnostics": [{"severity", "code", "where", "what", "notes", "hint"}]}
std::string diagnostics_json(const Diagnostics& diagnostics);

// "1 step", "2 steps".
std::string counted(int64_t count, std::string_view noun);

// Whether standard error is a terminal that shows colours, and NO_COLOR is not set.
bool errors_have_colour();

}  // namespace ingot::cli
