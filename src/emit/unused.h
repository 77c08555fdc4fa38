// SPDX-License-Identifier: Apache-2.0
// Where a target has an instruction, its words and the portable text stand under #if and #else, and
// small functions may be called in one of them alone. Compilers would warn of a static function
// that nobody calls; these get an attribute that says it is meant.
#pragma once
#include <set>
#include <string>
#include <string_view>

namespace ingot {

// The functions that `text` defines as `static inline` and names nowhere outside of #if. `text` is
// C as this folder prints it: a directive or the head of a function begins its line.
std::set<std::string> conditional_functions(std::string_view text);

// `text` with `attribute` in the heads of `functions`.
std::string with_attribute(std::string_view text, const std::set<std::string>& functions,
                           const std::string& attribute);

}  // namespace ingot
