// SPDX-License-Identifier: Apache-2.0
// JSON as people read it: objects over several lines, lists of plain values and short objects on
// one. Floats have the fewest digits that read back exactly, so the text is a function of the
// value.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace ingot {

// Keys keep the order in which they were set.
using Json = nlohmann::ordered_json;

// `json` with a line feed at its end. Strings of models may hold any bytes; what is not UTF-8 is
// replaced.
std::string to_text(const Json& json);

}  // namespace ingot
