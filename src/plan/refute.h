// SPDX-License-Identifier: Apache-2.0
// A proof that buffers do not fit below a height, in a form that others can replay: where no point
// in time shows a lower bound, only a search that fails does.
//
// Every pair that is alive together has two ways of keeping apart, each a least distance between
// two offsets. Offsets have lower and upper ends, which decided pairs push against each other; a
// pair of which one way has become impossible is decided. What remains open is tried both ways,
// and so are the directions of steps. The log names only what was tried, in the order of the
// search, the first way first; who replays it pushes the ends himself and sees where they meet.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace ingot::plan {

// Two buffers: tried is the second behind the first, then the first behind the second. Or a step:
// tried is forward, then reverse.
struct Decision {
  int64_t first = -1;
  int64_t second = -1;
  int64_t step = -1;

  bool operator==(const Decision&) const = default;
};

// The log of a search which shows that `buffers` of the problem have no places in `height` bytes;
// nothing if they have, or if more than `nodes` nodes (less where there are many pairs) would be
// needed to see it. Requires whole groups.
std::optional<std::vector<Decision>> refutation(const Problem& problem,
                                                std::span<const int64_t> buffers, int64_t height,
                                                int64_t nodes);

}  // namespace ingot::plan
