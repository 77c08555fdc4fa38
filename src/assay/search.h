// SPDX-License-Identifier: Apache-2.0
// Where a lower bound lies above what any point in time shows, only a search that fails proves it.
// assay does that search itself: it trusts no log.
#pragma once
#include <cstdint>
#include <vector>

#include "assay/layout.h"

namespace ingot::assay {

// Whether the buffers can be placed, within their alignments, ties and distances, in an arena of
// `height` bytes; any direction of every step is allowed, but one for all its distances. Throws
// TooLarge (assay/machine.h) after `most_nodes` decisions.
//
// Every pair that is alive together has two ways of keeping apart, each a least distance between
// their offsets. Offsets have lower and upper ends, which decided pairs push against each other;
// a pair of which one way has become impossible is decided. What remains open is tried both ways.
bool fits(const std::vector<Life>& lives, const Distances& distances, int64_t height,
          int64_t most_nodes = 300'000);

}  // namespace ingot::assay
