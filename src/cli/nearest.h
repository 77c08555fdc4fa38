// SPDX-License-Identifier: Apache-2.0
// Words that a misspelt one may have meant.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

// The candidate that takes the fewest insertions, deletions, replacements and swaps of neighbours
// to become `word`, if those are no more than a third of its letters; the first of several, empty
// if there is none. Takes time of the lengths' product for each candidate.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// "did you mean X?", or nothing if there is no X.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace ingot::cli
