// SPDX-License-Identifier: Apache-2.0
// Whether the order of the calls is one that needs least memory.
#pragma once
#include <cstdint>
#include <vector>

#include "assay/json.h"
#include "assay/layout.h"

namespace ingot::assay {

// Throws Lie if NAME.json calls the order optimal and that does not follow from one of these:
//  - every order needs so much for some call: what it reads exists at once, and what it writes;
//  - the packing is optimal and each call needs what the one before it has written;
//  - a search through the sets of calls that can be done finds no order whose calls all need less
//    than the arena has, each needing what is alive then, less what the distances that the run has
//    `derived` for it let outputs share with inputs that die there.
// Throws TooLarge (assay/machine.h) if that search takes too long. `loops` as it was run.
void check_order(const Json& json, const Loops& loops, const std::vector<Life>& lives,
                 const std::vector<Distance>& derived, const Distances& stated,
                 const Options& options);

}  // namespace ingot::assay
