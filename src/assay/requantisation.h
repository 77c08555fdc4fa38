// SPDX-License-Identifier: Apache-2.0
// What NAME.json states of how accumulators are brought to the output's scale, derived anew from
// the model's scales and the rounding mode. The reference's arithmetic is written here a third
// time, so that neither of the compiler's two can hide a mistake in the other.
#pragma once
#include "assay/json.h"
#include "assay/loops.h"

namespace ingot::assay {

// Throws Lie (assay/code.h) if, for some operator and channel:
//  - an accumulator stated to be reachable leaves int32, or a step of the formula its type;
//  - the formula differs from the reference: it is held against it on both sides of every step of
//    the reference's output, at both ends of the range and around zero, and rises in between;
//  - the tables of the program hold other constants than are stated.
void check_requantisation(const Json& json, const Loops& loops);

}  // namespace ingot::assay
