// SPDX-License-Identifier: Apache-2.0
// Whether the order of the calls is one that needs least memory.
#pragma once
#include "assay/distances.h"
#include "assay/layout.h"

namespace ingot::assay {

// Throws Lie if NAME.json calls the order optimal and that does not follow from one of these:
//  - the packing is optimal and no other order is possible;
//  - in every order some call needs as much as the arena has: if nothing else were alive, or, as a
//    search through the sets of calls that can be done finds, with what is alive then. Outputs may
//    share with inputs that die there what the distances that the run has shown let them.
// Throws TooLarge (assay/machine.h) if that search takes too long.
void check_order(const Loops& loops, const Layout& layout, const Pairs& pairs);

}  // namespace ingot::assay
