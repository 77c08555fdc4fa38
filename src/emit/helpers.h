// SPDX-License-Identifier: Apache-2.0
// The small static functions that generated C may need (helpers.c), copied in by name.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// The names of all helpers.
std::vector<std::string> all_helpers();

// The C text of one helper, comment included; CHECKs that it exists.
std::string_view helper_text(std::string_view name);

}  // namespace ingot
