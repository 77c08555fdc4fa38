// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions on cores with the Arm DSP extension: sums whose terms step through the
// channels of x and of the weights alike.
//
// Four channels are one word of x, of which SXTB16 makes two pairs of halfwords, and SMLABB and
// SMLATT multiply the halves with the weights, which are stored as halfwords. Two neighbouring
// columns share weights and the words of x that both need. The zero point of x is added by SXTAB16,
// or is part of a constant per channel where two columns are made. A last group of fewer than four
// channels is made with channels before it once more.
#pragma once
#include <optional>

#include "loop/program.h"
#include "schedule/rescheduled.h"

namespace ingot {

// nullopt if the kernel is of another form. `reverse`: outputs from the last to the first.
std::optional<Rescheduled> schedule_dsp_depthwise(const loop::Kernel& kernel, bool reverse);

}  // namespace ingot
