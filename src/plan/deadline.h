// SPDX-License-Identifier: Apache-2.0
// When a search with a time limit has to stop.
#pragma once
#include <chrono>
#include <optional>

namespace ingot::plan {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

inline bool is_over(const Deadline& deadline) {
  return deadline && std::chrono::steady_clock::now() > *deadline;
}

}  // namespace ingot::plan
