// SPDX-License-Identifier: Apache-2.0
// Where a lower bound lies above what any point in time shows, a search that failed proves it. Its
// log (NAME.json: plan.witness.search) names what was tried; that nothing came of it is seen here.
#pragma once
#include <cstdint>
#include <vector>

#include "assay/distances.h"
#include "assay/layout.h"

namespace ingot::assay {

// Whether the log shows that the buffers in the arena cannot be placed, within their alignments,
// ties and distances, in an arena of `height` bytes; any direction of every step is allowed, but
// one for all its distances. Throws TooLarge (assay/machine.h) if there are too many pairs of
// buffers.
//
// Every pair that is alive together has two ways of keeping apart, each a least distance between
// their offsets. Offsets have lower and upper ends, which decided pairs push against each other;
// a pair of which one way has become impossible is decided. A decision of the log, [a, b] of two
// places in plan.buffers or the number of a step, splits what is left open in two; below it the log
// goes on with b behind a (forward), then with a behind b (reverse), each until the ends of some
// offset have met. What the log does not name cannot make a false bound true.
bool is_refuted(const Layout& layout, const Pairs& pairs, int64_t height);

}  // namespace ingot::assay
