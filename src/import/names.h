// SPDX-License-Identifier: Apache-2.0
// Names that are unique and not empty, from names of a model that need be neither.
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace ingot {

class UniqueNames {
 public:
  // Names are cut to `longest_bytes`; once `budget_bytes` are used up, names are no longer taken
  // from the model (many tensors of a file can share one long name).
  explicit UniqueNames(int64_t budget_bytes, size_t longest_bytes = 4096)
      : budget_bytes_(budget_bytes), longest_bytes_(longest_bytes) {}

  // `wanted`, or `fallback` if it is empty, with a number behind it if it is taken.
  std::string unique(std::string_view wanted, const std::string& fallback) {
    wanted = wanted.substr(0, longest_bytes_);
    budget_bytes_ -= static_cast<int64_t>(wanted.size());
    std::string base(wanted.empty() || budget_bytes_ < 0 ? fallback : wanted);
    std::string name = base;
    if (!taken_.insert(name).second) {
      int64_t& next = next_[base];
      do name = fmt::format("{}_{}", base, ++next);
      while (!taken_.insert(name).second);
    }
    return name;
  }

 private:
  int64_t budget_bytes_;
  size_t longest_bytes_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int64_t> next_;  // by base: the last number used
};

}  // namespace ingot
