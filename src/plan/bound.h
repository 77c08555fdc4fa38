// SPDX-License-Identifier: Apache-2.0
// The lower bound by load: what the buffers alive at one time point need, whatever the plan.
//
// Offsets are multiples of the greatest common divisor g of all alignments, so buffers take whole
// cells of g bytes. Live buffers take the sum of their cells, a tied group that of the union of its
// live members, less what overlaps inside operators can save: at most as much as the overlap's
// distances allow for each pair, and at most the whole output. The topmost buffer need not fill
// its last cell, so the largest padding of a live buffer is taken off in the end.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan/items.h"
#include "plan/plan.h"

namespace ingot::plan {

struct Load {
  int64_t bytes = 0;
  int64_t time = 0;                 // the first time point that needs so much
  std::vector<int64_t> alive = {};  // the buffers alive then, ascending
};

// The greatest load of the buffers listed. Requires whole groups. O(n log n) with few overlaps.
Load greatest_load(const Problem& problem, std::span<const int64_t> buffers);

// The greatest end that a fixed offset or a tied group forces by itself.
int64_t forced_height(const Problem& problem, std::span<const int64_t> buffers);
int64_t forced_height(const Instance& instance);

}  // namespace ingot::plan
