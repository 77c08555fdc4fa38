// SPDX-License-Identifier: Apache-2.0
// Integer expressions of a kernel while it runs without data: a number where the value is known,
// else the range in which it must lie.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "assay/loops.h"

namespace ingot::assay {

struct Range {
  int64_t low = 0;
  int64_t high = 0;
  bool is_known() const { return low == high; }
  bool operator==(const Range&) const = default;
};

struct Values {
  const Body* body = nullptr;
  std::vector<Range> slots;
  // By place: what constants that are bound to it hold, from the first element on; else empty.
  std::vector<std::span<const uint8_t>> contents;

  Range of(int expr) const;

 private:
  Range of_load(const Expr& e) const;
};

}  // namespace ingot::assay
