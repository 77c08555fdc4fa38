// SPDX-License-Identifier: Apache-2.0
// One pool: the heuristics, then the exact search that fits the instance, from the lower bound up.
#pragma once
#include "plan/canonical.h"
#include "plan/items.h"

namespace ingot::plan {

struct Packing {
  Placement placement;
  int64_t lower_bound = 0;  // proven; at least the bound given
};

// The lowest placement found within the limits.
Packing pack(const Instance& instance, int64_t bound, const Limits& limits, Deadline deadline);

// The heights above `low` and below `high` that a compacted packing can have: offset + size where
// offsets are sums of sizes. Ascending; every integer if alignments or the numbers forbid counting.
class ReachableHeights {
 public:
  ReachableHeights(const Instance& instance, int64_t high);

  // The least reachable height that is at least `height`.
  int64_t at_least(int64_t height) const;
  // The greatest reachable height below `height`; `height` - 1 if unknown.
  int64_t below(int64_t height) const;

 private:
  int64_t unit_ = 1;
  std::vector<bool> sums_;  // by height / unit_; empty: unknown
};

}  // namespace ingot::plan
