// SPDX-License-Identifier: Apache-2.0
// Orders of least peak for series-parallel graphs whose steps change the memory by fixed amounts,
// in polynomial time.
//
// An order of a part of the graph is, for the rest of it, a chain of segments: each first needs so
// much more memory (its hill) and leaves so much more or less behind (its change). Segments that
// free memory are best run first, least hill first; those that take it last, greatest descent from
// the hill first. A chain whose segments do not follow one another in this order has them joined
// until they do, since nothing gains from running other steps in between; then chains in parallel
// are merged by sorting, and chains in series by joining again (Abdel-Wahab and Kameda 1978;
// Liu 1987 for trees).
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/dag.h"

namespace ingot::plan {

// What running a step does to the memory: at most `hill` bytes more while it runs, `change` after.
struct StepCost {
  int64_t hill = 0;
  int64_t change = 0;
};

struct MergedOrder {
  std::vector<int64_t> order;
  int64_t peak = 0;  // above the memory before the first step; at least 0
};

// An order of least peak; nullopt if the graph is not series-parallel (as series_parts and
// parallel_parts see it) or nested deeper than 500 levels.
std::optional<MergedOrder> merge_series_parallel(const Dag& dag,
                                                 const std::vector<StepCost>& costs);

}  // namespace ingot::plan
