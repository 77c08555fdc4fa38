// SPDX-License-Identifier: Apache-2.0
// The judge of a compiled model: re-derives from NAME.loops what NAME.json claims about memory.
#pragma once
#include <string>

#include "assay/json.h"
#include "assay/loops.h"

namespace ingot::assay {

// The first claim that is wrong, as a sentence; empty if all hold:
//  - the runner calls what exists with what it needs; none stores to a constant, nor to an input
//    unless inputs may be reused; the caller's buffers are outside the arena unless asked into it;
//  - where the JSON says how sums become outputs, they become the reference's (requantisation.h),
//    and where it says that this is not proved it states no constants;
//  - lifetimes, sizes, alignments, places, memories, ports, operators and sums in the JSON are
//  those
//    of the program;
//  - every buffer lies inside its memory at a multiple of its alignment, tied ones at their
//    distance, and no two that are alive together share a byte unless the second begins in the step
//    in which the first ends and they keep the distance stated for that step;
//  - run without data (assay/machine.h), every access is inside its parameter, every read finds its
//    value, outputs are whole in the end, and the stated distances are those that the run shows;
//  - the lower bound follows from its witness, and what is called optimal is as low as the bound.
// Throws TooLarge (assay/machine.h) where that cannot be said within reasonable time and memory.
std::string find_lie(const Json& json, Loops loops);

}  // namespace ingot::assay
