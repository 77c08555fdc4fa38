// SPDX-License-Identifier: Apache-2.0
// Whether the arena is as low as NAME.json says it must be.
#pragma once
#include "assay/distances.h"
#include "assay/layout.h"

namespace ingot::assay {

// Throws Lie if the lower bound does not follow or the plan is called optimal without cause. An
// arena is proved least by as many bytes that must be there at one time, sizes and places taken in
// whole cells (the greatest common divisor of all alignments), less what the stated distances let
// outputs share with inputs; else by a search that fails (assay/search.h). If there are other
// memories, what could lie in none of them must need all of the arena, for more than its packing to
// be optimal.
void check_bound(const Layout& layout, const Pairs& pairs);

}  // namespace ingot::assay
