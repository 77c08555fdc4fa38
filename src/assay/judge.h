// SPDX-License-Identifier: Apache-2.0
// The judge of a compiled model: re-derives from NAME.loops what NAME.json claims about the arena.
#pragma once
#include <string>

#include "assay/json.h"
#include "assay/loops.h"

namespace ingot::assay {

// The first claim that is wrong, as a sentence; empty if all hold:
//  - no kernel stores to a parameter that it says it only reads; none stores to a constant, nor to
//  an
//    input unless the inputs may be reused; arguments hold what their parameters need;
//  - the caller's inputs and outputs are outside the arena unless they were asked into it;
//  - every arena buffer lies inside the arena at a multiple of its alignment, and no two that are
//    alive together share a byte, unless they are parts of one tied group at their stated distance
//    or one begins in the step in which the other ends and they keep the distance stated for it;
//  - lifetimes, sizes and offsets in the JSON are those that the loop program implies;
//  - the lower bound is the greatest number of bytes alive at once, and where the plan is called
//    optimal the arena has exactly that many.
std::string find_lie(const Json& json, const Loops& loops);

}  // namespace ingot::assay
