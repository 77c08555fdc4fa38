// SPDX-License-Identifier: Apache-2.0
#include "cli/nearest.h"

#include <algorithm>
#include <cstdint>

#include "support/diagnostic.h"

namespace ingot::cli {
namespace {

constexpr size_t kLongest = 100;  // of what people mistype

// The distance of Damerau and Levenshtein (optimal string alignment).
int64_t distance(std::string_view a, std::string_view b) {
  std::vector<int64_t> before;  // of the row before the last
  std::vector<int64_t> last(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    std::vector<int64_t> row(b.size() + 1);
    row[0] = static_cast<int64_t>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = std::move(last);
    last = std::move(row);
  }
  return last.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > kLongest) return "";
  int64_t least = std::max<int64_t>(1, static_cast<int64_t>(word.size()) / 3) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    const int64_t changes = distance(word, candidate);
    if (changes >= least) continue;
    least = changes;
    found = candidate;
  }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : "did you mean " + quote(found) + "?";
}

}  // namespace ingot::cli
